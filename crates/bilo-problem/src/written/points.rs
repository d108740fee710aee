//! Points as a user states them: by the names of coordinates.

use crate::diagnostic::{Diagnostic, Error, Origin, Result, suggest};
use crate::evaluate::points::place_at;
use crate::model::{Constant, Coordinate, Formula, Layout, Points, Renewal, Unknown};
use crate::tree::Places;

/// Most points of one set; more is a slip of the keyboard and would exhaust the memory.
pub(crate) const MOST_POINTS: usize = 10_000_000;
/// Most points of a Sobol set: the length of the tabulated sequence.
pub(crate) const MOST_SOBOL: usize = 1 << 16;

/// A choice of points by the names of coordinates.
///
/// ```
/// use bilo::problem::PointsSpec;
///
/// let inside = PointsSpec::grid([("x", 51), ("t", 51)]).keep("x != 0.5");
/// let at_both_ends = PointsSpec::random(100).hold("x", [0.0, 1.0]);
/// let one_point = PointsSpec::grid([]).hold("x", [0.5]).hold("t", [1.0]);
/// let at_the_source = PointsSpec::grid([]).follow("x", "z");
/// ```
#[derive(Clone, Debug)]
pub struct PointsSpec {
    layout: LayoutSpec,
    at: Vec<(String, Held)>,
    filter: Option<Written>,
    renewal: Option<Renewal>,
}

/// Where a coordinate is held.
#[derive(Clone, Debug)]
enum Held {
    Values(Vec<f64>),
    Place(Written),
}

/// What points are stated in terms of.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) coordinates: &'a [Coordinate],
    pub(crate) constants: &'a [Constant],
    pub(crate) unknowns: &'a [Unknown],
}

/// An expression from Rust or from a file.
#[derive(Clone, Debug)]
enum Written {
    Text(String),
    Formula(Formula),
}

impl Written {
    /// As a formula that errors call by its path.
    fn formula(self, path: &str) -> Result<Formula> {
        match self {
            Written::Formula(formula) => Ok(formula),
            Written::Text(text) => Formula::parse(&text, Origin::text(path, &text)),
        }
    }
}

#[derive(Clone, Debug)]
enum LayoutSpec {
    Grid(Vec<(String, usize)>),
    Random(usize),
    Sobol(usize),
    List(Vec<Vec<f64>>),
}

impl PointsSpec {
    /// A tensor grid: coordinates and their numbers of points.
    pub fn grid<'a>(counts: impl IntoIterator<Item = (&'a str, usize)>) -> PointsSpec {
        let counts = counts.into_iter().map(|(name, n)| (name.to_string(), n)).collect();
        PointsSpec::new(LayoutSpec::Grid(counts))
    }

    /// So many uniformly random points.
    pub fn random(count: usize) -> PointsSpec {
        PointsSpec::new(LayoutSpec::Random(count))
    }

    /// So many points of a scrambled Sobol sequence.
    pub fn sobol(count: usize) -> PointsSpec {
        PointsSpec::new(LayoutSpec::Sobol(count))
    }

    /// The points themselves, one column per coordinate in the problem's order.
    pub fn list(columns: Vec<Vec<f64>>) -> PointsSpec {
        PointsSpec::new(LayoutSpec::List(columns))
    }

    fn new(layout: LayoutSpec) -> PointsSpec {
        PointsSpec { layout, at: Vec::new(), filter: None, renewal: None }
    }

    /// Holds a coordinate at one or several values.
    pub fn hold(mut self, coordinate: &str, values: impl Into<Vec<f64>>) -> PointsSpec {
        self.at.push((coordinate.to_string(), Held::Values(values.into())));
        self
    }

    /// Holds a coordinate of an equation at an expression of constants and scalar unknowns: as these move,
    /// so do the points.
    pub fn follow(mut self, coordinate: &str, place: &str) -> PointsSpec {
        self.at.push((coordinate.to_string(), Held::Place(Written::Text(place.to_string()))));
        self
    }

    pub(crate) fn follow_formula(mut self, coordinate: &str, place: Formula) -> PointsSpec {
        self.at.push((coordinate.to_string(), Held::Place(Written::Formula(place))));
        self
    }

    /// Keeps only the points where a condition of coordinates, constants and scalar unknowns, at their
    /// guess, holds.
    pub fn keep(mut self, condition: &str) -> PointsSpec {
        self.filter = Some(Written::Text(condition.to_string()));
        self
    }

    /// Draws other points every so many steps of training; a `batch` of them at a time if that is stated.
    pub fn renew(mut self, every: usize, batch: Option<usize>) -> PointsSpec {
        self.renewal = Some(Renewal { every, batch });
        self
    }

    pub(crate) fn keep_formula(mut self, formula: Formula) -> PointsSpec {
        self.filter = Some(Written::Formula(formula));
        self
    }

    /// The points by the numbers of coordinates, checked; `path` is where they are stated.
    pub(crate) fn resolve(self, ground: Ground<'_>, path: &str, places: &Places) -> Result<Points> {
        let resolver = Resolver { ground, coordinates: ground.coordinates, path, places };
        let (at, moving) = resolver.at(self.at)?;
        let layout = resolver.layout(self.layout, &at)?;
        let filter = self.filter.map(|filter| filter.formula(&format!("{path}.where"))).transpose()?;
        resolver.renewal(self.renewal, &layout)?;
        Ok(Points { layout, at, moving, filter, renewal: self.renewal })
    }
}

/// The held coordinates with their values, and those that follow unknowns.
type HeldCoordinates = (Vec<(usize, Vec<f64>)>, Vec<(usize, Formula)>);

struct Resolver<'a> {
    ground: Ground<'a>,
    coordinates: &'a [Coordinate],
    path: &'a str,
    places: &'a Places,
}

impl Resolver<'_> {
    fn error(&self, key: &str, message: String) -> Diagnostic {
        let mut message = message;
        let origin = self.places.get(&format!("{}{key}", self.path));
        if origin.is_none() {
            message = format!("{}: {message}", self.path);
        }
        Diagnostic::new(message, origin)
    }

    fn number_of(&self, name: &str, key: &str) -> Result<usize> {
        let found = self.coordinates.iter().position(|c| c.name == name);
        found.ok_or_else(|| {
            let mut error = self.error("", format!("unknown coordinate `{name}`"));
            let key_origin = self.places.key(&format!("{}.{key}.{name}", self.path));
            if !key_origin.is_none() {
                error.origin = key_origin;
            }
            error.help(suggest(name, self.coordinates.iter().map(|c| c.name.as_str()))).into()
        })
    }

    fn at(&self, at: Vec<(String, Held)>) -> Result<HeldCoordinates> {
        let (mut held, mut moving) = (Vec::new(), Vec::new());
        for (name, place) in at {
            let number = self.number_of(&name, "at")?;
            let key = format!(".at.{name}");
            let (values, place) = self.held(place, &key)?;
            if values.is_empty() {
                return Err(self.error(&key, format!("`at` gives no value for `{name}`")).into());
            }
            for value in &values {
                if let Some(why) = self.coordinates[number].excludes(*value) {
                    let when = if place.is_some() { "at the guess of the unknowns " } else { "" };
                    return Err(self.error(&key, format!("{when}{why}")).into());
                }
            }
            held.push((number, values));
            moving.extend(place.map(|place| (number, place)));
        }
        held.sort_by_key(|(number, _)| *number);
        moving.sort_by_key(|(number, _)| *number);
        self.once(held.iter().map(|(number, _)| *number), "at")?;
        Ok((held, moving))
    }

    /// The values of a held coordinate at the guess, and the expression behind them if it names an unknown.
    fn held(&self, held: Held, key: &str) -> Result<(Vec<f64>, Option<Formula>)> {
        let place = match held {
            Held::Values(values) => return Ok((values, None)),
            Held::Place(place) => place.formula(&format!("{}{key}", self.path))?,
        };
        let Ground { constants, unknowns, .. } = self.ground;
        let guess: Vec<f64> = unknowns.iter().map(|unknown| unknown.guess).collect();
        let value = place_at(&place, constants, unknowns, &guess)?;
        let moves = names_unknown(&place, unknowns).is_some();
        Ok((vec![value], moves.then_some(place)))
    }

    fn once(&self, numbers: impl Iterator<Item = usize>, key: &str) -> Result<()> {
        let mut last = None;
        for number in numbers {
            if last == Some(number) {
                let name = &self.coordinates[number].name;
                return Err(self.error("", format!("`{name}` occurs twice in `{key}`")).into());
            }
            last = Some(number);
        }
        Ok(())
    }

    fn layout(&self, layout: LayoutSpec, at: &[(usize, Vec<f64>)]) -> Result<Layout> {
        let held: usize = at.iter().map(|(_, values)| values.len()).fold(1, usize::saturating_mul);
        match layout {
            LayoutSpec::Grid(counts) => self.grid(counts, at, held),
            LayoutSpec::Random(n) => {
                self.scattered("random", n, MOST_POINTS, at, held)?;
                Ok(Layout::Random(n))
            }
            LayoutSpec::Sobol(n) => {
                self.scattered("sobol", n, MOST_SOBOL, at, held)?;
                Ok(Layout::Sobol(n))
            }
            LayoutSpec::List(columns) => self.list(columns, at),
        }
    }

    fn grid(&self, counts: Vec<(String, usize)>, at: &[(usize, Vec<f64>)], held: usize) -> Result<Layout> {
        let mut grid = Vec::new();
        for (name, n) in counts {
            let number = self.number_of(&name, "grid")?;
            let key = format!(".grid.{name}");
            if n < 2 {
                let error =
                    self.error(&key, format!("a grid needs at least 2 points of `{name}`, found {n}"));
                return Err(error.help(format!("hold it instead: `at = {{ {name} = ... }}`")).into());
            }
            if at.iter().any(|(held, _)| *held == number) {
                let message = format!("`{name}` is in `grid` and in `at`");
                return Err(self.error(&key, message).help("leave it out of one of them").into());
            }
            grid.push((number, n));
        }
        grid.sort_unstable();
        self.once(grid.iter().map(|(number, _)| *number), "grid")?;
        self.covered(&grid, at)?;
        let total = grid.iter().map(|(_, n)| *n).fold(held, usize::saturating_mul);
        self.not_too_many(total)?;
        Ok(Layout::Grid(grid))
    }

    /// Points can be drawn afresh if they are drawn at all.
    fn renewal(&self, renewal: Option<Renewal>, layout: &Layout) -> Result<()> {
        let Some(Renewal { every, batch }) = renewal else { return Ok(()) };
        if every == 0 || batch == Some(0) {
            let key = if every == 0 { "resample" } else { "batch" };
            return Err(self
                .error(&format!(".{key}"), format!("`{key}` must be at least 1, found 0"))
                .into());
        }
        if batch.is_none() && matches!(layout, Layout::Grid(_) | Layout::List(_)) {
            let error = self.error(".resample", "these points are the same at every draw".to_owned());
            return Err(error
                .help("say how many of them to take at a time, `batch = 1000`, or draw them: `random = 1000`")
                .into());
        }
        Ok(())
    }

    fn covered(&self, grid: &[(usize, usize)], at: &[(usize, Vec<f64>)]) -> Result<()> {
        for (number, coordinate) in self.coordinates.iter().enumerate() {
            let in_grid = grid.iter().any(|(c, _)| *c == number);
            if !in_grid && !at.iter().any(|(c, _)| *c == number) {
                let message = format!("the points say nothing about `{}`", coordinate.name);
                let help = format!(
                    "give it a number of points, `grid = {{ {0} = 51 }}`, or hold it, `at = {{ {0} = ... }}`",
                    coordinate.name
                );
                return Err(self.error("", message).help(help).into());
            }
        }
        Ok(())
    }

    fn scattered(
        &self,
        key: &str,
        n: usize,
        most: usize,
        at: &[(usize, Vec<f64>)],
        held: usize,
    ) -> Result<()> {
        if n < 1 || n > most {
            let message = format!("`{key}` must be from 1 to {most}, found {n}");
            return Err(self.error(&format!(".{key}"), message).into());
        }
        if at.len() == self.coordinates.len() {
            let message = format!("`at` holds every coordinate, nothing is left for `{key}`");
            return Err(self.error(&format!(".{key}"), message).into());
        }
        self.not_too_many(n.saturating_mul(held))
    }

    fn not_too_many(&self, total: usize) -> Result<()> {
        if total > MOST_POINTS {
            let message = format!("these are {total} points, more than the {MOST_POINTS} allowed");
            return Err(self.error("", message).into());
        }
        Ok(())
    }

    fn list(&self, columns: Vec<Vec<f64>>, at: &[(usize, Vec<f64>)]) -> Result<Layout> {
        if let Some((number, _)) = at.first() {
            let name = &self.coordinates[*number].name;
            return Err(self.error("", format!("`{name}` is held and listed")).into());
        }
        check_columns(&columns, self.coordinates).map_err(|why| Error::from(self.error("", why)))?;
        Ok(Layout::List(columns))
    }
}

/// The first unknown that an expression names.
pub(crate) fn names_unknown<'a>(place: &Formula, unknowns: &'a [Unknown]) -> Option<&'a str> {
    let names = place.ast.names();
    let mut unknowns = unknowns.iter().map(|unknown| unknown.name.as_str());
    unknowns.find(|unknown| names.iter().any(|(name, _)| name == unknown))
}

/// Whether the columns are points of the domain, one column per coordinate; else why not.
pub(crate) fn check_columns(
    columns: &[Vec<f64>],
    coordinates: &[Coordinate],
) -> std::result::Result<(), String> {
    if columns.len() != coordinates.len() {
        let (found, wanted) = (columns.len(), coordinates.len());
        return Err(format!("points need one column per coordinate, {wanted}, found {found}"));
    }
    let rows = columns.first().map_or(0, Vec::len);
    if rows == 0 {
        return Err("there are no points".to_string());
    }
    for (column, coordinate) in columns.iter().zip(coordinates) {
        if column.len() != rows {
            let name = &coordinate.name;
            return Err(format!("the column of `{name}` has {} rows, another {rows}", column.len()));
        }
        for (row, value) in column.iter().enumerate() {
            if let Some(why) = coordinate.excludes(*value) {
                return Err(format!("point {}: {why}", row + 1));
            }
        }
    }
    Ok(())
}

impl Coordinate {
    /// Why a value is not in the domain, if it is not.
    pub(crate) fn excludes(&self, value: f64) -> Option<String> {
        if value >= self.lo && value <= self.hi {
            return None;
        }
        let (name, lo, hi) = (&self.name, self.lo, self.hi);
        Some(format!("{name} = {value:?} is outside the domain [{lo:?}, {hi:?}]"))
    }
}
