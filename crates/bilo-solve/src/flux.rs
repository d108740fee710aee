//! Second-order terms back in divergence form.
//!
//! Once `div(a*grad(u))` is expanded only `a_x*u_x + a*u_xx` is left. With
//! `a = d r/d u_xx` the residual is `r = (a u_x)_x + remainder`, where the
//! remainder is `r - a_x u_x - a u_xx`. Differencing the flux `a u_x` between
//! faces conserves it where `a` jumps; differencing `a_x` would not.

use std::collections::BTreeMap;

use bilo_expr::{
    Binary, Expr, Function, Graph, Input, Instruction, Leaf, MultiIndex, Scratch, Symbol, Tape, Unary,
};

use crate::statement::{Curve, Statement};

/// Points at which expressions are compared.
const TRIALS: usize = 12;
/// Relative difference of two expressions that are the same but for rounding.
const SAME: f64 = 1e-10;

/// A residual as a remainder and the divergence of a flux.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub(crate) remainder: Expr,
    /// What is differenced along each axis.
    pub(crate) fluxes: [Option<Expr>; 2],
}

/// Takes all second-order terms with a variable coefficient out of a residual.
pub(crate) fn split(statement: &mut Statement, residual: Expr) -> Split {
    let remainder = statement.graph.expand_definitions(residual);
    let mut split = Split { remainder, fluxes: [None; 2] };
    let space: Vec<Symbol> = statement.space.iter().map(|axis| axis.symbol).collect();
    let graph = &mut statement.graph;
    for (axis, &x) in space.iter().enumerate() {
        for &state in &statement.states {
            if let Some((flux, remainder)) =
                Candidate::new(graph, &statement.curves, split.remainder, (state, x))
                    .filter(|candidate| candidate.varies(graph, &space))
                    .and_then(|candidate| candidate.take(graph))
            {
                let zero = graph.constant(0.0);
                let sum = graph.add(split.fluxes[axis].unwrap_or(zero), flux);
                split.fluxes[axis] = Some(sum);
                split.remainder = remainder;
            }
        }
    }
    split
}

/// A term `a u_xx` of a residual that may belong to a flux.
struct Candidate {
    x: Symbol,
    residual: Expr,
    a: Expr,
    u_x: Leaf,
    u_xx: Leaf,
    /// All that `a` depends on, through the arguments of curves too.
    leaves: Vec<Leaf>,
}

impl Candidate {
    fn new(
        graph: &mut Graph,
        curves: &[Curve],
        residual: Expr,
        (state, x): (Function, Symbol),
    ) -> Option<Candidate> {
        let u_x = derivative_along(graph, &Leaf::Derivative(state, index_of_value(graph, state)), x)?;
        let u_xx = derivative_along(graph, &u_x, x)?;
        let a = graph.partial(residual, &u_xx);
        let leaves = graph.leaves(&[a]);
        let values_only = leaves.iter().all(|leaf| match leaf {
            Leaf::Symbol(_) => true,
            Leaf::Derivative(_, index) => index.order() == 0,
        });
        let is_in = |curve: &&Curve| {
            leaves
                .iter()
                .any(|leaf| matches!(leaf, Leaf::Derivative(function, _) if *function == curve.function))
        };
        let arguments: Vec<Expr> = curves.iter().filter(is_in).map(|curve| curve.argument).collect();
        let arguments: Vec<Expr> = arguments.into_iter().map(|e| graph.expand_definitions(e)).collect();
        let leaves = graph.leaves(&[vec![a], arguments].concat());
        let candidate = Candidate { x, residual, a, u_x, u_xx, leaves };
        (values_only && graph.as_constant(a).is_none()).then_some(candidate)
    }

    /// The functions in `a` that depend on x, each with its derivative.
    fn functions(&self, graph: &Graph) -> Vec<Leaf> {
        self.leaves.iter().filter_map(|leaf| derivative_along(graph, leaf, self.x)).collect()
    }

    /// Whether a stencil of `u_xx` times `a` would not do: `a` depends on x, or
    /// jumps across lines that run along x.
    fn varies(&self, graph: &Graph, space: &[Symbol]) -> bool {
        let depends_on = |symbol: &Symbol| self.leaves.contains(&Leaf::Symbol(*symbol));
        depends_on(&self.x)
            || !self.functions(graph).is_empty()
            || (space.iter().any(depends_on) && has_kinks(graph, self.a))
    }

    /// The flux `a u_x` and the remainder, if the residual is in divergence
    /// form: `a_x u_x` stands in it, or would be zero between the jumps of `a`.
    fn take(self, graph: &mut Graph) -> Option<(Expr, Expr)> {
        let zero = graph.constant(0.0);
        let rest = graph.substitute(self.residual, &BTreeMap::from([(self.u_xx.clone(), zero)]));
        let a_x = graph.diff(self.a, self.x);
        let u_x = expression(graph, &self.u_x);
        let product = graph.mul(a_x, u_x);
        let functions = self.functions(graph);
        let divergence_form = if functions.is_empty() {
            let slope = graph.partial(rest, &self.u_x);
            same(graph, a_x, zero) || same(graph, slope, a_x) || has_kinks(graph, self.a)
        } else {
            functions.iter().all(|w_x| {
                let in_rest = second_partial(graph, rest, w_x, &self.u_x);
                let in_product = second_partial(graph, product, w_x, &self.u_x);
                same(graph, in_rest, in_product)
            })
        };
        divergence_form.then(|| (graph.mul(self.a, u_x), self.remainder(graph, rest, a_x)))
    }

    /// `rest - a_x*u_x`, with everything cancelled that can be.
    fn remainder(&self, graph: &mut Graph, rest: Expr, a_x: Expr) -> Expr {
        let u_x = expression(graph, &self.u_x);
        let slope = graph.partial(rest, &self.u_x);
        if graph.leaves(&[slope, a_x]).contains(&self.u_x) {
            let product = graph.mul(a_x, u_x);
            return difference(graph, rest, product);
        }
        let zero = graph.constant(0.0);
        let without = graph.substitute(rest, &BTreeMap::from([(self.u_x.clone(), zero)]));
        let slope = difference(graph, slope, a_x);
        let advection = graph.mul(slope, u_x);
        graph.add(without, advection)
    }
}

/// `a - b`, where leaves on which the difference does not depend are taken out
/// of both, so that what cancels leaves no trace.
fn difference(graph: &mut Graph, mut a: Expr, mut b: Expr) -> Expr {
    let zero = graph.constant(0.0);
    if same(graph, a, b) {
        return zero;
    }
    for leaf in graph.leaves(&[b]) {
        let (in_a, in_b) = (graph.partial(a, &leaf), graph.partial(b, &leaf));
        if matches!(leaf, Leaf::Derivative(..)) && same(graph, in_a, in_b) {
            let without = BTreeMap::from([(leaf, zero)]);
            a = graph.substitute(a, &without);
            b = graph.substitute(b, &without);
        }
    }
    graph.sub(a, b)
}

fn second_partial(graph: &mut Graph, e: Expr, first: &Leaf, second: &Leaf) -> Expr {
    let once = graph.partial(e, first);
    graph.partial(once, second)
}

fn index_of_value(graph: &Graph, function: Function) -> MultiIndex {
    MultiIndex::zero(graph.function_inputs(function).len())
}

/// One more derivative by x of a function that has x among its inputs.
fn derivative_along(graph: &Graph, leaf: &Leaf, x: Symbol) -> Option<Leaf> {
    let Leaf::Derivative(function, index) = leaf else {
        return None;
    };
    let inputs = graph.function_inputs(*function);
    let slot = inputs.iter().position(|&input| graph.as_leaf(input) == Some(&Leaf::Symbol(x)))?;
    Some(Leaf::Derivative(*function, index.plus(slot)))
}

fn expression(graph: &mut Graph, leaf: &Leaf) -> Expr {
    match leaf {
        Leaf::Symbol(symbol) => graph.leaf(*symbol),
        Leaf::Derivative(function, index) => graph.derivative(*function, index.clone()),
    }
}

/// Whether two expressions agree wherever both are finite, at scattered
/// values of everything in them.
fn same(graph: &Graph, a: Expr, b: Expr) -> bool {
    if a == b {
        return true;
    }
    let leaves = graph.leaves(&[a, b]);
    let tape = Tape::compile(graph, &[a, b], &leaves).expect("all leaves are given");
    // Multiples of the golden ratio, the same at every run; half of the points
    // have values of both signs, half only positive ones.
    let column = |number: usize| -> Vec<f64> {
        (0..TRIALS)
            .map(|i| ((i * leaves.len() + number + 1) as f64 * 0.618_033_988_749_895).fract() * 2.0)
            .zip((0..TRIALS).map(|i| if i % 2 == 0 { 1.0 } else { 0.0 }))
            .map(|(value, shift)| value - shift)
            .collect()
    };
    let columns: Vec<Vec<f64>> = (0..leaves.len()).map(column).collect();
    let inputs: Vec<Input<'_, f64>> = columns.iter().map(|c| Input::Column(c)).collect();
    let mut scratch = Scratch::new();
    tape.eval(&inputs, TRIALS, &mut scratch);
    let (a, b) = (scratch.output(&tape, 0), scratch.output(&tape, 1));
    let mut finite = a.iter().zip(b).filter(|(a, b)| a.is_finite() && b.is_finite()).peekable();
    finite.peek().is_some() && finite.all(|(a, b)| (a - b).abs() <= SAME * a.abs().max(b.abs()))
}

/// Whether an expression is put together from pieces.
pub(crate) fn has_kinks(graph: &Graph, e: Expr) -> bool {
    let tape = Tape::compile(graph, &[e], &graph.leaves(&[e])).expect("all leaves are given");
    tape.code().iter().any(|instruction| {
        matches!(
            instruction,
            Instruction::Select(..)
                | Instruction::Unary(Unary::Abs | Unary::Sign, _)
                | Instruction::Binary(Binary::Min | Binary::Max | Binary::Compare(_), ..)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::Axis;
    use bilo_expr::{Scope, lower, parse};

    /// The remainder and the fluxes of a residual in x and y, as text.
    fn split_text(text: &str) -> (String, [Option<String>; 2]) {
        let mut graph = Graph::new();
        let mut scope = Scope::new();
        let [x, y, k] = ["x", "y", "k"].map(|name| {
            let symbol = graph.symbol(name);
            let leaf = graph.leaf(symbol);
            scope.bind(name, leaf);
            symbol
        });
        scope.variable("x", x);
        scope.variable("y", y);
        scope.space(vec![x, y]);
        let inputs = vec![graph.leaf(x), graph.leaf(y)];
        let [u, v, a, b] = ["u", "v", "A", "B"].map(|name| {
            let function = graph.function(name, inputs.clone());
            let value = graph.value(function);
            scope.bind(name, value);
            function
        });
        let residual = lower(&parse(text).expect("right"), &mut graph, &scope).expect("right");
        let mut statement = Statement {
            graph,
            space: vec![Axis::new(x, 0.0, 1.0), Axis::new(y, 0.0, 1.0)],
            states: vec![u, v],
            coefficients: vec![a, b],
            parameters: vec![k],
            ..Statement::default()
        };
        let split = split(&mut statement, residual);
        let text = |e: Expr| statement.graph.display(e).to_string();
        (text(split.remainder), split.fluxes.map(|flux| flux.map(text)))
    }

    fn assert_split(text: &str, remainder: &str, fluxes: [Option<&str>; 2]) {
        let (found, found_fluxes) = split_text(text);
        assert_eq!(found, remainder, "{text}");
        assert_eq!(found_fluxes, fluxes.map(|flux| flux.map(str::to_string)), "{text}");
    }

    #[test]
    fn a_divergence_is_recovered_whole() {
        assert_split("div(A*grad(u)) - 1", "-1", [Some("A*u_x"), Some("A*u_y")]);
        assert_split("-div(k*A*grad(u)) + u", "u", [Some("-k*A*u_x"), Some("-k*A*u_y")]);
    }

    #[test]
    fn a_divergence_with_several_coefficients_is_recovered_whole() {
        let fluxes = [Some("-B*k*(A + B/10)*u_x"), Some("-B*k*(A + B/10)*u_y")];
        assert_split("B*v - div(k*(A + B/10)*B*grad(u))", "v*B", fluxes);
    }

    #[test]
    fn other_first_order_terms_stay_in_the_remainder() {
        let (remainder, fluxes) = split_text("div(A*grad(u)) + k*u_x + A_x*v");
        assert_eq!(fluxes, [Some("A*u_x".to_string()), Some("A*u_y".to_string())]);
        assert!(remainder.contains("v*A_x") && remainder.contains("k*u_x"), "{remainder}");
        assert!(!remainder.contains("u_x*A_x"), "{remainder}");
    }

    #[test]
    fn a_nonlinear_and_a_coupled_flux_are_recovered() {
        assert_split("div(u^2*grad(u))", "0", [Some("u^2*u_x"), Some("u^2*u_y")]);
        assert_split("lap(u) - div(k*u*grad(v))", "u_xx + u_yy", [Some("-k*u*v_x"), Some("-k*u*v_y")]);
    }

    #[test]
    fn a_piecewise_constant_outside_the_derivative_reads_as_the_divergence_form() {
        let a = "if(x < 0.5, 1, k)";
        let flux = format!("{a}*u_x");
        assert_split(&format!("{a}*u_xx + 1"), "1", [Some(&flux), None]);
    }

    #[test]
    fn what_is_not_in_divergence_form_is_left_alone() {
        for text in ["A*u_xx", "(1 + x^2)*u_xx", "u_x^2*u_xx", "k*u_xx", "y*u_xx", "u_xy*u_xx"] {
            let (_, fluxes) = split_text(text);
            assert_eq!(fluxes, [None, None], "{text}");
        }
    }
}
