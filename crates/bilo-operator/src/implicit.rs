//! Local operators whose weights are solved for at every value of the unknowns.
//!
//! The lower level is a problem of least squares in the weights W: the residuals r(W, theta) at all points, with
//! their Jacobian J = dr/dW. One factorisation of J serves the Newton step J dW = -r and every
//!
//! ```text
//! dW/dtheta_j = - (J^T J)^-1 J^T dr/dtheta_j        (implicit function theorem)
//! ```
//!
//! so that W + Σ_j (theta_j - theta_j^k) dW/dtheta_j is the local operator: dr/dtheta vanishes along with r, as
//! in condition 2 of the method, and no weight w_rgrad stands between the two. The upper level is Gauss-Newton
//! with the derivatives du/dtheta_j that this gives, and the same slopes predict the weights after its step.

mod anchored;
mod corrector;
mod normal;
mod penalty;
mod place;
mod preconditioned;
mod rows;
mod solver;
mod tangent;

pub use anchored::{Anchored, Reduced, WithReduced};
pub use corrector::{LowerStep, Options, Work};
pub use solver::{LocalEvaluation, LocalSolver, ReferenceScale};
