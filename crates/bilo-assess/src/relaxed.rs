//! Relax, then enforce: a start for ordinary equations whose solutions oscillate or are chaotic.
//!
//! Solutions that are out of step with the data have as many false minima as there are periods. So the equation is relaxed: the
//! states at many times and the unknowns together make |data misfit|² + weight |residual|² least, for a weight that grows from
//! small to large, each minimum starting the next (Ramsay, Hooker, Campbell and Cao, J. R. Stat. Soc. B 69, 741, 2007). While
//! the weight is small the states follow the data; in the end they obey the equation. The weight is raised no further when the
//! residual's share of the sum grows: then the steps in time are at fault.

mod banded;
mod statement;

use crate::context::RunContext;
use banded::Bordered;
use bilo_problem::Transform;
use statement::Statement;

/// Intervals of time.
const INTERVALS: usize = 2000;

/// Weights, and most steps with each.
const WEIGHTS: [f64; 9] = [1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5];
const STEPS: usize = 30;

/// Conditions are held this much more closely than an equation at one time.
const CONDITIONS: f64 = 1e4;

/// A minimum is found when a step gains less than this part of the sum.
const GAIN: f64 = 1e-5;

/// Damping at the start, and the most.
const DAMPING: [f64; 2] = [1e-3, 1e9];

/// Longest step of a logarithm.
const LONGEST: f64 = 1.0;

/// Numbers that an equation in step with the data has, from others; none where it is not an initial value problem in time alone,
/// or no state is observed by itself.
pub(crate) fn start(run: &RunContext<'_>, from: &[f64]) -> Option<Vec<f64>> {
    let statement = Statement::new(run, INTERVALS)?;
    let unknowns = run.problem.unknowns.iter().zip(from);
    let eta = unknowns.map(|(unknown, &theta)| unknown.project(unknown.eta_of(theta))).collect();
    let mut here = Relaxed { states: statement.first_states(run), eta };
    let mut share_before = f64::INFINITY;
    for weight in WEIGHTS {
        if run.interrupt.is_due() {
            return None;
        }
        let there = minimised(run, &statement, here.clone(), weight)?;
        let share = statement.rows(&there.states, &there.eta)?.residual * weight;
        if weight > 1.0 && share > share_before {
            break;
        }
        (here, share_before) = (there, share);
    }
    Some(run.problem.thetas(&here.eta))
}

/// States at all times, one time after the other, and the variables of the unknowns.
#[derive(Clone)]
struct Relaxed {
    states: Vec<f64>,
    eta: Vec<f64>,
}

/// Levenberg-Marquardt with one weight.
fn minimised(
    run: &RunContext<'_>,
    statement: &Statement<'_>,
    mut here: Relaxed,
    weight: f64,
) -> Option<Relaxed> {
    let mut damping = DAMPING[0];
    let mut total = statement.rows(&here.states, &here.eta)?.total(weight);
    for _ in 0..STEPS {
        let system = statement.linearised(&here.states, &here.eta, weight);
        let gain = loop {
            let moved = moved(run, &here, &system, damping);
            let rows = moved.as_ref().and_then(|moved| statement.rows(&moved.states, &moved.eta));
            let there = rows.map_or(f64::INFINITY, |rows| rows.total(weight));
            if let (Some(moved), true) = (moved, there < total) {
                let gain = total - there;
                (here, total) = (moved, there);
                damping = (damping / 5.0).max(1e-14);
                break gain;
            }
            damping *= 5.0;
            if damping > DAMPING[1] {
                return Some(here);
            }
        };
        if gain <= GAIN * total {
            break;
        }
    }
    Some(here)
}

/// After a step, shortened so that no logarithm moves too far; none if the matrix is singular.
fn moved(run: &RunContext<'_>, here: &Relaxed, system: &Bordered, damping: f64) -> Option<Relaxed> {
    let (states, eta) = system.solve(damping)?;
    let logarithms = run.problem.unknowns.iter().zip(&eta);
    let logarithms = logarithms.filter(|(unknown, _)| unknown.transform == Transform::Log);
    let longest = logarithms.fold(0.0_f64, |longest, (_, step)| longest.max(step.abs()));
    let part = if longest > LONGEST { LONGEST / longest } else { 1.0 };
    let along =
        |from: &[f64], step: &[f64]| from.iter().zip(step).map(|(a, b)| a - part * b).collect::<Vec<_>>();
    let unknowns = run.problem.unknowns.iter();
    let eta = along(&here.eta, &eta);
    Some(Relaxed {
        states: along(&here.states, &states),
        eta: unknowns.zip(eta).map(|(unknown, eta)| unknown.project(eta)).collect(),
    })
}
