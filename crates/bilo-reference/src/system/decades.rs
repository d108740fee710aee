//! Coordinates whose nodes are even in their logarithm: radii from a well to the end of its reach.

use super::parts::Parts;
use bilo_expr::{Expr, Graph, Input, Leaf, MultiIndex, Scratch, Tape};

/// The ratio of both ends of a range from which on its logarithm is divided evenly.
const DECADES: f64 = 30.0;

/// Radii, in parts of the lower end, at which k/r is all that is left of what stands before a first derivative.
const NEAR: [f64; 2] = [1e-7, 1e-9];

/// How well both agree on k.
const AGREE: f64 = 1e-3;

impl Parts<'_> {
    /// Whether a coordinate goes over decades and equations have `u_rr + k/r u_r` in it, in one form or another: there solutions
    /// are powers and logarithms of it.
    pub(super) fn spans_decades(&self, number: usize) -> bool {
        let coordinate = self.coordinate(number);
        let decades = coordinate.lo > 0.0 && coordinate.hi > DECADES * coordinate.lo;
        if coordinate.time || coordinate.periodic || !decades {
            return false;
        }
        let mut graph = self.names.graph.clone();
        let mut residuals = self.interior.iter().map(|(_, residual)| *residual);
        residuals.any(|residual| self.is_radial(&mut graph, residual, number))
    }

    fn is_radial(&self, graph: &mut Graph, residual: Expr, number: usize) -> bool {
        let leaves = graph.leaves(&[residual]);
        let mut along = |state, order: usize| {
            let slots = graph.function_inputs(state).len();
            let index = (0..order).fold(MultiIndex::zero(slots), |index, _| index.plus(number));
            let leaf = Leaf::Derivative(state, index);
            leaves.contains(&leaf).then(|| graph.partial(residual, &leaf))
        };
        let pairs: Vec<[Expr; 2]> =
            self.states.iter().filter_map(|&state| Some([along(state, 1)?, along(state, 2)?])).collect();
        pairs.into_iter().any(|[first, second]| {
            let k = NEAR.map(|part| {
                let r = part * self.coordinate(number).lo;
                let [first, second] = self.values(graph, [first, second], number, r);
                r * first / second
            });
            k[0].is_finite() && k[0] != 0.0 && (k[1] - k[0]).abs() <= AGREE * k[0].abs()
        })
    }

    /// Two expressions at some values of all but the coordinate.
    fn values(&self, graph: &Graph, of: [Expr; 2], number: usize, r: f64) -> [f64; 2] {
        let leaves = graph.leaves(&of);
        let tape = Tape::compile(graph, &of, &leaves).expect("all leaves are given");
        let value = |(i, leaf): (usize, &Leaf)| match leaf {
            Leaf::Symbol(symbol) if *symbol == self.names.coordinates[number] => r,
            // Nothing vanishes by chance.
            _ => 0.7 + 0.1 * (i as f64).sin(),
        };
        let inputs: Vec<Input<'_, f64>> =
            leaves.iter().enumerate().map(|leaf| Input::Uniform(value(leaf))).collect();
        let mut scratch = Scratch::new();
        tape.eval(&inputs, 1, &mut scratch);
        [0, 1].map(|output| scratch.output(&tape, output)[0])
    }
}
