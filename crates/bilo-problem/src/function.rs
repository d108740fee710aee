//! Unknown functions on grids: where their values stand, what lies between, how their forms and
//! regularisers act on them.

mod curve;
mod held;
mod lattice;
mod matern;
mod metric;
mod polygon;
mod regular;
mod rounded;
mod shape;

pub use curve::Curve;
pub use held::held;
pub use lattice::Lattice;
pub use matern::FieldPrior;
pub use metric::Metric;
pub use regular::RegulariserOnLattice;
pub use shape::Shape;
