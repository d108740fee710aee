//! Conservation laws recognised in residuals.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;

use bilo_expr::{
    Binary, Expr, Function, Graph, Input, Instruction, Leaf, MultiIndex, Scratch, Symbol, Tape, Unary,
};

use super::error::ConservationError;
use super::law::Flux;

/// Speeds of higher degree are integrated numerically.
const HIGHEST_DEGREE: u32 = 16;

/// Trial points at which a stated flux is compared with the residual.
const TRIALS: usize = 64;

/// Slopes that differ by more than this part of their size differ.
const TOLERANCE: f64 = 1e-6;

/// A residual that may be a conservation law.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// What vanishes inside the domain.
    pub residual: Expr,
    /// The state, a function of space and time.
    pub state: Function,
    /// The space coordinate.
    pub space: Symbol,
    /// The time coordinate.
    pub time: Symbol,
}

impl Candidate {
    /// The flux, if the residual is a multiple of `u_t + c(u; parameters) u_x`:
    /// the integral of c, in closed form where c is a polynomial of u.
    pub fn recognise(&self, graph: &mut Graph) -> Option<Flux> {
        let (u, speed) = self.speed(graph)?;
        Some(antiderivative(graph, speed, &u).map_or(Flux::Speed(speed), Flux::Formula))
    }

    /// Whether a stated flux belongs to the residual: its slope must be the speed
    /// at scattered values of the state and of all symbols.
    pub fn confirm(&self, graph: &mut Graph, flux: Expr) -> Result<(), ConservationError> {
        let (u, speed) = self.speed(graph).ok_or(ConservationError::NotConservative)?;
        let flux = graph.expand_definitions(flux);
        let slope = graph.partial(flux, &u);
        let (states, [slope, speed]) = trials(graph, &u, [slope, speed]);
        let finite: Vec<usize> =
            (0..TRIALS).filter(|&i| slope[i].is_finite() && speed[i].is_finite()).collect();
        let differs = |&i: &usize| {
            let size = slope[i].abs() + speed[i].abs();
            (slope[i] - speed[i]).abs() > TOLERANCE * size
        };
        let witness = if finite.is_empty() { Some(0) } else { finite.into_iter().find(differs) };
        witness.map_or(Ok(()), |i| {
            Err(ConservationError::FluxMismatch { u: states[i], slope: slope[i], speed: speed[i] })
        })
    }

    /// The leaf of u, and c of `r = r_t (u_t + c u_x)`.
    fn speed(&self, graph: &mut Graph) -> Option<(Leaf, Expr)> {
        let (x, t) = (graph.leaf(self.space), graph.leaf(self.time));
        let of_u = |orders: [u8; 2]| Leaf::Derivative(self.state, MultiIndex::from(orders.to_vec()));
        let [u, first, second] = [[0, 0], [1, 0], [0, 1]].map(of_u);
        let (u_x, u_t) = match graph.function_inputs(self.state) {
            inputs if inputs == [x, t] => (first, second),
            inputs if inputs == [t, x] => (second, first),
            _ => return None,
        };
        let residual = graph.expand_definitions(self.residual);
        let (r_x, r_t) = (graph.partial(residual, &u_x), graph.partial(residual, &u_t));
        let zero = graph.constant(0.0);
        let rest = graph.substitute(residual, &BTreeMap::from([(u_x, zero), (u_t, zero)]));
        if rest != zero || r_t == zero || r_x == zero {
            return None;
        }
        let speed = graph.div(r_x, r_t);
        // Only u itself: with a derivative of it or another function the
        // equation would not be quasilinear.
        let allowed_anywhere = |leaf: &Leaf| matches!(leaf, Leaf::Symbol(_)) || *leaf == u;
        let coordinates = [self.space, self.time].map(Leaf::Symbol);
        let fits = graph.leaves(&[r_t, r_x]).iter().all(allowed_anywhere)
            && !graph.leaves(&[speed]).iter().any(|leaf| coordinates.contains(leaf));
        fits.then_some((u, speed))
    }
}

/// The integral of a polynomial in `u` from zero: with c = sum c_k u^k it is
/// u (c_0 + u (c_1/2 + u (c_2/3 + ..))), c_k from the derivatives at zero.
fn antiderivative(graph: &mut Graph, c: Expr, u: &Leaf) -> Option<Expr> {
    let degree = degree(graph, c, u)?;
    let zero = graph.constant(0.0);
    let at_zero = BTreeMap::from([(u.clone(), zero)]);
    let mut coefficients = Vec::new();
    let (mut derivative, mut factorial) = (c, 1.0);
    for k in 0..=degree {
        factorial *= f64::from(k + 1);
        let value = graph.substitute(derivative, &at_zero);
        let share = graph.constant(1.0 / factorial);
        coefficients.push(graph.mul(share, value));
        derivative = graph.partial(derivative, u);
    }
    let Leaf::Derivative(state, _) = *u else { return None };
    let u = graph.value(state);
    let horner = |sum, coefficient| {
        let sum = graph.add(coefficient, sum);
        graph.mul(u, sum)
    };
    Some(coefficients.into_iter().rev().fold(zero, horner))
}

/// The degree of a polynomial in `u`, seen in how it is computed; `None` for
/// anything else.
fn degree(graph: &Graph, e: Expr, u: &Leaf) -> Option<u32> {
    let leaves = graph.leaves(&[e]);
    let tape = Tape::compile(graph, &[e], &leaves).expect("all leaves are given");
    let mut degrees: Vec<Option<u32>> = Vec::new();
    for &instruction in tape.code() {
        let of = |k: u32| degrees[k as usize];
        let degree = match instruction {
            Instruction::Input(i) => Some(u32::from(leaves[i as usize] == *u)),
            _ if instruction.operands().all(|k| degrees[k] == Some(0)) => Some(0),
            Instruction::Unary(Unary::Neg, a) => of(a),
            Instruction::Power(a, n) => u32::try_from(n).ok().zip(of(a)).map(|(n, a)| n * a),
            Instruction::Binary(Binary::Add | Binary::Sub, a, b) => of(a).zip(of(b)).map(|(a, b)| a.max(b)),
            Instruction::Binary(Binary::Mul, a, b) => of(a).zip(of(b)).map(|(a, b)| a + b),
            Instruction::Binary(Binary::Div, a, b) if of(b) == Some(0) => of(a),
            _ => None,
        };
        degrees.push(degree.filter(|&degree| degree <= HIGHEST_DEGREE));
    }
    degrees[tape.outputs()[0] as usize]
}

/// Two expressions at scattered values of their leaves, with the values of the
/// state: all scales of both signs for the state, of one sign for the rest.
fn trials(graph: &Graph, u: &Leaf, expressions: [Expr; 2]) -> (Vec<f64>, [Vec<f64>; 2]) {
    let leaves = graph.leaves(&expressions);
    let tape = Tape::compile(graph, &expressions, &leaves).expect("all leaves are given");
    // Between -1 and 1, another sequence for each number.
    let scattered = |number: usize| -> Vec<f64> {
        let stride = 0.618_034 + 0.123_457 * number as f64;
        (0..TRIALS).map(|i| 2.0 * ((i + 1) as f64 * stride).fract() - 1.0).collect()
    };
    let states: Vec<f64> = scattered(0).into_iter().map(|s| (FRAC_PI_2 * s).tan()).collect();
    let column = |(number, leaf): (usize, &Leaf)| match leaf == u {
        true => states.clone(),
        false => scattered(1 + number).into_iter().map(f64::exp).collect(),
    };
    let columns: Vec<Vec<f64>> = leaves.iter().enumerate().map(column).collect();
    let inputs: Vec<Input<f64>> = columns.iter().map(|c| Input::Column(c)).collect();
    let mut scratch = Scratch::new();
    tape.eval(&inputs, TRIALS, &mut scratch);
    let values = [0, 1].map(|i| scratch.output(&tape, i).to_vec());
    (states, values)
}
