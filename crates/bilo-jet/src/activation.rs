//! Nonlinearities and all their derivatives, and their action on jets.

use crate::plan::Plan;
use crate::polynomial::{ActivationTables, Bank, Factor, Polynomial};
use crate::scalar::{Scalar, sigmoid_and_tail, tanh_and_slope};
use crate::simd::{Job, Simd};

/// A nonlinearity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// tanh z.
    Tanh,
    /// sin z.
    Sin,
    /// log(1 + exp z).
    Softplus,
    /// z / (1 + exp(-z)).
    Swish,
}

/// Elements that one pass of a table handles: enough to hide the cost of reading the table, few
/// enough that all the numbers in flight stay in the nearest cache.
const BLOCK: usize = 512;

/// Most derivatives s_0, s_1, .. of a nonlinearity that a table may use.
pub(crate) const MAX_ORDER: usize = 8;

/// A nonlinearity with the tables of one plan, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct JetActivation<T> {
    kind: Activation,
    simd: Simd,
    /// Polynomials P_k of the recurrences in [`derivative_polynomials`].
    polynomials: Vec<Vec<T>>,
    forward: Table<T>,
    tangent: Table<T>,
    reverse: Table<T>,
    source: Table<T>,
    joint: Table<T>,
}

/// Jets of one node, one plane per component.
#[derive(Clone, Copy)]
pub(crate) struct Jets<'a, T> {
    /// Jets of the argument.
    pub(crate) argument: &'a [T],
    /// Their tangents along one direction (empty if the table has none).
    pub(crate) tangent: &'a [T],
    /// Adjoints of the result (empty if the table has none).
    pub(crate) adjoint: &'a [T],
    /// Adjoints of its tangents (empty if the table has none).
    pub(crate) tangent_adjoint: &'a [T],
    /// Value of the result, one plane.
    pub(crate) value: &'a [T],
    /// What `prepare` kept beside it, one plane.
    pub(crate) aux: &'a [T],
}

impl<T: Scalar> JetActivation<T> {
    pub(crate) fn new(kind: Activation, plan: &Plan, simd: Simd) -> Self {
        let tables = ActivationTables::new(plan);
        assert!(tables.highest_order <= MAX_ORDER, "derivatives above sixth order");
        Self {
            kind,
            simd,
            polynomials: derivative_polynomials(kind, MAX_ORDER)
                .into_iter()
                .map(|p| p.into_iter().map(T::cast).collect())
                .collect(),
            forward: Table::new(&tables.forward),
            tangent: Table::new(&tables.tangent),
            reverse: Table::new(&tables.reverse),
            source: Table::new(&tables.source),
            joint: Table::new(&tables.joint),
        }
    }

    /// y from z, all components; keeps in `aux` what the other actions need.
    pub(crate) fn forward(&self, argument: &[T], result: &mut [T], aux: &mut [T]) {
        let (value, higher) = result.split_at_mut(aux.len());
        let z = &argument[..aux.len()];
        self.simd.run(Prepare { kind: self.kind, z, value, aux });
        let jets = Jets { argument, tangent: &[], adjoint: &[], tangent_adjoint: &[], value, aux };
        self.apply(&self.forward, 1, jets, higher, false);
    }

    /// ẏ from z and ż.
    pub(crate) fn tangent(&self, jets: Jets<'_, T>, result: &mut [T]) {
        self.apply(&self.tangent, 0, jets, result, false);
    }

    /// Adjoint of z from that of y; `add` to what is there or overwrite it.
    pub(crate) fn reverse(&self, jets: Jets<'_, T>, result: &mut [T], add: bool) {
        self.apply(&self.reverse, 0, jets, result, add);
    }

    /// Adjoint of z from that of y and that of ẏ along one direction.
    pub(crate) fn reverse_with_source(&self, jets: Jets<'_, T>, result: &mut [T], add: bool) {
        self.apply(&self.joint, 0, jets, result, add);
    }

    /// Adds to the adjoint of z what it owes to ẏ along a further direction.
    pub(crate) fn source(&self, jets: Jets<'_, T>, result: &mut [T]) {
        self.apply(&self.source, 0, jets, result, true);
    }

    fn apply(&self, table: &Table<T>, first: usize, jets: Jets<'_, T>, result: &mut [T], add: bool) {
        self.simd.run(Apply { activation: self, table, first, jets, result, add });
    }

    /// s_0 .. s_highest of one block.
    #[inline(always)]
    fn orders(&self, highest: usize, z: &[T], a: &[T], aux: &[T], s: &mut [[T; BLOCK]]) {
        s[0][..a.len()].copy_from_slice(a);
        for order in 1..=highest {
            let (below, here) = s.split_at_mut(order);
            let here = &mut here[0][..a.len()];
            match self.kind {
                Activation::Tanh => {
                    horner(&self.polynomials[order], a, here);
                    multiply(here, aux);
                }
                Activation::Sin if order == 1 => here.copy_from_slice(aux),
                Activation::Sin => negate(&below[order - 2], here),
                Activation::Softplus => horner(&self.polynomials[order], aux, here),
                Activation::Swish => {
                    let mut lower = [T::ZERO; BLOCK];
                    horner(&self.polynomials[order], aux, here);
                    multiply(here, z);
                    horner(&self.polynomials[order - 1], aux, &mut lower[..a.len()]);
                    add_scaled(here, T::cast(order as f64), &lower);
                }
            }
        }
    }
}

/// Σ c_i x^i at every x.
#[inline(always)]
fn horner<T: Scalar>(coefficients: &[T], x: &[T], result: &mut [T]) {
    result.fill(T::ZERO);
    for &coefficient in coefficients.iter().rev() {
        for (result, &x) in result.iter_mut().zip(x) {
            *result = *result * x + coefficient;
        }
    }
}

#[inline(always)]
fn multiply<T: Scalar>(target: &mut [T], factor: &[T]) {
    for (target, &factor) in target.iter_mut().zip(factor) {
        *target = *target * factor;
    }
}

#[inline(always)]
fn negate<T: Scalar>(values: &[T], result: &mut [T]) {
    for (result, &value) in result.iter_mut().zip(values) {
        *result = -value;
    }
}

#[inline(always)]
fn add_scaled<T: Scalar>(target: &mut [T], factor: T, values: &[T]) {
    for (target, &value) in target.iter_mut().zip(values) {
        *target += factor * value;
    }
}

/// The polynomials (rising powers) behind the derivatives of each nonlinearity:
/// - tanh: s_k = s_1 P_k(a) with P_1 = 1, P_{k+1} = (1-a²) P_k' - 2a P_k;
/// - sigmoid q: q^(k) = P_k(q) with P_0 = q, P_{k+1} = q(1-q) P_k'; softplus' = q, so s_k = P_{k-1};
///   swish = z q, so s_k = z P_k + k P_{k-1}.
fn derivative_polynomials(kind: Activation, highest: usize) -> Vec<Vec<f64>> {
    let mut polynomials = match kind {
        Activation::Tanh => vec![vec![], vec![1.0]],
        Activation::Softplus => vec![vec![], vec![0.0, 1.0]],
        Activation::Swish => vec![vec![0.0, 1.0]],
        Activation::Sin => return vec![vec![]; highest + 1],
    };
    while polynomials.len() <= highest {
        let last = polynomials.last().expect("starts with at least one");
        let mut next = vec![0.0; last.len() + 1];
        for (power, &coefficient) in last.iter().enumerate() {
            let slope = power as f64 * coefficient;
            if kind == Activation::Tanh {
                if power > 0 {
                    next[power - 1] += slope;
                }
                next[power + 1] -= slope + 2.0 * coefficient;
            } else {
                next[power] += slope;
                next[power + 1] -= slope;
            }
        }
        polynomials.push(next);
    }
    polynomials
}

/// The value of the nonlinearity and one more number from which its derivatives follow.
struct Prepare<'a, T> {
    kind: Activation,
    z: &'a [T],
    value: &'a mut [T],
    aux: &'a mut [T],
}

impl<T: Scalar> Job for Prepare<'_, T> {
    #[inline(always)]
    fn run(self) {
        let each = self.value.iter_mut().zip(self.aux.iter_mut()).zip(self.z);
        match self.kind {
            Activation::Tanh => {
                for ((a, aux), &z) in each {
                    (*a, *aux) = tanh_and_slope(z);
                }
            }
            Activation::Sin => {
                for ((a, aux), &z) in each {
                    (*a, *aux) = z.sine_cosine();
                }
            }
            Activation::Softplus => {
                for ((a, aux), &z) in each {
                    let (q, tail) = sigmoid_and_tail(z);
                    let positive = if z > T::ZERO { z } else { T::ZERO };
                    (*a, *aux) = (positive + tail.log_one_plus(), q);
                }
            }
            Activation::Swish => {
                for ((a, aux), &z) in each {
                    let (q, _) = sigmoid_and_tail(z);
                    (*a, *aux) = (z * q, q);
                }
            }
        }
    }
}

/// A list of polynomials laid out for the inner loop: terms of equal order s_k stand together.
#[derive(Clone, Debug)]
struct Table<T> {
    polynomials: Vec<Vec<Group<T>>>,
    highest_order: usize,
}

/// s_order * (sum of terms).
#[derive(Clone, Debug)]
struct Group<T> {
    order: usize,
    terms: Vec<(T, Vec<Factor>)>,
}

impl<T: Scalar> Table<T> {
    fn new(polynomials: &[Polynomial]) -> Self {
        let highest_order = polynomials.iter().flatten().map(|m| m.order).max().unwrap_or(0);
        Self { polynomials: polynomials.iter().map(grouped).collect(), highest_order }
    }
}

fn grouped<T: Scalar>(polynomial: &Polynomial) -> Vec<Group<T>> {
    let mut groups: Vec<Group<T>> = vec![];
    for monomial in polynomial {
        let term = (T::cast(monomial.coefficient), monomial.factors.clone());
        match groups.last_mut() {
            Some(group) if group.order == monomial.order => group.terms.push(term),
            _ => groups.push(Group { order: monomial.order, terms: vec![term] }),
        }
    }
    groups
}

/// Evaluates the polynomials of a table from number `first` on, one plane of the result each.
struct Apply<'a, T> {
    activation: &'a JetActivation<T>,
    table: &'a Table<T>,
    first: usize,
    jets: Jets<'a, T>,
    result: &'a mut [T],
    add: bool,
}

impl<T: Scalar> Job for Apply<'_, T> {
    #[inline(always)]
    fn run(self) {
        let plane = self.jets.aux.len();
        let mut s = [[T::ZERO; BLOCK]; MAX_ORDER + 1];
        let mut sum = [T::ZERO; BLOCK];
        for at in (0..plane).step_by(BLOCK) {
            let block = at..plane.min(at + BLOCK);
            let (z, a) = (&self.jets.argument[block.clone()], &self.jets.value[block.clone()]);
            self.activation.orders(self.table.highest_order, z, a, &self.jets.aux[block.clone()], &mut s);
            let window = Window { jets: self.jets, plane, at, length: block.len() };
            for (place, groups) in self.table.polynomials[self.first..].iter().enumerate() {
                let result = &mut self.result[place * plane + at..][..block.len()];
                evaluate(groups, &s, window, self.add, &mut sum[..window.length], result);
            }
        }
    }
}

/// result (+)= Σ s_k Σ terms. A group of one term, the common case, goes straight to the result.
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
        let slope = &s[group.order][..window.length];
        let add = add || number > 0;
        match group.terms.as_slice() {
            [(coefficient, factors)] if let [a] = factors.as_slice() => {
                let a = window.load(*a);
                let values = slope.iter().zip(a).map(|(&s, &a)| *coefficient * s * a);
                deposit(result, values, add);
            }
            [(coefficient, factors)] if let [a, b] = factors.as_slice() => {
                let [a, b] = [*a, *b].map(|factor| window.load(factor));
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
            let [a, b] = [*a, *b].map(|factor| window.load(factor));
            for ((sum, &a), &b) in sum.iter_mut().zip(a).zip(b) {
                *sum += coefficient * a * b;
            }
        }
        [a, b, c] => {
            let [a, b, c] = [*a, *b, *c].map(|factor| window.load(factor));
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

/// The same block of every plane.
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
        };
        &bank[factor.component * self.plane + self.at..][..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_expr::MultiIndex;

    /// Every s_k against the central difference of s_{k-1} (error h²/6 s_{k+2} plus rounding 1e-16/h).
    #[test]
    fn derivatives_of_every_order_are_slopes_of_the_order_below() {
        let plan = Plan::closure(1, &[MultiIndex::from(vec![4])]);
        let h = 1e-5;
        for kind in [Activation::Tanh, Activation::Sin, Activation::Softplus, Activation::Swish] {
            let activation = JetActivation::<f64>::new(kind, &plan, Simd::Baseline);
            let orders = |z: f64| {
                let (z, mut a, mut aux) = ([z], [z], [z]);
                Prepare { kind, z: &z, value: &mut a, aux: &mut aux }.run();
                let mut s = [[0.0; BLOCK]; MAX_ORDER + 1];
                activation.orders(MAX_ORDER, &z, &a, &aux, &mut s);
                s.map(|block| block[0])
            };
            for z in [-3.0, -0.7, 0.0, 0.2, 1.9] {
                let (below, here, above) = (orders(z - h), orders(z), orders(z + h));
                for k in 1..=MAX_ORDER {
                    let slope = (above[k - 1] - below[k - 1]) / (2.0 * h);
                    let scale = 1.0 + here[k].abs() + here[k - 1].abs() * 1e2;
                    assert!((slope - here[k]).abs() < 1e-7 * scale, "{kind:?} order {k} at {z}");
                }
            }
        }
    }
}
