//! Equations at a place inside the domain, where slopes jump.
//!
//! An input phi with a kink at x = z gives every network u(x, phi) one there: `[u_x] = u_phi*[phi_x]`, where
//! `[.]` is the value above z minus that below. So what an equation at z says of `u_phi` it says of the
//! jump of the slope: `u_phi = [u_x]/[phi_x]`, which is `[u_x]/2` for phi = |x - z|.

use super::parts::{JumpCondition, Parts};
use super::unsupported;
use bilo_expr::{Expr, Function, Graph, Leaf, MultiIndex, Symbol, Tape};
use bilo_problem::diagnostic::Result;
use bilo_problem::{Coordinate, Equation, evaluate};
use bilo_solve::Interface;
use std::collections::BTreeMap;

/// How near to a place, in parts of the domain, the slope of an input is looked at.
const NEAR: f64 = 1e-7;

/// Slopes of an input on one side that differ by a larger part have no limit at the place.
const SAME_SLOPE: f64 = 1e-3;

/// Slopes on the two sides that differ by a smaller part are no kink.
const NO_KINK: f64 = 1e-6;

impl<'a> Parts<'a> {
    /// Whether an expression has derivatives of states by inputs.
    pub(super) fn uses_partials(&self, expression: Expr) -> bool {
        let by_input =
            |leaf: &Leaf| matches!(leaf, Leaf::Derivative(_, index) if self.names.is_by_input(index));
        self.names.graph.leaves(&[expression]).iter().any(by_input)
    }

    /// Whether an equation is held strictly inside the range of one space coordinate.
    pub(super) fn is_held_inside(&self, equation: &Equation) -> bool {
        let [(held, places)] = equation.points.at.as_slice() else { return false };
        let Coordinate { lo, hi, .. } = *self.coordinate(*held);
        self.axes.space.contains(held) && places.iter().all(|&place| lo < place && place < hi)
    }

    pub(super) fn read_jump(&mut self, equation: &'a Equation, residual: Expr) -> Result<()> {
        let (held, places) = &equation.points.at[0];
        let fault = |message: &str| Err(unsupported(message, Some(equation)));
        if self.axes.space.len() > 1 || self.coordinate(*held).periodic {
            return fault("the classical solver takes jumps along one space coordinate that is not periodic");
        }
        let [place] = places[..] else {
            return fault("the classical solver takes jumps at one place only");
        };
        let position = match equation.points.moving.first() {
            Some((_, formula)) => self.names.lower(formula)?,
            None => self.names.graph.constant(place),
        };
        if self.jumps.iter().any(|jump| jump.position != position) {
            return fault("the classical solver takes jumps at one place only");
        }
        let kinks = (0..self.names.inputs.len())
            .filter_map(|input| Some((input, self.kink(input, place, position)?)));
        let kinks: Vec<(usize, Expr)> = kinks.collect();
        let [(input, kink)] = kinks[..] else {
            return fault(
                "the classical solver takes a derivative by an input as the jump of a slope, so exactly one input \
                 must have a kink at this place: continuous, of this coordinate only, such as `abs(x - z)`",
            );
        };
        let slot = self.problem.coordinates.len() + input;
        self.jumps.push(JumpCondition { equation, residual, position, slot, kink });
        Ok(())
    }

    /// The jump of an input's slope at a place along the one space coordinate, where the input itself is
    /// continuous; none if it has no kink there at the guess, or depends on more than that coordinate and
    /// unknowns.
    fn kink(&mut self, input: usize, place: f64, position: Expr) -> Option<Expr> {
        let space = self.axes.space[0];
        let Coordinate { lo, hi, .. } = *self.coordinate(space);
        let x = self.names.coordinates[space];
        let near = NEAR * (hi - lo);
        let graph = &mut self.names.graph;
        let value = graph.definition(self.names.inputs[input]).expect("inputs are defined");
        let slope = graph.diff(value, x);
        let jump = jump_at(graph, slope, x, position, near);
        let given: Vec<Leaf> =
            std::iter::once(&x).chain(&self.names.eta).map(|&symbol| Leaf::Symbol(symbol)).collect();
        let guess = self.problem.eta_of_guess();
        let sample = |expression: Expr, eta: &[f64], places: &[f64]| {
            let tape = Tape::compile(graph, &[expression], &given).ok()?;
            let eta: Vec<Vec<f64>> = eta.iter().map(|&value| vec![value; places.len()]).collect();
            let columns: Vec<&[f64]> =
                std::iter::once(places).chain(eta.iter().map(|column| &column[..])).collect();
            Some(evaluate(&tape, &columns))
        };
        let beside = [place - 2.0 * near, place - near, place + near, place + 2.0 * near];
        let slopes = sample(slope, &guess, &beside)?;
        let values = sample(value, &guess, &beside[1..3])?;
        let size = slopes[1].abs() + slopes[2].abs();
        let apart = |a: f64, b: f64, share: f64| (a - b).abs() > share * size;
        let limits = !apart(slopes[0], slopes[1], SAME_SLOPE) && !apart(slopes[2], slopes[3], SAME_SLOPE);
        let continuous = (values[1] - values[0]).abs() <= 2.0 * near * size;
        // The place must follow the kink, not only meet it at the guess.
        let stays = std::iter::once(guess.clone())
            .chain((0..guess.len()).map(|j| moved(&guess, j)))
            .all(|eta| sample(jump, &eta, &[place]).is_some_and(|jump| jump[0].abs() > NO_KINK * size));
        (size.is_finite() && limits && continuous && stays).then_some(jump)
    }

    /// The states as the solver takes them, as functions of the coordinates alone.
    pub(super) fn plain_states(&mut self) -> Vec<Function> {
        if self.names.inputs.is_empty() {
            return self.states.clone();
        }
        let graph = &mut self.names.graph;
        let coordinates: Vec<Expr> =
            self.names.coordinates.iter().map(|&symbol| graph.leaf(symbol)).collect();
        let names: Vec<String> =
            self.states.iter().map(|&state| graph.function_name(state).to_owned()).collect();
        names.iter().map(|name| graph.function(name, coordinates.clone())).collect()
    }

    /// An expression, without derivatives by inputs, of these states.
    pub(super) fn with_states(&mut self, states: &[Function], expression: Expr) -> Expr {
        if self.names.inputs.is_empty() {
            return expression;
        }
        let graph = &mut self.names.graph;
        let mut map = BTreeMap::new();
        for leaf in graph.leaves(&[expression]) {
            if let Leaf::Derivative(function, index) = &leaf
                && let Some(state) = self.states.iter().position(|f| f == function)
            {
                let orders = index.as_slice()[..self.problem.coordinates.len()].to_vec();
                let derivative = graph.derivative(states[state], MultiIndex::from(orders));
                map.insert(leaf, derivative);
            }
        }
        graph.substitute(expression, &map)
    }

    /// The place where slopes jump, if there is one.
    pub(super) fn interface(&mut self, states: &[Function]) -> Result<Option<Interface>> {
        let conditions = std::mem::take(&mut self.jumps);
        let Some(JumpCondition { equation, position, .. }) = conditions.last() else { return Ok(None) };
        let (found, count) = (conditions.len(), states.len());
        if found != count {
            let message = format!("{found} equations at a place inside the domain for {count} states");
            return Err(unsupported(&message, Some(equation)));
        }
        let space = self.axes.space[0];
        if (0..count).any(|state| self.highest_order(state, space) != 2) {
            let message = "the classical solver takes jumps of slopes in equations of second order only";
            return Err(unsupported(message, Some(equation)));
        }
        let names = self.solved_states().into_iter().map(|state| format!("jump of {}", state.name));
        let jumps: Vec<Function> = names.map(|name| self.names.graph.function(&name, vec![])).collect();
        let residuals = conditions.iter().map(|condition| self.in_jumps(condition, states, &jumps));
        let residuals = residuals.collect::<Result<_>>()?;
        Ok(Some(Interface { position: *position, jumps, residuals }))
    }

    /// A condition with the derivative of each state by the input replaced by the jump of its slope.
    fn in_jumps(
        &mut self,
        condition: &JumpCondition<'_>,
        states: &[Function],
        jumps: &[Function],
    ) -> Result<Expr> {
        let slots = self.problem.coordinates.len() + self.problem.inputs.len();
        let mut map = BTreeMap::new();
        for (&state, &jump) in self.states.iter().zip(jumps) {
            let graph = &mut self.names.graph;
            let jump = graph.value(jump);
            let partial = graph.div(jump, condition.kink);
            map.insert(Leaf::Derivative(state, MultiIndex::unit(slots, condition.slot)), partial);
        }
        let residual = self.names.graph.substitute(condition.residual, &map);
        let derivative = |leaf: &Leaf| match leaf {
            Leaf::Derivative(function, index) => self.states.contains(function) && index.order() > 0,
            Leaf::Symbol(_) => false,
        };
        if self.names.graph.leaves(&[residual]).iter().any(derivative) {
            let message = "the classical solver takes values of states and their first derivatives by one input \
                           at a place inside the domain";
            return Err(unsupported(message, Some(condition.equation)));
        }
        Ok(self.with_states(states, residual))
    }
}

/// The slope above a place minus that below, each extrapolated to it from two places near to it.
fn jump_at(graph: &mut Graph, slope: Expr, x: Symbol, position: Expr, near: f64) -> Expr {
    let mut beside = |steps: f64| {
        let step = graph.constant(steps * near);
        let place = graph.add(position, step);
        graph.substitute(slope, &BTreeMap::from([(Leaf::Symbol(x), place)]))
    };
    let [below, nearer_below, nearer_above, above] = [-2.0, -1.0, 1.0, 2.0].map(&mut beside);
    let two = graph.constant(2.0);
    let (lower, upper) = (graph.mul(two, nearer_below), graph.mul(two, nearer_above));
    let (lower, upper) = (graph.sub(lower, below), graph.sub(upper, above));
    graph.sub(upper, lower)
}

/// The variables of the unknowns with one of them moved a little.
fn moved(eta: &[f64], j: usize) -> Vec<f64> {
    let mut moved = eta.to_vec();
    moved[j] += 1e-3 * moved[j].abs().max(1e-3);
    moved
}
