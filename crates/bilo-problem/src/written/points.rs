//! Points as a user states them: by the names of coordinates.

use crate::model::points::Renewal;

/// A choice of points by the names of coordinates.
///
/// ```
/// use bilo_problem::PointsSpec;
///
/// let inside = PointsSpec::grid([("x", 51), ("t", 51)]).keep("x != 0.5");
/// let at_both_ends = PointsSpec::random(100).hold("x", [0.0, 1.0]);
/// let one_point = PointsSpec::grid([]).hold("x", [0.5]).hold("t", [1.0]);
/// let at_the_source = PointsSpec::grid([]).follow("x", "z");
/// ```
#[derive(Clone, Debug)]
pub struct PointsSpec {
    pub(crate) layout: LayoutSpec,
    pub(crate) at: Vec<(String, HeldAt)>,
    pub(crate) filter: Option<String>,
    pub(crate) renewal: Option<Renewal>,
}

/// Where a coordinate is held.
#[derive(Clone, Debug)]
pub(crate) enum HeldAt {
    Values(Vec<f64>),
    /// An expression that may follow unknowns.
    Place(String),
}

/// How points are laid out.
#[derive(Clone, Debug)]
pub(crate) enum LayoutSpec {
    Grid(Vec<(String, usize)>),
    Random(usize),
    Sobol(usize),
    List(Vec<Vec<f64>>),
    /// The name of a file; what it lacks is held.
    File(String),
}

impl PointsSpec {
    /// A tensor grid: coordinates and their numbers of points.
    pub fn grid<'a>(counts: impl IntoIterator<Item = (&'a str, usize)>) -> PointsSpec {
        let counts = counts.into_iter().map(|(name, n)| (name.to_string(), n)).collect();
        PointsSpec::new(LayoutSpec::Grid(counts))
    }

    /// Whether something is said of a coordinate: a grid or list has it, or it is held.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let laid_out = match &self.layout {
            LayoutSpec::Grid(counts) => counts.iter().any(|(other, _)| other == name),
            LayoutSpec::Random(_) | LayoutSpec::Sobol(_) => false,
            LayoutSpec::List(_) | LayoutSpec::File(_) => true,
        };
        laid_out || self.at.iter().any(|(other, _)| other == name)
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

    /// The points of a file, found in the folder that [`crate::ProblemBuilder::build_in`] is told; coordinates that
    /// it lacks are held.
    pub fn file(name: &str) -> PointsSpec {
        PointsSpec::new(LayoutSpec::File(name.to_owned()))
    }

    fn new(layout: LayoutSpec) -> PointsSpec {
        PointsSpec { layout, at: Vec::new(), filter: None, renewal: None }
    }

    /// Holds a coordinate at one or several values.
    pub fn hold(mut self, coordinate: &str, values: impl Into<Vec<f64>>) -> PointsSpec {
        self.at.push((coordinate.to_string(), HeldAt::Values(values.into())));
        self
    }

    /// Holds a coordinate of an equation at an expression of constants and scalar unknowns: as these move,
    /// so do the points.
    pub fn follow(mut self, coordinate: &str, place: &str) -> PointsSpec {
        self.at.push((coordinate.to_string(), HeldAt::Place(place.to_string())));
        self
    }

    /// Keeps only the points where a condition of coordinates, constants and scalar unknowns, at their
    /// guess, holds.
    pub fn keep(mut self, condition: &str) -> PointsSpec {
        self.filter = Some(condition.to_string());
        self
    }

    /// Draws other points every so many steps of training; a `batch` of them at a time if that is stated.
    pub fn renew(mut self, every: usize, batch: Option<usize>) -> PointsSpec {
        self.renewal = Some(Renewal { every, batch });
        self
    }
}
