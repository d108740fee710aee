//! The inverse problem as plain, validated data: what a problem file or the builder produces and everything
//! downstream reads.

pub(crate) mod domain;
pub(crate) mod formula;
pub(crate) mod function;
pub(crate) mod given;
pub(crate) mod known;
pub(crate) mod learning;
pub(crate) mod likelihood;
pub(crate) mod neighbour;
pub(crate) mod observation;
pub(crate) mod picture;
pub(crate) mod points;
pub(crate) mod prior;
pub(crate) mod problem;
pub(crate) mod random_field;
pub(crate) mod statement;
pub(crate) mod unknown;

pub use domain::{Constant, Coordinate, divided};
pub use formula::Formula;
pub use function::{
    Argument, FunctionBasis, Matern, Regulariser, RegulariserKind, UnknownFunction, Variable,
};
pub use given::GivenField;
pub use known::{FIELD, KnownFunction};
pub use learning::Learning;
pub use likelihood::{Likelihood, Quadrature};
pub use neighbour::Neighbour;
pub use observation::{Bound, BoundTo, Data, Made, Observation, Sigma, Table, Term};
pub use picture::{Contour, Picture};
pub use points::{Layout, Points, Renewal};
pub use prior::{Prior, PriorAt};
pub use problem::Problem;
pub use random_field::RandomField;
pub use statement::{Condition, Derived, Equation, HeldBy, Input, State};
pub use unknown::{Transform, Unknown};
