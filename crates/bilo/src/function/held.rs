//! States held to the range for which a function of them is wanted.

use crate::problem::Coordinate;
use bilo_expr::{Comparison, Expr, Graph};

/// How far beyond the ends of its range, in parts of it, a state may go: so that one that is at an end, up
/// to rounding, is not held.
const BEYOND: f64 = 1e-3;

/// A state, or the nearest end where it leaves its range: functions of it are constant there.
pub(crate) fn held(graph: &mut Graph, state: Expr, range: &Coordinate) -> Expr {
    let beyond = BEYOND * (range.hi - range.lo);
    let (lo, hi) = (graph.constant(range.lo - beyond), graph.constant(range.hi + beyond));
    let (below, above) =
        (graph.compare(Comparison::Less, state, lo), graph.compare(Comparison::Greater, state, hi));
    let inside = graph.select(above, hi, state);
    graph.select(below, lo, inside)
}
