//! Which unknowns reach the data, read off the formulas before anything is solved.

use bilo_expr::{Expr, Function, Leaf};
use bilo_problem::diagnostic::Result;
use bilo_problem::{Names, Problem};

/// A form, an equation, an input or an observation: what occurs in it, and which states it determines.
struct Place {
    name: String,
    unknowns: Vec<usize>,
    states: Vec<usize>,
    determines: Vec<usize>,
}

/// How unknowns reach observations. Numbers of unknowns are those of the scalars, then those of the
/// functions.
pub(super) struct Reach {
    unknowns: Vec<String>,
    states: Vec<String>,
    /// Forms, equations and inputs.
    pde: Vec<Place>,
    observations: Vec<Place>,
}

impl Reach {
    pub(super) fn new(problem: &Problem) -> Result<Self> {
        let mut names = Names::new(problem)?;
        let functions = names.bind_states_opaque(problem);
        names.bind_opaque(bilo_problem::NET);
        let mut pde = vec![];
        for (number, state) in problem.states.iter().enumerate() {
            let form = names.lower(&state.form)?;
            let place = Place::new(format!("form of {}", state.name), &names, &functions, &[form]);
            pde.push(Place { determines: vec![number], ..place });
        }
        for equation in &problem.equations {
            let residual = names.lower(&equation.residual)?;
            let mut all = vec![residual];
            for (_, place) in &equation.points.moving {
                all.push(names.lower(place)?);
            }
            let place = Place::new(format!("equation {}", equation.name), &names, &functions, &all);
            let determines = match equation.points.at.is_empty() {
                true => leading_states(problem, &names, &functions, residual),
                false => place.states.clone(),
            };
            pde.push(Place { determines, ..place });
        }
        determine_all(problem, &mut pde);
        pde.extend(inputs(problem, &mut names)?);
        let mut observations = vec![];
        for observation in &problem.observations {
            let values = names.lower_terms(observation)?;
            let name = format!("observation {}", observation.name);
            observations.push(Place::new(name, &names, &functions, &values));
        }
        let functions = problem.functions.iter().map(|unknown| unknown.name.clone());
        let unknowns = problem.unknowns.iter().map(|unknown| unknown.name.clone()).chain(functions).collect();
        let states = problem.states.iter().map(|state| state.name.clone()).collect();
        Ok(Self { unknowns, states, pde, observations })
    }

    /// The forms, equations, inputs and observations where an unknown occurs.
    pub(super) fn places_of(&self, unknown: usize) -> Vec<&str> {
        let places = self.pde.iter().chain(&self.observations);
        places.filter(|place| place.unknowns.contains(&unknown)).map(|place| place.name.as_str()).collect()
    }

    /// The states that change with an unknown.
    fn states_moved_by(&self, unknown: usize) -> Vec<usize> {
        let mut moved = vec![];
        loop {
            let before = moved.len();
            for place in &self.pde {
                let touched =
                    place.unknowns.contains(&unknown) || place.states.iter().any(|s| moved.contains(s));
                if touched {
                    moved.extend(
                        place
                            .determines
                            .iter()
                            .filter(|state| !moved.contains(*state))
                            .copied()
                            .collect::<Vec<_>>(),
                    );
                }
            }
            if moved.len() == before {
                return moved;
            }
        }
    }

    /// Whether some observation depends on an unknown.
    pub(super) fn is_observed(&self, unknown: usize) -> bool {
        let moved = self.states_moved_by(unknown);
        let sees = |place: &Place| {
            place.unknowns.contains(&unknown) || place.states.iter().any(|state| moved.contains(state))
        };
        self.observations.iter().any(sees)
    }

    /// The way of an unknown to the data, in words.
    pub(super) fn way(&self, unknown: usize) -> &'static str {
        let network = self.pde.iter().any(|place| place.unknowns.contains(&unknown));
        match (network, self.is_observed(unknown)) {
            (_, false) => "reaches no data",
            (true, true) => "reaches the data through the solution",
            (false, true) => "reaches the data directly, not through the solution",
        }
    }

    /// One for each unknown on which no observation depends.
    pub(super) fn warnings(&self) -> Vec<String> {
        let unseen = (0..self.unknowns.len()).filter(|&unknown| !self.is_observed(unknown));
        unseen.map(|unknown| self.warning(unknown)).collect()
    }

    fn warning(&self, unknown: usize) -> String {
        let list = |names: Vec<&str>| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        let states = |numbers: &[usize]| list(numbers.iter().map(|&s| self.states[s].as_str()).collect());
        let mut observed: Vec<usize> = self.observations.iter().flat_map(|o| o.states.clone()).collect();
        observed.sort_unstable();
        observed.dedup();
        let observed = match observed.as_slice() {
            [] => "no state at all is".to_owned(),
            some => format!("only {} is, which does not depend on it", states(some)),
        };
        format!(
            "no data depend on the unknown `{}`, so nothing can move it from its guess: it occurs in {} only and \
             moves the state {}, which is not observed ({observed}). Observe it, or make the unknown a constant.",
            self.unknowns[unknown],
            self.places_of(unknown).join(", "),
            states(&self.states_moved_by(unknown)),
        )
    }
}

impl Place {
    fn new(name: String, names: &Names, states: &[Function], formulas: &[Expr]) -> Self {
        let leaves = names.graph.leaves(formulas);
        let occurs = |function: Function| {
            leaves.iter().any(|leaf| matches!(leaf, Leaf::Derivative(f, _) if *f == function))
        };
        let scalars = names.eta.len();
        let uses = |unknown: &usize| match names.eta.get(*unknown) {
            Some(&eta) => leaves.contains(&Leaf::Symbol(eta)),
            None => occurs(names.functions[*unknown - scalars]),
        };
        Self {
            name,
            unknowns: (0..scalars + names.functions.len()).filter(uses).collect(),
            states: (0..states.len()).filter(|&state| occurs(states[state])).collect(),
            determines: vec![],
        }
    }
}

/// Inputs of networks that move with unknowns, and all states with them.
fn inputs(problem: &Problem, names: &mut Names) -> Result<Vec<Place>> {
    let mut places = vec![];
    for input in &problem.inputs {
        let value = names.lower(&input.value)?;
        let place = Place::new(format!("input {}", input.name), names, &[], &[value]);
        places.push(Place { determines: (0..problem.states.len()).collect(), ..place });
    }
    Ok(places)
}

/// The states that an equation inside the domain is about: those of its highest derivatives, in time
/// before those in space.
fn leading_states(problem: &Problem, names: &Names, functions: &[Function], residual: Expr) -> Vec<usize> {
    let leaves = names.graph.leaves(&[residual]);
    let time = problem.coordinates.iter().position(|coordinate| coordinate.time);
    let order = |state: usize| {
        let of_leaf = |leaf: &Leaf| match leaf {
            Leaf::Derivative(f, index) if *f == functions[state] => {
                let in_time = time.map_or(0, |time| index.as_slice()[time]);
                Some((in_time, index.order()))
            }
            _ => None,
        };
        leaves.iter().filter_map(of_leaf).max()
    };
    let highest = (0..functions.len()).filter_map(order).max();
    (0..functions.len()).filter(|&state| highest.is_some() && order(state) == highest).collect()
}

/// Where some state leads no equation (a pressure, an algebraic relation), each equation may
/// determine every state in it.
fn determine_all(problem: &Problem, pde: &mut [Place]) {
    let equations = &mut pde[problem.states.len()..];
    let leads = |state: usize| equations.iter().any(|place| place.determines.contains(&state));
    if (0..problem.states.len()).all(leads) {
        return;
    }
    for place in equations {
        place.determines = place.states.clone();
    }
}
