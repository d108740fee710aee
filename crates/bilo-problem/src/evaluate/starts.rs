//! Where searches for the unknown numbers may start beside the guess.

use crate::model::{Problem, Transform, Unknown};

/// Without bounds, starts are up to this factor from the guess ..
const FACTOR: f64 = 30.0;

/// .. or, for numbers that may change their sign, up to so many times its size.
const SIZES: f64 = 4.0;

/// Bounds whose ratio is larger than this are filled evenly in the logarithm.
const WIDE: f64 = 30.0;

impl Problem {
    /// So many values of the unknown numbers, spread evenly over their bounds, or around the guess where they have none: the
    /// points of Sobol's sequence after the first.
    pub fn starts(&self, count: usize) -> Vec<Vec<f64>> {
        let dimensions = sobol_burley::NUM_DIMENSIONS;
        let share = |start: usize, unknown: usize| {
            f64::from(sobol_burley::sample(start as u32, unknown as u32 % dimensions, 0))
        };
        let start = |start: usize| {
            let unknowns = self.unknowns.iter().enumerate();
            unknowns.map(|(number, unknown)| unknown.start(start, share(start, number))).collect()
        };
        (0..count).map(start).collect()
    }
}

impl Unknown {
    /// The value of a share of its range; every other start of a number that may change its sign lies on a line.
    fn start(&self, number: usize, share: f64) -> f64 {
        let geometric = |lo: f64, hi: f64| lo * (hi / lo).powf(share);
        let size = if self.guess == 0.0 { self.scale } else { self.guess.abs() };
        match self.bounds {
            Some((lo, hi)) if lo.is_finite() && hi.is_finite() => match lo > 0.0 && hi > WIDE * lo {
                true => geometric(lo, hi),
                false => lo + share * (hi - lo),
            },
            bounds => {
                let free = self.transform == Transform::Identity && !self.is_positive();
                let value = match free && (number % 2 == 1 || self.guess == 0.0) {
                    true => self.guess + SIZES * size * (2.0 * share - 1.0),
                    false => self.guess.signum() * geometric(size / FACTOR, size * FACTOR),
                };
                let (lo, hi) = bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                value.clamp(lo, hi)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_fill_bounds_and_surround_guesses() {
        let bounded = Unknown::new("a", 1.0).bounds(-2.0, 6.0);
        let wide = Unknown::new("b", 1.0).bounds(1e-3, 1e3);
        assert_eq!((bounded.start(0, 0.25), wide.start(0, 0.5)), (0.0, 1.0));
        let (free, positive) = (Unknown::new("c", -2.0), Unknown::new("d", 2.0).log());
        assert_eq!((free.start(1, 0.0), free.start(1, 1.0)), (-10.0, 6.0));
        assert!((free.start(0, 0.5) + 2.0).abs() < 1e-12);
        for number in 0..2 {
            assert!((positive.start(number, 1.0) - 60.0).abs() < 1e-9);
        }
        assert_eq!(Unknown::new("e", 0.0).start(0, 1.0), 4.0);
    }
}
