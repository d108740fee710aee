//! Features that are products of functions of one coordinate each, with all their derivatives.

use super::JetNetwork;
use crate::dictionary::Axis;
use bilo_linear::Scalar;

impl<T: Scalar> JetNetwork<T> {
    /// Fills a group with the features' jets: each derivative of a product is one product of derivatives.
    pub(super) fn tensor(&self, axes: &[Axis], coordinates: &[T], points: usize, jets: &mut [T]) {
        let width: usize = axes.iter().map(|axis| axis.count).product();
        let orders: Vec<usize> = (0..axes.len())
            .map(|k| self.plan.indices().iter().map(|index| index.as_slice()[k]).max().unwrap_or(0).into())
            .collect();
        let mut tables: Vec<Vec<T>> = vec![vec![]; axes.len()];
        for point in 0..points {
            let place = &coordinates[point * axes.len()..];
            for ((axis, table), (&x, order)) in axes.iter().zip(&mut tables).zip(place.iter().zip(&orders)) {
                axis.derivatives(x, order + 1, table);
            }
            for (component, index) in self.plan.indices().iter().enumerate() {
                let start = (component * points + point) * width;
                let factors = (axes.iter().zip(&tables).zip(index.as_slice()))
                    .map(|((axis, table), &order)| &table[usize::from(order) * axis.count..][..axis.count]);
                multiply(factors, &mut jets[start..start + width]);
            }
        }
    }
}

/// All products of one number from each list, the last list running fastest.
fn multiply<'a, T: Scalar>(lists: impl Iterator<Item = &'a [T]>, products: &mut [T]) {
    products[0] = T::cast(1.0);
    let mut filled = 1;
    for list in lists {
        // From the last to the first, so that none is overwritten before it was read.
        for place in (0..filled).rev() {
            let factor = products[place];
            for (product, &value) in products[place * list.len()..][..list.len()].iter_mut().zip(list) {
                *product = factor * value;
            }
        }
        filled *= list.len();
    }
}
