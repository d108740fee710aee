//! Formulas of an unknown function's arguments, compiled.

use crate::diagnostic::{Diagnostic, Result};
use crate::evaluate::names::{NET, Names};
use crate::model::formula::Formula;
use crate::model::function::UnknownFunction;
use crate::model::problem::Problem;
use bilo_expr::{Input, Leaf, Scratch, Tape};

impl UnknownFunction {
    /// Its form, compiled; the inputs are its arguments, then `net`.
    pub(crate) fn form_tape(&self, problem: &Problem) -> Result<Tape> {
        self.tape(problem, &self.form, Some(NET))
    }

    /// A formula of its arguments, and perhaps of one more name, compiled; these are the inputs.
    pub(crate) fn tape(&self, problem: &Problem, formula: &Formula, more: Option<&str>) -> Result<Tape> {
        let mut names = Names::without_unknowns(problem);
        let more = more.map(|name| {
            let symbol = names.graph.symbol(name);
            let value = names.graph.leaf(symbol);
            names.scope.bind(name, value);
            Leaf::Symbol(symbol)
        });
        let arguments = names.arguments(self);
        let value = names.lower_within(self, &arguments, formula)?;
        let inputs: Vec<Leaf> = arguments.into_iter().map(Leaf::Symbol).chain(more).collect();
        Tape::compile(&names.graph, &[value], &inputs).map_err(|leaf| {
            let message =
                format!("`{}` is a function of {} only", self.name, self.argument_names().join(", "));
            let help = match (leaf, self.state()) {
                (Leaf::Derivative(..), _) => {
                    "given fields stand in equations, observations and forms of states"
                }
                (_, Some(_)) => "a function depends on coordinates or on one state",
                (_, None) => "name all the coordinates that it depends on in `of`",
            };
            Diagnostic::new(message, formula.origin.clone()).help(help).into()
        })
    }

    /// The value that its form holds at a place whatever `net` is, if it does.
    pub fn held_at(&self, problem: &Problem, place: &[f64]) -> Result<Option<f64>> {
        let tape = self.form_tape(problem)?;
        let inputs: Vec<Input<'_, f64>> = place.iter().chain(&[0.5]).map(|&v| Input::Uniform(v)).collect();
        let mut scratch = Scratch::new();
        tape.eval(&inputs, 1, &mut scratch);
        let value = scratch.output(&tape, 0)[0];
        tape.adjoint(&[Input::Uniform(1.0)], &mut scratch);
        Ok((scratch.input_adjoint(&tape, place.len())[0] == 0.0).then_some(value))
    }
}

/// The one output of a tape whose inputs are columns.
pub fn evaluate(tape: &Tape, columns: &[&[f64]]) -> Vec<f64> {
    let inputs: Vec<Input<'_, f64>> = columns.iter().map(|column| Input::Column(column)).collect();
    let mut scratch = Scratch::new();
    tape.eval(&inputs, columns[0].len(), &mut scratch);
    scratch.output(tape, 0).to_vec()
}
