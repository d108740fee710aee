//! Quantities that follow from the unknowns.

use crate::diagnostic::Result;
use crate::model::problem::Problem;
use crate::model::statement::Derived;
use bilo_expr::{Graph, Input, Leaf, Scope, Scratch, Symbol, Tape, lower};

impl Derived {
    /// The value and its derivatives by the unknown numbers, where these have some values.
    pub fn at(&self, problem: &Problem, thetas: &[f64]) -> Result<(f64, Vec<f64>)> {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        for constant in &problem.constants {
            let value = graph.constant(constant.value);
            scope.bind(&constant.name, value);
        }
        let symbols: Vec<Symbol> =
            problem.unknowns.iter().map(|unknown| graph.symbol(&unknown.name)).collect();
        for (unknown, &symbol) in problem.unknowns.iter().zip(&symbols) {
            let leaf = graph.leaf(symbol);
            scope.bind(&unknown.name, leaf);
        }
        let value = lower(&self.value.ast, &mut graph, &scope).map_err(|error| self.value.error(error))?;
        let slopes = symbols.iter().map(|&symbol| graph.diff(value, symbol));
        let outputs: Vec<_> = [value].into_iter().chain(slopes.collect::<Vec<_>>()).collect();
        let leaves: Vec<Leaf> = symbols.iter().copied().map(Leaf::Symbol).collect();
        let tape = Tape::compile(&graph, &outputs, &leaves).expect("all names are given");
        let inputs: Vec<Input<'_, f64>> = thetas.iter().map(|&theta| Input::Uniform(theta)).collect();
        let mut scratch = Scratch::new();
        tape.eval(&inputs, 1, &mut scratch);
        let at = |output: usize| scratch.output(&tape, output)[0];
        Ok((at(0), (1..outputs.len()).map(at).collect()))
    }
}
