//! From a choice of points to a source of their coordinates.

use crate::diagnostic::{Diagnostic, Error, Result};
use crate::evaluate::names::Names;
use crate::given_columns;
use crate::model::formula::evaluate;
use crate::model::{Constant, Coordinate, Formula, Layout, Points, Problem, Renewal, Unknown};
use crate::seeds::{Purpose, seed_for};
use bilo_expr::{Input, Leaf, Scratch, Tape};
use bilo_jet::{Column, PointSource};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// How often a set of random points is filled up to its number with points that `where` keeps.
const MOST_DRAWS: usize = 1000;

impl Points {
    /// All points of a layout, always the same.
    pub fn laid_out(layout: Layout) -> Points {
        Points { layout, at: vec![], moving: vec![], filter: None, renewal: None }
    }

    /// The points, made when they are asked for; unknowns stand for their guess.
    ///
    /// A grid comes in row-major order of the coordinates. Random and Sobol points (a seed gives
    /// always the same) are repeated for every combination of held values.
    pub fn source(&self, problem: &Problem, seed: u64) -> Result<PointSource> {
        let guess: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.guess).collect();
        self.source_at(problem, &guess, seed)
    }

    /// [`Points::source`] at other values of the scalar unknowns than their guess.
    pub fn source_at(&self, problem: &Problem, theta: &[f64], seed: u64) -> Result<PointSource> {
        let mut there = self.clone();
        for (coordinate, place) in &self.moving {
            let values = there.at.iter_mut().filter(|(held, _)| held == coordinate);
            let place = place_at(place, &problem.constants, &problem.unknowns, theta)?;
            values.for_each(|(_, values)| *values = vec![place]);
        }
        let filter = self.filter.as_ref().map(|filter| Filter::new(problem, theta, filter)).transpose()?;
        let points = match (&self.layout, &filter) {
            (Layout::Grid(counts), _) => there.grid(problem, counts),
            (Layout::Random(n), Some(filter)) if self.at.is_empty() => {
                return self.random_where(problem, *n, filter, &mut Pcg64::seed_from_u64(seed));
            }
            (Layout::Random(n), _) => {
                let mut rng = Pcg64::seed_from_u64(seed);
                there.scattered(problem, *n, |_, _| rng.random())
            }
            (Layout::Sobol(n), _) => there.scattered(problem, *n, |i, d| sobol(i, d, seed)),
            (Layout::List(columns), _) => PointSource::stored(columns.clone()),
        };
        let Some(filter) = filter else { return Ok(points) };
        let kept = filter.keep(points);
        if kept.is_empty() { Err(leaves_none(filter.formula)) } else { Ok(kept) }
    }

    /// Those of some points that `where` keeps, the unknowns at their guess.
    pub(crate) fn kept(&self, problem: &Problem, points: PointSource) -> Result<PointSource> {
        let Some(filter) = &self.filter else { return Ok(points) };
        let guess: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.guess).collect();
        let kept = Filter::new(problem, &guess, filter)?.keep(points);
        if kept.is_empty() { Err(leaves_none(filter)) } else { Ok(kept) }
    }

    /// The points of draw number `draw` of training, from 0; the first is what [`Points::source`] gives, or a
    /// batch of it.
    pub fn drawn(&self, problem: &Problem, seed: u64, draw: usize) -> Result<PointSource> {
        let other = || seed_for(seed, Purpose::Renewal, draw);
        match self.renewal {
            Some(Renewal { batch: Some(batch), .. }) => {
                let all = self.source(problem, seed)?;
                Ok(PointSource::stored(sample(&all, batch, &mut Pcg64::seed_from_u64(other()))))
            }
            Some(_) if draw > 0 => self.source(problem, other()),
            _ => self.source(problem, seed),
        }
    }

    /// So many random points that the filter keeps.
    fn random_where(
        &self,
        problem: &Problem,
        n: usize,
        filter: &Filter<'_>,
        rng: &mut Pcg64,
    ) -> Result<PointSource> {
        let mut columns = vec![Vec::with_capacity(n); problem.coordinates.len()];
        for _ in 0..MOST_DRAWS {
            let kept = filter.keep(self.scattered(problem, n, |_, _| rng.random()));
            let wanted = kept.len().min(n - columns[0].len());
            for (column, more) in columns.iter_mut().zip(kept.columns(0..wanted)) {
                column.extend(more);
            }
            if columns[0].len() == n {
                return Ok(PointSource::stored(columns));
            }
        }
        Err(leaves_none(filter.formula))
    }

    /// All points at once, one column per coordinate.
    pub fn columns(&self, problem: &Problem, seed: u64) -> Result<Vec<Vec<f64>>> {
        let points = self.source(problem, seed)?;
        Ok(points.columns(0..points.len()))
    }

    pub(crate) fn held(&self, coordinate: usize) -> Option<&Vec<f64>> {
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

fn sobol(point: usize, dimension: usize, seed: u64) -> f64 {
    let available = sobol_burley::NUM_DIMENSIONS as usize;
    let seed = (seed ^ (seed >> 32)) as u32;
    // Beyond the tabulated dimensions another seed starts them afresh.
    let seed = seed.wrapping_add((dimension / available) as u32);
    f64::from(sobol_burley::sample(point as u32, (dimension % available) as u32, seed))
}

/// A place that follows unknowns, at these values of them.
pub(crate) fn place_at(
    place: &Formula,
    constants: &[Constant],
    unknowns: &[Unknown],
    theta: &[f64],
) -> Result<f64> {
    let mut numbers = constants.to_vec();
    let names = unknowns.iter().map(|unknown| unknown.name.clone());
    numbers.extend(names.zip(theta).map(|(name, &value)| Constant { name, value }));
    evaluate(place, &numbers)
}

/// One point of each of so many equal stretches of a set, or all of fewer points.
pub fn sample(points: &PointSource, count: usize, random: &mut Pcg64) -> Vec<Vec<f64>> {
    let all = points.len();
    if all <= count {
        return points.columns(0..all);
    }
    let mut columns = vec![Vec::with_capacity(count); points.width()];
    for stretch in 0..count {
        let point = random.random_range(stretch * all / count..(stretch + 1) * all / count);
        for (column, value) in columns.iter_mut().zip(points.columns(point..point + 1)) {
            column.extend(value);
        }
    }
    columns
}

/// A condition on points, compiled.
struct Filter<'a> {
    formula: &'a Formula,
    names: Names,
    /// The given fields in it, which the tape takes after the coordinates.
    fields: Vec<Leaf>,
    tape: Tape,
}

impl<'a> Filter<'a> {
    fn new(problem: &Problem, theta: &[f64], formula: &'a Formula) -> Result<Self> {
        let mut names = Names::with_scalars_at(problem, theta);
        let condition = names.lower(formula)?;
        let fields = given_columns::leaves(&mut names, &[condition], &formula.origin)?;
        let coordinates = names.coordinates.iter().map(|&s| Leaf::Symbol(s));
        let inputs: Vec<Leaf> = coordinates.chain(fields.iter().cloned()).collect();
        let tape = Tape::compile(&names.graph, &[condition], &inputs)
            .expect("only coordinates, numbers and given fields are in scope");
        Ok(Self { formula, names, fields, tape })
    }

    /// The points where it holds (is neither zero nor undefined).
    fn keep(&self, points: PointSource) -> PointSource {
        let mut scratch = Scratch::new();
        points.keep(|columns| {
            let fields =
                self.fields.iter().filter_map(|leaf| given_columns::sample(&self.names, leaf, columns));
            let fields: Vec<Vec<f64>> = fields.collect();
            let inputs: Vec<_> = columns.iter().chain(&fields).map(|column| Input::Column(column)).collect();
            self.tape.eval(&inputs, columns[0].len(), &mut scratch);
            let values = scratch.output(&self.tape, 0);
            values.iter().map(|&holds: &f64| holds != 0.0 && !holds.is_nan()).collect()
        })
    }
}

fn leaves_none(filter: &Formula) -> Error {
    Diagnostic::new("`where` leaves no points", filter.origin.clone()).into()
}
