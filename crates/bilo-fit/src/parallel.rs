//! Independent work on several threads, with results in its order: the same bits for any number of threads.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The threads to work on: as many as are asked for, else one for each core.
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get)).max(1)
}

/// What is made of each of some things, in their order.
pub fn each<'i, T: Sync, R: Send>(
    threads: usize,
    items: &'i [T],
    make: impl Fn(&'i T) -> R + Sync,
) -> Vec<R> {
    if items.len() < 2 || threads < 2 {
        return items.iter().map(make).collect();
    }
    let (next, made) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return };
            let result = make(item);
            made.lock().expect("no thread panics").push((number, result));
        }
    };
    thread::scope(|scope| (0..threads.min(items.len())).for_each(|_| drop(scope.spawn(work))));
    let mut made = made.into_inner().expect("no thread panics");
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn results_are_in_order_on_any_number_of_threads() {
        let items: Vec<usize> = (0..100).collect();
        for threads in [1, 2, 7, 200] {
            let squares = each(threads, &items, |&n| n * n);
            assert!(squares.iter().enumerate().all(|(n, &square)| square == n * n), "{threads}");
        }
        assert!(each(2, &[] as &[usize], |&n| n).is_empty());
    }
}
