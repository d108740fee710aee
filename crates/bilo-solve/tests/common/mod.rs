//! Statements from text, and measured orders of convergence.
#![allow(dead_code, unreachable_pub)]

use bilo_expr::{Expr, Graph, Scope, lower, parse};
use bilo_solve::{Axis, Boundary, End, Resolution, Solution, SolveError, Solver, Statement};

/// A problem as text. Space is `x`, time is `t`.
#[derive(Clone, Copy, Default)]
pub struct Text<'a> {
    pub space: (f64, f64),
    pub time: Option<(f64, f64)>,
    pub periodic: bool,
    pub states: &'a [&'a str],
    pub parameters: &'a [&'a str],
    pub interior: &'a [&'a str],
    pub lower: &'a [&'a str],
    pub upper: &'a [&'a str],
    pub initial: &'a [&'a str],
    pub guess: &'a [&'a str],
}

impl Text<'_> {
    pub fn statement(&self) -> Statement {
        let mut graph = Graph::new();
        let mut scope = Scope::new();
        let name = |graph: &mut Graph, scope: &mut Scope, name: &str| {
            let symbol = graph.symbol(name);
            let leaf = graph.leaf(symbol);
            scope.bind(name, leaf);
            (symbol, leaf)
        };
        let (x, x_leaf) = name(&mut graph, &mut scope, "x");
        let (t, t_leaf) = name(&mut graph, &mut scope, "t");
        scope.variable("x", x);
        scope.variable("t", t);
        scope.space(vec![x]);
        let parameters = self.parameters.iter().map(|p| name(&mut graph, &mut scope, p).0).collect();
        let mut coordinates = vec![x_leaf];
        coordinates.extend(self.time.map(|_| t_leaf));
        let mut states = Vec::new();
        for state in self.states {
            let function = graph.function(state, coordinates.clone());
            let value = graph.value(function);
            scope.bind(state, value);
            states.push(function);
        }
        let mut read = |texts: &[&str]| -> Vec<Expr> {
            let read_one = |text: &&str| {
                let ast = parse(text).expect("the test's text is right");
                lower(&ast, &mut graph, &scope).expect("the test's text is right")
            };
            texts.iter().map(read_one).collect()
        };
        let [interior, initial, guess] = [self.interior, self.initial, self.guess].map(&mut read);
        let mut boundary = Vec::new();
        for (end, texts) in [(End::Lower, self.lower), (End::Upper, self.upper)] {
            let residuals = read(texts).into_iter();
            boundary.extend(residuals.map(|residual| Boundary { end, residual }));
        }
        Statement {
            space: axis(x, self.space),
            time: self.time.map(|range| axis(t, range)),
            periodic: self.periodic,
            graph,
            states,
            parameters,
            interior,
            boundary,
            initial,
            guess,
        }
    }

    pub fn solver(&self) -> Result<Solver, SolveError> {
        Solver::new(self.statement())
    }

    pub fn solve(&self, parameters: &[f64], cells: usize, steps: usize) -> Result<Solution, SolveError> {
        self.solver()?.solve(parameters, Resolution { cells, steps })
    }
}

fn axis(symbol: bilo_expr::Symbol, (lo, hi): (f64, f64)) -> Axis {
    Axis { symbol, lo, hi }
}

/// Largest error of a state over all nodes and times.
pub fn largest_error(solution: &Solution, state: usize, exact: impl Fn(f64, f64) -> f64) -> f64 {
    let mut largest = 0.0_f64;
    let nx = solution.x.len();
    for (k, &t) in solution.t.iter().enumerate() {
        for (i, &x) in solution.x.iter().enumerate() {
            let error = (solution.field(state)[k * nx + i] - exact(x, t)).abs();
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
