//! From a choice of points to a source of their coordinates.

use super::model::{Coordinate, Formula, Layout, Points, Problem};
use super::names::Names;
use crate::diagnostic::{Diagnostic, Result};
use crate::given;
use bilo_expr::{Input, Leaf, Scratch, Tape};
use bilo_jet::{Column, PointSource};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

impl Points {
    /// The points, made when they are asked for.
    ///
    /// A grid comes in row-major order of the coordinates. Random and Sobol points (a seed gives
    /// always the same) are repeated for every combination of held values.
    pub fn source(&self, problem: &Problem, seed: u64) -> Result<PointSource> {
        let points = match &self.layout {
            Layout::Grid(counts) => self.grid(problem, counts),
            Layout::Random(n) => {
                let mut rng = Pcg64::seed_from_u64(seed);
                self.scattered(problem, *n, |_, _| rng.random())
            }
            Layout::Sobol(n) => self.scattered(problem, *n, |i, d| sobol(i, d, seed)),
            Layout::List(columns) => PointSource::stored(columns.clone()),
        };
        match &self.filter {
            None => Ok(points),
            Some(filter) => keep(problem, points, filter),
        }
    }

    /// All points at once, one column per coordinate.
    pub fn columns(&self, problem: &Problem, seed: u64) -> Result<Vec<Vec<f64>>> {
        let points = self.source(problem, seed)?;
        Ok(points.columns(0..points.len()))
    }

    fn held(&self, coordinate: usize) -> Option<&Vec<f64>> {
        self.at.iter().find(|(c, _)| *c == coordinate).map(|(_, values)| values)
    }

    fn grid(&self, problem: &Problem, counts: &[(usize, usize)]) -> PointSource {
        let axis = |(i, coordinate): (usize, &Coordinate)| match self.held(i) {
            Some(values) => values.clone(),
            None => {
                let count = counts.iter().find(|(c, _)| *c == i).map_or(1, |(_, n)| *n);
                coordinate.axis(count)
            }
        };
        PointSource::grid(problem.coordinates.iter().enumerate().map(axis).collect())
    }

    /// `unit(i, d)` is coordinate d of point i in the unit cube.
    fn scattered(
        &self,
        problem: &Problem,
        n: usize,
        mut unit: impl FnMut(usize, usize) -> f64,
    ) -> PointSource {
        let free: Vec<&Coordinate> = (problem.coordinates.iter().enumerate())
            .filter_map(|(c, coordinate)| self.held(c).is_none().then_some(coordinate))
            .collect();
        let mut draws = vec![Vec::with_capacity(n); free.len()];
        for i in 0..n {
            for (d, coordinate) in free.iter().enumerate() {
                draws[d].push(coordinate.at_fraction(unit(i, d)));
            }
        }
        let count = self.at.iter().map(|(_, values)| values.len()).product::<usize>() * n;
        let (mut draws, mut repeat) = (draws.into_iter(), count);
        let mut column = |c: usize| match self.held(c) {
            None => Column::stored(draws.next().expect("one column for each free coordinate")),
            Some(values) => {
                repeat /= values.len();
                Column::axis(values.clone(), repeat)
            }
        };
        PointSource::new((0..problem.coordinates.len()).map(&mut column).collect(), count)
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
    pub(crate) fn at_fraction(&self, fraction: f64) -> f64 {
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

/// The points where the filter holds (is neither zero nor undefined).
fn keep(problem: &Problem, points: PointSource, filter: &Formula) -> Result<PointSource> {
    let mut names = Names::without_unknowns(problem);
    let condition = names.lower(filter)?;
    let fields = given::leaves(&mut names, &[condition], &filter.origin)?;
    let coordinates = names.coordinates.iter().map(|&s| Leaf::Symbol(s));
    let inputs: Vec<Leaf> = coordinates.chain(fields.iter().cloned()).collect();
    let tape = Tape::compile(&names.graph, &[condition], &inputs)
        .expect("only coordinates, constants and given fields are in scope");
    let mut scratch = Scratch::new();
    let kept = points.keep(|columns| {
        let fields: Vec<_> = fields.iter().filter_map(|leaf| given::sample(&names, leaf, columns)).collect();
        let inputs: Vec<_> = columns.iter().chain(&fields).map(|column| Input::Column(column)).collect();
        tape.eval(&inputs, columns[0].len(), &mut scratch);
        scratch.output(&tape, 0).iter().map(|&holds: &f64| holds != 0.0 && !holds.is_nan()).collect()
    });
    if kept.is_empty() {
        let message = "`where` leaves no points";
        return Err(Diagnostic::new(message, filter.origin.clone()).into());
    }
    Ok(kept)
}
