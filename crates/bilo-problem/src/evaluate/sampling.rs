//! Where an observed quantity is evaluated: at the places of the data, or at many about each of them where means,
//! integrals or values elsewhere are observed.

use crate::diagnostic::{Diagnostic, Result};
use crate::evaluate::tape::evaluate;
use crate::model::formula::Formula;
use crate::model::observation::{Bound, BoundTo, Observation, Term};
use crate::model::problem::Problem;
use crate::text::digits;
use bilo_expr::{Graph, Leaf, Scope, Tape, lower};

/// Panels of four Gauss nodes along a coordinate, by how many coordinates are integrated over.
const PANELS: [usize; 3] = [12, 6, 3];

/// The nodes and weights of Gauss's rule on [-1, 1], exact for polynomials up to degree 7.
const GAUSS: [(f64, f64); 4] = [
    (-0.861_136_311_594_052_6, 0.347_854_845_137_453_86),
    (-0.339_981_043_584_856_26, 0.652_145_154_862_546_1),
    (0.339_981_043_584_856_26, 0.652_145_154_862_546_1),
    (0.861_136_311_594_052_6, 0.347_854_845_137_453_86),
];

/// How far outside of the domain, relative to its length, a window may reach and still count as rounded.
const ROUNDING: f64 = 1e-6;

/// Where the data of an observation are, and the places of each of its terms.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Where the data are, one column per coordinate.
    pub coordinates: Vec<Vec<f64>>,
    terms: Vec<Option<Spread>>,
}

/// As many places for every datum.
#[derive(Clone, Debug)]
struct Spread {
    columns: Vec<Vec<f64>>,
    weights: Vec<f64>,
    /// Sampling of one datum.
    each: usize,
}

impl Sampling {
    /// Those of data at points.
    pub fn new(problem: &Problem, observation: &Observation, coordinates: Vec<Vec<f64>>) -> Result<Sampling> {
        let spread = |term: &Term| Spread::new(problem, observation, term, &coordinates);
        let terms = observation.terms.iter().map(spread).collect::<Result<_>>()?;
        Ok(Sampling { coordinates, terms })
    }

    /// Those where values are taken as they are.
    pub fn local(coordinates: Vec<Vec<f64>>) -> Sampling {
        Sampling { coordinates, terms: vec![None] }
    }

    /// The number of terms.
    pub fn terms(&self) -> usize {
        self.terms.len()
    }

    /// The places of a term, one column per coordinate.
    pub fn columns(&self, term: usize) -> &[Vec<f64>] {
        self.terms[term].as_ref().map_or(&self.coordinates, |spread| &spread.columns)
    }

    /// The places of a term that each datum is made of, and their weights.
    pub fn rows(&self, term: usize) -> Vec<Vec<(usize, f64)>> {
        let Some(Spread { weights, each, .. }) = &self.terms[term] else {
            return (0..self.coordinates[0].len()).map(|datum| vec![(datum, 1.0)]).collect();
        };
        let places: Vec<(usize, f64)> = weights.iter().copied().enumerate().collect();
        places.chunks(*each).map(<[_]>::to_vec).collect()
    }

    /// What values at the places of a term are for each datum.
    pub fn gather(&self, term: usize, values: Vec<f64>) -> Vec<f64> {
        let Some(Spread { weights, each, .. }) = &self.terms[term] else { return values };
        let weighted: Vec<f64> = values.iter().zip(weights).map(|(value, weight)| value * weight).collect();
        weighted.chunks(*each).map(|own| own.iter().sum()).collect()
    }

    /// The transpose of [`Sampling::gather`]: from derivatives by what is observed to those by values at the places of a term.
    pub fn scatter(&self, term: usize, by_observed: &[f64]) -> Vec<f64> {
        let Some(Spread { weights, each, .. }) = &self.terms[term] else { return by_observed.to_vec() };
        weights.iter().enumerate().map(|(place, weight)| by_observed[place / each] * weight).collect()
    }

    /// What is observed, from what evaluates each term at its places.
    pub fn sum(&self, mut evaluate: impl FnMut(usize, &[Vec<f64>]) -> Result<Vec<f64>>) -> Result<Vec<f64>> {
        let mut sum = vec![];
        for term in 0..self.terms() {
            let values = self.gather(term, evaluate(term, self.columns(term))?);
            match sum.is_empty() {
                true => sum = values,
                false => sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value),
            }
        }
        Ok(sum)
    }
}

impl Spread {
    /// None for values where the data are.
    fn new(
        problem: &Problem,
        observation: &Observation,
        term: &Term,
        data: &[Vec<f64>],
    ) -> Result<Option<Spread>> {
        if term.over.is_empty() {
            return Ok(None);
        }
        let integrated = term.over.iter().filter(|bound| matches!(bound.to, BoundTo::Window { .. })).count();
        let panels = PANELS[integrated.clamp(1, PANELS.len()) - 1];
        let rows = data[0].len();
        let mut spread = Spread { columns: data.to_vec(), weights: vec![1.0; rows], each: 1 };
        for bound in &term.over {
            let axes = axes(problem, observation, bound, data, panels)?;
            spread.extend(bound.coordinate, &axes);
        }
        Ok(Some(spread))
    }

    /// Every place so far with every node of its datum along a coordinate.
    fn extend(&mut self, coordinate: usize, axes: &[Vec<(f64, f64)>]) {
        let count = axes.first().map_or(1, Vec::len);
        let repeat = |column: &Vec<f64>| column.iter().flat_map(|&x| std::iter::repeat_n(x, count)).collect();
        let nodes = (0..self.weights.len()).flat_map(|place| &axes[place / self.each]);
        let nodes: Vec<(f64, f64)> = nodes.copied().collect();
        let mut columns: Vec<Vec<f64>> = self.columns.iter().map(repeat).collect();
        columns[coordinate] = nodes.iter().map(|(x, _)| *x).collect();
        let weights: Vec<f64> = repeat(&self.weights);
        self.weights = weights.iter().zip(&nodes).map(|(w, (_, own))| w * own).collect();
        (self.columns, self.each) = (columns, self.each * count);
    }
}

/// The nodes and weights of each datum along a bound coordinate.
fn axes(
    problem: &Problem,
    observation: &Observation,
    bound: &Bound,
    data: &[Vec<f64>],
    panels: usize,
) -> Result<Vec<Vec<(f64, f64)>>> {
    let coordinate = &problem.coordinates[bound.coordinate];
    let inside = |values: Vec<f64>| -> Result<Vec<f64>> {
        for (row, &value) in values.iter().enumerate() {
            let nearest = value.max(coordinate.lo).min(coordinate.hi);
            let near = (value - nearest).abs() <= ROUNDING * (coordinate.hi - coordinate.lo);
            if !near && !coordinate.periodic {
                let message = format!(
                    "what is observed in row {} needs {} = {}, which is outside of its range",
                    row + 1,
                    coordinate.name,
                    digits(value, 6)
                );
                return Err(Diagnostic::new(message, observation.value.origin.clone()).into());
            }
        }
        Ok(values)
    };
    match &bound.to {
        BoundTo::Place(place) => {
            let places = inside(at_data(problem, place, data)?)?;
            Ok(places.into_iter().map(|place| vec![(place, 1.0)]).collect())
        }
        BoundTo::Window { from, to, mean } => {
            let from = inside(at_data(problem, from, data)?)?;
            let to = inside(at_data(problem, to, data)?)?;
            if let Some(row) = from.iter().zip(&to).position(|(from, to)| from > to) {
                let message =
                    format!("the window over {} of row {} ends before it begins", coordinate.name, row + 1);
                return Err(Diagnostic::new(message, observation.value.origin.clone()).into());
            }
            Ok(from.iter().zip(&to).map(|(&from, &to)| window(from, to, *mean, panels)).collect())
        }
    }
}

fn window(from: f64, to: f64, mean: bool, panels: usize) -> Vec<(f64, f64)> {
    let half = (to - from) / (2 * panels) as f64;
    let scale = if mean { 1.0 / (2 * panels) as f64 } else { half };
    let centre = |panel: usize| from + half * (2 * panel + 1) as f64;
    let nodes =
        (0..panels).flat_map(|panel| GAUSS.map(|(x, weight)| (centre(panel) + half * x, scale * weight)));
    nodes.collect()
}

/// A formula of coordinates and constants at the data.
fn at_data(problem: &Problem, formula: &Formula, data: &[Vec<f64>]) -> Result<Vec<f64>> {
    let (mut graph, mut scope) = (Graph::new(), Scope::new());
    for constant in &problem.constants {
        let number = graph.constant(constant.value);
        scope.bind(&constant.name, number);
    }
    let mut leaves = vec![];
    for coordinate in &problem.coordinates {
        let symbol = graph.symbol(&coordinate.name);
        let leaf = graph.leaf(symbol);
        scope.bind(&coordinate.name, leaf);
        leaves.push(Leaf::Symbol(symbol));
    }
    let value = lower(&formula.ast, &mut graph, &scope).map_err(|error| formula.error(error))?;
    let tape = Tape::compile(&graph, &[value], &leaves).expect("coordinates are all leaves");
    let columns: Vec<&[f64]> = data.iter().map(|column| &column[..]).collect();
    Ok(evaluate(&tape, &columns))
}
