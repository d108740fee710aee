//! Where a form holds its state, whatever the network does.

use bilo_expr::{Expr, Input, Leaf, Scratch, Tape};
use bilo_problem::diagnostic::Result;
use bilo_problem::{NET, Names, Problem, State, given_columns};
use std::collections::BTreeMap;

/// Scattered points at which a factor is tried.
const TRIALS: usize = 64;

/// What is smaller than this part of the largest value is zero up to rounding.
const ROUNDING: f64 = 1e-12;

/// A form with the network set to zero, and its slope in the network.
pub(super) struct PinnedForm {
    pub(super) bare: Expr,
    pub(super) slope: Expr,
    net: Leaf,
}

impl PinnedForm {
    pub(super) fn new(names: &mut Names, state: &State) -> Result<Self> {
        let net = names.bind_opaque(NET);
        let form = names.lower(&state.form)?;
        let net = names.value_leaf(net);
        Ok(Self::of(names, form, net))
    }

    /// An expression with another leaf in the network's part.
    pub(super) fn of(names: &mut Names, form: Expr, net: Leaf) -> Self {
        let slope = names.graph.partial(form, &net);
        let zero = names.graph.constant(0.0);
        let bare = names.graph.substitute(form, &BTreeMap::from([(net.clone(), zero)]));
        Self { bare, slope, net }
    }

    /// Whether an expression is zero, up to rounding, wherever the coordinate has this value: tried at
    /// scattered values of everything else and measured against its size elsewhere.
    pub(super) fn vanishes_at(&self, room: Room<'_>, axis: usize, place: f64, expression: Expr) -> bool {
        let largest = |values: Vec<f64>| values.iter().fold(0.0_f64, |largest, v| largest.max(v.abs()));
        let there = self.scattered(room, expression, Some((axis, place))).map(largest);
        let elsewhere = self.scattered(room, expression, None).map(largest);
        there.zip(elsewhere).is_some_and(|(there, elsewhere)| there <= ROUNDING * elsewhere)
    }

    /// Whether the factor of the network changes its sign, so that the form holds the state inside the
    /// domain.
    pub(super) fn changes_sign(&self, room: Room<'_>) -> bool {
        let Some(values) = self.scattered(room, self.slope, None) else { return false };
        let (least, most) = values.iter().fold((0.0_f64, 0.0_f64), |(a, b), &v| (a.min(v), b.max(v)));
        (-least).min(most) > ROUNDING * (-least).max(most)
    }

    /// An expression at scattered points, a coordinate held if asked, the scalars at their guess, the
    /// network and unknown functions positive; none if it needs derivatives of the network.
    fn scattered(&self, room: Room<'_>, expression: Expr, held: Option<(usize, f64)>) -> Option<Vec<f64>> {
        let Room { problem, names } = room;
        let mut leaves = names.graph.leaves(&[expression]);
        // Derivatives of the network are left out, and then there is nothing to evaluate.
        leaves.retain(|leaf| match leaf {
            Leaf::Symbol(_) => true,
            Leaf::Derivative(function, _) => {
                *leaf == self.net
                    || names.functions.contains(function)
                    || names.given_field(*function).is_some()
            }
        });
        let tape = Tape::compile(&names.graph, &[expression], &leaves).ok()?;
        let places: Vec<Vec<f64>> = (problem.coordinates.iter().enumerate())
            .map(|(c, coordinate)| match held {
                Some((axis, place)) if axis == c => vec![place; TRIALS],
                _ => fractions(c).map(|fraction| coordinate.at_fraction(fraction)).collect(),
            })
            .collect();
        let column = |(number, leaf): (usize, &Leaf)| -> Vec<f64> {
            let Leaf::Symbol(symbol) = leaf else {
                let anything = || fractions(places.len() + number).map(|fraction| 0.2 + fraction).collect();
                return given_columns::sample(names, leaf, &places).unwrap_or_else(anything);
            };
            let Some(c) = names.coordinates.iter().position(|s| s == symbol) else {
                let number = names.eta.iter().position(|s| s == symbol).expect("a coordinate or an unknown");
                let unknown = &problem.unknowns[number];
                return vec![unknown.eta_of(unknown.guess); TRIALS];
            };
            places[c].clone()
        };
        let columns: Vec<Vec<f64>> = leaves.iter().enumerate().map(column).collect();
        let inputs: Vec<_> = columns.iter().map(|column| Input::Column(column)).collect();
        let mut scratch = Scratch::<f64>::new();
        tape.eval(&inputs, TRIALS, &mut scratch);
        Some(scratch.output(&tape, 0).to_vec())
    }
}

/// Scattered numbers in [0, 1), the same at every run.
fn fractions(number: usize) -> impl Iterator<Item = f64> {
    let stride = 0.618_034 + 0.123_457 * number as f64;
    (1..=TRIALS).map(move |trial| (trial as f64 * stride).fract())
}

/// What the leaves of a form are.
#[derive(Clone, Copy)]
pub(super) struct Room<'a> {
    pub(super) problem: &'a Problem,
    pub(super) names: &'a Names,
}
