//! The error that the reference solver's grid makes, in units of the error bars.
//!
//! The same unknowns are solved for on a grid of twice the cells' size. The difference of the observed values says by how
//! much the values on the finer grid are off, and one step of Gauss-Newton with the derivatives at hand by how much the
//! unknowns are, which follow the data through the grid's error. While that is more than a tenth of an error bar, the grid is
//! refined, as far as a fixed amount of work allows; beside unknown functions only where the reference solver itself has searched
//! for them, and can go on.

use crate::audit::GradientSource;
use crate::context::RunContext;
use crate::function_uncertainty::FunctionFit;
use crate::noise::{Fitted, NoiseLevels};
use crate::outcome::{Discretisation, Outcome, ScalarOutcome};
use crate::uncertainty::Uncertainty;
use bilo_fit::sensitivities::{Sensitivities, columns};
use bilo_fit::spectrum::LeastSquares;
use bilo_problem::diagnostic::Result;
use bilo_problem::theta::Theta;
use bilo_problem::{Classical, Data, Likelihood, Problem, most_cells};
use bilo_reference::cost;
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use bilo_reference::solver::ReferenceSolver;

/// The grid is fine enough when it moves no unknown by more than this part of its error bar.
const FINE: f64 = 0.1;

/// Most cost of a solve: some seconds with all its derivatives.
const MOST_WORK: f64 = 1.1e7;

/// Where functions are unknown it is that of so many: their search goes on for longer.
const FOR_FUNCTIONS: f64 = 10.0;

/// Observed orders of convergence beyond this are chance.
const HIGHEST_ORDER: f64 = 4.0;

/// Observed orders below this part of the scheme's are those of a grid that is too coarse, or of a solution that is not smooth;
/// then errors may be so many times larger than they seem (Oberkampf and Roy, Verification and Validation in Scientific
/// Computing, 2010, section 8.6).
const AS_IT_SHOULD: f64 = 0.8;
const SAFETY: f64 = 3.0;

/// Least observed order that is believed.
const LOWEST_ORDER: f64 = 0.5;

/// Orders that differ by less are the same.
const SETTLED: f64 = 0.1;

/// Squares of standardised residuals that no errors make, on average.
const IMPOSSIBLE: f64 = 9.0;

/// Errors of the grid that are less than this part of such residuals are not what is wrong.
const NO_HELP: f64 = 0.1;

/// A finer grid moves no unknown by more than so many times what was said of the coarser one.
const FAR: f64 = 10.0;

/// What was found out about the grid.
pub(crate) struct Grid {
    /// A finer grid, if the stated one was too coarse, with its solver.
    pub(crate) finer: Option<(Problem, ReferenceSolver)>,
    /// The error of each observed value, by observation.
    pub(crate) values: Vec<Vec<f64>>,
    /// What is told of it.
    pub(crate) outcome: Discretisation,
}

/// Finds the error of the grid where the reference solver has been, which may be where it has searched itself, and refines
/// it; none for data that the same grid made.
pub(crate) fn find(run: &RunContext<'_>, evaluation: &Evaluation<'_>, is_best_fit: bool) -> Option<Grid> {
    let refines = is_best_fit || run.problem.functions.is_empty();
    search(run, evaluation).map(if refines { Search::refine } else { Search::told })
}

/// The error of a grid that was refined already, from three grids if there are such.
pub(crate) fn of_grid(run: &RunContext<'_>, evaluation: &Evaluation<'_>) -> Option<Grid> {
    let mut search = search(run, evaluation)?;
    // Two coarser ones: four grids tell whether an order is one.
    if search.finer.is_none() && search.begin_coarser() {
        search.begin_coarser();
    }
    let grid = search.told();
    Some(Grid { outcome: Discretisation { refined: true, ..grid.outcome }, ..grid })
}

impl Grid {
    /// Whether its error is what moved unknowns so far: a search that leads elsewhere began at a place of no interest.
    pub(crate) fn explains(&self, from: &[f64], to: &[f64]) -> bool {
        let shift = &self.outcome.shift;
        self.outcome.enough
            || from.iter().zip(to).zip(shift).all(|((a, b), shift)| (a - b).abs() <= FAR * shift.abs())
    }
}

fn search<'a>(run: &'a RunContext<'a>, evaluation: &'a Evaluation<'a>) -> Option<Search<'a>> {
    let made = |data: &Data| !matches!(data, Data::Table(_));
    let seen = run.problem.observations.iter().all(|observation| !made(&observation.data));
    seen.then(|| Search::new(run, evaluation)).flatten()
}

struct Search<'a> {
    run: &'a RunContext<'a>,
    at: &'a Evaluation<'a>,
    /// What the unknowns make of errors of the values; none if that is not known.
    fit: Option<Fit>,
    order: f64,
    /// Values on grids, each of half the cells' size of the one before; one where no other grid has a solution.
    values: Vec<Vec<Vec<f64>>>,
    classical: Classical,
    finer: Option<(Problem, ReferenceSolver)>,
    /// What is left of the data where they are not fitted.
    misfit: Option<Vec<Vec<f64>>>,
}

/// The unknowns near an evaluation as linear functions of the observed values, and their standard deviations.
enum Fit {
    Numbers(LeastSquares, Theta),
    /// With what the values are multiplied by.
    Functions(Box<FunctionFit>, Vec<f64>, Theta),
}

impl<'a> Search<'a> {
    fn new(run: &'a RunContext<'a>, evaluation: &'a Evaluation<'a>) -> Option<Search<'a>> {
        let mut search = Search {
            run,
            at: evaluation,
            fit: Fit::new(run, evaluation),
            order: run.reference.as_ref().ok()?.order(),
            values: vec![evaluation.values.clone()],
            classical: run.problem.classical.clone(),
            finer: None,
            misfit: misfit(run, evaluation),
        };
        let coarse = coarser(&run.problem.classical);
        match coarse.and_then(|coarse| values_on(run, &coarse, evaluation).ok()) {
            Some(values) => search.values.insert(0, values),
            // A solution that a coarser grid does not have, a finer one may.
            None => _ = search.next(),
        }
        Some(search)
    }

    fn refine(mut self) -> Grid {
        let coarse = |search: &Self| search.ratios().is_some_and(|ratios| largest(&ratios) > FINE);
        while coarse(&self) && !self.is_beside_the_point() {
            if !self.next() {
                // What no finer grid tells, a coarser one may.
                if self.values.len() == 2 {
                    self.begin_coarser();
                }
                break;
            }
        }
        self.told()
    }

    /// Adds a grid of twice the size of the coarsest one's cells; false where that has no solution.
    fn begin_coarser(&mut self) -> bool {
        let halvings = self.values.len();
        let grids = std::iter::successors(Some(self.classical.clone()), coarser);
        let Some(values) =
            grids.into_iter().nth(halvings).and_then(|c| values_on(self.run, &c, self.at).ok())
        else {
            return false;
        };
        self.values.insert(0, values);
        true
    }

    /// What is known of the finest grid so far.
    fn told(self) -> Grid {
        let shift = self.shift();
        let ratios = self.ratios().unwrap_or_default();
        let outcome = Discretisation {
            shift: shift.map(|shift| self.of_theta(&shift.eta)).unwrap_or_default(),
            order: self.observed_order().unwrap_or(self.order),
            safety: self.safety(),
            settled: self.is_settled(),
            grids: self.values.len(),
            cells: self.classical.cells.clone(),
            steps: self.classical.steps,
            refined: self.finer.is_some(),
            enough: largest(&ratios) <= FINE,
            of_functions: ratios.get(self.at.theta.eta.len()..).unwrap_or_default().to_vec(),
        };
        Grid { values: self.errors(), finer: self.finer, outcome }
    }

    /// Whether the data are not fitted, and no finer grid would help that.
    fn is_beside_the_point(&self) -> bool {
        let Some(residuals) = &self.misfit else { return false };
        let square = |values: &[Vec<f64>]| values.iter().flatten().map(|value| value * value).sum::<f64>();
        square(&self.errors()) < (NO_HELP * NO_HELP) * square(residuals)
    }

    /// Solves on a grid of half the cells' size; false where that is too much work or fails.
    fn next(&mut self) -> bool {
        let next = self.finer_grid();
        let same = next == self.classical;
        let solves = if self.run.problem.functions.is_empty() { 1.0 } else { FOR_FUNCTIONS };
        if same || solves * cost::of_solve(self.run.problem, &next) > MOST_WORK {
            return false;
        }
        let problem = Problem { classical: next.clone(), ..self.run.problem.clone() };
        let Ok(solver) = self.run.reference_of(&problem) else { return false };
        let Ok(values) = observed(self.run, &solver, self.at) else { return false };
        self.values.push(values);
        (self.classical, self.finer) = (next, Some((problem, solver)));
        true
    }

    /// With twice as many cells, as far as differences keep their digits, and steps, if there are any.
    fn finer_grid(&self) -> Classical {
        let mut next = self.classical.refined();
        if let Ok(most) = most_cells(self.run.problem) {
            let cells = next.cells.iter_mut().zip(&self.classical.cells).zip(most);
            cells.for_each(|((next, &now), most)| *next = (*next).min(most.max(now)));
        }
        let evolves = self.run.problem.coordinates.iter().any(|coordinate| coordinate.time);
        Classical { steps: if evolves { next.steps } else { self.classical.steps }, ..next }
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
        order_of(&self.values)
    }

    /// Whether four grids show the same order: then it is one, if not the scheme's, as where something jumps in time.
    fn is_settled(&self) -> bool {
        let before = self.values.len().checked_sub(1).and_then(|count| order_of(&self.values[..count]));
        let both = before.zip(self.observed_order());
        both.is_some_and(|(before, now)| now > LOWEST_ORDER && (before - now).abs() < SETTLED)
    }

    /// By how much larger errors may be than they seem.
    fn safety(&self) -> f64 {
        let doubtful = self.observed_order().is_some_and(|order| order < AS_IT_SHOULD * self.order);
        if doubtful && !self.is_settled() { SAFETY } else { 1.0 }
    }

    /// How far the grid moves each variable: what follows from values that are off by minus their errors here.
    fn shift(&self) -> Option<Theta> {
        let errors: Vec<f64> = self.errors().concat();
        (!errors.is_empty())
            .then(|| self.fit.as_ref().map(|fit| fit.shift(&self.at.theta, &errors)))
            .flatten()
    }

    fn of_theta(&self, eta: &[f64]) -> Vec<f64> {
        let unknowns = self.run.problem.unknowns.iter().zip(&self.at.theta.eta).zip(eta);
        unknowns.map(|((unknown, &at), shift)| unknown.theta_slope(at) * shift).collect()
    }

    /// The shift of each number, and of each function by its norm, in units of the error bars.
    fn ratios(&self) -> Option<Vec<f64>> {
        let (shift, sd) = (self.shift()?, self.fit.as_ref()?.sd());
        let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
        let safety = self.safety();
        let numbers = shift.eta.iter().zip(&sd.eta).map(|(shift, sd)| safety * (shift / sd).abs());
        let functions =
            shift.functions.iter().zip(&sd.functions).map(|(shift, sd)| safety * norm(shift) / norm(sd));
        Some(numbers.chain(functions).collect())
    }
}

/// How fast values on grids, each of half the cells' size of the one before, converge; none with fewer than three of them.
fn order_of(values: &[Vec<Vec<f64>>]) -> Option<f64> {
    let [.., first, second, third] = values else { return None };
    let distance = |a: &[Vec<f64>], b: &[Vec<f64>]| {
        let both = a.iter().flatten().zip(b.iter().flatten());
        both.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let order = (distance(first, second) / distance(second, third)).log2();
    order.is_finite().then(|| order.clamp(LOWEST_ORDER, HIGHEST_ORDER))
}

/// An unknown without an error bar is not moved by any part of it.
fn largest(ratios: &[f64]) -> f64 {
    ratios.iter().filter(|ratio| !ratio.is_nan()).copied().fold(0.0, f64::max)
}

impl Fit {
    fn new(run: &RunContext<'_>, evaluation: &Evaluation<'_>) -> Option<Fit> {
        match run.problem.functions.is_empty() {
            true => Fit::of_numbers(run, evaluation),
            false => Fit::of_functions(run, evaluation),
        }
    }

    fn of_numbers(run: &RunContext<'_>, evaluation: &Evaluation<'_>) -> Option<Fit> {
        let inspector = run.inspector(GradientSource::Slopes);
        let slopes: Vec<Sensitivities> = inspector.slopes(evaluation).ok()?;
        let (data, terms) = (run.data(), &evaluation.loss_terms);
        let eta = &evaluation.theta.eta;
        let fitted = Fitted::new(&data, terms, Some(&slopes));
        let noise = NoiseLevels::new(&data, &evaluation.sites, &evaluation.values, &fitted, eta).ok()?;
        let found = Uncertainty::new(run.problem, &noise, &slopes, eta)?;
        let unknowns = run.problem.unknowns.iter().zip(eta).zip(&found.sd);
        let sd = unknowns.map(|((unknown, &eta), sd)| sd / unknown.theta_slope(eta).abs()).collect();
        let fit = LeastSquares::new(&columns(&slopes), &terms.roots)?;
        Some(Fit::Numbers(fit, Theta { eta: sd, functions: vec![] }))
    }

    fn of_functions(run: &RunContext<'_>, evaluation: &Evaluation<'_>) -> Option<Fit> {
        let data = run.data();
        let fit = FunctionFit::new(run, evaluation).ok()??;
        let counts: Vec<usize> = evaluation.values.iter().map(Vec::len).collect();
        let fitted = Fitted::split(&fit.leverages(), &counts);
        let eta = &evaluation.theta.eta;
        let noise = NoiseLevels::new(&data, &evaluation.sites, &evaluation.values, &fitted, eta).ok()?;
        let sd = fit.deviations(&evaluation.theta, noise.spread())?;
        Some(Fit::Functions(Box::new(fit), evaluation.loss_terms.roots.clone(), sd))
    }

    /// What the unknowns make of errors of the observed values.
    fn shift(&self, theta: &Theta, errors: &[f64]) -> Theta {
        match self {
            Fit::Numbers(fit, _) => Theta { eta: fit.fit(errors), functions: vec![] },
            Fit::Functions(fit, roots, _) => {
                let weighted: Vec<f64> = errors.iter().zip(roots).map(|(error, root)| error * root).collect();
                fit.step(theta, &weighted)
            }
        }
    }

    fn sd(&self) -> &Theta {
        match self {
            Fit::Numbers(_, sd) | Fit::Functions(_, _, sd) => sd,
        }
    }
}

/// What is left of an error after extrapolation, at least.
const LEFT: f64 = 0.1;

/// Takes off the estimate of the reference solver's own search what its grid is known to move it by (Richardson's
/// extrapolation), where three grids show an order as it should be, or four the same, and that is less than an error bar. What is
/// left is as much as the error would be another one by the nominal order, or a tenth.
pub(crate) fn take_off(outcome: &mut Outcome, nominal: f64) {
    let Some(found) = outcome.discretisation.as_mut() else { return };
    let numbers = &mut outcome.unknowns.numbers;
    let small = |number: &ScalarOutcome, shift: f64| {
        let there = number.estimate - shift;
        let inside = number.bounds.is_none_or(|(lo, hi)| (lo..=hi).contains(&there));
        inside && number.sd.is_some_and(|sd| shift.abs() <= sd)
    };
    let known = found.grids > 2 && found.safety <= 1.0 && found.shift.len() == numbers.len();
    if found.enough
        || !known
        || !numbers.iter().zip(&found.shift).all(|(number, &shift)| small(number, shift))
    {
        return;
    }
    let factor = |order: f64| 2.0_f64.powf(order) - 1.0;
    let left =
        if found.settled { LEFT } else { (1.0 - factor(found.order) / factor(nominal)).abs().max(LEFT) };
    for (number, shift) in numbers.iter_mut().zip(&mut found.shift) {
        number.estimate -= *shift;
        number.data_optimal = Some(number.estimate);
        *shift *= left;
    }
    let note =
        "what coarser grids show of the reference solver's error was taken off the estimate (Richardson)";
    outcome.notes.push(note.to_owned());
}

/// Whether the data are not fitted, as far as their errors are stated.
pub fn is_misfit(run: &RunContext<'_>, evaluation: &Evaluation<'_>) -> bool {
    misfit(run, evaluation).is_some()
}

/// What is left of data with stated errors, if that is impossible; none for other data, or where outliers are expected.
fn misfit(run: &RunContext<'_>, evaluation: &Evaluation<'_>) -> Option<Vec<Vec<f64>>> {
    let (mut residuals, mut squares, mut count) = (vec![], 0.0, 0.0);
    for ((observation, sites), values) in
        run.problem.observations.iter().zip(&evaluation.sites).zip(&evaluation.values)
    {
        let robust = matches!(observation.likelihood, Likelihood::Huber { .. } | Likelihood::Student { .. });
        let part = sites.parts.last().filter(|part| part.free.is_none() && sites.calibrated && !robust)?;
        let sigma = |i: usize| part.sigma.as_ref().map_or(1.0, |sigma| sigma[i]);
        let there = values[part.places.clone()].iter().zip(&part.data);
        for (i, (&value, &datum)) in there.clone().enumerate() {
            squares += observation.likelihood.residual(value, datum, sigma(i)).unwrap_or(0.0).powi(2);
            count += 1.0;
        }
        residuals.push(there.map(|(value, datum)| value - datum).collect());
    }
    (squares > IMPOSSIBLE * count).then_some(residuals)
}

fn values_on(run: &RunContext<'_>, classical: &Classical, at: &Evaluation<'_>) -> Result<Vec<Vec<f64>>> {
    let problem = Problem { classical: classical.clone(), ..run.problem.clone() };
    let solver = run.reference_of(&problem)?;
    observed(run, &solver, at)
}

fn observed(run: &RunContext<'_>, solver: &ReferenceSolver, at: &Evaluation<'_>) -> Result<Vec<Vec<f64>>> {
    Ok(ReferenceLoss { data: run.data(), reference: solver }.evaluate_near(&at.theta, Some(at))?.values)
}

/// The grid of twice the cells' size; none if it is too coarse for that.
fn coarser(classical: &Classical) -> Option<Classical> {
    let halved = classical.coarsened();
    let fine_enough = halved.cells.iter().all(|&cells| cells >= 4) && halved.steps >= 1;
    fine_enough.then_some(halved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Unknowns;

    /// D = 2 ± 0.1 on a grid that moves it by 0.05, as three grids show.
    fn moved(change: impl Fn(&mut Discretisation)) -> Outcome {
        let number = ScalarOutcome { estimate: 2.0, sd: Some(0.1), ..ScalarOutcome::default() };
        let mut grid =
            Discretisation { grids: 3, shift: vec![0.05], order: 2.0, ..Discretisation::default() };
        grid.safety = 1.0;
        change(&mut grid);
        Outcome {
            unknowns: Unknowns { numbers: vec![number], functions: vec![] },
            discretisation: Some(grid),
            ..Outcome::default()
        }
    }

    /// Values that are off by h^p: 0.8, 0.4, 0.2, 0.1 of something.
    #[test]
    fn three_grids_show_an_order_and_four_whether_it_is_one() {
        let on = |off: f64| vec![vec![1.0 + off, 2.0 - 3.0 * off]];
        let first = [0.8, 0.4, 0.2, 0.1].map(on);
        assert!((order_of(&first).unwrap() - 1.0).abs() < 1e-12);
        assert!((order_of(&first[..3]).unwrap() - 1.0).abs() < 1e-12);
        let second = [0.64, 0.16, 0.04].map(on);
        assert!((order_of(&second).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(order_of(&second[..2]), None);
    }

    #[test]
    fn an_error_that_three_grids_show_is_taken_off() {
        let estimate = |outcome: &Outcome| outcome.unknowns.numbers[0].estimate;
        let mut outcome = moved(|_| {});
        take_off(&mut outcome, 2.0);
        assert_eq!((estimate(&outcome), outcome.unknowns.numbers[0].data_optimal), (1.95, Some(1.95)));
        assert_eq!(outcome.discretisation.unwrap().shift, [0.05 * LEFT]);
        // By the nominal order it would have been (2^1.7 - 1)/3 of that.
        let mut slower = moved(|grid| grid.order = 1.7);
        take_off(&mut slower, 2.0);
        let left = slower.discretisation.unwrap().shift[0];
        assert!((left - 0.05 * (1.0 - (2.0_f64.powf(1.7) - 1.0) / 3.0)).abs() < 1e-12, "{left}");
        // An order that four grids agree on is one.
        let mut settled = moved(|grid| (grid.order, grid.settled) = (1.0, true));
        take_off(&mut settled, 2.0);
        assert_eq!(settled.discretisation.unwrap().shift, [0.05 * LEFT]);
        let kept: [fn(&mut Discretisation); 4] = [
            |grid| grid.grids = 2,
            |grid| grid.safety = 3.0,
            |grid| grid.shift = vec![0.11],
            |grid| grid.enough = true,
        ];
        for change in kept {
            let mut outcome = moved(change);
            take_off(&mut outcome, 2.0);
            assert_eq!(estimate(&outcome), 2.0);
        }
    }
}
