//! Functions of time between the nodes of their grids: the polygon through the values.

/// The nodes around a place, so many cells from the first one, and their weights in the polygon or a derivative of it by that
/// place; beyond the ends it goes on straight.
#[inline]
pub(super) fn weights(along: f64, cells: usize, order: usize) -> [(usize, f64); 3] {
    // A cast cuts off, and makes zero of what is below it.
    let first = (along as usize).min(cells - 1);
    let part = along - first as f64;
    let [before, after] = match order {
        0 => [1.0 - part, part],
        1 => [-1.0, 1.0],
        _ => [0.0; 2],
    };
    [(first, before), (first + 1, after), (first, 0.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between nodes and beyond the ends, against the chord of its own cell.
    #[test]
    fn it_is_straight_from_node_to_node() {
        let nodes = [0.3, 1.0, -0.2, 0.4, 2.0];
        let derivative = |along: f64, order: usize| -> f64 {
            weights(along, 4, order).iter().map(|&(node, weight)| weight * nodes[node]).sum()
        };
        for along in (-5..=45).map(|i| f64::from(i) / 10.0) {
            let cell = (along.max(0.0) as usize).min(nodes.len() - 2);
            let slope = nodes[cell + 1] - nodes[cell];
            let chord = nodes[cell] + (along - cell as f64) * slope;
            assert!((derivative(along, 0) - chord).abs() < 1e-14, "{along}");
            assert_eq!([derivative(along, 1), derivative(along, 2)], [slope, 0.0]);
        }
    }
}
