//! ArviZ's InferenceData: groups of draws by chain in a Zarr store, with the names that Stan's and PyMC's users know.

use crate::zarr::{Store, Values};
use bilo::posterior::{Column, Kept, PredictedObservation};
use serde_json::json;
use std::io;
use std::path::Path;

/// A store with what all of its groups have.
pub(crate) struct InferenceData<'a> {
    store: Store,
    problem: &'a str,
    chains: usize,
}

impl<'a> InferenceData<'a> {
    pub(crate) fn create(path: &Path, problem: &'a str, chains: usize) -> io::Result<InferenceData<'a>> {
        Ok(InferenceData { store: Store::create(path)?, problem, chains })
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        self.store.finish()
    }

    /// A group, with its axes if it has draws.
    fn group(&mut self, name: &str, draws: Option<&[i64]>) -> io::Result<()> {
        let attributes = [
            ("problem", json!(self.problem)),
            ("group", json!(name)),
            ("inference_library", json!("bilo")),
            ("inference_library_version", json!(env!("CARGO_PKG_VERSION"))),
        ];
        self.store.group(name, &attributes)?;
        let Some(draws) = draws else { return Ok(()) };
        let chains: Vec<i64> = (0..self.chains as i64).collect();
        self.store.array(name, "chain", &[("chain", self.chains)], &Values::Integers(&chains))?;
        self.store.array(name, "draw", &[("draw", draws.len())], &Values::Integers(draws))
    }

    /// Something that each draw has one of.
    fn of_draws(&mut self, group: &str, name: &str, length: usize, values: &Values<'_>) -> io::Result<()> {
        self.store.array(group, name, &[("chain", self.chains), ("draw", length)], values)
    }

    /// Numbers that were drawn.
    pub(crate) fn columns<'c>(
        &mut self,
        group: &str,
        length: usize,
        columns: impl IntoIterator<Item = &'c Column>,
    ) -> io::Result<()> {
        self.group(group, Some(&numbers(length)))?;
        let mut columns = columns.into_iter();
        columns
            .try_for_each(|column| self.of_draws(group, &column.name, length, &Values::Floats(&column.all())))
    }

    /// How draws came about.
    pub(crate) fn statistics(&mut self, kept: &[Vec<Kept>], length: usize) -> io::Result<()> {
        self.group("sample_stats", Some(&numbers(length)))?;
        let all = || kept.iter().flatten();
        let floats = [
            ("lp", all().map(|draw| draw.log_density).collect::<Vec<f64>>()),
            ("energy", all().map(|draw| draw.energy).collect()),
            ("acceptance_rate", all().map(|draw| draw.accepted).collect()),
            ("step_size", all().map(|draw| draw.step_length).collect()),
        ];
        for (name, values) in floats {
            self.of_draws("sample_stats", name, length, &Values::Floats(&values))?;
        }
        let integers = [
            ("tree_depth", all().map(|draw| draw.depth as i64).collect::<Vec<i64>>()),
            ("n_steps", all().map(|draw| draw.steps as i64).collect()),
        ];
        for (name, values) in integers {
            self.of_draws("sample_stats", name, length, &Values::Integers(&values))?;
        }
        let diverging: Vec<bool> = all().map(|draw| draw.diverged).collect();
        self.of_draws("sample_stats", "diverging", length, &Values::Booleans(&diverging))
    }

    /// What belongs to the data, under some of these names of groups: data as they would be seen, the log-likelihood of
    /// those that were seen, and these.
    pub(crate) fn predictions(
        &mut self,
        groups: &[&str],
        shown: &[usize],
        observations: &[PredictedObservation],
    ) -> io::Result<()> {
        let seen: Vec<_> = observations.iter().filter(|observed| !observed.again.is_empty()).collect();
        if seen.is_empty() {
            return Ok(());
        }
        let draws: Vec<i64> = shown.iter().map(|&draw| draw as i64).collect();
        for group in groups {
            self.group(group, (*group != OBSERVED).then_some(&draws))?;
            for observed in &seen {
                self.predicted(group, observed, shown.len())?;
            }
        }
        Ok(())
    }

    fn predicted(&mut self, group: &str, observed: &PredictedObservation, shown: usize) -> io::Result<()> {
        let PredictedObservation { name, data, again, log_likelihood, .. } = observed;
        let place = format!("{name}_place");
        let by_draw = [("chain", self.chains), ("draw", shown), (&place[..], data.len())];
        let along = [(&place[..], data.len())];
        match group {
            OBSERVED => self.store.array(group, name, &along, &Values::Floats(data))?,
            LOG_LIKELIHOOD => {
                let heights = log_likelihood.concat().concat();
                self.store.array(group, name, &by_draw, &Values::Floats(&heights))?;
            }
            _ => self.store.array(group, name, &by_draw, &Values::Floats(&again.concat().concat()))?,
        }
        self.store.array(group, &place, &along, &Values::Integers(&numbers(data.len())))
    }
}

/// The group of the data.
pub(crate) const OBSERVED: &str = "observed_data";
/// The group of the log-likelihood of each datum.
pub(crate) const LOG_LIKELIHOOD: &str = "log_likelihood";

fn numbers(count: usize) -> Vec<i64> {
    (0..count as i64).collect()
}
