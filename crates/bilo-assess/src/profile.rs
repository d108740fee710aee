//! Profile likelihoods: the best log-likelihood for each value of one unknown, the others free.
//!
//! Where the likelihood is not quadratic an interval by the curvature at the best fit misleads; the profile's holds: it has
//! the values whose best log-likelihood is within the threshold of the largest. The threshold on 2 ΔlogL is chi-square's with
//! one degree of freedom; where noise levels are estimated from n data with p unknowns it is n log(1 + t²/(n - p)), which is
//! Student's. The profile ends at a bound, or where it stays below the threshold over four decades: that side is flat, and
//! the data do not limit the unknown there.

use crate::context::RunContext;
use crate::intervals::{UPPER, quantile};
use crate::outcome::{Flat, NoiseSource, Outcome, ProfileOutcome, ProfilePoint};
use bilo_fit::gauss_newton::minimise;
use bilo_fit::sensitivities::columns;
use bilo_fit::spectrum::smallest_ratio;
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use bilo_problem::{Problem, Unknown};
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use bilo_reference::solver::ReferenceSolver;

/// Most values on one side.
const MOST: usize = 60;

/// A flat side is followed over so many decades of the unknown.
const DECADES: f64 = 4.0;

/// The first step, in error bars.
const FIRST: f64 = 0.5;

/// Steps are as long as makes 2 ΔlogL grow by about this.
const GROWTH: f64 = 0.5;

/// A side is followed until 2 ΔlogL is this many times the threshold of 95 %.
const BEYOND: f64 = 1.3;

/// The end of an interval has 2 ΔlogL right to this part of the threshold.
const EXACT: f64 = 1e-4;

/// Singular values below this part of the largest, all along a side, are structure.
const STRUCTURAL: f64 = 1e-8;

/// The profile of one unknown, around the best fit of an outcome.
pub fn profile(run: &RunContext<'_>, outcome: &Outcome, number: usize) -> Result<ProfileOutcome> {
    let reference = run.reference.as_ref().map_err(Clone::clone)?;
    let found = &outcome.unknowns.numbers;
    let best: Option<Vec<f64>> = found.iter().map(|number| number.data_optimal).collect();
    let Some(best) = best else {
        return Err(Error::new(ErrorKind::NotConverged, "there is no best fit to draw a profile around"));
    };
    let unknowns = &run.problem.unknowns;
    let eta: Vec<f64> = unknowns.iter().zip(&best).map(|(unknown, &theta)| unknown.eta_of(theta)).collect();
    let walk = Walk { run, reference, number, thresholds: thresholds(run, outcome) };
    let top = walk.at(eta[number], &eta)?;
    let slope = unknowns[number].theta_slope(eta[number]).abs();
    let sd = found[number].sd.filter(|sd| sd.is_finite() && *sd > 0.0).map(|sd| sd / slope);
    let step = sd.unwrap_or(0.1 * eta[number].abs().max(1.0));
    let [below, above] = [-1.0, 1.0].map(|side| walk.side(side * step, &top));
    let (below, above) = (below?, above?);
    let points: Vec<ProfilePoint> = (below.points.iter().rev())
        .chain(std::iter::once(&top))
        .chain(&above.points)
        .map(|point| walk.outcome(point, &top))
        .collect();
    let end = |level: usize| {
        let theta = |eta: Option<f64>| eta.map(|eta| unknowns[number].theta_of(eta));
        (theta(below.ends[level]), theta(above.ends[level]))
    };
    Ok(ProfileOutcome {
        name: unknowns[number].name.clone(),
        unit: unknowns[number].unit.clone(),
        estimate: best[number],
        interval_68: end(0),
        interval_95: end(1),
        threshold: walk.thresholds[1],
        below: below.flat,
        above: above.flat,
        points,
    })
}

/// What 2 ΔlogL must not exceed, at 68 and at 95 %.
fn thresholds(run: &RunContext<'_>, outcome: &Outcome) -> [f64; 2] {
    let estimated = outcome.noise.iter().filter(|noise| noise.source == NoiseSource::Residuals);
    let fewest = estimated.min_by(|a, b| a.freedom.total_cmp(&b.freedom));
    UPPER.map(|upper| match fewest {
        None => quantile(upper, f64::INFINITY).powi(2),
        Some(noise) => {
            let (count, freedom) =
                (noise.freedom + run.problem.unknowns.len() as f64, noise.freedom.max(1.0));
            count * (1.0 + quantile(upper, freedom).powi(2) / freedom).ln()
        }
    })
}

/// The best fit with one variable held.
struct Held {
    /// All variables.
    eta: Vec<f64>,
    /// Minus the log-likelihood.
    height: f64,
    /// The smallest singular value of the derivatives beside the largest.
    ratio: f64,
}

struct Side {
    /// From the best fit outwards.
    points: Vec<Held>,
    /// Where the thresholds are crossed.
    ends: [Option<f64>; 2],
    flat: Option<Flat>,
}

struct Walk<'a> {
    run: &'a RunContext<'a>,
    reference: &'a ReferenceSolver,
    number: usize,
    thresholds: [f64; 2],
}

impl Walk<'_> {
    fn unknown(&self) -> &Unknown {
        &self.run.problem.unknowns[self.number]
    }

    /// The best fit at a value of the held variable, from other variables nearby.
    fn at(&self, value: f64, near: &[f64]) -> Result<Held> {
        let mut problem: Problem = self.run.problem.clone();
        let theta = self.unknown().theta_of(value);
        problem.unknowns[self.number].bounds = Some((theta, theta));
        let tables = self.run.tables;
        let data = bilo_fit::data_loss::DataLoss::new(&problem, tables);
        let mut loss = ReferenceLoss { data, reference: self.reference };
        let mut eta = near.to_vec();
        eta[self.number] = self.unknown().eta_of(theta);
        let start = loss.evaluate(&eta)?;
        let found: Evaluation<'_> = match eta.len() {
            1 => start,
            _ => minimise(&mut loss, start, &mut |_| None)?.evaluation,
        };
        let height = loss.data.joint().negative_log_likelihood(&found.loss_terms.terms)
            + loss.data.negative_log_prior(&found.theta.eta);
        let ratio = smallest_ratio(&columns(&loss.slopes(&found)?), &found.loss_terms.roots);
        Ok(Held { eta: found.theta.eta, height, ratio: ratio.unwrap_or(f64::NAN) })
    }

    /// 2 ΔlogL.
    fn rise(&self, point: &Held, top: &Held) -> f64 {
        2.0 * (point.height - top.height)
    }

    /// Follows the profile to one side, by a first step of so much.
    fn side(&self, step: f64, top: &Held) -> Result<Side> {
        let (start, limit) = (top.eta[self.number], self.limit(step, top));
        let mut side = Side { points: vec![], ends: [None; 2], flat: None };
        let longest = self.longest_first(start);
        let mut length = (FIRST * step).clamp(-longest, longest);
        let mut at = start;
        while side.points.len() < MOST {
            let next = if step > 0.0 { (at + length).min(limit) } else { (at + length).max(limit) };
            let last = side.points.last().unwrap_or(top);
            let before = self.rise(last, top);
            let Ok(point) = self.at(next, &last.eta) else {
                // Where the equations have no solution the step was too long; a side that ends there is open.
                length *= 0.5;
                if length.abs() < 1e-3 * step.abs() {
                    break;
                }
                continue;
            };
            let rise = self.rise(&point, top);
            side.points.push(point);
            at = next;
            if rise > BEYOND * self.thresholds[1] || at == limit {
                break;
            }
            let grown = (rise - before).abs().max(GROWTH / 16.0);
            length *= (GROWTH / grown).sqrt().clamp(0.5, 2.0);
        }
        for level in 0..2 {
            side.ends[level] = self.end(&side, top, self.thresholds[level])?;
        }
        side.flat = side.ends[1].is_none().then(|| self.flat(&side.points));
        Ok(side)
    }

    /// A first step that the other unknowns can follow, whatever the error bar is.
    fn longest_first(&self, start: f64) -> f64 {
        match self.unknown().transform {
            bilo_problem::Transform::Log => 1.0,
            bilo_problem::Transform::Identity if start != 0.0 => start.abs(),
            bilo_problem::Transform::Identity => f64::INFINITY,
        }
    }

    /// Where a side ends at the latest: at the bound, or after so many decades.
    fn limit(&self, step: f64, top: &Held) -> f64 {
        let unknown = self.unknown();
        let start = top.eta[self.number];
        let theta = unknown.theta_of(start);
        let far = match unknown.transform {
            bilo_problem::Transform::Log => start + step.signum() * DECADES * 10.0_f64.ln(),
            bilo_problem::Transform::Identity => {
                start
                    + step.signum()
                        * (10.0_f64.powf(DECADES) * theta.abs() / unknown.scale).max(100.0 * step.abs())
            }
        };
        unknown.project(far)
    }

    /// Where 2 ΔlogL crosses a threshold, by secants of its square root, which is nearly straight.
    fn end(&self, side: &Side, top: &Held, threshold: f64) -> Result<Option<f64>> {
        let root = |point: &Held| self.rise(point, top).max(0.0).sqrt() - threshold.sqrt();
        let Some(place) = side.points.iter().position(|point| root(point) >= 0.0) else { return Ok(None) };
        let inner = if place == 0 { top } else { &side.points[place - 1] };
        let outer = &side.points[place];
        let (mut a, mut b) = ((inner.eta[self.number], root(inner)), (outer.eta[self.number], root(outer)));
        let mut near = inner.eta.clone();
        for _ in 0..30 {
            let middle = a.0 - a.1 * (b.0 - a.0) / (b.1 - a.1);
            let point = self.at(middle, &near)?;
            let found = root(&point);
            near = point.eta;
            if found.abs() <= EXACT * threshold.sqrt() {
                return Ok(Some(middle));
            }
            // The end that stays is halved, so that neither stays for ever (Illinois).
            if (found < 0.0) == (a.1 < 0.0) {
                a = (middle, found);
                b.1 *= 0.5;
            } else {
                b = (middle, found);
                a.1 *= 0.5;
            }
        }
        Ok(Some(a.0))
    }

    /// Why a side has no end.
    fn flat(&self, points: &[Held]) -> Flat {
        let structural = !points.is_empty() && points.iter().all(|point| point.ratio < STRUCTURAL);
        if structural { Flat::Structurally } else { Flat::Practically }
    }

    fn outcome(&self, point: &Held, top: &Held) -> ProfilePoint {
        let unknowns = self.run.problem.thetas(&point.eta);
        ProfilePoint { value: unknowns[self.number], rise: self.rise(point, top), unknowns }
    }
}
