//! A problem as a statement for the classical solver: conditions read off forms and equations.

use super::assignment;
use super::nodal::{self, Content};
use super::parts::{Parts, PointCondition, Standing};
use super::pinned::{PinnedForm, Room};
use super::{Axes, unsupported, where_sides_meet};
use bilo_expr::{Expr, Function, Leaf, MultiIndex, Symbol};
use bilo_problem::diagnostic::{Diagnostic, Error, Origin, Result};
use bilo_problem::{Coordinate, Equation, GivenField, Names, Problem, State, given_columns};
use bilo_solve::{Axis, Boundary, End, Side, Signal, Statement};
use std::collections::BTreeMap;
use std::sync::Arc;

impl<'a> Parts<'a> {
    /// Reads the boundary and initial values off the forms and the conditions.
    pub(super) fn read(problem: &'a Problem, axes: &'a Axes, content: Content) -> Result<Self> {
        let mut names = Names::new(problem)?;
        let nodal = nodal::bind(problem, axes, &mut names, content)?;
        let states = names.bind_states_opaque(problem);
        let mut parts = Parts {
            problem,
            axes,
            names,
            states,
            standing: vec![],
            equations: problem.equations.iter().collect(),
            given: vec![],
            signals: vec![],
            nodal,
            boundary: vec![],
            initial: vec![],
            interior: vec![],
            rates: vec![],
            points: vec![],
            pins: vec![],
            widths: vec![],
            jumps: vec![],
        };
        parts.define_states()?;
        parts.add_rates();
        parts.initial = vec![None; parts.states.len()];
        for (number, state) in parts.solved_states().into_iter().enumerate() {
            parts.read_form(number, state)?;
        }
        for equation in parts.equations.clone() {
            parts.read_equation(equation)?;
        }
        parts.add_equations_of_rates();
        parts.determine_pressure()?;
        let given = given_columns::in_pde(problem, &mut parts.names)?;
        let in_time = |number: &usize| parts.is_of_time(&problem.given[*number]);
        (parts.signals, parts.given) = given.into_iter().partition(in_time);
        Ok(parts)
    }

    /// All scalars that the equations are solved for: the variables eta, then those of functions of states and of time.
    pub(super) fn parameters(&self) -> Vec<Symbol> {
        self.names.eta.iter().chain(self.nodal.iter().flatten()).copied().collect()
    }

    /// The unknown functions of places, by number: coefficients of the equations.
    pub(super) fn coefficients(&self) -> Vec<usize> {
        let functions = &self.problem.functions;
        (0..functions.len()).filter(|&number| !nodal::has_parameters(&functions[number], self.axes)).collect()
    }

    /// The unknown functions of places, then the given fields.
    fn coefficient_functions(&self) -> Vec<Function> {
        let unknown = self.coefficients().into_iter().map(|number| self.names.functions[number]);
        unknown.chain(self.given.iter().map(|&number| self.names.given[number].function)).collect()
    }

    /// Whether a given field is a function of time alone, in equations that evolve.
    fn is_of_time(&self, field: &GivenField) -> bool {
        field.of.iter().all(|&coordinate| self.axes.time == Some(coordinate))
    }

    /// The given fields that are functions of time alone.
    fn signals(&self) -> Vec<Signal> {
        let signal = |&number: &usize| {
            let bound = &self.names.given[number];
            let (function, spline) = (bound.function, Arc::clone(&bound.field.spline));
            let jumps = spline.jumps();
            let value = move |t: f64, order: usize| spline.at(&[&[t]], &[order as u8])[0];
            Signal { function, value: Arc::new(value), jumps }
        };
        self.signals.iter().map(signal).collect()
    }

    /// The states that are solved for, as they are stated.
    pub(super) fn solved_states(&self) -> Vec<&'a State> {
        let states = self.problem.states.iter().zip(&self.standing);
        let solved = states.filter(|(_, standing)| matches!(standing, Standing::Solved(_)));
        solved.map(|(state, _)| state).collect()
    }

    pub(super) fn coordinate(&self, number: usize) -> &'a Coordinate {
        &self.problem.coordinates[number]
    }

    /// Where the network's factor in the form vanishes, the form is a boundary or initial value.
    fn read_form(&mut self, state: usize, stated: &State) -> Result<()> {
        let pinned = PinnedForm::new(&mut self.names, stated)?;
        if pinned.changes_sign(self.room()) {
            return Err(held_inside(stated));
        }
        for (axis, &space) in self.axes.space.iter().enumerate() {
            let Coordinate { lo, hi, periodic, .. } = *self.coordinate(space);
            let ends = [(End::Lower, lo), (End::Upper, hi)];
            for (end, place) in ends.into_iter().filter(|_| !periodic) {
                if pinned.vanishes_at(self.room(), space, place, pinned.slope) {
                    let value = self.names.graph.value(self.states[state]);
                    let residual = self.names.graph.sub(value, pinned.bare);
                    self.boundary.push(Boundary { side: Side { axis, end }, residual });
                    self.read_pinned_slope(state, &pinned, Side { axis, end }, place);
                }
            }
        }
        if let Some(time) = self.axes.time
            && pinned.vanishes_at(self.room(), time, self.coordinate(time).lo, pinned.slope)
        {
            self.initial[state] = Some(pinned.bare);
            self.read_pinned_rate(state, &pinned, time);
        }
        Ok(())
    }

    /// A factor with a double zero at the start also holds u_t.
    fn read_pinned_rate(&mut self, state: usize, pinned: &PinnedForm, time: usize) {
        let Some(rate) = self.rates.iter().find(|rate| rate.of == state).copied() else { return };
        let t = self.names.coordinates[time];
        let slope = self.names.graph.diff(pinned.slope, t);
        if pinned.vanishes_at(self.room(), time, self.coordinate(time).lo, slope) {
            self.initial[rate.state] = Some(self.names.graph.diff(pinned.bare, t));
        }
    }

    pub(super) fn room(&self) -> Room<'_> {
        Room { problem: self.problem, names: &self.names }
    }

    /// A factor with a double zero, such as x²(1-x)², also holds u_x: needed above second order.
    fn read_pinned_slope(&mut self, state: usize, pinned: &PinnedForm, side: Side, place: f64) {
        let space = self.axes.space[side.axis];
        let x = self.names.coordinates[space];
        let slope = self.names.graph.diff(pinned.slope, x);
        if self.highest_order(state, space) > 2 && pinned.vanishes_at(self.room(), space, place, slope) {
            let slots = self.names.graph.function_inputs(self.states[state]).len();
            let u_x = self.names.graph.derivative(self.states[state], MultiIndex::unit(slots, space));
            let bare_x = self.names.graph.diff(pinned.bare, x);
            let residual = self.names.graph.sub(u_x, bare_x);
            self.boundary.push(Boundary { side, residual });
        }
    }

    /// Of the derivatives of a state along a coordinate.
    pub(super) fn highest_order(&mut self, state: usize, coordinate: usize) -> usize {
        let equations = self.equations.iter();
        let residuals: Vec<Expr> =
            equations.filter_map(|equation| self.names.lower(&equation.residual).ok()).collect();
        let leaves = self.names.graph.leaves(&residuals);
        let order = |leaf: &Leaf| match leaf {
            Leaf::Derivative(f, index) if *f == self.states[state] => {
                usize::from(index.as_slice()[coordinate])
            }
            _ => 0,
        };
        leaves.iter().map(order).max().unwrap_or(0)
    }

    /// An equation held on a side of space is a boundary condition, one held at the start is an
    /// initial condition, one held inside is about a jump, one held nowhere is the PDE itself.
    fn read_equation(&mut self, equation: &'a Equation) -> Result<()> {
        let residual = self.names.lower(&equation.residual)?;
        let residual = self.with_rates(residual);
        let by_input = self.uses_partials(residual);
        if by_input && self.is_held_inside(equation) {
            return self.read_jump(equation, residual);
        }
        if by_input {
            let message =
                "the classical solver takes derivatives by inputs at a place inside the domain only";
            return Err(unsupported(message, Some(equation)));
        }
        if !equation.points.moving.is_empty() {
            let message = "the classical solver takes equations at a place that follows unknowns only where they \
                           are about a derivative by an input, inside the domain";
            return Err(unsupported(message, Some(equation)));
        }
        match equation.points.at.as_slice() {
            [] => self.interior.push((equation, residual)),
            [(held, places)] if Some(*held) == self.axes.time => {
                if *places != [self.coordinate(*held).lo] {
                    let message = "the classical solver takes conditions in time at the start only";
                    return Err(unsupported(message, Some(equation)));
                }
                self.read_initial_condition(equation, residual)?;
            }
            [(held, places)] => self.read_sides(equation, residual, *held, places)?,
            held => self.read_point(equation, residual, held)?,
        }
        Ok(())
    }

    /// A condition at one point of space.
    fn read_point(
        &mut self,
        equation: &'a Equation,
        residual: Expr,
        held: &[(usize, Vec<f64>)],
    ) -> Result<()> {
        let place = |&space: &usize| match held.iter().find(|(coordinate, _)| *coordinate == space) {
            Some((_, places)) if places.len() == 1 => Some(places[0]),
            _ => None,
        };
        let at: Option<Vec<f64>> = self.axes.space.iter().map(place).collect();
        let Some(at) = at.filter(|at| at.len() == held.len()) else {
            return Err(where_sides_meet(equation));
        };
        self.points.push(PointCondition { equation, residual, at });
        Ok(())
    }

    fn read_sides(&mut self, equation: &Equation, residual: Expr, held: usize, places: &[f64]) -> Result<()> {
        let coordinate = self.coordinate(held);
        let axis = self.axes.space.iter().position(|&space| space == held).expect("space, if not time");
        for &place in places {
            let end = match place {
                place if place == coordinate.lo => End::Lower,
                place if place == coordinate.hi => End::Upper,
                _ => {
                    let message =
                        "the classical solver takes conditions at the ends only, not inside the domain";
                    return Err(unsupported(message, Some(equation)));
                }
            };
            self.boundary.push(Boundary { side: Side { axis, end }, residual });
        }
        Ok(())
    }

    fn read_initial_condition(&mut self, equation: &Equation, residual: Expr) -> Result<()> {
        for state in 0..self.states.len() {
            if let Some(value) = self.solved_for(state, residual) {
                if self.initial[state].is_some() {
                    let name = self.names.graph.function_name(self.states[state]);
                    let message = format!("{name} has two initial values");
                    return Err(unsupported(&message, Some(equation)));
                }
                self.initial[state] = Some(value);
                return Ok(());
            }
        }
        let message = "the classical solver takes initial conditions that are linear in one state";
        Err(unsupported(message, Some(equation)))
    }

    /// Solves a residual a u + b for the value u of a state.
    pub(super) fn solved_for(&mut self, state: usize, residual: Expr) -> Option<Expr> {
        let leaf = self.names.value_leaf(self.states[state]);
        let graph = &mut self.names.graph;
        let slope = graph.partial(residual, &leaf);
        if graph.as_constant(slope) == Some(0.0) || graph.leaves(&[slope]).contains(&leaf) {
            return None;
        }
        let zero = graph.constant(0.0);
        let rest = graph.substitute(residual, &BTreeMap::from([(leaf, zero)]));
        // Without a double sign, for those who read it.
        if let Some(slope) = graph.as_constant(slope).filter(|slope| *slope < 0.0) {
            let positive = graph.constant(-slope);
            return Some(graph.div(rest, positive));
        }
        let quotient = graph.div(rest, slope);
        Some(graph.neg(quotient))
    }

    /// A coordinate as an axis of the solver.
    pub(super) fn axis(&self, number: usize) -> Axis {
        let Coordinate { lo, hi, periodic, .. } = *self.coordinate(number);
        let axis = Axis { periodic, ..Axis::new(self.names.coordinates[number], lo, hi) };
        if self.spans_decades(number) { axis.logarithmic() } else { axis }
    }

    /// The value of every state at the start.
    pub(super) fn initial_values(&self) -> Result<Vec<Expr>> {
        let stated = self.solved_states();
        let origin = || self.interior.first().map(|(equation, _)| equation.residual.origin.clone());
        let value = |(number, value): (usize, &Option<Expr>)| {
            let rate = self.rates.iter().find(|rate| rate.state == number);
            value.ok_or_else(|| match rate {
                Some(rate) => {
                    let name = self.names.graph.function_name(self.states[number]);
                    missing_rate(stated[rate.of], name, origin().unwrap_or_default())
                }
                None => missing_initial(stated[number], origin().unwrap_or_default()),
            })
        };
        self.initial.iter().enumerate().map(value).collect()
    }

    /// The whole statement.
    pub(super) fn statement(&mut self) -> Result<Statement> {
        let states = self.plain_states();
        let curves = self.curves(&states);
        let interface = self.interface(&states)?;
        let interior = self.interior_by_state()?;
        let faults = self.condition_faults(&interior);
        if !faults.is_empty() {
            let equation = self.interior.first().map(|(equation, _)| *equation);
            return Err(unsupported(&faults.join("; "), equation));
        }
        let interior = interior.into_iter().map(|residual| self.with_states(&states, residual)).collect();
        let initial = if self.axes.time.is_some() { self.initial_values()? } else { vec![] };
        let initial = initial.into_iter().map(|value| self.with_states(&states, value)).collect();
        let mut boundary = self.boundary.clone();
        for condition in &mut boundary {
            condition.residual = self.with_states(&states, condition.residual);
        }
        Ok(Statement {
            space: self.axes.space.iter().map(|&space| self.axis(space)).collect(),
            time: self.axes.time.map(|time| self.axis(time)),
            states,
            coefficients: self.coefficient_functions(),
            parameters: self.parameters(),
            initial,
            interior,
            boundary,
            interface,
            widths: self.widths.clone(),
            pins: self.pins.clone(),
            signals: self.signals(),
            curves,
            graph: self.names.graph.clone(),
            ..Statement::default()
        })
    }

    /// The PDE's equations in the order of the states: the assignment in which equations hold the
    /// highest derivatives of their states, those in time first.
    fn interior_by_state(&self) -> Result<Vec<Expr>> {
        let count = self.states.len();
        if self.interior.len() != count {
            let all = self.problem.states.len();
            let found = self.interior.len() + all - count;
            let message = format!("{found} equations inside the domain for {all} states");
            return Err(unsupported(&message, self.interior.last().map(|(equation, _)| *equation)));
        }
        let score = |equation: usize, state: usize| {
            let leaves = self.names.graph.leaves(&[self.interior[equation].1]);
            let order = |leaf: &Leaf| match leaf {
                Leaf::Derivative(f, index) if *f == self.states[state] => {
                    let order = |&coordinate: &usize| usize::from(index.as_slice()[coordinate]);
                    let space: usize = self.axes.space.iter().map(order).sum();
                    1 + space + 100 * self.axes.time.as_ref().map_or(0, order)
                }
                _ => 0,
            };
            leaves.iter().map(order).max().unwrap_or(0) as i64
        };
        let scores: Vec<Vec<i64>> =
            (0..count).map(|state| (0..count).map(|equation| score(equation, state)).collect()).collect();
        let best = assignment::best(&scores);
        Ok(best.into_iter().map(|equation| self.interior[equation].1).collect())
    }
}

fn held_inside(state: &State) -> Error {
    let message = format!(
        "the factor of `net` in the form of `{}` vanishes inside the domain, and the classical solver \
         takes conditions on the sides of an interval or a rectangle only",
        state.name
    );
    Diagnostic::new(message, state.form.origin.clone())
        .help("without the classical solver a problem runs with data from a file")
        .into()
}

fn missing_initial(state: &State, origin: Origin) -> Error {
    let name = &state.name;
    let message = format!("the state `{name}` has no initial value");
    let help = format!("add a condition at the start: `holds = \"{name} = ...\"`");
    Diagnostic::new(message, origin).help(help).into()
}

fn missing_rate(state: &State, rate: &str, origin: Origin) -> Error {
    let message = format!("the state `{}` has no initial rate `{rate}`", state.name);
    let help = format!("add a condition at the start: `holds = \"{rate} = 0\"`");
    Diagnostic::new(message, origin).help(help).into()
}
