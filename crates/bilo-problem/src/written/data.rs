//! Observed values as a user states them.

use crate::model::observation::Table;
use crate::written::points::PointsSpec;

/// Observed values as a user states them.
#[derive(Clone, Debug)]
pub struct DataSpec {
    pub(crate) choice: DataChoice,
    /// The first call that does not go with the choice.
    pub(crate) misplaced: Option<&'static str>,
}

/// Where observed values come from.
#[derive(Clone, Debug)]
pub(crate) enum DataChoice {
    Synthetic(SyntheticSpec),
    Drawn,
    Table(Table),
    /// The name of a file, and the values of coordinates that it lacks.
    File(String, Vec<(String, f64)>),
}

/// Synthetic data as they were written.
#[derive(Clone, Debug)]
pub(crate) struct SyntheticSpec {
    pub(crate) points: PointsSpec,
    pub(crate) noise: f64,
    /// What they are made of, if that is something else than what is observed.
    pub(crate) value: Option<String>,
    /// Standard deviation and length of the random field in that.
    pub(crate) field: Option<(f64, f64)>,
}

impl From<DataChoice> for DataSpec {
    fn from(choice: DataChoice) -> DataSpec {
        DataSpec { choice, misplaced: None }
    }
}

impl DataSpec {
    /// Made by the reference solver at the truth, with Gaussian noise of a standard deviation.
    pub fn synthetic(points: PointsSpec, noise: f64) -> DataSpec {
        DataChoice::Synthetic(SyntheticSpec { points, noise, value: None, field: None }).into()
    }

    /// Particles of a Poisson process, drawn at the truth.
    pub fn drawn() -> DataSpec {
        DataChoice::Drawn.into()
    }

    /// The values themselves.
    pub fn table(table: Table) -> DataSpec {
        DataChoice::Table(table).into()
    }

    /// From a file, found in the folder that [`crate::ProblemBuilder::build_in`] is told.
    pub fn file(name: &str) -> DataSpec {
        DataChoice::File(name.to_owned(), vec![]).into()
    }

    /// The value of a coordinate that a file lacks.
    pub fn hold(mut self, coordinate: &str, value: f64) -> DataSpec {
        match &mut self.choice {
            DataChoice::File(_, held) => held.push((coordinate.to_owned(), value)),
            _ => self.misplace("`hold` belongs to data from a file"),
        }
        self
    }

    /// What synthetic data are made of, in place of what is observed: an expression in which `field` is a Gaussian
    /// random field with this standard deviation and length.
    pub fn made_of(mut self, value: &str, field: Option<(f64, f64)>) -> DataSpec {
        match &mut self.choice {
            DataChoice::Synthetic(data) => (data.value, data.field) = (Some(value.to_owned()), field),
            _ => self.misplace("`made_of` belongs to synthetic data"),
        }
        self
    }

    fn misplace(&mut self, message: &'static str) {
        self.misplaced.get_or_insert(message);
    }
}
