//! Diagonally implicit Runge-Kutta methods.

use crate::grid::Line;
use crate::system::Stage;

/// A method all of whose stages have the same `gamma` and whose last stage is the new solution. The unknown of a stage is its
/// value, so that states without a time derivative need nothing special:
///
/// ```text
/// Y_i:  r(Y_i, rate (Y_i - base_i)) = 0 at t_n + c_i dt,   rate = 1/(gamma dt),
///       base_i = u_n + sum_{j<i} ahead_ij (Y_j - u_n),     ahead = -gamma A^-1 below the diagonal
/// ```
///
/// With `K_i = rate (Y_i - base_i)` this is the usual `Y_i = u_n + dt sum_j a_ij K_j`.
#[derive(Debug)]
pub(crate) struct Method {
    gamma: f64,
    /// c: where in a step the stages are; the last one is at its end.
    at: &'static [f64],
    ahead: &'static [&'static [f64]],
}

/// `1 - sqrt(1/2)`.
const GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

/// Alexander's SDIRK2 (SIAM J. Numer. Anal. 14 (1977) 1006): L-stable.
pub(crate) static SECOND: Method =
    Method { gamma: GAMMA, at: &[GAMMA, 1.0], ahead: &[&[], &[(1.0 - GAMMA) / GAMMA]] };

/// Hairer and Wanner's SDIRK of order four (Solving Ordinary Differential Equations II, table 6.5): L-stable.
pub(crate) static FOURTH: Method = Method {
    gamma: 0.25,
    at: &[0.25, 0.75, 0.55, 0.5, 1.0],
    ahead: &[
        &[],
        &[2.0],
        &[42.0 / 25.0, -4.0 / 25.0],
        &[89.0 / 68.0, -25.0 / 136.0, 15.0 / 136.0],
        &[-37.0 / 12.0, -103.0 / 24.0, 275.0 / 8.0, -85.0 / 3.0],
    ],
};

/// The weights of `Y_j - u_n` in the difference between [`FOURTH`] and the method of third order within it.
const DIFFERENCE: [f64; 5] = [23.0 / 6.0, 17.0 / 12.0, -125.0 / 4.0, 85.0 / 3.0, 1.0];

impl Method {
    /// Every step through the times; those of equal ones are equal to the last bit.
    pub(crate) fn steps(&'static self, times: &Line) -> Vec<Step> {
        let positions = times.positions();
        let count = positions.len() - 1;
        let equal = (positions[count] - positions[0]) / count as f64;
        let dt = |t: &[f64]| if times.is_graded() { t[1] - t[0] } else { equal };
        positions.windows(2).map(|t| self.step([t[0], t[1]], dt(t))).collect()
    }

    /// A step of some length.
    pub(crate) fn step(&'static self, t: [f64; 2], dt: f64) -> Step {
        Step { method: self, t, rate: 1.0 / (self.gamma * dt) }
    }
}

/// A step from one time to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    method: &'static Method,
    t: [f64; 2],
    rate: f64,
}

impl Step {
    /// The number of stages.
    pub(crate) fn stages(&self) -> usize {
        self.method.at.len()
    }

    /// The weights of the earlier stages in the base of a stage.
    pub(crate) fn ahead(&self, stage: usize) -> &'static [f64] {
        self.method.ahead[stage]
    }

    /// A stage of the step from `u`, after the earlier ones were found.
    pub(crate) fn stage(&self, stage: usize, u: &[f64], earlier: &[&[f64]]) -> Stage {
        let [start, end] = self.t;
        let last = stage + 1 == self.stages();
        let t = if last { end } else { start + self.method.at[stage] * (end - start) };
        Stage { t, rate: self.rate, base: self.base(stage, u, earlier) }
    }

    /// The base of a stage.
    pub(crate) fn base(&self, stage: usize, u: &[f64], earlier: &[&[f64]]) -> Vec<f64> {
        let mut base = u.to_vec();
        for (ahead, y) in self.ahead(stage).iter().zip(earlier) {
            base.iter_mut().zip(u).zip(*y).for_each(|((base, u), y)| *base += ahead * (y - u));
        }
        base
    }
}

/// What a step of [`FOURTH`] differs by from one of third order, state by state.
pub(crate) fn difference(u: &[f64], stages: &[Vec<f64>]) -> Vec<f64> {
    let of = |i: usize| DIFFERENCE.iter().zip(stages).map(|(weight, y)| weight * (y[i] - u[i])).sum();
    (0..u.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A = gamma (1 - ahead)^-1`, row by row.
    fn coefficients(method: &Method) -> Vec<Vec<f64>> {
        let mut all: Vec<Vec<f64>> = Vec::new();
        for (i, ahead) in method.ahead.iter().enumerate() {
            let mut row = vec![0.0; method.at.len()];
            row[i] = method.gamma;
            for (weight, earlier) in ahead.iter().zip(&all) {
                row.iter_mut().zip(earlier).for_each(|(a, earlier)| *a += weight * earlier);
            }
            all.push(row);
        }
        all
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// The conditions of order for the weights `b` (Butcher): sums over trees, and what they must be.
    fn conditions(a: &[Vec<f64>], b: &[f64]) -> Vec<(usize, f64, f64)> {
        let c: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
        let through = |v: &[f64]| -> Vec<f64> { a.iter().map(|row| dot(row, v)).collect() };
        let power = |n: i32| -> Vec<f64> { c.iter().map(|c| c.powi(n)).collect() };
        let mixed: Vec<f64> = c.iter().zip(through(&c)).map(|(c, ac)| c * ac).collect();
        vec![
            (1, b.iter().sum(), 1.0),
            (2, dot(b, &c), 1.0 / 2.0),
            (3, dot(b, &power(2)), 1.0 / 3.0),
            (3, dot(b, &through(&c)), 1.0 / 6.0),
            (4, dot(b, &power(3)), 1.0 / 4.0),
            (4, dot(b, &mixed), 1.0 / 8.0),
            (4, dot(b, &through(&power(2))), 1.0 / 12.0),
            (4, dot(b, &through(&through(&c))), 1.0 / 24.0),
        ]
    }

    #[test]
    fn methods_are_of_their_order() {
        for (method, order) in [(&SECOND, 2), (&FOURTH, 4)] {
            let a = coefficients(method);
            for (at, row) in method.at.iter().zip(&a) {
                assert!((row.iter().sum::<f64>() - at).abs() < 1e-14, "{a:?}");
            }
            for (own, sum, expected) in conditions(&a, &a[a.len() - 1]) {
                assert!(own > order || (sum - expected).abs() < 1e-14, "order {own}: {sum} for {expected}");
            }
        }
    }

    /// The weights of the method within: b minus those of the difference, `DIFFERENCE` times A.
    #[test]
    fn the_method_within_is_of_third_order() {
        let a = coefficients(&FOURTH);
        let column = |j: usize| DIFFERENCE.iter().zip(&a).map(|(weight, row)| weight * row[j]).sum::<f64>();
        let b: Vec<f64> = (0..5).map(|j| a[4][j] - column(j)).collect();
        for (own, sum, expected) in conditions(&a, &b) {
            let holds = (sum - expected).abs() < 1e-13;
            assert!(own > 3 || holds, "order {own}: {sum} for {expected}");
        }
        let of_fourth = conditions(&a, &b).into_iter().filter(|(own, ..)| *own == 4);
        assert!(
            of_fourth.into_iter().any(|(_, sum, expected)| (sum - expected).abs() > 1e-3),
            "its error is seen"
        );
    }
}
