//! The data-optimal unknowns: the minimum of the data loss under the exact PDE, by Gauss-Newton (Fisher
//! scoring where errors are not normal) with Levenberg's damping and tangents of the classical twin.

use crate::diagnostic::{Diagnostic, Result};
use crate::misfit::{TwinLoss, Visit};
use crate::outcome::Stop;
use crate::problem::Unknown;
use crate::twin::WithSlopes;
use faer::Mat;

/// Most iterations: ten are many for a problem that has an optimum at all.
pub const MAX_ITERATIONS: usize = 100;

/// Converged when no unknown moved by more than this, relative to its size: the next step would be
/// smaller by far.
const STEP: f64 = 1e-6;

/// Converged when the gradient is this small beside the square root of loss and curvature: for squares, when
/// the residuals are orthogonal to every column of the Jacobian up to this cosine. What is left to gain is
/// this times the square root of the number of values, in standard deviations.
const GRADIENT: f64 = 1e-7;

/// Damping at the start, relative to columns of unit length.
const DAMPING: f64 = 1e-3;

/// Where an iteration stands.
pub struct Iterate<'a> {
    /// Its number, from 1.
    pub step: usize,
    /// The unknowns' variables before it.
    pub eta: &'a [f64],
    /// The terms of the data loss before it.
    pub terms: &'a [f64],
}

/// Where the minimisation ended.
pub struct Optimum<'a> {
    /// The solution there.
    pub visit: Visit<'a>,
    /// The observed quantities with their derivatives by eta.
    pub observed: Vec<WithSlopes>,
    /// Why it ended.
    pub stop: Stop,
    /// Iterations taken.
    pub steps: usize,
}

/// Minimises the data loss from a solution at some start; `watch` may end it after an iteration.
pub fn minimise<'a>(
    loss: &TwinLoss<'a>,
    start: Visit<'a>,
    watch: &mut dyn FnMut(&Iterate<'_>) -> Option<Stop>,
) -> Result<Optimum<'a>> {
    let mut search = Search::new(loss, start)?;
    for step in 1..=MAX_ITERATIONS {
        let (eta, terms) = (search.visit.theta.eta.clone(), search.visit.judged.terms.clone());
        let converged = search.iterate()?;
        let stop = watch(&Iterate { step, eta: &eta, terms: &terms });
        if let Some(stop) = converged.then_some(Stop::Converged).or(stop) {
            return Ok(search.ended(stop, step));
        }
    }
    Ok(search.ended(Stop::Steps, MAX_ITERATIONS))
}

struct Search<'l, 'a> {
    loss: &'l TwinLoss<'a>,
    visit: Visit<'a>,
    observed: Vec<WithSlopes>,
    /// Levenberg's lambda, and what it grows by when the next step is rejected.
    damping: f64,
    growth: f64,
    start: Vec<f64>,
}

impl<'l, 'a> Search<'l, 'a> {
    fn new(loss: &'l TwinLoss<'a>, visit: Visit<'a>) -> Result<Self> {
        let (observed, start) = (loss.slopes(&visit)?, visit.theta.eta.clone());
        Ok(Self { loss, visit, observed, damping: DAMPING, growth: 2.0, start })
    }

    fn ended(self, stop: Stop, steps: usize) -> Optimum<'a> {
        Optimum { visit: self.visit, observed: self.observed, stop, steps }
    }

    /// One accepted step; true if there is nothing left to gain.
    fn iterate(&mut self) -> Result<bool> {
        let model = Model::new(self.loss, &self.visit, &self.observed)?;
        if model.stationary() {
            return Ok(true);
        }
        let before = self.loss.data.total(&self.visit.judged.terms);
        loop {
            let trial = self.projected(&model.step(self.damping));
            let moved: Vec<f64> =
                trial.iter().zip(&self.visit.theta.eta).map(|(new, old)| new - old).collect();
            // Where the twin cannot solve, the step was too long.
            if let Ok(visit) = self.loss.visit(&trial) {
                let gain = before - self.loss.data.total(&visit.judged.terms);
                if gain > 0.0 {
                    self.visit = visit;
                    self.observed = self.loss.slopes(&self.visit)?;
                    self.relax(gain / model.predicted_gain(&moved));
                    return Ok(self.small(&moved));
                }
            }
            if self.small(&moved) {
                return Ok(true);
            }
            self.damping *= self.growth;
            self.growth *= 2.0;
        }
    }

    /// Nielsen's rule: less damping after a step that gained what the model promised.
    fn relax(&mut self, gain: f64) {
        self.damping *= (1.0 - (2.0 * gain - 1.0).powi(3)).max(0.2);
        self.growth = 2.0;
    }

    fn projected(&self, step: &[f64]) -> Vec<f64> {
        let unknowns = &self.loss.data.problem().unknowns;
        let moved = self.visit.theta.eta.iter().zip(step).zip(unknowns);
        moved.map(|((eta, step), unknown)| unknown.project(eta + step)).collect()
    }

    fn small(&self, moved: &[f64]) -> bool {
        let sizes =
            self.visit.theta.eta.iter().zip(&self.start).map(|(eta, start)| eta.abs().max(start.abs()));
        moved.iter().zip(sizes).all(|(moved, size)| moved.abs() <= STEP * size)
    }
}

/// The loss near a point, as a parabola: its gradient, and its curvature as |J delta|² with J the derivatives
/// of the observed values, weighted as the loss curves; for the unknowns that are free to move.
struct Model {
    /// Half the derivatives of the loss.
    gradient: Vec<f64>,
    jacobian: Vec<Vec<f64>>,
    /// Length of each column; zero for an unknown that is held.
    lengths: Vec<f64>,
    /// Singular value decomposition of the columns at unit length: singular values, right vectors
    /// and the gradient along these.
    singular: Vec<f64>,
    right: Mat<f64>,
    along: Vec<f64>,
    /// The size of the loss.
    size: f64,
}

impl Model {
    fn new(loss: &TwinLoss<'_>, visit: &Visit<'_>, observed: &[WithSlopes]) -> Result<Self> {
        let mut jacobian = loss.data.slopes(observed);
        let gradient: Vec<f64> = visit.judged.gradient(&jacobian).iter().map(|slope| slope / 2.0).collect();
        let roots = &visit.judged.roots;
        for column in &mut jacobian {
            column.iter_mut().zip(roots).for_each(|(slope, root)| *slope *= root);
        }
        let unknowns = loss.data.problem().unknowns.iter().zip(&visit.theta.eta);
        let lengths: Vec<f64> = (unknowns.zip(&jacobian).zip(&gradient))
            .map(|(((unknown, &eta), column), &slope)| match held(unknown, eta, slope) {
                true => 0.0,
                false => dot(column, column).sqrt(),
            })
            .collect();
        let unit = |i: usize, j: usize| if lengths[j] > 0.0 { jacobian[j][i] / lengths[j] } else { 0.0 };
        let matrix = Mat::from_fn(roots.len(), jacobian.len(), unit);
        let svd = matrix.thin_svd().map_err(|_| {
            Diagnostic::new("the derivatives of the observed values are not finite", Default::default())
        })?;
        let count = roots.len().min(jacobian.len());
        let component = |j: usize| if lengths[j] > 0.0 { gradient[j] / lengths[j] } else { 0.0 };
        let along = |k: usize| (0..jacobian.len()).map(|j| svd.V()[(j, k)] * component(j)).sum();
        Ok(Self {
            singular: (0..count).map(|k| svd.S().column_vector()[k]).collect(),
            right: svd.V().to_owned(),
            along: (0..count).map(along).collect(),
            size: visit.judged.size.sqrt(),
            gradient,
            jacobian,
            lengths,
        })
    }

    /// Whether there is nothing to gain along any unknown.
    fn stationary(&self) -> bool {
        let free = self.gradient.iter().zip(&self.lengths);
        free.into_iter().all(|(slope, &length)| length == 0.0 || slope.abs() <= GRADIENT * length * self.size)
    }

    /// The minimum of the parabola + lambda |D delta|², D the lengths of the columns.
    fn step(&self, lambda: f64) -> Vec<f64> {
        let part = |k: usize| -self.along[k] / (self.singular[k].powi(2) + lambda);
        let component = |j: usize| match self.lengths[j] {
            0.0 => 0.0,
            length => (0..self.singular.len()).map(|k| self.right[(j, k)] * part(k)).sum::<f64>() / length,
        };
        (0..self.lengths.len()).map(component).collect()
    }

    /// What the loss falls by if the model is right.
    fn predicted_gain(&self, moved: &[f64]) -> f64 {
        let mut change = vec![0.0; self.jacobian.first().map_or(0, Vec::len)];
        for (column, moved) in self.jacobian.iter().zip(moved) {
            change.iter_mut().zip(column).for_each(|(change, slope)| *change += slope * moved);
        }
        -2.0 * dot(&self.gradient, moved) - dot(&change, &change)
    }
}

/// Whether an unknown stands at a bound beyond which the loss would fall.
fn held(unknown: &Unknown, eta: f64, slope: f64) -> bool {
    let beyond = eta - slope.signum() * f64::EPSILON.sqrt() * eta.abs().max(1.0);
    slope != 0.0 && unknown.project(eta) == eta && unknown.project(beyond) == eta
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
