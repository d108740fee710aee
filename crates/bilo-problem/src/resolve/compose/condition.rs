//! What conditions say: of which state, on which faces of the domain.

use crate::diagnostic::Result;
use crate::model::domain::Coordinate;
use crate::model::formula::Formula;
use crate::text::is_made_of;
use crate::written::points::HeldAt;
use crate::written::{ConditionSpec, Written};
use bilo_expr::{Ast, AstKind, Operator};

/// A face of the domain: a coordinate, by number, at one of its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Face {
    pub(super) coordinate: usize,
    pub(super) upper: bool,
}

/// A state, by number, that has a value on a face: itself, or its rate at the start.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FixedValue {
    pub(super) state: usize,
    pub(super) face: Face,
    /// u_t = value in place of u = value.
    pub(super) rate: bool,
    pub(super) value: String,
}

/// A condition as it is understood.
pub(super) struct ReadCondition {
    pub(super) holds: Formula,
    /// The faces that it is about.
    pub(super) faces: Vec<Face>,
    /// The values that it fixes, on each of these; none if it says something else.
    pub(super) values: Vec<FixedValue>,
}

/// All conditions of a problem.
pub(super) fn read_all(written: &Written) -> Result<Vec<ReadCondition>> {
    written.conditions.iter().map(|spec| read(written, spec)).collect()
}

fn read(written: &Written, spec: &ConditionSpec) -> Result<ReadCondition> {
    let holds = written.places.equation(&format!("condition.{}.holds", spec.name), &spec.holds)?;
    let faces = faces(&written.coordinates, &spec.at);
    let values = fixed(written, &holds.ast).map_or(vec![], |(state, rate, value)| {
        let value = |&face: &Face| FixedValue { state, face, rate, value: value.clone() };
        faces.iter().map(value).collect()
    });
    let at_start = |value: &FixedValue| {
        let coordinate = &written.coordinates[value.face.coordinate];
        if coordinate.time { !value.face.upper } else { !value.rate && !coordinate.periodic }
    };
    let values = if values.iter().all(at_start) { values } else { vec![] };
    Ok(ReadCondition { holds, faces, values })
}

/// The faces where a condition holds; none if it holds somewhere else.
fn faces(coordinates: &[Coordinate], at: &[(String, HeldAt)]) -> Vec<Face> {
    let [(name, HeldAt::Values(places))] = at else { return vec![] };
    let Some(coordinate) = coordinates.iter().position(|c| c.name == *name) else { return vec![] };
    let Coordinate { lo, hi, .. } = coordinates[coordinate];
    let face = |&place: &f64| match place {
        place if place == lo => Some(Face { coordinate, upper: false }),
        place if place == hi => Some(Face { coordinate, upper: true }),
        _ => None,
    };
    places.iter().map(face).collect::<Option<_>>().unwrap_or_default()
}

/// The state that an equation `u = value` or `u_t = value` fixes, whether it is the rate, and the value.
fn fixed(written: &Written, ast: &Ast) -> Option<(usize, bool, String)> {
    let AstKind::Binary(Operator::Sub, left, right) = ast.nodes()[ast.root()].kind else { return None };
    let time = written.coordinates.iter().find(|c| c.time);
    [(left, right), (right, left)].into_iter().find_map(|(of, value)| {
        let AstKind::Name(name) = &ast.nodes()[of].kind else { return None };
        let is_rate = |state: &str| time.is_some_and(|time| *name == format!("{state}_{}", time.name));
        let state = written.states.iter().position(|s| s.name == *name || is_rate(&s.name))?;
        let rate = written.states[state].name != *name;
        (!mentions_states(written, ast, value)).then(|| (state, rate, summand(ast.source(value).trim())))
    })
}

/// A text that can be added to.
fn summand(text: &str) -> String {
    let loose =
        text.contains(['<', '>', '=']) || [" and ", " or ", "not "].iter().any(|word| text.contains(word));
    if loose { format!("({text})") } else { text.to_owned() }
}

/// Whether a part of an expression is about states.
fn mentions_states(written: &Written, ast: &Ast, part: usize) -> bool {
    let span = ast.nodes()[part].span;
    let variables: Vec<&str> = written.coordinates.iter().map(|c| c.name.as_str()).collect();
    let of_state = |name: &str| {
        let derivative = |state: &str| {
            let suffix = name.strip_prefix(state).and_then(|rest| rest.strip_prefix('_'));
            name == state || suffix.is_some_and(|suffix| is_made_of(suffix, &variables))
        };
        written.states.iter().any(|state| derivative(&state.name))
    };
    let inside = |start: usize| (span.start..span.end).contains(&start);
    ast.names().into_iter().any(|(name, at)| inside(at.start) && of_state(name))
}
