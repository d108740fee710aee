//! The form of an unknown function at the nodes of its grid: from the free values of `net` to the
//! function, and back for the guess.

use crate::diagnostic::{Diagnostic, Result};
use crate::theta::unit;
use crate::{Problem, UnknownFunction};
use bilo_expr::{Input, Scratch, Tape};

/// Farthest from zero that `net` is looked for.
const FARTHEST: f64 = 1e6;

/// Halvings of a bracket: down to rounding.
const HALVINGS: usize = 200;

/// A guess is met if its form differs from it by less than this part of its largest value, or than this if it is zero.
const MET: f64 = 1e-9;

/// f = form(x, net) at nodes x.
pub struct Shape {
    tape: Tape,
    columns: Vec<Vec<f64>>,
}

impl Shape {
    /// The form of a function at the nodes of its grid.
    pub fn new(problem: &Problem, function: &UnknownFunction) -> Result<Self> {
        let columns = super::Lattice::new(function).columns();
        Ok(Self { tape: function.form_tape(problem)?, columns })
    }

    /// The function's values, and how much they move with `net`.
    pub fn values(&self, net: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let inputs: Vec<Input<'_, f64>> =
            self.columns.iter().map(|column| Input::Column(column)).chain([Input::Column(net)]).collect();
        let mut scratch = Scratch::new();
        self.tape.eval(&inputs, net.len(), &mut scratch);
        let values = scratch.output(&self.tape, 0).to_vec();
        self.tape.adjoint(&[Input::Uniform(1.0)], &mut scratch);
        (values, scratch.input_adjoint(&self.tape, self.columns.len()).to_vec())
    }

    /// At which nodes the function moves with `net` at all: its form may hold it at others.
    pub fn moves(&self) -> Vec<bool> {
        let (_, slopes) = self.values(&vec![0.5; self.columns[0].len()]);
        slopes.iter().map(|slope| *slope != 0.0).collect()
    }

    /// The `net` of a function: forms are monotonic in it, so halving finds it. Where the form does not
    /// move with `net`, it is zero.
    pub fn net_of(&self, values: &[f64], function: &UnknownFunction) -> Result<Vec<f64>> {
        let count = values.len();
        let (mut low, mut high) = (vec![-1.0; count], vec![1.0; count]);
        while high[0] < FARTHEST {
            let ends = [self.values(&low).0, self.values(&high).0];
            let outside: Vec<usize> =
                (0..count).filter(|&i| (ends[0][i] - values[i]) * (ends[1][i] - values[i]) > 0.0).collect();
            if outside.is_empty() {
                break;
            }
            low.iter_mut().chain(&mut high).for_each(|end| *end *= 2.0);
        }
        let at_low = self.values(&low).0;
        for _ in 0..HALVINGS {
            let middle: Vec<f64> = low.iter().zip(&high).map(|(low, high)| 0.5 * (low + high)).collect();
            let at_middle = self.values(&middle).0;
            for i in 0..count {
                let same_side = (at_middle[i] - values[i]) * (at_low[i] - values[i]) > 0.0;
                if same_side { low[i] = middle[i] } else { high[i] = middle[i] }
            }
        }
        let moves = self.moves();
        let net: Vec<f64> = (0..count).map(|i| if moves[i] { low[i] } else { 0.0 }).collect();
        self.require_met(values, &net, function)?;
        Ok(net)
    }

    fn require_met(&self, values: &[f64], net: &[f64], function: &UnknownFunction) -> Result<()> {
        let made = self.values(net).0;
        let size = unit(values.iter().fold(0.0_f64, |size, value| size.max(value.abs())));
        // What is not a number is not met either.
        let met = |i: usize| (made[i] - values[i]).abs() <= MET * size;
        let missed = (0..values.len()).find(|&i| !met(i));
        let Some(node) = missed else { return Ok(()) };
        let place: Vec<String> = self.columns.iter().map(|column| column[node].to_string()).collect();
        let message = format!(
            "the form of `{}` cannot take the value {} that is stated at ({})",
            function.name,
            values[node],
            place.join(", ")
        );
        let help = "state a function with the boundary values, the sign and the range that the form holds";
        Err(Diagnostic::new(message, function.guess.origin().clone()).help(help).into())
    }
}
