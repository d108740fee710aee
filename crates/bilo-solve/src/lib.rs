//! The classical solver of `bilo`: the same residual expressions that train a
//! network, solved by finite differences in one space dimension.
//!
//! A [`Statement`] says the problem: states, what vanishes inside the domain,
//! what vanishes at its ends, initial values. A [`Solver`] is the statement
//! checked and compiled; it solves for any parameter values at any
//! [`Resolution`]. A [`Solution`] holds the nodal values and gives values and
//! derivatives anywhere.
//!
//! Here the heat equation `u_t = k u_xx` with `u = 0` at both ends, whose first
//! mode decays at the rate `k pi^2`:
//!
//! ```
//! use std::f64::consts::PI;
//! use bilo_expr::{Graph, Scope, lower, parse};
//! use bilo_solve::{Axis, Boundary, End, Resolution, Side, Solver, Statement, Values};
//!
//! let mut graph = Graph::new();
//! let [x, t, k] = ["x", "t", "k"].map(|name| graph.symbol(name));
//! let coordinates = vec![graph.leaf(x), graph.leaf(t)];
//! let u = graph.function("u", coordinates);
//!
//! let mut scope = Scope::new();
//! scope.bind("x", graph.leaf(x));
//! scope.bind("k", graph.leaf(k));
//! scope.bind("u", graph.value(u));
//! scope.variable("x", x);
//! scope.variable("t", t);
//! let mut read = |text| lower(&parse(text)?, &mut graph, &scope);
//! let interior = vec![read("u_t - k*u_xx")?];
//! let initial = vec![read("sin(pi*x)")?];
//! let zero = read("u")?;
//!
//! let solver = Solver::new(Statement {
//!     graph,
//!     space: vec![Axis::new(x, 0.0, 1.0)],
//!     time: Some(Axis::new(t, 0.0, 1.0)),
//!     states: vec![u],
//!     parameters: vec![k],
//!     interior,
//!     boundary: [End::Lower, End::Upper]
//!         .map(|end| Boundary { side: Side { axis: 0, end }, residual: zero })
//!         .to_vec(),
//!     initial,
//!     ..Statement::default()
//! })?;
//! for k in [0.1, 0.2] {
//!     let resolution = Resolution { cells: vec![100], steps: 100 };
//!     let solution = solver.solve(&Values::parameters(&[k]), &resolution)?;
//!     let u = solution.sample(0, &[0, 0], &[&[0.5], &[1.0]])[0];
//!     assert!((u - (-k * PI * PI).exp()).abs() < 1e-4);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! - Space: a uniform grid; central differences of second order for any
//!   derivative, one-sided ones of second order next to the ends. Each boundary
//!   equation takes the place of one interior equation near an end; an end
//!   without one (the outflow of a transport equation) keeps the interior
//!   equation with one-sided differences.
//! - Time: Alexander's two-stage SDIRK method, of second order and L-stable.
//!   Only first time derivatives; states without one follow their constraint.
//! - Nonlinearity: Newton's iteration with symbolic Jacobians and sparse LU, the
//!   factorisation kept for as long as it serves, down to rounding. [`Work`]
//!   tells what it took.
//! - Failure: a [`SolveError`] says what is wrong and what to do.

mod check;
mod compile;
mod discrete;
mod error;
mod flux;
mod fornberg;
mod grid;
mod linear;
mod march;
mod newton;
mod operator;
mod partials;
mod rows;
mod sensitivity;
mod solution;
mod solver;
mod statement;
mod system;
mod wellposed;

pub use error::SolveError;
pub use solution::{Load, Solution, Work};
pub use solver::{Resolution, Solver, Values};
pub use statement::{Axis, Boundary, End, Interface, Mask, Side, Statement};
