//! Unknown functions of one number, a state or time, by the values at their nodes.

use super::{held, polygon, rounded};
use crate::{Coordinate, UnknownFunction};

/// How a function of a state or of time is made of its values at nodes. Equations are differentiated by states, so corners are
/// rounded there.
#[derive(Clone, Debug)]
pub struct Curve {
    range: Coordinate,
    cells: usize,
    of_state: bool,
}

impl Curve {
    /// That of a function of one argument.
    pub fn new(unknown: &UnknownFunction) -> Curve {
        let range = unknown.of[0].axis.clone();
        Curve { range, cells: unknown.nodes[0] - 1, of_state: unknown.state().is_some() }
    }

    /// The nodes around each place and their weights in the function or a derivative of it. Beyond its range a state is held.
    pub fn weights(&self, places: &[f64], order: usize) -> Vec<[(usize, f64); 3]> {
        let step = (self.range.hi - self.range.lo) / self.cells as f64;
        let unit = step.powi(order as i32);
        let along = |place: f64| (place - self.range.lo) / step;
        // Weights by cells as those by the units of a place.
        let in_units = |weights: [(usize, f64); 3]| weights.map(|(node, weight)| (node, weight / unit));
        if !self.of_state {
            let at = |&place: &f64| in_units(polygon::weights(along(place), self.cells, order));
            return places.iter().map(at).collect();
        }
        let [lo, hi] = held::ends(&self.range);
        let at = |&place: &f64| {
            let weights = rounded::weights(along(place.clamp(lo, hi)), self.cells, order);
            let still = order > 0 && !(lo..=hi).contains(&place);
            in_units(if still { weights.map(|(node, _)| (node, 0.0)) } else { weights })
        };
        places.iter().map(at).collect()
    }

    /// The places of its nodes between the ends, where a polygon has its corners; a rounded one has none.
    pub fn corners(&self) -> Vec<f64> {
        let nodes = self.range.axis(self.cells + 1);
        if self.of_state { vec![] } else { nodes[1..self.cells].to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 4] = [1.0, 3.0, 2.0, 2.5];

    fn at(curve: &Curve, place: f64, order: usize) -> f64 {
        curve.weights(&[place], order)[0].iter().map(|&(node, weight)| weight * VALUES[node]).sum()
    }

    /// Of 10 to 16 on four nodes, each 2 from the next: slopes 1, -1/2 and 1/4.
    #[test]
    fn a_function_of_time_is_a_polygon_in_its_units() {
        let curve = Curve { range: Coordinate::time("t", 10.0, 16.0), cells: 3, of_state: false };
        assert_eq!([11.0, 12.0, 15.0].map(|t| at(&curve, t, 0)), [2.0, 3.0, 2.25]);
        assert_eq!([11.0, 13.0, 15.0].map(|t| at(&curve, t, 1)), [1.0, -0.5, 0.25]);
        assert_eq!(curve.corners(), [12.0, 14.0]);
    }

    /// Held a thousandth of the range beyond its ends, where it has no slope; within, slopes are those of differences.
    #[test]
    fn a_function_of_a_state_is_held_beyond_its_range() {
        let curve = Curve { range: Coordinate::space("u", 0.0, 6.0), cells: 3, of_state: true };
        let end = at(&curve, 6.006, 0);
        assert!((end - (2.5 + 0.006 * 0.25)).abs() < 1e-14);
        assert_eq!([at(&curve, 9.0, 0), at(&curve, 9.0, 1), at(&curve, -1.0, 1)], [end, 0.0, 0.0]);
        for place in [0.5, 2.0, 3.3, 4.9] {
            let difference = (at(&curve, place + 1e-5, 0) - at(&curve, place - 1e-5, 0)) / 2e-5;
            // Exact for parabolas but for rounding, 1e-16 over 1e-5.
            assert!((at(&curve, place, 1) - difference).abs() < 1e-10, "{place}");
        }
        assert!(curve.corners().is_empty());
    }
}
