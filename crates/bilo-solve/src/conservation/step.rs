//! One time step of the scheme, its tangent and its adjoint.
//!
//! The flux through a face is the flux function at one *upwind* state: the left
//! one, the right one or a critical point between them. So a step is a choice of
//! states, and its derivative is the derivative of the flux at the chosen ones.

use bilo_expr::Scratch;

use super::flux::{Curve, Slopes};

/// What lies outside an end.
#[derive(Debug)]
pub(super) enum Ghost {
    /// The state at this node.
    Node(usize),
    /// Given states, step by step, and their derivatives by each parameter.
    Given { value: Vec<f64>, by_parameter: Vec<Vec<f64>> },
}

impl Ghost {
    fn value(&self, step: usize, u: &[f64]) -> f64 {
        match self {
            Ghost::Node(node) => u[*node],
            Ghost::Given { value, .. } => value[step],
        }
    }

    fn tangent(&self, step: usize, du: &[f64], dp: &[f64]) -> f64 {
        match self {
            Ghost::Node(node) => du[*node],
            Ghost::Given { by_parameter, .. } => by_parameter.iter().zip(dp).map(|(g, d)| g[step] * d).sum(),
        }
    }

    fn adjoint(&self, step: usize, weight: f64, lambda: &mut [f64], by_p: &mut [f64]) {
        match self {
            Ghost::Node(node) => lambda[*node] += weight,
            Ghost::Given { by_parameter, .. } => {
                by_p.iter_mut().zip(by_parameter).for_each(|(sum, g)| *sum += weight * g[step]);
            }
        }
    }
}

/// The scheme at given inputs on a given mesh.
#[derive(Debug)]
pub(super) struct Scheme<'a> {
    pub(super) curve: Curve<'a>,
    /// At the lower and the upper end.
    pub(super) ghosts: [Ghost; 2],
    /// Time step over width, for each cell.
    pub(super) ratio: Vec<f64>,
}

impl Scheme<'_> {
    /// u_i - dt/w_i (F_{i+1/2} - F_{i-1/2}).
    pub(super) fn advance(&self, step: usize, u: &mut [f64], scratch: &mut Scratch<f64>) {
        let states = self.states(step, u);
        let flux = self.curve.flux(&states, scratch);
        let upwind = self.upwind(&states, flux);
        let (lo, hi) = self.curve.range;
        for (i, (u, ratio)) in u.iter_mut().zip(&self.ratio).enumerate() {
            let outflow = flux[upwind[i + 1]] - flux[upwind[i]];
            // The scheme is monotone: only rounding can leave the range, and the
            // flux need not be defined there.
            *u = (*u - ratio * outflow).clamp(lo, hi);
        }
    }

    /// The derivative of [`Scheme::advance`] at `u` along `du` and `dp`.
    pub(super) fn tangent(
        &self,
        step: usize,
        u: &[f64],
        du: &mut [f64],
        dp: &[f64],
        scratch: &mut Scratch<f64>,
    ) {
        let states = self.states(step, u);
        let Slopes { flux, by_state, by_parameter } = self.curve.slopes(&states, scratch);
        let upwind = self.upwind(&states, flux);
        let mut moved = vec![self.ghosts[0].tangent(step, du, dp)];
        moved.extend_from_slice(du);
        moved.push(self.ghosts[1].tangent(step, du, dp));
        // The flux is stationary at critical points, wherever they move.
        moved.resize(states.len(), 0.0);
        let change = |k: usize| {
            let by_p: f64 = by_parameter.iter().zip(dp).map(|(f_p, d)| f_p[k] * d).sum();
            by_state[k] * moved[k] + by_p
        };
        for (i, (du, ratio)) in du.iter_mut().zip(&self.ratio).enumerate() {
            *du -= ratio * (change(upwind[i + 1]) - change(upwind[i]));
        }
    }

    /// The transpose of [`Scheme::tangent`]: takes `lambda` from after the step
    /// to before it and adds to the derivative by the parameters.
    pub(super) fn adjoint(
        &self,
        step: usize,
        u: &[f64],
        lambda: &mut [f64],
        by_p: &mut [f64],
        scratch: &mut Scratch<f64>,
    ) {
        let states = self.states(step, u);
        let Slopes { flux, by_state, by_parameter } = self.curve.slopes(&states, scratch);
        let upwind = self.upwind(&states, flux);
        let mut pulled = vec![0.0; states.len()];
        let weighted: Vec<f64> = lambda.iter().zip(&self.ratio).map(|(l, r)| l * r).collect();
        for (face, &k) in upwind.iter().enumerate() {
            // A face feeds the cell on its right and drains the one on its left.
            let fed = weighted.get(face).copied().unwrap_or(0.0);
            let drained = if face > 0 { weighted[face - 1] } else { 0.0 };
            let weight = fed - drained;
            pulled[k] += weight * by_state[k];
            by_p.iter_mut().zip(&by_parameter).for_each(|(sum, f_p)| *sum += weight * f_p[k]);
        }
        let cells = lambda.len();
        lambda.iter_mut().zip(&pulled[1..]).for_each(|(l, p)| *l += p);
        self.ghosts[0].adjoint(step, pulled[0], lambda, by_p);
        self.ghosts[1].adjoint(step, pulled[cells + 1], lambda, by_p);
    }

    /// All states a face may choose: ghost, cells, ghost, critical points.
    fn states(&self, step: usize, u: &[f64]) -> Vec<f64> {
        let mut states = Vec::with_capacity(u.len() + 2 + self.curve.critical.len());
        states.push(self.ghosts[0].value(step, u));
        states.extend_from_slice(u);
        states.push(self.ghosts[1].value(step, u));
        states.extend_from_slice(&self.curve.critical);
        states
    }

    /// The chosen state of each face, from left to right.
    fn upwind(&self, states: &[f64], flux: &[f64]) -> Vec<usize> {
        let sides = self.ratio.len() + 2;
        let pieces: Vec<usize> = states[..sides].iter().map(|&u| self.curve.piece(u)).collect();
        (0..sides - 1)
            .map(|left| {
                let (from, to) = (pieces[left], pieces[left + 1]);
                // On one piece the sign of the slope decides: comparing fluxes
                // of nearly equal states would be left to rounding.
                if from == to {
                    return if self.curve.rises(from) { left } else { left + 1 };
                }
                let between = (from.min(to)..from.max(to)).map(|c| sides + c);
                riemann(states, flux, left, between)
            })
            .collect()
    }
}

/// Godunov's flux: the least over [ul, ur] where ul <= ur, the largest
/// over [ur, ul] otherwise (Osher, SIAM J. Numer. Anal. 21 (1984) 217); of equal
/// ones the left.
fn riemann(states: &[f64], flux: &[f64], left: usize, between: impl Iterator<Item = usize>) -> usize {
    let least = states[left] <= states[left + 1];
    let better = |a: usize, b: usize| if least { flux[a] < flux[b] } else { flux[a] > flux[b] };
    let first = if better(left + 1, left) { left + 1 } else { left };
    between.fold(first, |best, c| if better(c, best) { c } else { best })
}
