//! The minimum of the data loss over the unknowns, by Gauss-Newton (Fisher scoring where errors are not
//! normal) with Levenberg's damping. What solves the PDE on the way is the reference solver, or a local
//! operator that is solved again at every step.

use crate::data_loss::LossTerms;
use crate::sensitivities::{Sensitivities, columns};
use crate::stop::Stop;
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use bilo_problem::{Transform, Unknown};
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

/// After a step that was rejected, the next is at most this part of it, then the square of this part, ..: little damping hardly
/// shortens a step along what the data see well, and each trial costs a solution.
const SHORTER: f64 = 0.25;

/// What the damping grows by until the step is that short.
const FIRMER: f64 = 2.0;

/// What the damping falls to after a step that gained just what the model promised.
const LOOSER: f64 = 0.2;

/// With functions unknown there are directions that the data hardly see, and the search creeps along them. It has
/// converged when so many iterations lowered the loss by no more than this part of it.
const CREEPING: (usize, f64) = (10, 0.02);

/// A number that runs to zero or to infinity, where the data no longer see it, lowers the loss by less than this part of it in as
/// many iterations: there is nothing at the end of that way.
const RUNNING: f64 = 1e-7;

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
pub trait ReducedProblem {
    /// A solution at some value of the variables.
    type Evaluation: Evaluated;

    /// The scalar unknowns, whose variables come first.
    fn unknowns(&self) -> &[Unknown];

    /// Solves at other variables than those of a evaluation.
    fn evaluate(&mut self, near: &Self::Evaluation, eta: &[f64]) -> Result<Self::Evaluation>;

    /// The values that the loss is made of, with their derivatives by the variables.
    fn observed(&mut self, evaluation: &Self::Evaluation) -> Result<Vec<Sensitivities>>;
}

/// A solution with what the data make of it.
pub trait Evaluated {
    /// The variables.
    fn eta(&self) -> &[f64];

    /// What the data make of it.
    fn loss_terms(&self) -> &LossTerms;

    /// The observed quantities, by observation.
    fn values(&self) -> Vec<Vec<f64>>;

    /// How well the PDE is solved, if that is a matter of degree.
    fn lower_losses(&self) -> &[f64] {
        &[]
    }
}

/// Where the minimisation ended.
pub struct Optimum<V> {
    /// The solution there.
    pub evaluation: V,
    /// Why it ended.
    pub stop: Stop,
    /// Iterations taken.
    pub steps: usize,
}

/// Minimises the data loss from a solution at some start; `watch` may end it after an iteration.
pub fn minimise<L: ReducedProblem>(
    problem: &mut L,
    start: L::Evaluation,
    watch: &mut dyn FnMut(&Iterate<'_>) -> Option<Stop>,
) -> Result<Optimum<L::Evaluation>> {
    let mut search = Search::new(problem, start)?;
    let mut losses = vec![];
    for step in 1..=MAX_ITERATIONS {
        let (eta, terms) = (search.evaluation.eta().to_vec(), search.evaluation.loss_terms().terms.clone());
        let lower = search.evaluation.lower_losses().to_vec();
        losses.push(search.evaluation.loss_terms().loss);
        let converged = match search.iterate() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                return Ok(search.ended(Stop::Interrupted, step - 1));
            }
            done => done? || search.creeps(&losses),
        };
        let stop = watch(&Iterate { step, eta: &eta, terms: &terms, lower: &lower });
        if let Some(stop) = converged.then_some(Stop::Converged).or(stop) {
            return Ok(search.ended(stop, step));
        }
    }
    Ok(search.ended(Stop::Steps, MAX_ITERATIONS))
}

struct Search<'l, L: ReducedProblem> {
    problem: &'l mut L,
    evaluation: L::Evaluation,
    /// What is observed there; after the last step that is not asked for.
    observed: Vec<Sensitivities>,
    /// Levenberg's lambda.
    damping: f64,
    start: Vec<f64>,
}

impl<'l, L: ReducedProblem> Search<'l, L> {
    fn new(problem: &'l mut L, evaluation: L::Evaluation) -> Result<Self> {
        let (observed, start) = (problem.observed(&evaluation)?, evaluation.eta().to_vec());
        Ok(Self { problem, evaluation, observed, damping: DAMPING, start })
    }

    fn ended(self, stop: Stop, steps: usize) -> Optimum<L::Evaluation> {
        Optimum { evaluation: self.evaluation, stop, steps }
    }

    /// Whether the last iterations gained little.
    fn creeps(&self, losses: &[f64]) -> bool {
        let functions = self.evaluation.eta().len() > self.problem.unknowns().len();
        let Some(before) = losses.len().checked_sub(CREEPING.0) else { return false };
        let little = if functions { CREEPING.1 } else { RUNNING };
        losses[before] - self.evaluation.loss_terms().loss <= little * losses[before].abs()
    }

    /// One accepted step; true if there is nothing left to gain.
    fn iterate(&mut self) -> Result<bool> {
        let model = Model::new(self.problem.unknowns(), &self.evaluation, &self.observed)?;
        if model.stationary() {
            return Ok(true);
        }
        let before = self.evaluation.loss_terms().loss;
        let (mut longest, mut shorter) = (f64::INFINITY, SHORTER);
        loop {
            let trial = self.trial(&model, longest);
            let moved = self.moved(&trial);
            // Nothing is gained by a step this short that damping did not shorten.
            if self.damping <= DAMPING && self.within(NOTHING, &moved) {
                return Ok(true);
            }
            // Where the PDE cannot be solved, the step was too long.
            let evaluation = match self.problem.evaluate(&self.evaluation, &trial) {
                Err(error) if error.ends_search() => return Err(error),
                evaluation => evaluation.ok(),
            };
            if let Some(evaluation) = evaluation {
                let gain = before - evaluation.loss_terms().loss;
                // The gain of a short step drowns in rounding before the step does.
                let rounding = if self.within(STEP, &moved) { ROUNDING * before.abs() } else { 0.0 };
                if gain > -rounding {
                    self.evaluation = evaluation;
                    // Where a longer step has just failed, the next is not to be longer.
                    if longest.is_infinite() {
                        self.relax(gain / model.predicted_gain(&moved));
                    }
                    let converged = self.within(STEP, &moved);
                    if !converged {
                        self.observed = self.problem.observed(&self.evaluation)?;
                    }
                    return Ok(converged);
                }
            }
            if self.within(STEP, &moved) {
                return Ok(true);
            }
            longest = shorter * model.length(&moved);
            shorter *= SHORTER;
        }
    }

    /// Where to go next, with so much damping that it is no farther than `longest`: a rejected step is not to be tried again.
    fn trial(&mut self, model: &Model, longest: f64) -> Vec<f64> {
        loop {
            let trial = self.projected(&self.shortened(model.step(self.damping)));
            let too_far = model.length(&self.moved(&trial)) > longest;
            if !too_far {
                return trial;
            }
            self.damping *= FIRMER;
        }
    }

    fn moved(&self, trial: &[f64]) -> Vec<f64> {
        trial.iter().zip(self.evaluation.eta()).map(|(new, old)| new - old).collect()
    }

    /// Nielsen's rule: less damping after a step that gained what the model promised.
    fn relax(&mut self, gain: f64) {
        self.damping *= (1.0 - (2.0 * gain - 1.0).powi(3)).max(LOOSER);
    }

    /// A step that moves no logarithm by more than one: nobody knows what a parabola is worth beyond.
    fn shortened(&self, step: Vec<f64>) -> Vec<f64> {
        let scalars = self.problem.unknowns().iter().zip(&step);
        let logarithms = scalars.filter(|(unknown, _)| unknown.transform == Transform::Log);
        let longest = logarithms.map(|(_, step)| step.abs()).fold(1.0, f64::max);
        if longest > 1.0 { step.iter().map(|step| step / longest).collect() } else { step }
    }

    fn projected(&self, step: &[f64]) -> Vec<f64> {
        let unknowns = self.problem.unknowns();
        let moved = self.evaluation.eta().iter().zip(step).enumerate();
        moved.map(|(j, (eta, step))| unknowns.get(j).map_or(eta + step, |u| u.project(eta + step))).collect()
    }

    /// Whether no variable moved by more than this part of its size.
    fn within(&self, part: f64, moved: &[f64]) -> bool {
        let unknowns = self.problem.unknowns();
        let ends = self.evaluation.eta().iter().zip(&self.start).enumerate();
        let mut sizes: Vec<f64> = ends
            .map(|(j, (eta, start))| match unknowns.get(j) {
                // A logarithm moves by what its unknown moves relative to itself.
                Some(unknown) if unknown.transform == Transform::Log => 1.0,
                // A search that begins where one has ended near zero is not to tell digits of rounding.
                Some(unknown) => unknown.eta_of(unknown.guess).abs().max(start.abs()).max(eta.abs()),
                None => start.abs().max(eta.abs()),
            })
            .collect();
        // Coefficients of functions are of one size together.
        let scalars = unknowns.len();
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
    fn new(unknowns: &[Unknown], evaluation: &impl Evaluated, observed: &[Sensitivities]) -> Result<Self> {
        let loss_terms = evaluation.loss_terms();
        let mut jacobian = columns(observed);
        let gradient: Vec<f64> = loss_terms.gradient(&jacobian).iter().map(|slope| slope / 2.0).collect();
        let roots = &loss_terms.roots;
        for column in &mut jacobian {
            column.iter_mut().zip(roots).for_each(|(slope, root)| *slope *= root);
        }
        let length = |j: usize| match unknowns.get(j) {
            Some(unknown) if held(unknown, evaluation.eta()[j], gradient[j]) => 0.0,
            _ => dot(&jacobian[j], &jacobian[j]).sqrt(),
        };
        let mut lengths: Vec<f64> = (0..jacobian.len()).map(length).collect();
        share(&mut lengths[unknowns.len()..]);
        let unit = |i: usize, j: usize| if lengths[j] > 0.0 { jacobian[j][i] / lengths[j] } else { 0.0 };
        let matrix = Mat::from_fn(roots.len(), jacobian.len(), unit);
        let svd = matrix.thin_svd().map_err(|_| {
            Error::new(ErrorKind::Solver, "the derivatives of the observed values are not finite")
        })?;
        let count = roots.len().min(jacobian.len());
        let component = |j: usize| if lengths[j] > 0.0 { gradient[j] / lengths[j] } else { 0.0 };
        let along = |k: usize| (0..jacobian.len()).map(|j| svd.V()[(j, k)] * component(j)).sum();
        Ok(Self {
            singular: (0..count).map(|k| svd.S().column_vector()[k]).collect(),
            right: svd.V().to_owned(),
            along: (0..count).map(along).collect(),
            size: loss_terms.size.sqrt(),
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

    /// How long a step is, where each variable counts by the length of its column.
    fn length(&self, moved: &[f64]) -> f64 {
        let scaled = moved.iter().zip(&self.lengths).map(|(moved, length)| (moved * length).powi(2));
        scaled.sum::<f64>().sqrt()
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

#[cfg(test)]
mod tests;
