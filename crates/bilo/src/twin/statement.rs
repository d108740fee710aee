//! A problem as a statement for the classical solver: conditions read off forms and equations.

use super::{Axes, unsupported};
use crate::diagnostic::{Diagnostic, Error, Result};
use crate::problem::{Coordinate, Equation, NET, Names, Problem, State};
use bilo_expr::{Expr, Function, Input, Leaf, MultiIndex, Scratch, Tape};
use bilo_solve::{Axis, Boundary, End, Side, Statement};
use std::collections::BTreeMap;

/// The statement and the names that its formulas are written in.
pub(super) struct Read {
    pub(super) statement: Statement,
    pub(super) names: Names,
    /// The states as functions of the statement's graph.
    pub(super) functions: Vec<Function>,
}

/// Reads the boundary and initial values off the forms and the conditions.
pub(super) fn read(problem: &Problem, axes: Axes) -> Result<Read> {
    let mut names = Names::new(problem);
    let functions = names.bind_states_opaque(problem);
    let mut parts = Parts {
        problem,
        axes,
        names,
        functions,
        boundary: vec![],
        initial: vec![None; problem.states.len()],
        interior: vec![],
    };
    for state in 0..problem.states.len() {
        parts.read_form(state)?;
    }
    for equation in &problem.equations {
        parts.read_equation(equation)?;
    }
    let statement = parts.statement()?;
    let Parts { names, functions, .. } = parts;
    Ok(Read { statement, names, functions })
}

/// The statement as it is put together.
struct Parts<'a> {
    problem: &'a Problem,
    axes: Axes,
    names: Names,
    functions: Vec<Function>,
    boundary: Vec<Boundary>,
    initial: Vec<Option<Expr>>,
    interior: Vec<(&'a Equation, Expr)>,
}

impl<'a> Parts<'a> {
    fn coordinate(&self, axis: usize) -> &'a Coordinate {
        &self.problem.coordinates[axis]
    }

    /// Where the network's factor in the form vanishes, the form is a boundary or initial value.
    fn read_form(&mut self, state: usize) -> Result<()> {
        let pinned = PinnedForm::new(self.problem, &mut self.names, &self.problem.states[state])?;
        let space = self.coordinate(self.axes.space);
        if !space.periodic {
            for (end, place) in [(End::Lower, space.lo), (End::Upper, space.hi)] {
                let value = self.names.graph.value(self.functions[state]);
                if pinned.vanishes_at(self, self.axes.space, place, pinned.slope) {
                    let residual = self.names.graph.sub(value, pinned.bare);
                    self.boundary.push(Boundary { side: Side { axis: 0, end }, residual });
                    self.read_pinned_slope(state, &pinned, end, place);
                }
            }
        }
        if let Some(time) = self.axes.time
            && pinned.vanishes_at(self, time, self.coordinate(time).lo, pinned.slope)
        {
            self.initial[state] = Some(pinned.bare);
        }
        Ok(())
    }

    /// A factor with a double zero, such as x²(1-x)², also holds u_x: needed above second order.
    fn read_pinned_slope(&mut self, state: usize, pinned: &PinnedForm, end: End, place: f64) {
        let x = self.names.coordinates[self.axes.space];
        let slope = self.names.graph.diff(pinned.slope, x);
        if self.highest_space_order(state) > 2 && pinned.vanishes_at(self, self.axes.space, place, slope) {
            let index = MultiIndex::unit(self.problem.coordinates.len(), self.axes.space);
            let u_x = self.names.graph.derivative(self.functions[state], index);
            let bare_x = self.names.graph.diff(pinned.bare, x);
            let residual = self.names.graph.sub(u_x, bare_x);
            self.boundary.push(Boundary { side: Side { axis: 0, end }, residual });
        }
    }

    fn highest_space_order(&mut self, state: usize) -> usize {
        let residuals: Vec<Expr> = self
            .problem
            .equations
            .iter()
            .filter_map(|equation| self.names.lower(&equation.residual).ok())
            .collect();
        let leaves = self.names.graph.leaves(&residuals);
        let order = |leaf: &Leaf| match leaf {
            Leaf::Derivative(f, index) if *f == self.functions[state] => {
                usize::from(index.as_slice()[self.axes.space])
            }
            _ => 0,
        };
        leaves.iter().map(order).max().unwrap_or(0)
    }

    /// An equation held at an end of space is a boundary condition, one held at the start is an
    /// initial condition, any other is the PDE itself.
    fn read_equation(&mut self, equation: &'a Equation) -> Result<()> {
        let residual = self.names.lower(&equation.residual)?;
        let held = |axis: usize| {
            equation.points.at.iter().find(|(c, _)| *c == axis).map(|(_, values)| values.clone())
        };
        if let Some(places) = held(self.axes.space) {
            let space = self.coordinate(self.axes.space);
            for place in places {
                let end = match place {
                    place if place == space.lo => End::Lower,
                    place if place == space.hi => End::Upper,
                    _ => {
                        return Err(unsupported(
                            "the classical solver takes conditions at the ends only, not inside the domain",
                            Some(equation),
                        ));
                    }
                };
                self.boundary.push(Boundary { side: Side { axis: 0, end }, residual });
            }
        } else if let Some(places) = self.axes.time.and_then(held) {
            let start = self.coordinate(self.axes.time.expect("it holds places")).lo;
            if places != [start] {
                return Err(unsupported(
                    "the classical solver takes conditions in time at the start only",
                    Some(equation),
                ));
            }
            self.read_initial_condition(equation, residual)?;
        } else {
            self.interior.push((equation, residual));
        }
        Ok(())
    }

    /// Solves a residual a u + b for u.
    fn read_initial_condition(&mut self, equation: &Equation, residual: Expr) -> Result<()> {
        let graph = &mut self.names.graph;
        for (state, &function) in self.functions.iter().enumerate() {
            let leaf = Leaf::Derivative(function, MultiIndex::zero(self.problem.coordinates.len()));
            let slope = graph.partial(residual, &leaf);
            if graph.as_constant(slope) == Some(0.0) || graph.leaves(&[slope]).contains(&leaf) {
                continue;
            }
            let zero = graph.constant(0.0);
            let rest = graph.substitute(residual, &BTreeMap::from([(leaf, zero)]));
            let quotient = graph.div(rest, slope);
            self.initial[state] = Some(graph.neg(quotient));
            return Ok(());
        }
        Err(unsupported(
            "the classical solver takes initial conditions that are linear in one state",
            Some(equation),
        ))
    }

    fn statement(&mut self) -> Result<Statement> {
        let axis = |parts: &Self, c: usize| {
            let coordinate = parts.coordinate(c);
            let periodic = coordinate.periodic;
            Axis { symbol: parts.names.coordinates[c], lo: coordinate.lo, hi: coordinate.hi, periodic }
        };
        let mut initial = vec![];
        if self.axes.time.is_some() {
            for (state, value) in self.problem.states.iter().zip(&self.initial) {
                initial.push(value.ok_or_else(|| missing_initial(state))?);
            }
        }
        Ok(Statement {
            space: vec![axis(self, self.axes.space)],
            time: self.axes.time.map(|time| axis(self, time)),
            states: self.functions.clone(),
            parameters: self.names.eta.clone(),
            interior: self.interior_by_state()?,
            boundary: self.boundary.clone(),
            initial,
            graph: self.names.graph.clone(),
            ..Statement::default()
        })
    }

    /// The PDE's equations in the order of the states: the assignment in which equations hold the
    /// highest derivatives of their states, those in time first.
    fn interior_by_state(&self) -> Result<Vec<Expr>> {
        let count = self.functions.len();
        if self.interior.len() != count {
            let message = format!("{} equations inside the domain for {count} states", self.interior.len());
            return Err(unsupported(&message, self.interior.last().map(|(equation, _)| *equation)));
        }
        let score = |equation: usize, state: usize| {
            let leaves = self.names.graph.leaves(&[self.interior[equation].1]);
            let order = |leaf: &Leaf| match leaf {
                Leaf::Derivative(f, index) if *f == self.functions[state] => {
                    let orders = index.as_slice();
                    let time = self.axes.time.map_or(0, |time| usize::from(orders[time]));
                    1 + usize::from(orders[self.axes.space]) + 100 * time
                }
                _ => 0,
            };
            leaves.iter().map(order).max().unwrap_or(0)
        };
        let best = permutations(count)
            .into_iter()
            .max_by_key(|order| {
                order.iter().enumerate().map(|(state, &equation)| score(equation, state)).sum::<usize>()
            })
            .expect("there is at least one order");
        Ok(best.into_iter().map(|equation| self.interior[equation].1).collect())
    }
}

fn missing_initial(state: &State) -> Error {
    let message = format!("the state `{}` has no initial value", state.name);
    let help = "let the factor of `net` in its form vanish at the start, or add an equation held there, \
                such as `points = { grid = { x = 51 }, at = { t = 0.0 } }`";
    Diagnostic::new(message, state.form.origin.clone()).help(help).into()
}

/// All orders of 0..count.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(count - 1);
    let insert = |order: &Vec<usize>, place: usize| {
        let mut longer = order.clone();
        longer.insert(place, count - 1);
        longer
    };
    shorter.iter().flat_map(|order| (0..count).rev().map(move |place| insert(order, place))).collect()
}

/// A form with the network set to zero, and its slope in the network.
struct PinnedForm {
    bare: Expr,
    slope: Expr,
    net: Leaf,
}

impl PinnedForm {
    fn new(problem: &Problem, names: &mut Names, state: &State) -> Result<Self> {
        let net = names.bind_opaque(NET);
        let form = names.lower(&state.form)?;
        let net = Leaf::Derivative(net, MultiIndex::zero(problem.coordinates.len()));
        let slope = names.graph.partial(form, &net);
        let zero = names.graph.constant(0.0);
        let bare = names.graph.substitute(form, &BTreeMap::from([(net.clone(), zero)]));
        Ok(Self { bare, slope, net })
    }

    /// Whether an expression is zero, up to rounding, wherever the coordinate has this value: tried at
    /// scattered values of everything else and measured against its size elsewhere.
    fn vanishes_at(&self, parts: &Parts<'_>, axis: usize, place: f64, expression: Expr) -> bool {
        const TRIALS: usize = 17;
        let mut leaves = parts.names.graph.leaves(&[expression]);
        leaves.retain(|leaf| matches!(leaf, Leaf::Symbol(_)) || *leaf == self.net);
        let Ok(tape) = Tape::compile(&parts.names.graph, &[expression], &leaves) else { return false };
        let largest = |held: bool| {
            let column = |leaf: &Leaf, number: usize| -> Vec<f64> {
                let fraction =
                    |trial: usize| ((trial + 1) as f64 * (0.618_033_988 + 0.1 * number as f64)).fract();
                let Leaf::Symbol(symbol) = leaf else {
                    return (0..TRIALS).map(|i| fraction(i) - 0.3).collect();
                };
                if let Some(c) = parts.names.coordinates.iter().position(|s| s == symbol) {
                    let coordinate = parts.coordinate(c);
                    let free = |trial| coordinate.lo + (coordinate.hi - coordinate.lo) * fraction(trial);
                    return (0..TRIALS).map(|i| if held && c == axis { place } else { free(i) }).collect();
                }
                let unknown =
                    parts.names.eta.iter().position(|s| s == symbol).expect("a coordinate or an unknown");
                let unknown = &parts.problem.unknowns[unknown];
                vec![unknown.eta_of(unknown.guess); TRIALS]
            };
            let columns: Vec<Vec<f64>> =
                leaves.iter().enumerate().map(|(number, leaf)| column(leaf, number)).collect();
            let inputs: Vec<_> = columns.iter().map(|column| Input::Column(column)).collect();
            let mut scratch = Scratch::<f64>::new();
            tape.eval(&inputs, TRIALS, &mut scratch);
            scratch.output(&tape, 0).iter().fold(0.0_f64, |largest, value| largest.max(value.abs()))
        };
        largest(true) <= 1e-12 * largest(false)
    }
}
