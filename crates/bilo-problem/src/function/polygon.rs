//! Functions of time between the nodes of their grids: the polygon through the values.

use bilo_expr::{Expr, Graph};

/// The polygon as an expression of the place, in cells from the first node; beyond the ends it goes on straight:
/// v_0 + (v_1 - v_0) w + Σ_i bend_i max(w - i, 0).
pub fn expression(graph: &mut Graph, along: Expr, values: &[Expr]) -> Expr {
    let zero = graph.constant(0.0);
    let slopes: Vec<Expr> = values.windows(2).map(|pair| graph.sub(pair[1], pair[0])).collect();
    let mut terms = vec![values[0], graph.mul(slopes[0], along)];
    for (before, pair) in slopes.windows(2).enumerate() {
        let node = graph.constant(before as f64 + 1.0);
        let beyond = graph.sub(along, node);
        let beyond = graph.max(beyond, zero);
        let bend = graph.sub(pair[1], pair[0]);
        terms.push(graph.mul(bend, beyond));
    }
    graph.sum(&terms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_expr::{Input, Leaf, Scratch, Tape};

    /// At nodes and between them, against the chord of its own cell; sums of a few numbers of size 10: up to rounding.
    #[test]
    fn it_is_straight_from_node_to_node() {
        let nodes = [0.3, 1.0, -0.2, 0.4, 2.0];
        let mut graph = Graph::new();
        let symbol = graph.symbol("w");
        let along = graph.leaf(symbol);
        let values: Vec<Expr> = nodes.iter().map(|&value| graph.constant(value)).collect();
        let whole = expression(&mut graph, along, &values);
        let tape = Tape::compile(&graph, &[whole], &[Leaf::Symbol(symbol)]).unwrap();
        let places: Vec<f64> = (0..=40).map(|i| f64::from(i) / 10.0).collect();
        let mut scratch = Scratch::new();
        tape.eval(&[Input::Column(&places)], places.len(), &mut scratch);
        for (&found, along) in scratch.output(&tape, 0).iter().zip(places) {
            let cell = (along as usize).min(nodes.len() - 2);
            let chord = nodes[cell] + (along - cell as f64) * (nodes[cell + 1] - nodes[cell]);
            assert!((found - chord).abs() < 1e-13, "{along}: {found}");
        }
    }
}
