//! From what was written to a checked problem.

pub(crate) mod argument;
mod check;
pub(crate) mod compose;
mod data_file;
mod diffuse;
mod examples;
pub(crate) mod experiments;
mod function;
mod functional;
mod given;
mod image;
mod known;
mod neighbour;
mod observation;
mod picture;
mod points;
mod settings;
pub(crate) mod units;
mod values;

use crate::diagnostic::Result;
use crate::evaluate::names::NET;
use crate::files::folder::Folder;
use crate::model::domain::Constant;
use crate::model::formula::Formula;
use crate::model::given::GivenField;
use crate::model::learning::Learning;
use crate::model::problem::Problem;
use crate::model::statement::{Derived, Equation, Input, State};
use crate::settings::Context;
use crate::tree::Places;
use crate::written::points::PointsSpec;
use crate::written::{EquationSpec, Said, StateSpec, Written};
use argument::Variables;
use function::Functions;
use known::Knowns;
use points::Ground;

/// Whether a problem is all there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// One experiment of several: some unknowns may be in others alone.
    Part,
}

/// The problem that was written, with the defaults of its recipe, checked; files are found in `folder`.
pub(crate) fn resolve(written: Written, folder: Folder<'_>, extent: Extent) -> Result<Problem> {
    let units = units::stated(&written);
    let (written, composed) = compose::compose(with_fixed(written))?;
    let Written { coordinates, constants, unknowns, mut settings, mut places, .. } = written;
    let of_state = written.functions.iter().any(|function| function.range.is_some());
    let input_names: Vec<&str> = written.inputs.iter().map(|(name, _)| name.as_str()).collect();
    let context = &Context { constants: &constants, coordinates: &coordinates, inputs: &input_names };
    let chosen = settings::read(&mut settings, context, of_state)?;
    places.extend(&settings);
    let places = &places;
    let ground =
        Ground { coordinates: &coordinates, constants: &constants, unknowns: &unknowns, places, folder };
    let given = given::resolve(written.given, ground)?;
    let state_names: Vec<&str> = written.states.iter().map(|state| state.name.as_str()).collect();
    let variables = Variables { coordinates: &coordinates, states: &state_names };
    let recipe = chosen.training.recipe;
    let functions = Functions { variables, context, recipe, knowns: Knowns { places, folder } };
    let functions = all(written.functions, |function| functions.resolve(function))?;
    let derived = written.derived.iter().map(|(name, value)| {
        Ok(Derived { name: name.clone(), value: places.formula(&format!("derived.{name}"), value)? })
    });
    let derived = derived.collect::<Result<_>>()?;
    let inputs =
        written.inputs.iter().map(|(name, value)| input(name, value, places)).collect::<Result<_>>()?;
    let equations = all(written.equations, |spec| equation(spec, ground))?;
    let observations = all(written.observations, |spec| observation::resolve(spec, &state_names, ground))?;
    let pictures = all(written.pictures, |spec| picture::resolve(spec, ground, &observations))?;
    let examples = settings.get("examples");
    let examples = examples.map(|node| examples::read(node, &unknowns, &functions, context)).transpose()?;
    let neighbours = neighbour::read(&settings, &unknowns, &functions, &constants)?;
    let mut problem = Problem {
        name: written.name,
        about: written.about,
        given,
        functions,
        derived,
        inputs,
        states: all(written.states, |spec| state(spec, places))?,
        equations,
        conditions: composed.conditions.clone(),
        observations,
        pictures,
        operator: chosen.operator,
        network: chosen.network,
        training: chosen.training,
        classical: chosen.classical,
        sampling: chosen.sampling,
        learning: Learning { examples, deeponet: chosen.deeponet, fno: chosen.fno },
        neighbours,
        coordinates,
        constants,
        unknowns,
        remarks: vec![],
    };
    check::check(&problem, places, extent)?;
    problem.remarks = units::check(&problem, &units, places)?;
    problem.remarks.extend(problem.given.iter().filter_map(GivenField::remark));
    composed.finish(&mut problem)?;
    Ok(problem)
}

/// With unknowns that are fixed as constants.
fn with_fixed(mut written: Written) -> Written {
    let fixed = written.unknowns.extract_if(.., |unknown| unknown.fixed);
    written.constants.extend(fixed.map(|unknown| Constant { name: unknown.name, value: unknown.guess }));
    written
}

fn all<S, T>(specs: Vec<S>, resolve: impl FnMut(S) -> Result<T>) -> Result<Vec<T>> {
    specs.into_iter().map(resolve).collect()
}

fn input(name: &str, value: &str, places: &Places) -> Result<Input> {
    Ok(Input { name: name.to_owned(), value: places.formula(&format!("input.{name}.value"), value)? })
}

fn state(spec: StateSpec, places: &Places) -> Result<State> {
    let formula = |key: &str, text: &str| places.formula(&format!("state.{}.{key}", spec.name), text);
    Ok(State {
        form: formula("form", spec.form.as_deref().unwrap_or(NET))?,
        truth: spec.truth.as_ref().map(|truth| formula("truth", truth)).transpose()?,
        name: spec.name,
    })
}

impl Places {
    /// What an equation says, as what vanishes.
    fn said(&self, path: &str, said: &Said) -> Result<Formula> {
        match said {
            Said::Residual(text) => self.formula(path, text),
            Said::Holds(text) | Said::Condition(text) => self.equation(path, text),
        }
    }
}

fn equation(spec: EquationSpec, ground: Ground<'_>) -> Result<Equation> {
    let (table, places) = (spec.table(), ground.places);
    let trained = |text: &String| places.formula(&format!("{table}.trained"), text);
    let at = if matches!(spec.said, Said::Condition(_)) { table.clone() } else { format!("{table}.points") };
    let residual = places.said(&spec.path(), &spec.said)?;
    let points = spec.points.unwrap_or_else(|| PointsSpec::grid([]));
    Ok(Equation {
        residual,
        trained: spec.trained.as_ref().map(trained).transpose()?,
        points: points::resolve(points, ground, &at)?,
        name: spec.name,
        weight: spec.weight.unwrap_or(1.0),
    })
}
