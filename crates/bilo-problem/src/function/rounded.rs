//! Functions of a state between the nodes of their grids: the polygon through the values, its corners
//! rounded off.
//!
//! The function is the mean of the polygon over a window as wide as a cell, a spline of second degree. Its
//! slope has no jumps, as Newton's method wants; it stays between the values around, so that what is
//! positive at the nodes is positive everywhere; it is the polygon itself where that is straight, and next
//! to the ends.

use super::polygon;

/// The nodes around a place, so many cells from the first one, and their weights in the function or a derivative of it by that
/// place. Beyond the ends it goes on straight; the second derivative jumps in the middle of each cell.
#[inline]
pub(super) fn weights(along: f64, cells: usize, order: usize) -> [(usize, f64); 3] {
    // A cast cuts off, and makes zero of what is below it.
    let nearest = ((along + 0.5) as usize).min(cells);
    if nearest == 0 || nearest == cells {
        return polygon::weights(along, cells, order);
    }
    let s = along - nearest as f64;
    let [before, own, after] = match order {
        0 => [0.5 * ((0.5 - s) * (0.5 - s)), 0.75 - s * s, 0.5 * ((0.5 + s) * (0.5 + s))],
        1 => [s - 0.5, -2.0 * s, s + 0.5],
        2 => [1.0, -2.0, 1.0],
        _ => [0.0; 3],
    };
    [(nearest - 1, before), (nearest, own), (nearest + 1, after)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 6] = [0.3, 1.0, 0.2, 0.4, 0.4, 2.0];

    fn derivative(along: f64, order: usize) -> f64 {
        weights(along, VALUES.len() - 1, order).iter().map(|&(node, weight)| weight * VALUES[node]).sum()
    }

    fn by_weights(along: f64) -> f64 {
        derivative(along, 0)
    }

    /// Places off the nodes and the middles of cells, and these themselves.
    fn places() -> Vec<f64> {
        (0..=100).map(|i| f64::from(i) / 20.0).collect()
    }

    /// The mean of the polygon over a window, by the midpoint rule on 1000 parts of it: its corners cost
    /// (1/1000)² of the slopes.
    #[test]
    fn it_is_the_mean_of_the_polygon_over_a_cell() {
        let polygon = |w: f64| {
            let cell = (w.floor().max(0.0) as usize).min(VALUES.len() - 2);
            VALUES[cell] + (w - cell as f64) * (VALUES[cell + 1] - VALUES[cell])
        };
        for along in places() {
            let part = |i: i32| polygon(along - 0.5 + (f64::from(i) + 0.5) / 1000.0);
            let mean: f64 = (0..1000).map(part).sum::<f64>() / 1000.0;
            assert!((by_weights(along) - mean).abs() < 1e-5, "{along}: {} and {mean}", by_weights(along));
        }
    }

    /// Central differences over 1e-4 of a spline of second degree are exact within its pieces but for rounding, 1e-16 over 1e-4
    /// and over 1e-8; beyond the ends, too. The second derivative jumps where pieces meet.
    #[test]
    fn derivatives_are_those_of_the_function() {
        let h = 1e-4;
        for along in (-3..=103).map(|i| f64::from(i) / 20.0 + 0.013) {
            let slope = (by_weights(along + h) - by_weights(along - h)) / (2.0 * h);
            assert!((derivative(along, 1) - slope).abs() < 1e-11, "{along}");
            let bend = (by_weights(along + h) - 2.0 * by_weights(along) + by_weights(along - h)) / (h * h);
            assert!((derivative(along, 2) - bend).abs() < 1e-6, "{along}");
            assert_eq!(derivative(along, 3), 0.0);
        }
    }

    #[test]
    fn ends_are_met_and_values_stay_between_those_around() {
        assert_eq!([by_weights(0.0), by_weights(5.0)], [0.3, 2.0]);
        assert!(places().into_iter().all(|along| (0.2..=2.0).contains(&by_weights(along))));
    }
}
