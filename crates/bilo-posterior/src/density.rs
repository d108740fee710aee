//! The density of the unknowns, the equations solved by any solver.
//!
//! log p(z) = log L(θ(z)) + log p(θ(z)) + log |dθ/dz|, up to a constant, in coordinates z without ends. Where no prior is
//! stated, the number as stated has the same density everywhere in its range. A noise level σ that nobody stated has the
//! density 1/σ and is integrated over: ∫ σ^(-n-1) exp(-S/(2σ²)) dσ is proportional to S^(-n/2), which is the concentrated
//! likelihood.

use crate::range::Range;
use bilo_fit::data_loss::{DataLoss, LossTerms};
use bilo_fit::gauss_newton::{Evaluated, ReducedProblem};
use bilo_fit::joint_likelihood::JointLikelihood;
use bilo_problem::Problem;
use bilo_problem::diagnostic::{self, Error, ErrorKind};
use bilo_sample::{Failure, LogDensity, Metric};
use faer::Mat;

/// A density with what its draws say of the data.
pub trait Posterior: LogDensity {
    /// What the solution says at a position.
    fn predict(&mut self, position: &[f64]) -> Result<Prediction, Failure>;

    /// The metric of the Gauss-Newton approximation at a position: the inverse of the expected curvature of minus the
    /// log-density. Directions that neither data nor priors see are as long as those of a number that is known to its size.
    fn metric(&mut self, position: &[f64]) -> Result<Metric, Failure>;
}

/// What the solution says at a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// log p(z).
    pub log_density: f64,
    /// The log-likelihood of all data, noise levels that are not stated at their best.
    pub log_likelihood: f64,
    /// The term of each observation.
    pub terms: Vec<f64>,
    /// The observed values, by observation.
    pub values: Vec<Vec<f64>>,
}

/// What gives each chain a density of its own.
pub trait Source: Sync {
    /// What solves the equations, in words.
    fn in_words(&self) -> String;

    /// Does something with a density.
    fn with(
        &self,
        act: &mut dyn FnMut(&mut dyn Posterior) -> diagnostic::Result<()>,
    ) -> diagnostic::Result<()>;
}

/// The ranges of all unknown numbers.
pub(crate) fn ranges(problem: &Problem) -> Vec<Range> {
    problem.unknowns.iter().map(Range::of).collect()
}

/// The coordinates of some numbers.
pub fn position_of(problem: &Problem, thetas: &[f64]) -> Vec<f64> {
    ranges(problem).iter().zip(thetas).map(|(range, &theta)| range.z_of(theta)).collect()
}

/// The numbers at some coordinates.
pub fn thetas_at(problem: &Problem, position: &[f64]) -> Vec<f64> {
    ranges(problem).iter().zip(position).map(|(range, &z)| range.theta(z)).collect()
}

/// The log-density of the numbers themselves, and its gradient by them: minus infinity outside of their ranges and where there
/// is no solution.
pub fn at_thetas(
    problem: &Problem,
    density: &mut dyn Posterior,
    thetas: &[f64],
    gradient: &mut [f64],
) -> diagnostic::Result<f64> {
    let ranges = ranges(problem);
    if !ranges.iter().zip(thetas).all(|(range, &theta)| range.holds(theta)) {
        gradient.fill(0.0);
        return Ok(f64::NEG_INFINITY);
    }
    let position = position_of(problem, thetas);
    match density.at(&position, gradient) {
        Ok(height) => Ok(height - without_jacobian(&ranges, &position, gradient)),
        Err(Failure::Interrupted) => Err(Error::interrupted()),
        Err(Failure::Unsolvable(_)) => {
            gradient.fill(0.0);
            Ok(f64::NEG_INFINITY)
        }
    }
}

/// Turns a gradient by z into one by θ, of a density of θ; the logarithm of the Jacobian.
fn without_jacobian(ranges: &[Range], position: &[f64], gradient: &mut [f64]) -> f64 {
    let each = ranges.iter().zip(position).zip(gradient).map(|((range, &z), by)| {
        let (jacobian, slope) = range.log_jacobian(z);
        *by = (*by - slope) / range.slope(z);
        jacobian
    });
    each.sum()
}

/// The density of the unknown numbers, by something that solves the equations from one place wherever it is asked.
pub struct SolvedPosterior<'d, L: ReducedProblem> {
    data: DataLoss<'d>,
    joint: JointLikelihood,
    ranges: Vec<Range>,
    solver: L,
    /// Where every solve begins.
    anchor: L::Evaluation,
}

impl<'d, L: ReducedProblem> SolvedPosterior<'d, L> {
    /// Solves from an anchor.
    pub fn new(data: DataLoss<'d>, solver: L, anchor: L::Evaluation) -> Self {
        Self { joint: data.joint(), ranges: ranges(data.problem()), data, solver, anchor }
    }

    fn etas(&self, position: &[f64]) -> Vec<f64> {
        let unknowns = self.data.problem().unknowns.iter().zip(&self.ranges).zip(position);
        unknowns.map(|((unknown, range), &z)| unknown.eta_of(range.theta(z))).collect()
    }

    /// deta/dz.
    fn slope(&self, j: usize, z: f64, eta: f64) -> f64 {
        self.ranges[j].slope(z) / self.data.problem().unknowns[j].theta_slope(eta)
    }

    fn solved(&mut self, position: &[f64]) -> Result<L::Evaluation, Failure> {
        let eta = self.etas(position);
        if eta.iter().any(|eta| !eta.is_finite()) {
            return Err(Failure::Unsolvable("an unknown is not finite".to_owned()));
        }
        self.solver.evaluate(&self.anchor, &eta).map_err(failure)
    }

    /// How many observations there are; their terms come first.
    fn observations(&self) -> usize {
        self.data.tables().len()
    }

    fn height(&self, position: &[f64], eta: &[f64], terms: &LossTerms) -> (f64, f64) {
        let likelihood = -self.joint.negative_log_likelihood(&terms.terms[..self.observations()]);
        let jacobian: f64 = self.ranges.iter().zip(position).map(|(range, &z)| range.log_jacobian(z).0).sum();
        (likelihood - self.data.negative_log_prior(eta) + jacobian, likelihood)
    }

    /// What multiplies the derivatives of the loss by each observation's values to make those of minus the log-likelihood.
    fn factors(&self, terms: &LossTerms) -> Vec<f64> {
        let likelihood = self.joint.negative_log_likelihood_slopes(&terms.terms[..self.observations()]);
        let ratio = |(slope, weight): (f64, &f64)| if *weight == 0.0 { 0.0 } else { slope / weight };
        likelihood.into_iter().zip(&terms.weights).map(ratio).collect()
    }
}

/// Of a positive matrix by its lower half.
fn inverse(matrix: &Mat<f64>) -> Option<Vec<Vec<f64>>> {
    use faer::linalg::solvers::Solve;
    let count = matrix.nrows();
    let factor = matrix.llt(faer::Side::Lower).ok()?;
    let inverse = factor.solve(Mat::<f64>::identity(count, count));
    Some(
        (0..count).map(|i| (0..count).map(|j| 0.5 * (inverse[(i, j)] + inverse[(j, i)])).collect()).collect(),
    )
}

impl<L: ReducedProblem> LogDensity for SolvedPosterior<'_, L> {
    fn at(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        let evaluation = self.solved(position)?;
        let (eta, terms) = (evaluation.eta().to_vec(), evaluation.loss_terms());
        let (height, _) = self.height(position, &eta, terms);
        let factors = self.factors(terms);
        let by_values: Vec<Vec<f64>> = terms.by_values.clone();
        let observed = self.solver.observed(&evaluation).map_err(failure)?;
        for (j, sum) in gradient.iter_mut().enumerate() {
            let unknown = &self.data.problem().unknowns[j];
            let of = |o: usize| -> f64 {
                let pairs = observed[o].slopes[j].iter().zip(&by_values[o]);
                factors[o] * pairs.map(|(slope, by_value)| slope * by_value).sum::<f64>()
            };
            let likelihood = -(0..self.observations()).map(of).sum::<f64>();
            let prior = unknown.prior.map_or(0.0, |prior| prior.at(unknown.theta_of(eta[j])).slope);
            let (_, jacobian) = self.ranges[j].log_jacobian(position[j]);
            *sum = likelihood * self.slope(j, position[j], eta[j])
                - prior * self.ranges[j].slope(position[j])
                + jacobian;
        }
        Ok(height)
    }
}

impl<L: ReducedProblem> Posterior for SolvedPosterior<'_, L> {
    fn predict(&mut self, position: &[f64]) -> Result<Prediction, Failure> {
        let evaluation = self.solved(position)?;
        let terms = evaluation.loss_terms();
        let (log_density, log_likelihood) = self.height(position, evaluation.eta(), terms);
        Ok(Prediction {
            log_density,
            log_likelihood,
            terms: terms.terms[..self.observations()].to_vec(),
            values: evaluation.values(),
        })
    }

    fn metric(&mut self, position: &[f64]) -> Result<Metric, Failure> {
        let evaluation = self.solved(position)?;
        let (eta, terms) = (evaluation.eta().to_vec(), evaluation.loss_terms());
        let (factors, roots) = (self.factors(terms), terms.roots.clone());
        let observed = self.solver.observed(&evaluation).map_err(failure)?;
        let count = self.ranges.len();
        let slope: Vec<f64> = (0..count).map(|j| self.slope(j, position[j], eta[j])).collect();
        let mut precision = Mat::<f64>::zeros(count, count);
        let mut row = 0;
        for (o, seen) in observed.iter().enumerate().take(self.observations()) {
            for i in 0..seen.values.len() {
                let weight = 2.0 * factors[o] * roots[row].powi(2);
                let along = |j: usize| seen.slopes[j][i] * slope[j];
                for a in 0..count {
                    for b in 0..=a {
                        precision[(a, b)] += weight * along(a) * along(b);
                    }
                }
                row += 1;
            }
        }
        for (j, unknown) in self.data.problem().unknowns.iter().enumerate() {
            let theta = unknown.theta_of(eta[j]);
            let curvature = unknown.prior.map_or(0.0, |prior| prior.at(theta).curvature.max(0.0));
            let size = match self.ranges[j] {
                Range::Whole => theta.abs().max(unknown.guess.abs()).max(unknown.scale),
                _ => 1.0,
            };
            precision[(j, j)] += curvature * self.ranges[j].slope(position[j]).powi(2) + size.powi(-2);
        }
        Ok(inverse(&precision).and_then(|covariance| Metric::of_covariance(&covariance)).unwrap_or_else(
            || Metric::Dense((0..count).map(|i| (0..=i).map(|j| f64::from(i == j)).collect()).collect()),
        ))
    }
}

/// Where there is no solution there is no density, and the chain goes elsewhere.
fn failure(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::Interrupted => Failure::Interrupted,
        _ => Failure::Unsolvable(error.headline()),
    }
}

/// The same the other way round.
pub(crate) fn error(failure: Failure) -> Error {
    match failure {
        Failure::Interrupted => Error::interrupted(),
        Failure::Unsolvable(reason) => Error::new(ErrorKind::Solver, reason),
    }
}
