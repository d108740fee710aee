//! From a textbook statement, equations and conditions, to forms, points and equations: what is not stated is chosen here.

mod condition;
mod form;
mod points;
mod singular;
pub(crate) mod states;
mod unknowns;
mod value;
mod weight;

use crate::diagnostic::Result;
use crate::evaluate::cells::{cells_between_jumps, most_cells};
use crate::model::problem::Problem;
use crate::model::statement::{Condition, HeldBy};
use crate::settings::Classical;
use crate::written::points::HeldAt;
use crate::written::{EquationSpec, Said, StateSpec, Written};
use condition::{Face, FixedValue};
use value::Values;

/// What is left to choose once the problem is resolved, and how each condition is held.
pub(crate) struct Composed {
    pub(crate) conditions: Vec<Condition>,
    /// The equations whose points are not stated.
    to_place: Vec<usize>,
    /// The equations whose weights are not stated.
    to_weigh: Vec<usize>,
    /// The unknown functions whose forms are not stated.
    formless: Vec<String>,
    /// Whether nothing is stated as a residual: then scales and transforms are chosen too.
    textbook: bool,
}

impl Composed {
    /// Chooses what depends on the whole problem.
    pub(crate) fn finish(&self, problem: &mut Problem) -> Result<()> {
        singular::leave_out(problem, &self.to_place)?;
        choose_cells(problem)?;
        if self.textbook {
            unknowns::tune(problem, &self.formless)?;
        }
        weight::balance(problem, &self.to_weigh)
    }
}

/// Adds states that only equations name, forms that hold what they can, conditions that they cannot as equations, and
/// points.
pub(crate) fn compose(mut written: Written) -> Result<(Written, Composed)> {
    if written.states.is_empty() {
        written.states = states::named_by_equations(&written)?;
    }
    let read = condition::read_all(&written)?;
    let faces: Vec<Face> = read.iter().flat_map(|condition| condition.faces.iter().copied()).collect();
    let mut in_form: Vec<FixedValue> = vec![];
    for number in 0..written.states.len() {
        if written.states[number].form.is_none() {
            let own = read.iter().flat_map(|c| &c.values).filter(|value| value.state == number);
            let (form, held) = form::holding(&own.cloned().collect::<Vec<_>>(), &Values::new(&written));
            written.states[number].form = Some(form);
            in_form.extend(held);
        }
    }
    let automatic = points::Automatic { coordinates: &written.coordinates, faces: &faces };
    let (mut equations, mut to_place): (Vec<EquationSpec>, Vec<usize>) = (vec![], vec![]);
    for mut equation in std::mem::take(&mut written.equations) {
        if equation.points.is_none() {
            to_place.push(equations.len());
            equation.points = Some(automatic.inside());
        }
        equations.push(equation);
    }
    let mut conditions = vec![];
    for (spec, read) in std::mem::take(&mut written.conditions).into_iter().zip(read) {
        let whole = !read.values.is_empty() && read.values.iter().all(|value| in_form.contains(value));
        // An equation and a condition may be called alike, by the state that both are about.
        let taken = equations.iter().any(|equation| equation.name == spec.name);
        let name = if taken { format!("{}-condition", spec.name) } else { spec.name.clone() };
        if !whole {
            equations.push(EquationSpec {
                name: name.clone(),
                key: spec.name.clone(),
                said: Said::Condition(spec.holds.clone()),
                trained: None,
                points: Some(automatic.on(&spec.at)),
                weight: spec.weight,
            });
        }
        let held_by = if whole { HeldBy::Form } else { HeldBy::Equation };
        let holds = read.holds;
        conditions.push(Condition { name, holds, at: in_words(&spec.at), held_by });
    }
    let by_residual = |equation: &EquationSpec| matches!(equation.said, Said::Residual(_));
    let unweighted = |equation: &EquationSpec| equation.weight.is_none() && !by_residual(equation);
    let formless = written.functions.iter().filter(|function| function.form.is_none());
    let composed = Composed {
        conditions,
        to_place,
        to_weigh: (0..equations.len()).filter(|&e| unweighted(&equations[e])).collect(),
        formless: formless.map(|function| function.name.clone()).collect(),
        textbook: !equations.iter().any(by_residual),
    };
    written.equations = equations;
    Ok((written, composed))
}

/// Takes fewer cells than the default where differences would be rounding, and others where jumps would be inside of them.
fn choose_cells(problem: &mut Problem) -> Result<()> {
    if problem.classical == Classical::over(&problem.coordinates) {
        let most = most_cells(problem)?;
        problem.classical.cells.iter_mut().zip(&most).for_each(|(cells, most)| *cells = (*cells).min(*most));
        let aligned = cells_between_jumps(problem)?.into_iter().zip(most);
        let cells = problem.classical.cells.iter_mut().zip(aligned);
        cells
            .filter(|(_, (aligned, most))| aligned <= most)
            .for_each(|(cells, (aligned, _))| *cells = aligned);
    }
    Ok(())
}

/// `x = 0` or `x = 0 and 1, t = 0.5`
fn in_words(at: &[(String, HeldAt)]) -> String {
    let place = |(name, at): &(String, HeldAt)| match at {
        HeldAt::Values(values) => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("{name} = {}", values.join(" and "))
        }
        HeldAt::Place(place) => format!("{name} = {place}"),
    };
    at.iter().map(place).collect::<Vec<_>>().join(", ")
}

impl StateSpec {
    /// A state of which nothing is stated but its name.
    fn named(name: &str) -> StateSpec {
        StateSpec { name: name.to_owned(), form: None, truth: None }
    }
}
