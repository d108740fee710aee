//! Times that are dense where the solution changes fast.
//!
//! A pilot goes through time with steps of its own choice, controlled by their error. Its steps tell how dense times have to be;
//! the solution is then found at times of that density, of which there are as many as were asked for, or a multiple of
//! them. So twice as many halve every step, the density moves continuously with the parameters, and tangents and adjoint
//! are those of a solution at given times.

use crate::error::SolveError;
use crate::march::{Sdirk2, solve_stage};
use crate::newton::Newton;
use crate::solution::Work;
use crate::statement::Axis;
use crate::system::System;

/// The error of one step of the pilot, relative to the largest value of each state so far.
const TOLERANCE: f64 = 1e-4;

/// What it is multiplied by where the solution is not where the pilot was, and its least.
const TIGHTER: f64 = 0.1;
const TIGHTEST: f64 = 1e-8;

/// Steps whose lengths differ by so much follow a sudden change.
const SUDDEN: f64 = 1e5;

/// Errors of the solution's steps, of which there may be half as many as the pilot's.
const ALLOWED: f64 = 10.0;

/// The local error of [`Sdirk2`] is this times dt³ u''': the coefficient of z³ in its stability function,
/// 3 gamma² - 2 gamma³, minus 1/6.
const ERROR: f64 = 0.040_440_114_519_881;

/// The first step, in parts of the whole time.
const FIRST: f64 = 1e-4;

/// The shortest step, in parts of the whole time.
const SHORTEST: f64 = 1e-12;

/// States that are smaller than this part of the largest one count as so large: what begins as zero has no scale of its own.
const FLOOR: f64 = 1e-12;

/// By how much a step may differ from the one before.
const CHANGE: [f64; 2] = [0.2, 4.0];

/// Steps of the pilot per step that is asked for, from which on there are more.
const DENSE: f64 = 2.0;

/// Most steps of the pilot.
const MOST: usize = 20_000;

/// So many times, or a multiple of them, from the lower end of an axis to the upper one.
pub(crate) fn times(
    system: &mut System<'_>,
    start: &[f64],
    axis: &Axis,
    steps: usize,
    nominal: usize,
) -> Result<Vec<f64>, SolveError> {
    let mut tolerance = TOLERANCE;
    loop {
        let pilot = pilot(system, start, axis, tolerance)?;
        let times = of_density(&pilot, axis, steps, nominal);
        // A pilot that comes to a sudden change a little early or late is dense where the solution is not that changes.
        if !is_sudden(&pilot) || tolerance <= TIGHTEST || is_fine(system, start, &times)? {
            return Ok(times);
        }
        tolerance *= TIGHTER;
    }
}

/// Times with the density of a pilot's.
fn of_density(pilot: &[f64], axis: &Axis, steps: usize, nominal: usize) -> Vec<f64> {
    let taken = pilot.len() - 1;
    let multiple = (taken as f64 / (DENSE * nominal as f64)).ceil().max(1.0) as usize;
    let count = steps * multiple;
    let place = |k: usize| {
        let along = k as f64 / count as f64 * taken as f64;
        let cell = (along as usize).min(taken - 1);
        let part = along - cell as f64;
        pilot[cell] * (1.0 - part) + pilot[cell + 1] * part
    };
    let mut times: Vec<f64> = (0..count).map(place).collect();
    times.push(axis.hi);
    times
}

/// Whether steps differ by so much in length that missing the short ones would matter.
fn is_sudden(times: &[f64]) -> bool {
    let lengths = times.windows(2).map(|pair| pair[1] - pair[0]);
    let (shortest, longest) = lengths.fold((f64::INFINITY, 0.0_f64), |(a, b), dt| (a.min(dt), b.max(dt)));
    longest > SUDDEN * shortest
}

/// Whether the errors of steps between given times are about those that a pilot allows itself.
fn is_fine(system: &mut System<'_>, start: &[f64], times: &[f64]) -> Result<bool, SolveError> {
    let mut newton = Newton::new(&system.discrete.pattern);
    let (mut work, mut u, mut slope) = (Work::default(), start.to_vec(), vec![0.0; start.len()]);
    let mut scale: Vec<f64> = start.iter().map(|value| value.abs()).collect();
    let mut before: Option<Vec<f64>> = None;
    for pair in times.windows(2) {
        let taken = match try_step(system, &mut newton, (&u, &slope), [pair[0], pair[1]], &mut work) {
            Ok(taken) => taken,
            Err(SolveError::Interrupted) => return Err(SolveError::Interrupted),
            Err(_) => return Ok(false),
        };
        if taken.error(before.as_deref(), &u, &scale, pair[1] - pair[0]) > ALLOWED * TOLERANCE {
            return Ok(false);
        }
        scale.iter_mut().zip(&taken.end).for_each(|(scale, value)| *scale = scale.max(value.abs()));
        (u, slope) = (taken.end, taken.slopes[1].clone());
        before = Some(slope.clone());
    }
    Ok(true)
}

/// The times of steps whose errors are below a tolerance.
fn pilot(
    system: &mut System<'_>,
    start: &[f64],
    axis: &Axis,
    tolerance: f64,
) -> Result<Vec<f64>, SolveError> {
    let whole = axis.hi - axis.lo;
    let mut newton = Newton::new(&system.discrete.pattern);
    let (mut work, mut u, mut slope) = (Work::default(), start.to_vec(), vec![0.0; start.len()]);
    let mut scale: Vec<f64> = start.iter().map(|value| value.abs()).collect();
    let (mut times, mut step) = (vec![axis.lo], FIRST * whole);
    // The slope at the last time, once there was a step.
    let mut before: Option<Vec<f64>> = None;
    while times[times.len() - 1] < axis.hi {
        let t = times[times.len() - 1];
        let end = if t + 1.01 * step >= axis.hi { axis.hi } else { t + step };
        let taken = try_step(system, &mut newton, (&u, &slope), [t, end], &mut work);
        let (error, taken) = match taken {
            Ok(taken) => (taken.error(before.as_deref(), &u, &scale, end - t), Some(taken)),
            Err(SolveError::Interrupted) => return Err(SolveError::Interrupted),
            Err(error) if end - t <= SHORTEST * whole => return Err(error),
            Err(_) => (f64::INFINITY, None),
        };
        let factor = 0.9 * (tolerance / error.max(1e-12)).cbrt();
        step = (end - t) * factor.clamp(CHANGE[0], CHANGE[1]);
        if let Some(taken) = taken.filter(|_| error <= tolerance || end - t <= SHORTEST * whole) {
            scale.iter_mut().zip(&taken.end).for_each(|(scale, value)| *scale = scale.max(value.abs()));
            (u, slope) = (taken.end, taken.slopes[1].clone());
            before = Some(taken.slopes[1].clone());
            times.push(end);
        }
        if times.len() > MOST {
            return Err(SolveError::NoConvergence { t, residual: error });
        }
    }
    Ok(times)
}

/// A step that was tried.
struct Step {
    end: Vec<f64>,
    /// The slopes of both stages.
    slopes: [Vec<f64>; 2],
}

fn try_step(
    system: &mut System<'_>,
    newton: &mut Newton<'_>,
    (u, slope): (&[f64], &[f64]),
    t: [f64; 2],
    work: &mut Work,
) -> Result<Step, SolveError> {
    let method = Sdirk2::of_step(t[1] - t[0]);
    let mut slope = slope.to_vec();
    let y1 = solve_stage(newton, system, &method.first(u, t), u, &mut slope, work)?;
    let first = slope.clone();
    let end = solve_stage(newton, system, &method.second(u, &y1, t), u, &mut slope, work)?;
    Ok(Step { end, slopes: [first, slope] })
}

impl Step {
    /// The largest error of a state relative to its scale: from u''', the second divided difference of slopes, or after the
    /// start, where there are two slopes only, from u''.
    fn error(&self, before: Option<&[f64]>, u: &[f64], scale: &[f64], dt: f64) -> f64 {
        let gamma = Sdirk2::GAMMA;
        let [first, second] = &self.slopes;
        let floor = FLOOR * scale.iter().copied().fold(0.0, f64::max);
        let error = |i: usize| {
            let bend = (second[i] - first[i]) / ((1.0 - gamma) * dt);
            let local = match before {
                Some(before) => {
                    let earlier = (first[i] - before[i]) / (gamma * dt);
                    ERROR * dt.powi(3) * 2.0 * (bend - earlier) / dt
                }
                None => 0.5 * dt * dt * bend,
            };
            let size = scale[i].max(self.end[i].abs()).max((self.end[i] - u[i]).abs()).max(floor);
            if size == 0.0 { 0.0 } else { local.abs() / size }
        };
        (0..u.len()).map(error).fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { f64::max(a, b) })
    }
}
