//! Chains that draw from a posterior, side by side, and what keeps them.

use crate::density::{Posterior, Source, error};
use bilo_fit::monitor::Interrupt;
use bilo_fit::parallel;
use bilo_problem::SampleOptions;
use bilo_problem::diagnostic::{Error, Result};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_sample::{Chain, Draw, Failure, Tuning, dispersed};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Chains are stored at least as often as this while they draw.
const KEEP_EVERY: Duration = Duration::from_secs(1);

/// Starts are drawn this many times as far from the estimate as the posterior is wide by its Gauss-Newton approximation.
const DISPERSION: f64 = 2.0;

/// What is kept of a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
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
    /// Whether the trajectory diverged.
    pub diverged: bool,
}

impl From<Draw> for Kept {
    fn from(draw: Draw) -> Kept {
        Kept {
            diverged: draw.diverged_at.is_some(),
            position: draw.position,
            log_density: draw.log_density,
            energy: draw.energy,
            depth: draw.depth,
            steps: draw.steps,
            accepted: draw.accepted,
            step_length: draw.step_length,
        }
    }
}

/// Where chains are kept: what is there after a process was killed is gone on with to the same bits.
pub trait Storage: Sync {
    /// A chain as it was last kept, if it was.
    fn take_up(&self, chain: usize) -> Result<Option<Chain>>;

    /// Keeps a chain with the draws since it was last kept, those of tuning left out.
    fn keep(&self, chain: usize, state: &Chain, draws: &[Kept]) -> Result<()>;

    /// All draws of a chain.
    fn draws(&self, chain: usize) -> Result<Vec<Kept>>;
}

/// Keeps chains in memory.
#[derive(Default)]
pub struct InMemory {
    chains: Mutex<Vec<(Option<Chain>, Vec<Kept>)>>,
}

impl InMemory {
    fn slot<T>(&self, chain: usize, act: impl FnOnce(&mut (Option<Chain>, Vec<Kept>)) -> T) -> T {
        let mut chains = self.chains.lock().expect("no thread panics");
        if chains.len() <= chain {
            chains.resize_with(chain + 1, Default::default);
        }
        act(&mut chains[chain])
    }
}

impl Storage for InMemory {
    fn take_up(&self, chain: usize) -> Result<Option<Chain>> {
        Ok(self.slot(chain, |(state, _)| state.clone()))
    }

    fn keep(&self, chain: usize, state: &Chain, draws: &[Kept]) -> Result<()> {
        self.slot(chain, |(kept, all)| {
            *kept = Some(state.clone());
            all.extend_from_slice(draws);
        });
        Ok(())
    }

    fn draws(&self, chain: usize) -> Result<Vec<Kept>> {
        Ok(self.slot(chain, |(_, draws)| draws.clone()))
    }
}

/// How chains are run.
pub struct Plan<'a> {
    /// The settings.
    pub settings: &'a SampleOptions,
    /// Fixes all random numbers.
    pub seed: u64,
    /// Threads; all cores if none is given.
    pub threads: Option<usize>,
    /// What ends them.
    pub interrupt: &'a Interrupt,
}

/// How far all chains have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Draws, those of tuning included.
    pub draws: usize,
    /// Gradients that these took.
    pub gradients: usize,
    /// Trajectories that diverged after tuning.
    pub divergences: usize,
}

impl Plan<'_> {
    /// Draws of a chain, those of tuning included.
    pub fn length(&self) -> usize {
        self.settings.tuning + self.settings.draws
    }

    /// Draws of all chains, those of tuning included.
    pub fn total(&self) -> usize {
        self.length() * self.settings.chains
    }

    /// Runs all chains to their ends, from starts about a centre, telling who watches how far they have come.
    pub fn run(
        &self,
        source: &dyn Source,
        centre: &[f64],
        storage: &dyn Storage,
        watch: &(dyn Fn(Progress) + Sync),
    ) -> Result<()> {
        let numbers: Vec<usize> = (0..self.settings.chains).collect();
        let progress = Mutex::new(Progress::default());
        let told = |more: Progress| {
            let mut all = progress.lock().expect("no thread panics");
            all.draws += more.draws;
            all.gradients += more.gradients;
            all.divergences += more.divergences;
            watch(*all);
        };
        let ended = parallel::each(parallel::threads(self.threads), &numbers, |&number| {
            self.one(number, source, centre, storage, &told)
        });
        ended.into_iter().collect()
    }

    /// Runs one chain.
    fn one(
        &self,
        number: usize,
        source: &dyn Source,
        centre: &[f64],
        storage: &dyn Storage,
        told: &dyn Fn(Progress),
    ) -> Result<()> {
        let kept = storage.take_up(number)?;
        if let Some(chain) = &kept {
            told(Progress { draws: chain.draws(), ..Progress::default() });
            if chain.draws() >= self.length() {
                return Ok(());
            }
        }
        source.with(&mut |density| {
            let mut chain = match &kept {
                Some(chain) => chain.clone(),
                None => self.begin(number, density, centre)?,
            };
            self.draw(number, &mut chain, density, storage, told)
        })
    }

    fn begin(&self, number: usize, density: &mut dyn Posterior, centre: &[f64]) -> Result<Chain> {
        let SampleOptions { tuning, acceptance, .. } = *self.settings;
        let seed = [seed_for(self.seed, Purpose::Sampling, 0), number as u64];
        let metric = density.metric(centre).map_err(error)?;
        let start = dispersed(density, centre, &metric, DISPERSION, seed).map_err(error)?;
        let tuning = Tuning { draws: tuning, acceptance, ..Tuning::default() };
        Ok(Chain::new(start, metric, tuning, seed))
    }

    /// Draws until the chain has its length, keeping it on the way.
    fn draw(
        &self,
        number: usize,
        chain: &mut Chain,
        density: &mut dyn Posterior,
        storage: &dyn Storage,
        told: &dyn Fn(Progress),
    ) -> Result<()> {
        let (mut since, mut fresh, mut last) = (vec![], Progress::default(), Instant::now());
        let ended = loop {
            if chain.draws() >= self.length() {
                break Ok(());
            }
            if self.interrupt.is_due() {
                break Err(Error::interrupted());
            }
            match chain.draw(density) {
                Ok(draw) => {
                    fresh.draws += 1;
                    fresh.gradients += draw.steps;
                    if !draw.tuning {
                        fresh.divergences += usize::from(draw.diverged_at.is_some());
                        since.push(Kept::from(draw));
                    }
                }
                Err(Failure::Interrupted) => break Err(Error::interrupted()),
                Err(failure) => break Err(error(failure)),
            }
            if last.elapsed() >= KEEP_EVERY {
                storage.keep(number, chain, &since)?;
                told(std::mem::take(&mut fresh));
                (since, last) = (vec![], Instant::now());
            }
        };
        storage.keep(number, chain, &since)?;
        told(fresh);
        ended
    }
}
