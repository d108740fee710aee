//! About how large the states of a steady problem are, for Newton's iteration to begin at: what data say that see a state alone.

use super::parts::Parts;
use bilo_expr::{Function, Input, Leaf, Scratch, Tape};
use bilo_problem::{Data, Observation, Table};

/// A quantity is linear in a state if its second difference is less than this part of the first.
const LINEAR: f64 = 1e-9;

impl Parts<'_> {
    /// A level for every state that is solved for; one where no data tell.
    pub(super) fn levels(&mut self) -> Vec<f64> {
        let problem = self.problem;
        let levels: Vec<(usize, f64)> =
            problem.observations.iter().filter_map(|observation| self.level(observation)).collect();
        let of =
            |state: usize| levels.iter().find(|(seen, _)| *seen == state).map_or(1.0, |(_, level)| *level);
        (0..self.states.len()).map(of).collect()
    }

    /// The state that an observation sees, and its median: where what is observed is linear in the value of one state, at the
    /// guess of the unknowns.
    fn level(&mut self, observation: &Observation) -> Option<(usize, f64)> {
        let Data::Table(table) = &observation.data else { return None };
        let expression = self.names.lower(&observation.value).ok()?;
        let leaves = self.names.graph.leaves(&[expression]);
        let seen: Vec<Function> = leaves
            .iter()
            .filter_map(|leaf| match leaf {
                Leaf::Derivative(function, index) => Some((function, index.order())),
                Leaf::Symbol(_) => None,
            })
            .map(|(function, order)| (order == 0).then_some(*function))
            .collect::<Option<_>>()?;
        let [function] = seen[..] else { return None };
        let state = self.states.iter().position(|state| *state == function)?;
        let tape = Tape::compile(&self.names.graph, &[expression], &leaves).ok()?;
        let at = |value: f64| self.evaluated(&tape, &leaves, table, value);
        let (zero, one, two) = (at(0.0)?, at(1.0)?, at(2.0)?);
        let mut levels = vec![];
        for (row, datum) in table.values.iter().enumerate() {
            let slope = one[row] - zero[row];
            let is_linear = (two[row] - 2.0 * one[row] + zero[row]).abs() <= LINEAR * slope.abs();
            levels.extend((is_linear && slope != 0.0).then(|| (datum - zero[row]) / slope));
        }
        levels.sort_by(f64::total_cmp);
        let median = *levels.get(levels.len() / 2)?;
        (median.is_finite() && median != 0.0).then_some((state, median))
    }

    /// What is observed at the places of the data, the one state having a value.
    fn evaluated(&self, tape: &Tape, leaves: &[Leaf], table: &Table, state: f64) -> Option<Vec<f64>> {
        let input = |leaf: &Leaf| {
            let Leaf::Symbol(symbol) = leaf else { return Some(Input::Uniform(state)) };
            if let Some(number) = self.names.coordinates.iter().position(|s| s == symbol) {
                return table.coordinates.get(number).map(|column| Input::Column(column));
            }
            let unknown = &self.problem.unknowns[self.names.eta.iter().position(|s| s == symbol)?];
            Some(Input::Uniform(unknown.eta_of(unknown.guess)))
        };
        let inputs: Vec<Input<'_, f64>> = leaves.iter().map(input).collect::<Option<_>>()?;
        let mut scratch = Scratch::<f64>::new();
        tape.eval(&inputs, table.values.len(), &mut scratch);
        Some(scratch.output(tape, 0).to_vec())
    }
}
