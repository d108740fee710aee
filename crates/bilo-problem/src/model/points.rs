//! Sets of points.

use crate::model::formula::Formula;

/// A set of points of the domain, generated when a run starts (random ones from its seed).
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// How the free coordinates are laid out.
    pub layout: Layout,
    /// Coordinates (by number) that are held at one or several values.
    pub at: Vec<(usize, Vec<f64>)>,
    /// Those of them that follow unknowns, with the expression whose value at the guess stands in `at`.
    pub moving: Vec<(usize, Formula)>,
    /// Keeps only the points where this is true (nonzero); unknowns stand for their guess.
    pub filter: Option<Formula>,
    /// Whether training takes other points as it goes on.
    pub renewal: Option<Renewal>,
}

/// Training takes other points as it goes on, so that none is learnt by heart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// Steps between two draws.
    pub every: usize,
    /// So many of the points at a time, spread over all of them; none to draw all of them afresh.
    pub batch: Option<usize>,
}

/// How points are laid out over the coordinates that are not held.
#[derive(Clone, Debug, PartialEq)]
pub enum Layout {
    /// Tensor grid: (coordinate, count), ends included (the upper end of a periodic one left out).
    Grid(Vec<(usize, usize)>),
    /// So many uniformly random points.
    Random(usize),
    /// So many points of a scrambled Sobol sequence.
    Sobol(usize),
    /// The points themselves, one column per coordinate.
    List(Vec<Vec<f64>>),
}
