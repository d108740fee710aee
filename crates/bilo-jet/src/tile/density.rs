//! A loss on one tile.

use super::{Carrier, Points, Room, Task, TileRunner};
use crate::program::{DensityProgram, Feed};
use crate::scalar::Number;
use crate::sweep::{Weights, Workspace};
use bilo_expr::Input;

/// A loss with its gradient with respect to the unknowns and, if asked, the weights.
pub(crate) struct DensityTask<T> {
    pub(crate) weights: Vec<Weights<T>>,
    pub(crate) unknowns: Vec<T>,
    pub(crate) gradient: bool,
}

impl<T: Number> Task<T> for DensityTask<T> {
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
        let weighted = |output: usize| {
            let values = runner.first.output(tape, output).iter().zip(&seeds).take(real);
            values.map(|(value, weight)| value.wide() * weight.wide()).sum::<f64>()
        };
        sums[0] += weighted(0);
        for (output, unknown) in program.moving.iter().enumerate() {
            sums[1 + unknown] += weighted(1 + output);
        }
        let mut adjoint_seeds = vec![Input::Uniform(T::default()); tape.outputs().len()];
        adjoint_seeds[0] = Input::Column(&seeds);
        tape.adjoint(&adjoint_seeds, &mut runner.first);
        let mut adjoints: Vec<Vec<T>> =
            (0..points.slots.len()).map(|slot| runner.first.input_adjoint(tape, slot).to_vec()).collect();
        let functions = program.moves.moves(true);
        // From the last to the first: what a network is fed with comes from those before it.
        for (number, carrier) in points.active().rev() {
            if carrier.given && !functions {
                continue;
            }
            let room = &mut runner.rooms[number];
            points.seed_network(&mut room.work, number, &adjoints);
            carrier.network.reverse(&self.weights[number], &mut room.work, false);
            if functions {
                carrier.feed_adjoint(room, &mut adjoints);
            }
        }
        for unknown in 0..self.unknowns.len() {
            let input = points.slots.len() + points.source.width() + unknown;
            let mut column = runner.first.input_adjoint(tape, input).to_vec();
            points.add_unknown_adjoint(&runner.rooms, 0, unknown, &mut column);
            sums[1 + unknown] += column.iter().map(|value| value.wide()).sum::<f64>();
        }
        if self.gradient {
            points.weight_gradient(runner, false, program.moves, gradient);
        }
    }
}

impl<T: Number> Points<T> {
    /// Writes the adjoints of one network's slots.
    fn seed_network(&self, work: &mut Workspace<T>, number: usize, adjoints: &[Vec<T>]) {
        for (slot, column) in self.slots.iter().zip(adjoints).filter(|(slot, _)| slot.network == number) {
            let values = column.iter().copied();
            self.carriers[number].network.seed_output(work, 0, slot.component, slot.output, values);
        }
    }
}

impl<T: Number> Carrier<T> {
    /// Adds what its adjoint owes to the slots behind the functions that it is fed with.
    fn feed_adjoint(&self, room: &mut Room<T>, adjoints: &mut [Vec<T>]) {
        let Room { work, feeds, .. } = room;
        for (Feed { input, jets }, scratch) in self.feeds.iter().zip(feeds) {
            let adjoint =
                |component| self.network.read_parameter_adjoint(work, 0, component, *input).collect();
            let columns: Vec<Vec<T>> = (0..jets.outputs().len()).map(adjoint).collect();
            let seeds: Vec<Input<'_, T>> = columns.iter().map(|column| Input::Column(column)).collect();
            jets.adjoint(&seeds, scratch);
            for (slot, adjoint) in adjoints.iter_mut().enumerate() {
                let owed = scratch.input_adjoint(jets, slot);
                adjoint.iter_mut().zip(owed).for_each(|(sum, &owed)| *sum += owed);
            }
        }
    }
}
