//! Whether what is asked of the reference solver's scheme can be had.

use crate::diagnostic::Result;
use crate::evaluate::given_columns;
use crate::evaluate::names::{NET, Names};
use crate::model::domain::divided;
use crate::model::formula::Formula;
use crate::model::problem::Problem;
use crate::settings::{Classical, Scheme};
use bilo_expr::{Leaf, MultiIndex};
use bilo_solve::conservation::{Candidate, ConservationError};

/// What is wrong with the choice of a scheme: the key at fault and why.
pub(crate) fn scheme_fault(problem: &Problem) -> Result<Option<(&'static str, String)>> {
    let Classical { scheme, flux, .. } = &problem.classical;
    let key = match (scheme, flux) {
        (Scheme::Central, Some(_)) => {
            let why = "`flux` belongs to `scheme = \"godunov\"`, and the scheme is `central`";
            return Ok(Some(("flux", why.to_owned())));
        }
        (_, Some(_)) => "flux",
        (Scheme::Godunov, None) => "scheme",
        (Scheme::Automatic | Scheme::Central, None) => return Ok(None),
    };
    if !problem.inputs.is_empty() {
        return Ok(Some((key, "Godunov's scheme takes no extra inputs".to_owned())));
    }
    if problem.functions.iter().any(|function| function.state().is_some()) {
        return Ok(Some((key, "Godunov's scheme takes no unknown functions of states".to_owned())));
    }
    let mut names = Names::new(problem)?;
    names.bind_states_opaque(problem);
    names.bind_opaque(NET);
    if let Some(&field) = given_columns::in_pde(problem, &mut names)?.first() {
        let name = &problem.given[field].name;
        return Ok(Some((key, format!("Godunov's scheme takes no given fields, and `{name}` is one"))));
    }
    let mut names = Names::new(problem)?;
    let Some(candidate) = candidate(problem, &mut names)? else {
        let why =
            "Godunov's scheme takes one state, one space coordinate, time and one equation inside the domain";
        return Ok(Some((key, why.to_owned())));
    };
    Ok(match flux {
        Some(flux) => flux_fault(&mut names, &candidate, flux)?.map(|why| (key, why)),
        None => recognition_fault(&mut names, &candidate).map(|why| (key, why)),
    })
}

/// The equation that may be a conservation law.
fn candidate(problem: &Problem, names: &mut Names) -> Result<Option<Candidate>> {
    let states = names.bind_states_opaque(problem);
    let time = problem.coordinates.iter().position(|coordinate| coordinate.time);
    let inside: Vec<&Formula> =
        problem.equations.iter().filter(|e| e.points.at.is_empty()).map(|e| &e.residual).collect();
    let (&[state], &[space], Some(time), [residual]) =
        (&states[..], &divided(&problem.coordinates)[..], time, &inside[..])
    else {
        return Ok(None);
    };
    if space == time {
        return Ok(None);
    }
    let [space, time] = [space, time].map(|c| names.coordinates[c]);
    Ok(Some(Candidate { residual: names.lower(residual)?, state, space, time }))
}

/// A flux is about the state and the unknowns only, and its slope is the speed in the residual.
fn flux_fault(names: &mut Names, candidate: &Candidate, flux: &Formula) -> Result<Option<String>> {
    let flux = names.lower(flux)?;
    let state = Leaf::Derivative(candidate.state, MultiIndex::zero(2));
    let unknowns: Vec<Leaf> = names.eta.iter().copied().map(Leaf::Symbol).collect();
    let allowed = |leaf: &Leaf| *leaf == state || unknowns.contains(leaf);
    if !names.graph.leaves(&[flux]).iter().all(allowed) {
        let why = "a flux is an expression of the state, the unknowns and constants only";
        return Ok(Some(why.to_owned()));
    }
    Ok(candidate.confirm(&mut names.graph, flux).err().map(|error| error.to_string()))
}

fn recognition_fault(names: &mut Names, candidate: &Candidate) -> Option<String> {
    let recognised = candidate.recognise(&mut names.graph).is_some();
    (!recognised).then(|| ConservationError::NotConservative.to_string())
}
