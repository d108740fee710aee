//! A posterior as files: `posterior.json`, draws as CSV and as a Zarr store for ArviZ and xarray, and a table for people.

use crate::columns::aligned;
use crate::files::{DRAWS, POSTERIOR, POSTERIOR_STORE, predictive_file};
use crate::inference_data::{InferenceData, LOG_LIKELIHOOD, OBSERVED};
use crate::number::significant;
use bilo::posterior::{Column, Draws, Kept, LeftOut, Marginal, PosteriorOutcome, PredictedObservation};
use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::{fs, io};

/// The posterior of a run's folder, if it was sampled.
pub fn read(folder: &Path) -> Option<PosteriorOutcome> {
    let text = fs::read_to_string(folder.join(POSTERIOR)).ok()?;
    serde_json::from_str(&text).ok()
}

/// The text of `posterior.json`.
pub fn json(outcome: &PosteriorOutcome) -> String {
    serde_json::to_string_pretty(outcome).expect("plain data") + "\n"
}

/// Writes all files of a posterior into a run's folder, `posterior.json` last.
pub fn write(outcome: &PosteriorOutcome, draws: &Draws, folder: &Path) -> io::Result<()> {
    write_draws(draws, &folder.join(DRAWS))?;
    write_store(outcome, draws, &folder.join(POSTERIOR_STORE))?;
    for observation in &draws.predicted.observations {
        write_predicted(observation, &draws.coordinates, &folder.join(predictive_file(&observation.name)))?;
    }
    fs::write(folder.join(POSTERIOR), json(outcome))
}

/// Everything drawn that is a number: unknowns first.
fn quantities(draws: &Draws) -> impl Iterator<Item = &Column> {
    draws.unknowns.iter().chain(&draws.derived).chain(&draws.noise)
}

/// A row for each draw: chain, draw, every number, and how the draw came about.
fn write_draws(draws: &Draws, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(fs::File::create(path)?);
    let names: String = quantities(draws).map(|column| format!("{},", column.name)).collect();
    writeln!(file, "chain,draw,{names}log_density,log_likelihood,diverging,depth,steps,acceptance")?;
    for (c, chain) in draws.kept.iter().enumerate() {
        for (d, draw) in chain.iter().enumerate() {
            write!(file, "{c},{d},")?;
            for column in quantities(draws) {
                write!(file, "{},", column.chains[c][d])?;
            }
            let Kept { log_density, diverged, depth, steps, accepted, .. } = draw;
            let likelihood = draws.predicted.log_likelihood[c][d];
            writeln!(file, "{log_density},{likelihood},{},{depth},{steps},{accepted}", u8::from(*diverged))?;
        }
    }
    file.flush()
}

/// The data of an observation, and the middle 95 % and the median of what draws predict there: of the observed quantity,
/// and of data as they would be seen again.
pub(crate) fn write_predicted(
    observed: &PredictedObservation,
    coordinates: &[String],
    path: &Path,
) -> io::Result<()> {
    let quantiles = |name: &str, of: &[Vec<Vec<f64>>]| {
        let bands = observed.bands(of).filter(|[lower, ..]| lower.len() == observed.data.len());
        let names = ["lower", "median", "upper"].map(|end| format!("{name}_{end}"));
        names.into_iter().zip(bands.into_iter().flatten()).collect::<Vec<_>>()
    };
    let mut columns: Vec<(String, Vec<f64>)> =
        coordinates.iter().cloned().zip(observed.coordinates.iter().cloned()).collect();
    columns.push(("data".to_owned(), observed.data.clone()));
    columns.extend(quantiles("value", &observed.values));
    columns.extend(quantiles("again", &observed.again));
    let names: Vec<&str> = columns.iter().map(|(name, _)| &name[..]).collect();
    let mut file = BufWriter::new(fs::File::create(path)?);
    writeln!(file, "{}", names.join(","))?;
    for row in 0..observed.data.len() {
        let cells: Vec<String> = columns.iter().map(|(_, column)| column[row].to_string()).collect();
        writeln!(file, "{}", cells.join(","))?;
    }
    file.flush()
}

/// Draws, how they came about, and what they predict.
fn write_store(outcome: &PosteriorOutcome, draws: &Draws, path: &Path) -> io::Result<()> {
    let mut data = InferenceData::create(path, &outcome.problem, draws.kept.len())?;
    let length = draws.kept.first().map_or(0, Vec::len);
    data.columns("posterior", length, quantities(draws))?;
    data.statistics(&draws.kept, length)?;
    let groups = ["posterior_predictive", LOG_LIKELIHOOD, OBSERVED];
    data.predictions(&groups, &draws.predicted.shown, &draws.predicted.observations)?;
    data.finish()
}

/// A line for each number, and what is to be said of the chains.
pub fn table(outcome: &PosteriorOutcome) -> String {
    let heading =
        ["", "mean", "sd", "95 % interval", "Monte Carlo error", "effective draws", "R-hat", "estimate"]
            .map(str::to_owned);
    let all = outcome.unknowns.iter().chain(&outcome.derived).chain(&outcome.noise);
    let rows: Vec<[String; 8]> = std::iter::once(heading).chain(all.map(row)).collect();
    let mut text = format!("\nPosterior of {}: {}\n", outcome.problem, outcome.verdict.colour.name());
    for reason in &outcome.verdict.reasons {
        let help = if reason.help.is_empty() { String::new() } else { format!(" ({})", reason.help) };
        let _ = writeln!(text, "  {}: {}{help}", reason.colour.name(), reason.sentence);
    }
    text += "\n";
    text += &aligned(&rows);
    text += "\n";
    let _ = writeln!(text, "{}", chains(outcome));
    if let Some(audit) = outcome.audited_in_words() {
        let _ = writeln!(
            text,
            "Audit of {} draws: {audit}.",
            outcome.audit.as_ref().map_or(0, |audit| audit.draws)
        );
    }
    for check in &outcome.predictive {
        if let Some(left_out) = &check.left_out {
            let _ = writeln!(text, "{}: {}.", check.observation, left_out_in_words(left_out));
        }
        let Some(covered) = check.covered else { continue };
        let p = check.p_value.map_or(String::new(), |p| format!(", p = {}", significant(p)));
        let _ = writeln!(
            text,
            "Of the data {}, {:.0} % lie within the 95 % that the posterior predicts{p}.",
            check.observation,
            100.0 * covered
        );
    }
    outcome.notes.iter().for_each(|note| {
        let _ = writeln!(text, "Note: {note}.");
    });
    text
}

fn row(marginal: &Marginal) -> [String; 8] {
    let unit = marginal.unit.as_ref().map(|unit| format!(" [{unit}]")).unwrap_or_default();
    let (lo, hi) = marginal.interval_95;
    [
        format!("{}{unit}", marginal.name),
        significant(marginal.mean),
        significant(marginal.sd),
        format!("[{}, {}]", significant(lo), significant(hi)),
        significant(marginal.mcse_mean),
        format!("{:.0}", marginal.ess_bulk.min(marginal.ess_tail)),
        format!("{:.3}", marginal.rhat),
        marginal.laplace.map_or("-".to_owned(), |(estimate, sd)| {
            format!("{} +- {}", significant(estimate), significant(sd))
        }),
    ]
}

/// The log-density of data that are left out in turn.
pub(crate) fn left_out_in_words(left_out: &LeftOut) -> String {
    let LeftOut { log_density, error, effective, not_trusted, .. } = left_out;
    let trust = match not_trusted {
        0 => String::new(),
        count => format!("; {count} of its terms cannot be trusted (k-hat above 0.7)"),
    };
    format!(
        "each datum left out in turn has the log-density {log_density:.2} +- {error:.2} in all ({effective:.1} effective unknowns){trust}"
    )
}

/// How the chains went, in a line.
fn chains(outcome: &PosteriorOutcome) -> String {
    let sum =
        |of: &dyn Fn(&bilo::posterior::ChainOutcome) -> usize| outcome.chains.iter().map(of).sum::<usize>();
    let (draws, gradients) = (sum(&|chain| chain.draws), sum(&|chain| chain.gradients));
    let diverged = match sum(&|chain| chain.divergences) {
        0 => "none diverged".to_owned(),
        count => format!("{count} diverged"),
    };
    format!(
        "{} chains, {draws} draws by {gradients} gradients of {} in {:.1} s; {diverged}.",
        outcome.chains.len(),
        outcome.solver,
        outcome.seconds
    )
}
