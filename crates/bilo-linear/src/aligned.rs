//! Numbers that begin where a cache line begins. Rows of a tile are whole lines as a rule, and a vector that
//! lies across two lines costs two accesses: products lose up to a tenth of their speed that way.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the longest vector.
const LINE: usize = 64;

/// A slice of numbers, aligned.
#[derive(Debug)]
pub struct Aligned<T> {
    /// Longer by a line, of which `start` numbers are left out.
    numbers: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// So many zeros.
    pub fn zeros(length: usize) -> Self {
        if length == 0 {
            return Self { numbers: vec![], start: 0, length };
        }
        let numbers = vec![T::default(); length + LINE / size_of::<T>()];
        Self { start: line_start(&numbers), numbers, length }
    }

    /// As many numbers as this: those that are there, or zeros if it was another number.
    pub fn resize(&mut self, length: usize) {
        if self.length != length {
            *self = Self::zeros(length);
        }
    }
}

/// The first place at which a line begins.
fn line_start<T>(numbers: &[T]) -> usize {
    numbers.as_ptr().align_offset(LINE).min(numbers.len().min(LINE / size_of::<T>()))
}

impl<T: Copy + Default> FromIterator<T> for Aligned<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let values: Vec<T> = values.into_iter().collect();
        let mut aligned = Self::zeros(values.len());
        aligned.copy_from_slice(&values);
        aligned
    }
}

// Not derived: a copy begins elsewhere.
impl<T: Clone> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let mut numbers = self.numbers.clone();
        let start = line_start(&numbers);
        numbers[start..start + self.length].clone_from_slice(self);
        Self { numbers, start, length: self.length }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.numbers[self.start..self.start + self.length]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.numbers[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_copies_begin_at_lines() {
        for length in [0, 1, 5, 16, 1000] {
            let numbers: Aligned<f32> = (0..length).map(|i| i as f32).collect();
            for copy in [numbers.clone(), numbers.clone()] {
                assert_eq!(*copy, *numbers);
                assert!(length == 0 || copy.as_ptr().addr().is_multiple_of(LINE));
            }
        }
    }
}
