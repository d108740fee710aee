//! The settings in force in a problem, defaults included, in the letters of a problem file.

use crate::model::problem::Problem;
use crate::settings::{Context, lines};
use crate::words::Words;

/// `[operator]`, `[network]`, `[train]`, `[classical]` and `[sample]` with every key that says something.
pub fn in_force(problem: &Problem) -> String {
    let inputs: Vec<&str> = problem.inputs.iter().map(|input| input.name.as_str()).collect();
    let Problem { constants, coordinates, operator, network, training, classical, sampling, .. } = problem;
    let context = &Context { constants, coordinates, inputs: &inputs };
    format!(
        "[operator]\n{}{}[network]\n{}[train]\nrecipe = {:?}\n{}[classical]\n{}[sample]\n{}",
        lines(operator, context),
        lines(&operator.dictionary, context),
        lines(network, context),
        training.recipe.word(),
        lines(training, context),
        lines(classical, context),
        lines(sampling, context),
    )
}
