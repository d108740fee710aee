//! The page of a run.

mod convergence;
mod details;
mod fields;
mod statement;
mod unknowns;
mod verdict;
mod way;

use super::ReportError;
use super::figure::Figures;
use super::fit;
use super::page::{self, contents, drawing, section};
use super::source::Source;
use crate::escape::escaped;
use std::path::Path;

// Whatever is drawn in these colours is the same thing in all figures.
pub(super) const CLASSICAL: usize = 0;
pub(super) const ESTIMATE: usize = 1;
pub(super) const TRUTH: usize = 2;
const GUESS: usize = 3;

pub(super) use convergence::html as convergence;

pub(super) fn page(folder: &Path, outcome: &str) -> Result<String, ReportError> {
    let source = Source::read(folder, outcome)?;
    let mut figures = Figures::new(source.time());
    let pictures: String = source.pictures.iter().map(|(name, svg)| drawing(name, svg)).collect();
    let fits = fit::figures(&source, folder, &mut figures);
    let sections = [
        section("problem", "Problem", &statement::html(&source)),
        section("unknowns", "Unknowns", &unknowns::html(&source, &mut figures)),
        section("convergence", "Convergence", &convergence::html(&source, &mut figures)),
        section("fields", "Solution", &fields::html(&source, &mut figures)),
        section("fit", "Data and fit", &fits),
        section("pictures", "Pictures", &pictures),
        section("checks", "Checks", &details::checks(&source)),
        section("settings", "Settings", &details::settings(&source)),
        section("file", "Problem file", &format!("<pre>{}</pre>\n", escaped(&source.text))),
    ]
    .concat();
    let body = verdict::header(&source) + &contents(&sections) + &sections;
    Ok(page::page(source.word("problem"), &body, &figures.data()))
}

/// What stood for the solution: a network, a dictionary, or the classical solver alone.
fn solver(source: &Source) -> &'static str {
    match (source.word("method"), source.outcome["operator"]["kind"].as_str()) {
        ("adjoint", _) => "classical solution",
        (_, Some("dictionary")) => "dictionary",
        _ => "network",
    }
}
