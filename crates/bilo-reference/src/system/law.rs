//! A problem as a conservation law for Godunov's scheme.

use super::nodal::has_parameters;
use super::parts::Parts;
use super::unsupported;
use bilo_expr::{Expr, Graph, Leaf, MultiIndex, Symbol};
use bilo_problem::diagnostic::Result;
use bilo_problem::{Classical, Equation, Names, Scheme};
use bilo_solve::End;
use bilo_solve::conservation::{Candidate, ConservationError, ConservationLaw, Ends, Flux, Initial, Side};
use std::collections::BTreeMap;

/// The problem as a conservation law: if the file asks for it, or if nothing is asked and the
/// equation is one in which shocks may form. With it the number of the unknown function that the state
/// starts as, if there is one.
pub(super) fn find(parts: &mut Parts<'_>) -> Result<Option<(ConservationLaw, Option<usize>)>> {
    let Classical { scheme, flux: stated, .. } = &parts.problem.classical;
    let asked = *scheme == Scheme::Godunov || stated.is_some();
    let nodal = parts.problem.functions.iter().any(|function| has_parameters(function, parts.axes));
    if *scheme == Scheme::Central
        || !parts.problem.inputs.is_empty()
        || nodal
        || !parts.given.is_empty()
        || !parts.signals.is_empty()
    {
        return Ok(None);
    }
    let found = match candidate(parts) {
        None => None,
        Some((equation, candidate)) => flux(parts, &candidate)?.map(|flux| (equation, candidate, flux)),
    };
    match found {
        Some((equation, candidate, flux))
            if asked || shocks_may_form(&mut parts.names.graph, &candidate, flux) =>
        {
            law(parts, equation, &candidate, flux).map(Some)
        }
        None if asked => {
            let message = ConservationError::NotConservative.to_string();
            Err(unsupported(&message, parts.problem.equations.first()))
        }
        _ => Ok(None),
    }
}

/// The stated flux, which was checked with the problem, or the one that is found.
fn flux(parts: &mut Parts<'_>, candidate: &Candidate) -> Result<Option<Flux>> {
    match &parts.problem.classical.flux {
        Some(stated) => Ok(Some(Flux::Formula(parts.names.lower(stated)?))),
        None => Ok(candidate.recognise(&mut parts.names.graph)),
    }
}

/// One equation for one state of one space coordinate and time, if nothing needs the slopes of a solution
/// that may jump.
fn candidate<'a>(parts: &Parts<'a>) -> Option<(&'a Equation, Candidate)> {
    match (&parts.interior[..], &parts.states[..], &parts.axes.space[..], parts.axes.time) {
        (&[(equation, residual)], &[state], &[space], Some(time)) if !parts.has_slopes_for_states() => {
            let [space, time] = [space, time].map(|coordinate| parts.names.coordinates[coordinate]);
            Some((equation, Candidate { residual, state, space, time }))
        }
        _ => None,
    }
}

/// Characteristics meet only if their speed depends on the state. Otherwise everything is carried
/// along as it is, and central differences are of higher order.
fn shocks_may_form(graph: &mut Graph, candidate: &Candidate, flux: Flux) -> bool {
    let u = Leaf::Derivative(candidate.state, MultiIndex::zero(2));
    let speed = match flux {
        Flux::Formula(flux) => graph.partial(flux, &u),
        Flux::Speed(speed) => speed,
    };
    graph.leaves(&[speed]).contains(&u)
}

fn law(
    parts: &mut Parts<'_>,
    equation: &Equation,
    candidate: &Candidate,
    flux: Flux,
) -> Result<(ConservationLaw, Option<usize>)> {
    let (space, time) = (parts.axes.space[0], parts.axes.time.expect("the candidate has one"));
    let (space, time) = (parts.axis(space), parts.axis(time));
    let ends = if space.periodic {
        Ends::Periodic
    } else {
        let lower = side(parts, equation, End::Lower, space.lo)?;
        Ends::Open { lower, upper: side(parts, equation, End::Upper, space.hi)? }
    };
    let initial = parts.initial_values()?[0];
    let initial = at(&mut parts.names.graph, initial, time.symbol, time.lo);
    let start = unknown_start(parts, initial);
    let law = ConservationLaw {
        space,
        time,
        state: candidate.state,
        parameters: parts.names.eta.clone(),
        flux,
        ends,
        initial: start.map_or(Initial::Formula(initial), |_| Initial::Nodal),
        graph: parts.names.graph.clone(),
    };
    Ok((law, start))
}

/// The unknown function that an initial value is, if it is one as it stands.
fn unknown_start(parts: &mut Parts<'_>, initial: Expr) -> Option<usize> {
    let Names { graph, functions, .. } = &mut parts.names;
    functions.iter().position(|&function| graph.value(function) == initial)
}

/// What lies outside an end: the value that a condition gives, else everything leaves.
fn side(parts: &mut Parts<'_>, equation: &Equation, end: End, place: f64) -> Result<Side> {
    let conditions: Vec<Expr> =
        parts.boundary.iter().filter(|b| b.side.end == end).map(|b| b.residual).collect();
    match conditions[..] {
        [] => Ok(Side::Outflow),
        [residual] => {
            let Some(value) = parts.solved_for(0, residual) else {
                let message =
                    "Godunov's scheme takes values at the ends: conditions that are linear in the state";
                return Err(unsupported(message, Some(equation)));
            };
            let value = with_known_ends(parts, equation, value, place)?;
            let x = parts.names.coordinates[parts.axes.space[0]];
            Ok(Side::Prescribed(at(&mut parts.names.graph, value, x, place)))
        }
        _ => Err(unsupported("Godunov's scheme takes one condition at an end", Some(equation))),
    }
}

/// A value at an end in which unknown functions are replaced by what their forms hold there.
fn with_known_ends(parts: &mut Parts<'_>, equation: &Equation, value: Expr, place: f64) -> Result<Expr> {
    let mut known = BTreeMap::new();
    for (unknown, &function) in parts.problem.functions.iter().zip(&parts.names.functions) {
        let leaf = Leaf::Derivative(function, MultiIndex::zero(unknown.of.len()));
        if !parts.names.graph.leaves(&[value]).contains(&leaf) {
            continue;
        }
        let Some(held) = unknown.held_at(parts.problem, &[place])? else {
            let message = format!(
                "Godunov's scheme needs the value of `{}` at the end {place}, which its form does not hold",
                unknown.name
            );
            return Err(unsupported(&message, Some(equation)));
        };
        known.insert(leaf, parts.names.graph.constant(held));
    }
    Ok(parts.names.graph.substitute(value, &known))
}

/// An expression with a coordinate at a place.
fn at(graph: &mut Graph, expression: Expr, coordinate: Symbol, place: f64) -> Expr {
    let place = graph.constant(place);
    graph.substitute(expression, &BTreeMap::from([(Leaf::Symbol(coordinate), place)]))
}
