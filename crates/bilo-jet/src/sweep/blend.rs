//! The gates of the modified MLP: u + g (v - u), a product of jets.

use super::{Buffers, JetNetwork, deposit};
use bilo_linear::Scalar;

impl<T: Scalar> JetNetwork<T> {
    /// u + g (v - u) by the product rule; group 0, or the tangent along a direction.
    pub(super) fn blend_forward(
        &self,
        gate: &[T],
        u: &[T],
        v: &[T],
        group: usize,
        plane: usize,
        result: &mut [T],
    ) {
        let start = group * self.plan.len() * plane;
        let size = self.plan.len() * plane;
        result[start..start + size].copy_from_slice(&u[start..start + size]);
        for &(alpha, beta, gamma, k) in &self.product_rule {
            for i in 0..plane {
                let (b, c) = (beta * plane + i, gamma * plane + i);
                let mut sum = gate[start + b] * (v[c] - u[c]);
                if group > 0 {
                    sum += gate[b] * (v[start + c] - u[start + c]);
                }
                result[start + alpha * plane + i] += k * sum;
            }
        }
    }

    /// Adds to the adjoints of gate, u and v (in group `adjoint.1`) what the blend's adjoint sends
    /// them. With `moved` = 0 the blend's jets are meant, otherwise their tangents along that direction,
    /// seen as functions of the jets.
    pub(super) fn blend_reverse(
        &self,
        before: &mut [Buffers<T>],
        [gate, u, v]: [usize; 3],
        adjoint: (&[T], usize),
        moved: usize,
        plane: usize,
    ) {
        let (adjoint, group) = adjoint;
        let size = self.plan.len() * plane;
        let (start, moved_start) = (group * size, moved * size);
        if moved == 0 {
            deposit(&mut before[u].adjoint[start..start + size], adjoint, true);
        }
        for &(alpha, beta, gamma, k) in &self.product_rule {
            for i in 0..plane {
                let (b, c) = (beta * plane + i, gamma * plane + i);
                let lambda = k * adjoint[alpha * plane + i];
                let difference = before[v].forward[moved_start + c] - before[u].forward[moved_start + c];
                let weight = before[gate].forward[moved_start + b];
                before[gate].adjoint[start + b] += lambda * difference;
                before[v].adjoint[start + c] += lambda * weight;
                before[u].adjoint[start + c] += -(lambda * weight);
            }
        }
    }
}
