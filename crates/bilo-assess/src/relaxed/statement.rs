//! Ordinary equations in the middle of intervals of time, their conditions at the start, and the data of states that are
//! observed by themselves: as rows.

use super::CONDITIONS;
use super::banded::{Bordered, Row};
use crate::context::RunContext;
use bilo_expr::{Expr, Function, Input, Leaf, MultiIndex, Scratch, Symbol, Tape};
use bilo_problem::{Names, Problem, Sigma};

/// The noise of data beside their size, where it is not stated.
const NOISE: f64 = 0.05;

/// Fewest data that say anything.
const FEWEST: usize = 5;

/// What a formula depends on.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// The value of a variable: a state, or the rate of one.
    Value(usize),
    /// Its rate.
    Rate(usize),
    Time,
    Unknown(usize),
}

/// Formulas with their derivatives by all that they depend on.
struct Formulas {
    tape: Tape,
    count: usize,
    places: Vec<Place>,
}

/// A datum of a variable: at a part of the way through an interval.
struct Datum {
    variable: usize,
    interval: usize,
    part: f64,
    value: f64,
    sigma: f64,
}

pub(super) struct Statement<'a> {
    problem: &'a Problem,
    /// The states and the rates of those of second order: the state's number and the order.
    variables: Vec<(usize, usize)>,
    /// The typical error of each, and what each equation's residual is divided by.
    scales: Vec<f64>,
    intervals: usize,
    step: f64,
    /// The distance of data.
    spacing: f64,
    equations: Formulas,
    conditions: Formulas,
    data: Vec<Datum>,
}

/// Sums of squares.
pub(super) struct Rows {
    pub(super) data: f64,
    pub(super) residual: f64,
}

impl Rows {
    pub(super) fn total(&self, weight: f64) -> f64 {
        self.data + weight * self.residual
    }
}

impl<'a> Statement<'a> {
    pub(super) fn new(run: &RunContext<'a>, intervals: usize) -> Option<Self> {
        let problem = run.problem;
        let [time] = &problem.coordinates[..] else { return None };
        let plain = problem.functions.is_empty() && problem.given.is_empty() && problem.inputs.is_empty();
        if !time.time || !plain || problem.conditions.is_empty() {
            return None;
        }
        let mut names = Names::new(problem).ok()?;
        let states = names.bind_states_opaque(problem);
        let inside = problem.equations.iter().filter(|equation| equation.points.at.is_empty());
        let residuals: Vec<Expr> = inside.map(|e| names.lower(&e.residual).ok()).collect::<Option<_>>()?;
        let conditions = problem.conditions.iter().map(|c| names.lower(&c.holds).ok());
        let conditions: Vec<Expr> = conditions.collect::<Option<_>>()?;
        let variables = variables(&names, &states, &residuals)?;
        let step = (time.hi - time.lo) / intervals as f64;
        let data = data(run, &variables, step, intervals)?;
        let spacing = (time.hi - time.lo) * variables.len() as f64 / data.len() as f64;
        let find = |leaf: &Leaf| place(leaf, &names, &states, &variables);
        let equations = Formulas::new(&mut names.clone(), &residuals, &find)?;
        let conditions = Formulas::new(&mut names.clone(), &conditions, &find)?;
        let mut statement = Statement {
            problem,
            scales: vec![1.0; variables.len()],
            variables,
            intervals,
            step,
            spacing,
            equations,
            conditions,
            data,
        };
        statement.scales = statement.typical_errors(run);
        Some(statement)
    }

    /// Of variables with data their sigma; of others the same part of their size at the guess.
    fn typical_errors(&self, run: &RunContext<'_>) -> Vec<f64> {
        let first = self.first_states(run);
        let count = self.variables.len();
        let size = |variable: usize| {
            let squares = first.iter().skip(variable).step_by(count).map(|value| value * value);
            (squares.sum::<f64>() / (self.intervals + 1) as f64).sqrt().max(f64::MIN_POSITIVE)
        };
        let own = |variable: usize| self.data.iter().find(|datum| datum.variable == variable);
        let observed = (0..count).filter_map(|v| own(v).map(|datum| datum.sigma / size(v)));
        let relative = observed.fold(f64::INFINITY, f64::min).min(1.0);
        (0..count).map(|v| own(v).map_or_else(|| relative * size(v), |datum| datum.sigma)).collect()
    }

    /// The variables that are rates of others, each with the one that it is the rate of.
    fn rates(&self) -> impl Iterator<Item = (usize, usize)> {
        let rates = self.variables.iter().enumerate().filter(|(_, (_, order))| *order == 1);
        rates.map(|(variable, &(state, _))| {
            let of = self.variables.iter().position(|&other| other == (state, 0)).expect("its state");
            (variable, of)
        })
    }

    fn time(&self, interval: f64) -> f64 {
        self.problem.coordinates[0].lo + self.step * interval
    }

    /// Through the data where there are some, else the reference solution at the guess, else zero.
    pub(super) fn first_states(&self, run: &RunContext<'_>) -> Vec<f64> {
        let times: Vec<f64> = (0..=self.intervals).map(|i| self.time(i as f64)).collect();
        let guess = run.problem.eta_of_guess();
        let solution = run.reference.as_ref().ok().and_then(|reference| reference.solve(&guess).ok());
        let count = self.variables.len();
        let mut all = vec![0.0; count * (self.intervals + 1)];
        for (variable, &(state, order)) in self.variables.iter().enumerate() {
            let known = self.data.iter().filter(|datum| datum.variable == variable);
            let known: Vec<(f64, f64)> =
                known.map(|d| (self.time(d.interval as f64 + d.part), d.value)).collect();
            let values: Vec<f64> = match (&solution, known.is_empty()) {
                (_, false) => times.iter().map(|&t| polygon(&known, t)).collect(),
                (Some(solution), true) if order == 0 => solution.state(state, std::slice::from_ref(&times)),
                _ => vec![0.0; times.len()],
            };
            for (place, value) in values.into_iter().enumerate().filter(|(_, value)| value.is_finite()) {
                all[place * count + variable] = value;
            }
        }
        for (variable, of) in self.rates() {
            for place in 0..self.intervals {
                all[place * count + variable] =
                    (all[(place + 1) * count + of] - all[place * count + of]) / self.step;
            }
        }
        all
    }

    /// The sums of squares; none where they are not finite.
    pub(super) fn rows(&self, states: &[f64], eta: &[f64]) -> Option<Rows> {
        let mut rows = Rows { data: 0.0, residual: 0.0 };
        self.each(states, eta, |kind, row| match kind {
            Kind::Data => rows.data += row.residual * row.residual,
            Kind::Residual => rows.residual += row.residual * row.residual,
        });
        rows.total(1.0).is_finite().then_some(rows)
    }

    pub(super) fn linearised(&self, states: &[f64], eta: &[f64], weight: f64) -> Bordered {
        let width = 2 * self.variables.len() - 1;
        let mut system = Bordered::new(states.len(), width, eta.len());
        self.each(states, eta, |kind, row| {
            let root = if kind == Kind::Residual { weight.sqrt() } else { 1.0 };
            let states: Vec<(usize, f64)> =
                row.states.iter().map(|&(place, by)| (place, root * by)).collect();
            let unknowns: Vec<f64> = row.unknowns.iter().map(|by| root * by).collect();
            system.add(&Row { states: &states, unknowns: &unknowns, residual: root * row.residual });
        });
        system
    }

    /// Calls `visit` with every row.
    fn each(&self, states: &[f64], eta: &[f64], mut visit: impl FnMut(Kind, &Row<'_>)) {
        let count = self.variables.len();
        let none = vec![0.0; eta.len()];
        for datum in &self.data {
            let here = datum.interval * count + datum.variable;
            let entries =
                [(here, (1.0 - datum.part) / datum.sigma), (here + count, datum.part / datum.sigma)];
            let value: f64 = entries.iter().map(|(place, by)| by * states[*place]).sum();
            let residual = value - datum.value / datum.sigma;
            visit(Kind::Data, &Row { states: &entries, unknowns: &none, residual });
        }
        let part = (self.step / self.spacing).sqrt();
        let middle = self.equations.evaluated(self, states, eta, Times::Middles);
        for interval in 0..self.intervals {
            for equation in 0..self.equations.count {
                let mut row = self.equations.row(&middle, (equation, interval), self, eta.len());
                let size: f64 = row.rate_size.max(f64::MIN_POSITIVE);
                row.scale(part * self.spacing / size);
                visit(Kind::Residual, &row.as_row());
            }
            for (variable, of) in self.rates() {
                let factor = part * self.spacing / self.scales[of];
                let (a, v) = (interval * count + of, interval * count + variable);
                let (by_rate, by_value) = (factor / self.step, -0.5 * factor);
                let mut entries = [(a, -by_rate), (v, by_value), (a + count, by_rate), (v + count, by_value)];
                entries.sort_by_key(|(place, _)| *place);
                let residual = entries.iter().map(|(place, by)| by * states[*place]).sum();
                visit(Kind::Residual, &Row { states: &entries, unknowns: &none, residual });
            }
        }
        let start = self.conditions.evaluated(self, states, eta, Times::Start);
        for condition in 0..self.conditions.count {
            let mut row = self.conditions.row(&start, (condition, 0), self, eta.len());
            let size: f64 = row.value_size.max(f64::MIN_POSITIVE);
            row.scale(CONDITIONS.sqrt() / size);
            visit(Kind::Residual, &row.as_row());
        }
    }
}

/// What a row is about.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Data,
    Residual,
}

/// Where formulas are evaluated.
#[derive(Clone, Copy, PartialEq)]
enum Times {
    Middles,
    Start,
}

/// Values of formulas and derivatives, one column for each output.
struct Evaluated {
    outputs: Vec<Vec<f64>>,
    times: Times,
}

struct OwnedRow {
    states: Vec<(usize, f64)>,
    unknowns: Vec<f64>,
    residual: f64,
    /// The typical error of what the rates, or the values, make of the residual.
    rate_size: f64,
    value_size: f64,
}

impl OwnedRow {
    fn scale(&mut self, factor: f64) {
        self.states.iter_mut().for_each(|(_, by)| *by *= factor);
        self.unknowns.iter_mut().for_each(|by| *by *= factor);
        self.residual *= factor;
    }

    fn as_row(&self) -> Row<'_> {
        Row { states: &self.states, unknowns: &self.unknowns, residual: self.residual }
    }
}

impl Formulas {
    fn new(names: &mut Names, formulas: &[Expr], find: &dyn Fn(&Leaf) -> Option<Place>) -> Option<Formulas> {
        let leaves = names.graph.leaves(formulas);
        let places: Vec<Place> = leaves.iter().map(find).collect::<Option<_>>()?;
        let mut outputs = formulas.to_vec();
        for &formula in formulas {
            outputs.extend(leaves.iter().map(|leaf| names.graph.partial(formula, leaf)));
        }
        let tape = Tape::compile(&names.graph, &outputs, &leaves).ok()?;
        Some(Formulas { tape, count: formulas.len(), places })
    }

    fn evaluated(&self, statement: &Statement<'_>, states: &[f64], eta: &[f64], times: Times) -> Evaluated {
        let count = statement.variables.len();
        let points = if times == Times::Start { 1 } else { statement.intervals };
        let column = |place: &Place| -> Vec<f64> {
            let at = |point: usize| match (*place, times) {
                (Place::Value(v), Times::Start) => states[v],
                (Place::Value(v), Times::Middles) => {
                    0.5 * (states[point * count + v] + states[(point + 1) * count + v])
                }
                (Place::Rate(v), _) => {
                    (states[(point + 1) * count + v] - states[point * count + v]) / statement.step
                }
                (Place::Time, Times::Start) => statement.time(0.0),
                (Place::Time, Times::Middles) => statement.time(point as f64 + 0.5),
                (Place::Unknown(j), _) => eta[j],
            };
            (0..points).map(at).collect()
        };
        let columns: Vec<Vec<f64>> = self.places.iter().map(column).collect();
        let inputs: Vec<Input<'_, f64>> = columns.iter().map(|column| Input::Column(column)).collect();
        let mut scratch = Scratch::new();
        self.tape.eval(&inputs, points, &mut scratch);
        let output = |number: usize| -> Vec<f64> {
            let found = scratch.output(&self.tape, number);
            // What is the same everywhere may be stored once.
            if found.len() == points { found.to_vec() } else { vec![found[0]; points] }
        };
        Evaluated { outputs: (0..self.tape.outputs().len()).map(output).collect(), times }
    }

    /// One formula at one point with its derivatives by states and unknowns.
    fn row(
        &self,
        evaluated: &Evaluated,
        (formula, point): (usize, usize),
        statement: &Statement<'_>,
        unknowns: usize,
    ) -> OwnedRow {
        let (count, step) = (statement.variables.len(), statement.step);
        let mut by_states = vec![0.0; 2 * count];
        let mut row = OwnedRow {
            states: vec![],
            unknowns: vec![0.0; unknowns],
            residual: evaluated.outputs[formula][point],
            rate_size: 0.0,
            value_size: 0.0,
        };
        for (number, place) in self.places.iter().enumerate() {
            let by = evaluated.outputs[self.count + formula * self.places.len() + number][point];
            match *place {
                Place::Value(v) if evaluated.times == Times::Start => {
                    by_states[v] += by;
                    row.value_size = row.value_size.max((by * statement.scales[v]).abs());
                }
                Place::Value(v) => [v, v + count].into_iter().for_each(|v| by_states[v] += 0.5 * by),
                Place::Rate(v) => {
                    by_states[v] -= by / step;
                    by_states[v + count] += by / step;
                    row.rate_size = row.rate_size.max((by * statement.scales[v]).abs());
                }
                Place::Time => {}
                Place::Unknown(j) => row.unknowns[j] += by,
            }
        }
        row.states = by_states.into_iter().enumerate().map(|(v, by)| (point * count + v, by)).collect();
        row
    }
}

/// The states, and the rates of those that have a second one; none if there are higher ones.
fn variables(names: &Names, states: &[Function], residuals: &[Expr]) -> Option<Vec<(usize, usize)>> {
    let leaves = names.graph.leaves(residuals);
    let order = |state: Function| {
        let own = leaves.iter().filter_map(|leaf| match leaf {
            Leaf::Derivative(function, index) if *function == state => Some(index.order()),
            _ => None,
        });
        own.max().unwrap_or(0)
    };
    let orders: Vec<usize> = states.iter().map(|&state| order(state)).collect();
    if residuals.len() != states.len() || orders.iter().any(|&order| order == 0 || order > 2) {
        return None;
    }
    let second = (0..states.len()).filter(|&state| orders[state] == 2).map(|state| (state, 1));
    Some((0..states.len()).map(|state| (state, 0)).chain(second).collect())
}

fn place(leaf: &Leaf, names: &Names, states: &[Function], variables: &[(usize, usize)]) -> Option<Place> {
    let number = |symbols: &[Symbol], symbol: &Symbol| symbols.iter().position(|own| own == symbol);
    match leaf {
        Leaf::Symbol(symbol) if names.coordinates.contains(symbol) => Some(Place::Time),
        Leaf::Symbol(symbol) => number(&names.eta, symbol).map(Place::Unknown),
        Leaf::Derivative(function, index) => {
            let state = states.iter().position(|own| own == function)?;
            let of = |order: usize| variables.iter().position(|&variable| variable == (state, order));
            match MultiIndex::order(index) {
                0 => of(0).map(Place::Value),
                order => of(order).map(Place::Value).or_else(|| of(order - 1).map(Place::Rate)),
            }
        }
    }
}

/// The data of states that are observed by themselves; none if there are hardly any.
fn data(
    run: &RunContext<'_>,
    variables: &[(usize, usize)],
    step: f64,
    intervals: usize,
) -> Option<Vec<Datum>> {
    let (problem, lo) = (run.problem, run.problem.coordinates[0].lo);
    let mut data = vec![];
    for (observation, table) in problem.observations.iter().zip(run.tables) {
        let named = |&(state, order): &(usize, usize)| {
            order == 0 && problem.states[state].name == observation.value.text.trim()
        };
        let Some(variable) = variables.iter().position(named) else { continue };
        let square: f64 = table.values.iter().map(|value| value * value).sum();
        let size = (square / table.values.len().max(1) as f64).sqrt();
        for (row, (&t, &value)) in table.coordinates[0].iter().zip(&table.values).enumerate() {
            let along = ((t - lo) / step).clamp(0.0, intervals as f64);
            let interval = (along as usize).min(intervals - 1);
            let of_row = table.sigma.as_ref().map(|sigma| sigma[row]);
            let stated = match observation.sigma {
                Sigma::Known(sigma) => Some(sigma),
                Sigma::OfData => of_row,
                Sigma::Estimated => None,
            };
            let stated = stated.filter(|sigma| *sigma > 0.0);
            let sigma = stated.unwrap_or(NOISE * size).max(f64::MIN_POSITIVE);
            data.push(Datum { variable, interval, part: along - interval as f64, value, sigma });
        }
    }
    data.sort_by(|a, b| (a.interval, a.part).partial_cmp(&(b.interval, b.part)).expect("numbers"));
    (data.len() >= FEWEST).then_some(data)
}

/// The polygon through points in the order of time, constant beyond its ends.
fn polygon(points: &[(f64, f64)], t: f64) -> f64 {
    let after = points.partition_point(|&(place, _)| place < t);
    match (after.checked_sub(1).map(|before| points[before]), points.get(after)) {
        (Some((a, p)), Some(&(b, q))) if b > a => p + (q - p) * (t - a) / (b - a),
        (_, Some(&(_, q))) => q,
        (Some((_, p)), None) => p,
        (None, None) => 0.0,
    }
}
