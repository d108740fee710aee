//! What stands for the solution where a run ended.

use crate::audit::GradientSource;
use crate::verify::{Verdict, alone, verify};
use bilo_fit::data_loss::DataLoss;
use bilo_fit::sensitivities::Sensitivities;
use bilo_jet::{Device, PointSource};
use bilo_operator::function_values;
use bilo_operator::level::Upper;
use bilo_operator::observed::network_observed;
use bilo_operator::operator::LocalOperator;
use bilo_operator::state::OperatorState;
use bilo_problem::diagnostic::{Diagnostic, Origin, Result};
use bilo_problem::function::Lattice;
use bilo_problem::sites::Sites;
use bilo_problem::theta::Theta;
use bilo_problem::{Formula, GradientMode, Problem};
use bilo_reference::misfit::Evaluation;
use bilo_reference::solver::ReferenceSolution;

/// A solution at the estimate, by a local operator, a neural operator or the reference solver.
pub trait Predictor<'a> {
    /// The estimate: numbers, and functions by their values on their grids.
    fn theta(&mut self, problem: &Problem) -> Result<Theta>;

    /// What computed it, in words.
    fn device(&self) -> String;

    /// Name of its arithmetic.
    fn precision(&self) -> &'static str {
        "f64"
    }

    /// The most bytes of the hardware's own memory in use, if it has such.
    fn device_memory(&self) -> Option<u64> {
        None
    }

    /// The name of the gradient that moved functions, in a mode of BiLO.
    fn gradient(&self, mode: GradientMode) -> &'static str;

    /// What is observed, with its derivatives by the unknowns where it knows them; nothing if the reference solution says
    /// all.
    fn observed(&mut self, data: &DataLoss<'_>, sites: &[Sites]) -> Result<Option<Vec<Sensitivities>>>;

    /// The solution on the report's grid, compared with the reference solution if there is one.
    fn verify(&mut self, problem: &Problem, reference: Result<&ReferenceSolution<'_>>) -> Result<Verdict>;

    /// An unknown function at points, given by one column per argument of it.
    fn function(&mut self, problem: &Problem, number: usize, columns: &[&[f64]]) -> Result<Vec<f64>>;

    /// Whether it can tell formulas of states.
    fn has_formulas(&self) -> bool {
        false
    }

    /// A formula at points, if it [can tell](Predictor::has_formulas).
    fn formula(&mut self, formula: &Formula, _columns: &[Vec<f64>]) -> Result<Vec<f64>> {
        let message = "nothing is known of the states here";
        Err(Diagnostic::new(message, formula.origin.clone()).into())
    }

    /// A state at points, where it is an operator's.
    fn state(&mut self, problem: &Problem, state: usize, columns: &[Vec<f64>]) -> Option<Vec<f64>> {
        let name = Formula::parse(&problem.states[state].name, Origin::none()).ok()?;
        self.formula(&name, columns).ok()
    }

    /// The local operator, if one moved the unknowns: it can be audited, and has error bars of its own.
    fn operator(&mut self) -> Option<&mut OperatorPredictor> {
        None
    }

    /// Whether it is the reference solver itself.
    fn is_reference(&self) -> bool {
        false
    }

    /// The reference solution at the estimate, if the search has been there with it.
    fn take_evaluation(&mut self) -> Option<Evaluation<'a>> {
        None
    }
}

/// What moved the unknowns of an [`OperatorPredictor`].
pub enum Moved {
    /// The gradient of the upper level at fixed weights.
    Upper(Box<Upper>),
    /// The derivatives of the observed values.
    Slopes,
    /// The one loss of a physics-informed network.
    Joint,
    /// A gradient through the weights.
    Hypergradient,
}

impl Moved {
    /// The gradient that can be compared.
    pub fn source(&self) -> GradientSource<'_> {
        match self {
            Self::Upper(upper) => GradientSource::Upper(upper),
            Self::Slopes | Self::Joint | Self::Hypergradient => GradientSource::Slopes,
        }
    }
}

/// Networks, or a basis expansion, at the estimate.
pub struct OperatorPredictor {
    /// The formulas.
    pub operator: LocalOperator,
    /// What evaluates them.
    pub device: Box<dyn Device>,
    /// The weights and the unknowns.
    pub state: OperatorState,
    /// What moved the unknowns.
    pub moved: Moved,
}

impl<'a> Predictor<'a> for OperatorPredictor {
    fn theta(&mut self, problem: &Problem) -> Result<Theta> {
        function_values::theta(problem, &mut self.operator, self.device.as_mut(), &self.state)
    }

    fn device(&self) -> String {
        self.device.description()
    }

    fn precision(&self) -> &'static str {
        self.device.precision().name()
    }

    fn device_memory(&self) -> Option<u64> {
        self.device.peak_memory()
    }

    fn gradient(&self, mode: GradientMode) -> &'static str {
        match self.moved {
            Moved::Upper(_) | Moved::Slopes => mode.name(),
            Moved::Joint => "joint",
            Moved::Hypergradient => "hypergradient",
        }
    }

    fn observed(&mut self, data: &DataLoss<'_>, sites: &[Sites]) -> Result<Option<Vec<Sensitivities>>> {
        network_observed(data, sites, &mut self.operator, self.device.as_mut(), &self.state).map(Some)
    }

    fn verify(&mut self, problem: &Problem, reference: Result<&ReferenceSolution<'_>>) -> Result<Verdict> {
        verify(problem, &mut self.operator, self.device.as_mut(), &self.state, reference)
    }

    fn function(&mut self, problem: &Problem, number: usize, columns: &[&[f64]]) -> Result<Vec<f64>> {
        let Self { operator, device, state, .. } = self;
        function_values::sample(problem, operator, device.as_mut(), state, number, columns)
    }

    fn has_formulas(&self) -> bool {
        true
    }

    fn formula(&mut self, formula: &Formula, columns: &[Vec<f64>]) -> Result<Vec<f64>> {
        let Self { operator, device, state, .. } = self;
        let value = operator.names.lower(formula)?;
        let points = PointSource::stored(columns.to_vec());
        let found = operator.evaluate(device.as_mut(), &[value], points, state, &formula.origin)?;
        Ok(found.into_iter().next().expect("one column for each expression"))
    }

    fn operator(&mut self) -> Option<&mut OperatorPredictor> {
        matches!(self.moved, Moved::Upper(_) | Moved::Slopes).then_some(self)
    }
}

/// The reference solution itself, where no operator was asked for.
pub struct ReferencePredictor<'a> {
    theta: Theta,
    device: String,
    evaluation: Option<Evaluation<'a>>,
}

impl<'a> ReferencePredictor<'a> {
    /// The solution where a search ended, by a solver in words.
    pub fn new(evaluation: Evaluation<'a>, device: String) -> Self {
        Self { theta: evaluation.theta.clone(), device, evaluation: Some(evaluation) }
    }

    /// Where a search on a finer grid ended.
    pub(crate) fn at(theta: Theta, device: String) -> Self {
        Self { theta, device, evaluation: None }
    }
}

impl<'a> Predictor<'a> for ReferencePredictor<'a> {
    fn theta(&mut self, _: &Problem) -> Result<Theta> {
        Ok(self.theta.clone())
    }

    fn device(&self) -> String {
        self.device.clone()
    }

    fn gradient(&self, _: GradientMode) -> &'static str {
        GradientMode::Exact.name()
    }

    fn observed(&mut self, _: &DataLoss<'_>, _: &[Sites]) -> Result<Option<Vec<Sensitivities>>> {
        Ok(None)
    }

    fn verify(&mut self, problem: &Problem, reference: Result<&ReferenceSolution<'_>>) -> Result<Verdict> {
        alone(problem, reference)
    }

    fn function(&mut self, problem: &Problem, number: usize, columns: &[&[f64]]) -> Result<Vec<f64>> {
        Ok(Lattice::new(&problem.functions[number]).sample(&self.theta.functions[number], columns))
    }

    fn is_reference(&self) -> bool {
        true
    }

    fn take_evaluation(&mut self) -> Option<Evaluation<'a>> {
        self.evaluation.take()
    }
}
