//! Threads that share out work: the one that asks, and its helpers. Whoever is free takes the next piece, so that
//! none waits long for the others at the end; and since the asking thread works as well, a single thread has nobody to wait for.

use bilo_linear::clear_upper_halves;
use std::sync::Mutex;

/// The helpers.
pub(super) struct Crew {
    helpers: Option<rayon::ThreadPool>,
}

impl Crew {
    /// So many threads, or one for each core.
    pub(super) fn new(threads: Option<usize>) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let helpers = threads.filter(|&threads| threads > 0).unwrap_or_else(cores) - 1;
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(helpers).build();
        Self { helpers: (helpers > 0).then(|| pool().expect("the system can start threads")) }
    }

    /// Does something with every item.
    pub(super) fn each<I>(&self, items: I, work: impl Fn(I::Item) + Sync)
    where
        I: Iterator<Item: Send> + Send,
    {
        self.each_with(items, || (), |(), item| work(item));
    }

    /// Does something for each, with what each thread makes for itself first.
    pub(super) fn each_with<I, S>(
        &self,
        items: I,
        make: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, I::Item) + Sync,
    ) where
        I: Iterator<Item: Send> + Send,
    {
        let queue = Mutex::new(items);
        let next = || queue.lock().expect("no holder panicked").next();
        let take = || {
            let Some(mut item) = next() else { return };
            clear_upper_halves();
            let mut own = make();
            loop {
                work(&mut own, item);
                let Some(following) = next() else { return };
                item = following;
            }
        };
        match &self.helpers {
            None => take(),
            Some(pool) => pool.in_place_scope(|scope| {
                (0..pool.current_num_threads()).for_each(|_| scope.spawn(|_| take()));
                take();
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_item_is_taken_once() {
        for threads in [1, 2, 5] {
            let crew = Crew::new(Some(threads));
            for count in [0, 1, 3, 100] {
                let (mut seen, made) = (vec![0; count], AtomicUsize::new(0));
                let make = || made.fetch_add(1, Ordering::Relaxed);
                crew.each_with(seen.iter_mut().enumerate(), make, |_, (number, item)| *item += number);
                assert_eq!(seen, (0..count).collect::<Vec<_>>());
                assert!(made.into_inner() <= threads.min(count));
            }
        }
    }
}
