//! Newton's method for the weights at fixed unknowns, with Levenberg's damping where it overshoots.

use super::damped::Damped;
use super::rows::Rows;
use crate::level::Lower;
use bilo_jet::Device;

/// Most steps at one value of the unknowns.
const MAX_STEPS: usize = 40;

/// Converged when a step changes the rows by less than this, relative to what is left of them ..
const CHANGE: f64 = 1e-6;

/// .. or relative to the rows at the very first weights.
const ROUNDING: f64 = 1e-12;

/// Least damping: features may depend on each other.
const LEAST_DAMPING: f64 = 1e-22;

/// Damping from which on a rejected step is taken back for good.
const MOST_DAMPING: f64 = 1e6;

/// What has been computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Newton steps of the lower level.
    pub lower_steps: usize,
    /// Jacobians of the residuals.
    pub jacobians: usize,
    /// Matrices factorised.
    pub factorisations: usize,
}

impl Work {
    pub(crate) fn add(&mut self, more: Work) {
        self.lower_steps += more.lower_steps;
        self.jacobians += more.jacobians;
        self.factorisations += more.factorisations;
    }
}

/// Solves for the weights.
pub(crate) struct Corrector {
    pub(crate) work: Work,
    damping: f64,
    /// |rows| at the first weights of all.
    size: Option<f64>,
}

/// Weights that solve the lower level, with their derivatives by the unknowns.
#[derive(Clone, Debug)]
pub(crate) struct Corrected {
    pub(crate) weights: Vec<f64>,
    /// dW/deta_j.
    pub(crate) slopes: Vec<Vec<f64>>,
    /// Σ_e weight_e L_res,e.
    pub(crate) loss: f64,
    /// The same of the rows' derivatives along each unknown, W moving with it.
    pub(crate) gradient_loss: f64,
    /// Whether the steps came to an end.
    pub(crate) converged: bool,
}

impl Corrector {
    pub(crate) fn new() -> Self {
        Self { work: Work::default(), damping: LEAST_DAMPING, size: None }
    }

    /// Corrects predicted weights.
    pub(crate) fn correct(
        &mut self,
        lower: &Lower,
        device: &mut dyn Device,
        mut weights: Vec<f64>,
        eta: &[f64],
    ) -> Corrected {
        let mut steps = 0;
        loop {
            let rows = lower.rows(device, &weights, eta, true);
            self.work.jacobians += 1;
            let size = *self.size.get_or_insert(rows.loss().sqrt());
            let (step, slopes) = self.newton(&rows);
            let change = norm(&product(&rows, &step));
            let left = rows.loss().sqrt();
            steps += 1;
            if change <= CHANGE * left + ROUNDING * size || steps == MAX_STEPS || !left.is_finite() {
                return Corrected {
                    gradient_loss: gradient_loss(&rows, &slopes),
                    weights,
                    slopes,
                    loss: rows.loss(),
                    converged: steps < MAX_STEPS && left.is_finite(),
                };
            }
            match self.descend(lower, device, &weights, eta, &rows, step) {
                Some(moved) => weights = moved,
                None => {
                    let gradient_loss = gradient_loss(&rows, &slopes);
                    return Corrected { weights, slopes, loss: rows.loss(), gradient_loss, converged: true };
                }
            }
            self.work.lower_steps += 1;
        }
    }

    /// The step and the slopes by one factorisation.
    fn newton(&mut self, rows: &Rows) -> (Vec<f64>, Vec<Vec<f64>>) {
        let factor = Damped::new(&rows.jacobian, self.damping);
        self.work.factorisations += 1;
        let right: Vec<&[f64]> =
            std::iter::once(&rows.residual).chain(&rows.by_unknown).map(|column| &column[..]).collect();
        let mut found = factor.solve(&right);
        let slopes = found.split_off(1);
        (found.swap_remove(0), slopes)
    }

    /// The weights after a step that makes the rows smaller, shorter and shorter ones tried in turn (Nielsen:
    /// lambda times 2, 4, 8, ..); none if no step does, so that rounding is all that is left.
    fn descend(
        &mut self,
        lower: &Lower,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        rows: &Rows,
        mut step: Vec<f64>,
    ) -> Option<Vec<f64>> {
        let (before, mut growth) = (rows.loss(), 2.0);
        loop {
            let moved: Vec<f64> = weights.iter().zip(&step).map(|(weight, step)| weight + step).collect();
            let gain = before - lower.rows(device, &moved, eta, false).loss();
            if gain > 0.0 {
                let change = product(rows, &step);
                // |r|² - |r + J d|².
                let promised = before
                    - rows.residual.iter().zip(&change).map(|(r, change)| (r + change).powi(2)).sum::<f64>();
                let factor = (1.0 - (2.0 * gain / promised - 1.0).powi(3)).max(0.01);
                self.damping = (self.damping * factor).max(LEAST_DAMPING);
                return Some(moved);
            }
            self.damping *= growth;
            growth *= 2.0;
            if self.damping > MOST_DAMPING {
                self.damping = LEAST_DAMPING;
                return None;
            }
            step = self.newton(rows).0;
        }
    }
}

/// J x.
fn product(rows: &Rows, x: &[f64]) -> Vec<f64> {
    let mut result = vec![0.0; rows.residual.len()];
    for (j, &factor) in x.iter().enumerate() {
        let column = rows.jacobian.col(j);
        result.iter_mut().zip(column.iter()).for_each(|(sum, value)| *sum += factor * value);
    }
    result
}

/// Σ_j |dr/deta_j + J dW/deta_j|².
fn gradient_loss(rows: &Rows, slopes: &[Vec<f64>]) -> f64 {
    let left = |(explicit, slope): (&Vec<f64>, &Vec<f64>)| {
        let moved = product(rows, slope);
        explicit.iter().zip(moved).map(|(explicit, moved)| (explicit + moved).powi(2)).sum::<f64>()
    };
    rows.by_unknown.iter().zip(slopes).map(left).sum()
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}
