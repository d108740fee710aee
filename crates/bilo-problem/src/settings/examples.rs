//! `[examples]`: what neural operators learn from.

use crate::schema::kind::Kind::Count;
use crate::settings::table::settings;

/// More examples than this are a slip.
pub(crate) const MOST_EXAMPLES: usize = 1_000_000;

settings! {
    /// A set of values of the unknowns for which the PDE is solved.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Examples {
        "count" count: Option<usize> = None, shown "all combinations of the numbers' values";
            Count(2, Some(MOST_EXAMPLES)), "examples drawn at random; required with functions";
        "seed" seed: u64 = 0;
            Count(0, None), "of what is drawn; not that of the run";
    }
    with
        /// Nodes along each coordinate where solutions are learned.
        grid: Vec<usize> = |_| vec![];
        /// Values of each scalar.
        scalars: Vec<Span> = |_| vec![];
        /// The random field around the guess of each function.
        functions: Vec<FieldAround> = |_| vec![];
}

/// Equidistant numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The first.
    pub from: f64,
    /// None is beyond.
    pub to: f64,
    /// The distance between two.
    pub step: f64,
}

/// A Gaussian random field with covariance sd² exp(-r²/(2 length²)), added to the guess of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldAround {
    /// Standard deviation of each value.
    pub sd: f64,
    /// Distance over which values are correlated.
    pub length: f64,
}

impl Span {
    /// The numbers.
    pub fn values(&self) -> Vec<f64> {
        // A last value must not be lost to rounding.
        let count = ((self.to - self.from) / self.step + 1e-9).floor() as usize + 1;
        (0..count).map(|i| self.from + i as f64 * self.step).collect()
    }
}

impl Examples {
    /// How many there are.
    pub fn size(&self) -> usize {
        let sizes = self.scalars.iter().map(|span| span.values().len());
        self.count.unwrap_or_else(|| sizes.fold(1, usize::saturating_mul))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_reach_their_ends() {
        let span = Span { from: 0.8, to: 3.0, step: 0.05 };
        let values = span.values();
        assert_eq!(values.len(), 45);
        assert!((values[44] - 3.0).abs() < 1e-12);
        assert_eq!(Span { from: 1.0, to: 1.0, step: 2.0 }.values(), [1.0]);
    }
}
