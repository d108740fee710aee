//! Steps in time.

use crate::error::SolveError;
use crate::grid::Line;
use crate::newton::Newton;
use crate::solution::Work;
use crate::system::{Stage, System};

/// Alexander's SDIRK2 (SIAM J. Numer. Anal. 14 (1977) 1006): L-stable, and the
/// second stage is the new solution. The unknown of a stage is its value, so
/// that states without a time derivative need nothing special:
///
/// ```text
/// Y1:  r(Y1, rate (Y1 - u_n))    = 0 at t_n + gamma dt,   rate = 1/(gamma dt)
/// Y2:  r(Y2, rate (Y2 - base_2)) = 0 at t_n + dt,         base_2 = u_n + ahead (Y1 - u_n)
/// ```
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sdirk2 {
    pub(crate) rate: f64,
    /// `(1 - gamma) / gamma`.
    pub(crate) ahead: f64,
}

impl Sdirk2 {
    /// `1 - sqrt(1/2)`.
    pub(crate) const GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

    /// A step of some length.
    pub(crate) fn of_step(dt: f64) -> Sdirk2 {
        Sdirk2 { rate: 1.0 / (Self::GAMMA * dt), ahead: (1.0 - Self::GAMMA) / Self::GAMMA }
    }

    /// Every step through the times; those of equal ones are equal to the last bit.
    pub(crate) fn steps(times: &Line) -> Vec<Sdirk2> {
        let positions = times.positions();
        let count = positions.len() - 1;
        if !times.is_graded() {
            return vec![Sdirk2::of_step((positions[count] - positions[0]) / count as f64); count];
        }
        positions.windows(2).map(|t| Sdirk2::of_step(t[1] - t[0])).collect()
    }

    /// The first stage of the step from `u` at `t[0]` to `t[1]`.
    pub(crate) fn first(&self, u: &[f64], t: [f64; 2]) -> Stage {
        Stage { t: t[0] + Self::GAMMA * (t[1] - t[0]), rate: self.rate, base: u.to_vec() }
    }

    /// The second stage, after `y1` was found.
    pub(crate) fn second(&self, u: &[f64], y1: &[f64], t: [f64; 2]) -> Stage {
        Stage { t: t[1], rate: self.rate, base: self.base(u, y1) }
    }

    /// The base of the second stage.
    pub(crate) fn base(&self, u: &[f64], y1: &[f64]) -> Vec<f64> {
        u.iter().zip(y1).map(|(u, y)| u + self.ahead * (y - u)).collect()
    }
}

/// The two stage values of every step through the times, the second being the
/// new solution; `accept` gets them as they come.
pub(crate) fn march(
    system: &mut System<'_>,
    start: &[f64],
    times: &Line,
    work: &mut Work,
    mut accept: impl FnMut(&[f64], &[f64]),
) -> Result<(), SolveError> {
    let mut newton = Newton::new(&system.discrete.pattern);
    let mut u = start.to_vec();
    let mut slope = vec![0.0; u.len()];
    for (method, t) in Sdirk2::steps(times).into_iter().zip(times.positions().windows(2)) {
        let t = [t[0], t[1]];
        let first = method.first(&u, t);
        let y1 = solve_stage(&mut newton, system, &first, &u, &mut slope, work)?;
        let second = method.second(&u, &y1, t);
        let y2 = solve_stage(&mut newton, system, &second, &u, &mut slope, work)?;
        work.steps += 1;
        accept(&y1, &y2);
        u = y2;
    }
    Ok(())
}

/// Solves one stage, starting along the slope of the one before, and updates
/// the slope.
pub(crate) fn solve_stage(
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
