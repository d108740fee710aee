//! The end of a run: what the classical twin says of the result. The misfit of both solutions, the
//! audit of the operator, the data-optimal unknowns and the error bars.

use crate::audit::functions::{by_coefficients, by_variables, network_by_shifts, pointwise_gradient};
use crate::audit::{Audit, network_observed, values};
use crate::band;
use crate::diagnostic::{Error, Result};
use crate::examine::text::digits;
use crate::function::network::theta;
use crate::level::Upper;
use crate::likelihood::Sites;
use crate::misfit::{DataLoss, TwinLoss, Visit, columns};
use crate::operator::LocalOperator;
use crate::optimum::minimise;
use crate::outcome::{Fit, MisfitOutcome, Outcome, ScalarOutcome, Stop};
use crate::problem::{GradientMode, Likelihood, Observation, Problem, Table};
use crate::theta::Theta;
use crate::train::Point;
use crate::twin::{Twin, WithSlopes};
use crate::uncertainty::{NoiseLevels, NoiseSource, Uncertainty};
use bilo_jet::Device;

/// Said of solvers that agree as well as solvers can.
const WITHOUT_NOISE: &str = "Without noise in the data ± is next to nothing: estimate and data-optimal value differ by what the two solvers differ by";

/// Holds the network against the twin.
pub(crate) struct Inspector<'a> {
    /// The data loss.
    pub(crate) data: DataLoss<'a>,
    /// The twin, or why there is none.
    pub(crate) twin: std::result::Result<&'a Twin, String>,
    /// What moved the unknowns.
    pub(crate) mover: Mover<'a>,
}

/// What moved the unknowns.
#[derive(Clone, Copy)]
pub(crate) enum Mover<'a> {
    /// The gradient of the upper level at fixed weights.
    Upper(&'a Upper),
    /// The derivatives of the observed values.
    Slopes,
    /// The one loss of a physics-informed network: its gradient says nothing of how solutions move.
    Joint,
    /// A gradient through the weights.
    Hypergradient,
    /// The gradient of a neural operator that learned examples.
    Learned,
}

impl Mover<'_> {
    /// The name of the gradient that moves functions, in a mode of BiLO.
    pub(crate) fn gradient(&self, mode: GradientMode) -> &'static str {
        match self {
            Self::Upper(_) | Self::Slopes => mode.name(),
            Self::Joint => "joint",
            Self::Hypergradient => "hypergradient",
            Self::Learned => "learned",
        }
    }

    /// Whether a local operator did, which can be audited.
    fn is_operator(&self) -> bool {
        matches!(self, Self::Upper(_) | Self::Slopes)
    }
}

impl<'a> Inspector<'a> {
    pub(crate) fn new(
        problem: &'a Problem,
        tables: &'a [Table],
        twin: &'a std::result::Result<Twin, String>,
        mover: Mover<'a>,
    ) -> Self {
        Self { data: DataLoss::new(problem, tables), twin: twin.as_ref().map_err(Clone::clone), mover }
    }

    fn loss(&self) -> std::result::Result<TwinLoss<'a>, String> {
        Ok(TwinLoss { data: self.data, twin: self.twin.clone()? })
    }

    /// The classical solution at some value of the unknowns, or why there is none.
    pub(crate) fn visit(&self, theta: &Theta) -> std::result::Result<Visit<'a>, String> {
        self.loss()?.visit(theta).map_err(|error| error.headline())
    }

    /// The gradient of the upper level at a point against the one by the twin.
    fn audit(
        &self,
        at: &'static str,
        point: &Point,
        network: &[WithSlopes],
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        visit: &Visit<'_>,
    ) -> std::result::Result<Audit, String> {
        let text = |error: Error| error.headline();
        let ours = self.gradient(point, network, device, &visit.sites).map_err(text)?;
        if self.data.problem().functions.is_empty() {
            let classical = self.slopes(visit)?;
            return Audit::new(at, &self.data, &visit.sites, &ours, network, &classical).map_err(text);
        }
        let (problem, exact) = (self.data.problem(), self.loss()?.gradient(visit).map_err(text)?);
        let by_net = |gradient: &Theta| by_variables(problem, &visit.theta, gradient).map_err(text);
        if problem.training.gradient == GradientMode::Exact {
            let by_net = by_net(&exact)?;
            return Ok(Audit::of_functions(at, &ours, &by_coefficients(problem, operator, &by_net)));
        }
        let shifts = network_by_shifts(&self.data, &visit.sites, operator, device, point).map_err(text)?;
        let mut pointwise = Theta { eta: ours, ..visit.theta.zeros() };
        let values = values(network);
        pointwise.add(&pointwise_gradient(&self.data, &visit.sites, &values, &shifts).map_err(text)?);
        Ok(Audit::of_functions(at, &by_net(&pointwise)?, &by_net(&exact)?))
    }

    /// The derivatives of the data loss by all variables that moved the unknowns at a point.
    fn gradient(
        &self,
        point: &Point,
        network: &[WithSlopes],
        device: &mut dyn Device,
        sites: &[Sites],
    ) -> Result<Vec<f64>> {
        let Mover::Upper(upper) = self.mover else {
            return Ok(self.data.judge(sites, &values(network))?.gradient(&columns(network)));
        };
        upper.move_places(self.data.problem(), device, &point.eta)?;
        Ok(upper.data_loss(device, &point.weights, &point.eta)?.by_eta)
    }

    pub(crate) fn slopes(&self, visit: &Visit<'_>) -> std::result::Result<Vec<WithSlopes>, String> {
        self.loss()?.slopes(visit).map_err(|error| error.headline())
    }

    /// The classical solution at the guess with its derivatives by the scalars, or why there is none.
    pub(crate) fn visit_guess(&self) -> std::result::Result<Visit<'a>, String> {
        let guess = Theta::guess(self.data.problem()).map_err(|error| error.headline())?;
        let visit = self.visit(&guess)?;
        // The tangents stay with the solution.
        self.slopes(&visit)?;
        Ok(visit)
    }

    /// The audit at the guess, after pre-training; the reason if the twin cannot solve there.
    pub(crate) fn audit_guess(
        &self,
        point: &Point,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
    ) -> Result<std::result::Result<Audit, String>> {
        let theta = theta(self.data.problem(), operator, device, point)?;
        self.audit_at(self.visit(&theta), point, operator, device)
    }

    /// The same where the twin has been.
    pub(crate) fn audit_at(
        &self,
        visit: std::result::Result<Visit<'_>, String>,
        point: &Point,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
    ) -> Result<std::result::Result<Audit, String>> {
        let sites = self.data.sites(&point.eta)?;
        let network = network_observed(&self.data, &sites, operator, device, point)?;
        Ok(visit.and_then(|visit| self.audit("guess", point, &network, operator, device, &visit)))
    }

    /// Writes what the network says of the data at the estimate into the outcome, and, if there is
    /// a classical solution there, what that one says.
    pub(crate) fn close(
        &self,
        outcome: &mut Outcome,
        point: &Point,
        visit: Option<Visit<'a>>,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
    ) -> Result<()> {
        let sites = self.data.sites(&point.eta)?;
        let network = network_observed(&self.data, &sites, operator, device, point)?;
        let by_network = values(&network);
        let classical = visit.as_ref().map(|visit| &visit.values[..]);
        outcome.misfits = misfits(&self.data, &sites, Some(&by_network), classical)?;
        let noise = NoiseLevels::new(&self.data, &sites, classical.unwrap_or(&by_network))?;
        let problem = self.data.problem();
        if self.mover.is_operator()
            && let Some(found) = Uncertainty::new(problem, &noise, &network, &point.eta)
        {
            let unknowns = outcome.unknowns.iter_mut().zip(&found.sd);
            unknowns.for_each(|(unknown, sd)| unknown.sd_network = Some(*sd));
        }
        outcome.noise = noise.observations.clone();
        let Some(visit) = visit else { return Ok(()) };
        if self.mover.is_operator() {
            match self.audit("estimate", point, &network, operator, device, &visit) {
                Ok(audit) => outcome.audit.push(audit),
                Err(reason) => outcome.warnings.push(format!("no audit at the estimate: {reason}")),
            }
        }
        // The optima of scalars mean little beside functions that are held fixed.
        if !problem.functions.is_empty() {
            if self.mover.is_operator() {
                band::add(outcome, &self.data, &visit, &noise);
            }
            return Ok(());
        }
        let classical = self.slopes(&visit).ok();
        error_bars(outcome, classical.and_then(|c| Uncertainty::new(problem, &noise, &c, &point.eta)));
        self.data_optimal(outcome, visit);
        Ok(())
    }

    /// The minimum of the data loss under the exact PDE next to the estimate.
    pub(crate) fn data_optimal(&self, outcome: &mut Outcome, visit: Visit<'a>) {
        let Ok(twin) = self.twin else { return };
        let reason = match minimise(&mut TwinLoss { data: self.data, twin }, visit, &mut |_| None) {
            Ok(optimum) if optimum.stop == Stop::Converged => {
                let eta = self.data.problem().unknowns.iter().zip(&optimum.visit.theta.eta);
                let found = outcome.unknowns.iter_mut().zip(eta);
                found.for_each(|(out, (unknown, &eta))| out.data_optimal = Some(unknown.theta_of(eta)));
                // Without noise there is nothing but training error, and it may be as small as one likes.
                let clean = outcome.noise.iter().all(|noise| noise.source == NoiseSource::Residuals);
                let sentences = if clean { &mut outcome.notes } else { &mut outcome.warnings };
                let dictionary =
                    outcome.operator.as_ref().is_some_and(|operator| operator.dictionary.is_some());
                let (dominates, helps) = match self.mover {
                    Mover::Joint => {
                        ("the compromise of equation and data", "try other weights (train.data-weight)")
                    }
                    Mover::Learned => {
                        ("the error of the learned operator", "give it more examples or train it longer")
                    }
                    _ if dictionary => {
                        ("what the two solvers differ by", "refine the twin (classical.cells)")
                    }
                    _ => ("training error", "train longer"),
                };
                let far = training_error(&outcome.unknowns, dominates, helps);
                // Two discretisations without noise are never the same.
                let far = if dictionary && clean { far.map(|_| WITHOUT_NOISE.to_owned()) } else { far };
                sentences.extend(far);
                return;
            }
            Ok(_) => "the search did not converge".to_owned(),
            Err(error) => error.headline(),
        };
        outcome.warnings.push(format!("no data-optimal unknowns: {reason}"));
    }
}

/// The terms of the data loss by observation.
pub(crate) fn misfits(
    data: &DataLoss<'_>,
    sites: &[Sites],
    network: Option<&[Vec<f64>]>,
    classical: Option<&[Vec<f64>]>,
) -> Result<Vec<MisfitOutcome>> {
    let each = data.problem().observations.iter().zip(sites).enumerate();
    each.map(|(number, (observation, sites))| {
        let term = |values: &[Vec<f64>]| sites.judge(&values[number]).map(|found| found.term);
        let dice = |values: &[Vec<f64>]| {
            observation.likelihood.is_segmentation().then(|| dice(&values[number], sites.data()))
        };
        Ok(MisfitOutcome {
            name: observation.name.clone(),
            network: network.map(term).transpose()?,
            classical: classical.map(term).transpose()?,
            dice_network: network.and_then(dice),
            dice_classical: classical.and_then(dice),
            fit: fit(
                data.problem(),
                observation,
                sites,
                [network, classical].map(|all| Some(&all?[number][..])),
            ),
        })
    })
    .collect()
}

/// The data of an observation beside the values of both solutions there.
fn fit(problem: &Problem, observation: &Observation, sites: &Sites, values: [Option<&[f64]>; 2]) -> Fit {
    // Places of an integral, where nothing was observed, come before.
    let Some(part) = sites.parts.last() else { return Fit::default() };
    let there = |values: &[f64]| values[part.places.clone()].to_vec();
    let names = problem.coordinates.iter().map(|coordinate| coordinate.name.clone());
    let particles = matches!(observation.likelihood, Likelihood::PoissonProcess { .. });
    let [network, classical] = values.map(|values| values.map(there));
    Fit {
        coordinates: names.zip(sites.coordinates.iter().map(|column| there(column))).collect(),
        data: (!particles).then(|| part.data.clone()),
        sigma: part.sigma.clone(),
        network,
        classical,
    }
}

/// 2 |A and B| / (|A| + |B|) of the sets where values and data are above one half.
fn dice(values: &[f64], data: impl Iterator<Item = f64>) -> f64 {
    let (mut both, mut sum) = (0.0, 0.0);
    for (&value, data) in values.iter().zip(data) {
        let (ours, theirs) = (value > 0.5, data > 0.5);
        both += 2.0 * f64::from(ours && theirs);
        sum += f64::from(ours) + f64::from(theirs);
    }
    both / sum
}

/// Writes the standard deviations by the twin and what goes with them into the outcome.
pub(crate) fn error_bars(outcome: &mut Outcome, found: Option<Uncertainty>) {
    let Some(found) = found else {
        outcome.warnings.push("no error bars: the sensitivities are not finite".to_owned());
        return;
    };
    outcome.unknowns.iter_mut().zip(found.sd).for_each(|(unknown, sd)| unknown.sd = Some(sd));
    outcome.correlations = found.correlations;
    outcome.singular_values = found.singular_values;
    outcome.warnings.extend(found.warnings);
}

/// A sentence if an estimate is farther from the data-optimal value than its standard deviation, which
/// knows of noise only: what dominates then, and what helps.
fn training_error(unknowns: &[ScalarOutcome], dominates: &str, helps: &str) -> Option<String> {
    let far = |unknown: &ScalarOutcome| {
        let (optimal, sd) = (unknown.data_optimal?, unknown.sd?);
        let distance = (unknown.estimate - optimal).abs();
        let (ratio, optimal) = (digits(distance / sd, 2), digits(optimal, 6));
        let sentence = format!("{} is {ratio} sd from the data-optimal value {optimal}", unknown.name);
        (distance > sd).then_some(sentence)
    };
    let far: Vec<String> = unknowns.iter().filter_map(far).collect();
    let them = match far.len() {
        0 => return None,
        1 => "value",
        _ => "values",
    };
    Some(format!(
        "{}: {dominates}, not noise, dominates; {helps} or take the data-optimal {them}",
        far.join(", ")
    ))
}
