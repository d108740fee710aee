//! Networks that are trained: at the guess first, then with the unknowns.
//!
//! BiLO's have the unknowns among their inputs; those of its rivals are one solution, which the unknowns move by moving
//! the weights.

use bilo_assess::audit::{GradientSource, OperatorAt};
use bilo_assess::outcome::OperatorOutcome;
use bilo_assess::predictor::{Moved, OperatorPredictor};
use bilo_assess::{Estimate, Remedy, RunContext};
use bilo_fit::monitor::Monitor;
use bilo_fit::phase::Phase;
use bilo_fit::stop::Stop;
use bilo_jet::Device;
use bilo_operator::level::{Fit, Joint, Lower, Upper};
use bilo_operator::operator::LocalOperator;
use bilo_operator::state::OperatorState;
use bilo_operator::train::{Ended, Losses, Past, Trainer, keeping};
use bilo_problem::diagnostic::{Diagnostic, Error, Result};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::theta::Theta;
use bilo_problem::{Problem, Table, WeightOptimiser, sample};
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Which loss moves what.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// The equation moves the weights, the data move the unknowns.
    Bilevel,
    /// One loss moves both.
    Joint,
    /// The data move the unknowns through the weights.
    Nested,
}

/// Trains networks, and keeps why it is not a dictionary if one was tried first.
pub(super) fn train<'e>(
    run: &RunContext<'_>,
    scheme: Scheme,
    why: Option<&str>,
    monitor: &mut Monitor<'_>,
) -> Result<Estimate<'e>> {
    let RunContext { problem, from, seed, .. } = *run;
    let mut device = run.hardware.device(problem.training.precision, run.threads)?;
    let mut operator = match scheme {
        Scheme::Joint | Scheme::Nested => LocalOperator::without_parameters(problem, seed)?,
        Scheme::Bilevel => LocalOperator::new(problem, seed)?,
    };
    let loaded = Loaded::new(run, scheme, &mut operator, device.as_mut())?;
    let losses = loaded.losses(scheme);
    let fit = Fit::new(problem, &mut operator, device.as_mut())?;
    let fit = load_start(fit, run, &mut operator, device.as_mut(), monitor)?;

    let mut loss_names = losses.names();
    loss_names.extend(fit.names().to_vec());
    monitor.name_losses(loss_names);
    let mut eta = problem.eta_of_guess();
    eta.extend(operator.functions.coefficients_of_guesses(problem)?);
    let mut point = OperatorState::new(operator.initial_weights(seed), eta);
    let mut trainer = Trainer {
        device: device.as_mut(),
        problem,
        losses,
        fit: &fit,
        shapes: &operator.shapes(),
        upper_rates: &operator.upper_rates(problem),
        monitor,
        past: Past { from, why, pretrained: None },
    };
    let pretrained = match from {
        Some(from) if from.phase == Phase::Train => keeping::pretrained(from, &mut point)?,
        _ => trainer.pretrain(&mut point)?,
    };
    let (mut at_guess, mut near) = (None, vec![]);
    if let Losses::Bilevel { upper, .. } = losses {
        let inspector = run.inspector(GradientSource::Upper(upper));
        let at = &mut OperatorAt { operator: &mut operator, device: trainer.device, state: &point };
        at_guess = Some(inspector.audit_guess(at)?);
        near = inspector.near(at, seed)?;
    }
    let guess = point.clone();
    trainer.past.pretrained = Some((&guess, &pretrained));
    let trained = match pretrained.stop {
        Stop::Steps => trainer.train(&mut point)?,
        _ => Ended { steps: 0, seconds: 0.0, ..pretrained.clone() },
    };
    let operator_outcome =
        || OperatorOutcome { why: why.map(str::to_owned), ..OperatorOutcome::network(None) };
    let losses = monitor.loss_names().iter().cloned().zip(trained.losses).collect();
    let moved = loaded.moved(scheme);
    Ok(Estimate {
        operator: (scheme == Scheme::Bilevel).then(operator_outcome),
        predictor: Box::new(OperatorPredictor { operator, device, state: point, moved }),
        problem: None,
        stop: trained.stop,
        diverged: trained.diverged,
        losses,
        pretrained: (pretrained.steps, pretrained.seconds),
        searched: (trained.steps, trained.seconds),
        learned: None,
        at_guess,
        near,
        starts: vec![],
        notes: vec![],
        warnings: vec![],
        remedy: if scheme == Scheme::Joint { Remedy::COMPROMISE } else { Remedy::TRAINING },
    })
}

/// An error where the problem asks for weights that are solved for, which no other method than BiLO does.
pub(super) fn require_training(run: &RunContext<'_>) -> Result<()> {
    if run.problem.training.optimiser != WeightOptimiser::Lm {
        return Ok(());
    }
    let message = format!("`lm` solves for local operators; the networks of {} are trained", run.method);
    let help = "write `optimiser = \"adam\"` or `\"soap\"` in [train]";
    Err(Diagnostic::new(message, Default::default()).help(help).into())
}

/// The losses of a method on its device.
enum Loaded {
    Bilevel(Lower, Box<Upper>),
    Joint(Box<Joint>),
}

impl Loaded {
    fn new(
        run: &RunContext<'_>,
        scheme: Scheme,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
    ) -> Result<Self> {
        let (problem, tables, seed) = (run.problem, run.tables.to_vec(), run.seed);
        Ok(match scheme {
            Scheme::Joint | Scheme::Nested => {
                // BPN has a loss for each level, so there is nothing to weigh.
                let weight = if scheme == Scheme::Joint { problem.training.data_weight } else { 1.0 };
                Self::Joint(Box::new(Joint::new(problem, operator, device, tables, weight, seed)?))
            }
            Scheme::Bilevel => {
                let lower = Lower::new(problem, operator, device, seed)?;
                Self::Bilevel(lower, Box::new(Upper::new(problem, operator, device, tables)?))
            }
        })
    }

    fn losses(&self, scheme: Scheme) -> Losses<'_> {
        match self {
            Self::Bilevel(lower, upper) => Losses::Bilevel { lower, upper },
            Self::Joint(joint) if scheme == Scheme::Nested => Losses::Nested(joint),
            Self::Joint(joint) => Losses::Joint(joint),
        }
    }

    /// What moved the unknowns.
    fn moved(self, scheme: Scheme) -> Moved {
        match self {
            Self::Bilevel(_, upper) => Moved::Upper(upper),
            Self::Joint(_) if scheme == Scheme::Nested => Moved::Hypergradient,
            Self::Joint(_) => Moved::Joint,
        }
    }
}

/// u_0, the classical solution at the guess, at points of the PDE; none if
/// pre-training is not asked to fit it or the classical solver cannot.
fn load_start(
    fit: Fit,
    run: &RunContext<'_>,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    monitor: &mut Monitor<'_>,
) -> Result<Fit> {
    let problem = run.problem;
    if !problem.training.pretrain_on_solution || problem.training.pretrain_steps == 0 {
        return Ok(fit);
    }
    let guess = Theta::guess(problem)?;
    let solved = run.reference.as_ref().map_err(Clone::clone);
    let solved = solved.and_then(|reference| Ok((reference, reference.solve(&guess).map_err(Error::from)?)));
    let (reference, solution) = match solved {
        Ok(solved) => solved,
        Err(error) => {
            monitor.note(&format!("pre-training without the classical solution: {}", error.headline()));
            return Ok(fit);
        }
    };
    monitor.note(&format!("classical solution at the guess: {}", reference.describe()));
    let columns = start_points(problem, run.seed)?;
    let table =
        |state| Table { coordinates: columns.clone(), values: solution.state(state, &columns), sigma: None };
    let solved = (0..problem.states.len()).filter(|&state| solution.solves_for(state));
    let tables = solved.map(|state| (state, table(state))).collect();
    fit.with_start(problem, operator, device, tables)
}

/// Most points where u_0 is fitted, the paper's 51x51: its values are stored, which residuals do without.
const START_POINTS: usize = 51 * 51;

/// The points of the PDE, or a sample of them: one of each of so many equal stretches.
fn start_points(problem: &Problem, seed: u64) -> Result<Vec<Vec<f64>>> {
    // The first equation that holds throughout the domain; a condition at an end has too few points.
    let number = problem.equations.iter().position(|equation| equation.points.at.is_empty()).unwrap_or(0);
    let points =
        problem.equations[number].points.source(problem, seed_for(seed, Purpose::EquationPoints, number))?;
    let mut random = Pcg64::seed_from_u64(seed_for(seed, Purpose::StartPoints, number));
    Ok(sample(&points, START_POINTS, &mut random))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_problem::{Coordinate, DataSpec, PointsSpec, Unknown};

    /// A problem with so many points of [0, 1].
    fn on_grid(count: usize) -> Problem {
        let table = Table { coordinates: vec![vec![1.0]], values: vec![1.0], sigma: None };
        Problem::builder("decay")
            .coordinate(Coordinate::time("t", 0.0, 1.0))
            .unknown(Unknown::new("k", 1.0))
            .state("u", "1 + net*t")
            .equation("decay", "u_t + k*u", PointsSpec::grid([("t", count)]))
            .observation("samples", "u", DataSpec::table(table))
            .build()
            .expect("a valid problem")
    }

    #[test]
    fn u_0_is_fitted_at_all_of_few_points() {
        let t = &start_points(&on_grid(START_POINTS), 0).unwrap()[0];
        assert_eq!(*t, on_grid(START_POINTS).coordinates[0].axis(START_POINTS));
    }

    /// Ten times as many points: one of each ten, and not always the same one of them.
    #[test]
    fn u_0_is_fitted_at_a_sample_that_is_spread_over_many_points() {
        let problem = on_grid(10 * START_POINTS);
        let axis = problem.coordinates[0].axis(10 * START_POINTS);
        let t = &start_points(&problem, 0).unwrap()[0];
        assert_eq!(t.len(), START_POINTS);
        let places: Vec<usize> = (t.iter().zip(axis.chunks(10)))
            .map(|(t, ten)| ten.iter().position(|place| place == t).expect("one of its ten"))
            .collect();
        assert!((0..10).all(|place| places.contains(&place)));
    }
}
