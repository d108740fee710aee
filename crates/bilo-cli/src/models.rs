//! `bilo compare A.toml B.toml`: which of several models the same data speak for.

use crate::args::CompareTask;
use crate::failure::Failure;
use crate::interrupt::Signal;
use crate::output;
use crate::progress::Progress;
use crate::study::plan::Case;
use crate::study::{folder_name, one};
use bilo::data::observed_tables;
use bilo::joint_likelihood::JointLikelihood;
use bilo::outcome::{Colour, Outcome};
use bilo::problem::{Problem, Table};
use bilo_report::columns::aligned;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// A model at its best fit.
struct Model {
    name: String,
    /// Free numbers: unknowns, and noise levels that were estimated.
    free: usize,
    data: usize,
    log_likelihood: Option<f64>,
    log_evidence: Option<f64>,
    colour: Colour,
}

impl Model {
    fn new(name: String, problem: &Problem, tables: &[Table], outcome: &Outcome) -> Model {
        Model {
            name,
            free: problem.unknowns.len() + estimated_noise(problem, tables).len(),
            data: tables.iter().map(|table| table.values.len()).sum(),
            log_likelihood: outcome.log_likelihood,
            log_evidence: outcome.log_evidence,
            colour: outcome.verdict.colour,
        }
    }

    /// Akaike's criterion, 2k - 2 log L.
    fn aic(&self) -> Option<f64> {
        Some(2.0 * self.free as f64 - 2.0 * self.log_likelihood?)
    }

    /// That corrected for few data; none where there are too few.
    fn aicc(&self) -> Option<f64> {
        let (k, n) = (self.free as f64, self.data as f64);
        Some(self.aic()? + 2.0 * k * (k + 1.0) / (n - k - 1.0)).filter(|_| n > k + 1.0)
    }

    /// The Bayesian criterion, k log n - 2 log L.
    fn bic(&self) -> Option<f64> {
        Some(self.free as f64 * (self.data as f64).ln() - 2.0 * self.log_likelihood?)
    }
}

/// The observations whose noise levels are estimated, together where they have one level.
fn estimated_noise(problem: &Problem, tables: &[Table]) -> Vec<Vec<usize>> {
    let joint = JointLikelihood::new(problem, tables);
    let normal = joint.groups().iter().map(|group| group.members.clone());
    let others = problem.observations.iter().zip(tables).enumerate();
    let others = others.filter(|(_, (observation, table))| observation.has_free_scale(table));
    normal.chain(others.map(|(number, _)| vec![number])).collect()
}

pub(crate) fn compare(task: &CompareTask) -> Result<(), Failure> {
    let statements = [&[Arc::clone(&task.statement)], &task.others[..]].concat();
    let problems: Vec<Problem> = statements
        .iter()
        .map(|statement| statement.problem(&task.overrides))
        .collect::<Result<_, Failure>>()?;
    let tables: Vec<Vec<Table>> = problems
        .iter()
        .map(|problem| Ok(observed_tables(problem, task.job.seed)?))
        .collect::<Result<_, Failure>>()?;
    for (problem, own) in problems.iter().zip(&tables).skip(1) {
        same_data((&problems[0], &tables[0]), (problem, own))?;
    }
    if let Some(problem) = problems.iter().find(|problem| !problem.functions.is_empty()) {
        let message = format!(
            "`{}` has unknown functions, whose number of free numbers depends on their regulariser",
            problem.name
        );
        return Err(Failure::new(message).help("AIC and BIC compare models whose unknowns are numbers"));
    }
    let out = task.out.clone().unwrap_or_else(|| Path::new("runs").join("models"));
    let signal = Signal::caught()?;
    let mut models = vec![];
    for (number, statement) in statements.iter().enumerate() {
        let name = statement.stem();
        let varied = vec![("model".to_owned(), format!("{}-{name}", number + 1))];
        let overrides = task.overrides.clone();
        let case = Case { statement: Arc::clone(statement), method: task.job.method, overrides, varied };
        let mut progress = Progress::new(task.progress, signal.clone());
        let folder = out.join(folder_name(&case, task.job.seed));
        let outcome =
            one(&case, &task.job, &folder, task.keeping, &signal, &mut progress).map_err(Failure::new)?;
        models.push(Model::new(name, &problems[number], &tables[number], &outcome));
    }
    // The density of a noise level has no scale of its own, so evidences compare only where all models estimate the same ones.
    let noise = |number: usize| estimated_noise(&problems[number], &tables[number]);
    if (1..models.len()).any(|number| noise(number) != noise(0)) {
        models.iter_mut().for_each(|model| model.log_evidence = None);
    }
    let text = table(&models) + &format!("A folder for each model is in {}\n", out.display());
    output::say(&if task.json { as_json(&models) } else { text })?;
    if signal.came() { Err(Failure::new("interrupted")) } else { Ok(()) }
}

/// Likelihoods are compared on the same data only.
fn same_data((first, a): (&Problem, &[Table]), (other, b): (&Problem, &[Table])) -> Result<(), Failure> {
    let differ = |message: String| {
        Err(Failure::new(message).help("likelihoods say which model is better on the same data only"))
    };
    let names = |problem: &Problem| problem.observations.iter().map(|o| o.name.clone()).collect::<Vec<_>>();
    if names(first) != names(other) {
        let (one, two) = (names(first).join(", "), names(other).join(", "));
        return differ(format!("`{}` observes {one}, `{}` observes {two}", first.name, other.name));
    }
    for ((observation, a), b) in first.observations.iter().zip(a).zip(b) {
        let (name, count) = (&observation.name, a.values.len());
        if b.values.len() != count {
            return differ(format!(
                "`{name}` has {count} data in `{}` and {} in `{}`",
                first.name,
                b.values.len(),
                other.name
            ));
        }
        let row = |table: &Table, i: usize| -> Vec<u64> {
            let columns = table.coordinates.iter().map(|column| column[i]).chain([table.values[i]]);
            columns.map(f64::to_bits).collect()
        };
        let rows: Vec<String> =
            (0..count).filter(|&i| row(a, i) != row(b, i)).map(|i| (i + 1).to_string()).collect();
        if !rows.is_empty() {
            let shown = rows.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            let more = if rows.len() > 5 { ", ..." } else { "" };
            return differ(format!(
                "{} rows of `{name}` differ in `{}` and `{}`: rows {shown}{more}",
                rows.len(),
                first.name,
                other.name
            ));
        }
    }
    Ok(())
}

fn table(models: &[Model]) -> String {
    let least = |of: fn(&Model) -> Option<f64>| models.iter().filter_map(of).fold(f64::INFINITY, f64::min);
    let (aic, bic) = (least(Model::aic), least(Model::bic));
    let heading =
        ["model", "free", "log L", "AIC", "AICc", "BIC", "log evidence", "verdict"].map(str::to_owned);
    let show = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let row = |model: &Model| {
        [
            model.name.clone(),
            model.free.to_string(),
            show(model.log_likelihood),
            show(model.aic()),
            show(model.aicc()),
            show(model.bic()),
            show(model.log_evidence),
            model.colour.name().to_owned(),
        ]
    };
    let rows: Vec<[String; 8]> = std::iter::once(heading).chain(models.iter().map(row)).collect();
    let mut text = aligned(&rows);
    let best = |of: fn(&Model) -> Option<f64>, least: f64| {
        let found = models.iter().find(|model| of(model).is_some_and(|value| value <= least));
        found.map_or("-", |model| &model.name[..])
    };
    let count = models.first().map_or(0, |model| model.data);
    let _ = writeln!(
        text,
        "On the same {count} data, AIC is for {}, BIC for {}{}. Free numbers are the unknowns and the noise levels that were \
         estimated.{}",
        best(Model::aic, aic),
        best(Model::bic, bic),
        favoured(models).unwrap_or_default(),
        if models.iter().any(|model| model.log_evidence.is_none()) { NO_EVIDENCE } else { "" }
    );
    text
}

/// Why a model may have no evidence.
const NO_EVIDENCE: &str = " The evidence, by Laplace's method, needs a `prior` for every unknown whose bounds are not near, and the same \
     noise levels to be known or estimated in all models.";

/// Which model the evidence is for, if all have one, and by what odds over the next.
fn favoured(models: &[Model]) -> Option<String> {
    let evidence = models.iter().map(|model| model.log_evidence).collect::<Option<Vec<f64>>>()?;
    let mut order: Vec<usize> = (0..models.len()).collect();
    order.sort_by(|&a, &b| evidence[b].total_cmp(&evidence[a]));
    let (first, second) = (*order.first()?, *order.get(1)?);
    let odds = (evidence[first] - evidence[second]).exp();
    let odds = if odds < 1e6 { format!("{odds:.3}") } else { format!("{odds:.1e}") };
    Some(format!(", and the evidence for {} by {odds} to 1", models[first].name))
}

fn as_json(models: &[Model]) -> String {
    let model = |model: &Model| {
        json!({
            "model": model.name,
            "free": model.free,
            "data": model.data,
            "log_likelihood": model.log_likelihood,
            "aic": model.aic(),
            "aicc": model.aicc(),
            "bic": model.bic(),
            "log_evidence": model.log_evidence,
            "verdict": model.colour.name(),
        })
    };
    let models: Vec<_> = models.iter().map(model).collect();
    serde_json::to_string_pretty(&models).expect("plain data") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, free: usize, log_likelihood: f64) -> Model {
        Model {
            name: name.into(),
            free,
            data: 100,
            log_likelihood: Some(log_likelihood),
            log_evidence: None,
            colour: Colour::Green,
        }
    }

    /// By hand: 2*3 + 2*10 = 26, 26 + 24/96, 3 log 100 + 20.
    #[test]
    fn criteria_are_those_of_the_textbook() {
        let found = model("a", 3, -10.0);
        assert_eq!((found.aic(), found.aicc()), (Some(26.0), Some(26.25)));
        assert!((found.bic().unwrap() - (3.0 * 100.0_f64.ln() + 20.0)).abs() < 1e-12);
    }

    #[test]
    fn the_better_model_is_named() {
        let text = table(&[model("small", 2, -20.0), model("large", 3, -18.5)]);
        assert!(text.contains("AIC is for large, BIC for small. Free"), "{text}");
        assert!(text.contains("needs a `prior` for every unknown"), "{text}");
        let with =
            |name: &str, evidence: f64| Model { log_evidence: Some(evidence), ..model(name, 2, -20.0) };
        // exp(0.7) = 2.01375.
        let text = table(&[with("small", -9.3), with("large", -10.0)]);
        assert!(text.contains("and the evidence for small by 2.014 to 1."), "{text}");
    }
}
