//! Round numbers along an axis.

/// Multiples of 1, 2 or 5 times a power of ten within a range, about as many as wanted; none if the range is empty.
pub(crate) fn ticks(lo: f64, hi: f64, wanted: usize) -> Vec<f64> {
    let width = hi - lo;
    if !(width > 0.0 && width.is_finite()) {
        return vec![];
    }
    let rough = width / wanted as f64;
    let power = 10.0_f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let step = factors.into_iter().map(|factor| factor * power).find(|&step| step >= 0.99 * rough);
    let step = step.unwrap_or(10.0 * power);
    // A tick at an end must not be lost to rounding.
    let slack = 1e-9 * width / step;
    let (first, last) = ((lo / step - slack).ceil(), (hi / step + slack).floor());
    let count = (last - first + 1.0).max(0.0) as usize;
    (0..count).map(|i| (first + i as f64) * step).collect()
}

/// Powers of ten within a range, no more than wanted.
pub(crate) fn powers(lo: f64, hi: f64, wanted: usize) -> Vec<f64> {
    let (first, last) = ((lo.log10() - 1e-9).ceil() as i32, (hi.log10() + 1e-9).floor() as i32);
    let each = (f64::from(last - first + 1) / wanted as f64).ceil().max(1.0) as usize;
    (first..=last).step_by(each).map(|power| 10.0_f64.powi(power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_ends() {
        let close = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            let pairs = found.iter().zip(expected);
            pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-12 * b.abs().max(1e-3), "{found:?}"));
        };
        close(ticks(0.0, 1.0, 5), &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        close(ticks(-0.31, 0.29, 5), &[-0.2, 0.0, 0.2]);
        close(ticks(0.0, 0.3, 3), &[0.0, 0.1, 0.2, 0.3]);
        close(ticks(1.0e5, 1.00004e5, 4), &[100_000.0, 100_001.0, 100_002.0, 100_003.0, 100_004.0]);
        close(ticks(0.11, 0.19, 1), &[]);
        close(ticks(3e-7, 9e-7, 3), &[4e-7, 6e-7, 8e-7]);
    }

    #[test]
    fn powers_of_ten_are_thinned() {
        assert_eq!(powers(0.1, 100.0, 5), [0.1, 1.0, 10.0, 100.0]);
        assert_eq!(powers(1e-12, 1.0, 3).len(), 3);
        assert_eq!(powers(2.0, 9.0, 3), [0.0; 0]);
    }

    #[test]
    fn an_empty_range_has_none() {
        for (lo, hi) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(ticks(lo, hi, 5).is_empty());
        }
    }
}
