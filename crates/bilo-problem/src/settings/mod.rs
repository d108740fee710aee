//! How a problem is solved: every setting is declared once, with its name, type, range, defaults and meaning.
//!
//! [`table::settings`] makes of a declaration the field of a struct, the defaults of both recipes, the key of the
//! schema (so the row of the book and of the JSON Schema), how it is read and checked, and how it is written out.
//! A new setting is one declaration here and its use.

mod classical;
mod examples;
mod learned;
mod network;
mod operator;
mod recipe;
mod sampling;
pub(crate) mod table;
mod training;
mod value;

pub(crate) use classical::MOST_CELLS;
pub use classical::{Classical, Scheme};
pub(crate) use examples::MOST_EXAMPLES;
pub use examples::{Examples, FieldAround, Span};
pub use learned::{DeepOnetChoice, FnoChoice, LearningOptions};
pub use network::NetworkChoice;
pub use operator::{Basis, DictionaryChoice, OperatorChoice, OperatorKind};
pub use recipe::Recipe;
pub use sampling::{SampleOptions, SampledBy};
pub(crate) use table::{Settings, idle, lines, read_over};
pub use training::{GradientMode, Levels, Schedule, ThetaOptimiser, Training, WeightOptimiser};
pub(crate) use value::{Context, counted, in_range};
