//! The domain: coordinates, and named numbers.

/// One coordinate of the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinate {
    /// Its name in expressions.
    pub name: String,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// Whether it is the time-like one.
    pub time: bool,
    /// Whether the two ends are the same point (space only).
    pub periodic: bool,
    /// Its unit.
    pub unit: Option<String>,
}

/// A named number.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name in expressions.
    pub name: String,
    /// Its value.
    pub value: f64,
}

impl Coordinate {
    /// A space coordinate.
    pub fn space(name: &str, lo: f64, hi: f64) -> Coordinate {
        Coordinate { name: name.to_string(), lo, hi, time: false, periodic: false, unit: None }
    }

    /// The time.
    pub fn time(name: &str, lo: f64, hi: f64) -> Coordinate {
        Coordinate { time: true, ..Coordinate::space(name, lo, hi) }
    }

    /// States its unit.
    pub fn unit(self, unit: &str) -> Coordinate {
        Coordinate { unit: Some(unit.to_owned()), ..self }
    }

    /// Makes the two ends the same point.
    pub fn periodic(self) -> Coordinate {
        Coordinate { periodic: true, ..self }
    }

    /// `count` equidistant values, both ends included; the upper end of a periodic coordinate is
    /// its lower end and left out.
    pub fn axis(&self, count: usize) -> Vec<f64> {
        let cells = if self.periodic { count } else { count.saturating_sub(1).max(1) };
        (0..count).map(|i| self.at_fraction(i as f64 / cells as f64)).collect()
    }

    /// The lower end at 0, the upper end (to the bit) at 1.
    pub fn at_fraction(&self, fraction: f64) -> f64 {
        self.lo * (1.0 - fraction) + self.hi * fraction
    }

    /// Why a value is not in the domain, if it is not.
    pub(crate) fn excludes(&self, value: f64) -> Option<String> {
        if value >= self.lo && value <= self.hi {
            return None;
        }
        let (name, lo, hi) = (&self.name, self.lo, self.hi);
        Some(format!("{name} = {value:?} is outside the domain [{lo:?}, {hi:?}]"))
    }
}

/// The coordinates that the reference solver divides into cells: those of space, or time if there is no other.
pub fn divided(coordinates: &[Coordinate]) -> Vec<usize> {
    let space: Vec<usize> = (0..coordinates.len()).filter(|&c| !coordinates[c].time).collect();
    if space.is_empty() { (0..coordinates.len()).collect() } else { space }
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
