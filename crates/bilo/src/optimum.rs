//! The minimum of the data loss over the unknowns, by Gauss-Newton (Fisher scoring where errors are not
//! normal) with Levenberg's damping. What solves the PDE on the way is the classical twin, or a local
//! operator that is solved again at every step.

use crate::diagnostic::{Diagnostic, Result};
use crate::misfit::{Judged, columns};
use crate::outcome::Stop;
use crate::problem::Unknown;
use crate::twin::WithSlopes;
use faer::Mat;

/// Most iterations: ten are many for a problem that has an optimum at all.
pub const MAX_ITERATIONS: usize = 100;

/// Converged when no unknown moved by more than this, relative to its size: the next step would be
/// smaller by far.
const STEP: f64 = 1e-6;

/// A step shorter than this is not even taken: it would gain less than the search promises, and costs a solution.
const NOTHING: f64 = 1e-10;

/// Two losses that differ by less than this part of them are equal.
const ROUNDING: f64 = 1e-13;

/// Converged when the gradient is this small beside the square root of loss and curvature: for squares, when
/// the residuals are orthogonal to every column of the Jacobian up to this cosine. What is left to gain is
/// this times the square root of the number of values, in standard deviations.
const GRADIENT: f64 = 1e-9;

/// Damping at the start, relative to columns of unit length.
const DAMPING: f64 = 1e-4;

/// With functions unknown there are directions that the data hardly see, and the search creeps along them. It has
/// converged when so many iterations lowered the loss by no more than this part of it.
const CREEPING: (usize, f64) = (10, 0.02);

/// Where an iteration stands.
pub struct Iterate<'a> {
    /// Its number, from 1.
    pub step: usize,
    /// The unknowns' variables before it.
    pub eta: &'a [f64],
    /// The terms of the data loss before it.
    pub terms: &'a [f64],
    /// The terms of the lower level before it, if there is one.
    pub lower: &'a [f64],
}

/// What solves the PDE for given unknowns and says what the data make of the solution.
pub trait Landscape {
    /// A solution at some value of the variables.
    type Visit: Judgeable;

    /// The scalar unknowns, whose variables come first.
    fn unknowns(&self) -> &[Unknown];

    /// Solves at other variables than those of a visit.
    fn visit(&mut self, near: &Self::Visit, eta: &[f64]) -> Result<Self::Visit>;

    /// The values that the loss is made of, with their derivatives by the variables.
    fn observed(&mut self, visit: &Self::Visit) -> Result<Vec<WithSlopes>>;
}

/// A solution with what the data make of it.
pub trait Judgeable {
    /// The variables.
    fn eta(&self) -> &[f64];

    /// What the data make of it.
    fn judged(&self) -> &Judged;

    /// How well the PDE is solved, if that is a matter of degree.
    fn lower_losses(&self) -> &[f64] {
        &[]
    }
}

/// Where the minimisation ended.
pub struct Optimum<V> {
    /// The solution there.
    pub visit: V,
    /// Why it ended.
    pub stop: Stop,
    /// Iterations taken.
    pub steps: usize,
}

/// Minimises the data loss from a solution at some start; `watch` may end it after an iteration.
pub fn minimise<L: Landscape>(
    landscape: &mut L,
    start: L::Visit,
    watch: &mut dyn FnMut(&Iterate<'_>) -> Option<Stop>,
) -> Result<Optimum<L::Visit>> {
    let mut search = Search::new(landscape, start)?;
    let mut losses = vec![];
    for step in 1..=MAX_ITERATIONS {
        let (eta, terms) = (search.visit.eta().to_vec(), search.visit.judged().terms.clone());
        let lower = search.visit.lower_losses().to_vec();
        losses.push(search.visit.judged().loss);
        let converged = search.iterate()? || search.creeps(&losses);
        let stop = watch(&Iterate { step, eta: &eta, terms: &terms, lower: &lower });
        if let Some(stop) = converged.then_some(Stop::Converged).or(stop) {
            return Ok(search.ended(stop, step));
        }
    }
    Ok(search.ended(Stop::Steps, MAX_ITERATIONS))
}

struct Search<'l, L: Landscape> {
    landscape: &'l mut L,
    visit: L::Visit,
    /// What is observed there; after the last step that is not asked for.
    observed: Vec<WithSlopes>,
    /// Levenberg's lambda, and what it grows by when the next step is rejected.
    damping: f64,
    growth: f64,
    start: Vec<f64>,
}

impl<'l, L: Landscape> Search<'l, L> {
    fn new(landscape: &'l mut L, visit: L::Visit) -> Result<Self> {
        let (observed, start) = (landscape.observed(&visit)?, visit.eta().to_vec());
        Ok(Self { landscape, visit, observed, damping: DAMPING, growth: 2.0, start })
    }

    fn ended(self, stop: Stop, steps: usize) -> Optimum<L::Visit> {
        Optimum { visit: self.visit, stop, steps }
    }

    /// Whether functions are unknown and the last iterations gained little.
    fn creeps(&self, losses: &[f64]) -> bool {
        let functions = self.visit.eta().len() > self.landscape.unknowns().len();
        let Some(before) = losses.len().checked_sub(CREEPING.0) else { return false };
        functions && losses[before] - self.visit.judged().loss <= CREEPING.1 * losses[before].abs()
    }

    /// One accepted step; true if there is nothing left to gain.
    fn iterate(&mut self) -> Result<bool> {
        let model = Model::new(self.landscape.unknowns(), &self.visit, &self.observed)?;
        if model.stationary() {
            return Ok(true);
        }
        let before = self.visit.judged().loss;
        loop {
            let trial = self.projected(&model.step(self.damping));
            let moved: Vec<f64> = trial.iter().zip(self.visit.eta()).map(|(new, old)| new - old).collect();
            // Nothing is gained by a step this short that damping did not shorten.
            if self.damping <= DAMPING && self.within(NOTHING, &moved) {
                return Ok(true);
            }
            let visit = match self.landscape.visit(&self.visit, &trial) {
                Ok(visit) => Some(visit),
                // Where the PDE cannot be solved, the step was too long.
                Err(error) => error.unless_device().map(|_| None)?,
            };
            if let Some(visit) = visit {
                let gain = before - visit.judged().loss;
                // The gain of a short step drowns in rounding before the step does.
                let rounding = if self.within(STEP, &moved) { ROUNDING * before.abs() } else { 0.0 };
                if gain > -rounding {
                    self.visit = visit;
                    self.relax(gain / model.predicted_gain(&moved));
                    let converged = self.within(STEP, &moved);
                    if !converged {
                        self.observed = self.landscape.observed(&self.visit)?;
                    }
                    return Ok(converged);
                }
            }
            if self.within(STEP, &moved) {
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
        let unknowns = self.landscape.unknowns();
        let moved = self.visit.eta().iter().zip(step).enumerate();
        moved.map(|(j, (eta, step))| unknowns.get(j).map_or(eta + step, |u| u.project(eta + step))).collect()
    }

    /// Whether no variable moved by more than this part of its size.
    fn within(&self, part: f64, moved: &[f64]) -> bool {
        let sizes = self.visit.eta().iter().zip(&self.start).map(|(eta, start)| eta.abs().max(start.abs()));
        // Coefficients of functions are of one size together.
        let scalars = self.landscape.unknowns().len();
        let mut sizes: Vec<f64> = sizes.collect();
        let largest = sizes[scalars..].iter().copied().fold(0.0, f64::max);
        sizes[scalars..].fill(largest);
        moved.iter().zip(sizes).all(|(moved, size)| moved.abs() <= part * size)
    }
}

/// The loss near a point, as a parabola: its gradient, and its curvature as |J delta|² with J the derivatives
/// of the observed values, weighted as the loss curves; for the unknowns that are free to move.
struct Model {
    /// Half the derivatives of the loss.
    gradient: Vec<f64>,
    jacobian: Vec<Vec<f64>>,
    /// Length of each column, that of the coefficients of functions in the mean; zero for an unknown that is held.
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
    fn new(unknowns: &[Unknown], visit: &impl Judgeable, observed: &[WithSlopes]) -> Result<Self> {
        let judged = visit.judged();
        let mut jacobian = columns(observed);
        let gradient: Vec<f64> = judged.gradient(&jacobian).iter().map(|slope| slope / 2.0).collect();
        let roots = &judged.roots;
        for column in &mut jacobian {
            column.iter_mut().zip(roots).for_each(|(slope, root)| *slope *= root);
        }
        let length = |j: usize| match unknowns.get(j) {
            Some(unknown) if held(unknown, visit.eta()[j], gradient[j]) => 0.0,
            _ => dot(&jacobian[j], &jacobian[j]).sqrt(),
        };
        let mut lengths: Vec<f64> = (0..jacobian.len()).map(length).collect();
        share(&mut lengths[unknowns.len()..]);
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
            size: judged.size.sqrt(),
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

/// Gives the coefficients of functions one length, the root of the mean square. With lengths of their own those that
/// the data hardly see, since a form saturates, would be free to go anywhere.
fn share(lengths: &mut [f64]) {
    let mean = dot(lengths, lengths) / lengths.len().max(1) as f64;
    lengths.fill(mean.sqrt());
}

/// Whether an unknown stands at a bound beyond which the loss would fall.
fn held(unknown: &Unknown, eta: f64, slope: f64) -> bool {
    let beyond = eta - slope.signum() * f64::EPSILON.sqrt() * eta.abs().max(1.0);
    slope != 0.0 && unknown.project(eta) == eta && unknown.project(beyond) == eta
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
