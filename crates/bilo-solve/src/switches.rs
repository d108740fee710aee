//! Times at which equations change: where `if(t < 12, ..)` or `max(0, t - 5)` switch.

use bilo_expr::{Expr, Input, Leaf, Scratch, Symbol, Tape};

use crate::statement::Statement;

/// The times as functions of the parameters.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    tape: Option<Tape>,
    parameters: Vec<usize>,
    /// Those at which functions of time jump, or their slopes.
    fixed: Vec<f64>,
}

impl Switches {
    /// Finds them in the equations: a switch whose difference of both sides is linear in time and has nothing else but parameters.
    pub(crate) fn of(statement: &mut Statement) -> Switches {
        let Some(time) = statement.time else { return Switches::default() };
        let residuals =
            statement.interior.iter().copied().chain(statement.boundary.iter().map(|b| b.residual));
        let residuals: Vec<Expr> = residuals.collect();
        let differences = statement.graph.switches(&residuals);
        let times: Vec<Expr> =
            differences.into_iter().filter_map(|d| switched_at(statement, time.symbol, d)).collect();
        let leaves = statement.graph.leaves(&times);
        let number = |leaf: &Leaf| match leaf {
            Leaf::Symbol(symbol) => statement.parameters.iter().position(|p| p == symbol),
            Leaf::Derivative(..) => None,
        };
        let parameters: Option<Vec<usize>> = leaves.iter().map(number).collect();
        let tape =
            if times.is_empty() { None } else { Tape::compile(&statement.graph, &times, &leaves).ok() };
        let jumps = statement.signals.iter().flat_map(|signal| &signal.jumps);
        let fixed = jumps.chain(statement.curves.iter().flat_map(|curve| &curve.corners)).copied().collect();
        let tape = tape.filter(|_| parameters.is_some());
        Switches { tape, parameters: parameters.unwrap_or_default(), fixed }
    }

    /// The times, in their order.
    pub(crate) fn at(&self, parameters: &[f64]) -> Vec<f64> {
        let mut times = self.fixed.clone();
        times.extend(self.moving(parameters));
        times.retain(|time| time.is_finite());
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Those that may follow parameters.
    fn moving(&self, parameters: &[f64]) -> Vec<f64> {
        let Some(tape) = &self.tape else { return vec![] };
        let inputs: Vec<Input<'_, f64>> =
            self.parameters.iter().map(|&number| Input::Uniform(parameters[number])).collect();
        let mut scratch = Scratch::new();
        tape.eval(&inputs, 1, &mut scratch);
        (0..tape.outputs().len()).map(|k| scratch.output(tape, k)[0]).collect()
    }
}

/// The time at which a difference vanishes, if it is `a t + b` of parameters alone.
fn switched_at(statement: &mut Statement, time: Symbol, difference: Expr) -> Option<Expr> {
    let leaf = Leaf::Symbol(time);
    let graph = &mut statement.graph;
    let slope = graph.partial(difference, &leaf);
    let zero = graph.constant(0.0);
    let rest = graph.substitute(difference, &[(leaf, zero)].into());
    let is_parameter = |leaf: &Leaf| matches!(leaf, Leaf::Symbol(s) if statement.parameters.contains(s));
    let plain = graph.leaves(&[slope, rest]).iter().all(is_parameter);
    if !plain || graph.as_constant(slope) == Some(0.0) {
        return None;
    }
    let quotient = graph.div(rest, slope);
    Some(graph.neg(quotient))
}
