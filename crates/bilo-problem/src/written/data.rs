//! Observed values as a user states them.

use crate::model::observation::Table;
use crate::words::words;
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
    File(FileSpec),
}

/// A file with data as it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileSpec {
    pub(crate) name: String,
    /// The values of coordinates that it lacks.
    pub(crate) at: Vec<(String, f64)>,
    pub(crate) layout: FileLayout,
}

/// How a file says what it says.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileLayout {
    /// What its columns are called: `value`, `sigma` or a coordinate, and the name in the file.
    pub(crate) columns: Vec<(String, String)>,
    /// What is subtracted from the column of a coordinate.
    pub(crate) origin: Vec<(String, f64)>,
    /// The rows to take: a column of the file, and what may stand there.
    pub(crate) rows: Vec<(String, Vec<String>)>,
    /// Whether rows in which a number is missing are left out.
    pub(crate) skip_missing: bool,
    /// Whether a comma stands before decimals.
    pub(crate) decimal_comma: bool,
}

/// What is done where a number is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Refuse,
    Skip,
}

words!(Missing { "error" => Refuse, "skip" => Skip });

/// What stands before decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decimal {
    Point,
    Comma,
}

words!(Decimal { "." => Point, "," => Comma });

impl FileLayout {
    /// The name in the file of a column by what it is.
    pub(crate) fn column<'a>(&'a self, role: &'a str) -> &'a str {
        self.columns.iter().find(|(own, _)| own == role).map_or(role, |(_, name)| name)
    }
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
        DataChoice::File(FileSpec { name: name.to_owned(), ..FileSpec::default() }).into()
    }

    /// The value of a coordinate that a file lacks.
    pub fn hold(mut self, coordinate: &str, value: f64) -> DataSpec {
        match &mut self.choice {
            DataChoice::File(file) => file.at.push((coordinate.to_owned(), value)),
            _ => self.misplace("`hold` belongs to data from a file"),
        }
        self
    }

    /// What a file calls a column: `value`, `sigma` or a coordinate, and the name in the file.
    pub fn column(mut self, role: &str, name: &str) -> DataSpec {
        match &mut self.choice {
            DataChoice::File(file) => file.layout.columns.push((role.to_owned(), name.to_owned())),
            _ => self.misplace("`column` belongs to data from a file"),
        }
        self
    }

    /// Takes only the rows of a table whose column says this; further calls for one column allow more.
    pub fn rows(mut self, column: &str, says: &str) -> DataSpec {
        match &mut self.choice {
            DataChoice::File(FileSpec { layout: FileLayout { rows, .. }, .. }) => {
                match rows.iter_mut().find(|(own, _)| own == column) {
                    Some((_, allowed)) => allowed.push(says.to_owned()),
                    None => rows.push((column.to_owned(), vec![says.to_owned()])),
                }
            }
            _ => self.misplace("`rows` belongs to data from a file"),
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
