//! Sides on which an equation has no value, as `2/r*u_r` has none at r = 0: it holds inside, and a condition stands there.

use super::weight::{evaluate, value};
use crate::diagnostic::Result;
use crate::evaluate::names::Names;
use crate::model::formula::Formula;
use crate::model::problem::Problem;

/// Leaves out sides on which an equation has no value from the points that were chosen for it.
pub(super) fn leave_out(problem: &mut Problem, chosen: &[usize]) -> Result<()> {
    let mut names = Names::new(problem)?;
    names.bind_states_opaque(problem);
    for &number in chosen {
        let residual = names.lower(&problem.equations[number].residual)?;
        let leaves = names.graph.leaves(&[residual]);
        let has_value = |fractions: &[f64]| {
            let values: Vec<f64> =
                leaves.iter().map(|leaf| value(problem, &names, leaf, fractions)).collect();
            evaluate(&names, residual, &leaves, &values).is_some()
        };
        // Somewhere inside, where nothing vanishes by chance.
        let inside: Vec<f64> = (0..problem.coordinates.len()).map(|c| 0.41 + 0.07 * c as f64 % 0.3).collect();
        let mut sides = vec![];
        for (c, coordinate) in problem.coordinates.iter().enumerate().filter(|(_, c)| !c.periodic) {
            for (fraction, place) in [(0.0, coordinate.lo), (1.0, coordinate.hi)] {
                let mut there = inside.clone();
                there[c] = fraction;
                if has_value(&inside) && !has_value(&there) {
                    sides.push(format!("{} != {place:?}", coordinate.name));
                }
            }
        }
        if sides.is_empty() {
            continue;
        }
        let points = &mut problem.equations[number].points;
        let kept = points.filter.as_ref().map(|filter| format!("({})", filter.text));
        let origin = points.filter.as_ref().map(|filter| filter.origin.clone()).unwrap_or_default();
        let text = kept.into_iter().chain(sides).collect::<Vec<_>>().join(" and ");
        points.filter = Some(Formula::parse(&text, origin)?);
    }
    Ok(())
}
