//! States that an equation defines, as `p + A*u_x = 0` says what p is.
//!
//! Central differences of such a system as it stands leave neighbouring nodes without a link, and p has no
//! conditions on the sides. Put into the other equations, p leaves what u obeys alone, in divergence form: so
//! the system has the differences of the equation `-div(A*grad(u)) = f`.

use super::Axes;
use super::nodal::Content;
use super::parts::{Parts, Standing};
use super::pinned::PinnedForm;
use bilo_expr::{Expr, Function, Input, Leaf, MultiIndex, Scratch, Tape};
use bilo_problem::diagnostic::{Origin, Result};
use bilo_problem::{Equation, Problem, given_columns};
use std::collections::BTreeMap;

/// Beyond this order differences lose more digits than a system of lower order does.
const HIGHEST_ORDER: usize = 2;

/// Points at which a residual is tried, and the part by which it may miss a straight line.
const TRIALS: usize = 12;
const ROUNDING: f64 = 1e-10;

/// What states are in terms of others, as text: `p = -A*u_x`.
pub fn definitions(problem: &Problem) -> Result<Vec<String>> {
    let axes = Axes::new(problem)?;
    let parts = Parts::read(problem, &axes, Content::Named)?;
    let text = |(state, standing): (_, &Standing)| match standing {
        Standing::Solved(_) => None,
        Standing::Defined(value) => Some(format!("{state} = {}", parts.names.graph.display(*value))),
    };
    let names = problem.states.iter().map(|state| &state.name);
    Ok(names.zip(&parts.standing).filter_map(text).collect())
}

impl Parts<'_> {
    /// Puts the states that equations define in terms of the others and takes these equations away. The last
    /// state comes first: what a problem is about is stated first and stays.
    pub(super) fn define_states(&mut self) -> Result<()> {
        let count = self.states.len();
        let mut values: BTreeMap<usize, Expr> = BTreeMap::new();
        for state in (0..count).rev().filter(|_| count > 1) {
            let found = if values.len() + 1 < count { self.definition(state, &values)? } else { None };
            if let Some((equation, more)) = found {
                self.equations.remove(equation);
                for (&state, &value) in &more {
                    self.names.scope.bind(&self.problem.states[state].name, value);
                }
                values = more;
            }
        }
        let solved: Vec<usize> = (0..count).filter(|state| !values.contains_key(state)).collect();
        let standing = |state| match values.get(&state) {
            Some(&value) => Standing::Defined(value),
            None => Standing::Solved(solved.partition_point(|&other| other < state)),
        };
        self.standing = (0..count).map(standing).collect();
        self.states = solved.into_iter().map(|state| self.states[state]).collect();
        Ok(())
    }

    /// Whether some state is defined by derivatives, which a solution with jumps has not.
    pub(super) fn has_slopes_for_states(&self) -> bool {
        let slopes = |standing: &Standing| match standing {
            Standing::Defined(value) => self.order(*value, &self.states) > 0,
            Standing::Solved(_) => false,
        };
        self.standing.iter().any(slopes)
    }

    /// An equation, by its place in the list, that defines a state, and the values of all states defined so
    /// far once this one is.
    fn definition(
        &mut self,
        state: usize,
        values: &BTreeMap<usize, Expr>,
    ) -> Result<Option<(usize, BTreeMap<usize, Expr>)>> {
        let equations = self.equations.clone();
        let lowered = equations.iter().map(|equation| self.names.lower(&equation.residual));
        let residuals = lowered.collect::<Result<Vec<Expr>>>()?;
        if self.is_needed(state, &residuals) || self.is_held(state)? {
            return Ok(None);
        }
        let order = self.order_in_all(state, &residuals);
        let mut numbers: Vec<usize> =
            (0..residuals.len()).filter(|&number| equations[number].points.at.is_empty()).collect();
        // Those first that need no division.
        numbers.sort_by_key(|&number| !self.has_constant_slope(state, residuals[number]));
        for number in numbers {
            let Some(value) = self.value_by(state, residuals[number]) else { continue };
            if order + self.order(value, &self.states) > HIGHEST_ORDER {
                continue;
            }
            let put = |(&other, &earlier): (&usize, &Expr)| (other, self.with_value(earlier, state, value));
            let mut values: BTreeMap<usize, Expr> = values.iter().map(put).collect();
            values.insert(state, value);
            if values.values().all(|&value| self.has_values_at_points(value)) {
                return Ok(Some((number, values)));
            }
        }
        Ok(None)
    }

    /// Whether something asks for a state itself: a function of it, a derivative by time or by an input, a
    /// condition elsewhere than on a side.
    fn is_needed(&self, state: usize, residuals: &[Expr]) -> bool {
        let on_side = |equation: &Equation| match equation.points.at.as_slice() {
            [] => true,
            [(held, _)] => Some(*held) != self.axes.time && !self.is_held_inside(equation),
            _ => false,
        };
        let asks = |(equation, &residual): (&&Equation, &Expr)| {
            let own = self.derivatives(residual, &self.states[state..=state]);
            !own.is_empty() && !on_side(equation)
                || own.iter().any(|index| self.names.is_by_input(index) || self.is_by_time(index))
        };
        self.problem.functions.iter().any(|function| function.state() == Some(state))
            || self.equations.iter().zip(residuals).any(asks)
    }

    fn is_by_time(&self, index: &MultiIndex) -> bool {
        self.problem.coordinates.iter().zip(index.as_slice()).any(|(c, &order)| c.time && order > 0)
    }

    /// Whether the form holds a state somewhere.
    fn is_held(&mut self, state: usize) -> Result<bool> {
        let form = PinnedForm::new(&mut self.names, &self.problem.states[state])?;
        Ok(self.vanishes_somewhere(&form))
    }

    /// Whether a factor is zero at an end of a coordinate, or between the ends because its sign changes.
    fn vanishes_somewhere(&self, form: &PinnedForm) -> bool {
        let at_an_end = |axis: usize| {
            let ends = [self.coordinate(axis).lo, self.coordinate(axis).hi];
            ends.iter().any(|&end| form.vanishes_at(self.room(), axis, end, form.slope))
        };
        form.changes_sign(self.room()) || self.axes.all().any(at_an_end)
    }

    fn has_constant_slope(&mut self, state: usize, residual: Expr) -> bool {
        let leaf = self.names.value_leaf(self.states[state]);
        let slope = self.names.graph.partial(residual, &leaf);
        self.names.graph.as_constant(slope).is_some()
    }

    /// What a residual that is linear in the value of a state, and has no other derivatives of it, says that
    /// the state is; none if that divides by something that vanishes, or depends on states.
    fn value_by(&mut self, state: usize, residual: Expr) -> Option<Expr> {
        let own = self.derivatives(residual, &self.states[state..=state]);
        if own.is_empty() || own.iter().any(|index| index.order() > 0) {
            return None;
        }
        let leaf = self.names.value_leaf(self.states[state]);
        let line = PinnedForm::of(&mut self.names, residual, leaf.clone());
        let of_state = |leaf: &Leaf| matches!(leaf, Leaf::Derivative(f, _) if self.depends_on_states(*f));
        let bends = self.names.graph.leaves(&[line.slope]).iter().any(of_state);
        if bends || !self.is_line(residual, &leaf, &line) || self.vanishes_somewhere(&line) {
            return None;
        }
        self.solved_for(state, residual)
    }

    /// Whether a residual is what its slope by a leaf makes of it. Comparisons have no slope: that of
    /// `p + if(p > 0, u_x, 0)` is 1.
    fn is_line(&self, residual: Expr, leaf: &Leaf, line: &PinnedForm) -> bool {
        let outputs = [residual, line.bare, line.slope];
        let leaves = self.names.graph.leaves(&outputs);
        let tape = Tape::compile(&self.names.graph, &outputs, &leaves).expect("all leaves are given");
        // Of both signs, the same at every run.
        let scattered = |number: usize| -> Vec<f64> {
            let place = |trial| (trial * leaves.len() + number + 1) as f64 * 0.618_034;
            (0..TRIALS).map(|trial| 2.0 * place(trial).fract() - 1.0).collect()
        };
        let columns: Vec<Vec<f64>> = (0..leaves.len()).map(scattered).collect();
        let inputs: Vec<_> = columns.iter().map(|column| Input::Column(column)).collect();
        let mut scratch = Scratch::<f64>::new();
        tape.eval(&inputs, TRIALS, &mut scratch);
        let [residual, bare, slope] = [0, 1, 2].map(|output| scratch.output(&tape, output));
        let own = leaves.iter().position(|other| other == leaf).map_or(&[][..], |own| &columns[own]);
        own.iter().enumerate().all(|(i, value)| {
            let (bare, rise) = (bare[i], slope[i] * value);
            !residual[i].is_finite()
                || (residual[i] - bare - rise).abs() <= ROUNDING * (bare.abs() + rise.abs())
        })
    }

    /// An expression with a value in the place of a state, its derivatives in that of the state's.
    fn with_value(&mut self, expression: Expr, state: usize, value: Expr) -> Expr {
        let mut map = BTreeMap::new();
        for index in self.derivatives(expression, &self.states[state..=state]) {
            let orders = self.names.coordinates.iter().zip(index.as_slice());
            let along = orders.flat_map(|(&x, &order)| std::iter::repeat_n(x, order.into()));
            let derivative = along.fold(value, |value, x| self.names.graph.diff(value, x));
            map.insert(Leaf::Derivative(self.states[state], index), derivative);
        }
        self.names.graph.substitute(expression, &map)
    }

    /// Whether a value can be had from a solution: from derivatives of states in space, and from what has
    /// no kinks.
    fn has_values_at_points(&mut self, value: Expr) -> bool {
        let smooth = |leaf: &Leaf| match leaf {
            Leaf::Symbol(_) => true,
            Leaf::Derivative(function, index) if self.depends_on_states(*function) => {
                !self.names.is_by_input(index) && !self.is_by_time(index)
            }
            Leaf::Derivative(function, index) => {
                index.order() == 0 || self.names.given_field(*function).is_some()
            }
        };
        self.names.graph.leaves(&[value]).iter().all(smooth)
            && given_columns::leaves(&mut self.names, &[value], &Origin::none()).is_ok()
    }

    /// The derivatives of these functions in an expression, values among them.
    pub(super) fn derivatives(&self, expression: Expr, of: &[Function]) -> Vec<MultiIndex> {
        let leaves = self.names.graph.leaves(&[expression]).into_iter();
        let own = leaves.filter_map(|leaf| match leaf {
            Leaf::Derivative(function, index) if of.contains(&function) => Some(index),
            _ => None,
        });
        own.collect()
    }

    /// The highest order of a derivative of these functions in an expression.
    fn order(&self, expression: Expr, of: &[Function]) -> usize {
        self.derivatives(expression, of).iter().map(MultiIndex::order).max().unwrap_or(0)
    }

    fn order_in_all(&self, state: usize, residuals: &[Expr]) -> usize {
        let orders = residuals.iter().map(|&residual| self.order(residual, &self.states[state..=state]));
        orders.max().unwrap_or(0)
    }

    /// Whether a function is a state or an unknown function of one.
    fn depends_on_states(&self, function: Function) -> bool {
        let of_state = |number: usize| self.problem.functions[number].state().is_some();
        let unknown = self.names.functions.iter().position(|&other| other == function);
        self.states.contains(&function) || unknown.is_some_and(of_state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_problem::{Coordinate, DataSpec, FunctionSpec, PointsSpec, ProblemBuilder, Table, Unknown};

    /// A problem of x and t with a state u, which its form holds at t = 0, x = 0 and x = 1, and a state p.
    fn problem(form_of_p: &str, equations: &[&str]) -> ProblemBuilder {
        let table = Table { coordinates: vec![vec![0.5], vec![0.5]], values: vec![1.0], sigma: None };
        let start = Problem::builder("pair")
            .coordinate(Coordinate::space("x", 0.0, 1.0))
            .coordinate(Coordinate::time("t", 0.0, 1.0))
            .unknown(Unknown::new("k", 1.0))
            .unknown_function(FunctionSpec::new("A", ["x"], "1"))
            .state("u", "net*t*x*(1-x)")
            .state("p", form_of_p)
            .observation("samples", "k*A*u", DataSpec::table(table));
        equations.iter().enumerate().fold(start, |problem, (number, residual)| {
            problem.equation(&format!("equation-{number}"), residual, PointsSpec::random(10))
        })
    }

    fn found(problem: ProblemBuilder) -> Vec<String> {
        let problem = problem.build().unwrap_or_else(|error| panic!("{error}"));
        definitions(&problem).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn what_is_linear_in_a_free_state_defines_it() {
        let found = |residual: &str| found(problem("1 + net", &["u_t + p_x", residual]));
        assert_eq!(found("p + A*u_x"), ["p = -A*u_x"]);
        assert_eq!(found("u_x - k*(p - u)"), ["p = (u_x + k*u)/k"]);
        assert_eq!(found("exp(x)*p - u^2"), ["p = u^2/exp(x)"]);
    }

    #[test]
    fn what_does_not_define_a_state() {
        let residuals = [
            ("p^2 + u_x", "not linear"),
            ("p*u + u_x", "a factor with a state"),
            ("p + if(p > 0, u_x, u)", "a comparison, which has no slope"),
            ("p + p_x + u_x", "a derivative of it"),
            ("p - u_t", "a derivative in time"),
            ("x*p + u_x", "a factor that is zero at x = 0"),
            ("(x - 0.5)*p + u_x", "a factor that is zero inside"),
            ("p - d(A*u, x)", "the slope of a function with kinks"),
            ("p + u_xx", "third derivatives would arise"),
        ];
        for (residual, why) in residuals {
            assert_eq!(found(problem("net", &["u_t + p_x", residual])), [""; 0], "{why}");
        }
    }

    #[test]
    fn a_state_that_is_held_or_evolves_is_solved_for() {
        for form in ["net*x", "net*(1-x)", "net*t", "net*(x - 0.5)"] {
            // What a form holds inside is an error of its own.
            let problem = problem(form, &["u_t + p_x", "p + A*u_x"]).build().unwrap();
            assert!(definitions(&problem).map_or(true, |found| found.is_empty()), "{form}");
        }
        assert_eq!(found(problem("net", &["u_t - u_xx + p_t", "p + A*u"])), [""; 0]);
        let start = PointsSpec::grid([("x", 5)]).hold("t", [0.0]);
        let given = problem("net", &["u_t + p_x", "p + A*u_x"]).equation("start", "p - x", start);
        assert_eq!(found(given), [""; 0]);
    }

    /// In either order of statement; once q is p - u_x, `q - p` says nothing of p any more.
    #[test]
    fn definitions_are_put_into_each_other_and_never_in_a_circle() {
        let with_q = |[one, other]: [&str; 2]| {
            let states = problem("net", &["u_t + p_x", one]).state("q", "net");
            found(states.equation("last", other, PointsSpec::random(10)))
        };
        assert_eq!(with_q(["p + A*q", "q - u_x"]), ["p = -A*u_x", "q = u_x"]);
        assert_eq!(with_q(["q + A*p", "p - u_x"]), ["p = u_x", "q = -A*u_x"]);
        assert_eq!(with_q(["p - q - u_x", "q - p"]), ["q = p - u_x"]);
    }
}
