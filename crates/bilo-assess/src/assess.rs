//! The end of a run: what the reference solver says of the result. The misfit of both solutions, the
//! audit of the operator, the data-optimal unknowns and the error bars.

use crate::audit::Audit;
use crate::audit::functions::{by_coefficients, by_variables, network_by_shifts, pointwise_gradient};
use crate::function_uncertainty;
use crate::outcome::{Fit, MisfitOutcome, Outcome, ScalarOutcome};
use crate::uncertainty::{NoiseLevels, NoiseSource, Uncertainty};
use bilo_fit::data_loss::DataLoss;
use bilo_fit::gauss_newton::minimise;
use bilo_fit::sensitivities::{Sensitivities, columns, values};
use bilo_fit::stop::Stop;
use bilo_jet::Device;
use bilo_operator::function_values::theta;
use bilo_operator::level::Upper;
use bilo_operator::observed::network_observed;
use bilo_operator::operator::LocalOperator;
use bilo_operator::state::OperatorState;
use bilo_problem::diagnostic::{Error, Result};
use bilo_problem::sites::Sites;
use bilo_problem::text::digits;
use bilo_problem::theta::Theta;
use bilo_problem::{GradientMode, Likelihood, Observation, Problem, Table};
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use bilo_reference::solver::ReferenceSolver;

/// Said of solvers that agree as well as solvers can.
const WITHOUT_NOISE: &str = "Without noise in the data ± is next to nothing: estimate and data-optimal value differ by what the two solvers differ by";

/// Holds the network against the reference solver.
pub struct Inspector<'a> {
    /// The data loss.
    pub data: DataLoss<'a>,
    /// The reference solver, or why there is none.
    pub reference: std::result::Result<&'a ReferenceSolver, String>,
    /// What moved the unknowns.
    pub mover: GradientSource<'a>,
}

/// What moved the unknowns.
#[derive(Clone, Copy)]
pub enum GradientSource<'a> {
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

impl GradientSource<'_> {
    /// The name of the gradient that moves functions, in a mode of BiLO.
    pub fn gradient(&self, mode: GradientMode) -> &'static str {
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
    /// Compares by a problem with its data; without a reference solver the reason is kept.
    pub fn new(
        problem: &'a Problem,
        tables: &'a [Table],
        reference: &'a std::result::Result<ReferenceSolver, String>,
        mover: GradientSource<'a>,
    ) -> Self {
        Self {
            data: DataLoss::new(problem, tables),
            reference: reference.as_ref().map_err(Clone::clone),
            mover,
        }
    }

    fn loss(&self) -> std::result::Result<ReferenceLoss<'a>, String> {
        Ok(ReferenceLoss { data: self.data, reference: self.reference.clone()? })
    }

    /// The classical solution at some value of the unknowns, or why there is none.
    pub fn evaluate(&self, theta: &Theta) -> std::result::Result<Evaluation<'a>, String> {
        self.loss()?.evaluate(theta).map_err(|error| error.headline())
    }

    /// The gradient of the upper level at a point against the one by the reference solver.
    fn audit(
        &self,
        at: &'static str,
        point: &OperatorState,
        network: &[Sensitivities],
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        evaluation: &Evaluation<'_>,
    ) -> std::result::Result<Audit, String> {
        let text = |error: Error| error.headline();
        let ours = self.gradient(point, network, device, &evaluation.sites).map_err(text)?;
        if self.data.problem().functions.is_empty() {
            let classical = self.slopes(evaluation)?;
            return Audit::new(at, &self.data, &evaluation.sites, &ours, network, &classical).map_err(text);
        }
        let (problem, exact) = (self.data.problem(), self.loss()?.gradient(evaluation).map_err(text)?);
        let by_net = |gradient: &Theta| by_variables(problem, &evaluation.theta, gradient).map_err(text);
        if problem.training.gradient == GradientMode::Exact {
            let by_net = by_net(&exact)?;
            return Ok(Audit::of_functions(at, &ours, &by_coefficients(problem, operator, &by_net)));
        }
        let shifts =
            network_by_shifts(&self.data, &evaluation.sites, operator, device, point).map_err(text)?;
        let mut pointwise = Theta { eta: ours, ..evaluation.theta.zeros() };
        let values = values(network);
        pointwise.add(&pointwise_gradient(&self.data, &evaluation.sites, &values, &shifts).map_err(text)?);
        Ok(Audit::of_functions(at, &by_net(&pointwise)?, &by_net(&exact)?))
    }

    /// The derivatives of the data loss by all variables that moved the unknowns at a point.
    fn gradient(
        &self,
        point: &OperatorState,
        network: &[Sensitivities],
        device: &mut dyn Device,
        sites: &[Sites],
    ) -> Result<Vec<f64>> {
        let GradientSource::Upper(upper) = self.mover else {
            return Ok(self.data.terms(sites, &values(network))?.gradient(&columns(network)));
        };
        upper.move_places(self.data.problem(), device, &point.eta)?;
        Ok(upper.data_loss(device, &point.weights, &point.eta).by_eta)
    }

    /// The observed quantities with their derivatives by the scalars, by the reference solver.
    pub fn slopes(&self, evaluation: &Evaluation<'_>) -> std::result::Result<Vec<Sensitivities>, String> {
        self.loss()?.slopes(evaluation).map_err(|error| error.headline())
    }

    /// The classical solution at the guess with its derivatives by the scalars, or why there is none.
    pub fn evaluate_guess(&self) -> std::result::Result<Evaluation<'a>, String> {
        let guess = Theta::guess(self.data.problem()).map_err(|error| error.headline())?;
        let evaluation = self.evaluate(&guess)?;
        // The tangents stay with the solution.
        self.slopes(&evaluation)?;
        Ok(evaluation)
    }

    /// The audit at the guess, after pre-training; the reason if the reference solver cannot solve there.
    pub fn audit_guess(
        &self,
        point: &OperatorState,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
    ) -> Result<std::result::Result<Audit, String>> {
        let theta = theta(self.data.problem(), operator, device, point)?;
        self.audit_at(self.evaluate(&theta), point, operator, device)
    }

    /// The same where the reference solver has been.
    pub fn audit_at(
        &self,
        evaluation: std::result::Result<Evaluation<'_>, String>,
        point: &OperatorState,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
    ) -> Result<std::result::Result<Audit, String>> {
        let sites = self.data.sites(&point.eta)?;
        let network = network_observed(&self.data, &sites, operator, device, point)?;
        Ok(evaluation
            .and_then(|evaluation| self.audit("guess", point, &network, operator, device, &evaluation)))
    }

    /// Writes what the network says of the data at the estimate into the outcome, and, if there is
    /// a classical solution there, what that one says.
    pub fn close(
        &self,
        outcome: &mut Outcome,
        point: &OperatorState,
        evaluation: Option<Evaluation<'a>>,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
    ) -> Result<()> {
        let sites = self.data.sites(&point.eta)?;
        let network = network_observed(&self.data, &sites, operator, device, point)?;
        let by_network = values(&network);
        let classical = evaluation.as_ref().map(|evaluation| &evaluation.values[..]);
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
        let Some(evaluation) = evaluation else { return Ok(()) };
        if self.mover.is_operator() {
            match self.audit("estimate", point, &network, operator, device, &evaluation) {
                Ok(audit) => outcome.audit.push(audit),
                Err(reason) => outcome.warnings.push(format!("no audit at the estimate: {reason}")),
            }
        }
        // The optima of scalars mean little beside functions that are held fixed.
        if !problem.functions.is_empty() {
            if self.mover.is_operator() {
                function_uncertainty::add(outcome, &self.data, &evaluation, &noise);
            }
            return Ok(());
        }
        let classical = self.slopes(&evaluation).ok();
        error_bars(outcome, classical.and_then(|c| Uncertainty::new(problem, &noise, &c, &point.eta)));
        self.data_optimal(outcome, evaluation);
        Ok(())
    }

    /// The minimum of the data loss under the exact PDE next to the estimate.
    pub fn data_optimal(&self, outcome: &mut Outcome, evaluation: Evaluation<'a>) {
        let Ok(reference) = self.reference else { return };
        let reason =
            match minimise(&mut ReferenceLoss { data: self.data, reference }, evaluation, &mut |_| None) {
                Ok(optimum) if optimum.stop == Stop::Converged => {
                    let eta = self.data.problem().unknowns.iter().zip(&optimum.evaluation.theta.eta);
                    let found = outcome.unknowns.iter_mut().zip(eta);
                    found.for_each(|(out, (unknown, &eta))| out.data_optimal = Some(unknown.theta_of(eta)));
                    // Without noise there is nothing but training error, and it may be as small as one likes.
                    let clean = outcome.noise.iter().all(|noise| noise.source == NoiseSource::Residuals);
                    let sentences = if clean { &mut outcome.notes } else { &mut outcome.warnings };
                    let dictionary =
                        outcome.operator.as_ref().is_some_and(|operator| operator.dictionary.is_some());
                    let (dominates, helps) = match self.mover {
                        GradientSource::Joint => {
                            ("the compromise of equation and data", "try other weights (train.data-weight)")
                        }
                        GradientSource::Learned => {
                            ("the error of the learned operator", "give it more examples or train it longer")
                        }
                        _ if dictionary => (
                            "what the two solvers differ by",
                            "refine the reference solver (classical.cells)",
                        ),
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
pub fn misfits(
    data: &DataLoss<'_>,
    sites: &[Sites],
    network: Option<&[Vec<f64>]>,
    classical: Option<&[Vec<f64>]>,
) -> Result<Vec<MisfitOutcome>> {
    let each = data.problem().observations.iter().zip(sites).enumerate();
    each.map(|(number, (observation, sites))| {
        let term = |values: &[Vec<f64>]| sites.terms(&values[number]).map(|found| found.term);
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

/// Writes the standard deviations by the reference solver and what goes with them into the outcome.
pub fn error_bars(outcome: &mut Outcome, found: Option<Uncertainty>) {
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
