//! The error that the reference solver's grid makes, in units of the error bars.
//!
//! The same unknowns are solved for on a grid of twice the cells' size. The difference of the observed values says by how
//! much the values on the finer grid are off, and one step of Gauss-Newton with the derivatives at hand by how much the
//! unknowns are, which follow the data through the grid's error. While that is more than a tenth of an error bar, the grid is
//! refined, as far as a fixed amount of work allows.

use crate::audit::GradientSource;
use crate::context::RunContext;
use crate::noise::{Fitted, NoiseLevels};
use crate::outcome::Discretisation;
use crate::uncertainty::Uncertainty;
use bilo_fit::sensitivities::{Sensitivities, columns};
use bilo_fit::spectrum::LeastSquares;
use bilo_problem::diagnostic::Result;
use bilo_problem::theta::Theta;
use bilo_problem::{Classical, Data, Problem};
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use bilo_reference::solver::ReferenceSolver;

/// The grid is fine enough when it moves no unknown by more than this part of its error bar.
const FINE: f64 = 0.1;

/// Most unknowns of the grid times steps in time of a solve: some seconds with all its derivatives.
const MOST_WORK: f64 = 1.1e7;

/// Observed orders of convergence beyond this are chance.
const HIGHEST_ORDER: f64 = 4.0;

/// Least observed order that is believed.
const LOWEST_ORDER: f64 = 0.5;

/// What was found out about the grid.
pub(crate) struct Grid {
    /// A finer grid, if the stated one was too coarse, with its solver.
    pub(crate) finer: Option<(Problem, ReferenceSolver)>,
    /// The error of each observed value, by observation.
    pub(crate) values: Vec<Vec<f64>>,
    /// What is told of it.
    pub(crate) outcome: Discretisation,
}

/// Finds the error of the grid where the reference solver has been, and refines it; none where nothing can be said: data
/// that the same grid made, or a solver that fails on another one.
pub(crate) fn find(run: &RunContext<'_>, evaluation: &Evaluation<'_>) -> Option<Grid> {
    let made = |data: &Data| !matches!(data, Data::Table(_));
    if run.problem.observations.iter().any(|observation| made(&observation.data)) {
        return None;
    }
    Search::new(run, evaluation).and_then(Search::refine)
}

struct Search<'a> {
    run: &'a RunContext<'a>,
    theta: &'a Theta,
    /// The derivatives by the unknowns, where there are no functions.
    fit: Option<LeastSquares>,
    /// The standard deviations of the variables eta.
    sd: Vec<f64>,
    order: f64,
    /// Values on grids, each of half the cells' size of the one before.
    values: Vec<Vec<Vec<f64>>>,
    classical: Classical,
}

impl<'a> Search<'a> {
    fn new(run: &'a RunContext<'a>, evaluation: &'a Evaluation<'_>) -> Option<Search<'a>> {
        let reference = run.reference.as_ref().ok()?;
        let coarse = values_on(run, &coarser(&run.problem.classical)?, &evaluation.theta).ok()?;
        let (fit, sd) = derivatives(run, evaluation).unwrap_or((None, vec![]));
        Some(Search {
            run,
            theta: &evaluation.theta,
            fit,
            sd,
            order: reference.order(),
            values: vec![coarse, evaluation.values.clone()],
            classical: run.problem.classical.clone(),
        })
    }

    fn refine(mut self) -> Option<Grid> {
        let mut finer = None;
        while self.shifts().is_some_and(|shifts| self.ratio(&shifts) > FINE) {
            let next = self.classical.refined();
            if work(self.run.problem, &next) > MOST_WORK {
                break;
            }
            let problem = Problem { classical: next.clone(), ..self.run.problem.clone() };
            let Ok(solver) = ReferenceSolver::new(&problem) else { break };
            let solver = solver.interruptible(self.run.interrupt);
            let Ok(values) = observed(self.run, &solver, self.theta) else { break };
            self.values.push(values);
            self.classical = next;
            finer = Some((problem, solver));
        }
        let shifts = self.shifts();
        let outcome = Discretisation {
            shift: shifts.clone().map(|eta| self.of_theta(&eta)).unwrap_or_default(),
            order: self.observed_order().unwrap_or(self.order),
            grids: self.values.len(),
            cells: self.classical.cells.clone(),
            steps: self.classical.steps,
            refined: finer.is_some(),
            enough: shifts.is_none_or(|shifts| self.ratio(&shifts) <= FINE),
        };
        Some(Grid { values: self.errors(), finer, outcome })
    }

    /// The error of each value on the finest grid.
    fn errors(&self) -> Vec<Vec<f64>> {
        let factor = 2.0_f64.powf(self.observed_order().unwrap_or(self.order)) - 1.0;
        let [.., coarse, fine] = &self.values[..] else { return vec![] };
        let difference = |(coarse, fine): (&Vec<f64>, &Vec<f64>)| -> Vec<f64> {
            fine.iter().zip(coarse).map(|(fine, coarse)| (fine - coarse) / factor).collect()
        };
        coarse.iter().zip(fine).map(difference).collect()
    }

    /// How fast the values converge, if three grids show it.
    fn observed_order(&self) -> Option<f64> {
        let [.., first, second, third] = &self.values[..] else { return None };
        let distance = |a: &[Vec<f64>], b: &[Vec<f64>]| {
            let both = a.iter().flatten().zip(b.iter().flatten());
            both.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let order = (distance(first, second) / distance(second, third)).log2();
        order.is_finite().then(|| order.clamp(LOWEST_ORDER, HIGHEST_ORDER))
    }

    /// How far the grid moves each variable.
    fn shifts(&self) -> Option<Vec<f64>> {
        let errors: Vec<f64> = self.errors().concat();
        Some(self.fit.as_ref()?.fit(&errors).iter().map(|shift| shift.abs()).collect())
    }

    fn of_theta(&self, eta: &[f64]) -> Vec<f64> {
        let unknowns = self.run.problem.unknowns.iter().zip(&self.theta.eta).zip(eta);
        unknowns.map(|((unknown, &at), shift)| (unknown.theta_slope(at) * shift).abs()).collect()
    }

    /// The largest shift in units of the error bars.
    fn ratio(&self, shifts: &[f64]) -> f64 {
        let ratios = shifts.iter().zip(&self.sd).map(|(shift, sd)| shift / sd);
        ratios.filter(|ratio| !ratio.is_nan()).fold(0.0, f64::max)
    }
}

/// A least-squares fit of the unknown numbers near an evaluation, and the standard deviations of their variables.
fn derivatives(
    run: &RunContext<'_>,
    evaluation: &Evaluation<'_>,
) -> Option<(Option<LeastSquares>, Vec<f64>)> {
    if !run.problem.functions.is_empty() {
        return None;
    }
    let inspector = run.inspector(GradientSource::Slopes);
    let slopes: Vec<Sensitivities> = inspector.slopes(evaluation).ok()?;
    let (data, terms) = (run.data(), &evaluation.loss_terms);
    let eta = &evaluation.theta.eta;
    let fitted = Fitted::new(&data, terms, Some(&slopes));
    let noise = NoiseLevels::new(&data, &evaluation.sites, &evaluation.values, &fitted, eta).ok()?;
    let found = Uncertainty::new(run.problem, &noise, &slopes, eta)?;
    let unknowns = run.problem.unknowns.iter().zip(eta).zip(&found.sd);
    let sd = unknowns.map(|((unknown, &eta), sd)| sd / unknown.theta_slope(eta).abs()).collect();
    Some((LeastSquares::new(&columns(&slopes), &terms.roots), sd))
}

fn values_on(run: &RunContext<'_>, classical: &Classical, theta: &Theta) -> Result<Vec<Vec<f64>>> {
    let problem = Problem { classical: classical.clone(), ..run.problem.clone() };
    let solver = ReferenceSolver::new(&problem)?.interruptible(run.interrupt);
    observed(run, &solver, theta)
}

fn observed(run: &RunContext<'_>, solver: &ReferenceSolver, theta: &Theta) -> Result<Vec<Vec<f64>>> {
    Ok(ReferenceLoss { data: run.data(), reference: solver }.evaluate(theta)?.values)
}

/// The grid of twice the cells' size; none if it is too coarse for that.
fn coarser(classical: &Classical) -> Option<Classical> {
    let halved = classical.coarsened();
    let fine_enough = halved.cells.iter().all(|&cells| cells >= 4) && halved.steps >= 1;
    fine_enough.then_some(halved)
}

/// Unknowns of the grid times steps in time.
fn work(problem: &Problem, classical: &Classical) -> f64 {
    let cells: f64 = classical.cells.iter().map(|&cells| cells as f64).product();
    let evolves =
        problem.coordinates.iter().any(|coordinate| coordinate.time) && problem.coordinates.len() > 1;
    cells * if evolves { classical.steps as f64 } else { 1.0 } * problem.states.len() as f64
}
