//! Statements from text, and measured orders of convergence.
#![allow(dead_code, unreachable_pub)]

use std::sync::Arc;

use bilo_expr::{Expr, Graph, Scope, Symbol, lower, parse};
use bilo_solve::{
    Axis, Boundary, Curve, End, Interface, Mask, Resolution, Side, Solution, SolveError, Solver, Statement,
    Values,
};

/// A problem as text. Space is `x` or `x` and `y`, time is `t`.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    pub x: (f64, f64),
    pub y: Option<(f64, f64)>,
    pub time: Option<(f64, f64)>,
    /// The periodic axes.
    pub periodic: &'a [&'a str],
    pub states: &'a [&'a str],
    pub parameters: &'a [&'a str],
    /// Names with the axes they depend on.
    pub coefficients: &'a [(&'a str, &'a [&'a str])],
    /// Names of parabolas with what they are functions of; the parameters of `D` begin with `D0`, of `D0 + D1*s + D2*s^2`.
    pub curves: &'a [(&'a str, &'a str)],
    pub interior: &'a [&'a str],
    pub lower: &'a [&'a str],
    pub upper: &'a [&'a str],
    pub bottom: &'a [&'a str],
    pub top: &'a [&'a str],
    pub initial: &'a [&'a str],
    pub guess: &'a [&'a str],
    /// What is positive inside the mask.
    pub inside: Option<&'a str>,
    /// The values of the states outside.
    pub outside: &'a [&'a str],
    /// Where slopes jump, and the residuals there; the jump of `u_x` is `u_jump`.
    pub interface: Option<(&'a str, &'a [&'a str])>,
}

/// One state u on the unit interval, about which nothing is said.
pub const UNIT: Text<'static> = Text {
    x: (0.0, 1.0),
    y: None,
    time: None,
    periodic: &[],
    states: &["u"],
    parameters: &[],
    coefficients: &[],
    curves: &[],
    interior: &[],
    lower: &[],
    upper: &[],
    bottom: &[],
    top: &[],
    initial: &[],
    guess: &[],
    inside: None,
    outside: &[],
    interface: None,
};

/// The unit square with u = 0 all around.
pub const SQUARE: Text<'static> =
    Text { y: Some((0.0, 1.0)), lower: &["u"], upper: &["u"], bottom: &["u"], top: &["u"], ..UNIT };

impl Text<'_> {
    pub fn statement(&self) -> Statement {
        let mut graph = Graph::new();
        let mut scope = Scope::new();
        let [x, y, t] = ["x", "y", "t"].map(|name| {
            let symbol = bind_symbol(&mut graph, &mut scope, name);
            scope.variable(name, symbol);
            symbol
        });
        let mut space = vec![self.axis("x", x, self.x)];
        space.extend(self.y.map(|range| self.axis("y", y, range)));
        scope.space(space.iter().map(|axis| axis.symbol).collect());
        let parameters = self.parameters.iter().map(|p| bind_symbol(&mut graph, &mut scope, p)).collect();
        let mut coordinates: Vec<Symbol> = space.iter().map(|axis| axis.symbol).collect();
        coordinates.extend(self.time.map(|_| t));
        let mut function = |graph: &mut Graph, name: &str, symbols: &[Symbol]| {
            let inputs = symbols.iter().map(|&symbol| graph.leaf(symbol)).collect();
            let function = graph.function(name, inputs);
            let value = graph.value(function);
            scope.bind(name, value);
            function
        };
        let states = self.states.iter().map(|name| function(&mut graph, name, &coordinates)).collect();
        let jump = |name: &&str| function(&mut graph, &format!("{name}_jump"), &[]);
        let jumps = self.states.iter().map(jump).collect();
        let symbol_of = |name: &&str| [x, y, t][["x", "y", "t"].iter().position(|n| n == name).unwrap()];
        let coefficients = self
            .coefficients
            .iter()
            .map(|(name, of)| function(&mut graph, name, &of.iter().map(symbol_of).collect::<Vec<_>>()))
            .collect();
        let curves = self.curves.iter().map(|curve| self.curve(curve, &mut graph, &mut scope)).collect();
        let mut read = |texts: &[&str]| -> Vec<Expr> {
            let read_one = |text: &&str| {
                let ast = parse(text).expect("the test's text is right");
                lower(&ast, &mut graph, &scope).expect("the test's text is right")
            };
            texts.iter().map(read_one).collect()
        };
        let [interior, initial, guess] = [self.interior, self.initial, self.guess].map(&mut read);
        let mask = self.inside.map(|inside| Mask { inside: read(&[inside])[0], outside: read(self.outside) });
        let interface = self.interface.map(|(position, residuals)| Interface {
            position: read(&[position])[0],
            jumps,
            residuals: read(residuals),
        });
        let mut boundary = Vec::new();
        for (axis, ends) in [[self.lower, self.upper], [self.bottom, self.top]].into_iter().enumerate() {
            for (end, texts) in [End::Lower, End::Upper].into_iter().zip(ends) {
                let side = Side { axis, end };
                boundary.extend(read(texts).into_iter().map(|residual| Boundary { side, residual }));
            }
        }
        Statement {
            space,
            time: self.time.map(|(lo, hi)| Axis::new(t, lo, hi)),
            graph,
            states,
            parameters,
            coefficients,
            interior,
            boundary,
            initial,
            guess,
            mask,
            signals: vec![],
            curves,
            widths: vec![],
            pins: vec![],
            interface,
        }
    }

    fn curve(&self, &(name, argument): &(&str, &str), graph: &mut Graph, scope: &mut Scope) -> Curve {
        let argument =
            lower(&parse(argument).expect("right"), graph, scope).expect("the test's text is right");
        let function = graph.function(name, vec![argument]);
        let value = graph.value(function);
        scope.bind(name, value);
        let first = self.parameters.iter().position(|&p| p == format!("{name}0")).expect("it has parameters");
        let at = |s: f64, order: usize| match order {
            0 => [(0, 1.0), (1, s), (2, s * s)],
            1 => [(0, 0.0), (1, 1.0), (2, 2.0 * s)],
            2 => [(0, 0.0), (1, 0.0), (2, 2.0)],
            _ => [(0, 0.0), (1, 0.0), (2, 0.0)],
        };
        let weights = move |places: &[f64], order| places.iter().map(|&s| at(s, order)).collect();
        Curve { function, argument, first, weights: Arc::new(weights), corners: vec![] }
    }

    fn axis(&self, name: &str, symbol: Symbol, (lo, hi): (f64, f64)) -> Axis {
        Axis { periodic: self.periodic.contains(&name), ..Axis::new(symbol, lo, hi) }
    }

    pub fn solver(&self) -> Result<Solver, SolveError> {
        Solver::new(self.statement())
    }

    /// The same number of cells along all axes.
    pub fn resolution(&self, cells: usize, steps: usize) -> Resolution {
        Resolution { cells: vec![cells; if self.y.is_some() { 2 } else { 1 }], steps }
    }

    pub fn solve(&self, parameters: &[f64], cells: usize, steps: usize) -> Result<Solution, SolveError> {
        self.solver()?.solve(&Values::parameters(parameters), &self.resolution(cells, steps))
    }
}

fn bind_symbol(graph: &mut Graph, scope: &mut Scope, name: &str) -> Symbol {
    let symbol = graph.symbol(name);
    let leaf = graph.leaf(symbol);
    scope.bind(name, leaf);
    symbol
}

/// Largest error of a state in one space dimension over all nodes and times.
pub fn largest_error(solution: &Solution, state: usize, exact: impl Fn(f64, f64) -> f64) -> f64 {
    let mut field = solution.field(state).iter();
    let mut largest = 0.0_f64;
    for &t in &solution.t {
        for (&x, value) in solution.axes[0].iter().zip(&mut field) {
            let error = (value - exact(x, t)).abs();
            assert!(error.is_finite());
            largest = largest.max(error);
        }
    }
    largest
}

/// Largest error of a state in two space dimensions at the last time.
pub fn largest_error_2d(solution: &Solution, state: usize, exact: impl Fn(f64, f64) -> f64) -> f64 {
    let (nx, ny) = (solution.axes[0].len(), solution.axes[1].len());
    let field = &solution.field(state)[(solution.t.len() - 1) * nx * ny..];
    let mut largest = 0.0_f64;
    for (i, &x) in solution.axes[0].iter().enumerate() {
        for (j, &y) in solution.axes[1].iter().enumerate() {
            let error = (field[i * ny + j] - exact(x, y)).abs();
            assert!(error.is_finite());
            largest = largest.max(error);
        }
    }
    largest
}

/// Errors under three halvings must fall by powers of `2^order`, each rate
/// within 0.1.
pub fn assert_order(order: f64, error_at: impl Fn(usize) -> f64) {
    let errors: Vec<f64> = (0..4).map(|level| error_at(1 << level)).collect();
    for pair in errors.windows(2) {
        let rate = (pair[0] / pair[1]).log2();
        assert!((rate - order).abs() < 0.1, "rate {rate} where {order} is expected; errors {errors:?}");
    }
}
