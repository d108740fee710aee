//! The page of a run.

mod convergence;
mod details;
mod fields;
mod path;
mod posterior;
mod profiles;
mod starts;
mod statement;
mod unknowns;
mod verdict;

use super::ReportError;
use super::figure::Figures;
use super::fit;
use super::page::{self, Section, drawing, sections};
use super::source::Source;
use crate::markup::{Html, html};
use bilo::outcome::{Outcome, SolvedBy};
use std::path::Path;

// Whatever is drawn in these colours is the same thing in all figures.

pub(super) use convergence::html as convergence;

pub(super) fn page(folder: &Path, outcome: &str) -> Result<String, ReportError> {
    let source = Source::read(folder, outcome)?;
    let mut figures = Figures::new(source.time());
    let pictures: Html = source.pictures.iter().map(|(name, svg)| drawing(name, svg)).collect();
    let fits = fit::figures(&source, folder, &mut figures);
    let part = |id, heading, content| Section { id, heading, content };
    let parts = [
        part("problem", "Problem", statement::html(&source)),
        part("unknowns", "Unknowns", unknowns::html(&source, &mut figures)),
        part("posterior", "Posterior", posterior::html(&source, folder, &mut figures)),
        part("profiles", "Profile likelihoods", profiles::html(&source, &mut figures)),
        part("starts", "Other minima", starts::html(&source, &mut figures)),
        part("convergence", "Convergence", convergence::html(&source, &mut figures)),
        part("fields", "Solution", fields::html(&source, &mut figures)),
        part("fit", "Data and fit", fits),
        part("pictures", "Pictures", pictures),
        part("checks", "Checks", details::checks(&source)),
        part("settings", "Settings", details::settings(&source)),
        part("file", "Problem file", html!("<pre>{}</pre>\n", &source.text)),
    ];
    let body = verdict::header(&source) + sections(&parts);
    Ok(page::page(&source.outcome.problem, body, &figures.data()))
}

/// What stood for the solution: a network, a basis expansion, or the reference solver alone.
fn solver(outcome: &Outcome) -> &'static str {
    match outcome.solved_by {
        SolvedBy::Dictionary => "basis expansion",
        other => other.name(),
    }
}
