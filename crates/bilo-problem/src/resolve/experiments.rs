//! Several experiments as one problem: the states, equations and data of each under names of their own (`u@warm`), the
//! unknowns shared but for those that an experiment has for itself.

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::model::domain::Constant;
use crate::model::formula::Formula;
use crate::model::likelihood::Likelihood;
use crate::model::observation::{Bound, BoundTo, Data, Made, Observation, Term};
use crate::model::points::Points;
use crate::model::problem::Problem;
use crate::model::statement::{Condition, Derived, Equation, State};
use crate::model::unknown::{Transform, Unknown};
use crate::text::is_made_of;

/// A problem of one experiment, and the unknown numbers that it has for itself.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) problem: Problem,
    pub(crate) own: Vec<String>,
}

/// All experiments as one problem.
pub(crate) fn combine(parts: Vec<Part>) -> Result<Problem> {
    let Some(first) = parts.first().map(|part| &part.problem) else {
        return Err(Diagnostic::new("there is no experiment", Origin::none()).into());
    };
    require_common(&parts)?;
    let shared = |constant: &&Constant| parts.iter().all(|part| part.problem.constants.contains(constant));
    let constants: Vec<Constant> = first.constants.iter().filter(shared).cloned().collect();
    let mut whole = Problem {
        unknowns: shared_unknowns(&parts),
        states: vec![],
        equations: vec![],
        conditions: vec![],
        observations: vec![],
        derived: vec![],
        constants,
        ..first.clone()
    };
    for part in &parts {
        let renaming = Renaming::new(part, &whole.constants);
        renaming.add(&mut whole)?;
        let new = part.problem.remarks.iter().filter(|remark| !first.remarks.contains(remark));
        whole.remarks.extend(new.cloned());
    }
    require_used(&whole)?;
    Ok(whole)
}

/// What experiments cannot differ in, or cannot have.
fn require_common(parts: &[Part]) -> Result<()> {
    let first = &parts[0].problem;
    for Part { problem, .. } in parts {
        let refused = [
            (!problem.inputs.is_empty(), "extra inputs of networks ([input])"),
            (!problem.pictures.is_empty(), "pictures"),
            (problem.learning.examples.is_some(), "examples"),
            (!problem.neighbours.is_empty(), "places of the audit"),
            (problem.functions.iter().any(|f| f.state().is_some()), "unknown functions of a state"),
        ];
        if let Some((_, what)) = refused.iter().find(|(found, _)| *found) {
            let message = format!("{what} and experiments do not go together");
            return Err(Diagnostic::new(message, Origin::none()).into());
        }
        if problem.functions != first.functions || problem.given != first.given {
            let message = "unknown functions and given fields must be the same in all experiments";
            let help = "a constant of theirs differs between experiments";
            return Err(Diagnostic::new(message, Origin::none()).help(help).into());
        }
    }
    Ok(())
}

/// The unknowns that several experiments may have in common. How they are moved is chosen by the experiment that has the
/// most to say.
fn shared_unknowns(parts: &[Part]) -> Vec<Unknown> {
    let mut unknowns: Vec<Unknown> = vec![];
    for part in parts {
        for unknown in part.problem.unknowns.iter().filter(|unknown| !part.own.contains(&unknown.name)) {
            match unknowns.iter_mut().find(|known| known.name == unknown.name) {
                None => unknowns.push(unknown.clone()),
                Some(known) if known.transform == Transform::Identity => *known = unknown.clone(),
                Some(_) => {}
            }
        }
    }
    unknowns
}

/// An unknown that no experiment needs.
fn require_used(problem: &Problem) -> Result<()> {
    let states = problem.states.iter().map(|state| &state.form);
    let equations = problem.equations.iter().flat_map(|equation| {
        std::iter::once(&equation.residual).chain(equation.points.moving.iter().map(|(_, place)| place))
    });
    let observations = problem.observations.iter().map(|observation| &observation.value);
    let formulas: Vec<&Formula> = states.chain(equations).chain(observations).collect();
    for unknown in &problem.unknowns {
        let used = |formula: &&Formula| formula.ast.names().iter().any(|(name, _)| *name == unknown.name);
        if !formulas.iter().any(used) {
            let message = format!("the unknown `{}` occurs in no experiment", unknown.name);
            return Err(Diagnostic::new(message, Origin::none()).into());
        }
    }
    Ok(())
}

/// The names of one experiment in the whole.
struct Renaming<'a> {
    part: &'a Part,
    /// Those that are its own.
    own: Vec<&'a str>,
    states: Vec<&'a str>,
    coordinates: Vec<&'a str>,
}

impl<'a> Renaming<'a> {
    fn new(part: &'a Part, shared: &[Constant]) -> Self {
        let Problem { constants, states, coordinates, functions, .. } = &part.problem;
        // Functions are shared, whoever states them.
        let function = |name: &&String| functions.iter().any(|function| function.name == **name);
        let numbers = part.own.iter().filter(|name| !function(name));
        let differing = constants.iter().filter(|constant| !shared.contains(constant)).map(|c| &c.name);
        Renaming {
            part,
            own: differing.chain(numbers).map(String::as_str).collect(),
            states: states.iter().map(|state| state.name.as_str()).collect(),
            coordinates: coordinates.iter().map(|coordinate| coordinate.name.as_str()).collect(),
        }
    }

    fn add(&self, whole: &mut Problem) -> Result<()> {
        let problem = &self.part.problem;
        let own = |name: &str| self.own.contains(&name);
        for constant in problem.constants.iter().filter(|constant| own(&constant.name)) {
            whole.constants.push(Constant { name: self.named(&constant.name), ..constant.clone() });
        }
        for unknown in problem.unknowns.iter().filter(|unknown| own(&unknown.name)) {
            whole.unknowns.push(Unknown { name: self.named(&unknown.name), ..unknown.clone() });
        }
        for state in &problem.states {
            whole.states.push(State {
                name: self.named(&state.name),
                form: self.formula(&state.form)?,
                truth: state.truth.as_ref().map(|truth| self.formula(truth)).transpose()?,
            });
        }
        for equation in &problem.equations {
            whole.equations.push(self.equation(equation)?);
        }
        for condition in &problem.conditions {
            let (name, holds) = (self.named(&condition.name), self.formula(&condition.holds)?);
            whole.conditions.push(Condition { name, holds, ..condition.clone() });
        }
        for observation in &problem.observations {
            whole.observations.push(self.observation(observation)?);
        }
        for derived in &problem.derived {
            let value = self.formula(&derived.value)?;
            let name = match value == derived.value {
                true => derived.name.clone(),
                false => self.named(&derived.name),
            };
            if !whole.derived.iter().any(|known| known.name == name) {
                whole.derived.push(Derived { name, value });
            }
        }
        Ok(())
    }

    fn named(&self, name: &str) -> String {
        format!("{name}@{}", self.part.name)
    }

    /// What a name of a formula is in the whole, if it is something else there: of a state, of its derivative, of what is
    /// its own.
    fn renamed(&self, name: &str) -> Option<String> {
        if self.own.contains(&name) || self.states.contains(&name) {
            return Some(self.named(name));
        }
        let derivative = |state: &&str| {
            let suffix = name.strip_prefix(*state)?.strip_prefix('_')?;
            is_made_of(suffix, &self.coordinates).then(|| format!("{}_{suffix}", self.named(state)))
        };
        self.states.iter().find_map(derivative)
    }

    fn formula(&self, formula: &Formula) -> Result<Formula> {
        formula.renamed(|name| self.renamed(name))
    }

    fn points(&self, points: &Points) -> Result<Points> {
        let moving = points.moving.iter().map(|(number, place)| Ok((*number, self.formula(place)?)));
        Ok(Points {
            moving: moving.collect::<Result<_>>()?,
            filter: points.filter.as_ref().map(|filter| self.formula(filter)).transpose()?,
            ..points.clone()
        })
    }

    fn equation(&self, equation: &Equation) -> Result<Equation> {
        Ok(Equation {
            name: self.named(&equation.name),
            residual: self.formula(&equation.residual)?,
            trained: equation.trained.as_ref().map(|trained| self.formula(trained)).transpose()?,
            points: self.points(&equation.points)?,
            weight: equation.weight,
        })
    }

    fn observation(&self, observation: &Observation) -> Result<Observation> {
        let likelihood = match &observation.likelihood {
            Likelihood::Custom(density) => Likelihood::Custom(self.formula(density)?),
            Likelihood::PoissonProcess { snapshots, quadrature } => {
                let mut quadrature = quadrature.clone();
                for (_, place) in &mut quadrature.breaks {
                    *place = self.formula(place)?;
                }
                Likelihood::PoissonProcess { snapshots: *snapshots, quadrature }
            }
            other => other.clone(),
        };
        let data = match &observation.data {
            Data::Synthetic { points, noise, made } => {
                let made = made.as_deref().map(|made| -> Result<Box<Made>> {
                    Ok(Box::new(Made { value: self.formula(&made.value)?, ..made.clone() }))
                });
                Data::Synthetic { points: self.points(points)?, noise: *noise, made: made.transpose()? }
            }
            other => other.clone(),
        };
        Ok(Observation {
            name: self.named(&observation.name),
            value: self.formula(&observation.value)?,
            terms: observation.terms.iter().map(|term| self.term(term)).collect::<Result<_>>()?,
            data,
            likelihood,
            ..observation.clone()
        })
    }

    fn term(&self, term: &Term) -> Result<Term> {
        let over = term.over.iter().map(|bound| {
            let to = match &bound.to {
                BoundTo::Place(place) => BoundTo::Place(self.formula(place)?),
                BoundTo::Window { from, to, mean } => {
                    BoundTo::Window { from: self.formula(from)?, to: self.formula(to)?, mean: *mean }
                }
            };
            Ok(Bound { to, ..bound.clone() })
        });
        Ok(Term { integrand: self.formula(&term.integrand)?, over: over.collect::<Result<_>>()? })
    }
}
