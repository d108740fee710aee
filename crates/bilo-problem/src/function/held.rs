//! States held to the range for which a function of them is wanted.

use crate::Coordinate;
use bilo_expr::{Comparison, Expr, Graph};

/// How far beyond the ends of its range, in parts of it, a state may go: so that one that is at an end, up
/// to rounding, is not held.
const BEYOND: f64 = 1e-3;

/// The ends beyond which states are held.
pub(super) fn ends(range: &Coordinate) -> [f64; 2] {
    let beyond = BEYOND * (range.hi - range.lo);
    [range.lo - beyond, range.hi + beyond]
}

/// A state, or the nearest end where it leaves its range: functions of it are constant there.
pub fn held(graph: &mut Graph, state: Expr, range: &Coordinate) -> Expr {
    let [lo, hi] = ends(range).map(|end| graph.constant(end));
    let (below, above) =
        (graph.compare(Comparison::Less, state, lo), graph.compare(Comparison::Greater, state, hi));
    let inside = graph.select(above, hi, state);
    graph.select(below, lo, inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_expr::{Input, Leaf, Scratch, Tape};

    /// At the ends themselves the state still moves: only beyond them it is held.
    #[test]
    fn states_are_held_beyond_their_range_and_not_at_its_ends() {
        let range = Coordinate::space("u", -1.0, 3.0);
        let mut graph = Graph::new();
        let symbol = graph.symbol("u");
        let state = graph.leaf(symbol);
        let held = held(&mut graph, state, &range);
        let slope = graph.diff(held, symbol);
        let tape = Tape::compile(&graph, &[held, slope], &[Leaf::Symbol(symbol)]).unwrap();
        let mut scratch = Scratch::new();
        tape.eval(&[Input::Column(&[-2.0, -1.0, 0.5, 3.0, 9.0])], 5, &mut scratch);
        assert_eq!(scratch.output(&tape, 0), [-1.004, -1.0, 0.5, 3.0, 3.004]);
        assert_eq!(scratch.output(&tape, 1), [0.0, 1.0, 1.0, 1.0, 0.0]);
    }
}
