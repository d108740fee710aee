//! Points by the numbers of coordinates.

use crate::diagnostic::{Diagnostic, Error, Result, suggest};
use crate::evaluate::points::place_at;
use crate::files::folder::Folder;
use crate::model::domain::{Constant, Coordinate, check_columns};
use crate::model::formula::Formula;
use crate::model::points::{Layout, Points, Renewal};
use crate::model::unknown::Unknown;
use crate::resolve::data_file::{DataFile, Held, read_points};
use crate::tree::Places;
use crate::written::data::FileLayout;
use crate::written::points::{HeldAt, LayoutSpec, PointsSpec};

/// Most points of one set; more is a slip of the keyboard and would exhaust the memory.
const MOST_POINTS: usize = 10_000_000;
/// Most points of a Sobol set: the length of the tabulated sequence.
const MOST_SOBOL: usize = 1 << 16;

/// What points are stated in terms of.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) coordinates: &'a [Coordinate],
    pub(crate) constants: &'a [Constant],
    pub(crate) unknowns: &'a [Unknown],
    pub(crate) places: &'a Places,
    pub(crate) folder: Folder<'a>,
}

impl Ground<'_> {
    /// The coordinates that `at` below a path holds at one value each, beside a file or in a picture.
    pub(crate) fn held(&self, at: &[(String, f64)], path: &str) -> Result<Vec<Held>> {
        at.iter().map(|(name, value)| self.hold(name, *value, &format!("{path}.at.{name}"))).collect()
    }

    fn hold(&self, name: &str, value: f64, path: &str) -> Result<Held> {
        let coordinate = self.coordinates.iter().position(|c| c.name == *name);
        let coordinate = coordinate.ok_or_else(|| {
            let error = self.places.error_at_key(path, format!("unknown coordinate `{name}`"));
            error.help(suggest(name, self.coordinates.iter().map(|c| c.name.as_str())))
        })?;
        match self.coordinates[coordinate].excludes(value) {
            Some(why) => Err(self.places.error(path, why).into()),
            None => Ok(Held { coordinate, value, origin: Some(self.places.key(path)) }),
        }
    }
}

/// The points that are stated at a path, checked.
pub(crate) fn resolve(spec: PointsSpec, ground: Ground<'_>, path: &str) -> Result<Points> {
    let Ground { coordinates, places, folder, .. } = ground;
    let resolver = Resolver { ground, folder, coordinates, path, places };
    let (at, moving) = resolver.at(spec.at)?;
    let from_file = matches!(spec.layout, LayoutSpec::File(_));
    let layout = resolver.layout(spec.layout, &at)?;
    let filter = spec.filter.map(|filter| places.formula(&format!("{path}.where"), &filter)).transpose()?;
    resolver.renewal(spec.renewal, &layout)?;
    // The columns of a file have the coordinates that are held beside it.
    let at = if from_file { vec![] } else { at };
    Ok(Points { layout, at, moving, filter, renewal: spec.renewal })
}

/// The held coordinates with their values, and those that follow unknowns.
type HeldCoordinates = (Vec<(usize, Vec<f64>)>, Vec<(usize, Formula)>);

struct Resolver<'a> {
    ground: Ground<'a>,
    folder: Folder<'a>,
    coordinates: &'a [Coordinate],
    path: &'a str,
    places: &'a Places,
}

impl Resolver<'_> {
    fn error(&self, key: &str, message: String) -> Diagnostic {
        let origin = self.places.get(&format!("{}{key}", self.path));
        let message = if origin.is_none() { format!("{}: {message}", self.path) } else { message };
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

    fn at(&self, at: Vec<(String, HeldAt)>) -> Result<HeldCoordinates> {
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
    fn held(&self, held: HeldAt, key: &str) -> Result<(Vec<f64>, Option<Formula>)> {
        let place = match held {
            HeldAt::Values(values) => return Ok((values, None)),
            HeldAt::Place(place) => self.places.formula(&format!("{}{key}", self.path), &place)?,
        };
        let Ground { constants, unknowns, .. } = self.ground;
        let guess: Vec<f64> = unknowns.iter().map(|unknown| unknown.guess).collect();
        let value = place_at(&place, constants, unknowns, &guess)?;
        let moves = place.names_any(unknowns);
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
            LayoutSpec::File(name) => Ok(Layout::List(self.file(&name, at)?)),
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

    /// The points of a file, the coordinates that it lacks held.
    fn file(&self, name: &str, at: &[(usize, Vec<f64>)]) -> Result<Vec<Vec<f64>>> {
        let mut held = vec![];
        for (coordinate, values) in at {
            let key = format!("{}.at.{}", self.path, self.coordinates[*coordinate].name);
            let [value] = values[..] else {
                let message = "beside a `file` a coordinate is held at one value";
                return Err(self.places.error(&key, message).into());
            };
            held.push(Held { coordinate: *coordinate, value, origin: Some(self.places.key(&key)) });
        }
        let origin = &self.places.get(&format!("{}.file", self.path));
        read_points(&DataFile {
            name,
            folder: self.folder,
            origin,
            coordinates: self.coordinates,
            held: &held,
            layout: &FileLayout::default(),
        })
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
