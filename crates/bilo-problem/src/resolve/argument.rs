//! What an unknown function depends on: coordinates, or one state.

use crate::diagnostic::{Diagnostic, Origin, suggest};
use crate::model::domain::Coordinate;
use crate::model::function::{Argument, Variable};

/// All that a function may depend on.
#[derive(Clone, Copy)]
pub(crate) struct Variables<'a> {
    pub(crate) coordinates: &'a [Coordinate],
    pub(crate) states: &'a [&'a str],
}

/// A part of the statement, with the place where it was written.
pub(crate) type Placed<T> = (T, Origin);

impl Variables<'_> {
    /// The arguments of a function: coordinates in the order of the problem, or one state over a range.
    pub(crate) fn arguments(
        &self,
        of: &[Placed<&str>],
        range: Option<Placed<(f64, f64)>>,
    ) -> Result<Vec<Argument>, Diagnostic> {
        let mut found: Vec<Variable> = vec![];
        for (name, origin) in of {
            let variable = self.find(name, origin)?;
            if found.contains(&variable) {
                let kind = kind(variable);
                return Err(Diagnostic::new(
                    format!("the {kind} `{name}` stands here twice"),
                    origin.clone(),
                ));
            }
            found.push(variable);
        }
        let state = of.iter().zip(&found).find(|(_, variable)| matches!(variable, Variable::State(_)));
        match (state, found.len()) {
            (None, _) => self.of_coordinates(found, range),
            (Some(((name, origin), &variable)), 1) => of_state(name, origin, variable, range),
            (Some(((name, origin), _)), _) => {
                let message = format!("a function of the state `{name}` has no other argument");
                let help = "a function depends on coordinates or on one state";
                Err(Diagnostic::new(message, origin.clone()).help(help))
            }
        }
    }

    fn find(&self, name: &str, origin: &Origin) -> Result<Variable, Diagnostic> {
        let coordinate = self.coordinates.iter().position(|c| c.name == name).map(Variable::Coordinate);
        let state = || self.states.iter().position(|&state| state == name).map(Variable::State);
        coordinate.or_else(state).ok_or_else(|| {
            let names = self.coordinates.iter().map(|c| c.name.as_str()).chain(self.states.iter().copied());
            let message = format!("there is no coordinate or state `{name}`");
            Diagnostic::new(message, origin.clone()).help(suggest(name, names))
        })
    }

    fn of_coordinates(
        &self,
        found: Vec<Variable>,
        range: Option<Placed<(f64, f64)>>,
    ) -> Result<Vec<Argument>, Diagnostic> {
        if let Some((_, origin)) = range {
            let message = "`range` belongs to a function of a state";
            let help = "a function of coordinates is wanted over all of their ranges in [coordinates]";
            return Err(Diagnostic::new(message, origin).help(help));
        }
        let axes = self.coordinates.iter().enumerate();
        let arguments = axes.map(|(c, axis)| (Variable::Coordinate(c), axis));
        let own = arguments.filter(|(variable, _)| found.contains(variable));
        Ok(own.map(|(variable, axis)| Argument { variable, axis: axis.clone() }).collect())
    }
}

fn of_state(
    name: &str,
    origin: &Origin,
    variable: Variable,
    range: Option<Placed<(f64, f64)>>,
) -> Result<Vec<Argument>, Diagnostic> {
    let Some(((lo, hi), _)) = range else {
        let message = format!("a function of the state `{name}` needs the `range` of its values");
        return Err(Diagnostic::new(message, origin.clone()).help("add `range = [0.0, 1.0]`, for instance"));
    };
    let axis = Coordinate { name: name.to_owned(), lo, hi, time: false, periodic: false, unit: None };
    Ok(vec![Argument { variable, axis }])
}

fn kind(variable: Variable) -> &'static str {
    match variable {
        Variable::Coordinate(_) => "coordinate",
        Variable::State(_) => "state",
    }
}
