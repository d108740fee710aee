//! The weight of a regulariser from the data, by the evidence.
//!
//! In units of the loss the unknowns minimise |ρ + A δ|² + R(δ), where ρ are the residuals and R the regularisers near the
//! estimate. If the squares are 2κ times a negative log-likelihood, the regularisers are 2κ times minus the logarithm of a
//! normal prior, and the probability of the data is, by Laplace's method, up to constants
//!
//! -D/(2κ) - (n - d + r)/2 log κ - ½ log det G + ½ log det⁺(τ Q), G = AᵀA + F + τ Q,
//!
//! with D the minimum over δ, n data, d variables, and τ multiplying regularisers Q of rank r beside others F. For linear
//! problems this is exact. Where κ is not known it is at its best, D/(n - d + r).

use crate::function_uncertainty::FunctionFit;
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};

/// Factors that are tried: so many decades to each side, in steps of so much.
const DECADES: f64 = 8.0;
const STEP: f64 = 0.25;

/// The factor is found to this part of a decade.
const PRECISION: f64 = 0.01;

/// What the data say of the regularisers' weights: factors of what they are now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// Where the evidence is largest.
    pub evidence: f64,
    /// Its logarithm where the weights are now, up to what does not depend on regularisers.
    pub log_evidence: f64,
    /// Where the residuals are as large as the noise, if it is known.
    pub discrepancy: Option<f64>,
    /// At the corner of the curve of residuals against regularisers, if it has one.
    pub l_curve: Option<f64>,
}

/// The problem near its estimate as the evidence sees it.
pub(crate) struct Evidence<'a> {
    pub(crate) fit: &'a FunctionFit,
    /// ρ, the residuals weighted as the loss does.
    pub(crate) residuals: Vec<f64>,
    /// κ, if the noise is known.
    pub(crate) noise: Option<f64>,
}

/// What a factor leads to.
struct At {
    evidence: f64,
    /// |ρ + A δ|².
    misfit: f64,
    /// R(δ) of the regularisers whose weights are looked for, without the factor.
    roughness: f64,
}

impl Evidence<'_> {
    /// The best factors; none if nothing can be said.
    pub(crate) fn factors(&self) -> Option<Factors> {
        let count = (2.0 * DECADES / STEP) as usize;
        let factor = |k: f64| 10.0_f64.powf(k * STEP - DECADES);
        let found: Vec<Option<At>> = (0..=count).map(|k| self.at(factor(k as f64))).collect();
        let height = |k: usize| found[k].as_ref().map_or(f64::NEG_INFINITY, |at| at.evidence);
        let best = (0..=count).max_by(|&a, &b| height(a).total_cmp(&height(b)))?;
        found[best].as_ref()?;
        let evidence = self.refined(factor(best as f64 - 1.0), factor(best as f64 + 1.0));
        Some(Factors {
            evidence,
            log_evidence: self.at(1.0)?.evidence,
            discrepancy: self.discrepancy(&found).map(factor),
            l_curve: corner(&found).map(factor),
        })
    }

    fn at(&self, factor: f64) -> Option<At> {
        let FunctionFit { weighted, penalty, pull, .. } = self.fit;
        let automatic = self.fit.automatic.as_ref()?;
        let variables = penalty.nrows();
        let rank = automatic.rank as f64;
        let more = factor - 1.0;
        let normal =
            Mat::from_fn(variables, variables, |i, j| penalty[(i, j)] + more * automatic.matrix[(i, j)])
                + weighted.transpose() * weighted;
        let residuals = Mat::from_fn(self.residuals.len(), 1, |i, _| self.residuals[i]);
        let slope = weighted.transpose() * &residuals
            + Mat::from_fn(variables, 1, |i, _| pull[i] + more * automatic.pull[i]);
        let factors = Llt::new(normal.as_ref(), Side::Lower).ok()?;
        let step = -factors.solve(&slope);
        let square = |m: &Mat<f64>| (0..m.nrows()).map(|i| m[(i, 0)].powi(2)).sum::<f64>();
        let product = |a: &Mat<f64>, b: &Mat<f64>| (0..a.nrows()).map(|i| a[(i, 0)] * b[(i, 0)]).sum::<f64>();
        let misfit = square(&(&residuals + weighted * &step));
        let roughness = automatic.value
            + 2.0 * (0..variables).map(|i| automatic.pull[i] * step[(i, 0)]).sum::<f64>()
            + product(&step, &(&automatic.matrix * &step));
        let whole = square(&residuals) + self.fit.value + more * automatic.value + product(&slope, &step);
        let determinant: f64 = (0..variables).map(|i| 2.0 * factors.L()[(i, i)].ln()).sum();
        let freedom = self.residuals.len() as f64 - variables as f64 + rank;
        let noise = self.noise.unwrap_or(whole / freedom);
        let evidence = -whole / (2.0 * noise) - freedom / 2.0 * noise.ln() - determinant / 2.0
            + (automatic.log_determinant + rank * factor.ln()) / 2.0;
        evidence.is_finite().then_some(At { evidence, misfit, roughness })
    }

    /// The largest evidence between two factors, by golden sections of the logarithm.
    fn refined(&self, lo: f64, hi: f64) -> f64 {
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut a, mut b) = (lo.log10(), hi.log10());
        let height = |x: f64| self.at(10.0_f64.powf(x)).map_or(f64::NEG_INFINITY, |at| at.evidence);
        while b - a > PRECISION {
            let (x, y) = (b - golden * (b - a), a + golden * (b - a));
            if height(x) > height(y) { b = y } else { a = x }
        }
        10.0_f64.powf(0.5 * (a + b))
    }

    /// Where the residuals cross the noise, in steps.
    fn discrepancy(&self, found: &[Option<At>]) -> Option<f64> {
        let wanted = self.noise? * self.residuals.len() as f64;
        let misfit = |k: usize| found[k].as_ref().map(|at| at.misfit);
        (1..found.len()).find_map(|k| {
            let (before, after) = (misfit(k - 1)?, misfit(k)?);
            (before <= wanted && after > wanted)
                .then(|| (k - 1) as f64 + (wanted - before) / (after - before))
        })
    }
}

/// Where the curve of the logarithms of misfit and roughness bends most, in steps.
fn corner(found: &[Option<At>]) -> Option<f64> {
    let point = |k: usize| {
        let at = found[k].as_ref()?;
        Some((at.misfit.max(f64::MIN_POSITIVE).ln(), at.roughness.max(f64::MIN_POSITIVE).ln()))
    };
    let bend = |k: usize| -> Option<(f64, usize)> {
        let ((x0, y0), (x1, y1), (x2, y2)) = (point(k - 1)?, point(k)?, point(k + 1)?);
        let (dx, dy) = ((x2 - x0) / 2.0, (y2 - y0) / 2.0);
        let (ddx, ddy) = (x2 - 2.0 * x1 + x0, y2 - 2.0 * y1 + y0);
        let bend = (dx * ddy - dy * ddx) / (dx * dx + dy * dy).powf(1.5);
        bend.is_finite().then_some((bend, k))
    };
    let bends = (1..found.len() - 1).filter_map(bend);
    bends.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(bend, _)| *bend > 0.0).map(|(_, k)| k as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function_uncertainty::AutomaticPenalty;

    /// One unknown x with prior N(0, s²) seen n times with noise: the data have the covariance noise 1 + s², whose evidence
    /// is known, and largest where s² is the mean square less the noise's.
    #[test]
    fn the_evidence_of_one_number_is_exact() {
        let (count, noise) = (8, 0.04);
        let data = [0.9, 1.1, 1.3, 0.7, 1.0, 1.2, 0.8, 1.0];
        let weight = 0.1;
        let weighted = Mat::from_fn(count, 1, |_, _| 1.0);
        // About x = 0: residuals -data, no pull.
        let automatic = AutomaticPenalty {
            matrix: Mat::from_fn(1, 1, |_, _| weight),
            pull: vec![0.0],
            value: 0.0,
            rank: 1,
            log_determinant: 0.0,
        };
        let fit = FunctionFit::for_test(weighted, Mat::from_fn(1, 1, |_, _| weight), automatic);
        let evidence =
            Evidence { fit: &fit, residuals: data.iter().map(|d| -d).collect(), noise: Some(noise) };
        // -½ dᵀ C⁻¹ d - ½ log det C with C = noise 1 + s² 11ᵀ, s² = noise/(weight factor).
        let exact = |factor: f64| {
            let n = count as f64;
            let (sum, squares) = (data.iter().sum::<f64>(), data.iter().map(|d| d * d).sum::<f64>());
            let s = noise / (weight * factor);
            let quadratic = (squares - s / (noise + n * s) * sum * sum) / noise;
            -0.5 * quadratic - 0.5 * ((noise + n * s).ln() + (n - 1.0) * noise.ln())
        };
        let constant = evidence.at(1.0).unwrap().evidence - exact(1.0);
        for factor in [1e-3, 0.1, 3.0, 100.0] {
            let found = evidence.at(factor).unwrap().evidence - constant;
            assert!((found - exact(factor)).abs() < 1e-9, "{factor}: {found} {}", exact(factor));
        }
        // The mean of the data has the variance s² + noise/n: s² is its square less that.
        let mean = data.iter().sum::<f64>() / count as f64;
        let best = noise / (mean * mean - noise / count as f64) / weight;
        let found = evidence.factors().unwrap().evidence;
        assert!((found / best).log10().abs() < PRECISION, "{found} {best}");
    }
}
