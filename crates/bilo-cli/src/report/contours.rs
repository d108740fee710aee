//! The data loss over the plane of a run's two unknowns, for its page.

use crate::failure::Failure;
use crate::files::{HISTORY, OUTCOME, PROBLEM};
use crate::statement::Statement;
use bilo::outcome::{Field, Fields, Outcome, ScalarOutcome};
use bilo::problem::Overrides;
use bilo_report::files::{DATA_LOSS, LOSSES};
use bilo_report::history::History;
use bilo_report::npz;
use bilo_report::picture::landscape::{Landscape, around};
use bilo_report::record::RunRecord;
use std::fs;
use std::path::Path;

/// Solves all over the rectangle that the run went through, and keeps the losses in its folder.
pub(super) fn solve(folder: &Path) -> Result<(), Failure> {
    let statement = Statement::find(&folder.join(PROBLEM), false)?;
    let problem = statement.problem(&Overrides::default())?;
    let ([first, second], true) = (&problem.unknowns[..], problem.functions.is_empty()) else {
        let message =
            format!("there is no plane to draw contours in: `{}` has not two scalar unknowns", problem.name);
        return Err(Failure::new(message).help("leave out --contours"));
    };
    let seed = RunRecord::read(folder).map_or(0, |record| record.seed);
    let axes = Landscape::axes(ends(folder, [&first.name, &second.name])?);
    let values = bilo::loss_map(&problem, seed, [&axes[0], &axes[1]])?;
    let names = [&first.name, &second.name].into_iter().cloned();
    let field = Field { name: DATA_LOSS.to_owned(), of: vec![0, 1], values };
    let fields = Fields { axes: names.zip(axes).collect(), arrays: vec![field] };
    let file = folder.join(LOSSES);
    npz::write(&fields, &file).map_err(Failure::file("write", &file))
}

/// Around the way, the estimate and the truth.
fn ends(folder: &Path, names: [&str; 2]) -> Result<[(f64, f64); 2], Failure> {
    let read = |name: &str| {
        let file = folder.join(name);
        fs::read_to_string(&file).map_err(Failure::file("read", &file))
    };
    let outcome = Outcome::from_json(&read(OUTCOME)?).unwrap_or_default();
    let of = |value: fn(&ScalarOutcome) -> Option<f64>| -> Option<[f64; 2]> {
        let numbers = &outcome.unknowns.numbers;
        let of = |name: &str| numbers.iter().find(|number| number.name == name).and_then(value);
        Some([of(names[0])?, of(names[1])?])
    };
    let mut points = History::parse(&read(HISTORY)?, usize::MAX).way(names);
    points.extend(of(|number| Some(number.guess)));
    points.extend(of(|number| Some(number.estimate)));
    points.extend(of(|number| number.truth));
    Ok(around(points.iter()))
}
