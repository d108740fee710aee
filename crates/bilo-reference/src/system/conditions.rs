//! Whether a problem has as many boundary conditions as its equations ask for, in words.

use super::assignment;
use super::parts::{Parts, Standing};
use bilo_expr::{Expr, Leaf};
use bilo_solve::End;

/// The score of a state that an equation does not have: less than all derivatives make up for.
const ABSENT: i64 = -1000;

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
        let (mut faults, orders) = (vec![], self.orders_of_states(space, interior));
        for state in (0..self.states.len()).filter(|state| !self.rates.iter().any(|r| r.state == *state)) {
            let needed = orders[state];
            let at = |end: End| {
                own.iter().filter(|b| b.side.end == end && mentioned(b.residual) == [state]).count()
            };
            faults.extend(self.fault(state, space, needed, (at(End::Lower), at(End::Upper))));
        }
        // One state's conditions may stand for another's, as in u_x = p, p_x = f.
        if orders.iter().sum::<usize>() == own.len() { vec![] } else { faults }
    }

    /// How many conditions each state takes along a coordinate: its highest derivative in the equation that is matched with it
    /// so that the sum is largest (Jacobi's bound). Schroedinger's equation for real and imaginary part has the derivatives of
    /// each in the rate of the other; so has a state whose rate is a state.
    fn orders_of_states(&self, space: usize, interior: &[Expr]) -> Vec<usize> {
        let order = |equation: Expr, state: usize| self.order_along(state, Some(space), equation);
        let score = |order: Option<usize>| order.map_or(ABSENT, |order| order as i64);
        let scores: Vec<Vec<i64>> = interior
            .iter()
            .map(|&equation| (0..self.states.len()).map(|state| score(order(equation, state))).collect())
            .collect();
        let mut orders = vec![0; self.states.len()];
        for (equation, state) in assignment::best(&scores).into_iter().enumerate() {
            orders[state] = order(interior[equation], state).unwrap_or(0);
        }
        orders
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
