//! Times that are dense where the solution changes fast.
//!
//! A pilot goes through time with steps of its own choice, controlled by their error. Its steps tell how dense times have to be;
//! the solution is then found at times of that density, of which there are as many as were asked for, or a multiple of
//! them. So twice as many halve every step, the density moves continuously with the parameters, and tangents and adjoint
//! are those of a solution at given times.

use crate::error::SolveError;
use crate::grid::Line;
use crate::march::solve_step;
use crate::newton::Newton;
use crate::runge_kutta::{FOURTH, difference};
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

/// Errors of the solution's steps, of which there may be half as many as the pilot's: 2^4 times its own, and some more.
const ALLOWED: f64 = 30.0;

/// How long before a switch a step ends, in parts of the whole time: all of its stages are on one side.
const BEFORE: f64 = 1e-11;

/// The first step, in parts of the whole time.
const FIRST: f64 = 1e-4;

/// The time within which sides come to their values where the solution begins with others, in parts of the whole time.
const SETTLING: f64 = 1e-7;

/// Steps of a pilot within one even step, from which on steps follow the solution: from its first step it takes four to grow to
/// that length where nothing happens.
const CROWDED: usize = 10;

/// The part of the whole time, as a divisor, within which they must be to be worth it.
const LOCAL: usize = 4;

/// The shortest step, in parts of the whole time.
const SHORTEST: f64 = 1e-12;

/// States that are smaller than this part of the largest one count as so large: what begins as zero has no scale of its own.
const FLOOR: f64 = 1e-12;

/// And than this part of what they come to, where that is known.
const REST: f64 = 1e-9;

/// By how much a step may differ from the one before.
const CHANGE: [f64; 2] = [0.2, 4.0];

/// Steps of the pilot per step that is asked for, from which on there are more.
const DENSE: f64 = 2.0;

/// Most steps of the pilot.
const MOST: usize = 20_000;

/// So many times, or a multiple of them, from the lower end of an axis to the upper one, with one just before each switch of the
/// equations.
pub(crate) fn times(
    system: &mut System<'_>,
    start: &[f64],
    (axis, switches): (&Axis, &[f64]),
    steps: usize,
    nominal: usize,
) -> Result<Line, SolveError> {
    let ends = ends(axis, switches);
    let (mut tolerance, mut sizes) = (TOLERANCE, vec![]);
    loop {
        let way = pilot(Pilot::new(system, start, &sizes), (axis, &ends), Start::Consistent, tolerance)?;
        let line = of_density(&way.times, &ends, steps, nominal);
        // What begins as zero looked sudden only because nobody knew how large it would become.
        let at_rest = sizes.is_empty() && begins_at_zero(system, start);
        sizes = way.sizes;
        let is_sudden = is_sudden(&way.times);
        if is_sudden && at_rest {
            continue;
        }
        // A pilot that comes to a sudden change a little early or late is dense where the solution is not that changes.
        let is_done = !is_sudden || tolerance <= TIGHTEST;
        if is_done || is_fine(Pilot::new(system, start, &sizes), line.positions())? {
            return Ok(line);
        }
        tolerance *= TIGHTER;
    }
}

/// Whether a state is zero at the start.
fn begins_at_zero(system: &System<'_>, start: &[f64]) -> bool {
    start.chunks(system.discrete.grid.nodes()).any(|state| largest(state) == 0.0)
}

/// Where pieces of time end: just before each switch, and at the end of all.
fn ends(axis: &Axis, switches: &[f64]) -> Vec<f64> {
    let before = |switch: &f64| switch - BEFORE * (axis.hi - axis.lo);
    let inside = |time: &f64| *time > axis.lo && *time < axis.hi;
    let mut ends: Vec<f64> = switches.iter().map(before).filter(inside).collect();
    ends.dedup_by(|b, a| *b - *a < 2.0 * BEFORE * (axis.hi - axis.lo));
    ends.push(axis.hi);
    ends
}

/// The times of a pilot through a solution with places, if steps have to be short where something begins: a jump at a side,
/// a pulse. Where even ones do there are none. Half of the steps are spread evenly: the solution for other values may be slow where
/// this one is fast.
pub(crate) fn transients(
    system: &mut System<'_>,
    start: &[f64],
    (axis, switches): (&Axis, &[f64]),
    steps: usize,
) -> Result<Option<Vec<f64>>, SolveError> {
    let begin = Pilot::new(system, start, &[]);
    let pilot = pilot(begin, (axis, &ends(axis, switches)), Start::Anywhere, TOLERANCE)?.times;
    let even = (axis.hi - axis.lo) / steps as f64;
    let within = |k: usize| pilot.partition_point(|time| *time < axis.lo + k as f64 * even);
    let crowded = (0..steps).filter(|&k| within(k + 1) - within(k) > CROWDED).count();
    // Waves with corners ask for short steps all the time: there is nothing to gain, and even ones share their factors.
    let is_crowded = crowded > 0 && crowded <= steps / LOCAL;
    Ok((is_crowded || !switches.is_empty()).then(|| half_even(&pilot)))
}

/// Times of which half follow others and half are even.
fn half_even(times: &[f64]) -> Vec<f64> {
    let (first, whole) = (times[0], times[times.len() - 1] - times[0]);
    let steps = times.len() - 1;
    // How far along a time is: the mean of its parts of all steps and of the whole time.
    let along = |i: usize| 0.5 * (i as f64 / steps as f64 + (times[i] - first) / whole);
    let mut cell = 0;
    let inner = (1..2 * steps).map(|k| {
        let wanted = k as f64 / (2 * steps) as f64;
        while along(cell + 1) < wanted {
            cell += 1;
        }
        let part = (wanted - along(cell)) / (along(cell + 1) - along(cell));
        times[cell] * (1.0 - part) + times[cell + 1] * part
    });
    [first].into_iter().chain(inner.collect::<Vec<_>>()).chain([times[steps]]).collect()
}

/// About so many times with the density of others, one of them just before each switch of the equations. Steps are halves of
/// halves of each piece between switches, so that few lengths differ: equal ones share their factors. Twice as many halve every
/// step.
pub(crate) fn like(density: &[f64], axis: &Axis, switches: &[f64], steps: usize) -> Line {
    let ends = ends(axis, switches);
    let (mut groups, mut parts) = (steps, 1);
    while groups.is_multiple_of(2) && groups / 2 >= FEWEST_GROUPS {
        (groups, parts) = (groups / 2, parts * 2);
    }
    // Every piece has a group at least.
    let mut pieces = ends.len();
    while parts > 1 && pieces > groups {
        (pieces, parts) = (pieces / 2, parts / 2);
    }
    let along = Along { density, most: FILLED * (density.len() - 1) as f64 / groups as f64 };
    let (mut times, mut breaks) = (vec![axis.lo], vec![]);
    for end in ends {
        let start = times[times.len() - 1];
        along.halve([start, end], HALVINGS, &mut |[a, b]| {
            let inner = (1..parts).map(|k| a + (b - a) * k as f64 / parts as f64);
            times.extend(inner.chain([b]));
        });
        breaks.push(times.len() - 1);
    }
    breaks.pop();
    Line::through(times, &breaks)
}

/// Groups of equal steps that time has at least.
const FEWEST_GROUPS: usize = 20;

/// How full of times a stretch may be before it is halved, in parts of a group's: on the mean they are three quarters as full.
const FILLED: f64 = 4.0 / 3.0;

/// How often a stretch is halved at most.
const HALVINGS: usize = 40;

/// Times whose density others follow.
struct Along<'a> {
    density: &'a [f64],
    /// Most of them in one stretch.
    most: f64,
}

impl Along<'_> {
    /// How many are before a time.
    fn before(&self, t: f64) -> f64 {
        let last = self.density.len() - 1;
        let cell = self.density.partition_point(|time| *time <= t).clamp(1, last) - 1;
        let (a, b) = (self.density[cell], self.density[cell + 1]);
        cell as f64 + ((t - a) / (b - a)).clamp(0.0, 1.0)
    }

    /// Halves a stretch until none has too many.
    fn halve(&self, [a, b]: [f64; 2], depth: usize, accept: &mut impl FnMut([f64; 2])) {
        if depth == 0 || self.before(b) - self.before(a) <= self.most {
            return accept([a, b]);
        }
        let middle = 0.5 * (a + b);
        self.halve([a, middle], depth - 1, accept);
        self.halve([middle, b], depth - 1, accept);
    }
}

/// Times with the density of a pilot's, which went from end to end of its pieces.
fn of_density(pilot: &[f64], ends: &[f64], steps: usize, nominal: usize) -> Line {
    let taken = (pilot.len() - 1) as f64;
    let multiple = (taken / (DENSE * nominal as f64)).ceil().max(1.0) as usize;
    let (mut times, mut breaks, mut first) = (vec![pilot[0]], vec![], 0);
    for end in ends {
        let last = pilot.partition_point(|time| time < end);
        let own = (last - first) as f64;
        let count = ((steps * multiple) as f64 * own / taken).round().max(1.0) as usize;
        for k in 1..count {
            let along = k as f64 / count as f64 * own;
            let cell = first + (along as usize).min(last - first - 1);
            let part = first as f64 + along - cell as f64;
            times.push(pilot[cell] * (1.0 - part) + pilot[cell + 1] * part);
        }
        times.push(pilot[last]);
        breaks.push(times.len() - 1);
        first = last;
    }
    breaks.pop();
    Line::through(times, &breaks)
}

/// Whether steps differ by so much in length that missing the short ones would matter.
fn is_sudden(times: &[f64]) -> bool {
    let lengths = times.windows(2).map(|pair| pair[1] - pair[0]);
    let (shortest, longest) = lengths.fold((f64::INFINITY, 0.0_f64), |(a, b), dt| (a.min(dt), b.max(dt)));
    longest > SUDDEN * shortest
}

/// Whether the errors of steps between given times are about those that a pilot allows itself.
fn is_fine(mut pilot: Pilot<'_, '_>, times: &[f64]) -> Result<bool, SolveError> {
    for pair in times.windows(2) {
        match pilot.try_step([pair[0], pair[1]]) {
            Ok(tried) if tried.error <= ALLOWED * TOLERANCE => pilot.accept(tried),
            Err(SolveError::Interrupted) => return Err(SolveError::Interrupted),
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The way of a pilot through time.
struct Way {
    times: Vec<f64>,
    /// The largest value of each state.
    sizes: Vec<f64>,
}

/// A way whose steps have errors below a tolerance.
fn pilot(
    mut pilot: Pilot<'_, '_>,
    (axis, ends): (&Axis, &[f64]),
    begins: Start,
    tolerance: f64,
) -> Result<Way, SolveError> {
    let whole = axis.hi - axis.lo;
    let (mut times, mut step) = (vec![axis.lo], FIRST * whole);
    if begins == Start::Anywhere {
        step = SETTLING * whole;
        let settled = pilot.try_step([axis.lo, axis.lo + step])?;
        pilot.accept(settled);
    }
    while times[times.len() - 1] < axis.hi {
        let t = times[times.len() - 1];
        let next = ends[ends.partition_point(|end| *end <= t)];
        let end = if t + 1.01 * step >= next { next } else { t + step };
        let (error, tried) = match pilot.try_step([t, end]) {
            Ok(tried) => (tried.error, Some(tried)),
            Err(SolveError::Interrupted) => return Err(SolveError::Interrupted),
            Err(error) if end - t <= SHORTEST * whole => return Err(error),
            Err(_) => (f64::INFINITY, None),
        };
        let factor = 0.9 * (tolerance / error.max(1e-16)).powf(0.25);
        // Much shorter ones would get lost in the rounding of times.
        step = ((end - t) * factor.clamp(CHANGE[0], CHANGE[1])).max(0.5 * SHORTEST * whole);
        if let Some(tried) = tried.filter(|_| error <= tolerance || end - t <= SHORTEST * whole) {
            pilot.accept(tried);
            times.push(end);
        }
        if times.len() > MOST {
            return Err(SolveError::NoConvergence { t, residual: error });
        }
    }
    Ok(Way { times, sizes: pilot.scale })
}

/// Whether conditions hold at the start, or are met within no time.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    Consistent,
    Anywhere,
}

/// A solution on its way through time, with the errors of its steps.
struct Pilot<'a, 'b> {
    system: &'a mut System<'b>,
    newton: Newton<'b>,
    u: Vec<f64>,
    slope: Vec<f64>,
    /// The largest value of each state so far.
    scale: Vec<f64>,
    /// What each state counts as at least.
    floors: Vec<f64>,
    nodes: usize,
    work: Work,
}

/// A step that was tried.
struct Tried {
    end: Vec<f64>,
    slope: Vec<f64>,
    /// The largest error of a state relative to its scale.
    error: f64,
}

impl<'a, 'b> Pilot<'a, 'b> {
    /// From the start, with the sizes that states are known to come to, if any are known.
    fn new(system: &'a mut System<'b>, start: &[f64], sizes: &[f64]) -> Pilot<'a, 'b> {
        let nodes = system.discrete.grid.nodes();
        let floor = |state: usize| REST * sizes.get(state).copied().unwrap_or(0.0);
        Pilot {
            floors: (0..start.len() / nodes).map(floor).collect(),
            newton: Newton::new(&system.discrete.pattern),
            system,
            u: start.to_vec(),
            slope: vec![0.0; start.len()],
            scale: start.chunks(nodes).map(largest).collect(),
            nodes,
            work: Work::default(),
        }
    }

    fn try_step(&mut self, t: [f64; 2]) -> Result<Tried, SolveError> {
        let step = FOURTH.step(t, t[1] - t[0]);
        let mut slope = self.slope.clone();
        let along = (&self.u[..], &mut slope[..]);
        let mut stages = solve_step(&mut self.newton, self.system, &step, along, &mut self.work)?;
        let error = self.error(&stages);
        Ok(Tried { end: stages.pop().expect("a method has stages"), slope, error })
    }

    fn error(&self, stages: &[Vec<f64>]) -> f64 {
        let floor = FLOOR * self.scale.iter().copied().fold(0.0, f64::max);
        let end = &stages[stages.len() - 1];
        let relative = |(i, error): (usize, f64)| {
            let state = i / self.nodes;
            let least = floor.max(self.floors[state]);
            let size = self.scale[state].max(end[i].abs()).max((end[i] - self.u[i]).abs()).max(least);
            if size == 0.0 { 0.0 } else { error.abs() / size }
        };
        let errors = difference(&self.u, stages).into_iter().enumerate().map(relative);
        errors.fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { f64::max(a, b) })
    }

    fn accept(&mut self, tried: Tried) {
        let ends = tried.end.chunks(self.nodes);
        self.scale.iter_mut().zip(ends).for_each(|(scale, end)| *scale = scale.max(largest(end)));
        (self.u, self.slope) = (tried.end, tried.slope);
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}
