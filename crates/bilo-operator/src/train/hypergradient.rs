//! The gradient of the data loss through the trained state, as BPN takes it (Hao et al., ICLR 2023).
//!
//! With W*(θ) the minimum of the residuals' loss R(W, θ), the data loss L(W*(θ), θ) has the gradient
//!
//! ```text
//! dL/dθ = ∂L/∂θ - ∂²R/∂θ∂W v,    (∂²R/∂W²) v = ∂L/∂W
//! ```
//!
//! v is found by Broyden's method. Products with second derivatives of R are central differences of its gradient:
//! in double precision they are good to nine digits, and 32 iterations leave far fewer.

use super::Trainer;
use crate::level::{Joint, LossSlopes};
use crate::state::OperatorState;
use bilo_jet::Moves;
use bilo_problem::diagnostic::Result;

/// Length of the differences, relative to that of the weights.
const DIFFERENCE: f64 = 1e-5;

/// An equation that is solved to this part of its right-hand side is solved.
const SOLVED: f64 = 1e-10;

impl Trainer<'_, '_> {
    /// dL/dθ by eta and by the weights V of functions; `by_weights` is zero for W.
    pub fn hypergradient(&mut self, joint: &Joint, point: &OperatorState) -> Result<LossSlopes> {
        let functions = self.shapes.function_weights();
        let mut loss = joint.upper().loss(self.device, &point.weights, &point.eta)?;
        let right = loss.by_weights.split_off(functions);
        let iterations = self.settings().inverse_steps;
        let v = broyden(&right, iterations, |v| {
            Ok(self.second_derivatives(joint, point, v)?.by_weights.split_off(functions))
        })?;
        let through = self.second_derivatives(joint, point, &v)?;
        let owed = through.by_eta.iter().chain(&through.by_weights[..functions]);
        let slopes = loss.by_eta.iter_mut().chain(&mut loss.by_weights);
        slopes.zip(owed).for_each(|(slope, owed)| *slope -= owed);
        Ok(loss)
    }

    /// The derivatives of ∂R/∂(everything) along a direction of W.
    fn second_derivatives(
        &mut self,
        joint: &Joint,
        point: &OperatorState,
        along: &[f64],
    ) -> Result<LossSlopes> {
        let functions = self.shapes.function_weights();
        let step = DIFFERENCE * norm(&point.weights[functions..]) / norm(along).max(f64::MIN_POSITIVE);
        let mut at = |sign: f64| {
            let mut weights = point.weights.clone();
            let moved = weights[functions..].iter_mut().zip(along);
            moved.for_each(|(weight, along)| *weight += sign * step * along);
            joint.residual_loss(self.device, &weights, &point.eta, Moves::All)
        };
        let (ahead, behind) = (at(1.0)?, at(-1.0)?);
        let difference = |ahead: &[f64], behind: &[f64]| -> Vec<f64> {
            ahead.iter().zip(behind).map(|(a, b)| (a - b) / (2.0 * step)).collect()
        };
        Ok(LossSlopes {
            terms: vec![],
            by_eta: difference(&ahead.by_eta, &behind.by_eta),
            by_weights: difference(&ahead.by_weights, &behind.by_weights),
        })
    }
}

/// Solves H v = right by Broyden's method from zero, with the inverse of H as a multiple of one and a sum of outer
/// products, one more in each iteration.
fn broyden(
    right: &[f64],
    iterations: usize,
    mut times: impl FnMut(&[f64]) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    let goal = SOLVED * norm(right);
    let mut v = vec![0.0; right.len()];
    if norm(right) == 0.0 {
        return Ok(v);
    }
    // The multiple that is right along the right-hand side.
    let curvature = dot(right, &times(right)?) / dot(right, right);
    let start = 1.0 / curvature.abs().max(f64::MIN_POSITIVE);
    let mut outer: Vec<(Vec<f64>, Vec<f64>)> = vec![];
    let apply = |outer: &[(Vec<f64>, Vec<f64>)], x: &[f64], transposed: bool| {
        let mut result: Vec<f64> = x.iter().map(|x| start * x).collect();
        for (left, right) in outer {
            let (into, from) = if transposed { (right, left) } else { (left, right) };
            let factor = dot(from, x);
            result.iter_mut().zip(into).for_each(|(sum, entry)| *sum += factor * entry);
        }
        result
    };
    let mut missing = right.to_vec();
    for _ in 0..iterations {
        if norm(&missing) <= goal {
            break;
        }
        let step = apply(&outer, &missing, false);
        let gained = times(&step)?;
        v.iter_mut().zip(&step).for_each(|(v, step)| *v += step);
        missing.iter_mut().zip(&gained).for_each(|(missing, gained)| *missing -= gained);
        // The inverse takes what was gained to the step: B += (s - B y) sᵀB / (sᵀ B y).
        let predicted = apply(&outer, &gained, false);
        let row = apply(&outer, &step, true);
        let pivot = dot(&step, &predicted);
        if pivot.abs() < f64::MIN_POSITIVE {
            break;
        }
        let left = step.iter().zip(&predicted).map(|(step, predicted)| (step - predicted) / pivot).collect();
        outer.push((left, row));
    }
    Ok(v)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of six rows with eigenvalues from 1 to 4: Broyden's method ends on linear equations after at most
    /// twice as many iterations as there are unknowns (Gay 1979).
    #[test]
    fn broyden_solves_linear_equations() {
        let entry = |i: usize, j: usize| {
            let off = 0.2 / (1.0 + (i as f64 - j as f64).abs());
            if i == j { 1.0 + 0.5 * i as f64 } else { off }
        };
        let times =
            |x: &[f64]| -> Vec<f64> { (0..6).map(|i| (0..6).map(|j| entry(i, j) * x[j]).sum()).collect() };
        let exact = [1.0, -2.0, 0.5, 3.0, -1.5, 0.25];
        let found = broyden(&times(&exact), 12, |x| Ok(times(x))).expect("nothing fails");
        for (found, exact) in found.iter().zip(exact) {
            assert!((found - exact).abs() < 1e-8, "{found} {exact}");
        }
    }
}
