//! Methods that solve an inverse problem, one file each.
//!
//! A [`Method`] gets a run and returns an [`Estimate`]; what that is worth is found out in one place for all of them,
//! [`bilo_assess::assess()`]. To add one, write a file with a type that implements [`Method`] and put it into [`METHODS`].

mod adjoint;
mod automatic;
mod bilo;
mod bpn;
#[cfg(feature = "learn")]
mod learned;
mod pinn;
mod starts;
mod trained;
mod weights;

pub use adjoint::Adjoint;
pub use automatic::Automatic;
pub use bilo::Bilo;
pub(crate) use bilo::DictionarySource;
pub use bpn::Bpn;
#[cfg(feature = "learn")]
pub use learned::{DeepOnet, Fno};
pub use pinn::Pinn;

use bilo_assess::outcome::{Outcome, ProfileOutcome};
use bilo_assess::profile::profile;
use bilo_assess::{Estimate, RunContext};
use bilo_fit::checkpoint::Checkpoint;
use bilo_fit::joint_likelihood::JointLikelihood;
use bilo_fit::monitor::{Interrupt, Monitor};
use bilo_fit::observer::Observer;
use bilo_operator::hardware::Hardware;
use bilo_problem::Problem;
use bilo_problem::diagnostic::{ErrorKind, Result};
use bilo_reference::data::interruptible_tables;
use bilo_reference::solver::ReferenceSolver;
use std::fmt;
use std::sync::Arc;

/// A way to solve an inverse problem.
pub trait Method: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What it does, in a few words.
    fn about(&self) -> &'static str;

    /// Searches for the unknowns.
    fn solve<'a>(&self, run: &RunContext<'a>, monitor: &mut Monitor<'_>) -> Result<Estimate<'a>>;

    /// Whether it begins again elsewhere, where the data are not fitted and nothing is said of starts. A rival is compared
    /// by what it does from the guess.
    fn begins_again(&self) -> bool {
        false
    }

    /// Looks again at what came of it; as a rule there is nothing to add.
    fn reconsider(
        &self,
        _run: &RunContext<'_>,
        outcome: Outcome,
        _monitor: &mut Monitor<'_>,
    ) -> Result<Outcome> {
        Ok(outcome)
    }
}

/// All methods.
pub const METHODS: &[&dyn Method] = &[
    &Automatic,
    &Bilo,
    &Adjoint,
    &Pinn,
    &Bpn,
    #[cfg(feature = "learn")]
    &DeepOnet,
    #[cfg(feature = "learn")]
    &Fno,
];

/// The names of all methods.
pub fn names() -> Vec<&'static str> {
    METHODS.iter().map(|method| method.name()).collect()
}

/// The method of a name; otherwise a sentence with all names.
pub fn named(name: &str) -> std::result::Result<&'static dyn Method, String> {
    let found = METHODS.iter().copied().find(|method| method.name() == name);
    found.ok_or_else(|| format!("there is no method `{name}`; the methods are: {}", names().join(", ")))
}

impl fmt::Debug for dyn Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Two methods are the same if their names are.
impl PartialEq for dyn Method {
    fn eq(&self, other: &dyn Method) -> bool {
        self.name() == other.name()
    }
}

/// What a run needs beside the problem.
#[derive(Clone, Debug)]
pub struct Job {
    /// Fixes every random number.
    pub seed: u64,
    /// Threads; all cores if none is given. The result does not depend on it.
    pub threads: Option<usize>,
    /// The method.
    pub method: &'static dyn Method,
    /// What trains networks.
    pub hardware: Hardware,
    /// Where an earlier run of the same problem, method and seed came to.
    pub from: Option<Arc<Checkpoint>>,
    /// Ends the run when it is asked to.
    pub interrupt: Interrupt,
}

/// The automatic choice on the CPU with seed 0.
impl Default for Job {
    fn default() -> Self {
        let (hardware, interrupt) = (Hardware::default(), Interrupt::default());
        Job { seed: 0, threads: None, method: &Automatic, hardware, from: None, interrupt }
    }
}

/// Solves an inverse problem.
pub fn run(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    job.hardware.require()?;
    let earlier = job.from.as_ref().map_or(0.0, |from| from.seconds);
    let mut monitor = Monitor::new(problem, &job.interrupt, earlier, observer);
    let interrupt = monitor.interrupt().clone();
    let mut outcome = match solved(problem, job, &interrupt, &mut monitor) {
        Err(error) if error.kind() == ErrorKind::Interrupted => interrupted(problem, job, &monitor),
        outcome => outcome?,
    };
    outcome.seconds.total = monitor.seconds();
    Ok(outcome)
}

fn solved(problem: &Problem, job: &Job, interrupt: &Interrupt, monitor: &mut Monitor<'_>) -> Result<Outcome> {
    in_context(problem, job, interrupt, |run| {
        let outcome = weights::chosen(run, job.method, monitor)?;
        let outcome = job.method.reconsider(run, outcome, monitor)?;
        starts::from_elsewhere(run, job, outcome, monitor)
    })
}

/// Makes the data and the reference solver ready for something.
pub(crate) fn in_context<T>(
    problem: &Problem,
    job: &Job,
    interrupt: &Interrupt,
    act: impl FnOnce(&RunContext<'_>) -> Result<T>,
) -> Result<T> {
    let tables = interruptible_tables(problem, job.seed, interrupt)?;
    let joint = JointLikelihood::new(problem, &tables);
    joint.require_enough(problem, &tables)?;
    let problem = &weights::of_fields(problem, joint.count());
    act(&RunContext {
        problem,
        tables: &tables,
        reference: &ReferenceSolver::new(problem)
            .map(|reference| reference.interruptible(interrupt).on_threads(job.threads)),
        method: job.method.name(),
        seed: job.seed,
        threads: job.threads,
        hardware: job.hardware,
        from: job.from.as_deref(),
        near: None,
        interrupt,
    })
}

/// The profile likelihoods of some unknown numbers around the best fit of an outcome, with the data of the same seed.
pub fn profiles(
    problem: &Problem,
    job: &Job,
    outcome: &Outcome,
    numbers: &[usize],
) -> Result<Vec<ProfileOutcome>> {
    in_context(problem, job, &job.interrupt, |run| {
        numbers.iter().map(|&number| profile(run, outcome, number)).collect()
    })
}

/// A run that was stopped before it had a solution.
fn interrupted(problem: &Problem, job: &Job, monitor: &Monitor<'_>) -> Outcome {
    let mut outcome = Outcome::interrupted(problem, job.method.name(), job.seed);
    outcome.stop = monitor.why().unwrap_or(outcome.stop);
    outcome.set_estimates(monitor.last_unknowns());
    outcome.judge();
    outcome
}
