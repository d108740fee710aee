//! Unknown functions as inputs of the local operator, in one of two ways.
//!
//! *Pointwise* (the paper's): f is the form of a network of its own, with weights V. The states' networks
//! take z = f(x) as an input, and f stands in formulas as f(x) + s with a shift s that is zero: the
//! residual gradient by s is d/dz with z_x, z_xx held fixed (section 3 of the method). The data loss
//! reaches V through z, as if the solution moved at the place of the change only.
//!
//! *Exact*: f is the form of a sum Σ_j c_j φ_j(x) of Chebyshev polynomials or splines. The coefficients c_j are
//! inputs of the states' networks like scalar unknowns: the residual gradient by each of them makes du/dc_j
//! the true sensitivity. In place of x may stand a state u: then formulas have f(u(x)), with u held to the
//! range of f, since polynomials run away beyond it.

use super::{coordinate_input, network_spec, unit_interval};
use bilo_expr::{Expr, Graph, Input, Leaf, Scratch, Symbol, Tape};
use bilo_jet::{BoundNetwork, Fed, Network};
use bilo_problem::diagnostic::Result;
use bilo_problem::function::{Lattice, Shape, held};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::{Argument, FunctionBasis, GradientMode, NET, Names, Problem, UnknownFunction, Variable};
use faer::Mat;
use faer::linalg::solvers::SolveLstsq;
use std::collections::BTreeMap;

/// The unknown functions of a problem in terms of what training moves.
#[derive(Clone, Default)]
pub struct FunctionInputs {
    /// The functions, without shifts, as expressions of their arguments.
    pub values: Vec<Expr>,
    /// The symbols of their arguments: coordinates, or one that stands for the values of a state.
    pub arguments: Vec<Vec<Symbol>>,
    /// Pointwise: their networks, else none.
    pub networks: Vec<BoundNetwork>,
    /// Pointwise: f/scale and the shift of each, in units of its scale.
    shifted: Vec<(Expr, Symbol)>,
    /// Exact: what each is a sum of.
    pub bases: Vec<Basis>,
}

/// Functions φ_j and the symbols of their coefficients.
#[derive(Clone)]
pub struct Basis {
    /// c_j.
    pub coefficients: Vec<Symbol>,
    /// φ_j at the nodes of the function's grid.
    pub at_nodes: Vec<Vec<f64>>,
}

impl FunctionInputs {
    /// Binds each unknown function to its form.
    pub(super) fn new(problem: &Problem, names: &mut Names, seed: u64) -> Result<Self> {
        let mut inputs = Self::default();
        let mut bound = vec![];
        for (number, unknown) in problem.functions.iter().enumerate() {
            let arguments = names.arguments(unknown);
            bound.push(match problem.training.gradient {
                GradientMode::Pointwise => inputs.bind_network(problem, names, number, unknown, seed)?,
                GradientMode::Exact => inputs.bind_basis(names, unknown, &arguments)?,
            });
            inputs.arguments.push(arguments);
        }
        // Forms are about their own functions only.
        for ((unknown, arguments), value) in problem.functions.iter().zip(&inputs.arguments).zip(bound) {
            names.bind_value(unknown, arguments, value);
        }
        Ok(inputs)
    }

    /// f(x) + s.
    fn bind_network(
        &mut self,
        problem: &Problem,
        names: &mut Names,
        number: usize,
        unknown: &UnknownFunction,
        seed: u64,
    ) -> Result<Expr> {
        let input = |argument: &Argument| match argument.variable {
            Variable::Coordinate(c) => coordinate_input(problem, names, c),
            Variable::State(_) => unreachable!("functions of states have the exact gradient"),
        };
        let inputs: Vec<Expr> = unknown.of.iter().flat_map(input).collect();
        let spec = network_spec(&unknown.network, inputs.len(), 0, 1);
        let output = names.graph.function(&format!("{NET}_{}", unknown.name), inputs);
        let network = Network::new(spec, seed_for(seed, Purpose::FunctionFeatures, number));
        self.networks.push(BoundNetwork { given: true, ..BoundNetwork::new(network, vec![output], vec![]) });
        let net = names.graph.value(output);
        names.scope.bind(NET, net);
        let value = names.lower(&unknown.form)?;
        let graph = &mut names.graph;
        let shift = graph.symbol(&format!("shift of {}", unknown.name));
        let (scale, moved) = (graph.constant(unknown.scale), graph.leaf(shift));
        self.values.push(value);
        self.shifted.push((graph.div(value, scale), shift));
        let moved = graph.mul(scale, moved);
        Ok(graph.add(value, moved))
    }

    /// The form of Σ_j c_j φ_j(x).
    fn bind_basis(
        &mut self,
        names: &mut Names,
        unknown: &UnknownFunction,
        arguments: &[Symbol],
    ) -> Result<Expr> {
        let modes = products(&mut names.graph, unknown, arguments);
        let name = |j: usize| format!("coefficient {j} of {}", unknown.name);
        let coefficients: Vec<Symbol> = (0..modes.len()).map(|j| names.graph.symbol(&name(j))).collect();
        let terms: Vec<Expr> = (modes.iter().zip(&coefficients))
            .map(|(&mode, &coefficient)| {
                let coefficient = names.graph.leaf(coefficient);
                names.graph.mul(coefficient, mode)
            })
            .collect();
        let net = names.graph.sum(&terms);
        names.scope.bind(NET, net);
        let value = names.lower_within(unknown, arguments, &unknown.form)?;
        let at_nodes = at_nodes(&names.graph, unknown, arguments, &modes);
        self.values.push(value);
        self.bases.push(Basis { coefficients, at_nodes });
        if unknown.state().is_none() {
            return Ok(value);
        }
        let state = names.graph.leaf(arguments[0]);
        let held = held(&mut names.graph, state, &unknown.of[0].axis);
        Ok(names.graph.substitute(value, &BTreeMap::from([(Leaf::Symbol(arguments[0]), held)])))
    }

    /// The unknowns of the operator that stand for functions: coefficients or shifts.
    pub(super) fn unknowns(&self) -> Vec<Symbol> {
        let coefficients = self.bases.iter().flat_map(|basis| basis.coefficients.iter().copied());
        coefficients.chain(self.shifted.iter().map(|&(_, shift)| shift)).collect()
    }

    /// Those of some functions, with their numbers among the unknowns, of which the functions' come after
    /// the `first`.
    pub(super) fn parameters(&self, first: usize, used: &[usize]) -> Vec<(usize, Symbol)> {
        let mut all = vec![];
        let (mut number, mut owners) = (first, vec![]);
        for (function, basis) in self.bases.iter().enumerate() {
            owners.extend(basis.coefficients.iter().map(|_| function));
        }
        owners.extend(0..self.shifted.len());
        for (owner, symbol) in owners.into_iter().zip(self.unknowns()) {
            if used.contains(&owner) {
                all.push((number, symbol));
            }
            number += 1;
        }
        all
    }

    /// What networks with so many scalars among their parameters are fed with.
    pub(super) fn fed(&self, scalars: usize, used: &[usize]) -> Vec<Fed> {
        let shifted = self.shifted.iter().enumerate().filter(|(function, _)| used.contains(function));
        shifted.enumerate().map(|(i, (_, &(value, _)))| Fed { input: scalars + i, value }).collect()
    }

    /// How many numbers training moves for each function.
    pub(super) fn moved(&self) -> Vec<usize> {
        let coefficients = self.bases.iter().map(|basis| basis.coefficients.len());
        coefficients.chain(self.networks.iter().map(|bound| bound.network.weights())).collect()
    }

    /// The shift of each function.
    pub fn shifts(&self) -> Vec<Symbol> {
        self.shifted.iter().map(|&(_, shift)| shift).collect()
    }

    /// The coefficients of the guesses, all functions one after the other.
    pub fn coefficients_of_guesses(&self, problem: &Problem) -> Result<Vec<f64>> {
        let mut all = vec![];
        for (unknown, basis) in problem.functions.iter().zip(&self.bases) {
            all.extend(basis.fit(problem, unknown)?);
        }
        Ok(all)
    }
}

impl Basis {
    /// The coefficients whose function is nearest to the guess at the nodes, to first order around it.
    fn fit(&self, problem: &Problem, unknown: &UnknownFunction) -> Result<Vec<f64>> {
        let shape = Shape::new(problem, unknown)?;
        let net = shape.net_of(&unknown.on_nodes(problem, &unknown.guess)?, unknown)?;
        let weights = shape.values(&net).1;
        let matrix = Mat::from_fn(net.len(), self.at_nodes.len(), |i, j| weights[i] * self.at_nodes[j][i]);
        let right = Mat::from_fn(net.len(), 1, |i, _| weights[i] * net[i]);
        let found = matrix.col_piv_qr().solve_lstsq(&right);
        Ok((0..self.at_nodes.len()).map(|j| found[(j, 0)]).collect())
    }

    /// From derivatives by `net` at the nodes to those by the coefficients.
    pub fn pull_back(&self, by_net: &[f64]) -> Vec<f64> {
        let dot = |mode: &Vec<f64>| mode.iter().zip(by_net).map(|(mode, slope)| mode * slope).sum();
        self.at_nodes.iter().map(dot).collect()
    }
}

/// Products of Chebyshev polynomials or of splines of the arguments.
fn products(graph: &mut Graph, unknown: &UnknownFunction, arguments: &[Symbol]) -> Vec<Expr> {
    let mut products = vec![graph.constant(1.0)];
    for ((Argument { axis, .. }, &symbol), &count) in unknown.of.iter().zip(arguments).zip(&unknown.modes) {
        let unit = unit_interval(graph, symbol, axis.lo, axis.hi);
        let along = match unknown.basis {
            FunctionBasis::Chebyshev => chebyshev(graph, unit, count),
            FunctionBasis::Splines => splines(graph, unit, count),
        };
        products = (products.iter())
            .flat_map(|&product| along.iter().map(move |&mode| (product, mode)))
            .map(|(product, mode)| graph.mul(product, mode))
            .collect();
    }
    products
}

/// T_0, .., T_{count-1} at x = 2 unit - 1: T_{j+1} = 2 x T_j - T_{j-1}.
fn chebyshev(graph: &mut Graph, unit: Expr, count: usize) -> Vec<Expr> {
    let (one, two) = (graph.constant(1.0), graph.constant(2.0));
    let doubled = graph.mul(two, unit);
    let x = graph.sub(doubled, one);
    let doubled = graph.mul(two, x);
    let mut all = vec![one, x];
    while all.len() < count {
        let product = graph.mul(doubled, all[all.len() - 1]);
        all.push(graph.sub(product, all[all.len() - 2]));
    }
    all.truncate(count);
    all
}

/// Cubic B-splines on `count` - 3 equal cells: (max(2 - |w|, 0)³ - 4 max(1 - |w|, 0)³)/6 with w the distance from
/// the end of a cell in cells.
fn splines(graph: &mut Graph, unit: Expr, count: usize) -> Vec<Expr> {
    let cells = graph.constant((count - 3) as f64);
    let place = graph.mul(cells, unit);
    let mut all = vec![];
    for number in 0..count {
        let centre = graph.constant(number as f64 - 1.0);
        let from = graph.sub(place, centre);
        // Not `abs`: its second derivative would be missing at the centre.
        let back = graph.neg(from);
        let distance = graph.max(from, back);
        let wide = cube_within(graph, 2.0, distance, 1.0 / 6.0);
        let narrow = cube_within(graph, 1.0, distance, -4.0 / 6.0);
        all.push(graph.add(wide, narrow));
    }
    all
}

/// factor max(within - distance, 0)³.
fn cube_within(graph: &mut Graph, within: f64, distance: Expr, factor: f64) -> Expr {
    let (within, zero, factor) = (graph.constant(within), graph.constant(0.0), graph.constant(factor));
    let rest = graph.sub(within, distance);
    let rest = graph.max(rest, zero);
    let square = graph.mul(rest, rest);
    let cube = graph.mul(square, rest);
    graph.mul(factor, cube)
}

/// Expressions of the function's arguments at the nodes of its grid.
fn at_nodes(graph: &Graph, unknown: &UnknownFunction, arguments: &[Symbol], modes: &[Expr]) -> Vec<Vec<f64>> {
    let leaves: Vec<Leaf> = arguments.iter().map(|&symbol| Leaf::Symbol(symbol)).collect();
    let tape = Tape::compile(graph, modes, &leaves).expect("they are about these arguments");
    let columns = Lattice::new(unknown).columns();
    let inputs: Vec<Input<'_, f64>> = columns.iter().map(|column| Input::Column(column)).collect();
    let mut scratch = Scratch::new();
    tape.eval(&inputs, columns[0].len(), &mut scratch);
    (0..modes.len()).map(|j| scratch.output(&tape, j).to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_jet::{Axis, Family};

    /// Values, slopes and second derivatives against the pieces of the same splines; at the ends of cells, where
    /// distances are zero, too.
    #[test]
    fn splines_are_those_of_dictionaries() {
        let mut graph = Graph::new();
        let symbol = graph.symbol("x");
        let x = graph.leaf(symbol);
        let values = splines(&mut graph, x, 8);
        let slopes: Vec<Expr> = values.iter().map(|&value| graph.diff(value, symbol)).collect();
        let bends: Vec<Expr> = slopes.iter().map(|&slope| graph.diff(slope, symbol)).collect();
        let tape = Tape::compile(&graph, &[values, slopes, bends].concat(), &[Leaf::Symbol(symbol)]).unwrap();
        let places = [0.0, 0.07, 0.2, 0.33, 0.4, 0.6, 0.95, 1.0];
        let mut scratch = Scratch::new();
        tape.eval(&[Input::Column(&places)], places.len(), &mut scratch);
        let axis = Axis { count: 8, family: Family::Splines };
        for (place, &x) in places.iter().enumerate() {
            let (first, pieces) = axis.around(x, 3);
            for (order, size) in [1.0, 5.0, 25.0].into_iter().enumerate() {
                for number in 0..8 {
                    let found = scratch.output(&tape, 8 * order + number)[place];
                    let here = (first..first + 4).contains(&number);
                    let exact = if here { pieces[4 * order + number - first] } else { 0.0 };
                    assert!((found - exact).abs() < 1e-14 * size, "{x} {number} {order}: {found} {exact}");
                }
            }
        }
    }
}
