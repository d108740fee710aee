//! `bilo compare FILE`: one problem by BiLO, by a physics-informed network and by the classical solver.

use crate::args::CompareTask;
use crate::failure::Failure;
use crate::interrupt::Signal;
use crate::output;
use crate::progress::Progress;
use crate::study::figures::off_optimum;
use crate::study::plan::{Case, Plan};
use crate::study::summary::{Ended, Summary};
use crate::study::{folder_name, one, write_files};
use bilo::Method;
use bilo::method::{Adjoint, Bilo, Pinn};
use bilo::outcome::{NoiseSource, ScalarOutcome, Stop};
use bilo::problem::Overrides;
use std::path::Path;
use std::sync::Arc;

const METHODS: [&dyn Method; 3] = [&Bilo, &Pinn, &Adjoint];

pub(crate) fn compare(task: &CompareTask) -> Result<(), Failure> {
    let problem = task.statement.problem(&task.overrides)?;
    let out = task.out.clone().unwrap_or_else(|| Path::new("runs").join(format!("{}-compare", problem.name)));
    let signal = Signal::caught()?;
    let statement = Arc::clone(&task.statement);
    let (mut cases, mut ended) = (vec![], vec![]);
    for method in METHODS {
        let limit = task.seconds.map(|seconds| format!("train.time-limit={seconds:?}"));
        let set = task.overrides.set.iter().cloned().chain(limit.map(Into::into)).collect();
        let overrides = Overrides { recipe: task.overrides.recipe.clone(), set };
        let varied = vec![("method".to_owned(), method.name().to_owned())];
        let case = Case { statement: Arc::clone(&statement), method, overrides, varied };
        let job = bilo::Job { method, ..task.job.clone() };
        let mut progress = Progress::new(task.progress, signal.clone());
        let found =
            one(&case, &job, &out.join(folder_name(&case, job.seed)), task.keeping, &signal, &mut progress);
        cases.push(case);
        ended.push(found);
    }
    let plan = Plan {
        name: format!("{}-compare", problem.name),
        cases,
        seeds: vec![task.job.seed],
        contours: false,
    };
    let summary = Summary::new(&plan, &ended);
    let names = write_files(&plan, &summary, &ended, &out)?;
    let closing = format!("\nFiles in {}: {names}, and a folder for each method\n", out.display());
    let text = summary.table(true) + "\n" + &verdicts(&ended) + &closing;
    output::say(&if task.json { summary.json(&plan) } else { text })?;
    if signal.came() { Err(Failure::new("interrupted")) } else { Ok(()) }
}

/// How far each method is from what the data say under the exact PDE, in standard deviations; relative to the values where
/// the noise is only what each method leaves of the data, and so as large as its own errors.
fn verdicts(ended: &[Ended]) -> String {
    let sentence = |(method, ended): (&dyn Method, &Ended)| {
        let outcome = ended.as_ref().ok()?;
        // An answer of a search that was cut off says nothing about its method.
        if outcome.stop == Stop::TimeLimit {
            let (name, steps) = (method.name(), outcome.steps.pretrain + outcome.steps.train);
            return Some(format!(
                "{name} was stopped by the time limit after {steps} steps: no answer to compare.\n"
            ));
        }
        let unstated = |source| matches!(source, NoiseSource::Residuals | NoiseSource::None);
        let by_itself = outcome.noise.iter().any(|noise| unstated(noise.source));
        let distance = if by_itself { relative } else { deviations };
        let unknowns = outcome.unknowns.numbers.iter();
        let worst = unknowns.filter_map(distance).max_by(|a, b| a.1.total_cmp(&b.1));
        let (unknown, distance) = worst?;
        let distance = match distance {
            d if by_itself => format!("{d:.1e} (relative)"),
            d if d < 0.01 => "less than 0.01 standard deviations".to_owned(),
            d if d < 10.0 => format!("{d:.2} standard deviations"),
            d => format!("{d:.0} standard deviations"),
        };
        let name = method.name();
        Some(format!("{name} is {distance} from the data-optimal values (worst: {unknown}).\n"))
    };
    METHODS.into_iter().zip(ended).filter_map(sentence).collect()
}

/// An unknown with its distance from the data-optimal value, relative to it.
fn relative(unknown: &ScalarOutcome) -> Option<(String, f64)> {
    Some((unknown.name.clone(), off_optimum(unknown)?))
}

/// An unknown with its distance from the data-optimal value in standard deviations.
fn deviations(unknown: &ScalarOutcome) -> Option<(String, f64)> {
    let distance = (unknown.estimate - unknown.data_optimal?).abs();
    Some((unknown.name.clone(), distance / unknown.sd.filter(|sd| *sd > 0.0)?))
}
