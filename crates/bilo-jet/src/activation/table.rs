//! Tables of polynomials, evaluated block by block: right for every plan.

use super::{BLOCK, Coefficients, JetActivation, Jets, add_scaled, multiply};
use crate::polynomial::{Bank, Factor, Monomial, Polynomial};
use bilo_linear::{Job, Scalar};
use std::ops::Range;

/// A list of polynomials laid out for the inner loop: terms of equal slope stand together.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    polynomials: Vec<Vec<Group<T>>>,
    highest_order: usize,
    /// Slopes s_k c beyond s_0 .. s_highest.
    products: Vec<(usize, Factor)>,
}

/// slope * (sum of terms).
#[derive(Clone, Debug)]
struct Group<T> {
    /// Row of the slope: s_0 .. s_highest, then the table's products.
    slope: usize,
    terms: Vec<(T, Vec<Factor>)>,
}

impl<T: Scalar> Table<T> {
    pub(super) fn new(polynomials: &[Polynomial]) -> Self {
        let highest_order = polynomials.iter().flatten().map(|m| m.order).max().unwrap_or(0);
        let mut table = Self { polynomials: vec![], highest_order, products: vec![] };
        table.polynomials = polynomials.iter().map(|polynomial| table.grouped(polynomial)).collect();
        table
    }

    fn grouped(&mut self, polynomial: &Polynomial) -> Vec<Group<T>> {
        let mut groups: Vec<Group<T>> = vec![];
        for monomial in polynomial {
            let (slope, factors) = self.slope(monomial);
            let term = (T::cast(monomial.coefficient), factors);
            match groups.iter_mut().find(|group| group.slope == slope) {
                Some(group) => group.terms.push(term),
                None => groups.push(Group { slope, terms: vec![term] }),
            }
        }
        groups
    }

    /// The row of a monomial's slope, which takes in its coefficient, and the other factors.
    fn slope(&mut self, monomial: &Monomial) -> (usize, Vec<Factor>) {
        let (coefficients, others): (Vec<Factor>, Vec<Factor>) = monomial
            .factors
            .iter()
            .partition(|factor| matches!(factor.bank, Bank::Coefficient | Bank::CoefficientTangent));
        let Some(&coefficient) = coefficients.first() else { return (monomial.order, others) };
        let product = (monomial.order, coefficient);
        let place = self.products.iter().position(|known| *known == product).unwrap_or_else(|| {
            self.products.push(product);
            self.products.len() - 1
        });
        (self.highest_order + 1 + place, others)
    }
}

/// Adds the sum of every row of a plane to its point's number.
pub(super) struct AddRowSums<'a, T> {
    pub(super) plane: &'a [T],
    pub(super) sums: &'a mut [T],
}

impl<T: Scalar> Job for AddRowSums<'_, T> {
    #[inline(always)]
    fn run(self) {
        const LANES: usize = 16;
        let width = self.plane.len() / self.sums.len();
        for (sum, row) in self.sums.iter_mut().zip(self.plane.chunks_exact(width)) {
            let mut lanes = [T::ZERO; LANES];
            let chunks = row.chunks_exact(LANES);
            let rest = chunks.remainder();
            for chunk in chunks {
                for (lane, &value) in lanes.iter_mut().zip(chunk) {
                    *lane += value;
                }
            }
            *sum += lanes.iter().chain(rest).fold(T::ZERO, |sum, &value| sum + value);
        }
    }
}

/// Evaluates the polynomials of a table from number `first` on, one plane of the result each.
pub(super) struct Apply<'a, T> {
    pub(super) activation: &'a JetActivation<T>,
    pub(super) table: &'a Table<T>,
    pub(super) first: usize,
    pub(super) jets: Jets<'a, T>,
    pub(super) result: &'a mut [T],
    pub(super) add: bool,
}

impl<T: Scalar> Job for Apply<'_, T> {
    #[inline(always)]
    fn run(self) {
        let plane = self.jets.aux.len();
        let Table { highest_order, products, .. } = self.table;
        let mut s = vec![[T::ZERO; BLOCK]; highest_order + 1 + products.len()];
        let mut sum = [T::ZERO; BLOCK];
        for at in (0..plane).step_by(BLOCK) {
            let block = at..plane.min(at + BLOCK);
            let (z, a) = (&self.jets.argument[block.clone()], &self.jets.value[block.clone()]);
            self.activation.orders(*highest_order, z, a, &self.jets.aux[block.clone()], &mut s);
            let (orders, more) = s.split_at_mut(highest_order + 1);
            for ((order, coefficient), result) in products.iter().zip(more) {
                self.jets.times_coefficient(*coefficient, &orders[*order], block.clone(), result);
            }
            let window = Window { jets: self.jets, plane, at, length: block.len() };
            for (place, groups) in self.table.polynomials[self.first..].iter().enumerate() {
                let result = &mut self.result[place * plane + at..][..block.len()];
                evaluate(groups, &s, window, self.add, &mut sum[..window.length], result);
            }
        }
    }
}

impl<T: Scalar> Jets<'_, T> {
    /// result = slope · coefficient over one block of a plane, where the coefficient is one number per
    /// point, that is per row of neurons.
    #[inline(always)]
    fn times_coefficient(&self, factor: Factor, slope: &[T], block: Range<usize>, result: &mut [T]) {
        let Coefficients { values, tangents, points } = self.coefficients;
        let column = if factor.bank == Bank::Coefficient { values } else { tangents };
        let column = &column[factor.component * points..(factor.component + 1) * points];
        let width = self.aux.len() / points;
        let mut at = block.start;
        while at < block.end {
            let point = at / width;
            let end = block.end.min((point + 1) * width);
            let row = at - block.start..end - block.start;
            for (result, &slope) in result[row.clone()].iter_mut().zip(&slope[row]) {
                *result = slope * column[point];
            }
            at = end;
        }
    }
}

/// result (+)= Σ slope Σ terms. A group of one term, the common case, goes straight to the result.
#[inline(always)]
fn evaluate<T: Scalar>(
    groups: &[Group<T>],
    s: &[[T; BLOCK]],
    window: Window<'_, T>,
    add: bool,
    sum: &mut [T],
    result: &mut [T],
) {
    for (number, group) in groups.iter().enumerate() {
        let slope = &s[group.slope][..window.length];
        let add = add || number > 0;
        match group.terms.as_slice() {
            [(coefficient, factors)] if let [a] = factors.as_slice() => {
                let a = window.load(*a);
                let values = slope.iter().zip(a).map(|(&s, &a)| *coefficient * s * a);
                deposit(result, values, add);
            }
            [(coefficient, factors)] if let [a, b] = factors.as_slice() => {
                let (a, b) = (window.load(*a), window.load(*b));
                let values = slope.iter().zip(a).zip(b).map(|((&s, &a), &b)| *coefficient * s * a * b);
                deposit(result, values, add);
            }
            terms => {
                sum.fill(T::ZERO);
                for (coefficient, factors) in terms {
                    add_term(*coefficient, factors, window, sum);
                }
                deposit(result, slope.iter().zip(sum.iter()).map(|(&s, &sum)| s * sum), add);
            }
        }
    }
}

#[inline(always)]
fn deposit<T: Scalar>(result: &mut [T], values: impl Iterator<Item = T>, add: bool) {
    if add {
        for (result, value) in result.iter_mut().zip(values) {
            *result += value;
        }
    } else {
        for (result, value) in result.iter_mut().zip(values) {
            *result = value;
        }
    }
}

/// sum += coefficient · Π factors.
#[inline(always)]
fn add_term<T: Scalar>(coefficient: T, factors: &[Factor], window: Window<'_, T>, sum: &mut [T]) {
    match factors {
        [] => {
            for sum in sum {
                *sum += coefficient;
            }
        }
        [a] => add_scaled(sum, coefficient, window.load(*a)),
        [a, b] => {
            let (a, b) = (window.load(*a), window.load(*b));
            for ((sum, &a), &b) in sum.iter_mut().zip(a).zip(b) {
                *sum += coefficient * a * b;
            }
        }
        [a, b, c] => {
            let (a, b, c) = (window.load(*a), window.load(*b), window.load(*c));
            for (((sum, &a), &b), &c) in sum.iter_mut().zip(a).zip(b).zip(c) {
                *sum += coefficient * a * b * c;
            }
        }
        [first, more @ ..] => {
            let mut product = [T::ZERO; BLOCK];
            let product = &mut product[..window.length];
            product.copy_from_slice(window.load(*first));
            for factor in more {
                multiply(product, window.load(*factor));
            }
            add_scaled(sum, coefficient, product);
        }
    }
}

/// One block of every plane.
#[derive(Clone, Copy)]
struct Window<'a, T> {
    jets: Jets<'a, T>,
    /// Elements of a plane.
    plane: usize,
    /// Where the block begins.
    at: usize,
    /// Its length.
    length: usize,
}

impl<'a, T> Window<'a, T> {
    /// The block of a factor's plane.
    #[inline(always)]
    fn load(&self, factor: Factor) -> &'a [T] {
        let bank = match factor.bank {
            Bank::Argument => self.jets.argument,
            Bank::Tangent => self.jets.tangent,
            Bank::Adjoint => self.jets.adjoint,
            Bank::TangentAdjoint => self.jets.tangent_adjoint,
            Bank::Coefficient | Bank::CoefficientTangent => unreachable!("taken into the slope"),
        };
        &bank[factor.component * self.plane + self.at..][..self.length]
    }
}
