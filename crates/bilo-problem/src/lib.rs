//! The statement of an inverse problem: as data, from a TOML file or from Rust.
//!
//! [`Problem::from_file`] reads a file, [`Problem::builder`] states the same in Rust; both check
//! every name, number, formula and data file, so that what comes after need not.
//!
//! ```
//! use bilo_problem::{Overrides, Problem};
//! use std::path::Path;
//!
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
//! let problem = Problem::from_toml("decay.toml", text, Path::new("."), &Overrides::default())?;
//! assert_eq!(problem.unknowns[0].truth, Some(2.0));
//! assert_eq!(problem.equations[0].points.columns(&problem, 0)?[0].len(), 21);
//!
//! let wrong = text.replace("rate*u", "rat*u");
//! let error = Problem::from_toml("decay.toml", &wrong, Path::new("."), &Overrides::default());
//! assert!(error.unwrap_err().to_string().contains("did you mean `rate`?"));
//! # Ok::<(), bilo_problem::diagnostic::Error>(())
//! ```

mod argument;
mod builder;
mod check;
mod check_function;
mod check_observation;
mod check_points;
mod classical;
mod clustered;
mod csv;
mod data;
pub mod diagnostic;
mod dictionary;
mod diffuse;
pub mod fields;
mod folder;
mod formula;
pub mod function;
mod given;
pub mod given_columns;
mod grid_values;
mod input;
mod known;
mod learning;
mod likelihood;
mod model;
mod names;
mod neighbour;
pub mod nifti;
pub mod npy;
mod observation;
mod picture;
mod points;
mod points_spec;
mod random_field;
mod raster;
mod read;
mod read_given;
mod read_known;
mod read_points;
mod reader;
mod recipe;
pub mod schema;
pub mod seeds;
mod settings;
pub mod sites;
pub mod spline;
pub mod text;
pub mod theta;
mod tree;
pub mod truth;
mod unknown_function;

pub use builder::{DataSpec, ProblemBuilder};
pub use classical::divided;
pub use clustered::PlaceWeights;
pub use dictionary::{Basis, DictionaryChoice, OperatorChoice, OperatorKind};
pub use folder::Folder;
pub use given::{GivenField, GivenSpec};
pub use grid_values::GridValues;
pub use input::InputValues;
pub use known::{Evaluator, FIELD, KnownFunction, KnownSpec};
pub use learning::{DeepOnetChoice, Examples, FieldAround, FnoChoice, Learning, LearningOptions, Span};
pub use likelihood::{Likelihood, Nodes, Quadrature};
pub use model::*;
pub use names::{BoundField, NET, Names};
pub use neighbour::Neighbour;
pub use observation::*;
pub use picture::{Contour, Picture};
pub use points::sample;
pub use points_spec::PointsSpec;
pub use random_field::RandomField;
pub use unknown_function::{FunctionSpec, evaluate};

use crate::diagnostic::{Diagnostic, Error, Origin, Result, Source};
use std::path::Path;

/// What a command line changes in a problem file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The recipe, in place of `train.recipe`.
    pub recipe: Option<String>,
    /// Settings `key=value`, such as `train.rate=0.01`; a bare word counts as a string.
    pub set: Vec<String>,
}

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
        for argument in &overrides.set {
            tree::merge_override(&mut tree, "--set", argument)?;
        }
        if let Some(recipe) = &overrides.recipe {
            let argument = format!("train.recipe={recipe}");
            tree::merge_override(&mut tree, "--recipe", &argument)?;
        }
        read::read_problem(tree, folder.into())
    }
}
