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

/// Elements handled at once; tiles hold a multiple of it.
pub(crate) const CHUNK: usize = 32;

/// A stretch of elements, small enough to stay in registers or the nearest cache.
type Chunk<T> = [T; CHUNK];

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
        }
    }

    /// y from z, all components; keeps in `aux` what the other actions need.
    pub(crate) fn forward(&self, argument: &[T], result: &mut [T], aux: &mut [T]) {
        let (value, higher) = result.split_at_mut(aux.len());
        let z = &argument[..aux.len()];
        self.simd.run(Prepare { kind: self.kind, z, value, aux });
        let jets = Jets { argument, tangent: &[], adjoint: &[], value, aux };
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

    /// Adds to the adjoint of z what it owes to ẏ, whose adjoint is `jets.adjoint`.
    pub(crate) fn source(&self, jets: Jets<'_, T>, result: &mut [T]) {
        self.apply(&self.source, 0, jets, result, true);
    }

    fn apply(&self, table: &Table<T>, first: usize, jets: Jets<'_, T>, result: &mut [T], add: bool) {
        self.simd.run(Apply { activation: self, table, first, jets, result, add });
    }

    /// s_0 .. s_highest of one chunk.
    #[inline(always)]
    fn orders(&self, highest: usize, z: &Chunk<T>, a: &Chunk<T>, aux: &Chunk<T>, s: &mut [Chunk<T>]) {
        s[0] = *a;
        for order in 1..=highest {
            let polynomial = &self.polynomials[order];
            for i in 0..CHUNK {
                s[order][i] = match self.kind {
                    Activation::Tanh => aux[i] * horner(polynomial, a[i]),
                    Activation::Sin => match order % 4 {
                        0 => a[i],
                        1 => aux[i],
                        2 => -a[i],
                        _ => -aux[i],
                    },
                    Activation::Softplus => horner(polynomial, aux[i]),
                    Activation::Swish => {
                        z[i] * horner(polynomial, aux[i])
                            + T::cast(order as f64) * horner(&self.polynomials[order - 1], aux[i])
                    }
                };
            }
        }
    }
}

#[inline(always)]
fn horner<T: Scalar>(coefficients: &[T], x: T) -> T {
    let mut sum = T::cast(0.0);
    for &coefficient in coefficients.iter().rev() {
        sum = sum * x + coefficient;
    }
    sum
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
            Activation::Tanh => each.for_each(|((a, aux), &z)| (*a, *aux) = tanh_and_slope(z)),
            Activation::Sin => each.for_each(|((a, aux), &z)| (*a, *aux) = z.sine_cosine()),
            Activation::Softplus => each.for_each(|((a, aux), &z)| {
                let (q, tail) = sigmoid_and_tail(z);
                let positive = if z > T::cast(0.0) { z } else { T::cast(0.0) };
                (*a, *aux) = (positive + tail.log_one_plus(), q);
            }),
            Activation::Swish => each.for_each(|((a, aux), &z)| {
                let (q, _) = sigmoid_and_tail(z);
                (*a, *aux) = (z * q, q);
            }),
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
        let mut s = [[T::cast(0.0); CHUNK]; MAX_ORDER + 1];
        for at in (0..plane).step_by(CHUNK) {
            let z = chunk(self.jets.argument, at);
            let (a, aux) = (chunk(self.jets.value, at), chunk(self.jets.aux, at));
            self.activation.orders(self.table.highest_order, z, a, aux, &mut s);
            for (place, groups) in self.table.polynomials[self.first..].iter().enumerate() {
                let value = evaluate(groups, &s, &self.jets, plane, at);
                let result = chunk_mut(self.result, place * plane + at);
                if self.add {
                    for i in 0..CHUNK {
                        result[i] += value[i];
                    }
                } else {
                    *result = value;
                }
            }
        }
    }
}

#[inline(always)]
fn evaluate<T: Scalar>(
    groups: &[Group<T>],
    s: &[Chunk<T>],
    jets: &Jets<'_, T>,
    plane: usize,
    at: usize,
) -> Chunk<T> {
    let load = |factor: Factor| {
        let bank = match factor.bank {
            Bank::Argument => jets.argument,
            Bank::Tangent => jets.tangent,
            Bank::Adjoint => jets.adjoint,
        };
        chunk(bank, factor.component * plane + at)
    };
    let mut result = [T::cast(0.0); CHUNK];
    for group in groups {
        let mut sum = [T::cast(0.0); CHUNK];
        for (coefficient, factors) in &group.terms {
            match factors.as_slice() {
                [] => (0..CHUNK).for_each(|i| sum[i] += *coefficient),
                [a] => {
                    let a = load(*a);
                    (0..CHUNK).for_each(|i| sum[i] += *coefficient * a[i]);
                }
                [a, b] => {
                    let (a, b) = (load(*a), load(*b));
                    (0..CHUNK).for_each(|i| sum[i] += *coefficient * a[i] * b[i]);
                }
                [a, b, more @ ..] => {
                    let (a, b) = (load(*a), load(*b));
                    let mut product = [T::cast(0.0); CHUNK];
                    (0..CHUNK).for_each(|i| product[i] = *coefficient * a[i] * b[i]);
                    for factor in more {
                        let c = load(*factor);
                        (0..CHUNK).for_each(|i| product[i] = product[i] * c[i]);
                    }
                    (0..CHUNK).for_each(|i| sum[i] += product[i]);
                }
            }
        }
        let slope = &s[group.order];
        (0..CHUNK).for_each(|i| result[i] += slope[i] * sum[i]);
    }
    result
}

#[inline(always)]
fn chunk<T>(plane: &[T], at: usize) -> &Chunk<T> {
    plane[at..at + CHUNK].try_into().expect("exactly one chunk")
}

#[inline(always)]
fn chunk_mut<T>(plane: &mut [T], at: usize) -> &mut Chunk<T> {
    (&mut plane[at..at + CHUNK]).try_into().expect("exactly one chunk")
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
                let z = [z; CHUNK];
                let (mut a, mut aux) = (z, z);
                Prepare { kind, z: &z, value: &mut a, aux: &mut aux }.run();
                let mut s = [[0.0; CHUNK]; MAX_ORDER + 1];
                activation.orders(MAX_ORDER, &z, &a, &aux, &mut s);
                s.map(|chunk| chunk[0])
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
