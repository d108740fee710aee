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
use points::{HeldAt, PointsSpec};

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
    pub(crate) derived: Vec<(String, String)>,
    /// Names and units of constants that have one.
    pub(crate) constant_units: Vec<(String, String)>,
    /// Names and values.
    pub(crate) inputs: Vec<(String, String)>,
    pub(crate) states: Vec<StateSpec>,
    pub(crate) equations: Vec<EquationSpec>,
    pub(crate) conditions: Vec<ConditionSpec>,
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
    /// What holds the conditions, as far as a form can, if it is not stated.
    pub(crate) form: Option<String>,
    pub(crate) truth: Option<String>,
}

/// An equation as it was written.
#[derive(Clone, Debug)]
pub(crate) struct EquationSpec {
    pub(crate) name: String,
    /// Its key in the file.
    pub(crate) key: String,
    pub(crate) said: Said,
    pub(crate) trained: Option<String>,
    /// Chosen if they are not stated.
    pub(crate) points: Option<PointsSpec>,
    /// One for a residual, and chosen for what holds, if it is not stated.
    pub(crate) weight: Option<f64>,
}

/// What an equation says, and by which key.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    /// What vanishes.
    Residual(String),
    /// What equals what.
    Holds(String),
    /// That of a condition.
    Condition(String),
}

impl EquationSpec {
    /// The path of its table.
    pub(crate) fn table(&self) -> String {
        let kind = if matches!(self.said, Said::Condition(_)) { "condition" } else { "equation" };
        format!("{kind}.{}", self.key)
    }

    /// The path of what it says.
    pub(crate) fn path(&self) -> String {
        let key = if matches!(self.said, Said::Residual(_)) { "residual" } else { "holds" };
        format!("{}.{key}", self.table())
    }
}

/// A condition as it was written.
#[derive(Clone, Debug)]
pub(crate) struct ConditionSpec {
    pub(crate) name: String,
    /// Coordinates and where they are held.
    pub(crate) at: Vec<(String, HeldAt)>,
    pub(crate) holds: String,
    pub(crate) weight: Option<f64>,
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
    pub(crate) unit: Option<String>,
    pub(crate) weight: f64,
}
