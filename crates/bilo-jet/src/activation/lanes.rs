//! A few numbers side by side: loops over them become vector instructions, and what is computed from
//! them stays in registers.

use bilo_linear::Scalar;
use std::ops::{Add, AddAssign, Mul};

/// Numbers of one [`Lanes`]: a 512-bit vector in single precision.
pub(super) const LANES: usize = 16;

/// Numbers that are treated alike.
#[derive(Clone, Copy)]
pub(super) struct Lanes<T>([T; LANES]);

impl<T: Scalar> Lanes<T> {
    pub(super) const ZERO: Self = Self([T::ZERO; LANES]);

    /// The numbers at a place.
    #[inline(always)]
    pub(super) fn load(from: &[T], at: usize) -> Self {
        let mut lanes = [T::ZERO; LANES];
        lanes.copy_from_slice(&from[at..at + LANES]);
        Self(lanes)
    }

    /// Writes the numbers at a place, or adds them to what is there.
    #[inline(always)]
    pub(super) fn store(self, to: &mut [T], at: usize, add: bool) {
        let sum = if add { Self::load(to, at) + self } else { self };
        to[at..at + LANES].copy_from_slice(&sum.0);
    }

    #[inline(always)]
    pub(super) fn times(self, factor: T) -> Self {
        let mut result = self.0;
        for lane in &mut result {
            *lane *= factor;
        }
        Self(result)
    }

    #[inline(always)]
    pub(super) fn plus(self, summand: T) -> Self {
        let mut result = self.0;
        for lane in &mut result {
            *lane += summand;
        }
        Self(result)
    }

    #[inline(always)]
    pub(super) fn sum(self) -> T {
        self.0.iter().fold(T::ZERO, |sum, &lane| sum + lane)
    }
}

impl<T: Scalar> Add for Lanes<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let mut result = self.0;
        for (lane, &other) in result.iter_mut().zip(&other.0) {
            *lane += other;
        }
        Self(result)
    }
}

impl<T: Scalar> AddAssign for Lanes<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<T: Scalar> Mul for Lanes<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let mut result = self.0;
        for (lane, &other) in result.iter_mut().zip(&other.0) {
            *lane *= other;
        }
        Self(result)
    }
}
