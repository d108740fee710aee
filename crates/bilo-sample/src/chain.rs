//! A chain: where it is, what it has learnt, and its next draw.

use crate::adaptation::{DualAveraging, Moments, Windows};
use crate::density::{Failure, LogDensity};
use crate::metric::Metric;
use crate::nuts::{Place, Rules, Transition, transition};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// How a chain is tuned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Draws until step length and metric are fixed; they belong to no density.
    pub draws: usize,
    /// The mean probability of acceptance that steps are chosen for.
    pub acceptance: f64,
    /// Most doublings of a trajectory.
    pub deepest: usize,
}

/// Those of Stan.
impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { draws: 1000, acceptance: 0.8, deepest: 10 }
    }
}

/// A chain between two draws: plain data, to be stored and taken up again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chain {
    tuning: Tuning,
    /// What fixes all random numbers.
    seed: [u64; 2],
    /// Draws so far, those of tuning included.
    draws: usize,
    position: Vec<f64>,
    metric: Metric,
    /// The metric before anything was learnt.
    first_metric: Metric,
    /// None before the first draw.
    steps: Option<DualAveraging>,
    moments: Moments,
    /// The density at the position, which whoever takes up a chain asks for again.
    #[serde(skip)]
    place: Option<Place>,
}

/// A draw and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// The position.
    pub position: Vec<f64>,
    /// The log-density there.
    pub log_density: f64,
    /// The energy of its trajectory.
    pub energy: f64,
    /// Doublings of the trajectory.
    pub depth: usize,
    /// Its steps, that is gradients.
    pub steps: usize,
    /// Mean probability of acceptance.
    pub accepted: f64,
    /// The length of a step.
    pub step_length: f64,
    /// Whether the chain was still being tuned.
    pub tuning: bool,
    /// Where the trajectory diverged, if it did.
    pub diverged_at: Option<Vec<f64>>,
}

impl Chain {
    /// Begins at a position, with a first metric. Chains of one run differ by the second number of their seeds.
    pub fn new(position: Vec<f64>, metric: Metric, tuning: Tuning, seed: [u64; 2]) -> Chain {
        Chain {
            tuning,
            seed,
            draws: 0,
            position,
            moments: Moments::like(&metric),
            first_metric: metric.clone(),
            metric,
            steps: None,
            place: None,
        }
    }

    /// Draws so far, those of tuning included.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Where it is.
    pub fn position(&self) -> &[f64] {
        &self.position
    }

    /// What positions move by.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// The next draw. After a failure the chain is where it was.
    pub fn draw(&mut self, density: &mut dyn LogDensity) -> Result<Draw, Failure> {
        let mut random = self.random();
        let place = match self.place.take() {
            Some(place) => place,
            None => Place::at(density, self.position.clone())?,
        };
        let tuned = self.draws >= self.tuning.draws;
        let steps = match &self.steps {
            Some(steps) => steps.clone(),
            None => self.first_steps(density, &place, 1.0, &mut random)?,
        };
        let step_length = if tuned { steps.averaged() } else { steps.step() };
        let rules = Rules { metric: &self.metric, step: step_length, deepest: self.tuning.deepest };
        let found = transition(density, &place, rules, &mut random)?;
        let draw = Draw {
            position: found.place.position.clone(),
            log_density: found.place.log_density,
            energy: found.energy,
            depth: found.depth,
            steps: found.steps,
            accepted: found.accepted,
            step_length,
            tuning: !tuned,
            diverged_at: found.diverged_at.clone(),
        };
        if tuned {
            self.steps = Some(steps);
        } else {
            self.learn(density, steps, &found, &mut random)?;
        }
        self.draws += 1;
        self.position.clone_from(&found.place.position);
        self.place = Some(found.place);
        Ok(draw)
    }

    /// The random numbers of the next draw, which depend on nothing that was drawn before.
    fn random(&self) -> Pcg64 {
        let mut mixed = self.seed[0];
        for word in [self.seed[1], self.draws as u64] {
            mixed = mix(mixed ^ mix(word));
        }
        Pcg64::seed_from_u64(mixed)
    }

    fn learn(
        &mut self,
        density: &mut dyn LogDensity,
        mut steps: DualAveraging,
        found: &Transition,
        random: &mut Pcg64,
    ) -> Result<(), Failure> {
        let windows = Windows::new(self.tuning.draws);
        steps.learn(found.accepted);
        let mut moments = self.moments.clone();
        let mut learnt = None;
        if windows.learns(self.draws) {
            moments.add(&found.place.position);
            if windows.ends_with(self.draws) {
                learnt = moments.metric(&self.first_metric);
                moments = Moments::like(&self.first_metric);
            }
        }
        if let Some(metric) = learnt {
            let former = std::mem::replace(&mut self.metric, metric);
            let again = self.first_steps(density, &found.place, steps.averaged(), random);
            if again.is_err() {
                self.metric = former;
            }
            steps = again?;
        }
        (self.steps, self.moments) = (Some(steps), moments);
        Ok(())
    }

    /// A step length of which about the wanted part is accepted: doubled or halved until that is passed.
    fn first_steps(
        &self,
        density: &mut dyn LogDensity,
        place: &Place,
        first: f64,
        random: &mut Pcg64,
    ) -> Result<DualAveraging, Failure> {
        const MOST: usize = 50;
        let mut step = first;
        let mut was_accepted = None;
        for _ in 0..MOST {
            let rules = Rules { metric: &self.metric, step, deepest: 1 };
            let accepted = transition(density, place, rules, random)?.accepted > self.tuning.acceptance;
            if *was_accepted.get_or_insert(accepted) != accepted {
                break;
            }
            step *= if accepted { 2.0 } else { 0.5 };
        }
        Ok(DualAveraging::new(step, self.tuning.acceptance))
    }
}

/// Where a chain may begin: drawn about a centre, by a metric and so many times as far, but where the density has a value.
/// What is drawn comes nearer to the centre until it has one; the failure at the centre if there is none anywhere.
pub fn dispersed(
    density: &mut dyn LogDensity,
    centre: &[f64],
    metric: &Metric,
    times: f64,
    seed: [u64; 2],
) -> Result<Vec<f64>, Failure> {
    const TRIALS: i32 = 20;
    let mut random = Pcg64::seed_from_u64(mix(seed[0] ^ mix(!seed[1])));
    for trial in 0..TRIALS {
        let normal: Vec<f64> = centre.iter().map(|_| StandardNormal.sample(&mut random)).collect();
        let mut position = centre.to_vec();
        metric.advance(&mut position, times * 0.8_f64.powi(trial), &normal);
        match Place::at(density, position.clone()) {
            Ok(place) if place.is_finite() => return Ok(position),
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            _ => {}
        }
    }
    Place::at(density, centre.to_vec()).map(|place| place.position)
}

/// The mixing function of SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
