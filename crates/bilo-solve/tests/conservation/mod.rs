//! Godunov's method for scalar conservation laws, against exact solutions.

mod derivatives;
mod errors;
mod exact;
mod quality;
mod recognition;
mod riemann;

use bilo_expr::{Expr, Graph, Scope, lower, parse};
use bilo_solve::Axis;
use bilo_solve::conservation::{
    Candidate, ConservationError, ConservationLaw, Ends, Evolution, Flux, Godunov, Initial, Inputs, Mesh,
    Side,
};

/// `1/2 a u^2`.
const BURGERS: &str = "a*u^2/2";

/// A conservation law as text. Space is `x`, time is `t`, the state is `u`.
#[derive(Clone, Copy)]
struct Text<'a> {
    space: (f64, f64),
    end: f64,
    parameters: &'a [&'a str],
    flux: &'a str,
    /// `flux` is the speed instead.
    is_speed: bool,
    /// Lower and upper end, `out` for outflow; `None` if periodic.
    ends: Option<[&'a str; 2]>,
    /// `None`: nodal values.
    initial: Option<&'a str>,
}

impl Default for Text<'_> {
    fn default() -> Self {
        Text {
            space: (0.0, 1.0),
            end: 1.0,
            parameters: &["a"],
            flux: BURGERS,
            is_speed: false,
            ends: Some(["out", "out"]),
            initial: None,
        }
    }
}

impl Text<'_> {
    fn law(&self) -> ConservationLaw {
        let mut names = Names::new(self.parameters);
        let flux = names.read(self.flux);
        let flux = if self.is_speed { Flux::Speed(flux) } else { Flux::Formula(flux) };
        let mut side = |text| match text {
            "out" => Side::Outflow,
            text => Side::Prescribed(names.read(text)),
        };
        let ends = match self.ends {
            None => Ends::Periodic,
            Some([lower, upper]) => Ends::Open { lower: side(lower), upper: side(upper) },
        };
        let initial = self.initial.map_or(Initial::Nodal, |text| Initial::Formula(names.read(text)));
        let Names { graph, candidate, parameters, .. } = names;
        ConservationLaw {
            graph,
            space: Axis::new(candidate.space, self.space.0, self.space.1),
            time: Axis::new(candidate.time, 0.0, self.end),
            state: candidate.state,
            parameters,
            flux,
            ends,
            initial,
        }
    }

    fn godunov(&self) -> Godunov {
        Godunov::new(self.law()).expect("the test's law is right")
    }

    /// The solution for these parameters and the initial value as a formula.
    fn evolution(&self, parameters: &[f64], mesh: Mesh) -> Evolution {
        let inputs = Inputs { parameters: parameters.to_vec(), initial: vec![] };
        self.godunov().solve(&inputs, mesh).expect("the test's law can be solved").evolution
    }

    fn refusal(&self) -> ConservationError {
        Godunov::new(self.law()).expect_err("the law is wrong")
    }
}

/// A graph with `x`, `t`, `u(x, t)` and some parameters.
struct Names {
    graph: Graph,
    scope: Scope,
    /// Its residual is zero.
    candidate: Candidate,
    parameters: Vec<bilo_expr::Symbol>,
}

impl Names {
    fn new(parameters: &[&str]) -> Names {
        let mut graph = Graph::new();
        let mut scope = Scope::new();
        let [space, time] = ["x", "t"].map(|name| {
            let symbol = graph.symbol(name);
            scope.bind(name, graph.leaf(symbol));
            scope.variable(name, symbol);
            symbol
        });
        let inputs = vec![graph.leaf(space), graph.leaf(time)];
        let state = graph.function("u", inputs);
        scope.bind("u", graph.value(state));
        let symbols = parameters.iter().map(|name| {
            let symbol = graph.symbol(name);
            scope.bind(name, graph.leaf(symbol));
            symbol
        });
        let parameters = symbols.collect();
        let residual = graph.constant(0.0);
        Names { graph, scope, candidate: Candidate { residual, state, space, time }, parameters }
    }

    fn read(&mut self, text: &str) -> Expr {
        let ast = parse(text).expect("the test's text is right");
        lower(&ast, &mut self.graph, &self.scope).expect("the test's text is right")
    }

    fn candidate(&mut self, residual: &str) -> Candidate {
        let residual = self.read(residual);
        Candidate { residual, ..self.candidate }
    }
}

/// Width of the cell of each node with open ends.
fn widths(evolution: &Evolution) -> Vec<f64> {
    let last = evolution.x.len() - 1;
    let h = (evolution.x[last] - evolution.x[0]) / last as f64;
    (0..=last).map(|i| if i == 0 || i == last { 0.5 * h } else { h }).collect()
}

/// L1 distance to an exact solution at stored time `k`: its mean over a cell is
/// taken from 16 points.
fn l1_error(evolution: &Evolution, k: usize, exact: impl Fn(f64) -> f64) -> f64 {
    const POINTS: usize = 16;
    let last = evolution.x.len() - 1;
    let h = (evolution.x[last] - evolution.x[0]) / last as f64;
    let error = |(i, width): (usize, &f64)| {
        let left = if i == 0 { evolution.x[0] } else { evolution.x[i] - 0.5 * h };
        let at = |j: usize| left + width * (j as f64 + 0.5) / POINTS as f64;
        let mean = (0..POINTS).map(|j| exact(at(j))).sum::<f64>() / POINTS as f64;
        width * (evolution.level(k)[i] - mean).abs()
    };
    widths(evolution).iter().enumerate().map(error).sum()
}

/// Observed orders of convergence over three halvings of the cells.
fn orders(cells: usize, error_at: impl Fn(usize) -> f64) -> Vec<f64> {
    let errors: Vec<f64> = (0..4).map(|level| error_at(cells << level)).collect();
    errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect()
}
