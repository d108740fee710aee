//! Finite-difference and interpolation weights on any nodes.

/// Weights `w` with `sum_j w_j f(nodes_j)` equal to the derivative of the given
/// order at `x` of the polynomial through the nodes (Fornberg, Math. Comp. 51
/// (1988) 699). Zero when the order exceeds the degree.
pub(crate) fn fornberg(x: f64, nodes: &[f64], order: usize) -> Vec<f64> {
    // The recursion would leave rounding in the weight of a node itself.
    if order == 0 && nodes.contains(&x) {
        return nodes.iter().map(|&n| f64::from(n == x)).collect();
    }
    // c[j][k]: weight of node j in the k-th derivative, over the nodes so far.
    let mut c = vec![vec![0.0; order + 1]; nodes.len()];
    c[0][0] = 1.0;
    let mut product = 1.0;
    for i in 1..nodes.len() {
        let previous_product = std::mem::replace(&mut product, 1.0);
        let (ahead, behind) = (nodes[i] - x, nodes[i - 1] - x);
        for j in 0..i {
            let gap = nodes[i] - nodes[j];
            product *= gap;
            if j == i - 1 {
                for k in (0..=order.min(i)).rev() {
                    let lower = if k > 0 { k as f64 * c[j][k - 1] } else { 0.0 };
                    c[i][k] = previous_product / product * (lower - behind * c[j][k]);
                }
            }
            for k in (0..=order.min(i)).rev() {
                let lower = if k > 0 { k as f64 * c[j][k - 1] } else { 0.0 };
                c[j][k] = (ahead * c[j][k] - lower) / gap;
            }
        }
    }
    c.into_iter().map(|row| row[order]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_at_a_node_are_exactly_one_and_zero() {
        for i in 0..7 {
            let nodes: Vec<f64> = (0..7).map(|j| f64::from(j) / 7.0).collect();
            let mut unit = [0.0; 7];
            unit[i] = 1.0;
            assert_eq!(fornberg(nodes[i], &nodes, 0), unit);
        }
    }

    #[test]
    fn too_few_nodes_give_zero_weights() {
        assert_eq!(fornberg(0.3, &[0.0], 1), [0.0]);
    }
}
