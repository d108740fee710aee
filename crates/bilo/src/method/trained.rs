//! Networks that are trained: at the guess first, then with the unknowns.
//!
//! BiLO's have the unknowns among their inputs; those of its rivals are one solution, which the unknowns move by moving
//! the weights.

use super::Method;
use super::networks::{Found, Scene};
use crate::closing::{Inspector, Mover};
use crate::diagnostic::Result;
use crate::level::{Fit, Joint, Lower, Upper};
use crate::observer::{Event, Observer, Phase};
use crate::operator::LocalOperator;
use crate::outcome::{OperatorOutcome, Stop};
use crate::problem::{Problem, Table, sample};
use crate::seeds::{Purpose, seed_for};
use crate::theta::Theta;
use crate::train::{Ended, Losses, Past, Point, Trainer, keeping};
use crate::twin::Twin;
use bilo_jet::Device;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Trains.
pub(super) fn train(scene: &Scene<'_>, observer: &mut dyn Observer) -> Result<Found> {
    let Scene { problem, job, tables, twin, .. } = *scene;
    let from = job.from.as_deref();
    let mut device = job.hardware.device(problem.training.precision, job.threads)?;
    let mut operator = match job.method {
        Method::Pinn | Method::Bpn => LocalOperator::without_parameters(problem, job.seed)?,
        _ => LocalOperator::new(problem, job.seed)?,
    };
    let loaded = Loaded::new(scene, &mut operator, device.as_mut())?;
    let losses = loaded.losses(job.method);
    let fit = Fit::new(problem, &mut operator, device.as_mut())?;
    let fit = load_start(fit, problem, twin, job.seed, &mut operator, device.as_mut(), observer)?;

    let mut loss_names = losses.names();
    loss_names.extend(fit.names().to_vec());
    let mut eta = problem.eta_of_guess();
    eta.extend(operator.functions.coefficients_of_guesses(problem)?);
    let mut point = Point::new(operator.initial_weights(job.seed), eta);
    let mut trainer = Trainer {
        device: device.as_mut(),
        problem,
        losses,
        fit: &fit,
        shapes: &operator.shapes(),
        upper_rates: &operator.upper_rates(problem),
        loss_names: &loss_names,
        unknown_names: &problem.unknown_names(),
        observer,
        began: scene.began,
        past: Past { from, why: scene.why, pretrained: None },
    };
    let pretrained = match from {
        Some(from) if from.phase == Phase::Train => keeping::pretrained(from, &mut point)?,
        _ => trainer.pretrain(&mut point)?,
    };
    let (mut at_guess, mut near) = (None, vec![]);
    if let Losses::Bilevel { upper, .. } = losses {
        let inspector = Inspector::new(problem, tables, twin, Mover::Upper(upper));
        at_guess = Some(inspector.audit_guess(&point, &mut operator, trainer.device)?);
        near = inspector.near(&point, job.seed, &mut operator, trainer.device)?;
    }
    let guess = point.clone();
    trainer.past.pretrained = Some((&guess, &pretrained));
    let trained = match pretrained.stop {
        Stop::Steps => trainer.train(&mut point)?,
        _ => Ended { steps: 0, seconds: 0.0, ..pretrained.clone() },
    };
    let upper = match loaded {
        Loaded::Bilevel(_, upper) => Some(upper),
        Loaded::Joint(_) => None,
    };
    Ok(Found {
        operator,
        device,
        point,
        losses: loss_names.into_iter().zip(trained.losses.clone()).collect(),
        description: upper.is_some().then(|| OperatorOutcome::network(None)),
        at_guess,
        near,
        upper,
        pretrained,
        trained,
    })
}

/// The losses of a method on its device.
enum Loaded {
    Bilevel(Lower, Upper),
    Joint(Joint),
}

impl Loaded {
    fn new(scene: &Scene<'_>, operator: &mut LocalOperator, device: &mut dyn Device) -> Result<Self> {
        let Scene { problem, job, tables, .. } = *scene;
        let (tables, seed) = (tables.to_vec(), job.seed);
        Ok(match job.method {
            Method::Pinn | Method::Bpn => {
                // BPN has a loss for each level, so there is nothing to weigh.
                let weight = if job.method == Method::Pinn { problem.training.data_weight } else { 1.0 };
                Self::Joint(Joint::new(problem, operator, device, tables, weight, seed)?)
            }
            _ => {
                let lower = Lower::new(problem, operator, device, seed)?;
                Self::Bilevel(lower, Upper::new(problem, operator, device, tables)?)
            }
        })
    }

    fn losses(&self, method: Method) -> Losses<'_> {
        match self {
            Self::Bilevel(lower, upper) => Losses::Bilevel { lower, upper },
            Self::Joint(joint) if method == Method::Bpn => Losses::Nested(joint),
            Self::Joint(joint) => Losses::Joint(joint),
        }
    }
}

/// u_0, the classical solution at the guess, at points of the PDE; none if
/// pre-training is not asked to fit it or the classical solver cannot.
fn load_start(
    fit: Fit,
    problem: &Problem,
    twin: &std::result::Result<Twin, String>,
    seed: u64,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    if !problem.training.pretrain_on_solution || problem.training.pretrain_steps == 0 {
        return Ok(fit);
    }
    let guess = Theta::guess(problem)?;
    let solved = match twin {
        Ok(twin) => twin.solve(&guess).map(|solution| (twin, solution)).map_err(|error| error.to_string()),
        Err(reason) => Err(reason.clone()),
    };
    let (twin, solution) = match solved {
        Ok(solved) => solved,
        Err(reason) => {
            observer.event(&Event::Note(&format!("pre-training without the classical solution: {reason}")));
            return Ok(fit);
        }
    };
    observer.event(&Event::Note(&format!("classical solution at the guess: {}", twin.describe())));
    let columns = start_points(problem, seed)?;
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
    use crate::problem::{Coordinate, DataSpec, PointsSpec, Unknown};

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
