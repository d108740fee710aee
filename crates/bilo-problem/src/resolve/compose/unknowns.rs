//! How unknowns are moved, if it is not stated: in units of their guess, and as logarithms where only positive values make
//! sense.
//!
//! A coefficient of the highest derivative in space or in time has a sign for which the equation is well-posed: the guess has
//! it. A number that something is divided by, or of which a logarithm is taken, cannot come to zero either. And where nothing changes with the sign of a number, such as c in c^2*u_xx, or with the signs of two, such as k and beta where only
//! k^2 and k*beta stand, it may as well be positive.

use super::weight::evaluate;
use crate::diagnostic::{Origin, Result};
use crate::evaluate::names::{NET, Names};
use crate::model::formula::Formula;
use crate::model::function::{Regulariser, RegulariserKind, UnknownFunction};
use crate::model::problem::Problem;
use crate::model::unknown::{Transform, Unknown};
use bilo_expr::{Expr, Function, Leaf};

/// Scattered values of everything at which expressions are compared.
const TRIALS: usize = 8;

/// What differs by less than this part is the same.
const ROUNDING: f64 = 1e-10;

/// By how much a number is moved to see whether an expression changes with it, and how far beyond zero it is taken, in parts of
/// its guess.
const MOVED: f64 = 1.1;
const BEYOND: f64 = -1e-6;

/// Chooses scales and transforms that are not stated, and the forms of functions that have none.
pub(crate) fn tune(problem: &mut Problem, formless: &[String]) -> Result<()> {
    let (positive, forms) = {
        let statement = Statement::new(problem)?;
        let free = |&i: &usize| is_free(&problem.unknowns[i]) && statement.keeps_positive(Moved::Number(i));
        let mut positive: Vec<usize> = (0..problem.unknowns.len()).filter(free).collect();
        for (i, j) in (0..problem.unknowns.len()).flat_map(|j| (0..j).map(move |i| (i, j))) {
            let free = [i, j].iter().all(|k| is_free(&problem.unknowns[*k]) && !positive.contains(k));
            if free && statement.is_even(Moved::Pair(i, j)) {
                positive.push(i);
            }
        }
        let mut forms = vec![];
        for (number, function) in problem.functions.iter().enumerate() {
            if formless.contains(&function.name) {
                forms.push((
                    number,
                    FunctionSize::new(problem, function)?,
                    statement.keeps_positive_function(number),
                ));
            }
        }
        (positive, forms)
    };
    // Data rarely determine a function by themselves.
    for function in &mut problem.functions {
        function.regulariser.get_or_insert_with(|| Regulariser::automatic(RegulariserKind::H2));
    }
    for (number, size, positive) in forms {
        size.apply(&mut problem.functions[number], positive)?;
    }
    for (number, unknown) in problem.unknowns.iter_mut().enumerate() {
        if unknown.scale == 1.0 && unknown.guess != 0.0 {
            unknown.scale = 10.0_f64.powf(unknown.guess.abs().log10().round());
        }
        if positive.contains(&number) {
            unknown.transform = Transform::Log;
        }
    }
    Ok(())
}

/// Whether nothing is stated that says where it may go. A truth that is not positive, of which synthetic data are to be
/// made, says it too.
fn is_free(unknown: &Unknown) -> bool {
    let unbounded = unknown.bounds.is_none() && unknown.prior.is_none() && !unknown.signed;
    unbounded
        && unknown.transform == Transform::Identity
        && unknown.guess > 0.0
        && unknown.truth.is_none_or(|t| t > 0.0)
}

/// The size of an unknown function, by its guess.
struct FunctionSize {
    scale: f64,
    /// Whether the guess, and the truth if there is one, are positive everywhere.
    positive: bool,
}

impl FunctionSize {
    fn new(problem: &Problem, function: &UnknownFunction) -> Result<FunctionSize> {
        let guess = function.on_nodes(problem, &function.guess)?;
        let mean = guess.iter().map(|value| value.abs()).sum::<f64>() / guess.len() as f64;
        let stated = function.scale != 1.0 || mean == 0.0;
        let scale = if stated { function.scale } else { 10.0_f64.powf(mean.log10().round()) };
        let truth = function.truth.as_ref().map(|truth| function.on_nodes(problem, truth)).transpose()?;
        let positive = guess.iter().chain(truth.iter().flatten()).all(|value| *value > 0.0);
        Ok(FunctionSize { scale, positive })
    }

    /// `net` becomes a number of size one, and the first weight of a regulariser that the data choose one beside it.
    fn apply(self, function: &mut UnknownFunction, keeps_positive: bool) -> Result<()> {
        let scale = self.scale;
        let text = match (keeps_positive && self.positive, scale == 1.0) {
            (true, true) => format!("exp({NET})"),
            (true, false) => format!("{scale:e}*exp({NET})"),
            (false, true) => NET.to_owned(),
            (false, false) => format!("{scale:e}*{NET}"),
        };
        function.form = Formula::parse(&text, Origin::none())?;
        function.scale = scale;
        let width = function.of.iter().map(|argument| argument.axis.hi - argument.axis.lo);
        let width = width.fold(f64::INFINITY, f64::min);
        if let Some(Regulariser { kind, weight, automatic: true }) = &mut function.regulariser {
            *weight *= match kind {
                RegulariserKind::H1 => (width / scale).powi(2),
                RegulariserKind::H2 => (width * width / scale).powi(2),
                RegulariserKind::Tv { .. } => width / scale,
                RegulariserKind::L2 { .. } => scale.powi(-2),
                RegulariserKind::Field(_) => 1.0,
            };
        }
        Ok(())
    }
}

/// What is moved.
#[derive(Clone, Copy)]
enum Moved {
    Number(usize),
    Pair(usize, usize),
    Function(Function),
}

/// What a problem says, as expressions.
struct Statement<'a> {
    problem: &'a Problem,
    names: Names,
    /// The coefficients of highest derivatives, in space from the second on, and in time.
    coefficients: Vec<Expr>,
    /// Everything that the unknowns are in.
    all: Vec<Expr>,
}

impl Statement<'_> {
    fn new(problem: &Problem) -> Result<Statement<'_>> {
        let mut names = Names::new(problem)?;
        names.bind_opaque(NET);
        let forms: Vec<Expr> = problem.states.iter().map(|s| names.lower(&s.form)).collect::<Result<_>>()?;
        let states = names.bind_states_opaque(problem);
        let (mut all, mut coefficients) = (forms, vec![]);
        for equation in &problem.equations {
            let residual = names.lower(&equation.residual)?;
            all.push(residual);
            if !equation.points.at.is_empty() {
                continue;
            }
            for state in &states {
                let leaves = names.graph.leaves(&[residual]);
                for (time, least) in [(false, 2), (true, 1)] {
                    let order = |leaf: &Leaf| match leaf {
                        Leaf::Derivative(function, index) if function == state => {
                            order_in(problem, time, index.as_slice())
                        }
                        _ => 0,
                    };
                    let highest = leaves.iter().max_by_key(|leaf| order(leaf));
                    let highest = highest.filter(|leaf| order(leaf) >= least);
                    coefficients.extend(highest.map(|leaf| names.graph.partial(residual, leaf)));
                }
            }
        }
        for observation in &problem.observations {
            all.extend(names.lower_terms(observation)?);
        }
        Ok(Statement { problem, names, coefficients, all })
    }

    fn keeps_positive(&self, moved: Moved) -> bool {
        let used = |expression: &Expr| {
            let leaves = self.names.graph.leaves(&[*expression]);
            leaves.iter().any(|leaf| self.is_of(leaf, moved))
        };
        let coefficient =
            self.coefficients.iter().filter(|e| used(e)).any(|&e| self.mirrored(e, moved, -1.0));
        coefficient || self.ends_at_zero(moved) || self.is_even(moved)
    }

    /// Whether something has no value where what is moved comes to zero, or to the other side of it.
    fn ends_at_zero(&self, moved: Moved) -> bool {
        let used = |expression: &&Expr| {
            self.names.graph.leaves(&[**expression]).iter().any(|leaf| self.is_of(leaf, moved))
        };
        self.all.iter().filter(used).any(|&expression| {
            (0..TRIALS).all(|trial| {
                let has_value = |flip: f64| self.at(expression, moved, trial, flip).is_some();
                has_value(1.0) && !(has_value(0.0) && has_value(BEYOND))
            })
        })
    }

    /// Whether nothing changes with the sign of what is moved.
    fn is_even(&self, moved: Moved) -> bool {
        let used = |expression: &&Expr| {
            self.names.graph.leaves(&[**expression]).iter().any(|leaf| self.is_of(leaf, moved))
        };
        let mut all = self.all.iter().filter(used).peekable();
        all.peek().is_some() && all.all(|&e| self.mirrored(e, moved, 1.0))
    }

    fn keeps_positive_function(&self, number: usize) -> bool {
        self.keeps_positive(Moved::Function(self.names.functions[number]))
    }

    /// Whether a leaf is what is moved, or a derivative of it.
    fn is_of(&self, leaf: &Leaf, moved: Moved) -> bool {
        match (leaf, moved) {
            (Leaf::Symbol(symbol), Moved::Number(number)) => *symbol == self.names.eta[number],
            (Leaf::Symbol(symbol), Moved::Pair(one, other)) => {
                [one, other].iter().any(|number| *symbol == self.names.eta[*number])
            }
            (Leaf::Derivative(function, _), Moved::Function(moved)) => *function == moved,
            _ => false,
        }
    }

    /// Whether an expression that changes with an unknown is multiplied by a sign if the unknown is.
    fn mirrored(&self, expression: Expr, moved: Moved, sign: f64) -> bool {
        let mut changes = false;
        let all = (0..TRIALS).all(|trial| {
            let at = |flip: f64| self.at(expression, moved, trial, flip);
            // Beside terms that are far larger nothing shows.
            let moves = |(a, b): (f64, f64)| (b - a).abs() > ROUNDING * a.abs();
            changes |= at(1.0).zip(at(MOVED)).is_some_and(moves);
            match (at(1.0), at(-1.0)) {
                (Some(a), Some(b)) => (b - sign * a).abs() <= ROUNDING * a.abs() && a != 0.0,
                _ => false,
            }
        });
        all && changes
    }

    /// An expression at scattered values of everything, and at a multiple of what is moved; none if it has no value there.
    fn at(&self, expression: Expr, moved: Moved, trial: usize, multiple: f64) -> Option<f64> {
        let leaves = self.names.graph.leaves(&[expression]);
        let value = |(k, leaf): (usize, &Leaf)| {
            let value = self.value(leaf, (k, trial));
            if self.is_of(leaf, moved) { multiple * value } else { value }
        };
        let values: Vec<f64> = leaves.iter().enumerate().map(value).collect();
        evaluate(&self.names, expression, &leaves, &values)
    }

    fn value(&self, leaf: &Leaf, (number, trial): (usize, usize)) -> f64 {
        let scattered = super::value::fraction(trial, number + 1);
        match leaf {
            Leaf::Symbol(symbol) => {
                let coordinate = self.names.coordinates.iter().position(|s| s == symbol);
                let eta = self.names.eta.iter().position(|s| s == symbol);
                match (coordinate, eta) {
                    (Some(c), _) => self.problem.coordinates[c].at_fraction(scattered),
                    (_, Some(u)) => {
                        self.problem.unknowns[u].guess * (1.0 + 0.1 * scattered) + 1e-3 * scattered
                    }
                    _ => 0.3 + scattered,
                }
            }
            Leaf::Derivative(..) => 0.3 + scattered,
        }
    }
}

/// The order of a derivative in time, or in space.
fn order_in(problem: &Problem, time: bool, orders: &[u8]) -> usize {
    let own = problem.coordinates.iter().zip(orders).filter(|(coordinate, _)| coordinate.time == time);
    own.map(|(_, &order)| usize::from(order)).sum()
}
