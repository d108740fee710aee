//! How well the data determine unknown functions: standard deviations at the nodes of their grids.
//!
//! Near its minimum the loss of the upper level is |A x - z|² + xᵀP x, where x is the distance from what the regularisers
//! prefer, A the derivatives of the observed values weighted as the loss curves, and P x half the derivatives of the
//! regularisers. Its minimiser is off for two reasons: the noise of z, of variances S², and the pull of the regularisers.
//! If the truth is spread about what they prefer by κ² P⁻¹, the covariance of its error is
//!
//! G⁻¹ (Aᵀ S² A + κ² P) G⁻¹, G = AᵀA + P:
//!
//! where κ² and all of S² are alike κ² G⁻¹, the posterior (Wahba, J. R. Stat. Soc. B 45, 133, 1983). A weight of a regulariser
//! need not say how much the truth varies, so κ² is what the estimate says: with it xᵀP x is what one expects, κ² tr(H²) over
//! the directions that P sees and what noise adds, with the resolution H = G⁻¹AᵀA.

use crate::context::RunContext;
use crate::noise::NoiseLevels;
use crate::outcome::Outcome;
use bilo_fit::data_loss::DataLoss;
use bilo_problem::diagnostic::Result;
use bilo_problem::fields::Field;
use bilo_problem::function::{Lattice, RegulariserOnLattice, Shape};
use bilo_problem::theta::Theta;
use bilo_problem::{Problem, Regulariser};
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};

/// Most values and most variables: each value takes an adjoint solve, and the variables share a dense matrix.
const MOST: usize = 1000;

/// Cells and steps along each coordinate for derivatives, which need not be as exact as values.
pub const COARSE: usize = 100;

/// The loss near its minimum where functions are unknown.
pub struct FunctionFit {
    /// The variables that can move, by number among all.
    free: Vec<usize>,
    /// A.
    pub(crate) weighted: Mat<f64>,
    /// P and P x, and the weighted sum of the regularisers.
    pub(crate) penalty: Mat<f64>,
    pub(crate) pull: Vec<f64>,
    pub(crate) value: f64,
    /// That of the regularisers whose weights the data choose, if there are such.
    pub(crate) automatic: Option<AutomaticPenalty>,
    /// G⁻¹.
    inverse: Mat<f64>,
    /// The number of all variables.
    variables: usize,
}

/// The derivatives of each observed value by everything unknown.
pub struct Derivatives {
    rows: Vec<Vec<f64>>,
}

impl Derivatives {
    /// On a coarse grid, where that is cheaper: what is made of them need not be exact. None where there are too many values
    /// or variables.
    pub fn new(run: &RunContext<'_>, evaluation: &Evaluation<'_>) -> Result<Option<Derivatives>> {
        let values = evaluation.values.iter().flatten().count();
        if values > MOST || free(run.problem, &evaluation.theta)?.len() > MOST {
            return Ok(None);
        }
        let coarse = run.cheaper_reference(COARSE);
        let coarse = coarse.as_ref().map(|reference| ReferenceLoss { data: run.data(), reference });
        Ok(Some(
            match coarse.map(|loss| loss.evaluate_near(&evaluation.theta, Some(evaluation))).transpose()? {
                Some(coarse) => Derivatives::at(run.problem, &coarse)?,
                None => Derivatives::at(run.problem, evaluation)?,
            },
        ))
    }

    fn at(problem: &Problem, evaluation: &Evaluation<'_>) -> Result<Derivatives> {
        let mut rows = vec![];
        for (observation, sites) in problem.observations.iter().zip(&evaluation.sites) {
            let found = evaluation.solution.observed_gradients(observation, &sites.sampling)?;
            rows.extend(found.iter().map(flat));
        }
        Ok(Derivatives { rows })
    }
}

/// Regularisers whose weights the data choose, with their weights as they are.
pub(crate) struct AutomaticPenalty {
    pub(crate) matrix: Mat<f64>,
    pub(crate) pull: Vec<f64>,
    pub(crate) value: f64,
    pub(crate) rank: usize,
    /// The logarithm of the product of the eigenvalues that are not zero.
    pub(crate) log_determinant: f64,
}

impl FunctionFit {
    /// None where there are too many values or variables, or no regulariser, or if the matrix is singular.
    pub fn new(run: &RunContext<'_>, evaluation: &Evaluation<'_>) -> Result<Option<FunctionFit>> {
        match Derivatives::new(run, evaluation)? {
            Some(derivatives) => FunctionFit::with(run, evaluation, &derivatives),
            None => Ok(None),
        }
    }

    /// The loss near an evaluation, with derivatives that were found nearby.
    pub fn with(
        run: &RunContext<'_>,
        evaluation: &Evaluation<'_>,
        derivatives: &Derivatives,
    ) -> Result<Option<FunctionFit>> {
        let (data, problem) = (&run.data(), run.problem);
        let free = free(problem, &evaluation.theta)?;
        let all = Penalty::new(problem, &evaluation.theta, &|_| true)?;
        let all = all.map(|all| all.with_priors(data, &evaluation.theta));
        let Some(Penalty { matrix, pull, value }) = all else { return Ok(None) };
        let (rows, roots) = (&derivatives.rows, &evaluation.loss_terms.roots);
        let weighted = Mat::from_fn(rows.len(), free.len(), |i, j| roots[i] * rows[i][free[j]]);
        let penalty = Mat::from_fn(free.len(), free.len(), |i, j| matrix[(free[i], free[j])]);
        let normal = weighted.transpose() * &weighted + &penalty;
        let Ok(factors) = Llt::new(normal.as_ref(), Side::Lower) else { return Ok(None) };
        let chosen = Penalty::new(problem, &evaluation.theta, &|regulariser| regulariser.automatic)?;
        Ok(Some(FunctionFit {
            automatic: chosen.and_then(|chosen| chosen.among(&free)),
            value,
            pull: free.iter().map(|&place| pull[place]).collect(),
            inverse: factors.inverse(),
            variables: matrix.nrows(),
            free,
            weighted,
            penalty,
        }))
    }

    /// How much of each value's own error its fit takes up: the diagonal of A G⁻¹ Aᵀ.
    pub fn leverages(&self) -> Vec<f64> {
        let solved = &self.weighted * &self.inverse;
        let product = |i: usize| (0..self.free.len()).map(|j| solved[(i, j)] * self.weighted[(i, j)]).sum();
        (0..self.weighted.nrows()).map(product).collect()
    }

    /// What the loss would fall by at its minimum, from residuals weighted as it does: (Aᵀρ + P x)ᵀ G⁻¹ (Aᵀρ + P x).
    pub fn expected_gain(&self, residuals: &[f64]) -> f64 {
        let slope = self.slope(residuals);
        (slope.transpose() * &self.inverse * &slope)[(0, 0)]
    }

    /// How far the minimum is, from residuals weighted as the loss does: -G⁻¹ (Aᵀρ + P x), in the shape of the unknowns.
    pub fn newton_step(&self, theta: &Theta, residuals: &[f64]) -> Theta {
        let step = &self.inverse * self.slope(residuals);
        let mut all = vec![0.0; self.variables];
        self.free.iter().enumerate().for_each(|(i, &place)| all[place] = -step[(i, 0)]);
        unflat(theta, &all)
    }

    /// Half the derivative of the loss.
    fn slope(&self, residuals: &[f64]) -> Mat<f64> {
        let residuals = Mat::from_fn(self.weighted.nrows(), 1, |i, _| residuals[i]);
        let pull = Mat::from_fn(self.pull.len(), 1, |i, _| self.pull[i]);
        self.weighted.transpose() * residuals + pull
    }

    /// How far the minimiser moves if the values move so far, weighted as the loss does: G⁻¹ Aᵀ ε, in the shape of the unknowns.
    pub(crate) fn step(&self, theta: &Theta, errors: &[f64]) -> Theta {
        let errors = Mat::from_fn(self.weighted.nrows(), 1, |i, _| errors[i]);
        let step = &self.inverse * (self.weighted.transpose() * errors);
        let mut all = vec![0.0; self.variables];
        self.free.iter().enumerate().for_each(|(i, &place)| all[place] = step[(i, 0)]);
        unflat(theta, &all)
    }

    /// The standard deviation of each variable, in the shape of the unknowns; none if they are not finite.
    pub fn deviations(&self, theta: &Theta, spread: &[f64]) -> Option<Theta> {
        let noisy = Mat::from_fn(self.weighted.nrows(), self.weighted.ncols(), |i, j| {
            spread[i] * self.weighted[(i, j)]
        });
        let variances = variances(&self.inverse, &noisy, &self.penalty, &self.pull)?;
        let mut all = vec![0.0; self.variables];
        self.free.iter().zip(variances).for_each(|(&place, variance)| all[place] = variance.sqrt());
        all.iter().all(|sd| sd.is_finite()).then(|| unflat(theta, &all))
    }
}

#[cfg(test)]
impl FunctionFit {
    /// From its matrices alone.
    pub(crate) fn for_test(
        weighted: Mat<f64>,
        penalty: Mat<f64>,
        automatic: AutomaticPenalty,
    ) -> FunctionFit {
        let (pull, value, variables) = (automatic.pull.clone(), automatic.value, penalty.nrows());
        let inverse = Mat::identity(variables, variables);
        let (free, automatic) = ((0..variables).collect(), Some(automatic));
        FunctionFit { free, weighted, penalty, pull, value, automatic, inverse, variables }
    }
}

/// The residuals of all values, weighted as the loss curves.
pub fn weighted_residuals(evaluation: &Evaluation<'_>) -> Vec<f64> {
    let terms = &evaluation.loss_terms;
    let slopes = terms.by_values.iter().flatten().zip(&terms.roots);
    let residuals = slopes.map(|(slope, root)| if *root > 0.0 { slope / (2.0 * root) } else { 0.0 });
    residuals.take(evaluation.values.iter().flatten().count()).collect()
}

/// Adds the standard deviations of unknown functions, and of the scalars beside them, to an outcome that has their
/// estimates.
pub fn add(outcome: &mut Outcome, problem: &Problem, theta: &Theta, fit: &FunctionFit, noise: &NoiseLevels) {
    let Some(sd) = fit.deviations(theta, noise.spread()) else { return };
    let scalars = problem.unknowns.iter().zip(&theta.eta).zip(sd.eta);
    for (found, ((unknown, &eta), sd)) in outcome.unknowns.numbers.iter_mut().zip(scalars) {
        found.sd = Some(sd * unknown.theta_slope(eta).abs());
    }
    for (number, function) in problem.functions.iter().enumerate() {
        let (estimate, sd) = (&theta.functions[number], &sd.functions[number]);
        let shares = Lattice::new(function).shares();
        let norm = |values: &[f64]| {
            let squares = values.iter().zip(&shares).map(|(value, share)| share * value * value);
            squares.sum::<f64>().sqrt()
        };
        outcome.unknowns.functions[number].relative_sd = Some(norm(sd) / norm(estimate));
        add_field(outcome, problem, number, sd);
    }
}

/// The field `NAME_sd` over the axes of the estimate.
fn add_field(outcome: &mut Outcome, problem: &Problem, number: usize, sd: &[f64]) {
    let function = &problem.functions[number];
    let fields = &mut outcome.fields;
    let Some(estimate) = fields.arrays.iter().find(|array| array.name == function.name) else { return };
    let of = estimate.of.clone();
    let axes: Vec<Vec<f64>> = of.iter().map(|&axis| fields.axes[axis].1.clone()).collect();
    let points = bilo_jet::PointSource::grid(axes);
    let columns = points.columns(0..points.len());
    let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
    let values = Lattice::new(function).sample(sd, &columns);
    fields.arrays.push(Field { name: format!("{}_sd", function.name), of, values });
}

/// The diagonal of G⁻¹ (Aᵀ S² A + κ² P) G⁻¹ from G⁻¹, S A, P and P x.
fn variances(inverse: &Mat<f64>, noisy: &Mat<f64>, penalty: &Mat<f64>, pull: &[f64]) -> Option<Vec<f64>> {
    let count = penalty.nrows();
    // What noise alone does to the estimate.
    let by_noise = inverse * noisy.transpose();
    let pulled = inverse * penalty;
    let from_noise: f64 =
        (by_noise.transpose() * penalty * &by_noise).diagonal().column_vector().iter().sum();
    // H = 1 - G⁻¹P is 1 where P sees nothing.
    let resolution = Mat::from_fn(count, count, |i, j| f64::from(i == j) - pulled[(i, j)]);
    let (rank, penalised) = rank_and_square(penalty, pull)?;
    let squares =
        (0..count).map(|i| (0..count).map(|j| resolution[(i, j)] * resolution[(j, i)]).sum::<f64>());
    let resolved = squares.sum::<f64>() - (count - rank) as f64;
    let scale = if resolved > 0.0 { (penalised - from_noise).max(0.0) / resolved } else { 0.0 };
    let variance = |i: usize| {
        let noise: f64 = (0..by_noise.ncols()).map(|k| by_noise[(i, k)].powi(2)).sum();
        let pull: f64 = (0..count).map(|j| pulled[(i, j)] * inverse[(j, i)]).sum();
        noise + scale * pull.max(0.0)
    };
    Some((0..count).map(variance).collect())
}

/// The rank of P, which has no negative eigenvalues, and xᵀP x from P x. By way of P x since values that a form holds, and
/// that x has no part in, may shift what the regularisers prefer.
fn rank_and_square(penalty: &Mat<f64>, pull: &[f64]) -> Option<(usize, f64)> {
    let eigen = penalty.self_adjoint_eigen(Side::Lower).ok()?;
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let largest = values.iter().copied().fold(0.0, f64::max);
    let seen: Vec<usize> = (0..values.nrows()).filter(|&k| values[k] > 1e-12 * largest).collect();
    let along = |k: usize| pull.iter().zip(vectors.col(k).iter()).map(|(a, b)| a * b).sum::<f64>();
    let square = seen.iter().map(|&k| along(k).powi(2) / values[k]).sum();
    Some((seen.len(), square))
}

/// The variables that can move, by number: all but those values of functions that a form holds.
fn free(problem: &Problem, theta: &Theta) -> Result<Vec<usize>> {
    let mut moves = vec![true; theta.eta.len()];
    for function in &problem.functions {
        moves.extend(Shape::new(problem, function)?.moves());
    }
    Ok((0..moves.len()).filter(|&place| moves[place]).collect())
}

/// Regularisers of all functions as xᵀP x.
struct Penalty {
    /// P, over all variables.
    matrix: Mat<f64>,
    /// P x.
    pull: Vec<f64>,
    /// Their weighted sum.
    value: f64,
}

impl Penalty {
    /// None if a function has no regulariser: then there are more variables than any data determine.
    fn new(problem: &Problem, theta: &Theta, counts: &dyn Fn(&Regulariser) -> bool) -> Result<Option<Self>> {
        let count = flat(theta).len();
        let (mut matrix, mut pull, mut value) = (Mat::zeros(count, count), vec![0.0; theta.eta.len()], 0.0);
        for (function, values) in problem.functions.iter().zip(&theta.functions) {
            let Some(regulariser) = RegulariserOnLattice::new(problem, function)? else { return Ok(None) };
            let first = pull.len();
            if !function.regulariser.as_ref().is_some_and(counts) {
                pull.resize(first + values.len(), 0.0);
                continue;
            }
            regulariser.form(values, &mut |i, j, entry| {
                matrix[(first + i, first + j)] += regulariser.weight() * entry;
            });
            let (mean, slopes) = regulariser.mean(values);
            value += regulariser.weight() * mean;
            pull.extend(slopes.iter().map(|slope| regulariser.weight() * slope / 2.0));
        }
        Ok(Some(Self { matrix, pull, value }))
    }

    /// With the priors of the numbers beside the functions.
    fn with_priors(mut self, data: &DataLoss<'_>, theta: &Theta) -> Self {
        let factor = 1.0 / data.joint().count().max(1.0);
        for (j, (unknown, &eta)) in data.problem().unknowns.iter().zip(&theta.eta).enumerate() {
            let Some(prior) = unknown.prior else { continue };
            let (at, slope) = (prior.at(unknown.theta_of(eta)), unknown.theta_slope(eta));
            self.matrix[(j, j)] += (factor * at.curvature).max(0.0) * slope * slope;
            self.pull[j] += factor * at.slope * slope;
            self.value += 2.0 * factor * at.value;
        }
        self
    }

    /// That over some of the variables; none if it is zero.
    fn among(&self, free: &[usize]) -> Option<AutomaticPenalty> {
        let matrix = Mat::from_fn(free.len(), free.len(), |i, j| self.matrix[(free[i], free[j])]);
        let pull: Vec<f64> = free.iter().map(|&place| self.pull[place]).collect();
        let (rank, _) = rank_and_square(&matrix, &pull)?;
        let mut eigenvalues = matrix.self_adjoint_eigenvalues(Side::Lower).ok()?;
        eigenvalues.sort_by(|a, b| b.total_cmp(a));
        let log_determinant = eigenvalues[..rank].iter().map(|value| value.ln()).sum();
        let value = self.value;
        (rank > 0).then_some(AutomaticPenalty { matrix, pull, value, rank, log_determinant })
    }
}

fn flat(theta: &Theta) -> Vec<f64> {
    theta.eta.iter().chain(theta.functions.iter().flatten()).copied().collect()
}

/// A list of all variables in the shape of another.
fn unflat(shape: &Theta, all: &[f64]) -> Theta {
    let (eta, mut rest) = all.split_at(shape.eta.len());
    let mut take = |values: &Vec<f64>| {
        let (own, others) = rest.split_at(values.len());
        rest = others;
        own.to_vec()
    };
    Theta { eta: eta.to_vec(), functions: shape.functions.iter().map(&mut take).collect() }
}
