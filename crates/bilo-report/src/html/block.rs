//! Arrays on their way into a page: in the order of an image, thinned, rounded to 16 bits.

use crate::number::extent;
use crate::picture::base64;
use bilo::npy::Array;
use serde_json::{Value, json};

/// Most values of one array in a page.
const MOST_VALUES: usize = 120_000;
/// Stands for what is not a number; the numbers are 0 to one less.
const NOTHING: u16 = u16::MAX;

/// An axis with its nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) nodes: Vec<f64>,
}

/// Values over axes, the last of which runs fastest: (time, y, x), as images lie in memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) axes: Vec<Axis>,
    pub(super) values: Vec<f64>,
}

impl Block {
    /// An array over axes in the order of the problem file; none where shapes disagree.
    pub(super) fn new(array: &Array, axes: &[Axis], time: Option<&str>) -> Option<Block> {
        let shape: Vec<usize> = axes.iter().map(|axis| axis.nodes.len()).collect();
        if shape != array.shape || array.data.is_empty() {
            return None;
        }
        let is_time = |&axis: &usize| Some(axes[axis].name.as_str()) == time;
        let (mut order, space): (Vec<usize>, Vec<usize>) = (0..axes.len()).partition(is_time);
        order.extend(space.into_iter().rev());
        Some(reordered(&array.data, axes, &order).thinned())
    }

    /// The first minus the second.
    pub(super) fn minus(&self, other: &Block) -> Option<Block> {
        let values = self.values.iter().zip(&other.values).map(|(a, b)| a - b).collect();
        (self.axes == other.axes).then(|| Block { axes: self.axes.clone(), values })
    }

    /// Least and greatest finite value.
    pub(super) fn range(&self) -> (f64, f64) {
        extent(self.values.iter().copied()).unwrap_or_default()
    }

    /// Least and greatest finite value of several.
    pub(super) fn common_range<'a>(blocks: impl Iterator<Item = &'a Block>) -> (f64, f64) {
        extent(blocks.map(Block::range).flat_map(|(lo, hi)| [lo, hi])).unwrap_or_default()
    }

    /// A size that 99 of 100 values do not exceed: single points, corners above all, would hide all others.
    pub(super) fn usual_size(&self) -> f64 {
        let mut sizes: Vec<f64> =
            self.values.iter().map(|value| value.abs()).filter(|size| size.is_finite()).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.get((0.99 * sizes.len() as f64) as usize).or(sizes.last()).copied().unwrap_or(0.0)
    }

    /// For the page: the numbers of its axes there, its range, and shares of the range in 16 bits.
    pub(super) fn packed(&self, axes: Vec<usize>) -> Value {
        let (lo, hi) = self.range();
        let width = if hi > lo { hi - lo } else { 1.0 };
        let level = |value: &f64| match value.is_finite() {
            true => ((value - lo) / width * f64::from(NOTHING - 1)).round() as u16,
            false => NOTHING,
        };
        let bytes: Vec<u8> = self.values.iter().flat_map(|value| level(value).to_le_bytes()).collect();
        json!({ "axes": axes, "lo": lo, "width": width, "data": base64(&bytes) })
    }

    /// "101 × 101"
    pub(super) fn resolution(&self) -> String {
        let lengths: Vec<String> = self.axes.iter().rev().map(|axis| axis.nodes.len().to_string()).collect();
        lengths.join(" × ")
    }

    /// Every second node of the longest axis, as often as it takes.
    fn thinned(mut self) -> Block {
        while self.values.len() > MOST_VALUES {
            let longest = (0..self.axes.len()).max_by_key(|&axis| self.axes[axis].nodes.len()).unwrap_or(0);
            self = self.every_second(longest);
        }
        self
    }

    fn every_second(&self, axis: usize) -> Block {
        let length = self.axes[axis].nodes.len();
        let inner: usize = self.axes[axis + 1..].iter().map(|axis| axis.nodes.len()).product();
        let kept = |place: &usize| ((place / inner) % length).is_multiple_of(2);
        let values = (0..self.values.len()).filter(kept).map(|place| self.values[place]).collect();
        let mut axes = self.axes.clone();
        axes[axis].nodes = axes[axis].nodes.iter().step_by(2).copied().collect();
        Block { axes, values }
    }
}

/// Values over the same axes in another order.
fn reordered(values: &[f64], axes: &[Axis], order: &[usize]) -> Block {
    let lengths: Vec<usize> = axes.iter().map(|axis| axis.nodes.len()).collect();
    let stride = |axis: usize| lengths[axis + 1..].iter().product::<usize>();
    let strides: Vec<usize> = order.iter().map(|&axis| stride(axis)).collect();
    let old = |mut place: usize| {
        let mut found = 0;
        for (&axis, stride) in order.iter().zip(&strides).rev() {
            found += place % lengths[axis] * stride;
            place /= lengths[axis];
        }
        values[found]
    };
    let axes = order.iter().map(|&axis| axes[axis].clone()).collect();
    Block { axes, values: (0..values.len()).map(old).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, count: usize) -> Axis {
        Axis { name: name.into(), nodes: (0..count).map(|i| i as f64).collect() }
    }

    fn names(block: &Block) -> Vec<&str> {
        block.axes.iter().map(|axis| axis.name.as_str()).collect()
    }

    #[test]
    fn time_comes_first_and_x_last() {
        let data: Vec<f64> = (0..12).map(f64::from).collect();
        let array = Array { shape: vec![2, 3, 2], data };
        let axes = [axis("x", 2), axis("y", 3), axis("t", 2)];
        let block = Block::new(&array, &axes, Some("t")).unwrap();
        assert_eq!(names(&block), ["t", "y", "x"]);
        // x = 1, y = 2, t = 0 is 1*6 + 2*2 + 0.
        assert_eq!(block.values[2 * 2 + 1], 10.0);
        assert_eq!(block.resolution(), "2 × 3 × 2");
        assert!(Block::new(&array, &axes[..2], None).is_none());
        assert_eq!(block.usual_size(), 11.0);
    }

    #[test]
    fn large_arrays_are_thinned() {
        let array = Array { shape: vec![101; 3], data: vec![0.5; 101 * 101 * 101] };
        let axes = [axis("x", 101), axis("y", 101), axis("t", 101)];
        let block = Block::new(&array, &axes, Some("t")).unwrap();
        assert!(block.values.len() <= MOST_VALUES);
        assert_eq!(block.values.len(), block.axes.iter().map(|axis| axis.nodes.len()).product::<usize>());
        assert!(block.packed(vec![])["data"].as_str().unwrap().len() < 330_000);
    }

    #[test]
    fn sixteen_bits_keep_the_ends_and_the_holes() {
        let block = Block { axes: vec![axis("x", 3)], values: vec![-1.0, f64::NAN, 3.0] };
        let packed = block.packed(vec![]);
        assert_eq!(packed["data"], base64(&[0, 0, 255, 255, 254, 255]));
        assert_eq!((packed["lo"].as_f64(), packed["width"].as_f64()), (Some(-1.0), Some(4.0)));
    }
}
