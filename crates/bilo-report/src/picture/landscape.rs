//! What is minimised, over the plane of two unknowns: what their ways lead through.

use super::contour::{Grid, Polyline, contours};
use crate::number::extent;

/// Nodes along each unknown.
const NODES: usize = 31;
/// Contours, at equal distances.
const LEVELS: usize = 16;
/// What is above the least loss by less than this part of the range of all is not told apart.
const FLOOR: f64 = 1e-6;

/// Heights over the plane.
#[derive(Clone, Debug)]
pub struct Landscape {
    axes: [Vec<f64>; 2],
    /// A value for every node, the second unknown running fastest.
    values: Vec<f64>,
}

impl Landscape {
    /// Nodes between ends.
    pub fn axes(ends: [(f64, f64); 2]) -> [Vec<f64>; 2] {
        let node = |(lo, hi): (f64, f64), i: usize| lo + (hi - lo) * i as f64 / (NODES - 1) as f64;
        ends.map(|ends| (0..NODES).map(|i| node(ends, i)).collect())
    }

    /// The logarithm of losses above the least of them; none if nodes do not go upwards or have not one loss each.
    pub fn of_losses(axes: [Vec<f64>; 2], losses: &[f64]) -> Option<Landscape> {
        let upwards = |nodes: &Vec<f64>| nodes.len() > 1 && nodes.windows(2).all(|pair| pair[0] < pair[1]);
        if !axes.iter().all(upwards) || losses.len() != axes[0].len() * axes[1].len() {
            return None;
        }
        let (least, most) = Grid::new(&axes[0], &axes[1], losses).range()?;
        let height = |loss: &f64| (loss - least + FLOOR * (most - least)).log10();
        let values = losses.iter().map(height).collect();
        Some(Landscape { axes, values })
    }

    /// Lines of equal height.
    pub(crate) fn contours(&self) -> Vec<Polyline> {
        let grid = Grid::new(&self.axes[0], &self.axes[1], &self.values);
        let Some((lo, hi)) = grid.range() else { return vec![] };
        let level = |i: usize| lo + (hi - lo) * i as f64 / (LEVELS + 1) as f64;
        (1..=LEVELS).flat_map(|i| contours(&grid, level(i))).collect()
    }
}

/// The least rectangle around all points, with some room.
pub fn around<'a>(points: impl Iterator<Item = &'a [f64; 2]>) -> [(f64, f64); 2] {
    let points: Vec<&[f64; 2]> = points.filter(|point| point.iter().all(|value| value.is_finite())).collect();
    [0, 1].map(|axis: usize| {
        let Some((lo, hi)) = extent(points.iter().map(|point| point[axis])) else { return (0.0, 1.0) };
        let room = 0.12 * (hi - lo).max(1e-6 * hi.abs().max(1e-6));
        (lo - room, hi + room)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x² + y² has circles, and its logarithm at equal distances smaller and smaller ones.
    #[test]
    fn a_bowl_has_circles() {
        let axes = Landscape::axes([(-1.0, 1.0), (-1.0, 1.0)]);
        let losses: Vec<f64> =
            axes[0].iter().flat_map(|x| axes[1].iter().map(move |y| x * x + y * y)).collect();
        let landscape = Landscape::of_losses(axes.clone(), &losses).unwrap();
        let found = landscape.contours();
        assert!(found.len() == LEVELS && found.iter().all(|line| line.closed));
        for line in &found {
            let radii = line.points.iter().map(|[x, y]| x.hypot(*y));
            let (least, most) = radii.fold((2.0, 0.0), |(a, b): (f64, f64), r| (a.min(r), b.max(r)));
            // A fifteenth of a side is the distance of two nodes.
            assert!(most - least < 1.0 / 15.0, "{least} {most}");
        }
        assert!(Landscape::of_losses(axes, &losses[1..]).is_none());
        assert!(Landscape::of_losses([vec![0.0, 0.0], vec![0.0, 1.0]], &losses[..4]).is_none());
    }
}
