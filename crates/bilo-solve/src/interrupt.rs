//! A request to stop that reaches into long loops.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A request to stop: whoever holds a clone may ask, and every long loop looks.
///
/// A loop ends when it is [due](Interrupt::is_due): at once when somebody asked, or when the time is up. What comes
/// after a search, to say what its result is worth, is granted a [grace](Interrupt::grant).
///
/// ```
/// use bilo_solve::Interrupt;
/// use std::time::Duration;
///
/// let signal = Interrupt::default();
/// let run = signal.for_run();
/// assert!(!run.is_due());
/// signal.ask();
/// assert!(run.is_due());
/// run.grant(Duration::from_secs(60));
/// assert!(!run.is_due(), "there is a minute left");
/// ```
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// When somebody asked this one to stop, then those that it listens to.
    asked: Vec<Arc<OnceLock<Instant>>>,
    limits: Arc<Limits>,
}

#[derive(Debug, Default)]
struct Limits {
    time: Mutex<Option<Time>>,
    grace_in_milliseconds: AtomicU64,
}

/// The time that a run has.
#[derive(Clone, Copy, Debug)]
struct Time {
    began: Instant,
    search: Duration,
    /// Whether the search is over and its checks have begun.
    checks: bool,
}

/// What comes after a search may take as long again, and so long at least.
const CHECKS: Duration = Duration::from_secs(10);

/// Nobody asked, and there is time.
impl Default for Interrupt {
    fn default() -> Self {
        Interrupt { asked: vec![Arc::default()], limits: Arc::default() }
    }
}

impl Interrupt {
    /// Listens to this one too, with requests and limits of its own.
    pub fn for_run(&self) -> Interrupt {
        let own = std::iter::once(Arc::default());
        Interrupt { asked: own.chain(self.asked.iter().cloned()).collect(), limits: Arc::default() }
    }

    /// Asks to stop.
    pub fn ask(&self) {
        if let Some(own) = self.asked.first() {
            own.get_or_init(Instant::now);
        }
    }

    /// Whether somebody asked to stop.
    pub fn is_asked(&self) -> bool {
        self.asked.iter().any(|asked| asked.get().is_some())
    }

    /// Ends loops after so long from now, if they have not ended before.
    pub fn end_after(&self, search: Duration) {
        *self.time() = Some(Time { began: Instant::now(), search, checks: false });
    }

    /// Lets loops go on for so long after the request, and after a limit of time for as long again, at least ten seconds.
    pub fn grant(&self, grace: Duration) {
        let milliseconds = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.limits.grace_in_milliseconds.store(milliseconds, Ordering::Relaxed);
        self.time().iter_mut().for_each(|time| time.checks = true);
    }

    fn time(&self) -> MutexGuard<'_, Option<Time>> {
        self.limits.time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a loop should end now.
    pub fn is_due(&self) -> bool {
        let grace = Duration::from_millis(self.limits.grace_in_milliseconds.load(Ordering::Relaxed));
        let mut requests = self.asked.iter().filter_map(|asked| asked.get());
        requests.any(|asked| asked.elapsed() >= grace) || self.is_over()
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        self.time().is_some_and(|Time { began, search, checks }| {
            let more = if checks { search.max(CHECKS) } else { Duration::ZERO };
            began.elapsed() >= search.saturating_add(more)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_of_one_run_and_a_request_of_all() {
        let signal = Interrupt::default();
        let (first, second) = (signal.for_run(), signal.for_run());
        first.end_after(Duration::ZERO);
        assert!(first.is_due() && first.is_over() && !first.is_asked());
        assert!(!second.is_due());
        second.ask();
        assert!(second.is_due() && !second.is_over() && !signal.is_asked(), "its own request");
        signal.ask();
        assert!(first.is_asked());
    }

    #[test]
    fn what_comes_after_a_search_has_as_long_again_and_ten_seconds_at_least() {
        let run = Interrupt::default();
        let begun_before = |seconds: u64, search: u64| {
            let began = Instant::now().checked_sub(Duration::from_secs(seconds)).expect("a clock that runs");
            let search = Duration::from_secs(search);
            *run.time() = Some(Time { began, search, checks: false });
        };
        for (search, least) in [(0, 10), (4, 14), (30, 60)] {
            begun_before(search, search);
            assert!(run.is_due());
            run.grant(Duration::ZERO);
            assert!(!run.is_due());
            begun_before(least, search);
            run.grant(Duration::ZERO);
            assert!(run.is_due());
        }
    }
}
