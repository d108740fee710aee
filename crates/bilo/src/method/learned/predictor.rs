//! Frozen models where the search through them ended.

use super::Learned;
use super::search::Search;
use bilo_assess::predictor::Predictor;
use bilo_assess::verify::{Verdict, agreement, alone, report_columns, rounding};
use bilo_fit::data_loss::DataLoss;
use bilo_fit::sensitivities::Sensitivities;
use bilo_problem::diagnostic::Result;
use bilo_problem::fields::Field;
use bilo_problem::function::Lattice;
use bilo_problem::sites::Sites;
use bilo_problem::theta::Theta;
use bilo_problem::{GradientMode, Problem};
use bilo_reference::solver::ReferenceSolution;

/// What the models say at the estimate.
pub(super) struct LearnedPredictor<'a> {
    search: Search<'a>,
    theta: Theta,
    device: String,
}

impl<'a> LearnedPredictor<'a> {
    pub(super) fn new(search: Search<'a>, theta: Theta, device: String) -> Self {
        Self { search, theta, device }
    }
}

impl<'a> Predictor<'a> for LearnedPredictor<'a> {
    fn theta(&mut self, _: &Problem) -> Result<Theta> {
        Ok(self.theta.clone())
    }

    fn device(&self) -> String {
        self.device.clone()
    }

    fn precision(&self) -> &'static str {
        "f32"
    }

    fn gradient(&self, _: GradientMode) -> &'static str {
        "learned"
    }

    fn observed(&mut self, _: &DataLoss<'_>, sites: &[Sites]) -> Result<Option<Vec<Sensitivities>>> {
        let observed = self.search.observed(&self.search.freeze(sites), &self.theta);
        Ok(Some(observed.into_iter().map(|values| Sensitivities { values, slopes: vec![] }).collect()))
    }

    /// Where a state itself is observed, its model is compared with the reference solution on the report's grid.
    fn verify(&mut self, problem: &Problem, reference: Result<&ReferenceSolution<'_>>) -> Result<Verdict> {
        let mut verdict = alone(problem, reference)?;
        let columns = report_columns(problem)?;
        let parameters = self.search.parameters.of(problem, &self.theta);
        let rounding = rounding(&verdict.fields.arrays);
        for (state, said) in problem.states.iter().zip(&mut verdict.states) {
            let observed = problem.observations.iter().position(|o| o.value.text.trim() == state.name);
            let Some(observation) = observed else { continue };
            let Learned { model, trained } = &self.search.learned[observation];
            let values = model.freeze(&trained.weights, &columns).predict(&parameters);
            let name = format!("{}_classical", state.name);
            let classical = verdict.fields.arrays.iter().find(|field| field.name == name);
            *said = agreement(
                problem,
                state,
                (&values, classical.map(|classical| &classical.values[..])),
                rounding,
            );
            let field = Field::everywhere(problem, format!("{}_network", state.name), values);
            verdict.fields.arrays.insert(0, field);
        }
        Ok(verdict)
    }

    fn function(&mut self, problem: &Problem, number: usize, columns: &[&[f64]]) -> Result<Vec<f64>> {
        Ok(Lattice::new(&problem.functions[number]).sample(&self.theta.functions[number], columns))
    }
}
