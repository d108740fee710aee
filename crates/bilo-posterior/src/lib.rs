//! The posterior of the unknown numbers of an inverse problem.
//!
//! 1. [`SolvedPosterior`] is the density of the unknowns with its gradient, the equations solved by anything that is a
//!    [`ReducedProblem`](bilo_fit::gauss_newton::ReducedProblem); a [`Source`] gives each chain its own.
//! 2. A [`Plan`] runs the chains, which a [`Storage`] keeps.
//! 3. [`summarise`] says what the draws are, [`audit()`] what another solver makes of them.
//!
//! [`draw_prior`] asks what the priors predict before the data have a word.

mod audit;
mod calibration;
mod column;
mod density;
mod left_out;
mod outcome;
mod predictions;
mod prior;
mod range;
mod reference;
mod sampling;
mod summary;
mod verdict;

pub use audit::audit;
pub use bilo_sample::{Chain, Failure, Metric};
pub use calibration::{CalibratedUnknown, Calibration, RANKED_AMONG, Ranked, from_prior};
pub use column::Column;
pub use density::{Posterior, Prediction, SolvedPosterior, Source, at_thetas, position_of, thetas_at};
pub use outcome::{
    AuditOutcome, ChainOutcome, LeftOut, Marginal, PosteriorOutcome, PosteriorReason, PosteriorVerdict,
    PredictiveCheck, ShiftOutcome,
};
pub use predictions::{Predicted, PredictedObservation, predict};
pub use prior::{PriorCheck, PriorDraws, PriorMarginal, PriorOutcome, draw_prior};
pub use range::Range;
pub use reference::ReferenceSource;
pub use sampling::{InMemory, Kept, Plan, Progress, Storage};
pub use summary::{Draws, summarise};
