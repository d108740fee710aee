//! Unknown functions in the outcome of a run.

use crate::outcome::{FunctionOutcome, Outcome};
use crate::verify::{relative_l2, report_nodes};
use bilo_problem::diagnostic::Result;
use bilo_problem::fields::{Field, Fields};
use bilo_problem::function::Lattice;
use bilo_problem::text::digits;
use bilo_problem::{Argument, Coordinate, Problem, UnknownFunction};

/// Nodes of the grid on which an error is measured, along the one coordinate or along each of several.
const FINE: [usize; 2] = [1001, 201];

/// A state that misses an end of a range by more than this part of it, on either side, is told of.
const FAR: f64 = 0.05;

/// Where an unknown function ended: its values at points, given by one column per coordinate of it.
pub(crate) type Estimate<'a> = dyn FnMut(&[&[f64]]) -> Result<Vec<f64>> + 'a;

/// How far an estimate is from the truth.
pub(crate) fn outcome(
    problem: &Problem,
    function: &UnknownFunction,
    estimate: &mut Estimate<'_>,
    gradient: &'static str,
) -> Result<FunctionOutcome> {
    let fine = on_grid(function, FINE[usize::from(function.of.len() > 1)]);
    let values = at_nodes(&fine, estimate)?;
    let truth = function.truth.as_ref().map(|truth| fine.on_nodes(problem, truth)).transpose()?;
    let guess = fine.on_nodes(problem, &function.guess)?;
    let classes = function.threshold.zip(truth.as_ref());
    Ok(FunctionOutcome {
        name: function.name.clone(),
        of: function.argument_names().into_iter().map(str::to_owned).collect(),
        unit: function.unit.clone(),
        range: extremes(&values),
        relative_l2_error: truth.as_ref().map(|truth| relative_l2(&values, truth)),
        relative_l2_error_of_guess: truth.as_ref().map(|truth| relative_l2(&guess, truth)),
        relative_sd: None,
        classification_accuracy: classes.map(|(threshold, truth)| same_side(&values, truth, threshold)),
        gradient: gradient.into(),
    })
}

/// The share of values that are on the same side of a threshold as the truth.
fn same_side(values: &[f64], truth: &[f64], threshold: f64) -> f64 {
    let right =
        values.iter().zip(truth).filter(|(value, truth)| (**value > threshold) == (**truth > threshold));
    right.count() as f64 / values.len() as f64
}

/// Adds estimate, guess and truth to the fields of the report, and the axis of a state if there is none yet.
pub(crate) fn add_fields(
    fields: &mut Fields,
    problem: &Problem,
    function: &UnknownFunction,
    estimate: &mut Estimate<'_>,
) -> Result<()> {
    let nodes = report_nodes(problem);
    let report = on_grid(function, nodes);
    let mut of = vec![];
    for Argument { axis, .. } in &function.of {
        let known = fields.axes.iter().position(|(name, _)| *name == axis.name);
        of.push(known.unwrap_or(fields.axes.len()));
        if known.is_none() {
            fields.axes.push((axis.name.clone(), axis.axis(nodes)));
        }
    }
    let truth = function.truth.as_ref().map(|truth| report.on_nodes(problem, truth)).transpose()?;
    let arrays = [
        ("", Some(at_nodes(&report, estimate)?)),
        ("_guess", Some(report.on_nodes(problem, &function.guess)?)),
        ("_truth", truth),
    ];
    for (suffix, values) in arrays {
        let name = format!("{}{suffix}", function.name);
        fields.arrays.extend(values.map(|values| Field { name, of: of.clone(), values }));
    }
    Ok(())
}

/// Says in the outcome if a state does not take the values for which a function of it is wanted.
pub(crate) fn compare_range(outcome: &mut Outcome, problem: &Problem, function: &UnknownFunction) {
    let Some(state) = function.state() else { return };
    let (state, name) = (&problem.states[state].name, &function.name);
    let of_state = ["network", "classical"].map(|solver| format!("{state}_{solver}"));
    let Some(taken) = outcome.fields.arrays.iter().find(|array| of_state.contains(&array.name)) else {
        return;
    };
    let (least, most) = extremes(&taken.values);
    let Coordinate { lo, hi, .. } = function.of[0].axis;
    let far = FAR * (hi - lo);
    let found = format!("{state} goes from {} to {}", digits(least, 3), digits(most, 3));
    if least < lo - far || most > hi + far {
        let advice = format!("{name} is held constant beyond its range [{lo}, {hi}]; widen the range");
        outcome.warnings.push(format!("{found}, where {advice}"));
    } else if least > lo + far || most < hi - far {
        outcome
            .notes
            .push(format!("{found} only, so of {name} in the rest of its range the data say nothing"));
    }
}

/// Least and greatest of some values.
fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)))
}

/// The function with another grid.
fn on_grid(function: &UnknownFunction, nodes: usize) -> UnknownFunction {
    UnknownFunction { nodes: vec![nodes; function.of.len()], ..function.clone() }
}

fn at_nodes(function: &UnknownFunction, estimate: &mut Estimate<'_>) -> Result<Vec<f64>> {
    let columns = Lattice::new(function).columns();
    let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
    estimate(&columns)
}

#[cfg(test)]
mod tests {
    use super::same_side;

    /// A value at the threshold counts as below it, in the estimate and in the truth.
    #[test]
    fn three_of_four_are_on_the_side_of_the_truth() {
        assert_eq!(same_side(&[4.0, 7.5, 8.0, 9.0], &[3.0, 3.0, 3.0, 12.0], 7.5), 0.75);
    }
}
