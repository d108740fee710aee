//! Incompressible flow: a state of which the equations have first derivatives only (the pressure), and an equation without
//! it (of mass).
//!
//! Central differences on one grid for all states do not see a pressure that alternates from node to node. So what the
//! momentum equations make of such a pressure is added to the equation of mass, which is of second order in the width of a
//! cell (Brezzi and Pitkäranta 1984; in Rhie and Chow's form of 1983):
//!
//! ```text
//! u_x + v_y - h² / (24 nu) lap p = 0
//! ```
//!
//! On sides that have no condition for it the equation of mass holds as it is. Where no condition has the pressure's
//! value, it is known up to a constant, and the flow through the sides must balance, which it does up to the error of
//! differences: one more state, the same everywhere, takes up what is left, and in the place of one of its equations the
//! pressure has its value at a point.

use super::parts::Parts;
use super::{unsupported, where_sides_meet};
use bilo_expr::{Expr, Leaf, MultiIndex};
use bilo_problem::diagnostic::Result;
use bilo_solve::{Boundary, End, Pin, Side};

/// The factor by which h²/nu is divided in what is added. Kovasznay's flow at a Reynolds number of 40 is stable with 8 to 200,
/// and above about 20 the term has no part in its error; with 24 so it is at 1 and 200.
const STABLE: f64 = 24.0;

/// The pressure and the equation of mass, by their numbers among states and equations inside the domain.
#[derive(Clone, Copy)]
struct Flow {
    pressure: usize,
    mass: usize,
}

/// What makes a momentum equation's state move with the pressure along an axis.
struct Coupling {
    /// d mass / d w_x, d momentum / d p_x and d momentum / d w_xx.
    by_divergence: Expr,
    by_pressure: Expr,
    by_friction: Expr,
}

impl<'a> Parts<'a> {
    /// Lets a flow's pressure be determined; does nothing to other problems.
    pub(super) fn determine_pressure(&mut self) -> Result<()> {
        let Some((flow, couplings)) = self.flow() else {
            return self.points.first().map_or(Ok(()), |point| Err(where_sides_meet(point.equation)));
        };
        let mass = self.interior[flow.mass].1;
        self.stabilise(flow, &couplings);
        self.hold_mass_on_sides(mass);
        if self.axes.time.is_some() {
            let zero = self.names.graph.constant(0.0);
            self.initial[flow.pressure].get_or_insert(zero);
        }
        let fixed = self.names.value_leaf(self.states[flow.pressure]);
        if self
            .boundary
            .iter()
            .any(|condition| self.names.graph.leaves(&[condition.residual]).contains(&fixed))
        {
            return Ok(());
        }
        self.fix_level(flow)
    }

    /// The flow, if there is one in a plane.
    fn flow(&mut self) -> Option<(Flow, Vec<Coupling>)> {
        let count = self.states.len();
        let mut pairs = (0..count).flat_map(|pressure| (0..count).map(move |mass| Flow { pressure, mass }));
        if self.axes.space.len() != 2 || self.interior.len() != self.states.len() {
            return None;
        }
        pairs.find_map(|flow| {
            let couplings: Option<Vec<Coupling>> =
                (0..2).map(|axis| self.coupling(flow, self.axes.space[axis])).collect();
            (self.is_pressure(flow.pressure) && self.is_mass(flow)).then_some(flow).zip(couplings)
        })
    }

    /// The derivatives of a state that an equation has.
    fn derivatives_of(&self, state: usize, residual: Expr) -> Vec<MultiIndex> {
        self.derivatives(residual, &self.states[state..=state])
    }

    /// Whether equations have a state's first derivatives in space and nothing else of it.
    fn is_pressure(&self, state: usize) -> bool {
        let all: Vec<MultiIndex> =
            (self.interior.iter()).flat_map(|&(_, residual)| self.derivatives_of(state, residual)).collect();
        let in_time = |index: &MultiIndex| self.axes.time.is_some_and(|time| index.as_slice()[time] > 0);
        !all.is_empty() && all.iter().all(|index| index.order() == 1 && !in_time(index))
    }

    /// Whether an equation is one of first derivatives in space, without the pressure.
    fn is_mass(&self, flow: Flow) -> bool {
        let residual = self.interior[flow.mass].1;
        let first = |index: &MultiIndex| {
            index.order() <= 1 && self.axes.time.is_none_or(|time| index.as_slice()[time] == 0)
        };
        self.derivatives_of(flow.pressure, residual).is_empty()
            && (0..self.states.len()).all(|state| self.derivatives_of(state, residual).iter().all(first))
    }

    /// The state whose divergence along a coordinate is in the equation of mass, and whose own equation has the pressure's
    /// slope along it, and friction.
    fn coupling(&mut self, flow: Flow, coordinate: usize) -> Option<Coupling> {
        let states = (0..self.states.len()).filter(|&state| state != flow.pressure);
        states.into_iter().find_map(|state| {
            let by_divergence = self.partial(flow.mass, state, coordinate, 1)?;
            let equations = (0..self.interior.len()).filter(|&equation| equation != flow.mass);
            equations.into_iter().find_map(|equation| {
                let by_pressure = self.partial(equation, flow.pressure, coordinate, 1)?;
                let by_friction = self.partial(equation, state, coordinate, 2)?;
                Some(Coupling { by_divergence, by_pressure, by_friction })
            })
        })
    }

    /// The derivative of a residual by one of a state along a coordinate; none if it has no such derivative.
    fn partial(&mut self, equation: usize, state: usize, coordinate: usize, order: u8) -> Option<Expr> {
        let residual = self.interior[equation].1;
        let slots = self.names.graph.function_inputs(self.states[state]).len();
        let mut orders = vec![0; slots];
        orders[coordinate] = order;
        let leaf = Leaf::Derivative(self.states[state], MultiIndex::from(orders));
        let partial = self.names.graph.partial(residual, &leaf);
        (self.names.graph.as_constant(partial) != Some(0.0)).then_some(partial)
    }

    /// Adds to the equation of mass what the momentum equations make of a pressure that alternates: along an axis
    /// (d mass/d w_x) w_x with w = -(d momentum/d p_x) p_x / (-24/h² d momentum/d w_xx).
    fn stabilise(&mut self, flow: Flow, couplings: &[Coupling]) {
        let mut mass = self.interior[flow.mass].1;
        for (axis, coupling) in couplings.iter().enumerate() {
            let coordinate = self.axes.space[axis];
            let graph = &mut self.names.graph;
            let width = graph.symbol(&format!("(width of a cell along {coordinate})"));
            let slots = graph.function_inputs(self.states[flow.pressure]).len();
            let mut orders = vec![0; slots];
            orders[coordinate] = 2;
            let curvature = graph.derivative(self.states[flow.pressure], MultiIndex::from(orders));
            let h = graph.leaf(width);
            let stable = graph.constant(STABLE);
            let friction = graph.mul(stable, coupling.by_friction);
            let mut term = graph.mul(coupling.by_divergence, coupling.by_pressure);
            for factor in [h, h, curvature] {
                term = graph.mul(term, factor);
            }
            let term = graph.div(term, friction);
            mass = graph.add(mass, term);
            self.widths.push(width);
        }
        self.interior[flow.mass].1 = mass;
    }

    /// On every side that has a condition less than there are states, the equation of mass. (Last, so that the stated
    /// ones go to their states.)
    fn hold_mass_on_sides(&mut self, mass: Expr) {
        let sides = |axis: usize| [End::Lower, End::Upper].map(|end| Side { axis, end });
        for side in (0..self.axes.space.len()).flat_map(sides) {
            let stated = self.boundary.iter().filter(|condition| condition.side == side).count();
            if !self.axis(self.axes.space[side.axis]).periodic && stated + 1 == self.states.len() {
                self.boundary.push(Boundary { side, residual: mass });
            }
        }
    }

    /// One more state s, the same everywhere, in the equation of mass, and the pressure's value at a point in the place of
    /// one of its equations lap s = 0.
    fn fix_level(&mut self, flow: Flow) -> Result<()> {
        let pressure = self.names.graph.value(self.states[flow.pressure]);
        let (at, residual) = match &self.points[..] {
            [] => (self.corner(), pressure),
            [point] if !self.derivatives_of(flow.pressure, point.residual).is_empty() => {
                (point.at.clone(), point.residual)
            }
            [.., other] => {
                let message = "the classical solver takes conditions on whole sides; at a point it takes one for a \
                               pressure that no other condition fixes";
                return Err(unsupported(message, Some(other.equation)));
            }
        };
        let slack = self.add_slack(flow);
        let middle = self.axes.space.iter().map(|&space| self.coordinate(space).at_fraction(0.5)).collect();
        self.pins.push(Pin { at, residual, instead: (slack, middle) });
        Ok(())
    }

    /// The place where all coordinates of space begin.
    fn corner(&self) -> Vec<f64> {
        self.axes.space.iter().map(|&space| self.coordinate(space).lo).collect()
    }

    /// The state s with its equations; its number.
    fn add_slack(&mut self, flow: Flow) -> usize {
        let graph = &mut self.names.graph;
        let inputs = graph.function_inputs(self.states[flow.pressure]).to_vec();
        let slots = inputs.len();
        let slack = graph.function("(imbalance)", inputs);
        let value = graph.value(slack);
        self.interior[flow.mass].1 = graph.sub(self.interior[flow.mass].1, value);
        let mut laplacian = graph.constant(0.0);
        for (axis, &space) in self.axes.space.iter().enumerate() {
            let mut orders = vec![0; slots];
            orders[space] = 2;
            let curvature = graph.derivative(slack, MultiIndex::from(orders));
            laplacian = graph.add(laplacian, curvature);
            if !self.problem.coordinates[space].periodic {
                let residual = graph.derivative(slack, MultiIndex::unit(slots, space));
                let ends = [End::Lower, End::Upper];
                self.boundary.extend(ends.map(|end| Boundary { side: Side { axis, end }, residual }));
            }
        }
        let equation = self.interior[flow.mass].0;
        self.interior.push((equation, laplacian));
        self.states.push(slack);
        self.initial.push(self.axes.time.is_some().then(|| self.names.graph.constant(0.0)));
        self.states.len() - 1
    }
}
