//! Functions of a state between the nodes of their grids: the polygon through the values, its corners
//! rounded off.
//!
//! The function is the mean of the polygon over a window as wide as a cell, a spline of second degree. Its
//! slope has no jumps, as Newton's method wants; it stays between the values around, so that what is
//! positive at the nodes is positive everywhere; it is the polygon itself where that is straight, and next
//! to the ends.

use bilo_expr::{Expr, Graph};

/// The nodes around a place, so many cells from the first one, and their weights.
pub(super) fn around(along: f64, cells: usize) -> Vec<(usize, f64)> {
    let nearest = along.round() as usize;
    let s = along - nearest as f64;
    if nearest == 0 {
        return vec![(0, 1.0 - s), (1, s)];
    }
    if nearest == cells {
        return vec![(cells - 1, -s), (cells, 1.0 + s)];
    }
    let before = 0.5 * (0.5 - s).powi(2);
    let after = 0.5 * (0.5 + s).powi(2);
    vec![(nearest - 1, before), (nearest, 0.75 - s * s), (nearest + 1, after)]
}

/// The rounded polygon as an expression of the place, in cells from the first node; beyond the ends it goes on
/// straight. The second derivative jumps in the middle of each cell:
/// v_0 + (v_1 - v_0) w + Σ_i jump_i max(w - (i + 1/2), 0)²/2.
pub fn expression(graph: &mut Graph, along: Expr, values: &[Expr]) -> Expr {
    let zero = graph.constant(0.0);
    let slopes: Vec<Expr> = values.windows(2).map(|pair| graph.sub(pair[1], pair[0])).collect();
    // The second derivative around each node; around the two ends there is none.
    let mut bends = vec![zero];
    bends.extend(slopes.windows(2).map(|pair| graph.sub(pair[1], pair[0])));
    bends.push(zero);
    let mut terms = vec![values[0], graph.mul(slopes[0], along)];
    for (cell, pair) in bends.windows(2).enumerate() {
        let middle = graph.constant(cell as f64 + 0.5);
        let beyond = graph.sub(along, middle);
        let beyond = graph.max(beyond, zero);
        let square = graph.mul(beyond, beyond);
        let half = graph.constant(0.5);
        let jump = graph.sub(pair[1], pair[0]);
        let jump = graph.mul(half, jump);
        terms.push(graph.mul(jump, square));
    }
    graph.sum(&terms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_expr::{Input, Leaf, Scratch, Tape};

    const VALUES: [f64; 6] = [0.3, 1.0, 0.2, 0.4, 0.4, 2.0];

    fn by_weights(along: f64) -> f64 {
        around(along, VALUES.len() - 1).iter().map(|&(node, weight)| weight * VALUES[node]).sum()
    }

    /// Places off the nodes and the middles of cells, and these themselves.
    fn places() -> Vec<f64> {
        (0..=100).map(|i| f64::from(i) / 20.0).collect()
    }

    /// Sums of 25 numbers of the size 1 to 25: up to rounding.
    #[test]
    fn the_expression_is_the_weighted_sum() {
        let mut graph = Graph::new();
        let symbol = graph.symbol("w");
        let along = graph.leaf(symbol);
        let values: Vec<Expr> = VALUES.iter().map(|&value| graph.constant(value)).collect();
        let whole = expression(&mut graph, along, &values);
        let tape = Tape::compile(&graph, &[whole], &[Leaf::Symbol(symbol)]).unwrap();
        let mut scratch = Scratch::new();
        tape.eval(&[Input::Column(&places())], places().len(), &mut scratch);
        for (&found, along) in scratch.output(&tape, 0).iter().zip(places()) {
            assert!((found - by_weights(along)).abs() < 1e-13, "{along}: {found}");
        }
    }

    /// The mean of the polygon over a window, by the midpoint rule on 1000 parts of it: its corners cost
    /// (1/1000)² of the slopes.
    #[test]
    fn it_is_the_mean_of_the_polygon_over_a_cell() {
        let polygon = |w: f64| {
            let cell = (w.floor().max(0.0) as usize).min(VALUES.len() - 2);
            VALUES[cell] + (w - cell as f64) * (VALUES[cell + 1] - VALUES[cell])
        };
        for along in places() {
            let part = |i: i32| polygon(along - 0.5 + (f64::from(i) + 0.5) / 1000.0);
            let mean: f64 = (0..1000).map(part).sum::<f64>() / 1000.0;
            assert!((by_weights(along) - mean).abs() < 1e-5, "{along}: {} and {mean}", by_weights(along));
        }
    }

    #[test]
    fn ends_are_met_and_values_stay_between_those_around() {
        assert_eq!([by_weights(0.0), by_weights(5.0)], [0.3, 2.0]);
        assert!(places().into_iter().all(|along| (0.2..=2.0).contains(&by_weights(along))));
    }
}
