//! The classical solver of `bilo`: the same residual expressions that train a
//! network, solved by finite differences on intervals and rectangles, and
//! differentiated by everything they depend on.
//!
//! A [`Statement`] says the problem: states, what vanishes inside the domain,
//! what vanishes on its sides, initial values, parameters, coefficients. A
//! [`Solver`] is the statement checked and compiled; it solves for any
//! [`Values`] at any [`Resolution`]. A [`Solution`] holds the nodal values and
//! gives values and derivatives anywhere. [`Solver::tangents`] and
//! [`Solver::adjoint`] differentiate it.
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
//! let resolution = Resolution { cells: vec![100], steps: 100 };
//! let solution = solver.solve(&Values::parameters(&[0.1]), &resolution)?;
//! let (orders, point): ([usize; 2], [&[f64]; 2]) = ([0, 0], [&[0.5], &[1.0]]);
//! let u = solution.sample(0, &orders, &point)[0];
//! let exact = (-0.1 * PI * PI).exp();
//! assert!((u - exact).abs() < 1e-4);
//!
//! // How u(0.5, 1) changes with k: by the tangent, and by the adjoint of the
//! // number J = u(0.5, 1).
//! let tangent = &solver.tangents(&solution, 0..1)?[0];
//! assert!((tangent.sample(0, &orders, &point)[0] + PI * PI * exact).abs() < 1e-3);
//! let mut load = solution.load();
//! solution.scatter(&mut load, 0, &orders, &point, &[1.0]);
//! let gradient = solver.adjoint(&solution, &load)?;
//! assert!((gradient.parameters[0] - tangent.sample(0, &orders, &point)[0]).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Space
//!
//! A uniform tensor grid in one or two dimensions, each axis periodic or with two
//! sides. Everything is of second order:
//!
//! - Derivatives of any order, mixed ones too, by central differences, one-sided
//!   ones next to a side.
//! - Each boundary equation takes the place of one interior equation near its
//!   side. For every axis there must be as many as the order of the system along
//!   it. A side without one (the outflow of a transport equation) keeps the
//!   interior equation with one-sided differences. At a corner the condition on
//!   values (Dirichlet) holds.
//! - **Fluxes.** Where the residual holds `a_x*u_x + a*u_xx`, as it does after
//!   `div(a*grad(u))` is expanded, the flux `a*u_x` is differenced between faces,
//!   with `a` at the faces' midpoints: coordinates exactly, states and
//!   coefficients as the mean of two nodes. So `a` may jump at nodes and the
//!   solution stays of second order. A coefficient that is piecewise constant (by
//!   `if`) reads as if it stood inside the derivative even in `a*u_xx`, since
//!   there is no other meaning across its jumps. Smooth `a` outside the
//!   derivative is left there. Sources that jump should jump between nodes, or
//!   have the mean of both sides at a node.
//! - **Coefficients** are functions given by their values at the nodes;
//!   derivatives that no flux absorbs come from the same stencils.
//! - A **mask** holds the equations to a part of the box; elsewhere the states
//!   have stated values. The boundary of that part is a staircase: first order.
//! - An **interface** in one dimension is a node where slopes jump, with
//!   equations of its own; no stencil crosses it. Its place may depend on
//!   parameters. The cells are shared out between the two sides by length, so
//!   their numbers change, and the solution by its discretisation error, when
//!   the place has moved by about a cell.
//!
//! - **Widths of cells** may stand in expressions, for terms that stabilise a
//!   scheme and vanish with the grid, and a **pin** puts an equation at one node,
//!   such as the level of a pressure, in the place of another.
//!
//! # Time
//!
//! Alexander's two-stage SDIRK method with equal steps, of second order and
//! L-stable; or Hairer and Wanner's of fourth order with steps that follow the
//! solution ([`Solver::graded`]), where time is all there is. Only first time derivatives; states without one follow their
//! constraint.
//!
//! # Equations
//!
//! Newton's iteration with symbolic Jacobians and LU (of a band in one dimension,
//! sparse otherwise), the factorisation kept for as long as it serves, down to
//! rounding. [`Work`] tells what it took.
//! What depends on the resolution alone (stencils, pattern, ordering) is kept
//! for the next solve. A [`SolveError`] says what is wrong and what to do.
//!
//! # Derivatives
//!
//! Tangents and adjoints differentiate the discrete equations, so they are
//! exact for the numbers that the solver returns, but for rounding. Where nodes
//! move with an interface, a tangent's field is the derivative at the moving
//! node, `du/dp + u_x dx/dp`; its samples are derivatives at fixed places.
//! Samples at a place that a node just passes have a kink of the size of the
//! interpolation error.
//!
//! # Not covered
//!
//! Second time derivatives (write a first-order system), upwinding and limiters
//! (shocks oscillate; scalar conservation laws have [`conservation`]), curved boundaries beyond the staircase and flux
//! conditions on it, coefficients that depend on time, interfaces in the plane,
//! three dimensions, steps chosen by an error estimate.

mod build;
mod check;
mod combination;
mod compile;
mod compiled;
pub mod conservation;
mod discrete;
mod error;
mod flux;
mod fornberg;
mod graded;
mod grid;
mod interrupt;
mod linear;
mod march;
mod newton;
mod operator;
mod partials;
mod rows;
mod runge_kutta;
mod sensitivity;
mod solution;
mod solver;
mod statement;
mod switches;
mod system;
mod wellposed;

pub use compiled::{Resolution, Values};
pub use error::SolveError;
pub use interrupt::Interrupt;
pub use solution::{Load, Solution, Work};
pub use solver::{Known, Solver};
pub use statement::{
    Axis, Boundary, Curve, CurveWeights, End, Interface, Mask, Pin, Side, Signal, Statement,
};
