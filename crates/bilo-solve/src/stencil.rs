//! The uniform grid and finite-difference weights on it.

/// A uniform grid of unknown nodes. On a periodic axis the last node is the
/// first and is left out.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    pub(crate) cells: usize,
    pub(crate) periodic: bool,
}

impl Grid {
    /// Number of unknown nodes.
    pub(crate) fn nodes(&self) -> usize {
        if self.periodic { self.cells } else { self.cells + 1 }
    }

    /// Position of node `i`; node `cells` is the upper end exactly.
    pub(crate) fn x(&self, i: usize) -> f64 {
        let s = i as f64 / self.cells as f64;
        self.lo * (1.0 - s) + self.hi * s
    }

    fn step(&self) -> f64 {
        (self.hi - self.lo) / self.cells as f64
    }

    /// Fewest cells on which a derivative of this order has its stencils.
    pub(crate) fn cells_needed(order: usize) -> usize {
        (order + 2).max(4)
    }
}

/// One derivative at every node: row `i` lists the nodes and weights that make
/// the derivative there, second-order accurate.
#[derive(Debug)]
pub(crate) struct Stencils {
    first: Vec<usize>,
    nodes: Vec<usize>,
    weights: Vec<f64>,
}

impl Stencils {
    pub(crate) fn new(grid: &Grid, order: usize) -> Stencils {
        let mut all = Stencils { first: vec![0], nodes: Vec::new(), weights: Vec::new() };
        // Weights in units of the step are small rationals, free of the
        // rounding of the node positions.
        let unit = grid.step().powi(order as i32).recip();
        for i in 0..grid.nodes() {
            let (start, width) = placement(grid, order, i);
            let offsets: Vec<f64> = (0..width).map(|j| (start + j as isize) as f64).collect();
            let weights = fornberg(i as f64, &offsets, order);
            for (j, w) in weights.iter().enumerate() {
                let node = (start + j as isize).rem_euclid(grid.nodes() as isize);
                all.nodes.push(node as usize);
                all.weights.push(w * unit);
            }
            all.first.push(all.nodes.len());
        }
        all
    }

    /// Nodes and weights of the derivative at node `i`.
    pub(crate) fn at(&self, i: usize) -> (&[usize], &[f64]) {
        let range = self.first[i]..self.first[i + 1];
        (&self.nodes[range.clone()], &self.weights[range])
    }

    /// The derivative of a nodal column at node `i`.
    pub(crate) fn apply(&self, column: &[f64], i: usize) -> f64 {
        let (nodes, weights) = self.at(i);
        nodes.iter().zip(weights).map(|(&j, w)| w * column[j]).sum()
    }
}

/// First node (negative only before periodic wrapping) and number of nodes of
/// the stencil at node `i`: central where it fits; next to an end the
/// `order + 2` nodes that second-order accuracy asks for.
fn placement(grid: &Grid, order: usize, i: usize) -> (isize, usize) {
    let half = order.div_ceil(2);
    let last = grid.nodes() - 1;
    if grid.periodic || (i >= half && i + half <= last) {
        (i as isize - half as isize, 2 * half + 1)
    } else if i < half {
        (0, order + 2)
    } else {
        (last as isize - order as isize - 1, order + 2)
    }
}

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

    fn grid(cells: usize, periodic: bool) -> Grid {
        Grid { lo: -0.5, hi: 1.5, cells, periodic }
    }

    #[test]
    fn central_weights_are_the_textbook_ones() {
        let stencils = Stencils::new(&grid(8, false), 4);
        let h = 0.25_f64;
        let textbook = [1.0, -4.0, 6.0, -4.0, 1.0].map(|w| w / h.powi(4));
        let (nodes, weights) = stencils.at(4);
        assert_eq!(nodes, [2, 3, 4, 5, 6]);
        for (w, expected) in weights.iter().zip(textbook) {
            assert!((w - expected).abs() <= 1e-14 * expected.abs());
        }
    }

    #[test]
    fn one_sided_weights_of_the_second_derivative_are_the_textbook_ones() {
        let stencils = Stencils::new(&grid(4, false), 2);
        let h = 0.5_f64;
        let (nodes, weights) = stencils.at(0);
        assert_eq!(nodes, [0, 1, 2, 3]);
        for (w, expected) in weights.iter().zip([2.0, -5.0, 4.0, -1.0]) {
            assert!((w * h * h - expected).abs() < 1e-13);
        }
    }

    #[test]
    fn every_order_is_exact_on_polynomials_of_degree_order_plus_one() {
        // Second-order accuracy means that degree order + 1 has no error.
        let grid = grid(9, false);
        for order in 0..=5usize {
            let degree = order as i32 + 1;
            let column: Vec<f64> = (0..10).map(|i| grid.x(i).powi(degree)).collect();
            let stencils = Stencils::new(&grid, order);
            let factor: f64 = (2..=degree).map(f64::from).product();
            for i in 0..10 {
                let exact = factor * grid.x(i);
                let error = (stencils.apply(&column, i) - exact).abs();
                assert!(error < 1e-8, "order {order} node {i}: {error}");
            }
        }
    }

    #[test]
    fn periodic_stencils_wrap() {
        let stencils = Stencils::new(&grid(8, true), 1);
        assert_eq!(stencils.at(0).0, [7, 0, 1]);
        assert_eq!(stencils.at(7).0, [6, 7, 0]);
    }

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
