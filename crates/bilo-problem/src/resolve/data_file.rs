//! Points and observed values from files.

use crate::diagnostic::{Diagnostic, Error, Origin, Result, Source, list};
use crate::files::csv::{Csv, Side};
use crate::files::folder::Folder;
use crate::model::Coordinate;
use crate::model::observation::Table;
use crate::npy::{Archive, Array};
use crate::written::data::FileLayout;
use bilo_jet::PointSource;
use std::path::PathBuf;

/// Most bytes of a file with data.
const MOST_BYTES: u64 = 1 << 32;

/// Name of the column of observed values.
const VALUE: &str = "value";
/// Name of the column of their standard deviations.
pub(crate) const SIGMA: &str = "sigma";
/// Name of the column that says of how many trials they are a part.
pub(crate) const TRIALS: &str = "trials";

/// How far outside the domain a coordinate may lie, relative to its length, and still count as
/// rounded: single precision.
const ROUNDING: f64 = 1e-6;

/// A data file as named in a problem.
pub(crate) struct DataFile<'a> {
    /// As written.
    pub(crate) name: &'a str,
    /// Relative names start from here.
    pub(crate) folder: Folder<'a>,
    /// Where it was named.
    pub(crate) origin: &'a Origin,
    /// All coordinates of the problem.
    pub(crate) coordinates: &'a [Coordinate],
    /// Those that are not in the file.
    pub(crate) held: &'a [Held],
    /// How it says what it says.
    pub(crate) layout: &'a FileLayout,
}

/// A coordinate that is not in a file and has the same value in all its rows.
pub(crate) struct Held {
    /// Number of the coordinate.
    pub(crate) coordinate: usize,
    pub(crate) value: f64,
    /// Where it was named; nowhere, if any place will do.
    pub(crate) origin: Option<Origin>,
}

impl Held {
    /// One that what is observed does not depend on.
    pub(crate) fn anywhere(coordinate: usize, coordinates: &[Coordinate]) -> Held {
        let Coordinate { lo, hi, .. } = coordinates[coordinate];
        Held { coordinate, value: 0.5 * (lo + hi), origin: None }
    }
}

/// The points of a file.
pub(crate) fn read_points(file: &DataFile<'_>) -> Result<Vec<Vec<f64>>> {
    let mut loaded = file.load(&file.free_names(), &[])?;
    loaded.limits(usize::MAX, &[])?;
    loaded.points(file)
}

/// The places of particles in a file, each counted once.
pub(crate) fn read_particles(file: &DataFile<'_>) -> Result<Table> {
    let coordinates = read_points(file)?;
    let values = vec![1.0; coordinates[0].len()];
    Ok(Table { coordinates, values, sigma: None })
}

/// The points and values of a file, and what else it says of each.
pub(crate) fn read_table(file: &DataFile<'_>, of_law: &str) -> Result<Table> {
    let (table, limits) = read_observed(file, of_law)?;
    limits.refuse()?;
    Ok(table)
}

/// The points, values and numbers of their law, standard deviations or another, of a file, and the limits of what could not be
/// measured.
pub(crate) fn read_observed(file: &DataFile<'_>, of_law: &str) -> Result<(Table, Limits)> {
    let mut required = file.free_names();
    required.push(file.layout.column(VALUE));
    let mut loaded = file.load(&required, &[file.layout.column(of_law)])?;
    let points = loaded.points(file)?;
    let values = loaded.take(required.len() - 1).unwrap_or_default();
    let sigma = loaded.take(required.len());
    loaded.check(required.len() - 1, &values, |v| finite(VALUE, v))?;
    if let Some(sigma) = &sigma {
        loaded.check(required.len(), sigma, |value| not_positive(of_law, value))?;
    }
    let limits = Limits(loaded.limits(required.len() - 1, &values)?);
    Ok((Table { coordinates: points, values, sigma }, limits))
}

/// Values written as `<0.15` or `>40`: the limit, the side, and where.
pub(crate) struct Limits(Vec<(f64, Side, Origin)>);

impl Limits {
    /// An error if there is one.
    pub(crate) fn refuse(&self) -> Result<()> {
        let Some((limit, side, origin)) = self.0.first() else { return Ok(()) };
        let side = if *side == Side::Below { "below" } else { "above" };
        let error =
            Diagnostic::new(format!("this says only that the value is {side} {limit:?}"), origin.clone());
        Err(error.help("write `likelihood = \"censored\"` for data beyond a limit of detection").into())
    }

    /// The one limit on a side, beside what is stated of it.
    pub(crate) fn on(&self, wanted: Side, stated: Option<f64>) -> Result<Option<f64>> {
        let mut found = stated;
        for (limit, side, origin) in &self.0 {
            match found {
                _ if *side != wanted => {}
                Some(known) if known != *limit => {
                    let message = format!("this limit is not {known:?}, as others are");
                    let help =
                        "make rows of each limit an observation of their own, told by a column (`rows`)";
                    return Err(Diagnostic::new(message, origin.clone()).help(help).into());
                }
                _ => found = Some(*limit),
            }
        }
        Ok(found)
    }
}

/// Why a number cannot be used, if it cannot.
pub(crate) fn finite(what: &str, value: f64) -> Option<String> {
    (!value.is_finite()).then(|| format!("`{what}` must be finite, found {value:?}"))
}

/// Why a number cannot be what has to be positive, if it cannot.
pub(crate) fn not_positive(what: &str, value: f64) -> Option<String> {
    let fine = value.is_finite() && value > 0.0;
    (!fine).then(|| format!("`{what}` must be positive, found {value:?}"))
}

/// Columns in the order asked for, and where their numbers were written.
struct Loaded {
    columns: Vec<Option<Vec<f64>>>,
    place: Box<dyn Fn(usize, usize) -> Origin>,
    /// What was written as `<0.15`, by column and row.
    limits: Vec<(usize, usize, Side)>,
    /// Whether a row has a place of its own.
    text: bool,
}

impl Loaded {
    /// The limits in the column of values; an error if there are any in another one.
    fn limits(&self, values_in: usize, values: &[f64]) -> Result<Vec<(f64, Side, Origin)>> {
        let of_value = |&(column, row, side): &(usize, usize, Side)| {
            let origin = (self.place)(column, row);
            match column == values_in {
                true => Ok((values[row], side, origin)),
                false => Err(Diagnostic::new("only a value may be beyond a limit", origin).into()),
            }
        };
        self.limits.iter().map(of_value).collect()
    }

    fn take(&mut self, column: usize) -> Option<Vec<f64>> {
        self.columns.get_mut(column)?.take()
    }

    fn check(&self, column: usize, values: &[f64], why_not: impl Fn(f64) -> Option<String>) -> Result<()> {
        for (row, value) in values.iter().enumerate() {
            if let Some(why) = why_not(*value) {
                let why = if self.text { why } else { format!("row {}: {why}", row + 1) };
                return Err(Diagnostic::new(why, (self.place)(column, row)).into());
            }
        }
        Ok(())
    }

    fn points(&mut self, file: &DataFile<'_>) -> Result<Vec<Vec<f64>>> {
        let rows = self.columns.iter().flatten().map(Vec::len).next().unwrap_or(0);
        if rows == 0 {
            let message = format!("{} has no rows", file.name);
            return Err(file.error(message).into());
        }
        let mut columns = Vec::new();
        let mut free = 0;
        for (number, coordinate) in file.coordinates.iter().enumerate() {
            if let Some(held) = file.held.iter().find(|held| held.coordinate == number) {
                columns.push(vec![held.value; rows]);
                continue;
            }
            let mut column = self.take(free).unwrap_or_default();
            let origin = file.layout.origin.iter().find(|(name, _)| *name == coordinate.name);
            let origin = origin.map_or(0.0, |(_, origin)| *origin);
            column.iter_mut().for_each(|v| *v = coordinate.without_rounding(*v - origin));
            self.check(free, &column, |v| coordinate.excludes(v))?;
            columns.push(column);
            free += 1;
        }
        Ok(columns)
    }
}

impl Coordinate {
    fn without_rounding(&self, value: f64) -> f64 {
        let inside = value.max(self.lo).min(self.hi);
        if (value - inside).abs() <= ROUNDING * (self.hi - self.lo) { inside } else { value }
    }
}

impl DataFile<'_> {
    fn error(&self, message: String) -> Diagnostic {
        Diagnostic::new(message, self.origin.clone())
    }

    /// Names of the coordinates that are in the file.
    fn free_names(&self) -> Vec<&str> {
        let free = |i: &usize| !self.held.iter().any(|held| held.coordinate == *i);
        let name = |i: usize| self.layout.column(&self.coordinates[i].name);
        (0..self.coordinates.len()).filter(free).map(name).collect()
    }

    /// Refuses coordinates that are held and among the names in the file: they have two values.
    fn check_held(&self, names: &[String], (article, what): (&str, &str)) -> Result<()> {
        for Held { coordinate, origin, .. } in self.held {
            let Some(origin) = origin else { continue };
            let name = self.layout.column(&self.coordinates[*coordinate].name);
            if names.iter().any(|found| found == name) {
                let message = format!("`{name}` is {article} {what} of {}", self.name);
                let help = format!("leave it out of `at`, or drop the {what}");
                return Err(Diagnostic::new(message, origin.clone()).help(help).into());
            }
        }
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.folder.path(self.name)
    }

    fn load(&self, required: &[&str], optional: &[&str]) -> Result<Loaded> {
        let path = self.path();
        let bytes = self
            .folder
            .read_up_to(self.name, MOST_BYTES)
            .map_err(|e| self.error(format!("cannot read {}: {e}", path.display())))?;
        if !self.layout.rows.is_empty() && path.extension().is_none_or(|extension| extension != "csv") {
            let error =
                self.error(format!("`rows` chooses rows of a table in text, and {} is none", self.name));
            return Err(error.help("write the table as `.csv`").into());
        }
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        match extension {
            "csv" => self.load_csv(bytes, required, optional),
            "npy" => self.load_npy(&bytes, required, optional),
            "npz" => self.load_npz(bytes, required, optional),
            _ => {
                let error = self.error(format!("{} has no known format", self.name));
                Err(error.help("choose from `.csv`, `.npy`, `.npz`").into())
            }
        }
    }

    fn load_csv(&self, bytes: Vec<u8>, required: &[&str], optional: &[&str]) -> Result<Loaded> {
        let text = String::from_utf8(bytes).map_err(|_| self.error(format!("{} is not text", self.name)))?;
        let source = Source::new(self.path().display().to_string(), text);
        let mut csv = Csv::read(source, required, optional, self.layout)?;
        self.check_held(&csv.names, ("a", "column"))?;
        let (columns, limits) = (std::mem::take(&mut csv.columns), std::mem::take(&mut csv.limits));
        Ok(Loaded { columns, limits, place: Box::new(move |column, row| csv.place(column, row)), text: true })
    }

    fn load_npy(&self, bytes: &[u8], required: &[&str], optional: &[&str]) -> Result<Loaded> {
        let array = Array::from_npy(bytes).map_err(|why| self.error(format!("{}: {why}", self.name)))?;
        let most = required.len() + optional.len();
        let width = match array.shape[..] {
            [_, width] if (required.len()..=most).contains(&width) => width,
            _ => {
                let mut columns = list(required.iter().copied());
                if !optional.is_empty() {
                    columns = format!("{columns} and, if given, {}", list(optional.iter().copied()));
                }
                let message = format!("{} has shape {:?}", self.name, array.shape);
                return Err(self.error(message).help(format!("it must have the columns {columns}")).into());
            }
        };
        let columns = (0..most).map(|c| (c < width).then(|| array.column(c))).collect();
        Ok(self.binary(columns))
    }

    fn load_npz(&self, bytes: Vec<u8>, required: &[&str], optional: &[&str]) -> Result<Loaded> {
        let mut archive = Archive::new(bytes).map_err(|why| self.error(format!("{}: {why}", self.name)))?;
        let names = archive.names();
        self.check_held(&names, ("an", "array"))?;
        let mut arrays = Vec::new();
        for name in required {
            let array = self.member(&mut archive, name)?;
            arrays.push(Some(array.ok_or_else(|| {
                let message = format!("there is no array `{name}` in {}", self.name);
                self.error(message).label(format!("found {}", list(names.iter().map(String::as_str))))
            })?));
        }
        for name in optional {
            arrays.push(self.member(&mut archive, name)?);
        }
        let all: Vec<&str> = required.iter().chain(optional).copied().collect();
        let value = required.iter().zip(&arrays).find(|(name, _)| **name == self.layout.column(VALUE));
        let over_axes = value.and_then(|(_, array)| array.as_ref()).is_some_and(|v| v.shape.len() > 1);
        let columns = if over_axes { self.tensor(&all, arrays, required)? } else { self.flat(&all, arrays)? };
        Ok(self.binary(columns))
    }

    fn binary(&self, columns: Vec<Option<Vec<f64>>>) -> Loaded {
        let origin = self.origin.clone();
        Loaded { columns, limits: vec![], place: Box::new(move |_, _| origin.clone()), text: false }
    }

    fn member(&self, archive: &mut Archive, name: &str) -> Result<Option<Array>> {
        let damaged = |why| self.error(format!("array `{name}` of {}: {why}", self.name)).into();
        archive.array(name).map_err(damaged)
    }

    /// Arrays of one dimension and one length.
    fn flat(&self, names: &[&str], arrays: Vec<Option<Array>>) -> Result<Vec<Option<Vec<f64>>>> {
        let rows = arrays.iter().flatten().next().map_or(0, |a| a.data.len());
        for (name, array) in names.iter().zip(&arrays) {
            if let Some(array) = array
                && array.shape != [rows]
            {
                return Err(self.misshapen(name, &array.shape, &[rows]));
            }
        }
        Ok(arrays.into_iter().map(|array| array.map(|a| a.data)).collect())
    }

    /// Values of shape (len(x), len(t), ..) over axes of one dimension.
    fn tensor(
        &self,
        names: &[&str],
        arrays: Vec<Option<Array>>,
        required: &[&str],
    ) -> Result<Vec<Option<Vec<f64>>>> {
        let axes_count = required.len() - 1;
        let mut axes = Vec::new();
        for (name, array) in names.iter().zip(arrays.iter().flatten()).take(axes_count) {
            if array.shape.len() != 1 {
                return Err(self.misshapen(name, &array.shape, &[array.data.len()]));
            }
            axes.push(array.data.clone());
        }
        let lengths: Vec<usize> = axes.iter().map(Vec::len).collect();
        for (name, array) in names.iter().zip(&arrays).skip(axes_count) {
            if let Some(array) = array
                && array.shape != lengths
            {
                return Err(self.misshapen(name, &array.shape, &lengths));
            }
        }
        let rest = arrays.into_iter().skip(axes_count).map(|array| array.map(|a| a.data));
        let points = PointSource::grid(axes);
        Ok(points.columns(0..points.len()).into_iter().map(Some).chain(rest).collect())
    }

    fn misshapen(&self, name: &str, found: &[usize], wanted: &[usize]) -> Error {
        let message = format!("array `{name}` of {} has shape {found:?}, not {wanted:?}", self.name);
        let help = "give arrays of one length, or `value` over one-dimensional axes, one for each coordinate";
        self.error(message).help(help).into()
    }
}
