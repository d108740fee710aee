//! Scalar conservation laws `u_t + f(u; parameters)_x = 0` by Godunov's method,
//! with the exact derivatives of the scheme.
//!
//! Finite differences of the residual `u_t + a*u*u_x` are wrong behind a shock:
//! only the flux form says how fast the shock moves. So a [`Candidate`] first
//! recognises a conservation law in a residual and finds its [`Flux`] (or
//! confirms a stated one); a [`ConservationLaw`] states the problem; [`Godunov`]
//! is the law compiled; it solves for any [`Inputs`] on any [`Mesh`]. The
//! [`Run`] holds the solution, an [`Evolution`], and gives derivatives: the
//! tangent along a direction of the inputs, or by one adjoint sweep the gradient
//! of any function of the solution.
//!
//! Burgers' equation with a shock from 1 down to 0, which moves at speed a/2:
//!
//! ```
//! use bilo_expr::{Graph, Scope, lower, parse};
//! use bilo_solve::Axis;
//! use bilo_solve::conservation::{
//!     Candidate, ConservationLaw, Ends, Flux, Godunov, Initial, Inputs, Mesh, Side,
//! };
//!
//! let mut graph = Graph::new();
//! let [x, t, a] = ["x", "t", "a"].map(|name| graph.symbol(name));
//! let coordinates = vec![graph.leaf(x), graph.leaf(t)];
//! let state = graph.function("u", coordinates);
//! let mut scope = Scope::new();
//! scope.bind("x", graph.leaf(x));
//! scope.bind("a", graph.leaf(a));
//! scope.bind("u", graph.value(state));
//! scope.variable("x", x);
//! scope.variable("t", t);
//! let residual = lower(&parse("u_t + a*u*u_x")?, &mut graph, &scope)?;
//! let initial = lower(&parse("if(x < 0.25, 1, 0)")?, &mut graph, &scope)?;
//!
//! let candidate = Candidate { residual, state, space: x, time: t };
//! let Some(Flux::Formula(flux)) = candidate.recognise(&mut graph) else { unreachable!() };
//! assert_eq!(graph.display(flux).to_string(), "0.5*u*a*u");
//!
//! let godunov = Godunov::new(ConservationLaw {
//!     graph,
//!     space: Axis::new(x, 0.0, 1.0),
//!     time: Axis::new(t, 0.0, 1.0),
//!     state,
//!     parameters: vec![a],
//!     flux: Flux::Formula(flux),
//!     ends: Ends::Open { lower: Side::Outflow, upper: Side::Outflow },
//!     initial: Initial::Formula(initial),
//! })?;
//! let run = godunov.solve(&Inputs { parameters: vec![0.8], initial: vec![] }, Mesh::new(200, 10))?;
//! let around_the_shock = run.evolution.sample(&[(0.63, 1.0), (0.67, 1.0)]);
//! assert!(around_the_shock[0] > 0.99 && around_the_shock[1] < 0.01);
//!
//! // The mass at t = 1 is 0.25 + a/2, so its derivative by a is 1/2.
//! let cells: Vec<(f64, f64, f64)> = run.evolution.x.iter().map(|&x| (x, 1.0, 1.0 / 200.0)).collect();
//! let gradient = run.adjoint(&run.evolution.scatter(&cells))?;
//! assert!((gradient.parameters[0] - 0.5).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The scheme
//!
//! - **Cells** are centred at the nodes. At open ends both end nodes belong to
//!   the domain and own half a cell, so the cells fill it exactly: the mass, the
//!   sum of width times state (the trapezoidal rule), changes by the fluxes through
//!   `lo` and `hi` only. The price is a time step half as long as the inner cells
//!   would need. A periodic axis has whole cells only.
//! - **Flux**: the exact solution of the Riemann problem for any smooth flux
//!   function, convex or not: the least flux between the two states if it
//!   jumps up, the largest if it jumps down. Critical points of the flux are
//!   found once per solve over the range of the data.
//! - **Time**: explicit Euler with equal steps. The state never leaves the range
//!   of its initial and given values, so their largest speed bounds the step for
//!   all times. The scheme is monotone: no new extrema, total variation does not grow.
//! - **Order**: 1 in L1 for shocks and smooth solutions before a shock, slightly
//!   less at the corners of rarefactions.
//!
//! # Derivatives
//!
//! They are those of the scheme, to rounding. The number of time steps is held
//! fixed. The flux through a face is the flux function at one chosen state; it
//! has a kink only where two states with a shock between them have the same
//! flux (a shock at rest, exactly on a face), and there the left one is taken.
//! Where the state has a shock, know what converges:
//!
//! - A functional that is linear in the state with smooth weights, such as
//!   a mass or a smoothed observation, has the right derivative even when the shock
//!   moves: the tangent is conservative and gathers the shift of the shock in the few
//!   cells of its layer.
//! - The tangent at single nodes of the layer is that shift divided by the width
//!   of a cell: its values there mean nothing by themselves.
//! - A functional that is nonlinear in the state at a shock, such as a sum of
//!   squared misfits at a time when there is one, sees the profile of the layer,
//!   which Godunov's method keeps a few cells wide on any grid. The contribution of these
//!   cells to the gradient then need not converge: for the integral of u^2
//!   over a shock of Burgers' equation it stays wrong by about 1 % on any grid,
//!   for u^3 by up to 3 %. Convergence of
//!   the discrete adjoint is proved for convex fluxes and a Lax-Friedrichs scheme whose
//!   viscosity spreads the shock over more and more cells (Giles and Ulbrich,
//!   SIAM J. Numer. Anal. 48 (2010) 882 and 905). Away from shocks and from
//!   the characteristics that run into them there is no such question.

mod error;
mod evolution;
mod flux;
mod formula;
mod godunov;
mod law;
mod recognise;
mod step;

pub use error::ConservationError;
pub use evolution::Evolution;
pub use godunov::{Godunov, Run};
pub use law::{ConservationLaw, Ends, Flux, Initial, Inputs, Levels, Mesh, Side};
pub use recognise::Candidate;
