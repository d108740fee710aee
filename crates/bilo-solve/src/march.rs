//! Steps in time.

use crate::error::SolveError;
use crate::newton::Newton;
use crate::runge_kutta::Step;
use crate::solution::Work;
use crate::system::{Stage, System};

/// The stage values of each of some steps from a level, the last being the new level; `accept` gets them as they come.
pub(crate) fn march(
    system: &mut System<'_>,
    steps: Vec<Step>,
    mut u: Vec<f64>,
    work: &mut Work,
    mut accept: impl FnMut(&[Vec<f64>]),
) -> Result<(), SolveError> {
    let mut newton = Newton::new(&system.discrete.pattern);
    let mut slope = vec![0.0; u.len()];
    for step in steps {
        let mut stages = solve_step(&mut newton, system, &step, (&u, &mut slope), work)?;
        work.steps += 1;
        accept(&stages);
        u = stages.pop().expect("a method has stages");
    }
    Ok(())
}

/// Solves the stages of one step from `u`, the first one along the slope of what came before; the slope becomes that of the last.
pub(crate) fn solve_step(
    newton: &mut Newton<'_>,
    system: &mut System<'_>,
    step: &Step,
    (u, slope): (&[f64], &mut [f64]),
    work: &mut Work,
) -> Result<Vec<Vec<f64>>, SolveError> {
    let mut stages: Vec<Vec<f64>> = Vec::with_capacity(step.stages());
    for number in 0..step.stages() {
        let earlier: Vec<&[f64]> = stages.iter().map(Vec::as_slice).collect();
        let stage = step.stage(number, u, &earlier);
        stages.push(solve_stage(newton, system, &stage, u, slope, work)?);
    }
    Ok(stages)
}

/// Solves one stage, starting along the slope of the one before, and updates
/// the slope.
fn solve_stage(
    newton: &mut Newton<'_>,
    system: &mut System<'_>,
    stage: &Stage,
    u: &[f64],
    slope: &mut [f64],
    work: &mut Work,
) -> Result<Vec<f64>, SolveError> {
    let mut value: Vec<f64> = stage.base.iter().zip(&*slope).map(|(b, k)| b + k / stage.rate).collect();
    if newton.solve(system, stage, &mut value, work).is_err() {
        // The extrapolation may have left the domain of the equations.
        value.copy_from_slice(u);
        newton.solve(system, stage, &mut value, work)?;
    }
    for ((k, value), base) in slope.iter_mut().zip(&value).zip(&stage.base) {
        *k = stage.rate * (value - base);
    }
    Ok(value)
}
