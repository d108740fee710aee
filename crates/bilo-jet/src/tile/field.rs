//! Values on one tile.

use super::{Points, TileRunner};
use crate::program::FieldProgram;
use crate::scalar::Number;
use crate::sweep::Weights;
use bilo_expr::Input;

/// Values of expressions.
pub(crate) struct FieldTask<'a, T> {
    pub(crate) program: &'a FieldProgram,
    pub(crate) weights: Vec<Weights<T>>,
    /// How the weights move along each of the program's directions, or nothing if they do not.
    pub(crate) slopes: Vec<Vec<Weights<T>>>,
    pub(crate) unknowns: Vec<T>,
}

impl<T: Number> FieldTask<'_, T> {
    /// The values at the tile's real points, one column per expression.
    pub(crate) fn values(
        &self,
        points: &Points<T>,
        tile: usize,
        runner: &mut TileRunner<T>,
    ) -> Vec<Vec<f64>> {
        points.forward(tile, &self.weights, &self.unknowns, runner);
        self.set_unit_directions(points, runner);
        points.forward_tangents(&self.weights, &self.slopes, runner);
        let (jets, tangents) = runner.slots.split_at(points.slots.len() * points.tile);
        let mut inputs = points.tape_inputs(jets, &runner.columns, &self.unknowns);
        inputs.extend(tangents.chunks_exact(points.tile).map(Input::Column));
        let tape = &self.program.values;
        tape.eval(&inputs, points.tile, &mut runner.first);
        let (_, real) = points.range(tile);
        (0..tape.outputs().len())
            .map(|output| {
                runner.first.output(tape, output)[..real].iter().map(|value| value.wide()).collect()
            })
            .collect()
    }

    fn set_unit_directions(&self, points: &Points<T>, runner: &mut TileRunner<T>) {
        for (number, carrier) in points.moved() {
            for (direction, moved) in self.program.directions.iter().enumerate() {
                for (input, unknown) in carrier.parameters.iter().enumerate() {
                    let value = if unknown == moved { T::cast(1.0) } else { T::cast(0.0) };
                    let values = (0..points.tile).map(|_| value);
                    let work = &mut runner.rooms[number].work;
                    carrier.network.set_direction(work, 1 + direction, input, values);
                }
            }
        }
    }
}
