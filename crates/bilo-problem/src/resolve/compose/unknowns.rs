//! How unknown numbers are moved, if it is not stated: in units of their guess, and as logarithms where only positive values
//! make sense.
//!
//! A coefficient of the highest derivative has a sign for which the equation is well-posed: the guess has it. And where
//! nothing changes with the sign of a number, such as c in c^2*u_xx, it may as well be positive.

use super::weight::evaluate;
use crate::diagnostic::Result;
use crate::evaluate::names::{NET, Names};
use crate::model::problem::Problem;
use crate::model::unknown::{Transform, Unknown};
use bilo_expr::{Expr, Leaf};

/// Scattered values of everything at which expressions are compared.
const TRIALS: usize = 8;

/// What differs by less than this part is the same.
const ROUNDING: f64 = 1e-10;

/// Chooses scales and transforms that are not stated.
pub(crate) fn tune(problem: &mut Problem) -> Result<()> {
    let positive: Vec<usize> = {
        let statement = Statement::new(problem)?;
        let free = |&i: &usize| is_free(&problem.unknowns[i]) && statement.keeps_positive(i);
        (0..problem.unknowns.len()).filter(free).collect()
    };
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

/// What a problem says, as expressions.
struct Statement<'a> {
    problem: &'a Problem,
    names: Names,
    /// The coefficients of highest derivatives in space.
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
                let order = |leaf: &Leaf| match leaf {
                    Leaf::Derivative(function, index) if function == state => {
                        order_in_space(problem, index.as_slice())
                    }
                    _ => 0,
                };
                let highest = leaves.iter().max_by_key(|leaf| order(leaf)).filter(|leaf| order(leaf) > 1);
                coefficients.extend(highest.map(|leaf| names.graph.partial(residual, leaf)));
            }
        }
        for observation in &problem.observations {
            all.extend(names.lower_terms(observation)?);
        }
        Ok(Statement { problem, names, coefficients, all })
    }

    fn keeps_positive(&self, unknown: usize) -> bool {
        let used = |expression: &Expr| {
            let eta = Leaf::Symbol(self.names.eta[unknown]);
            self.names.graph.leaves(&[*expression]).contains(&eta)
        };
        let coefficient =
            self.coefficients.iter().filter(|e| used(e)).any(|&e| self.mirrored(e, unknown, -1.0));
        let mut all = self.all.iter().filter(|e| used(e)).peekable();
        coefficient || (all.peek().is_some() && all.all(|&e| self.mirrored(e, unknown, 1.0)))
    }

    /// Whether an expression is multiplied by a sign if an unknown is.
    fn mirrored(&self, expression: Expr, unknown: usize, sign: f64) -> bool {
        let leaves = self.names.graph.leaves(&[expression]);
        (0..TRIALS).all(|trial| {
            let values = |flip: f64| -> Vec<f64> {
                leaves
                    .iter()
                    .enumerate()
                    .map(|(k, leaf)| self.value(leaf, (k, trial), unknown, flip))
                    .collect()
            };
            let at = |flip: f64| evaluate(&self.names, expression, &leaves, &values(flip));
            match (at(1.0), at(-1.0)) {
                (Some(a), Some(b)) => (b - sign * a).abs() <= ROUNDING * a.abs() && a != 0.0,
                _ => false,
            }
        })
    }

    fn value(&self, leaf: &Leaf, (number, trial): (usize, usize), unknown: usize, flip: f64) -> f64 {
        let scattered = super::value::fraction(trial, number + 1);
        match leaf {
            Leaf::Symbol(symbol) => {
                let coordinate = self.names.coordinates.iter().position(|s| s == symbol);
                let eta = self.names.eta.iter().position(|s| s == symbol);
                match (coordinate, eta) {
                    (Some(c), _) => self.problem.coordinates[c].at_fraction(scattered),
                    (_, Some(u)) => {
                        let size =
                            self.problem.unknowns[u].guess * (1.0 + 0.1 * scattered) + 1e-3 * scattered;
                        if u == unknown { flip * size } else { size }
                    }
                    _ => 0.3 + scattered,
                }
            }
            Leaf::Derivative(..) => 0.3 + scattered,
        }
    }
}

fn order_in_space(problem: &Problem, orders: &[u8]) -> usize {
    let space = problem.coordinates.iter().zip(orders).filter(|(coordinate, _)| !coordinate.time);
    space.map(|(_, &order)| usize::from(order)).sum()
}
