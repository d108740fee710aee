//! Extra inputs of networks at points.

use crate::diagnostic::Result;
use crate::evaluate::names::Names;
use crate::evaluate::tape::evaluate;
use crate::model::problem::Problem;
use bilo_expr::{Leaf, Tape};

/// The inputs of a problem, compiled.
pub struct InputValues {
    tapes: Vec<Tape>,
    /// The variables eta at the guess.
    guess: Vec<f64>,
}

impl InputValues {
    /// Fails if a value has no meaning.
    pub fn new(problem: &Problem) -> Result<Self> {
        let mut names = Names::new(problem)?;
        let given: Vec<Leaf> = names.coordinates.iter().chain(&names.eta).map(|&s| Leaf::Symbol(s)).collect();
        let mut tapes = vec![];
        for input in &problem.inputs {
            let value = names.lower(&input.value)?;
            let tape = Tape::compile(&names.graph, &[value], &given);
            tapes.push(tape.expect("only coordinates and numbers are in scope"));
        }
        Ok(Self { tapes, guess: problem.eta_of_guess() })
    }

    /// The first point, of those given by one column per coordinate, where an input has no finite value at the
    /// guess; with the number of the input.
    pub fn first_without_value(&self, columns: &[Vec<f64>]) -> Option<(usize, usize)> {
        let count = columns[0].len();
        let guess: Vec<Vec<f64>> = self.guess.iter().map(|&value| vec![value; count]).collect();
        let given: Vec<&[f64]> = columns.iter().chain(&guess).map(|column| &column[..]).collect();
        self.tapes.iter().enumerate().find_map(|(input, tape)| {
            let point = evaluate(tape, &given).iter().position(|value| !value.is_finite())?;
            Some((input, point))
        })
    }
}
