//! The coordinates in which numbers are sampled: each number in one that has no ends.

use bilo_problem::Unknown;

/// The values that a number may have, and with that its coordinate z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// All: θ = z.
    Whole,
    /// θ = end + exp(z).
    Above(f64),
    /// θ = end - exp(z).
    Below(f64),
    /// θ = first + (last - first)/(1 + exp(-z)).
    Between(f64, f64),
}

/// Nothing is nearer to an end than this part of the range, or of the number's size.
const NEAR: f64 = 1e-6;

impl Range {
    /// Where the prior of an unknown and its bounds leave room.
    pub fn of(unknown: &Unknown) -> Range {
        let none = (f64::NEG_INFINITY, f64::INFINITY);
        let prior = unknown.prior.map_or(none, |prior| prior.support());
        let bounds = unknown.bounds.unwrap_or(none);
        let least = if unknown.transform == bilo_problem::Transform::Log { 0.0 } else { f64::NEG_INFINITY };
        let (lo, hi) = (prior.0.max(bounds.0).max(least), prior.1.min(bounds.1));
        match (lo.is_finite(), hi.is_finite()) {
            (false, false) => Range::Whole,
            (true, false) => Range::Above(lo),
            (false, true) => Range::Below(hi),
            (true, true) => Range::Between(lo, hi),
        }
    }

    /// The number at a coordinate.
    pub fn theta(self, z: f64) -> f64 {
        match self {
            Range::Whole => z,
            Range::Above(end) => end + z.exp(),
            Range::Below(end) => end - z.exp(),
            Range::Between(lo, hi) => lo + (hi - lo) * logistic(z),
        }
    }

    /// dθ/dz.
    pub fn slope(self, z: f64) -> f64 {
        match self {
            Range::Whole => 1.0,
            Range::Above(_) => z.exp(),
            Range::Below(_) => -z.exp(),
            Range::Between(lo, hi) => (hi - lo) * logistic(z) * logistic(-z),
        }
    }

    /// log |dθ/dz| with its derivative: what turns a density of θ into one of z.
    pub fn log_jacobian(self, z: f64) -> (f64, f64) {
        match self {
            Range::Whole => (0.0, 0.0),
            Range::Above(_) | Range::Below(_) => (z, 1.0),
            Range::Between(lo, hi) => {
                let log_logistic = |z: f64| -softplus(-z);
                ((hi - lo).ln() + log_logistic(z) + log_logistic(-z), logistic(-z) - logistic(z))
            }
        }
    }

    /// The coordinate of a number; of one at an end or beyond, that of a number just within.
    pub fn z_of(self, theta: f64) -> f64 {
        let least = |end: f64| NEAR * end.abs().max(theta.abs()).max(f64::MIN_POSITIVE / NEAR);
        match self {
            Range::Whole => theta,
            Range::Above(end) => (theta - end).max(least(end)).ln(),
            Range::Below(end) => (end - theta).max(least(end)).ln(),
            Range::Between(lo, hi) => {
                let part = ((theta - lo) / (hi - lo)).clamp(NEAR, 1.0 - NEAR);
                (part / (1.0 - part)).ln()
            }
        }
    }

    /// Whether a number lies in it.
    pub fn holds(self, theta: f64) -> bool {
        match self {
            Range::Whole => theta.is_finite(),
            Range::Above(end) => theta > end && theta.is_finite(),
            Range::Below(end) => theta < end && theta.is_finite(),
            Range::Between(lo, hi) => lo < theta && theta < hi,
        }
    }

    /// Whether a density that is the same everywhere in it has no integral.
    pub fn is_endless(self) -> bool {
        !matches!(self, Range::Between(..))
    }
}

fn logistic(z: f64) -> f64 {
    (1.0 + (-z).exp()).recip()
}

/// log(1 + exp(z)).
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_problem::Prior;

    const ALL: [Range; 4] = [Range::Whole, Range::Above(-1.0), Range::Below(3.0), Range::Between(-2.0, 5.0)];

    #[test]
    fn slopes_are_derivatives_and_coordinates_invert() {
        for range in ALL {
            for z in [-3.0, -0.4, 0.0, 1.7] {
                let h = 1e-5;
                let slope = (range.theta(z + h) - range.theta(z - h)) / (2.0 * h);
                assert!((range.slope(z) - slope).abs() < 1e-8, "{range:?} {z}");
                let (value, by_z) = range.log_jacobian(z);
                assert!((value - range.slope(z).abs().ln()).abs() < 1e-12, "{range:?} {z}");
                let ends = [range.log_jacobian(z + h).0, range.log_jacobian(z - h).0];
                assert!((by_z - (ends[0] - ends[1]) / (2.0 * h)).abs() < 1e-8, "{range:?} {z}");
                assert!((range.z_of(range.theta(z)) - z).abs() < 1e-9, "{range:?} {z}");
            }
        }
    }

    #[test]
    fn a_range_is_where_prior_and_bounds_leave_room() {
        let unknown = Unknown::new("k", 1.0);
        assert_eq!(Range::of(&unknown), Range::Whole);
        assert_eq!(Range::of(&unknown.clone().log()), Range::Above(0.0));
        let gamma = unknown.prior(Prior::Gamma(2.0, 1.0));
        assert_eq!(Range::of(&gamma), Range::Above(0.0));
        assert_eq!(Range::of(&gamma.bounds(-1.0, 4.0)), Range::Between(0.0, 4.0));
    }

    #[test]
    fn numbers_at_an_end_have_a_coordinate() {
        for (range, end) in
            [(ALL[1], -1.0), (ALL[2], 3.0), (ALL[3], -2.0), (ALL[3], 5.0), (Range::Above(0.0), 0.0)]
        {
            assert!(range.z_of(end).is_finite(), "{range:?}");
        }
    }
}
