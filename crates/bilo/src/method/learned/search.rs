//! Descent through frozen models: the data loss, the regularisers of functions, and Adam on the unknowns.

use super::examples::held;
use super::model::Parameters;
use super::{Learned, from_name};
use bilo_fit::convergence::Convergence;
use bilo_fit::data_loss::DataLoss;
use bilo_fit::monitor::Monitor;
use bilo_fit::phase::Phase;
use bilo_fit::stop::{Divergence, Stop};
use bilo_learn::Frozen;
use bilo_optim::{Adam, GradientMethod};
use bilo_problem::Likelihood;
use bilo_problem::diagnostic::Result;
use bilo_problem::function::RegulariserOnLattice;
use bilo_problem::sites::Sites;
use bilo_problem::theta::Theta;

/// Intensities of processes must be positive, and what was learned need not be: below this part of the largest one they
/// are held.
const LEAST_INTENSITY: f64 = 1e-6;

/// The data loss through frozen models, and the regularisers of functions.
pub(super) struct Search<'a> {
    pub(super) data: DataLoss<'a>,
    pub(super) parameters: Parameters,
    pub(super) learned: Vec<Learned>,
    sites: Vec<Sites>,
    frozen: Vec<Box<dyn Frozen>>,
    regularisers: Vec<Option<RegulariserOnLattice>>,
}

/// Where a search ended.
pub(super) struct Found {
    pub(super) theta: Theta,
    pub(super) terms: Vec<f64>,
    pub(super) stop: Stop,
    pub(super) diverged: Option<Divergence>,
    pub(super) steps: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(data: DataLoss<'a>, parameters: Parameters, learned: Vec<Learned>) -> Result<Self> {
        let problem = data.problem();
        let sites = data.sites(&problem.eta_of_guess())?;
        let regularisers = problem.functions.iter().map(|f| RegulariserOnLattice::new(problem, f));
        let mut search = Self {
            data,
            parameters,
            learned,
            sites,
            frozen: vec![],
            regularisers: regularisers.collect::<Result<_>>()?,
        };
        search.frozen = search.freeze(&search.sites);
        Ok(search)
    }

    pub(super) fn freeze(&self, sites: &[Sites]) -> Vec<Box<dyn Frozen>> {
        let each = self.learned.iter().zip(sites);
        each.map(|(learned, sites)| {
            learned.model.freeze(&learned.trained.weights, &sites.sampling.coordinates)
        })
        .collect()
    }

    /// What the models say of the observations.
    pub(super) fn observed(&self, frozen: &[Box<dyn Frozen>], theta: &Theta) -> Vec<Vec<f64>> {
        let parameters = self.parameters.of(self.data.problem(), theta);
        let mut all: Vec<Vec<f64>> = frozen.iter().map(|model| model.predict(&parameters)).collect();
        for (number, values) in all.iter_mut().enumerate() {
            let floor = self.floor(number, values);
            values.iter_mut().for_each(|value| *value = value.max(floor));
        }
        all
    }

    /// Below which the values of an observation are held.
    fn floor(&self, observation: usize, values: &[f64]) -> f64 {
        match self.data.problem().observations[observation].likelihood {
            Likelihood::PoissonProcess { .. } => LEAST_INTENSITY * values.iter().copied().fold(0.0, f64::max),
            _ => f64::NEG_INFINITY,
        }
    }

    /// The terms of the loss, and the derivatives of their weighted sum by eta and by the functions' values.
    fn loss(&self, theta: &Theta) -> Result<(Vec<f64>, Theta)> {
        let problem = self.data.problem();
        let parameters = self.parameters.of(problem, theta);
        let observed = self.observed(&self.frozen, theta);
        let mut loss_terms = self.data.terms(&self.sites, &observed)?;
        self.data.add_priors(&mut loss_terms, &theta.eta)?;
        let mut slopes = theta.zeros();
        slopes.eta.copy_from_slice(&self.data.prior_gradient(&theta.eta));
        for (number, (model, by_values)) in self.frozen.iter().zip(loss_terms.by_values).enumerate() {
            // What is held does not move.
            let floor = self.floor(number, &observed[number]);
            let each = observed[number].iter().zip(by_values);
            let by_values: Vec<f64> = each.map(|(v, slope)| if *v > floor { slope } else { 0.0 }).collect();
            let mut by_parameters = model.pullback(&parameters, &by_values);
            let mut of_functions = by_parameters.split_off(problem.unknowns.len()).into_iter();
            let scalars = problem.unknowns.iter().zip(&theta.eta).zip(by_parameters);
            for (sum, ((unknown, &eta), slope)) in slopes.eta.iter_mut().zip(scalars) {
                *sum += slope * unknown.theta_slope(eta);
            }
            for (nodes, sums) in self.parameters.nodes.iter().zip(&mut slopes.functions) {
                nodes.iter().zip(&mut of_functions).for_each(|(&node, slope)| sums[node] += slope);
            }
        }
        let mut terms = loss_terms.terms;
        for (function, regulariser) in self.regularisers.iter().enumerate() {
            let Some(regulariser) = regulariser else { continue };
            let (mean, by_values) = regulariser.mean(&theta.functions[function]);
            terms.push(mean);
            let sums = slopes.functions[function].iter_mut().zip(by_values);
            sums.for_each(|(sum, slope)| *sum += regulariser.weight() * slope);
        }
        Ok((terms, slopes))
    }

    /// The nodes that are moved: an FNO sees those that the form holds, but they stay.
    fn moved(&self) -> Result<Vec<Vec<usize>>> {
        let problem = self.data.problem();
        let mut moved = vec![];
        for (function, nodes) in problem.functions.iter().zip(&self.parameters.nodes) {
            let held = held(problem, function)?;
            moved.push(nodes.iter().copied().filter(|node| !held.contains(node)).collect());
        }
        Ok(moved)
    }

    /// Learning rates and typical sizes of all that is moved.
    fn rates_and_scales(&self, moved: &[Vec<usize>]) -> (Vec<f64>, Vec<f64>) {
        let problem = self.data.problem();
        let rate = |own: Option<f64>| own.unwrap_or(problem.training.theta_rate);
        let mut rates: Vec<f64> = problem.unknowns.iter().map(|unknown| rate(unknown.rate)).collect();
        for (function, nodes) in problem.functions.iter().zip(moved) {
            rates.resize(rates.len() + nodes.len(), rate(function.rate));
        }
        let mut scales: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.scale).collect();
        scales.resize(rates.len(), 1.0);
        (rates, scales)
    }

    /// Descends by Adam from the guess, with the rates and the steps of training.
    pub(super) fn descend(&self, monitor: &mut Monitor<'_>) -> Result<Found> {
        let problem = self.data.problem();
        let settings = &problem.training;
        let moved = self.moved()?;
        let (rates, scales) = self.rates_and_scales(&moved);
        let (mut settling, mut adam) = (Convergence::new(settings, scales), Adam::new(rates));
        let mut theta = Theta::guess(problem)?;
        let mut found =
            Found { theta: theta.clone(), terms: vec![], stop: Stop::Steps, diverged: None, steps: 0 };
        monitor.enter(Phase::Train, settings.train_steps);
        for step in 1..=settings.train_steps {
            let (terms, slopes) = self.loss(&theta)?;
            if terms.iter().any(|term| !term.is_finite()) {
                let reason = "a term of the data loss is no longer finite".to_owned();
                found.stop = Stop::Diverged;
                found.diverged = Some(Divergence { last_good_step: step - 1, reason });
                break;
            }
            found.theta = theta.clone();
            let (mut point, along) = (flat(&theta, &moved), flat(&slopes, &moved));
            let factor = settings.schedule.factor((step - 1) as f64 / settings.train_steps as f64);
            adam.scale_rate(factor);
            let settled = settling.settled(&point, &terms, factor);
            adam.step_along(&mut point, &along);
            put(&mut theta, &moved, &point);
            for (eta, unknown) in theta.eta.iter_mut().zip(&problem.unknowns) {
                *eta = unknown.project(*eta);
            }
            let unknowns = problem.thetas(&found.theta.eta);
            let asked = monitor.step(step, &from_name(1, &terms, monitor), &unknowns).stop;
            (found.terms, found.steps) = (terms, step);
            if let Some(stop) = asked.or(settled.then_some(Stop::Converged)) {
                found.stop = stop;
                break;
            }
        }
        monitor.leave();
        Ok(found)
    }
}

/// Scalars, then the values of functions at the nodes that are moved.
fn flat(theta: &Theta, moved: &[Vec<usize>]) -> Vec<f64> {
    let functions = theta.functions.iter().zip(moved);
    let values = functions.flat_map(|(values, nodes)| nodes.iter().map(|&node| values[node]));
    theta.eta.iter().copied().chain(values).collect()
}

/// The other way.
fn put(theta: &mut Theta, moved: &[Vec<usize>], point: &[f64]) {
    let mut numbers = point.iter().copied();
    theta.eta.iter_mut().zip(&mut numbers).for_each(|(eta, number)| *eta = number);
    for (values, nodes) in theta.functions.iter_mut().zip(moved) {
        nodes.iter().zip(&mut numbers).for_each(|(&node, number)| values[node] = number);
    }
}
