//! Diffuse domains: where a condition of images holds, as a smooth function.
//!
//! The condition gives a mask m that is constant in each cell around a node, 0 or 1. The field is
//!
//! ```text
//! phi = floor + (1 - floor) S,   S = G_sigma * m,   sigma = width / 3.2897
//! ```
//!
//! with a Gaussian G of standard deviation sigma along each coordinate. At a flat interface
//! S = (1 + erf(d/(sqrt(2) sigma)))/2 of the distance d, which rises from 5 % to 95 % over the width. Beyond its
//! grid a mask goes on as it ends.
//!
//! S is a cubic B-spline whose coefficients lie in [0, 1], and so S does. It convolves with a kernel of
//! variance 1/3 cells² by itself; the coefficients are m convolved with the rest of the Gaussian. What is left
//! is an error of fourth order in cells/width.

use crate::diagnostic::{Diagnostic, Result};
use crate::grid::raster::Raster;
use crate::grid::spline::{GridAxis, Interpolation, along};
use crate::model::domain::Constant;
use crate::model::formula::Formula;
use crate::resolve::values::Values;
use bilo_expr::{Graph, Input, Leaf, Scope, Scratch, Tape, lower};
use std::f64::consts::SQRT_2;

/// The 95th percentile of the normal distribution: width = 2 · 1.6449 sigma.
const PERCENTILE: f64 = 1.644_853_626_951_472_7;

/// The variance of the cubic B-spline, in cells².
const OF_SPLINE: f64 = 1.0 / 3.0;

/// Fewest cells in a width: fewer would be narrower than the spline itself.
const LEAST_CELLS: f64 = 2.0;

/// Standard deviations after which a Gaussian is nothing.
const FAR: f64 = 8.0;

/// A diffuse domain as stated.
#[derive(Clone, Debug)]
pub(crate) struct Diffuse {
    condition: Formula,
    width: f64,
    floor: f64,
}

impl Diffuse {
    pub(crate) fn new(condition: Formula, width: f64, floor: f64) -> Self {
        Self { condition, width, floor }
    }

    /// The field, from the images that its condition is about.
    pub(crate) fn values(
        &self,
        error: impl Fn(String) -> Diagnostic,
        images: &[(&str, &Values)],
        constants: &[Constant],
    ) -> Result<Values> {
        let (mask, like) = self.mask(images, constants)?;
        if !(0.0..1.0).contains(&self.floor) {
            return Err(error(format!("`floor` must be in [0, 1), found {:?}", self.floor)).into());
        }
        let axes = &like.raster.axes;
        let coarsest = axes.iter().fold(0.0_f64, |coarsest, axis| coarsest.max(axis.step));
        if !(self.width.is_finite() && self.width >= LEAST_CELLS * coarsest) {
            let least = LEAST_CELLS * coarsest;
            let message = format!("`width` must be at least two cells, {least}, found {:?}", self.width);
            return Err(error(message).into());
        }
        let values = smoothed(mask, axes, self.width / (2.0 * PERCENTILE));
        let values = values.into_iter().map(|s| self.floor + (1.0 - self.floor) * s).collect();
        let raster = Raster { axes: axes.clone(), values, uneven: None };
        Ok(Values { of: like.of.clone(), raster, interpolation: Interpolation::Smooth })
    }

    /// Whether the condition holds at each node, as 0 or 1, and one of the images that it is about.
    fn mask<'a>(
        &self,
        images: &[(&str, &'a Values)],
        constants: &[Constant],
    ) -> Result<(Vec<f64>, &'a Values)> {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        for Constant { name, value } in constants {
            let value = graph.constant(*value);
            scope.bind(name, value);
        }
        let mut symbols = vec![];
        for (name, _) in images {
            let symbol = graph.symbol(name);
            let leaf = graph.leaf(symbol);
            scope.bind(name, leaf);
            symbols.push(Leaf::Symbol(symbol));
        }
        let error = |message: &str| Diagnostic::new(message, self.condition.origin.clone());
        let condition =
            lower(&self.condition.ast, &mut graph, &scope).map_err(|e| self.condition.error(e))?;
        let leaves = graph.leaves(&[condition]);
        let used: Vec<&'a Values> =
            (symbols.iter().zip(images)).filter(|(s, _)| leaves.contains(s)).map(|(_, (_, v))| *v).collect();
        let Some(&first) = used.first() else {
            return Err(error("a diffuse domain is a condition of given fields from files").into());
        };
        if used.iter().any(|other| (&other.of, &other.raster.axes) != (&first.of, &first.raster.axes)) {
            return Err(error("the given fields of this condition are not on one grid").into());
        }
        let tape = Tape::compile(&graph, &[condition], &leaves).expect("all leaves are given");
        let columns: Vec<Input<'_, f64>> = used.iter().map(|v| Input::Column(&v.raster.values)).collect();
        let mut scratch = Scratch::new();
        tape.eval(&columns, first.raster.values.len(), &mut scratch);
        let holds = |value: &f64| f64::from(u8::from(*value != 0.0 && !value.is_nan()));
        let mask: Vec<f64> = scratch.output(&tape, 0).iter().map(holds).collect();
        if !mask.contains(&1.0) {
            return Err(error("this condition holds nowhere on the grid").into());
        }
        Ok((mask, first))
    }
}

/// The coefficients of the B-spline that is a mask smoothed by a Gaussian.
fn smoothed(mask: Vec<f64>, axes: &[GridAxis], sigma: f64) -> Vec<f64> {
    let mut lengths: Vec<usize> = axes.iter().map(|axis| axis.count).collect();
    let mut values = mask;
    for (number, axis) in axes.iter().enumerate() {
        let kernel = kernel((sigma / axis.step).powi(2) - OF_SPLINE);
        values = along(&values, &mut lengths, number, |line| convolved(line, &kernel));
    }
    values
}

/// The integrals of a Gaussian of this variance (in cells²) over cells, from the middle one on, twice the sum
/// but for the first being one.
fn kernel(variance: f64) -> Vec<f64> {
    let scale = 1.0 / (SQRT_2 * variance.sqrt());
    let reach = (FAR * variance.sqrt()).ceil() as usize + 1;
    let edge = |cell: usize| libm::erf((cell as f64 + 0.5) * scale);
    let weight = |cell: usize| if cell == 0 { edge(0) } else { (edge(cell) - edge(cell - 1)) / 2.0 };
    (0..=reach).map(weight).collect()
}

fn convolved(line: &[f64], kernel: &[f64]) -> Vec<f64> {
    let last = line.len() - 1;
    let at = |i: usize| {
        let pairs = kernel.iter().enumerate().skip(1);
        let far = |(k, weight): (usize, &f64)| weight * (line[i.saturating_sub(k)] + line[(i + k).min(last)]);
        // Sums of parts of one may exceed it by rounding.
        (kernel[0] * line[i] + pairs.map(far).sum::<f64>()).clamp(0.0, 1.0)
    };
    (0..line.len()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::spline::Spline;

    /// The distance of S at a flat interface between two cells from the error function that it stands for, with
    /// so many cells in the width, and the smallest and largest values.
    fn flat(cells_in_width: f64) -> (f64, f64, f64) {
        let axis = GridAxis { first: 0.0, step: 0.5, count: 81 };
        let across = GridAxis { count: 5, ..axis };
        let (width, interface) = (cells_in_width * axis.step, 20.25);
        let sigma = width / (2.0 * PERCENTILE);
        let mask = (axis.nodes().iter()).flat_map(|&x| vec![f64::from(u8::from(x > interface)); 5]).collect();
        let values = smoothed(mask, &[axis, across], sigma);
        let spline = Spline::new(Interpolation::Smooth, vec![axis, across], values);
        let x: Vec<f64> = (0..=4000).map(|i| f64::from(i) * 0.01).collect();
        let found = spline.at(&[&x, &vec![0.8; x.len()]], &[0, 0]);
        let exact = |x: &f64| (1.0 + libm::erf((x - interface) / (SQRT_2 * sigma))) / 2.0;
        let error = x.iter().zip(&found).map(|(x, s)| (s - exact(x)).abs()).fold(0.0, f64::max);
        let least = found.iter().copied().fold(f64::INFINITY, f64::min);
        (error, least, found.iter().copied().fold(0.0, f64::max))
    }

    /// The fourth cumulant of a B-spline is -1/30 cells⁴, and sampling at nodes moves the fourth moment by as much
    /// to and fro: together they move the profile by about 2/30 S''''/24, where S'''' is at most 0.55/sigma⁴. With
    /// three cells in the width that is 2.2e-3 to leading order.
    #[test]
    fn a_flat_interface_is_the_error_function_to_fourth_order() {
        let [three, six, twelve] = [3.0, 6.0, 12.0].map(|cells| flat(cells).0);
        assert!(three < 3e-3, "{three:.2e}");
        let orders = [(three / six).log2(), (six / twelve).log2()];
        assert!(orders.iter().all(|order| (3.5..4.5).contains(order)), "{orders:?}");
    }

    #[test]
    fn the_profile_stays_between_nothing_and_everything() {
        for cells in [2.0, 3.0, 10.0] {
            let (_, least, most) = flat(cells);
            assert!(least >= 0.0 && most <= 1.0 + 1e-15 && most > 1.0 - 1e-12, "{cells}: {least}, {most}");
        }
    }
}
