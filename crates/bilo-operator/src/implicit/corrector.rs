//! Levenberg-Marquardt for the weights at fixed unknowns: Newton's method, damped where it overshoots.

use super::place::{Factorised, Linear, Place};
use super::rows::Rows;
use super::tangent::Change;
use crate::level::Lower;
use bilo_fit::monitor::Interrupt;
use bilo_fit::parallel;
use bilo_jet::Device;
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// Converged when a step changes the rows by less than this, relative to the rows at untouched weights.
const ROUNDING: f64 = 1e-12;

/// Newton's method for a dictionary has converged when a step gained no more than this part of the loss: what is
/// left then is far smaller, or lies along combinations of functions that are nearly zero, which damping holds
/// back and nobody misses.
const LITTLE: f64 = 1e-2;

/// Rows this small beside those at untouched weights that no step of a dictionary makes smaller are rounding:
/// derivatives of polynomials lose digits.
const FLOOR: f64 = 1e-8;

/// Part of a step after which the bend of the rows along it is measured.
const AHEAD: f64 = 0.1;

/// A bend that is longer than this part of the step says that the step is too long to be bent.
const SHARP: f64 = 0.75;

/// Damping from which on no shorter step is tried.
const MOST_DAMPING: f64 = 1e12;

/// Factors of matrices nearby are no longer tried after so many refusals in turn.
const PATIENCE: usize = 3;

/// What has been computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Steps of the lower level.
    pub lower_steps: usize,
    /// Jacobians of the residuals, or their products.
    pub jacobians: usize,
    /// Matrices factorised.
    pub factorisations: usize,
}

impl Work {
    /// Counts more work.
    pub fn add(&mut self, more: Work) {
        self.lower_steps += more.lower_steps;
        self.jacobians += more.jacobians;
        self.factorisations += more.factorisations;
    }
}

/// How steps are made and when they end.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether the rows are linear in the weights but for the form: then Newton's method needs no damping
    /// to speak of and ends at the minimum.
    linear: bool,
    /// Damping at the start, and the least.
    damping: [f64; 2],
    /// Converged when a step changes the rows by less than this part of what is left of them, ..
    change: f64,
    /// .. or when no more than this part is left of the rows at untouched weights.
    enough: f64,
    /// Most steps where there was no solution nearby, and where there was one.
    steps: [usize; 2],
}

impl Options {
    /// For coefficients of features.
    pub fn dictionary() -> Options {
        Options { linear: true, damping: [1e-22, 1e-22], change: 1e-6, enough: 0.0, steps: [60, 30] }
    }

    /// For weights of networks, which never quite end.
    pub fn network(steps: usize) -> Options {
        Options { linear: false, damping: [1e-3, 1e-12], change: 1e-2, enough: 1e-4, steps: [steps, 10] }
    }
}

/// Solves for the weights.
pub struct Corrector {
    /// What it took so far.
    pub work: Work,
    rules: Options,
    damping: f64,
    /// |rows| at untouched weights.
    size: f64,
    /// Whether there was a solution before.
    solved: bool,
    /// The last factors of a dictionary with their damping.
    kept: Option<(f64, Factorised)>,
    /// How often in turn these were not near enough.
    refusals: usize,
    /// Most matrices that may be factorised: then the weights are given up.
    pub most_factorisations: usize,
    pub(crate) interrupt: Interrupt,
    /// On which blocks that are not coupled are factorised.
    pub(crate) threads: usize,
}

/// What a corrector has learnt on the way.
#[derive(Clone)]
pub(super) struct Learnt {
    damping: f64,
    solved: bool,
    kept: Option<(f64, Factorised)>,
}

/// A step of the lower level, for those who watch.
pub struct LowerStep {
    /// Its number, from 1, and the most there may be.
    pub step: usize,
    /// Most steps that may be taken.
    pub most: usize,
    /// Σ_e weight_e L_res,e before it.
    pub loss: f64,
}

/// Weights that solve the lower level, with their derivatives by the unknowns.
#[derive(Clone, Debug)]
pub(crate) struct Corrected {
    pub(crate) weights: Vec<f64>,
    /// dW/deta_j.
    pub(crate) slopes: Vec<Vec<f64>>,
    /// Σ_e weight_e L_res,e.
    pub(crate) loss: f64,
    /// The sum over the rows' derivatives along each unknown, W moving with it.
    pub(crate) gradient_loss: f64,
    /// Whether the steps came to an end.
    pub(crate) converged: bool,
}

impl Corrected {
    /// Weights from which there is no way on.
    fn nowhere(weights: Vec<f64>) -> Self {
        Self { weights, slopes: vec![], loss: f64::NAN, gradient_loss: f64::NAN, converged: false }
    }
}

/// What came of a step.
enum Descended {
    /// The loss became smaller by this.
    By(f64),
    /// It did not. The factors come back, unless there are others by now.
    Stuck(Option<Factorised>),
}

impl Corrector {
    /// `size` is |rows| at untouched weights.
    pub(crate) fn new(rules: Options, size: f64) -> Self {
        let (work, damping, interrupt) = (Work::default(), rules.damping[0], Interrupt::default());
        Self {
            work,
            rules,
            damping,
            size,
            solved: false,
            kept: None,
            refusals: 0,
            most_factorisations: usize::MAX,
            interrupt,
            threads: parallel::threads(None),
        }
    }

    /// Measures rows by the size that another one does.
    pub(super) fn measure_as(&mut self, other: &Corrector) {
        self.size = other.size;
    }

    /// What it knows now.
    pub(super) fn learnt(&self) -> Learnt {
        Learnt { damping: self.damping, solved: self.solved, kept: self.kept.clone() }
    }

    /// Knows no more than it did then.
    pub(super) fn forget_all_but(&mut self, learnt: &Learnt) {
        let Learnt { damping, solved, kept } = learnt.clone();
        (self.damping, self.solved, self.kept, self.refusals) = (damping, solved, kept, 0);
    }

    /// Corrects predicted weights, as long as who watches says go on.
    pub(crate) fn correct(
        &mut self,
        lower: &Lower,
        device: &mut dyn Device,
        weights: Vec<f64>,
        eta: &[f64],
        watch: &mut dyn FnMut(LowerStep) -> bool,
    ) -> Result<Corrected> {
        let most = self.rules.steps[usize::from(self.solved)];
        self.solved = true;
        let mut place = Place { lower, device, weights, eta, threads: self.threads };
        let (mut steps, mut gained) = (0, f64::INFINITY);
        loop {
            if self.rules.linear && self.interrupt.is_due() {
                return Err(Error::interrupted());
            }
            if self.work.factorisations > self.most_factorisations {
                return Err(Error::new(ErrorKind::Solver, "it takes longer than other ways"));
            }
            self.work.jacobians += 1;
            let (rows, linear) = place.linearise(self.rules.linear)?;
            let Some((factor, step)) = self.solve(&mut place, &linear, &[&rows.residual])? else {
                return Ok(Corrected::nowhere(place.weights));
            };
            let step = only(step);
            let left = rows.loss().sqrt();
            let still = norm(&step.rows) <= self.rules.change * left + ROUNDING * self.size
                || left <= self.rules.enough * self.size
                || (self.rules.linear && gained <= LITTLE * rows.loss());
            let over = steps == most || !left.is_finite();
            let converged = left.is_finite() && (!self.rules.linear || !over);
            let ended = still || over || !watch(LowerStep { step: steps + 1, most, loss: rows.loss() });
            let damping = self.damping;
            let gain = match ended {
                true => Descended::Stuck(Some(factor)),
                false => self.descend(&mut place, &rows, &linear, factor, step)?,
            };
            match gain {
                Descended::By(gain) => gained = gain,
                Descended::Stuck(factor) => {
                    self.damping = damping;
                    return self.finish(place, &rows, &linear, factor, converged);
                }
            }
            steps += 1;
            self.work.lower_steps += 1;
        }
    }

    /// The weights that were found with their slopes, from factors that were made for the damping, if there are any.
    fn finish(
        &mut self,
        mut place: Place<'_>,
        rows: &Rows,
        linear: &Linear,
        factor: Option<Factorised>,
        converged: bool,
    ) -> Result<Corrected> {
        let (damping, least) = (self.damping, self.rules.damping[1]);
        // Damping shortens the slopes too, which nobody wants.
        self.damping = damping.min(least);
        let mut found = None;
        if let Some(factor) = factor.filter(|_| damping <= least) {
            found = place.solve(&factor, &rows.by_unknown)?;
            // Factors of a matrix nearby that did for the step need not do for the slopes.
            self.kept = self.kept.take().filter(|_| found.is_some());
        }
        if found.is_none() {
            found = self.solve(&mut place, linear, &rows.by_unknown)?.map(|(_, slopes)| slopes);
        }
        let Some(slopes) = found else { return Ok(Corrected::nowhere(place.weights)) };
        self.damping = if self.rules.linear { least } else { damping };
        let gradient_loss = gradient_loss(rows, &slopes);
        let slopes = slopes.into_iter().map(|slope| slope.weights).collect();
        Ok(Corrected { weights: place.weights, slopes, loss: rows.loss(), gradient_loss, converged })
    }

    /// The change of the weights that undoes each of several columns of rows, with the factors for it. Those of a matrix
    /// nearby serve until they no longer do.
    fn solve(
        &mut self,
        place: &mut Place<'_>,
        linear: &Linear,
        right: &[impl AsRef<[f64]>],
    ) -> Result<Option<(Factorised, Vec<Change>)>> {
        let same_damping = self.kept.as_ref().filter(|(damping, _)| *damping == self.damping);
        let near =
            same_damping.and_then(|(_, factor)| factor.near(linear)).filter(|_| self.refusals < PATIENCE);
        if let Some(near) = near {
            if let Some(changes) = place.solve(&near, right)? {
                self.refusals = 0;
                return Ok(Some((near, changes)));
            }
            self.refusals += 1;
        }
        let Some(factor) = self.factorise(place, linear)? else { return Ok(None) };
        let changes = place.solve(&factor, right)?.expect("its own factors");
        Ok(Some((factor, changes)))
    }

    /// Where rounding makes the matrix singular, the damping was too small. None if no damping helps: then numbers
    /// in it are not finite.
    ///
    /// Of an equation that is linear in the state J is the same at all weights, and the same at all unknowns if these
    /// are in its data alone. Then there is nothing to factorise again.
    fn factorise(&mut self, place: &mut Place<'_>, linear: &Linear) -> Result<Option<Factorised>> {
        let same = |(damping, factor): &(f64, Factorised)| *damping == self.damping && factor.is_of(linear);
        if let Some((_, factor)) = self.kept.as_ref().filter(|kept| same(kept)) {
            return Ok(Some(factor.clone()));
        }
        // Two factorisations at a time would take twice the memory.
        self.kept = None;
        while self.damping <= MOST_DAMPING {
            self.work.factorisations += 1;
            if let Some(factor) = place.factorise(linear, self.damping)? {
                self.kept = self.rules.linear.then(|| (self.damping, factor.clone()));
                return Ok(Some(factor));
            }
            self.damping *= 10.0;
        }
        Ok(None)
    }

    /// Goes a step that makes the rows smaller, shorter and shorter ones tried in turn (Nielsen: lambda times
    /// 2, 4, 8, ..). If none does, rounding is all that is left.
    fn descend(
        &mut self,
        place: &mut Place<'_>,
        rows: &Rows,
        linear: &Linear,
        mut factor: Factorised,
        mut step: Change,
    ) -> Result<Descended> {
        let (before, mut growth) = (rows.loss(), 2.0);
        loop {
            if !self.rules.linear {
                bend(place, rows, &factor, &mut step)?;
            }
            let moved: Vec<f64> = place.weights.iter().zip(&step.weights).map(|(w, d)| w + d).collect();
            let gain = before - place.rows_at(&moved)?.loss();
            if gain > 0.0 {
                // |r|² - |r + J d|².
                let promised = before - sum_of_squares(&rows.residual, &step.rows);
                let factor = (1.0 - (2.0 * gain / promised - 1.0).powi(3)).max(0.2);
                self.damping = (self.damping * factor).max(self.rules.damping[1]);
                place.weights = moved;
                return Ok(Descended::By(gain));
            }
            let rounding = self.rules.linear && before.sqrt() <= FLOOR * self.size;
            if rounding || self.interrupt.is_due() {
                return Ok(Descended::Stuck((growth == 2.0).then_some(factor)));
            }
            self.damping *= growth;
            growth *= 2.0;
            drop(factor);
            let Some(other) = self.factorise(place, linear)? else { return Ok(Descended::Stuck(None)) };
            factor = other;
            step = only(place.solve(&factor, &[&rows.residual])?.expect("its own factors"));
        }
    }
}

/// Geodesic acceleration (Transtrum and Sethna, arXiv:1201.5885): half of what undoes the second derivative of the rows
/// along the step, which comes from one more evaluation of the rows and the factors that are there. Valleys of the loss
/// are curved; a bent step follows them several times as far.
fn bend(place: &mut Place<'_>, rows: &Rows, factor: &Factorised, step: &mut Change) -> Result<()> {
    let ahead: Vec<f64> = place.weights.iter().zip(&step.weights).map(|(w, d)| w + AHEAD * d).collect();
    let there = place.rows_at(&ahead)?.residual;
    let second = there.iter().zip(&rows.residual).zip(&step.rows);
    let second: Vec<f64> =
        second.map(|((there, here), slope)| 2.0 / AHEAD * ((there - here) / AHEAD - slope)).collect();
    let Some(acceleration) = place.solve(factor, &[&second])?.map(only) else { return Ok(()) };
    // False too when it is not finite.
    if norm(&acceleration.weights) <= SHARP * norm(&step.weights) {
        step.weights.iter_mut().zip(acceleration.weights).for_each(|(d, a)| *d += 0.5 * a);
    }
    Ok(())
}

/// Σ_j |dr/deta_j + J dW/deta_j|².
fn gradient_loss(rows: &Rows, slopes: &[Change]) -> f64 {
    rows.by_unknown.iter().zip(slopes).map(|(explicit, slope)| sum_of_squares(explicit, &slope.rows)).sum()
}

/// |a + b|².
fn sum_of_squares(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a + b).powi(2)).sum()
}

/// The change for one column of rows.
fn only(mut changes: Vec<Change>) -> Change {
    changes.swap_remove(0)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}
