//! The suite that admits a device: random networks, derivative sets, unknowns and residuals, every
//! number compared with the [`oracle`](crate::oracle).

mod dual;
mod linear;

use crate::device::{Device, Fault, Precision, ResidualWeights};
use crate::network::{Network, NetworkSpec};
use crate::oracle::Subject;
use crate::points::{Column, PointSource};
use crate::program::{BoundNetwork, DensityProgram, FieldProgram, Moves, Operator, ResidualProgram};
use bilo_expr::{Expr, Function, Graph, Input, Leaf, MultiIndex, Scratch, Symbol, Tape, Unary};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;

/// A random case: a network, residuals over its derivatives, points and weights.
pub struct Case {
    graph: Graph,
    operator: Operator,
    residuals: Vec<Expr>,
    points: PointSource,
    /// Where programs are before they are moved to the points.
    points_before: PointSource,
    /// As many points of a grid.
    grid: PointSource,
    /// The points' coordinates, for the oracle.
    columns: Vec<Vec<f64>>,
    weights: Vec<f64>,
    direction: Vec<f64>,
    unknowns: Vec<f64>,
    terms: ResidualWeights,
    /// What the oracle has said, by point and derivative.
    known: BTreeMap<(usize, Leaf), (f64, f64)>,
}

/// What a random case is made from.
#[derive(Clone, Debug)]
pub struct Draw {
    /// The network.
    pub network: NetworkSpec,
    /// Derivatives that the residuals use: multi-indices over the coordinates.
    pub wanted: Vec<MultiIndex>,
    /// Number of residuals.
    pub residuals: usize,
    /// Whether the residuals are quasilinear, so that networks may carry a leading part.
    pub quasilinear: bool,
    /// Whether the network's first coordinate input moves with the unknowns.
    pub moving: bool,
    /// Number of points.
    pub points: usize,
    /// Fixes everything else.
    pub seed: u64,
}

/// The largest relative disagreements of a device with the oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disagreement {
    /// Jets, including directions of unknowns.
    pub jets: f64,
    /// L_res and L_rgrad.
    pub losses: f64,
    /// Weight gradient of the lower-level loss, along a random direction.
    pub weight_gradient: f64,
    /// Gradients of a density with respect to weights and unknowns.
    pub density: f64,
    /// Residuals at every point and their derivatives by the weights, along a random direction.
    pub rows: f64,
    /// Derivatives of the residuals by the unknowns at every point.
    pub by_unknown: f64,
    /// Derivatives along unknowns that the weights move with.
    pub moved: f64,
    /// Products of rows with each other, of two programs.
    pub kernel: f64,
    /// The transposed Jacobian, along a random direction.
    pub pullback: f64,
}

impl Disagreement {
    /// The largest of all.
    pub fn worst(&self) -> f64 {
        self.numbers().into_iter().fold(0.0, f64::max)
    }

    fn numbers(&self) -> [f64; 9] {
        let Self { jets, losses, weight_gradient, density, rows, by_unknown, moved, kernel, pullback } =
            *self;
        [jets, losses, weight_gradient, density, rows, by_unknown, moved, kernel, pullback]
    }

    /// The larger one of each.
    fn or(&self, other: &Self) -> Self {
        let mut numbers = self.numbers();
        numbers.iter_mut().zip(other.numbers()).for_each(|(own, other)| *own = own.max(other));
        let [jets, losses, weight_gradient, density, rows, by_unknown, moved, kernel, pullback] = numbers;
        Self { jets, losses, weight_gradient, density, rows, by_unknown, moved, kernel, pullback }
    }
}

/// What a device must reach: rounding of the arithmetic with room for cancellation.
pub fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => 2e-4,
        // Factors are rounded by 5e-4.
        Precision::Tf32 => 2e-2,
        Precision::F64 => 1e-10,
    }
}

impl Case {
    /// The case of a draw.
    pub fn new(draw: Draw) -> Self {
        let Draw { network: spec, wanted, residuals, quasilinear, moving, points, seed } = draw;
        let mut random = Pcg64::seed_from_u64(seed);
        let mut graph = Graph::new();
        let columns: Vec<Symbol> = (0..spec.coordinates).map(|i| graph.symbol(&format!("x{i}"))).collect();
        let unknowns: Vec<Symbol> = (0..spec.parameters).map(|j| graph.symbol(&format!("p{j}"))).collect();
        let given: Vec<Expr> = columns.iter().chain(&unknowns).map(|&symbol| graph.leaf(symbol)).collect();
        let mut inputs = given.clone();
        if moving {
            inputs[0] = moving_input(&mut graph, &given, spec.coordinates);
        }
        let outputs: Vec<Function> =
            (0..spec.outputs).map(|k| graph.function(&format!("n{k}"), inputs.clone())).collect();
        let network = Network::new(spec.clone(), seed ^ 1);
        let weights = network.initial_weights(seed ^ 2);
        let direction = (0..weights.len()).map(|_| random.random_range(-1.0..1.0)).collect();
        let residuals = (0..residuals)
            .map(|_| {
                let leaves = random_leaves(&mut graph, &mut random, &outputs, &wanted, inputs.len());
                let make = if quasilinear { quasilinear_residual } else { nonlinear_residual };
                make(&mut graph, &mut random, &leaves, given.split_at(spec.coordinates))
            })
            .collect::<Vec<_>>();
        let terms = ResidualWeights {
            equation: residuals.iter().map(|_| random.random_range(0.5..2.0)).collect(),
            gradient: random.random_range(0.05..1.0),
        };
        let parameters = (0..spec.parameters).collect();
        let networks = vec![BoundNetwork::new(network, outputs, parameters)];
        let operator = Operator { networks, columns, unknowns, held: Default::default() };
        let mut column =
            |count: usize| (0..count).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let columns: Vec<_> = (0..spec.coordinates).map(|_| column(points)).collect();
        let unknowns = column(spec.parameters);
        let grid = part_of_a_grid(&mut column, spec.coordinates, points);
        let points = PointSource::stored(columns.clone());
        let points_before = points.clone();
        Self {
            graph,
            operator,
            residuals,
            points,
            points_before,
            grid,
            columns,
            weights,
            direction,
            unknowns,
            terms,
            known: BTreeMap::new(),
        }
    }

    /// Compares a device with the oracle, at stored points and at points of a grid.
    pub fn check(mut self, device: &mut dyn Device) -> Result<Disagreement, Fault> {
        let stored = self.check_points(device)?;
        // Fewer points than those that the programs are moved to.
        self.points_before = PointSource::stored(self.points.columns(0..1));
        self.points = self.grid.clone();
        self.columns = self.points.columns(0..self.points.len());
        self.known.clear();
        Ok(stored.or(&self.check_points(device)?))
    }

    fn check_points(&mut self, device: &mut dyn Device) -> Result<Disagreement, Fault> {
        Ok(Disagreement {
            jets: self.check_jets(device)?,
            density: self.check_density(device)?,
            kernel: self.check_kernel(device)?,
            ..self.check_residual(device)?.or(&self.check_linearisation(device)?)
        })
    }

    /// Whether the residuals' program carries a leading part.
    pub fn has_leading_part(&mut self) -> bool {
        let program =
            ResidualProgram::new(&mut self.graph, &self.operator, &self.residuals).expect("a valid case");
        program.frame.carriers.iter().any(|carrier| !carrier.plan.leading().is_empty())
    }

    /// The Taylor test of the lower-level loss along a direction of weights, half random and half uphill
    /// so that the loss does change: rates at which
    /// |L(W + h d) - L(W)| and |L(W + h d) - L(W) - h g·d| fall when h is halved, which are 1 and 2 for a
    /// right gradient g.
    pub fn taylor_rates(mut self, device: &mut dyn Device) -> Result<[f64; 2], Fault> {
        let program =
            ResidualProgram::new(&mut self.graph, &self.operator, &self.residuals).expect("a valid case");
        let id = device.load_residual(program, self.points.clone())?;
        let mut loss = |weights: &[f64], gradient: Option<&mut [f64]>| {
            let loss = device.residual(id, weights, &self.unknowns, &self.terms, gradient)?;
            let pairs = loss.residual.iter().zip(&loss.gradient).zip(&self.terms.equation);
            Ok(pairs.map(|((r, rgrad), weight)| weight * (r + self.terms.gradient * rgrad)).sum::<f64>())
        };
        let mut gradient = vec![0.0; self.weights.len()];
        let start = loss(&self.weights, Some(&mut gradient))?;
        let size = norm(&self.direction);
        let uphill = size / norm(&gradient);
        let direction: Vec<f64> =
            self.direction.iter().zip(&gradient).map(|(random, slope)| random + uphill * slope).collect();
        let slope = dot(&gradient, &direction);
        let mut remainders = |h: f64| {
            let moved: Vec<f64> = self.weights.iter().zip(&direction).map(|(w, d)| w + h * d).collect();
            let change = loss(&moved, None)? - start;
            Ok([change.abs(), (change - h * slope).abs()])
        };
        // Small enough for the leading term, large enough for f64: remainders of about 1e-8 are far above
        // its rounding.
        let h = 1e-4 / size;
        let (coarse, fine) = (remainders(2.0 * h)?, remainders(h)?);
        Ok([0, 1].map(|order| (coarse[order] / fine[order]).log2()))
    }

    /// Oracle value of a leaf at a point: (value, change along the weights' direction).
    fn leaf_value(&mut self, leaf: &Leaf, point: usize) -> (f64, f64) {
        let key = (point, leaf.clone());
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let given: Vec<f64> =
            self.columns.iter().map(|column| column[point]).chain(self.unknowns.iter().copied()).collect();
        let value = match leaf {
            Leaf::Symbol(symbol) => {
                let mut symbols = self.operator.columns.iter().chain(&self.operator.unknowns);
                let place = symbols.position(|candidate| candidate == symbol).expect("a symbol of the case");
                (given[place], 0.0)
            }
            Leaf::Derivative(function, index) => {
                let bound = &self.operator.networks[0];
                let (weights, direction) = (&self.weights, &self.direction);
                let subject = Subject { network: &bound.network, weights, direction };
                let output = bound.outputs.iter().position(|f| f == function).expect("an output");
                subject.derivative(&self.network_inputs(&given), index, output)
            }
        };
        self.known.insert(key, value);
        value
    }

    /// The network's inputs from columns and unknowns.
    fn network_inputs(&self, given: &[f64]) -> Vec<f64> {
        let Operator { columns, unknowns, networks, .. } = &self.operator;
        let leaves: Vec<Leaf> = columns.iter().chain(unknowns).map(|&symbol| Leaf::Symbol(symbol)).collect();
        let expressions = self.graph.function_inputs(networks[0].outputs[0]);
        let tape = Tape::compile(&self.graph, expressions, &leaves).expect("all leaves are given");
        let inputs: Vec<_> = given.iter().map(|&value| Input::Uniform(value)).collect();
        let mut scratch = Scratch::<f64>::new();
        tape.eval(&inputs, 1, &mut scratch);
        (0..expressions.len()).map(|input| scratch.output(&tape, input)[0]).collect()
    }

    /// Value and change of an expression at a point, from the oracle's leaves.
    fn expression_values(&mut self, expression: Expr, point: usize) -> (f64, f64) {
        let leaves = self.graph.leaves(&[expression]);
        let values: Vec<_> = leaves.iter().map(|leaf| self.leaf_value(leaf, point)).collect();
        let mut outputs = vec![expression];
        outputs.extend(leaves.iter().map(|leaf| self.graph.partial(expression, leaf)));
        let tape = Tape::compile(&self.graph, &outputs, &leaves).expect("all leaves are given");
        let inputs: Vec<_> = values.iter().map(|&(value, _)| Input::Uniform(value)).collect();
        let mut scratch = Scratch::<f64>::new();
        tape.eval(&inputs, 1, &mut scratch);
        let change =
            values.iter().enumerate().map(|(i, &(_, change))| scratch.output(&tape, 1 + i)[0] * change);
        (scratch.output(&tape, 0)[0], change.sum())
    }

    fn check_jets(&mut self, device: &mut dyn Device) -> Result<f64, Fault> {
        let mut wanted = vec![];
        for leaf in self.graph.leaves(&self.residuals) {
            if let Leaf::Derivative(function, index) = leaf {
                wanted.push(self.graph.derivative(function, index.clone()));
                let coordinates = self.operator.columns.len();
                for j in 0..self.operator.unknowns.len() {
                    wanted.push(self.graph.derivative(function, index.plus(coordinates + j)));
                }
            }
        }
        let program = FieldProgram::new(&mut self.graph, &self.operator, &wanted).expect("a valid case");
        let values = device.evaluate(&program, self.points.clone(), &self.weights, &self.unknowns, &[])?;
        let mut worst = 0.0_f64;
        for (&expression, column) in wanted.iter().zip(&values) {
            let exact: Vec<f64> =
                (0..self.points.len()).map(|point| self.expression_values(expression, point).0).collect();
            let scale = exact.iter().fold(1e-3_f64, |scale, value| scale.max(value.abs()));
            for (value, exact) in column.iter().zip(&exact) {
                worst = worst.max((value - exact).abs() / scale);
            }
        }
        Ok(worst)
    }

    fn check_residual(&mut self, device: &mut dyn Device) -> Result<Disagreement, Fault> {
        let program =
            ResidualProgram::new(&mut self.graph, &self.operator, &self.residuals).expect("a valid case");
        let id = device.load_residual(program, self.points_before.clone())?;
        device.move_residual(id, self.points.clone())?;
        let mut gradient = vec![0.0; self.weights.len()];
        let loss = device.residual(id, &self.weights, &self.unknowns, &self.terms, Some(&mut gradient))?;
        let slope = dot(&gradient, &self.direction);
        let points = self.points.len() as f64;
        let (mut worst, mut exact_slope) = (0.0_f64, 0.0);
        for q in 0..self.residuals.len() {
            let r = self.residuals[q];
            let mut by_unknown = vec![];
            for j in 0..self.operator.unknowns.len() {
                by_unknown.push(self.graph.diff(r, self.operator.unknowns[j]));
            }
            let (mut squares, mut gradient_squares) = (0.0, 0.0);
            for point in 0..self.points.len() {
                let weight = 2.0 * self.terms.equation[q] / points;
                let (value, change) = self.expression_values(r, point);
                squares += value * value / points;
                exact_slope += weight * value * change;
                for &expression in &by_unknown {
                    let (value, change) = self.expression_values(expression, point);
                    gradient_squares += value * value / points;
                    exact_slope += weight * self.terms.gradient * value * change;
                }
            }
            worst = worst.max((loss.residual[q] / squares - 1.0).abs());
            if !by_unknown.is_empty() {
                worst = worst.max((loss.gradient[q] / gradient_squares - 1.0).abs());
            }
        }
        let weight_gradient = (slope - exact_slope).abs() / (norm(&gradient) * norm(&self.direction));
        Ok(Disagreement { losses: worst, weight_gradient, ..Disagreement::default() })
    }

    /// The density Σ_points w Σ_q r_q², differentiated by weights and unknowns.
    fn check_density(&mut self, device: &mut dyn Device) -> Result<f64, Fault> {
        let squares: Vec<Expr> = self.residuals.clone().iter().map(|&r| self.graph.mul(r, r)).collect();
        let density = self.graph.sum(&squares);
        let program = DensityProgram::new(&mut self.graph, &self.operator, density, Moves::States)
            .expect("a valid case");
        let quadrature: Vec<f64> = (0..self.points.len()).map(|i| 0.5 + i as f64).collect();
        let id = device.load_density(program, self.points_before.clone(), Column::uniform(1.0))?;
        device.move_density(id, self.points.clone(), Column::stored(quadrature.clone()))?;
        let mut gradient = vec![0.0; self.weights.len()];
        let (value, by_unknown) = device.density(id, &self.weights, &self.unknowns, Some(&mut gradient))?;
        let slope = dot(&gradient, &self.direction);
        let mut found = vec![value, slope];
        found.extend(by_unknown);
        let (mut exact, mut scale) = (vec![0.0; found.len()], vec![1e-12; found.len()]);
        scale[1] = norm(&gradient) * norm(&self.direction);
        for (point, weight) in quadrature.iter().enumerate() {
            let (value, change) = self.expression_values(density, point);
            let mut terms = vec![(value, value.abs()), (change, 0.0)];
            for j in 0..self.operator.unknowns.len() {
                terms.push(self.derivative_by_unknown(density, j, point));
            }
            for ((exact, scale), (term, size)) in exact.iter_mut().zip(&mut scale).zip(terms) {
                *exact += weight * term;
                *scale += weight * size;
            }
        }
        let pairs = found.iter().zip(exact).zip(scale);
        Ok(pairs.fold(0.0, |worst, ((found, exact), scale)| worst.max((found - exact).abs() / scale)))
    }

    /// Total derivative of an expression by an unknown at a point, and the sum of the sizes of the
    /// terms of its chain rule: what its rounding is relative to.
    fn derivative_by_unknown(&mut self, expression: Expr, unknown: usize, point: usize) -> (f64, f64) {
        let symbol = self.operator.unknowns[unknown];
        let (mut sum, mut size) = (0.0, 0.0);
        for leaf in self.graph.leaves(&[expression]) {
            let partial = self.graph.partial(expression, &leaf);
            let leaf = match leaf {
                Leaf::Symbol(symbol) => self.graph.leaf(symbol),
                Leaf::Derivative(function, index) => self.graph.derivative(function, index),
            };
            let moved = self.graph.diff(leaf, symbol);
            let term = self.expression_values(partial, point).0 * self.expression_values(moved, point).0;
            sum += term;
            size += term.abs();
        }
        (sum, size)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// So many points of a grid: all its places after the first, up to the count.
fn part_of_a_grid(
    column: &mut dyn FnMut(usize) -> Vec<f64>,
    coordinates: usize,
    count: usize,
) -> PointSource {
    let side = (2_usize..).find(|side| side.pow(coordinates as u32) > count).expect("some side is enough");
    let mut place = 0;
    let mut inside = |_: &f64| {
        place += 1;
        (2..count + 2).contains(&place)
    };
    PointSource::grid((0..coordinates).map(|_| column(side)).collect())
        .keep(|columns| columns[0].iter().map(&mut inside).collect())
}

/// The wanted derivatives, each of a random output.
fn random_leaves(
    graph: &mut Graph,
    random: &mut Pcg64,
    outputs: &[Function],
    wanted: &[MultiIndex],
    inputs: usize,
) -> Vec<Expr> {
    let leaf = |index: &MultiIndex| {
        let mut orders = index.as_slice().to_vec();
        orders.resize(inputs, 0);
        let output = outputs[random.random_range(0..outputs.len())];
        graph.derivative(output, MultiIndex::from(orders))
    };
    wanted.iter().map(leaf).collect()
}

/// x_0 (1 + p_0/2) + sin(p_last): moves with unknowns, differently at every point.
fn moving_input(graph: &mut Graph, given: &[Expr], coordinates: usize) -> Expr {
    let (half, last) = (graph.constant(0.5), given[given.len() - 1]);
    let stretch = graph.mul(half, given[coordinates]);
    let stretched = graph.mul(stretch, given[0]);
    let shift = graph.unary(Unary::Sin, last);
    graph.sum(&[given[0], stretched, shift])
}

/// One of several expressions.
fn any(random: &mut Pcg64, expressions: &[Expr]) -> Expr {
    expressions[random.random_range(0..expressions.len())]
}

/// Σ over the leaves of a x leaf + b p leaf + c leaf leaf' leaf, plus a constant.
fn nonlinear_residual(
    graph: &mut Graph,
    random: &mut Pcg64,
    leaves: &[Expr],
    (coordinates, parameters): (&[Expr], &[Expr]),
) -> Expr {
    let mut terms = vec![graph.constant(0.3)];
    for &leaf in leaves {
        let squared = graph.mul(leaf, any(random, leaves));
        for factor in [any(random, coordinates), any(random, parameters), squared] {
            terms.push(scaled_product(graph, random, factor, leaf));
        }
    }
    graph.sum(&terms)
}

/// Σ over the leaves of a x leaf + b p leaf (sometimes without p), plus a constant and a square of one
/// leaf: the others can be carried as one leading part.
fn quasilinear_residual(
    graph: &mut Graph,
    random: &mut Pcg64,
    leaves: &[Expr],
    (coordinates, parameters): (&[Expr], &[Expr]),
) -> Expr {
    let mut terms = vec![graph.constant(0.3), graph.mul(leaves[0], leaves[0])];
    for &leaf in leaves {
        let factor = any(random, coordinates);
        terms.push(scaled_product(graph, random, factor, leaf));
        if random.random_bool(0.5) {
            let factor = any(random, parameters);
            terms.push(scaled_product(graph, random, factor, leaf));
        }
    }
    let sum = graph.sum(&terms);
    if random.random_bool(0.5) {
        return sum;
    }
    // With a factor that depends on the network.
    let sine = graph.unary(Unary::Sin, leaves[0]);
    let above = graph.constant(1.5);
    let factor = graph.add(above, sine);
    graph.mul(factor, sum)
}

fn scaled_product(graph: &mut Graph, random: &mut Pcg64, a: Expr, b: Expr) -> Expr {
    let coefficient = graph.constant(random.random_range(-1.0..1.0));
    let scaled = graph.mul(coefficient, a);
    graph.mul(scaled, b)
}
