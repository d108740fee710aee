//! The local operator beside the guess: it was made there, and only its derivatives say what it is elsewhere.

use super::{Inspector, OperatorAt};
use crate::outcome::{Near, NearState};
use crate::verify::{classical_fields, relative_l2, verify};
use bilo_operator::operator::LocalOperator;
use bilo_problem::diagnostic::{Error, Result};
use bilo_problem::fields::{Field, Fields};
use bilo_problem::theta::Theta;
use bilo_problem::{GradientMode, Neighbour};

/// What was found beside the guess, or why nothing was.
pub type Found = std::result::Result<(Near, Vec<Field>), String>;

impl Inspector<'_> {
    /// Holds an operator, made at the guess, against the classical solution wherever the problem asks for it.
    pub fn near(&self, at: &mut OperatorAt<'_>, seed: u64) -> Result<Vec<Found>> {
        let problem = self.data.problem();
        if problem.neighbours.is_empty() {
            return Ok(vec![]);
        }
        let at_guess = match self.evaluate(&Theta::guess(problem)?) {
            Ok(evaluation) => classical_fields(problem, &evaluation.solution)?,
            Err(error) => return Ok(vec![Err(no_solution("the guess", &error))]),
        };
        let neighbours = problem.neighbours.iter().enumerate();
        neighbours
            .map(|(n, neighbour)| {
                let found = self.beside(neighbour, &at_guess, at, seed)?;
                Ok(found.map(|(near, fields)| (near, numbered(fields, n + 1))))
            })
            .collect()
    }

    fn beside(
        &self,
        neighbour: &Neighbour,
        at_guess: &Fields,
        at: &mut OperatorAt<'_>,
        seed: u64,
    ) -> Result<Found> {
        let problem = self.data.problem();
        let moved = neighbour.of(problem)?;
        let mut fed;
        let operator =
            match neighbour.functions.is_empty() || problem.training.gradient == GradientMode::Exact {
                true => &mut *at.operator,
                // The same networks, fed with another function.
                false => {
                    fed = LocalOperator::new(&moved, seed)?;
                    &mut fed
                }
            };
        let mut eta = moved.eta_of_guess();
        eta.extend(operator.functions.coefficients_of_guesses(&moved)?);
        let there = at.state.moved_to(eta);
        let evaluation = match self.evaluate(&Theta::guess(&moved)?) {
            Ok(evaluation) => evaluation,
            Err(error) => return Ok(Err(no_solution(&neighbour.at, &error))),
        };
        let verdict = verify(problem, operator, at.device, &there, Ok(&evaluation.solution))?;
        let states = verdict.states.iter().filter_map(|state| {
            let name = format!("{}_classical", state.name);
            let of = |fields: &'_ Fields| {
                fields.arrays.iter().find(|field| field.name == name).map(|field| field.values.clone())
            };
            Some(NearState {
                name: state.name.clone(),
                relative_l2_vs_classical: state.relative_l2_vs_classical?,
                relative_l2_of_guess: relative_l2(&of(at_guess)?, &of(&verdict.fields)?),
            })
        });
        let near = Near { at: neighbour.at.clone(), states: states.collect() };
        Ok(Ok((near, verdict.fields.arrays)))
    }
}

fn no_solution(at: &str, error: &Error) -> String {
    format!("no solution to hold the operator against at {at}: {}", error.headline())
}

/// The solutions among fields, named after the number of the neighbour.
fn numbered(fields: Vec<Field>, number: usize) -> Vec<Field> {
    let is_solution = |field: &Field| field.name.ends_with("_network") || field.name.ends_with("_classical");
    let named = |field: Field| Field { name: format!("{}_near_{number}", field.name), ..field };
    fields.into_iter().filter(is_solution).map(named).collect()
}
