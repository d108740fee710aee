//! The usual plans in one pass over memory: a value, its slopes along one or two inputs, and one
//! component L of second order (a leading part, or a single second derivative). With
//!
//! ```text
//! q = Σ_{i<=j} c_ij z_i z_j,   g_i = ∂q/∂z_i,   q' and g' their derivatives along (ż, ċ)
//! ```
//!
//! Faà di Bruno reads y_i = s1 z_i and y_L = s1 z_L + s2 q, and the other actions follow from these.
//! The tables of the general case say the same; tests hold the two against each other.

use super::lanes::{LANES, Lanes};
use super::{Activation, Coefficients, Jets};
use crate::plan::Plan;
use bilo_linear::{Job, Scalar, Simd};

/// Most slopes that a plan may have here: each number is compiled by itself, which takes its time.
const MAX_SLOPES: usize = 2;

/// What is to be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// y from z, but for its value.
    Forward,
    /// ẏ.
    Tangent,
    /// Adjoint of z from that of y.
    Reverse,
    /// The adjoint, with what ẏ adds to it.
    Joint,
}

/// A plan of this kind.
#[derive(Clone, Debug)]
pub(super) struct Fused {
    slopes: usize,
    /// i, j and the number of the coefficient c_ij, or none if it is one.
    pairs: Vec<(usize, usize, Option<usize>)>,
}

impl Fused {
    /// The plan, if it is of this kind.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let slopes = plan.indices().iter().filter(|index| index.order() == 1).count();
        let above: Vec<_> = plan.indices().iter().filter(|index| index.order() > 1).collect();
        let (seconds, counted): (Vec<_>, bool) = match plan.leading() {
            [] if above.len() == 1 => (above, false),
            [_, ..] if above.is_empty() => (plan.leading().iter().collect(), true),
            _ => return None,
        };
        if slopes == 0 || slopes > MAX_SLOPES || seconds.iter().any(|index| index.order() > 2) {
            return None;
        }
        let mut pairs = vec![];
        for (k, index) in seconds.iter().enumerate().filter(|(_, index)| index.order() == 2) {
            let inputs: Vec<usize> = (index.as_slice().iter().enumerate())
                .flat_map(|(input, &order)| std::iter::repeat_n(input, usize::from(order)))
                .collect();
            let slope = |input: usize| plan.successor(0, input).expect("plans are downward closed") - 1;
            let (i, j) = (slope(inputs[0]), slope(inputs[1]));
            pairs.push((i.min(j), i.max(j), counted.then_some(k)));
        }
        Some(Self { slopes, pairs })
    }

    /// Whether rows of so many neurons come in whole lanes.
    pub(super) fn fits(&self, width: usize) -> bool {
        width.is_multiple_of(LANES)
    }

    /// Runs an action; `result` begins with the component number `first`.
    #[expect(clippy::too_many_arguments, reason = "one call, spelled out")]
    pub(super) fn run<T: Scalar>(
        &self,
        simd: Simd,
        kind: Activation,
        action: Action,
        jets: Jets<'_, T>,
        first: usize,
        result: &mut [T],
        add: bool,
    ) {
        match self.slopes {
            1 => simd.run(Pass::<T, 1> { fused: self, kind, action, jets, first, result, add }),
            _ => simd.run(Pass::<T, 2> { fused: self, kind, action, jets, first, result, add }),
        }
    }

    /// Adds to `sums` (one column of points per coefficient) the adjoints Σ λ_L s2 z_i z_j of the c_ij.
    pub(super) fn coefficient_adjoints<T: Scalar>(
        &self,
        simd: Simd,
        kind: Activation,
        jets: Jets<'_, T>,
        sums: &mut [T],
    ) {
        simd.run(CoefficientPass { fused: self, kind, jets, sums });
    }

    /// The quadratic form at a point, from columns of coefficients.
    #[inline(always)]
    fn form<T: Scalar, const M: usize>(&self, columns: &[T], points: usize, point: usize) -> Form<T, M> {
        let mut c = [[T::ZERO; M]; M];
        for &(i, j, k) in &self.pairs {
            c[i][j] = k.map_or(T::ONE, |k| columns[k * points + point]);
        }
        Form(c)
    }
}

/// c_ij for i <= j.
#[derive(Clone, Copy)]
struct Form<T, const M: usize>([[T; M]; M]);

impl<T: Scalar, const M: usize> Form<T, M> {
    const ZERO: Self = Self([[T::ZERO; M]; M]);

    /// q(z).
    #[inline(always)]
    fn value(&self, z: &[Lanes<T>; M]) -> Lanes<T> {
        let mut sum = Lanes::ZERO;
        for i in 0..M {
            for j in i..M {
                sum += (z[i] * z[j]).times(self.0[i][j]);
            }
        }
        sum
    }

    /// g(z) = ∂q/∂z.
    #[inline(always)]
    fn slope(&self, z: &[Lanes<T>; M]) -> [Lanes<T>; M] {
        let mut g = [Lanes::ZERO; M];
        for i in 0..M {
            for j in i..M {
                g[i] += z[j].times(self.0[i][j]);
                g[j] += z[i].times(self.0[i][j]);
            }
        }
        g
    }
}

/// A jet of this kind at a few neurons of one point.
#[derive(Clone, Copy)]
struct Jet<T, const M: usize> {
    value: Lanes<T>,
    slopes: [Lanes<T>; M],
    leading: Lanes<T>,
}

impl<T: Scalar, const M: usize> Jet<T, M> {
    #[inline(always)]
    fn load(bank: &[T], plane: usize, at: usize) -> Self {
        let mut slopes = [Lanes::ZERO; M];
        for (i, slope) in slopes.iter_mut().enumerate() {
            *slope = Lanes::load(bank, (1 + i) * plane + at);
        }
        Self { value: Lanes::load(bank, at), slopes, leading: Lanes::load(bank, (1 + M) * plane + at) }
    }

    /// Σ a_i b_i over slopes and leading component.
    #[inline(always)]
    fn dot_above_value(&self, other: &Self) -> Lanes<T> {
        let mut sum = self.leading * other.leading;
        for i in 0..M {
            sum += self.slopes[i] * other.slopes[i];
        }
        sum
    }
}

/// s1 .. s4 from the argument, the value and what was kept beside it.
#[derive(Clone, Copy)]
struct Slopes<T>(Lanes<T>, Lanes<T>, Lanes<T>, Lanes<T>);

impl<T: Scalar> Slopes<T> {
    #[inline(always)]
    fn new(kind: Activation, z: Lanes<T>, a: Lanes<T>, aux: Lanes<T>) -> Self {
        let number = |x: f64| T::cast(x);
        match kind {
            Activation::Tanh => {
                let (product, square) = (a * aux, a * a);
                Self(
                    aux,
                    product.times(number(-2.0)),
                    aux * square.times(number(6.0)).plus(number(-2.0)),
                    product * square.times(number(-24.0)).plus(number(16.0)),
                )
            }
            Activation::Sin => Self(aux, a.times(number(-1.0)), aux.times(number(-1.0)), a),
            Activation::Softplus => {
                let [q1, q2, q3, _] = sigmoid_slopes(aux);
                Self(aux, q1, q2, q3)
            }
            Activation::Swish => {
                let [q1, q2, q3, q4] = sigmoid_slopes(aux);
                let slope = |k: f64, upper: Lanes<T>, lower: Lanes<T>| z * upper + lower.times(number(k));
                Self(slope(1.0, q1, aux), slope(2.0, q2, q1), slope(3.0, q3, q2), slope(4.0, q4, q3))
            }
        }
    }
}

/// The first four derivatives of the sigmoid q: w = q(1-q), w(1-2q), w(1-6w), w(1-2q)(1-12w).
#[inline(always)]
fn sigmoid_slopes<T: Scalar>(q: Lanes<T>) -> [Lanes<T>; 4] {
    let one = T::ONE;
    let linear = |x: Lanes<T>, slope: f64| x.times(T::cast(slope)).plus(one);
    let w = q * linear(q, -1.0);
    let second = w * linear(q, -2.0);
    [w, second, w * linear(w, -6.0), second * linear(w, -12.0)]
}

/// One action over a tile.
struct Pass<'a, T, const M: usize> {
    fused: &'a Fused,
    kind: Activation,
    action: Action,
    jets: Jets<'a, T>,
    first: usize,
    result: &'a mut [T],
    add: bool,
}

impl<T: Scalar, const M: usize> Job for Pass<'_, T, M> {
    /// Every action has a loop of its own, in which nothing has to be chosen any more.
    #[inline(always)]
    fn run(self) {
        match self.action {
            Action::Forward => self.sweep(Action::Forward),
            Action::Tangent => self.sweep(Action::Tangent),
            Action::Reverse => self.sweep(Action::Reverse),
            Action::Joint => self.sweep(Action::Joint),
        }
    }
}

impl<T: Scalar, const M: usize> Pass<'_, T, M> {
    #[inline(always)]
    fn sweep(mut self, action: Action) {
        let Coefficients { values, tangents, points } = self.jets.coefficients;
        let width = self.jets.aux.len() / points;
        for point in 0..points {
            let form = self.fused.form::<T, M>(values, points, point);
            let moving =
                if tangents.is_empty() { Form::ZERO } else { self.fused.form(tangents, points, point) };
            for column in (0..width).step_by(LANES) {
                self.step(action, form, moving, point * width + column);
            }
        }
    }

    /// The action at a few neurons of one point.
    #[inline(always)]
    fn step(&mut self, action: Action, form: Form<T, M>, moving: Form<T, M>, at: usize) {
        let (jets, plane) = (self.jets, self.jets.aux.len());
        let load = |bank: &[T]| Jet::<T, M>::load(bank, plane, at);
        let z = load(jets.argument);
        let (a, aux) = (Lanes::load(jets.value, at), Lanes::load(jets.aux, at));
        let s = Slopes::new(self.kind, z.value, a, aux);
        let result = match action {
            Action::Forward => forward(s, z, form),
            Action::Tangent => tangent(s, z, load(jets.tangent), form, moving),
            Action::Reverse => reverse(s, z, load(jets.adjoint), form),
            Action::Joint => {
                let plain = reverse(s, z, load(jets.adjoint), form);
                let more = source(s, z, load(jets.tangent), load(jets.tangent_adjoint), form, moving);
                plain.plus(more)
            }
        };
        self.store(result, at);
    }

    #[inline(always)]
    fn store(&mut self, jet: Jet<T, M>, at: usize) {
        let plane = self.jets.aux.len();
        if self.first == 0 {
            jet.value.store(self.result, at, self.add);
        }
        for i in 0..M {
            jet.slopes[i].store(self.result, (1 + i - self.first) * plane + at, self.add);
        }
        jet.leading.store(self.result, (1 + M - self.first) * plane + at, self.add);
    }
}

impl<T: Scalar, const M: usize> Jet<T, M> {
    #[inline(always)]
    fn plus(mut self, other: Self) -> Self {
        self.value += other.value;
        for i in 0..M {
            self.slopes[i] += other.slopes[i];
        }
        self.leading += other.leading;
        self
    }
}

/// y_i = s1 z_i, y_L = s1 z_L + s2 q. (The value is there already.)
#[inline(always)]
fn forward<T: Scalar, const M: usize>(s: Slopes<T>, z: Jet<T, M>, form: Form<T, M>) -> Jet<T, M> {
    let mut y = z;
    for i in 0..M {
        y.slopes[i] = s.0 * z.slopes[i];
    }
    y.leading = s.0 * z.leading + s.1 * form.value(&z.slopes);
    y
}

/// ẏ = s1 ż, ẏ_i = s1 ż_i + s2 ż z_i, ẏ_L = s1 ż_L + s2 (ż z_L + q') + s3 ż q.
#[inline(always)]
fn tangent<T: Scalar, const M: usize>(
    s: Slopes<T>,
    z: Jet<T, M>,
    d: Jet<T, M>,
    form: Form<T, M>,
    moving: Form<T, M>,
) -> Jet<T, M> {
    let bend = s.1 * d.value;
    let mut y = d;
    y.value = s.0 * d.value;
    for i in 0..M {
        y.slopes[i] = s.0 * d.slopes[i] + bend * z.slopes[i];
    }
    y.leading = s.0 * d.leading
        + bend * z.leading
        + s.1 * moved(z, d, form, moving)
        + s.2 * d.value * form.value(&z.slopes);
    y
}

/// q' = Σ ċ_ij z_i z_j + Σ g_i ż_i.
#[inline(always)]
fn moved<T: Scalar, const M: usize>(
    z: Jet<T, M>,
    d: Jet<T, M>,
    form: Form<T, M>,
    moving: Form<T, M>,
) -> Lanes<T> {
    let g = form.slope(&z.slopes);
    let mut sum = moving.value(&z.slopes);
    for (&g, &slope) in g.iter().zip(&d.slopes) {
        sum += g * slope;
    }
    sum
}

/// From the adjoint a of y: s1 a + s2 (Σ z_i a_i + z_L a_L) + s3 q a_L for the value,
/// s1 a_i + s2 g_i a_L for the slopes, s1 a_L.
#[inline(always)]
fn reverse<T: Scalar, const M: usize>(
    s: Slopes<T>,
    z: Jet<T, M>,
    a: Jet<T, M>,
    form: Form<T, M>,
) -> Jet<T, M> {
    let (g, bend) = (form.slope(&z.slopes), s.1 * a.leading);
    let mut result = a;
    result.value = s.0 * a.value + s.1 * z.dot_above_value(&a) + s.2 * (form.value(&z.slopes) * a.leading);
    for (slope, &g) in result.slopes.iter_mut().zip(&g) {
        *slope = s.0 * *slope + bend * g;
    }
    result.leading = s.0 * a.leading;
    result
}

/// The derivative of [`reverse`] along (ż, ċ) with the adjoint m of ẏ in place of a.
#[inline(always)]
fn source<T: Scalar, const M: usize>(
    s: Slopes<T>,
    z: Jet<T, M>,
    d: Jet<T, M>,
    m: Jet<T, M>,
    form: Form<T, M>,
    moving: Form<T, M>,
) -> Jet<T, M> {
    let (s1, s2, s3) = (s.1 * d.value, s.2 * d.value, s.3 * d.value);
    let (g, g_moving, g_moved) = (form.slope(&z.slopes), moving.slope(&z.slopes), form.slope(&d.slopes));
    let q = s3 * form.value(&z.slopes) + s.2 * moved(z, d, form, moving);
    let mut result = m;
    result.value = s1 * m.value + s2 * z.dot_above_value(&m) + s.1 * d.dot_above_value(&m) + q * m.leading;
    for i in 0..M {
        result.slopes[i] = s1 * m.slopes[i] + (s2 * g[i] + s.1 * (g_moving[i] + g_moved[i])) * m.leading;
    }
    result.leading = s1 * m.leading;
    result
}

/// Adjoints of the coefficients.
struct CoefficientPass<'a, T> {
    fused: &'a Fused,
    kind: Activation,
    jets: Jets<'a, T>,
    sums: &'a mut [T],
}

impl<T: Scalar> Job for CoefficientPass<'_, T> {
    #[inline(always)]
    fn run(self) {
        let points = self.jets.coefficients.points;
        let width = self.jets.aux.len() / points;
        for &(i, j, k) in &self.fused.pairs {
            let Some(k) = k else { continue };
            for point in 0..points {
                let mut sum = Lanes::ZERO;
                for column in (0..width).step_by(LANES) {
                    sum += self.term(i, j, point * width + column);
                }
                self.sums[k * points + point] += sum.sum();
            }
        }
    }
}

impl<T: Scalar> CoefficientPass<'_, T> {
    /// λ_L s2 z_i z_j.
    #[inline(always)]
    fn term(&self, i: usize, j: usize, at: usize) -> Lanes<T> {
        let (jets, plane) = (self.jets, self.jets.aux.len());
        let load = |bank: &[T], component: usize| Lanes::<T>::load(bank, component * plane + at);
        let s = Slopes::new(self.kind, load(jets.argument, 0), load(jets.value, 0), load(jets.aux, 0));
        let adjoint = load(jets.adjoint, 1 + self.fused.slopes);
        s.1 * load(jets.argument, 1 + i) * load(jets.argument, 1 + j) * adjoint
    }
}
