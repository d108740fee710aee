//! Where equations hold, if that is not stated.

use super::condition::Face;
use crate::model::domain::Coordinate;
use crate::written::points::{HeldAt, PointsSpec};

/// Points along each of one, two or more coordinates.
const ALONG: [usize; 4] = [201, 51, 17, 9];

/// Points on grids. Where two faces with conditions meet these need not agree with each other, nor with the equation: such
/// places are left out.
pub(super) struct Automatic<'a> {
    pub(super) coordinates: &'a [Coordinate],
    /// The faces that have conditions.
    pub(super) faces: &'a [Face],
}

impl Automatic<'_> {
    /// All over the domain.
    pub(super) fn inside(&self) -> PointsSpec {
        self.kept(self.grid(&[]))
    }

    /// Where some coordinates are held.
    pub(super) fn on(&self, at: &[(String, HeldAt)]) -> PointsSpec {
        let grid = self.grid(at);
        let everything = at.len() == self.coordinates.len();
        PointsSpec { at: at.to_vec(), ..if everything { grid } else { self.kept(grid) } }
    }

    fn grid(&self, held: &[(String, HeldAt)]) -> PointsSpec {
        let along = ALONG[self.coordinates.len().clamp(1, ALONG.len()) - 1];
        let free = self.coordinates.iter().filter(|c| !held.iter().any(|(name, _)| *name == c.name));
        PointsSpec::grid(free.map(|c| (c.name.as_str(), along)))
    }

    fn kept(&self, points: PointsSpec) -> PointsSpec {
        let on: Vec<String> = (0..self.coordinates.len()).filter_map(|c| self.on_face(c)).collect();
        let pairs = (0..on.len()).flat_map(|a| (a + 1..on.len()).map(move |b| (a, b)));
        let meeting: Vec<String> = pairs.map(|(a, b)| format!("({}) and ({})", on[a], on[b])).collect();
        if meeting.is_empty() { points } else { points.keep(&format!("not ({})", meeting.join(" or "))) }
    }

    /// `x == 0.0 or x == 1.0` for the faces of a coordinate that have conditions.
    fn on_face(&self, number: usize) -> Option<String> {
        let coordinate = &self.coordinates[number];
        let has = |upper: bool| self.faces.contains(&Face { coordinate: number, upper });
        let ends = [(false, coordinate.lo), (true, coordinate.hi)];
        let ends = ends.into_iter().filter(|(upper, _)| has(*upper));
        let ends: Vec<String> = ends.map(|(_, place)| format!("{} == {place:?}", coordinate.name)).collect();
        (!ends.is_empty()).then(|| ends.join(" or "))
    }
}
