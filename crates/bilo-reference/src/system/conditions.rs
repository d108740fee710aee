//! Whether a problem has as many boundary conditions as its equations ask for, in words.

use super::parts::{Parts, Standing};
use bilo_expr::{Expr, Leaf};
use bilo_solve::End;

/// Numbers in words.
const WORDS: [&str; 5] = ["no", "one", "two", "three", "four"];

impl Parts<'_> {
    /// What is missing or too much along each coordinate of space; nothing where it cannot be told.
    pub(super) fn condition_faults(&self, interior: &[Expr]) -> Vec<String> {
        if !self.jumps.is_empty() || self.standing.iter().any(|s| matches!(s, Standing::Defined(_))) {
            return vec![];
        }
        let axes = (0..self.axes.space.len()).filter(|&axis| !self.axis(self.axes.space[axis]).periodic);
        axes.flat_map(|axis| self.faults_along(axis, interior)).collect()
    }

    fn faults_along(&self, axis: usize, interior: &[Expr]) -> Vec<String> {
        let space = self.axes.space[axis];
        let own: Vec<_> = self.boundary.iter().filter(|boundary| boundary.side.axis == axis).collect();
        // A condition of several states belongs to none of them.
        let mentioned = |residual: Expr| -> Vec<usize> {
            (0..self.states.len())
                .filter(|&state| self.order_along(state, None, residual).is_some())
                .collect()
        };
        if own.iter().any(|boundary| mentioned(boundary.residual).len() != 1) {
            return vec![];
        }
        let (mut faults, mut needed_in_all) = (vec![], 0);
        for state in (0..self.states.len()).filter(|state| !self.rates.iter().any(|r| r.state == *state)) {
            // Of a state and its rate, the equation of the rate has the derivatives.
            let equation = self.rates.iter().find(|rate| rate.of == state).map_or(state, |rate| rate.state);
            let needed = self.order_along(state, Some(space), interior[equation]).unwrap_or(0);
            let at = |end: End| {
                own.iter().filter(|b| b.side.end == end && mentioned(b.residual) == [state]).count()
            };
            needed_in_all += needed;
            faults.extend(self.fault(state, space, needed, (at(End::Lower), at(End::Upper))));
        }
        // One state's conditions may stand for another's, as in u_x = p, p_x = f.
        if needed_in_all == own.len() { vec![] } else { faults }
    }

    /// The highest order of a state's derivatives, along a coordinate or in all; none if the state does not occur.
    fn order_along(&self, state: usize, coordinate: Option<usize>, expression: Expr) -> Option<usize> {
        let order = |leaf: Leaf| match leaf {
            Leaf::Derivative(function, index) if function == self.states[state] => Some(match coordinate {
                Some(coordinate) => usize::from(index.as_slice()[coordinate]),
                None => index.order(),
            }),
            _ => None,
        };
        self.names.graph.leaves(&[expression]).into_iter().filter_map(order).max()
    }

    fn fault(
        &self,
        state: usize,
        space: usize,
        needed: usize,
        (lower, upper): (usize, usize),
    ) -> Option<String> {
        let found = lower + upper;
        if found == needed {
            return None;
        }
        let (name, x) = (self.names.graph.function_name(self.states[state]), &self.coordinate(space).name);
        let (lo, hi) = (self.coordinate(space).lo, self.coordinate(space).hi);
        let words = |count: usize| WORDS.get(count).map_or(count.to_string(), |word| (*word).to_owned());
        let conditions =
            |count: usize| format!("{} condition{}", words(count), if count == 1 { "" } else { "s" });
        let half = needed / 2;
        if found > needed {
            return Some(match needed {
                0 => format!(
                    "{name} has {} along {x}, and no derivative along it asks for any",
                    conditions(found)
                ),
                _ => format!(
                    "{name} has {} along {x}, where its equation takes {}",
                    conditions(found),
                    words(needed)
                ),
            });
        }
        let missing = |count: usize, place: f64| {
            (count < half).then(|| format!("{name} needs {} at {x} = {place}", conditions(half - count)))
        };
        let ends: Vec<String> = [missing(lower, lo), missing(upper, hi)].into_iter().flatten().collect();
        Some(match needed % 2 {
            0 if lower <= half && upper <= half => ends.join(", and "),
            _ if found == 0 && needed == 1 => {
                format!("{name} needs one condition at {x} = {lo} or {x} = {hi}, where it flows in")
            }
            _ => format!("{name} needs {} along {x}, found {}", conditions(needed), words(found)),
        })
    }
}
