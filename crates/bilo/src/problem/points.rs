//! From a choice of points to their coordinates.

use super::model::{Coordinate, Formula, Layout, Points, Problem};
use super::names::Names;
use crate::diagnostic::{Diagnostic, Result};
use bilo_expr::{Input, Leaf, Scratch, Tape};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Points of one evaluation of a filter.
const TILE: usize = 1024;

impl Points {
    /// The points, one column per coordinate.
    ///
    /// A grid comes in row-major order of the coordinates. Random and Sobol points (a seed gives
    /// always the same) are repeated for every combination of held values.
    pub fn columns(&self, problem: &Problem, seed: u64) -> Result<Vec<Vec<f64>>> {
        let columns = match &self.layout {
            Layout::Grid(counts) => self.grid(problem, counts),
            Layout::Random(n) => {
                let mut rng = Pcg64::seed_from_u64(seed);
                self.scattered(problem, *n, |_, _| rng.random())
            }
            Layout::Sobol(n) => self.scattered(problem, *n, |i, d| sobol(i, d, seed)),
            Layout::List(columns) => columns.clone(),
        };
        match &self.filter {
            None => Ok(columns),
            Some(filter) => keep(problem, &columns, filter),
        }
    }

    fn held(&self, coordinate: usize) -> Option<&Vec<f64>> {
        self.at.iter().find(|(c, _)| *c == coordinate).map(|(_, values)| values)
    }

    fn grid(&self, problem: &Problem, counts: &[(usize, usize)]) -> Vec<Vec<f64>> {
        let axis = |(i, coordinate): (usize, &Coordinate)| match self.held(i) {
            Some(values) => values.clone(),
            None => {
                let count = counts.iter().find(|(c, _)| *c == i).map_or(1, |(_, n)| *n);
                coordinate.axis(count)
            }
        };
        product(&problem.coordinates.iter().enumerate().map(axis).collect::<Vec<_>>())
    }

    /// `unit(i, d)` is coordinate d of point i in the unit cube.
    fn scattered(
        &self,
        problem: &Problem,
        n: usize,
        mut unit: impl FnMut(usize, usize) -> f64,
    ) -> Vec<Vec<f64>> {
        let dimension = problem.coordinates.len();
        let free: Vec<usize> = (0..dimension).filter(|&c| self.held(c).is_none()).collect();
        let draws: Vec<Vec<f64>> = (0..n).map(|i| (0..free.len()).map(|d| unit(i, d)).collect()).collect();
        let held: Vec<Vec<f64>> = (0..dimension).filter_map(|c| self.held(c).cloned()).collect();
        let held = product(&held);
        let combinations = held.first().map_or(1, Vec::len);

        let mut held = held.into_iter();
        let mut column = |c: usize| match free.iter().position(|&f| f == c) {
            Some(d) => {
                let coordinate = &problem.coordinates[c];
                let values = draws.iter().map(|draw| coordinate.at_fraction(draw[d]));
                values.collect::<Vec<_>>().repeat(combinations)
            }
            None => {
                let values = held.next().expect("one column for each held coordinate");
                values.into_iter().flat_map(|v| std::iter::repeat_n(v, n)).collect()
            }
        };
        (0..dimension).map(&mut column).collect()
    }
}

impl Coordinate {
    /// `count` equidistant values, both ends included; the upper end of a periodic coordinate is
    /// its lower end and left out.
    pub fn axis(&self, count: usize) -> Vec<f64> {
        let cells = if self.periodic { count } else { count.saturating_sub(1).max(1) };
        (0..count).map(|i| self.at_fraction(i as f64 / cells as f64)).collect()
    }

    /// The lower end at 0, the upper end (to the bit) at 1.
    fn at_fraction(&self, fraction: f64) -> f64 {
        self.lo * (1.0 - fraction) + self.hi * fraction
    }
}

fn sobol(point: usize, dimension: usize, seed: u64) -> f64 {
    let available = sobol_burley::NUM_DIMENSIONS as usize;
    let seed = (seed ^ (seed >> 32)) as u32;
    // Beyond the tabulated dimensions another seed starts them afresh.
    let seed = seed.wrapping_add((dimension / available) as u32);
    f64::from(sobol_burley::sample(point as u32, (dimension % available) as u32, seed))
}

/// All combinations of the axes' values, the last axis running fastest; one column per axis.
pub(super) fn product(axes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut outer = 1;
    let mut inner: usize = axes.iter().map(Vec::len).product();
    let column = |axis: &Vec<f64>| {
        inner /= axis.len().max(1);
        let once = axis.iter().flat_map(|&v| std::iter::repeat_n(v, inner));
        let column = once.collect::<Vec<_>>().repeat(outer);
        outer *= axis.len();
        column
    };
    axes.iter().map(column).collect()
}

/// The points where the filter holds (is neither zero nor undefined).
fn keep(problem: &Problem, columns: &[Vec<f64>], filter: &Formula) -> Result<Vec<Vec<f64>>> {
    let mut names = Names::without_unknowns(problem);
    let condition = names.lower(filter)?;
    let inputs: Vec<Leaf> = names.coordinates.iter().map(|&s| Leaf::Symbol(s)).collect();
    let tape = Tape::compile(&names.graph, &[condition], &inputs)
        .expect("only coordinates and constants are in scope");
    let n = columns.first().map_or(0, Vec::len);
    let mut scratch = Scratch::new();
    let mut kept = vec![Vec::new(); columns.len()];
    for start in (0..n).step_by(TILE) {
        let rows = start..n.min(start + TILE);
        let inputs: Vec<_> = columns.iter().map(|c| Input::Column(&c[rows.clone()])).collect();
        tape.eval(&inputs, rows.len(), &mut scratch);
        for (row, holds) in rows.zip(scratch.output(&tape, 0)) {
            if *holds != 0.0 && !holds.is_nan() {
                kept.iter_mut().zip(columns).for_each(|(to, from)| to.push(from[row]));
            }
        }
    }
    if kept.first().is_none_or(Vec::is_empty) {
        let message = "`where` leaves no points";
        return Err(Diagnostic::new(message, filter.origin.clone()).into());
    }
    Ok(kept)
}
