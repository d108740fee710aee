//! The lower level on one tile.

use super::{Carrier, Points, Room, Task, TileRunner};
use crate::device::ResidualWeights;
use crate::program::{Moves, ResidualProgram};
use crate::scalar::Number;
use crate::sweep::Weights;
use bilo_expr::Input;

/// Lower level: Σ |r_q|², Σ |dr_q/dη|², and the weight gradient of their weighted sum.
pub(crate) struct ResidualTask<'a, T> {
    pub(crate) weights: Vec<Weights<T>>,
    pub(crate) unknowns: Vec<T>,
    pub(crate) terms: &'a ResidualWeights,
    pub(crate) gradient: bool,
}

impl<T: Number> Task<T> for ResidualTask<'_, T> {
    type Program = ResidualProgram;

    fn sums(&self) -> usize {
        2 * self.terms.equation.len()
    }

    fn run(
        &self,
        program: &ResidualProgram,
        points: &Points<T>,
        tile: usize,
        runner: &mut TileRunner<T>,
        sums: &mut [f64],
        gradient: &mut [T],
    ) {
        points.linearise(program, tile, &self.weights, &self.unknowns, runner);
        self.losses_and_seeds(program, points, tile, runner, sums);
        if self.gradient {
            self.back(program, points, runner);
            points.weight_gradient(runner, true, Moves::States, gradient);
        }
    }
}

impl<T: Number> ResidualTask<'_, T> {
    /// Adds up the losses and turns r and dr/dη into c_q = 2 r_q and v_qj = 2 w dr_q/dη_j.
    fn losses_and_seeds(
        &self,
        program: &ResidualProgram,
        points: &Points<T>,
        tile: usize,
        runner: &mut TileRunner<T>,
        sums: &mut [f64],
    ) {
        let (_, real) = points.range(tile);
        let (q_count, n) = (program.residuals, points.tile);
        let (c, v) = runner.seeds.split_at_mut(q_count * n);
        for q in 0..q_count {
            let weight = 2.0 * self.terms.equation[q];
            let r = runner.first.output(&program.linearisation, q);
            sums[q] += seed(&mut c[q * n..(q + 1) * n], r, real, weight);
            for unknown in 0..points.unknowns {
                let start = (q * points.unknowns + unknown) * n;
                let column = &mut v[start..start + n];
                let slope = column.to_vec();
                sums[q_count + q] += seed(column, &slope, real, weight * self.terms.gradient);
            }
        }
    }

    /// Tangents along v_q, the second tape, and the sweep of μ back.
    fn back(&self, program: &ResidualProgram, points: &Points<T>, runner: &mut TileRunner<T>) {
        let (q_count, n) = (program.residuals, points.tile);
        let v = &runner.seeds[q_count * n..];
        for (number, carrier) in points.moved() {
            let Carrier { network, parameters, .. } = carrier;
            let Room { work, leading, .. } = &mut runner.rooms[number];
            for q in 0..q_count {
                let along = |unknown: usize| &v[(q * points.unknowns + unknown) * n..][..n];
                for (input, &unknown) in parameters.iter().enumerate() {
                    network.set_direction(work, 1 + q, input, along(unknown).iter().copied());
                }
                for k in 0..network.plan().leading().len() {
                    network.coefficient_tangent(work, 1 + q, k).fill(T::default());
                }
                for unknown in 0..points.unknowns {
                    for (k, slope) in carrier.leading_slopes(leading, unknown, points.unknowns) {
                        let tangent = network.coefficient_tangent(work, 1 + q, k);
                        for ((tangent, &v), &slope) in tangent.iter_mut().zip(along(unknown)).zip(slope) {
                            *tangent += v * slope;
                        }
                    }
                }
            }
        }
        points.forward_tangents(&self.weights, &[], runner);
        let (jets, tangents) = runner.slots.split_at(points.slots.len() * n);
        let mut inputs = points.tape_inputs(jets, &runner.columns, &self.unknowns);
        inputs.extend(runner.seeds.chunks_exact(n).chain(tangents.chunks_exact(n)).map(Input::Column));
        let tape = &program.second;
        tape.eval(&inputs, n, &mut runner.second);
        points.seed(
            &mut runner.rooms,
            0,
            (0..points.slots.len()).map(|slot| runner.second.output(tape, slot)),
        );
        for (number, carrier) in points.moved() {
            carrier.network.reverse(&self.weights[number], &mut runner.rooms[number].work, true);
        }
    }
}

/// Writes weight · values (zero at places that only fill up) and returns Σ values².
fn seed<T: Number>(target: &mut [T], values: &[T], real: usize, weight: f64) -> f64 {
    let mut sum = 0.0;
    for (place, (target, &value)) in target.iter_mut().zip(values).enumerate() {
        if place < real {
            sum += value.wide() * value.wide();
            *target = T::cast(weight) * value;
        } else {
            *target = T::cast(0.0);
        }
    }
    sum
}
