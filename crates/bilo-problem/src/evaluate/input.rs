//! Extra inputs of networks: read from `[input.NAME]`, evaluated.

use crate::diagnostic::{Diagnostic, Result};
use crate::evaluate::names::Names;
use crate::model::{Input, Problem};
use crate::schema;
use crate::tree::Entry;
use crate::tree::reader::Reader;
use crate::unknown_function::evaluate;
use bilo_expr::{Leaf, Tape};

/// Reads a table `[input.NAME]`.
pub(crate) fn read_input(path: &str, entry: &Entry) -> Result<Input> {
    let reader = Reader::of(&entry.node, path, &[], &schema::INPUT.names())?;
    let value = reader.formula("value")?.ok_or_else(|| reader.missing("value", "\"abs(x - 0.5)\""))?;
    Ok(Input { name: entry.key.clone(), value })
}

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

/// Networks see unknown functions as inputs of their own: says so where an input uses one.
pub(crate) fn refuse_functions(problem: &Problem) -> Result<()> {
    problem.inputs.iter().try_for_each(|input| refuse_function(problem, input))
}

fn refuse_function(problem: &Problem, input: &Input) -> Result<()> {
    let functions = &problem.functions;
    let is_function = |(name, _): &(&str, _)| functions.iter().any(|function| function.name == *name);
    match input.value.ast.names().into_iter().find(is_function) {
        None => Ok(()),
        Some((name, _)) => {
            let message = format!("the input `{}` depends on the unknown function `{name}`", input.name);
            let help = "an input is an expression of coordinates, constants and unknown numbers; networks see \
                        unknown functions in any case";
            Err(Diagnostic::new(message, input.value.origin.clone()).help(help).into())
        }
    }
}
