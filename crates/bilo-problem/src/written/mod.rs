//! What a user wrote, before anything is made of it: filled by a problem file and by the builder alike.
//!
//! Everything is plain: expressions are text, coordinates and observations are named, files are not opened. Where a
//! part was written is asked of [`Places`] by its path, such as `equation.front.points.at.x`.

pub(crate) mod data;
pub(crate) mod function;
pub(crate) mod given;
pub(crate) mod in_force;
pub(crate) mod known;
pub(crate) mod picture;
pub(crate) mod points;

use crate::model::domain::{Constant, Coordinate};
use crate::model::likelihood::Likelihood;
use crate::model::observation::Sigma;
use crate::model::unknown::Unknown;
use crate::tree::{Places, Table};
use data::DataSpec;
use function::FunctionSpec;
use given::GivenSpec;
use picture::PictureSpec;
use points::PointsSpec;

/// A problem as it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) coordinates: Vec<Coordinate>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) given: Vec<GivenSpec>,
    pub(crate) unknowns: Vec<Unknown>,
    pub(crate) functions: Vec<FunctionSpec>,
    /// Names and values.
    pub(crate) inputs: Vec<(String, String)>,
    pub(crate) states: Vec<StateSpec>,
    pub(crate) equations: Vec<EquationSpec>,
    pub(crate) observations: Vec<ObservationSpec>,
    pub(crate) pictures: Vec<PictureSpec>,
    /// The tables of settings, as far as they are stated.
    pub(crate) settings: Table,
    /// Where all the rest was written.
    pub(crate) places: Places,
}

/// A state as it was written.
#[derive(Clone, Debug)]
pub(crate) struct StateSpec {
    pub(crate) name: String,
    /// `net` alone if it is not stated.
    pub(crate) form: Option<String>,
    pub(crate) truth: Option<String>,
}

/// An equation as it was written.
#[derive(Clone, Debug)]
pub(crate) struct EquationSpec {
    pub(crate) name: String,
    pub(crate) residual: String,
    pub(crate) trained: Option<String>,
    pub(crate) points: PointsSpec,
    pub(crate) weight: f64,
}

/// An observation as it was written.
#[derive(Clone, Debug)]
pub(crate) struct ObservationSpec {
    pub(crate) name: String,
    /// The only state if it is not stated.
    pub(crate) value: Option<String>,
    pub(crate) data: DataSpec,
    pub(crate) likelihood: Likelihood,
    pub(crate) sigma: Sigma,
    pub(crate) weight: f64,
}
