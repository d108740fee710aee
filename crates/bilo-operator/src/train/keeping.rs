//! What a run needs to go on later: written into a checkpoint, and taken up from one.

use super::{Ended, Optimisers, Trainer};
use crate::level::When;
use crate::state::OperatorState;
use bilo_fit::checkpoint::{Checkpoint, does_not_fit};
use bilo_fit::convergence::Convergence;
use bilo_fit::phase::Phase;
use bilo_fit::stop::Stop;
use bilo_problem::diagnostic::Result;

/// What was before this phase or before this run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past<'a> {
    /// Where an earlier run of the same came to.
    pub from: Option<&'a Checkpoint>,
    /// Why networks are trained where a dictionary was looked for first.
    pub why: Option<&'a str>,
    /// The networks of the guess, once they are trained, and how that ended.
    pub pretrained: Option<(&'a OperatorState, &'a Ended)>,
}

/// How far a phase is.
pub(super) struct Course {
    /// The last point whose losses were finite.
    pub(super) good: OperatorState,
    pub(super) settling: Convergence,
    pub(super) ended: Ended,
}

impl Trainer<'_, '_> {
    /// A phase at its beginning, or where an earlier run came to in it: then the point and the optimisers are those.
    pub(super) fn course(
        &mut self,
        phase: Phase,
        point: &mut OperatorState,
        optimisers: &mut Optimisers,
    ) -> Result<Course> {
        let mut course = Course { good: point.clone(), settling: self.settling(), ended: self.not_begun() };
        let Some(from) = self.past.from.filter(|from| from.phase == phase) else { return Ok(course) };
        copy(from, "", point)?;
        copy(from, "good.", &mut course.good)?;
        from.copy("losses", &mut course.ended.losses)?;
        course.ended.steps = from.step;
        course.ended.seconds = from.get("phase.seconds")?.iter().sum();
        let fits = [
            ("lower.0", optimisers.lower.restore(&from.state("lower"))),
            ("upper.0", optimisers.upper.restore(&from.state("upper"))),
            ("settling.0", course.settling.restore(&from.state("settling"))),
        ];
        if let Some((name, _)) = fits.iter().find(|(_, fits)| !fits) {
            return Err(does_not_fit(name));
        }
        let steps = self.earlier_steps(phase) + from.step;
        self.losses.renew(self.problem, self.device, When::UpTo(steps))?;
        Ok(course)
    }

    /// All that later steps depend on.
    pub(super) fn checkpoint(
        &self,
        phase: Phase,
        point: &OperatorState,
        optimisers: &Optimisers,
        course: &Course,
        phase_seconds: f64,
    ) -> Checkpoint {
        let why = self.past.why.map(str::to_owned);
        let (step, seconds) = (course.ended.steps, self.monitor.seconds());
        let mut kept = Checkpoint { phase, step, seconds, why, arrays: vec![] };
        put(&mut kept, "", point);
        put(&mut kept, "good.", &course.good);
        kept.put("losses", &course.ended.losses);
        kept.put("phase.seconds", &[phase_seconds]);
        kept.put_state("lower", optimisers.lower.state());
        kept.put_state("upper", optimisers.upper.state());
        kept.put_state("settling", course.settling.state());
        if let Some((guess, ended)) = self.past.pretrained {
            put(&mut kept, "guess.", guess);
            kept.put("pretrained", &[ended.steps as f64, ended.seconds]);
            kept.put("pretrained.losses", &ended.losses);
        }
        kept
    }
}

fn put(kept: &mut Checkpoint, before: &str, point: &OperatorState) {
    kept.put(&format!("{before}weights"), &point.weights);
    kept.put(&format!("{before}eta"), &point.eta);
}

fn copy(from: &Checkpoint, before: &str, point: &mut OperatorState) -> Result<()> {
    from.copy(&format!("{before}weights"), &mut point.weights)?;
    from.copy(&format!("{before}eta"), &mut point.eta)
}

/// How the pre-training of a checkpoint ended, and the point that it came to, over one of the same shape.
pub fn pretrained(from: &Checkpoint, point: &mut OperatorState) -> Result<Ended> {
    copy(from, "guess.", point)?;
    let &[steps, seconds] = from.get("pretrained")? else { return Err(does_not_fit("pretrained")) };
    let losses = from.get("pretrained.losses")?.to_vec();
    // Training follows only where all of its steps were taken.
    Ok(Ended { stop: Stop::Steps, diverged: None, steps: steps as usize, losses, seconds })
}
