//! The transposed Jacobian on one tile.

use super::{Points, Task, TileRunner};
use crate::program::{Moves, ResidualProgram};
use crate::scalar::Number;
use crate::sweep::Weights;

/// Σ seed · dr_q/dW over q and the points.
pub(crate) struct PullbackTask<'a, T> {
    pub(crate) weights: Vec<Weights<T>>,
    pub(crate) unknowns: Vec<T>,
    /// One column over the points for each q.
    pub(crate) seeds: &'a [Vec<f64>],
}

impl<T: Number> Task<T> for PullbackTask<'_, T> {
    type Program = ResidualProgram;

    fn sums(&self) -> usize {
        0
    }

    fn run(
        &self,
        program: &ResidualProgram,
        points: &Points<T>,
        tile: usize,
        runner: &mut TileRunner<T>,
        _: &mut [f64],
        gradient: &mut [T],
    ) {
        points.forward(tile, &self.weights, &self.unknowns, runner);
        let tape = &program.linearisation;
        let inputs = points.tape_inputs(&runner.slots, &runner.columns, &self.unknowns);
        tape.eval(&inputs, points.tile, &mut runner.first);
        let adjoints = self.slot_adjoints(program, points, tile, runner);
        points.seed(&mut runner.rooms, 0, adjoints.chunks_exact(points.tile));
        for (number, carrier) in points.moved() {
            carrier.network.reverse(&self.weights[number], &mut runner.rooms[number].work, false);
        }
        points.weight_gradient(runner, false, Moves::States, gradient);
    }
}

impl<T: Number> PullbackTask<'_, T> {
    /// Σ_q seed_q ∂r_q/∂(slot), one column per slot; zero at places that only fill up.
    fn slot_adjoints(
        &self,
        program: &ResidualProgram,
        points: &Points<T>,
        tile: usize,
        runner: &TileRunner<T>,
    ) -> Vec<T> {
        let (start, real) = points.range(tile);
        let slots = points.slots.len();
        let mut adjoints = vec![T::default(); slots * points.tile];
        for (q, seeds) in self.seeds.iter().enumerate() {
            for (slot, adjoint) in adjoints.chunks_exact_mut(points.tile).enumerate() {
                let slope = runner.first.output(&program.linearisation, program.residuals + q * slots + slot);
                let terms = seeds[start..start + real].iter().zip(slope);
                for (adjoint, (&seed, &slope)) in adjoint.iter_mut().zip(terms) {
                    *adjoint += T::cast(seed) * slope;
                }
            }
        }
        adjoints
    }
}
