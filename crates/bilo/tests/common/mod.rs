//! What several tests assert.

pub(crate) mod right_answers;
pub(crate) mod wrong_answers;

use bilo::data::observed_tables;
use bilo::data_loss::DataLoss;
use bilo::descent::Target;
use bilo::misfit::ReferenceLoss;
use bilo::problem::Problem;
use bilo::reference::ReferenceSolver;
use bilo::theta::Theta;

/// The gradient of the regularised data loss by the discrete adjoint agrees with central differences, by every
/// variable, to 1e-6 of its largest entry.
pub(crate) fn assert_gradient(problem: &Problem) {
    let tables = observed_tables(problem, 0).unwrap();
    let reference = ReferenceSolver::new(problem).unwrap();
    let target =
        Target::new(ReferenceLoss { data: DataLoss::new(problem, &tables), reference: &reference }).unwrap();
    let start = target.variables(&Theta::guess(problem).unwrap()).unwrap();
    let (_, gradient) = target.differentiate(&start).unwrap();
    let largest = gradient.iter().fold(0.0_f64, |largest, g| largest.max(g.abs()));
    for i in 0..start.len() {
        let total = |step: f64| {
            let mut moved = start.clone();
            moved[i] += step;
            target.differentiate(&moved).unwrap().0.total
        };
        let step = 1e-5;
        let expected = (total(step) - total(-step)) / (2.0 * step);
        let error = (gradient[i] - expected).abs() / largest;
        assert!(error < 1e-6, "{}: variable {i} off by {error:.1e}", problem.name);
    }
}

/// Relative errors of the unknowns that fit the data best on the problem's own grid, however coarse that is.
pub(crate) fn errors_on_own_grid(problem: &Problem) -> Vec<f64> {
    let (reference, tables) = (ReferenceSolver::new(problem).unwrap(), observed_tables(problem, 0).unwrap());
    let mut loss = ReferenceLoss { data: DataLoss::new(problem, &tables), reference: &reference };
    let guess = loss.evaluate(&problem.eta_of_guess()).unwrap();
    let found = bilo::gauss_newton::minimise(&mut loss, guess, &mut |_| None).unwrap();
    let thetas = problem.thetas(&found.evaluation.theta.eta);
    let error = |(unknown, theta): (&bilo::problem::Unknown, f64)| {
        let truth = unknown.truth.expect("a truth");
        (theta - truth).abs() / truth.abs()
    };
    problem.unknowns.iter().zip(thetas).map(error).collect()
}
