//! The data loss under the exact PDE over the plane of two unknowns: what trajectories are drawn over.

use crate::data::observed_tables;
use crate::misfit::ReferenceLoss;
use crate::solver::ReferenceSolver;
use bilo_fit::data_loss::DataLoss;
use bilo_problem::Problem;
use bilo_problem::diagnostic::Result;
use std::thread;

/// The data loss by the classical solution at all pairs of values of a problem's two scalar unknowns, the second running
/// fastest; not a number where there is no solution.
pub fn loss_map(problem: &Problem, seed: u64, axes: [&[f64]; 2]) -> Result<Vec<f64>> {
    let (tables, reference) = (observed_tables(problem, seed)?, ReferenceSolver::new(problem)?);
    let loss = ReferenceLoss { data: DataLoss::new(problem, &tables), reference: &reference };
    let row = |first: f64| -> Vec<f64> {
        let value = |&second: &f64| {
            let pair = problem.unknowns.iter().zip([first, second]);
            let eta: Vec<f64> = pair.map(|(unknown, theta)| unknown.eta_of(theta)).collect();
            loss.evaluate(&eta).map_or(f64::NAN, |evaluation| evaluation.loss_terms.loss)
        };
        axes[1].iter().map(value).collect()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = axes[0].len().div_ceil(cores).max(1);
    let parts: Vec<Vec<f64>> = thread::scope(|scope| {
        let part = |rows: &'_ [f64]| rows.iter().flat_map(|&first| row(first)).collect::<Vec<f64>>();
        let running: Vec<_> = axes[0].chunks(share).map(|rows| scope.spawn(move || part(rows))).collect();
        running.into_iter().map(|part| part.join().expect("solving does not panic")).collect()
    });
    Ok(parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_problem::Overrides;
    use std::path::Path;

    /// J = (th0² + th1² + th0 th1 - 2 th1 - th0 + 1)/3 is the integral of (y - x²)²; the mean over 64 points is it to a
    /// few hundredths.
    #[test]
    fn the_toy_has_its_parabola() {
        let text = include_str!("../../../problems/bpn-toy.toml");
        let problem = Problem::from_toml("toy", text, Path::new("."), &Overrides::default()).unwrap();
        let axes = [&[-1.0, 0.0, 1.0][..], &[0.5, 1.0]];
        let found = loss_map(&problem, 0, axes).unwrap();
        assert_eq!(found.len(), 6);
        for (i, a) in axes[0].iter().enumerate() {
            for (j, b) in axes[1].iter().enumerate() {
                let exact = (a * a + b * b + a * b - 2.0 * b - a + 1.0) / 3.0;
                assert!((found[2 * i + j] - exact).abs() < 0.03 * exact + 1e-12, "{a} {b}");
            }
        }
    }
}
