//! The coefficients c_k of a plan's leading part: what the network needs of them, and their adjoints.

use super::{JetNetwork, Workspace};
use crate::activation::{Coefficients, JetActivation, Jets};
use bilo_linear::Scalar;

/// Coefficients of the leading part for one tile: one column of points each.
#[derive(Clone, Debug)]
pub(super) struct LeadingColumns<T> {
    values: Vec<T>,
    /// ċ_k by direction.
    tangents: Vec<T>,
}

/// Adjoints of the coefficients by direction, from the sweep of λ_q.
#[derive(Clone, Debug)]
pub(super) struct LeadingAdjoints<T> {
    sums: Vec<T>,
    /// A plane of the widest node, for work.
    plane: Vec<T>,
}

impl<T: Scalar> LeadingColumns<T> {
    /// The coefficients, with their tangents along a direction (from 1) if one is given.
    pub(super) fn along(&self, points: usize, direction: Option<usize>) -> Coefficients<'_, T> {
        let size = self.values.len();
        let tangents = match direction {
            Some(direction) => &self.tangents[(direction - 1) * size..direction * size],
            None => &[],
        };
        Coefficients { values: &self.values, tangents, points }
    }
}

impl<T: Scalar> LeadingAdjoints<T> {
    pub(super) fn clear(&mut self) {
        self.sums.fill(T::default());
    }

    /// Adds what one activation sends to the adjoints along a direction (from 1).
    pub(super) fn add(&mut self, activation: &JetActivation<T>, jets: Jets<'_, T>, direction: usize) {
        let size = jets.coefficients.values.len();
        let sums = &mut self.sums[(direction - 1) * size..direction * size];
        activation.coefficient_adjoints(jets, &mut self.plane[..jets.aux.len()], sums);
    }
}

impl<T: Scalar> JetNetwork<T> {
    pub(super) fn leading_buffers(
        &self,
        points: usize,
        directions: usize,
    ) -> (LeadingColumns<T>, LeadingAdjoints<T>) {
        let size = self.plan.leading().len() * points;
        let widest = self.network.nodes().iter().map(|node| node.width).max().unwrap_or(0);
        let zeros = |length| vec![T::default(); length];
        let columns = LeadingColumns { values: zeros(size), tangents: zeros(size * directions) };
        let plane = zeros(if self.moving { widest * points } else { 0 });
        (columns, LeadingAdjoints { sums: zeros(size * directions), plane })
    }

    /// Writes coefficient k at every point; if it belongs to a first derivative, the coordinate's own
    /// leading part is this coefficient.
    pub(crate) fn set_coefficient(&self, work: &mut Workspace<T>, k: usize, values: &[T]) {
        let (points, width) = (work.points, self.width(0));
        work.leading.values[k * points..(k + 1) * points].copy_from_slice(values);
        let component = self.plan.leading_component().expect("it has coefficients");
        if let Some(input) = (0..width).find(|&input| self.plan.leading_slope(input) == Some(k)) {
            let rows = work.nodes[0].forward[component * points * width..].chunks_exact_mut(width);
            for (row, &value) in rows.zip(values) {
                row[input] = value;
            }
        }
    }

    /// How coefficient k moves along direction `group` (from 1) at every point, to be written.
    pub(crate) fn coefficient_tangent<'a>(
        &self,
        work: &'a mut Workspace<T>,
        group: usize,
        k: usize,
    ) -> &'a mut [T] {
        let start = ((group - 1) * self.plan.leading().len() + k) * work.points;
        &mut work.leading.tangents[start..start + work.points]
    }

    /// Adjoint of coefficient k at every point, after the reverse sweep of direction `group` (from 1).
    pub(crate) fn coefficient_adjoint<'a>(&self, work: &'a Workspace<T>, group: usize, k: usize) -> &'a [T] {
        let start = ((group - 1) * self.plan.leading().len() + k) * work.points;
        &work.leading_adjoints.sums[start..start + work.points]
    }
}
