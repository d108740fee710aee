//! The statement of an inverse problem: as data, from a TOML file or from Rust.
//!
//! In the order of the data: a file ([`Problem::from_file`]) or a builder ([`Problem::builder`]) fills one as-written
//! form, which is resolved to a [`Problem`], plain data in which every name, number, formula and data file was checked,
//! so that what comes after need not.
//!
//! ```
//! use bilo_problem::{Coordinate, DataSpec, Overrides, PointsSpec, Problem, Unknown, in_force};
//! use std::path::Path;
//!
//! // A problem file, with what a command line says on top.
//! let text = r#"
//!     name = "decay"
//!     [coordinates]
//!     t = { range = [0.0, 1.0], time = true }
//!     [unknown.rate]
//!     guess = 1.0
//!     truth = 2.0
//!     [state.u]
//!     form = "1 + net*t"
//!     [equation.decay]
//!     residual = "u_t + rate*u"
//!     points = { grid = { t = 21 } }
//!     [observation.samples]
//!     data = { synthetic = { grid = { t = 11 } } }
//! "#;
//! let overrides = Overrides::of(["train.rate=0.02"]);
//! let read = Problem::from_toml("decay.toml", text, Path::new("."), &overrides)?;
//!
//! // In Rust; what says the same is the same.
//! let built = Problem::builder("decay")
//!     .coordinate(Coordinate::time("t", 0.0, 1.0))
//!     .unknown(Unknown::new("rate", 1.0).truth(2.0))
//!     .state("u", "1 + net*t")
//!     .equation("decay", "u_t + rate*u", PointsSpec::grid([("t", 21)]))
//!     .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.0))
//!     .set("train.rate=0.02")
//!     .build()?;
//! assert_eq!(read, built);
//!
//! // Settings have the defaults of a recipe where nothing is stated, and can be written out.
//! assert_eq!((read.training.rate, read.training.train_steps), (0.02, 4000));
//! assert!(in_force(&read).contains("rate = 0.02\n"));
//!
//! // Points are made when they are asked for.
//! assert_eq!(read.equations[0].points.columns(&read, 0)?[0].len(), 21);
//!
//! // A slip gives an error that shows the line, points at the spot and says what to write instead.
//! let wrong = text.replace("rate*u", "rat*u");
//! let error = Problem::from_toml("decay.toml", &wrong, Path::new("."), &Overrides::default());
//! assert!(error.unwrap_err().to_string().contains("did you mean `rate`?"));
//! # Ok::<(), bilo_problem::diagnostic::Error>(())
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`diagnostic`], [`text`], `words`, [`seeds`] | errors that teach, words of choices, random numbers |
//! | `files`, `grid` | files of numbers and images ([`npy`], [`nifti`]), functions on grids ([`spline`]) |
//! | `tree`, [`schema`], `settings` | TOML that knows its places, the keys of a file, every setting with its default |
//! | `model` | what a [`Problem`] is |
//! | `evaluate`, [`function`] | what a problem says when asked: [`Names`], points, [`sites`] of data, [`theta`] |
//! | `written`, `read`, `builder` | what a user wrote, from a file or from Rust |
//! | `resolve` | from that to a checked problem |

mod builder;
pub mod diagnostic;
mod evaluate;
pub mod fields;
mod files;
pub mod function;
mod grid;
mod model;
mod read;
mod resolve;
pub mod restate;
pub mod schema;
pub mod seeds;
mod settings;
pub mod text;
mod tree;
mod words;
mod written;

pub use builder::ProblemBuilder;
pub use evaluate::cells::most_cells;
pub use evaluate::clustered::PlaceWeights;
pub use evaluate::input::InputValues;
pub use evaluate::known::Evaluator;
pub use evaluate::names::{BoundField, NET, Names};
pub use evaluate::points::sample;
pub use evaluate::quadrature::Nodes;
pub use evaluate::sampling::Sampling;
pub use evaluate::tape::evaluate;
pub use evaluate::{given_columns, sites, theta, truth};
pub use files::folder::Folder;
pub use files::{nifti, npy};
pub use grid::spline;
pub use grid::values::GridValues;
pub use model::{
    Argument, Bound, BoundTo, Condition, Constant, Contour, Coordinate, Data, Derived, Equation, FIELD,
    Formula, FunctionBasis, GivenField, HeldBy, Input, KnownFunction, Layout, Learning, Likelihood, Made,
    Matern, Neighbour, Observation, Picture, Points, Prior, PriorAt, Problem, Quadrature, RandomField,
    Regulariser, RegulariserKind, Renewal, Sigma, State, Table, Term, Transform, Unknown, UnknownFunction,
    Variable, divided,
};
pub use read::Overrides;
pub use settings::{
    Basis, Classical, DeepOnetChoice, DictionaryChoice, Examples, FieldAround, FnoChoice, GradientMode,
    LearningOptions, Levels, NetworkChoice, OperatorChoice, OperatorKind, Recipe, SampleOptions, SampledBy,
    Schedule, Scheme, Span, ThetaOptimiser, Training, WeightOptimiser,
};
pub use tree::Assignment;
pub use words::Words;
pub use written::data::DataSpec;
pub use written::function::FunctionSpec;
pub use written::given::GivenSpec;
pub use written::in_force::in_force;
pub use written::known::KnownSpec;
pub use written::picture::{ContourSpec, PictureSpec};
pub use written::points::PointsSpec;

use crate::diagnostic::{Diagnostic, Error, Origin, Result, Source};
use crate::read::experiment::Experiment;
use crate::resolve::Extent;
use crate::resolve::experiments::{self, Part};
use std::path::Path;

impl Problem {
    /// Reads a problem file; data files are found relative to it.
    pub fn from_file(path: &Path, overrides: &Overrides) -> Result<Problem> {
        let io = |source: std::io::Error| Error::io(path, &source);
        let bytes = std::fs::read(path).map_err(io)?;
        let name = path.display().to_string();
        let text = String::from_utf8(bytes)
            .map_err(|_| Diagnostic::new(format!("{name} is not text in UTF-8"), Origin::none()))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Problem::from_toml(&name, &text, folder, overrides)
    }

    /// Reads the text of a problem file; data files are found relative to `folder`.
    pub fn from_toml<'a>(
        source_name: &str,
        text: &str,
        folder: impl Into<Folder<'a>>,
        overrides: &Overrides,
    ) -> Result<Problem> {
        let mut tree = tree::parse(&Source::new(source_name, text))?;
        overrides.apply(&mut tree)?;
        let folder = folder.into();
        let Some(experiments) = read::experiment::split(&tree)? else {
            return resolve::resolve(read::read(tree)?, folder, Extent::Whole);
        };
        let mut parts = vec![];
        for Experiment { name, tree, own } in experiments {
            let problem = resolve::resolve(read::read(tree)?, folder, Extent::Part)?;
            parts.push(Part { name, problem, own });
        }
        experiments::combine(parts)
    }
}
