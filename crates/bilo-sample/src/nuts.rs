//! One transition of the no-U-turn sampler (Hoffman and Gelman 2014) in its present form: states of a trajectory are drawn
//! by their weights, and a trajectory ends where its whole momentum turns against one of its ends, also across the seam of
//! two halves (Betancourt 2017, arXiv 1701.02434, appendix A).

use crate::density::{Failure, LogDensity};
use crate::metric::Metric;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// A trajectory whose energy is off by more than this has left it.
const DIVERGED: f64 = 1000.0;

/// A position with what the density says there.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where.
    pub position: Vec<f64>,
    /// The log-density.
    pub log_density: f64,
    /// Its gradient.
    pub gradient: Vec<f64>,
}

impl Place {
    /// Asks the density.
    pub fn at(density: &mut dyn LogDensity, position: Vec<f64>) -> Result<Place, Failure> {
        let mut gradient = vec![0.0; position.len()];
        let log_density = density.at(&position, &mut gradient)?;
        Ok(Place { position, log_density, gradient })
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.log_density.is_finite() && self.gradient.iter().all(|slope| slope.is_finite())
    }
}

/// How trajectories run.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// What positions move by.
    pub metric: &'a Metric,
    /// The length of a step.
    pub step: f64,
    /// Most doublings of a trajectory.
    pub deepest: usize,
}

/// What came of a transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// The next place.
    pub place: Place,
    /// The energy of its trajectory there.
    pub energy: f64,
    /// Doublings.
    pub depth: usize,
    /// Steps, that is gradients.
    pub steps: usize,
    /// Mean probability of acceptance along the trajectory.
    pub accepted: f64,
    /// Where the trajectory left its energy, or the density had no value.
    pub diverged_at: Option<Vec<f64>>,
}

/// A place with a momentum.
#[derive(Clone)]
struct Moving {
    place: Place,
    momentum: Vec<f64>,
}

impl Moving {
    fn energy(&self) -> f64 {
        self.momentum.iter().map(|p| p * p).sum::<f64>() / 2.0 - self.place.log_density
    }
}

/// A trajectory of some doublings, in the order of time.
struct Tree {
    /// The momenta at both ends.
    first: Vec<f64>,
    last: Vec<f64>,
    /// The sum of all momenta.
    sum: Vec<f64>,
    /// A state drawn by its weight, and its energy.
    proposal: (Place, f64),
    /// The logarithm of all weights together.
    weight: f64,
}

/// One transition from a place, with its own random numbers.
pub fn transition(
    density: &mut dyn LogDensity,
    from: &Place,
    rules: Rules<'_>,
    random: &mut impl Rng,
) -> Result<Transition, Failure> {
    let momentum: Vec<f64> = from.position.iter().map(|_| random.sample(StandardNormal)).collect();
    let start = Moving { place: from.clone(), momentum };
    let energy = start.energy();
    let mut walk = Walk { density, rules, random, energy, steps: 0, accepted: 0.0, diverged_at: None };
    let (mut backward, mut forward) = (start.clone(), start.clone());
    let mut tree = Tree {
        first: start.momentum.clone(),
        last: start.momentum.clone(),
        sum: start.momentum,
        proposal: (start.place, energy),
        weight: 0.0,
    };
    let mut depth = 0;
    while depth < rules.deepest {
        let onward = walk.random.random_bool(0.5);
        let end = if onward { &mut forward } else { &mut backward };
        let Some(grown) = walk.grow(end, depth, if onward { 1.0 } else { -1.0 })? else { break };
        depth += 1;
        // The later half is preferred, which moves farther and leaves the density alone.
        let takes =
            grown.weight >= tree.weight || walk.random.random::<f64>() < (grown.weight - tree.weight).exp();
        let proposal = if takes { grown.proposal.clone() } else { tree.proposal.clone() };
        let (earlier, later) = if onward { (&tree, &grown) } else { (&grown, &tree) };
        let turned = turns(earlier, later);
        tree = joined(earlier, later, proposal);
        if turned {
            break;
        }
    }
    let (place, energy) = tree.proposal;
    let accepted = walk.accepted / walk.steps.max(1) as f64;
    Ok(Transition { place, energy, depth, steps: walk.steps, accepted, diverged_at: walk.diverged_at })
}

/// A trajectory under way.
struct Walk<'a, R> {
    density: &'a mut dyn LogDensity,
    rules: Rules<'a>,
    random: &'a mut R,
    /// The energy of the start.
    energy: f64,
    steps: usize,
    /// The sum of probabilities of acceptance.
    accepted: f64,
    diverged_at: Option<Vec<f64>>,
}

impl<R: Rng> Walk<'_, R> {
    /// Twice to the `depth` steps on from an end of the trajectory, which moves; none if they diverge or turn.
    fn grow(&mut self, end: &mut Moving, depth: usize, direction: f64) -> Result<Option<Tree>, Failure> {
        if depth == 0 {
            return self.step(end, direction);
        }
        let Some(first) = self.grow(end, depth - 1, direction)? else { return Ok(None) };
        let Some(second) = self.grow(end, depth - 1, direction)? else { return Ok(None) };
        let share = second.weight - log_sum(first.weight, second.weight);
        let takes = self.random.random::<f64>() < share.exp();
        let proposal = if takes { second.proposal.clone() } else { first.proposal.clone() };
        let (earlier, later) = if direction > 0.0 { (&first, &second) } else { (&second, &first) };
        Ok((!turns(earlier, later)).then(|| joined(earlier, later, proposal)))
    }

    /// One leapfrog.
    fn step(&mut self, end: &mut Moving, direction: f64) -> Result<Option<Tree>, Failure> {
        let Rules { metric, step, .. } = self.rules;
        let step = direction * step;
        self.steps += 1;
        metric.kick(&mut end.momentum, step / 2.0, &end.place.gradient);
        let mut position = end.place.position.clone();
        metric.advance(&mut position, step, &end.momentum);
        end.place = match Place::at(self.density, position.clone()) {
            Ok(place) if place.is_finite() => place,
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            _ => {
                self.diverged_at = Some(position);
                return Ok(None);
            }
        };
        metric.kick(&mut end.momentum, step / 2.0, &end.place.gradient);
        let energy = end.energy();
        let weight = self.energy - energy;
        self.accepted += weight.exp().min(1.0);
        // NaN diverges too.
        if weight.is_nan() || weight < -DIVERGED {
            self.diverged_at = Some(position);
            return Ok(None);
        }
        let momentum = end.momentum.clone();
        let proposal = (end.place.clone(), energy);
        Ok(Some(Tree { first: momentum.clone(), last: momentum.clone(), sum: momentum, proposal, weight }))
    }
}

/// Whether two trajectories, one after the other, turn as one, or across the seam between them.
fn turns(earlier: &Tree, later: &Tree) -> bool {
    let straight = |start: &[f64], end: &[f64], sum: [&[f64]; 2]| {
        let along = |p: &[f64]| p.iter().zip(sum[0]).zip(sum[1]).map(|((p, a), b)| p * (a + b)).sum::<f64>();
        along(start) > 0.0 && along(end) > 0.0
    };
    !(straight(&earlier.first, &later.last, [&earlier.sum, &later.sum])
        && straight(&earlier.first, &later.first, [&earlier.sum, &later.first])
        && straight(&earlier.last, &later.last, [&later.sum, &earlier.last]))
}

fn joined(earlier: &Tree, later: &Tree, proposal: (Place, f64)) -> Tree {
    Tree {
        first: earlier.first.clone(),
        last: later.last.clone(),
        sum: earlier.sum.iter().zip(&later.sum).map(|(a, b)| a + b).collect(),
        proposal,
        weight: log_sum(earlier.weight, later.weight),
    }
}

/// log(exp(a) + exp(b))
fn log_sum(a: f64, b: f64) -> f64 {
    let (more, less) = if a > b { (a, b) } else { (b, a) };
    if less == f64::NEG_INFINITY { more } else { more + (less - more).exp().ln_1p() }
}
