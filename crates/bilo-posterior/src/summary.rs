//! What draws say: marginals, correlations, predictions, and how the chains went.

use crate::audit::TRUSTED;
use crate::column::Column;
use crate::density::{Prediction, ranges};
use crate::outcome::{ChainOutcome, Marginal, PosteriorOutcome, PredictiveCheck};
use crate::predictions::Predicted;
use crate::range::Range;
use crate::sampling::Kept;
use crate::verdict::{judge, largest_shift};
use bilo_assess::log_prior_density;
use bilo_assess::outcome::Outcome;
use bilo_fit::data_loss::DataLoss;
use bilo_problem::diagnostic::Result;
use bilo_problem::text::digits;
use bilo_problem::{Problem, Unknown};
use bilo_sample::Tuning;
use bilo_sample::diagnostics::{
    ebfmi, ess_bulk, ess_tail, mcse_mean, mcse_sd, mean, quantile, rhat, sd, sorted,
};

/// All that was drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draws {
    /// The unknown numbers.
    pub unknowns: Vec<Column>,
    /// What follows from them.
    pub derived: Vec<Column>,
    /// Standard deviations of errors that nobody stated.
    pub noise: Vec<Column>,
    /// The draws themselves, by chain.
    pub kept: Vec<Vec<Kept>>,
    /// What they predict.
    pub predicted: Predicted,
    /// The names of the coordinates.
    pub coordinates: Vec<String>,
}

impl Draws {
    /// Of the draws of all chains with what they predict.
    pub fn new(
        data: &DataLoss<'_>,
        seed: u64,
        kept: Vec<Vec<Kept>>,
        found: &[Vec<Prediction>],
    ) -> Result<Draws> {
        let problem = data.problem();
        let ranges = ranges(problem);
        let column = |(j, unknown): (usize, &Unknown)| {
            let of = |chain: &Vec<Kept>| chain.iter().map(|draw| ranges[j].theta(draw.position[j])).collect();
            Column { name: unknown.name.clone(), chains: kept.iter().map(of).collect() }
        };
        let unknowns: Vec<Column> = problem.unknowns.iter().enumerate().map(column).collect();
        let derived = derived(problem, &unknowns)?;
        let predicted = Predicted::new(data, seed, found);
        let coordinates = problem.coordinates.iter().map(|coordinate| coordinate.name.clone()).collect();
        Ok(Draws { noise: predicted.noise(problem), unknowns, derived, kept, predicted, coordinates })
    }
}

/// What follows from the unknowns, draw by draw.
pub(crate) fn derived(problem: &Problem, unknowns: &[Column]) -> Result<Vec<Column>> {
    let Some(first) = unknowns.first() else { return Ok(vec![]) };
    let lengths: Vec<usize> = first.chains.iter().map(Vec::len).collect();
    let at = |chain: usize, draw: usize| -> Vec<f64> {
        unknowns.iter().map(|column| column.chains[chain][draw]).collect()
    };
    let column = |derived: &bilo_problem::Derived| {
        let value = |chain: usize, draw: usize| Ok(derived.at(problem, &at(chain, draw))?.0);
        let chain = |(chain, &length): (usize, &usize)| (0..length).map(|draw| value(chain, draw)).collect();
        let chains = lengths.iter().enumerate().map(chain).collect::<Result<_>>()?;
        Ok(Column { name: derived.name.clone(), chains })
    };
    problem.derived.iter().map(column).collect()
}

/// What was learnt, but for what another solver says.
pub fn summarise(data: &DataLoss<'_>, draws: &Draws, estimate: &Outcome) -> PosteriorOutcome {
    let problem = data.problem();
    let unknowns = problem.unknowns.iter().zip(&draws.unknowns).enumerate().map(|(j, (unknown, column))| {
        let found = estimate.unknowns.numbers.get(j);
        Marginal {
            unit: unknown.unit.clone(),
            prior: unknown.prior.map(|prior| prior.to_string()),
            prior_curve: prior_curve(unknown, column),
            truth: unknown.truth,
            laplace: found.and_then(|found| Some((found.estimate, found.sd?))),
            ..marginal(column)
        }
    });
    let laplace = |column: &Column| {
        let found = estimate.derived.iter().find(|derived| derived.name == column.name);
        found.and_then(|found| Some((found.estimate, found.sd?)))
    };
    let derived =
        draws.derived.iter().map(|column| Marginal { laplace: laplace(column), ..marginal(column) });
    PosteriorOutcome {
        problem: problem.name.clone(),
        unknowns: unknowns.collect(),
        derived: derived.collect(),
        noise: draws.noise.iter().map(marginal).collect(),
        correlations: correlations(&draws.unknowns),
        predictive: draws.predicted.checks(problem),
        chains: draws.kept.iter().map(|chain| went(chain)).collect(),
        notes: notes(problem),
        ..PosteriorOutcome::default()
    }
}

/// The prior's density where the draws are.
fn prior_curve(unknown: &Unknown, column: &Column) -> Vec<(f64, f64)> {
    const POINTS: usize = 101;
    let all = column.all();
    let ends = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    let at = |i: usize| ends.0 + (ends.1 - ends.0) * i as f64 / (POINTS - 1) as f64;
    let bounds = unknown.bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let density = |x: f64| Some((x, log_prior_density(unknown.prior?, bounds, x)?.exp()));
    (0..POINTS).filter_map(|i| density(at(i))).collect()
}

fn marginal(column: &Column) -> Marginal {
    let (chains, all) = (column.slices(), column.all());
    let in_order = sorted(all.iter().copied());
    let at = |part: f64| quantile(&in_order, part);
    Marginal {
        name: column.name.clone(),
        mean: mean(&all),
        sd: sd(&all),
        median: at(0.5),
        interval_68: (at(0.16), at(0.84)),
        interval_95: (at(0.025), at(0.975)),
        mcse_mean: mcse_mean(&chains),
        mcse_sd: mcse_sd(&chains),
        ess_bulk: ess_bulk(&chains),
        ess_tail: ess_tail(&chains),
        rhat: rhat(&chains),
        ..Marginal::default()
    }
}

fn correlations(columns: &[Column]) -> Vec<Vec<f64>> {
    let all: Vec<Vec<f64>> = columns.iter().map(Column::all).collect();
    let unit: Vec<Vec<f64>> = all
        .iter()
        .map(|values| {
            let (mean, sd) = (mean(values), sd(values));
            values.iter().map(|value| (value - mean) / sd).collect()
        })
        .collect();
    let entry = |i: usize, j: usize| {
        let product: f64 = unit[i].iter().zip(&unit[j]).map(|(a, b)| a * b).sum();
        if i == j { 1.0 } else { product / (unit[i].len() as f64 - 1.0) }
    };
    (0..columns.len()).map(|i| (0..columns.len()).map(|j| entry(i, j)).collect()).collect()
}

fn went(chain: &[Kept]) -> ChainOutcome {
    let count = chain.len().max(1) as f64;
    let energies: Vec<f64> = chain.iter().map(|draw| draw.energy).collect();
    ChainOutcome {
        draws: chain.len(),
        gradients: chain.iter().map(|draw| draw.steps).sum(),
        divergences: chain.iter().filter(|draw| draw.diverged).count(),
        longest: chain.iter().filter(|draw| draw.depth >= Tuning::default().deepest).count(),
        accepted: chain.iter().map(|draw| draw.accepted).sum::<f64>() / count,
        step_length: chain.last().map_or(f64::NAN, |draw| draw.step_length),
        ebfmi: ebfmi(&energies),
    }
}

/// What has to be said of the density that was sampled.
fn notes(problem: &Problem) -> Vec<String> {
    let flat = |unknown: &&Unknown| unknown.prior.is_none();
    let (endless, bounded): (Vec<&Unknown>, Vec<&Unknown>) =
        problem.unknowns.iter().filter(flat).partition(|unknown| Range::of(unknown).is_endless());
    let names = |unknowns: &[&Unknown]| {
        unknowns.iter().map(|unknown| &unknown.name[..]).collect::<Vec<_>>().join(", ")
    };
    let mut notes = vec![];
    if !endless.is_empty() {
        notes.push(format!(
            "no prior is stated for {}: each value in its range counts alike, and what the data do not limit has no posterior",
            names(&endless)
        ));
    }
    if !bounded.is_empty() {
        notes.push(format!(
            "no prior is stated for {}: each value within the bounds counts alike",
            names(&bounded)
        ));
    }
    notes
}

impl PosteriorOutcome {
    /// Judges the draws, once all else is known.
    pub fn judge(&mut self, draws: &Draws) {
        self.verdict = judge(self, clustered(draws).as_deref());
    }

    /// What the audit came to, in a sentence.
    pub fn audited_in_words(&self) -> Option<String> {
        let audit = self.audit.as_ref()?;
        if audit.spread > 0.1 && audit.shape > TRUSTED {
            return Some(format!(
                "by {}, the posterior is another one (k-hat {})",
                audit.solver,
                digits(audit.shape, 2)
            ));
        }
        let (name, shift, error) = largest_shift(self, audit)?;
        let verdict = if shift.abs() <= 3.0 * error.max(1e-12) {
            "no more than Monte Carlo error"
        } else if shift.abs() <= 0.1 {
            "little"
        } else {
            "more than Monte Carlo error"
        };
        Some(format!(
            "{} would shift the mean of {name} by {} +- {} of its standard deviation, and no other by more: {verdict} (k-hat {})",
            audit.solver,
            digits(shift, 2),
            digits(error, 1),
            digits(audit.shape, 2)
        ))
    }
}

/// Divergences are together if the ranks of an unknown where they happened are: their mean is farther from the middle, or
/// their spread smaller, than chance would have it once in a thousand for any unknown.
fn clustered(draws: &Draws) -> Option<String> {
    const FEWEST: usize = 3;
    let diverged: Vec<bool> = draws.kept.iter().flatten().map(|draw| draw.diverged).collect();
    let count = diverged.iter().filter(|diverged| **diverged).count();
    if count < FEWEST {
        return None;
    }
    // Of a normal density, for the number of unknowns.
    let limit = 3.3 + (draws.unknowns.len() as f64).ln().max(0.0) / 3.0;
    let together = |column: &&Column| {
        let all = column.all();
        let in_order = sorted(all.iter().copied());
        let rank = |x: f64| in_order.partition_point(|y| *y < x) as f64 / in_order.len() as f64;
        let ranks: Vec<f64> =
            all.iter().zip(&diverged).filter(|(_, diverged)| **diverged).map(|(x, _)| rank(*x)).collect();
        let n = count as f64;
        // Uniform ranks have the mean 1/2 and the variance 1/12; (rank - 1/2)² has the mean 1/12 and the variance 1/180.
        let off = (mean(&ranks) - 0.5) * (12.0 * n).sqrt();
        let squares: Vec<f64> = ranks.iter().map(|rank| (rank - 0.5).powi(2)).collect();
        let spread = (mean(&squares) - 1.0 / 12.0) * (180.0 * n).sqrt();
        off.abs() > limit || spread.abs() > limit
    };
    draws.unknowns.iter().find(together).map(|column| column.name.clone())
}

/// A check that has nothing to say.
impl PredictiveCheck {
    pub(crate) fn of(observation: &str) -> PredictiveCheck {
        PredictiveCheck { observation: observation.to_owned(), ..PredictiveCheck::default() }
    }
}
