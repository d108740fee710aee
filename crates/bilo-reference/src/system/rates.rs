//! Equations of second order in time as systems of first order: the rate v = u_t is a state too.

use super::parts::{Parts, Rate};
use bilo_expr::{Expr, Function, Leaf, MultiIndex};
use std::collections::BTreeMap;

impl Parts<'_> {
    /// Adds a state for the rate of every state whose second derivative in time some equation has.
    pub(super) fn add_rates(&mut self) {
        let Some(time) = self.axes.time else { return };
        for of in 0..self.states.len() {
            if self.highest_order(of, time) != 2 {
                continue;
            }
            let inputs = self.names.graph.function_inputs(self.states[of]).to_vec();
            let name =
                format!("{}_{}", self.names.graph.function_name(self.states[of]), self.coordinate(time).name);
            let rate = self.names.graph.function(&name, inputs);
            self.states.push(rate);
            self.rates.push(Rate { of, state: self.states.len() - 1 });
        }
    }

    /// An expression with rates in the place of derivatives in time.
    pub(super) fn with_rates(&mut self, expression: Expr) -> Expr {
        let Some(time) = self.axes.time.filter(|_| !self.rates.is_empty()) else { return expression };
        let rate_of = |function: Function| {
            let found = self.rates.iter().find(|rate| self.states[rate.of] == function);
            found.map(|rate| self.states[rate.state])
        };
        let mut replaced = BTreeMap::new();
        for leaf in self.names.graph.leaves(&[expression]) {
            let Leaf::Derivative(function, index) = &leaf else { continue };
            let (Some(rate), true) = (rate_of(*function), index.as_slice()[time] > 0) else { continue };
            let mut orders = index.as_slice().to_vec();
            orders[time] -= 1;
            replaced.insert(leaf, (rate, MultiIndex::from(orders)));
        }
        let graph = &mut self.names.graph;
        let replaced =
            replaced.into_iter().map(|(leaf, (rate, index))| (leaf, graph.derivative(rate, index)));
        let replaced: BTreeMap<Leaf, Expr> = replaced.collect();
        graph.substitute(expression, &replaced)
    }

    /// The equations u_t - v = 0.
    pub(super) fn add_equations_of_rates(&mut self) {
        let Some(time) = self.axes.time else { return };
        for Rate { of, state } in self.rates.clone() {
            let Some(&(equation, _)) = self.interior.first() else { return };
            let slots = self.names.graph.function_inputs(self.states[of]).len();
            let slope = self.names.graph.derivative(self.states[of], MultiIndex::unit(slots, time));
            let rate = self.names.graph.value(self.states[state]);
            let residual = self.names.graph.sub(slope, rate);
            self.interior.push((equation, residual));
        }
    }
}
