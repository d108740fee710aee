//! A loss on one tile.

use super::{Points, Task, TileRunner};
use crate::program::DensityProgram;
use crate::scalar::Scalar;
use crate::sweep::Weights;
use bilo_expr::Input;

/// A loss with its gradient with respect to the unknowns and, if asked, the weights.
pub(crate) struct DensityTask<T> {
    pub(crate) weights: Vec<Weights<T>>,
    pub(crate) unknowns: Vec<T>,
    pub(crate) gradient: bool,
}

impl<T: Scalar> Task<T> for DensityTask<T> {
    type Program = DensityProgram;

    fn sums(&self) -> usize {
        1 + self.unknowns.len()
    }

    fn run(
        &self,
        program: &DensityProgram,
        points: &Points<T>,
        tile: usize,
        runner: &mut TileRunner<T>,
        sums: &mut [f64],
        gradient: &mut [T],
    ) {
        points.forward(tile, &self.weights, &self.unknowns, runner);
        let (_, real) = points.range(tile);
        let seeds = points.quadrature_weights(tile);
        let tape = &program.density;
        let inputs = points.tape_inputs(&runner.slots, &runner.columns, &self.unknowns);
        tape.eval(&inputs, points.tile, &mut runner.first);
        let density = runner.first.output(tape, 0);
        sums[0] += density.iter().zip(&seeds).take(real).map(|(d, w)| d.wide() * w.wide()).sum::<f64>();
        tape.adjoint(&[Input::Column(&seeds)], &mut runner.first);
        let adjoints = (0..points.slots.len()).map(|slot| runner.first.input_adjoint(tape, slot));
        points.seed(&mut runner.work, 0, adjoints);
        for (number, network) in points.networks.iter().enumerate() {
            network.reverse(&self.weights[number], &mut runner.work[number], false);
        }
        for unknown in 0..self.unknowns.len() {
            let input = points.slots.len() + points.source.width() + unknown;
            let mut column = runner.first.input_adjoint(tape, input).to_vec();
            points.add_unknown_adjoint(&runner.work, 0, unknown, &mut column);
            sums[1 + unknown] += column.iter().map(|value| value.wide()).sum::<f64>();
        }
        if self.gradient {
            points.weight_gradient(runner, false, gradient);
        }
    }
}
