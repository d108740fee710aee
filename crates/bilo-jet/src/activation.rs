//! Nonlinearities and all their derivatives, and their action on jets.

mod fused;
mod lanes;
mod table;

use crate::plan::Plan;
use crate::polynomial::ActivationTables;
use bilo_linear::{Job, Scalar, Simd, sigmoid_and_tail, tanh_and_slope};
use fused::{Action, Fused};
use table::{AddRowSums, Apply, Table};

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

/// Most derivatives that a leading part may combine.
pub(crate) const MAX_LEADING: usize = 6;

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
    /// Tables of one polynomial, for those coefficients of the leading part that have any terms.
    coefficients: Vec<(usize, Table<T>)>,
    /// The plan's own kernels, if it is of the usual kind.
    fused: Option<Fused>,
    /// Whether the plan has no derivatives.
    value_alone: bool,
}

/// Coefficients of the leading part: one column of points each.
#[derive(Clone, Copy)]
pub(crate) struct Coefficients<'a, T> {
    /// c_k.
    pub(crate) values: &'a [T],
    /// ċ_k along the direction (empty if the table has none).
    pub(crate) tangents: &'a [T],
    /// Points of the tile.
    pub(crate) points: usize,
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
    /// Coefficients of the plan's leading part.
    pub(crate) coefficients: Coefficients<'a, T>,
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
            coefficients: tables
                .coefficient
                .iter()
                .enumerate()
                .filter(|(_, polynomial)| !polynomial.is_empty())
                .map(|(k, polynomial)| (k, Table::new(std::slice::from_ref(polynomial))))
                .collect(),
            fused: Fused::of(plan),
            value_alone: plan.len() == 1,
        }
    }

    /// y from z, all components; keeps in `aux` what the other actions need.
    pub(crate) fn forward(
        &self,
        argument: &[T],
        coefficients: Coefficients<'_, T>,
        result: &mut [T],
        aux: &mut [T],
    ) {
        let (value, higher) = result.split_at_mut(aux.len());
        let z = &argument[..aux.len()];
        self.simd.run(Prepare { kind: self.kind, z, value, aux });
        let jets =
            Jets { argument, tangent: &[], adjoint: &[], tangent_adjoint: &[], value, aux, coefficients };
        self.apply(Action::Forward, jets, higher, false);
    }

    /// ẏ from z and ż.
    pub(crate) fn tangent(&self, jets: Jets<'_, T>, result: &mut [T]) {
        self.apply(Action::Tangent, jets, result, false);
    }

    /// Adjoint of z from that of y; `add` to what is there or overwrite it.
    pub(crate) fn reverse(&self, jets: Jets<'_, T>, result: &mut [T], add: bool) {
        self.apply(Action::Reverse, jets, result, add);
    }

    /// Adjoint of z from that of y and that of ẏ along one direction.
    pub(crate) fn reverse_with_source(&self, jets: Jets<'_, T>, result: &mut [T], add: bool) {
        self.apply(Action::Joint, jets, result, add);
    }

    /// Adds to the adjoint of z what it owes to ẏ along a further direction.
    pub(crate) fn source(&self, jets: Jets<'_, T>, result: &mut [T]) {
        self.simd.run(Apply { activation: self, table: &self.source, first: 0, jets, result, add: true });
    }

    /// Adds to `sums` (one column of points per coefficient) the adjoints of the leading part's
    /// coefficients; `plane` is for work.
    pub(crate) fn coefficient_adjoints(&self, jets: Jets<'_, T>, plane: &mut [T], sums: &mut [T]) {
        if let Some(fused) = self.fused(jets) {
            return fused.coefficient_adjoints(self.simd, self.kind, jets, sums);
        }
        let points = jets.coefficients.points;
        for (k, table) in &self.coefficients {
            let pass = Apply { activation: self, table, first: 0, jets, result: plane, add: false };
            self.simd.run(pass);
            self.simd.run(AddRowSums { plane, sums: &mut sums[k * points..(k + 1) * points] });
        }
    }

    fn fused(&self, jets: Jets<'_, T>) -> Option<&Fused> {
        self.fused.as_ref().filter(|fused| fused.fits(jets.aux.len() / jets.coefficients.points))
    }

    fn apply(&self, action: Action, jets: Jets<'_, T>, result: &mut [T], add: bool) {
        let (first, table) = match action {
            Action::Forward => (1, &self.forward),
            Action::Tangent => (0, &self.tangent),
            Action::Reverse => (0, &self.reverse),
            Action::Joint => (0, &self.joint),
        };
        match (self.fused(jets), action) {
            (Some(fused), _) => fused.run(self.simd, self.kind, action, jets, first, result, add),
            // There is but the value, which is there already.
            _ if result.is_empty() => {}
            (None, Action::Tangent) if self.chains() => {
                self.simd.run(Chain { slope: jets.aux, given: jets.tangent, result, add })
            }
            (None, Action::Reverse) if self.chains() => {
                self.simd.run(Chain { slope: jets.aux, given: jets.adjoint, result, add })
            }
            (None, _) => self.simd.run(Apply { activation: self, table, first, jets, result, add }),
        }
    }

    /// Whether the plan is the value alone and its slope s1 is what was kept: tangents and adjoints are multiplied
    /// with it, and that is all.
    fn chains(&self) -> bool {
        let kept = matches!(self.kind, Activation::Tanh | Activation::Sin | Activation::Softplus);
        self.value_alone && kept
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
        *target *= factor;
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
pub fn derivative_polynomials(kind: Activation, highest: usize) -> Vec<Vec<f64>> {
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

/// result (+)= slope · given.
struct Chain<'a, T> {
    slope: &'a [T],
    given: &'a [T],
    result: &'a mut [T],
    add: bool,
}

impl<T: Scalar> Job for Chain<'_, T> {
    #[inline(always)]
    fn run(self) {
        let each = self.result.iter_mut().zip(self.slope.iter().zip(self.given));
        if self.add {
            each.for_each(|(result, (&slope, &given))| *result += slope * given);
        } else {
            each.for_each(|(result, (&slope, &given))| *result = slope * given);
        }
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
            let activation = JetActivation::<f64>::new(kind, &plan, Simd::BASELINE);
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
