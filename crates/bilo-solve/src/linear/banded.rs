//! LU factorisation of band matrices with row exchanges. In one space dimension
//! the matrices are such, and then nothing needs to be looked up: a
//! factorisation costs little more than two solves.

/// How far entries are from the diagonal once the unknowns are numbered node by
/// node instead of state by state.
#[derive(Clone, Debug)]
pub(super) struct Band {
    /// The number of each unknown in the band.
    order: Vec<usize>,
    below: usize,
    above: usize,
}

impl Band {
    /// The narrowest band that holds these (row, column) pairs of unknowns that are
    /// numbered state by state: node by node along a line, or along both halves of a ring at once, so that its ends are neighbours.
    pub(super) fn new(size: usize, states: usize, pairs: &[(usize, usize)]) -> Band {
        let nodes = size / states;
        let along = |node: usize| node;
        let folded = |node: usize| if 2 * node < nodes { 2 * node } else { 2 * (nodes - 1 - node) + 1 };
        let line = Band::in_order(size, states, pairs, along);
        let ring = Band::in_order(size, states, pairs, folded);
        if ring.width() < line.width() { ring } else { line }
    }

    fn in_order(
        size: usize,
        states: usize,
        pairs: &[(usize, usize)],
        number: impl Fn(usize) -> usize,
    ) -> Band {
        let nodes = size / states;
        let order: Vec<usize> = (0..size).map(|i| number(i % nodes) * states + i / nodes).collect();
        let distance = |from: usize, to: usize| order[to].saturating_sub(order[from]);
        Band {
            below: pairs.iter().map(|&(row, column)| distance(column, row)).max().unwrap_or(0),
            above: pairs.iter().map(|&(row, column)| distance(row, column)).max().unwrap_or(0),
            order,
        }
    }

    /// Entries of a row at most, when it has been exchanged with another.
    pub(super) fn width(&self) -> usize {
        self.below + self.above + 1
    }

    /// Where an entry is stored before the factorisation: the first rows begin
    /// with column 0, the others with their first column of the band.
    pub(super) fn place(&self, row: usize, column: usize) -> usize {
        let (row, column) = (self.order[row], self.order[column]);
        row * self.width() + column - row.saturating_sub(self.below)
    }
}

/// The factors L and D U, U with a diagonal of ones.
pub(super) struct BandedLu {
    band: Band,
    /// The inverse of D, then U without its diagonal, row by row. Before, the
    /// rows still to be eliminated, each from the present column on.
    rows: Vec<f64>,
    /// The multiples of each row that were taken off the next `below` rows.
    multiples: Vec<f64>,
    /// How far below each row that one was which it was exchanged with.
    exchanged: Vec<usize>,
    /// A vector in the order of the band, and zeros behind it.
    ordered: Vec<f64>,
}

impl BandedLu {
    pub(super) fn new(band: &Band) -> BandedLu {
        let size = band.order.len();
        BandedLu {
            rows: vec![0.0; size * band.width()],
            multiples: vec![0.0; size * band.below],
            exchanged: vec![0; size],
            ordered: vec![0.0; size + band.width()],
            band: band.clone(),
        }
    }

    /// Factorises the matrix that has `values` at `places` of the band. A pivot
    /// of zero leaves numbers that are not finite.
    pub(super) fn factorise(&mut self, places: &[usize], values: &[f64]) {
        self.rows.fill(0.0);
        for (&place, value) in places.iter().zip(values) {
            self.rows[place] = *value;
        }
        // The commonest shapes with sizes that the compiler knows.
        match (self.band.below, self.band.width()) {
            (1, 3) => self.eliminate(1, 3),
            (2, 5) => self.eliminate(2, 5),
            (3, 7) => self.eliminate(3, 7),
            (5, 11) => self.eliminate(5, 11),
            (below, width) => self.eliminate(below, width),
        }
    }

    #[inline(always)]
    fn eliminate(&mut self, below: usize, width: usize) {
        let size = self.exchanged.len();
        for k in 0..size {
            let (done, rest) = self.rows.split_at_mut((k + 1) * width);
            let top = &mut done[k * width..];
            let next = &mut rest[..below.min(size - 1 - k) * width];
            let mut largest = (top[0].abs(), 0);
            for (i, row) in next.chunks_exact(width).enumerate() {
                if row[0].abs() > largest.0 {
                    largest = (row[0].abs(), i + 1);
                }
            }
            self.exchanged[k] = largest.1;
            if largest.1 > 0 {
                top.swap_with_slice(&mut next[(largest.1 - 1) * width..][..width]);
            }
            let inverse = top[0].recip();
            top[1..].iter_mut().for_each(|entry| *entry *= inverse);
            let multiples = &mut self.multiples[k * below..][..below];
            for (row, multiple) in next.chunks_exact_mut(width).zip(multiples) {
                // Of the row of U, whose diagonal is one.
                let first = row[0];
                *multiple = first * inverse;
                for j in 1..width {
                    row[j - 1] = row[j] - first * top[j];
                }
                row[width - 1] = 0.0;
            }
            top[0] = inverse;
        }
    }

    /// Replaces the right-hand side by the solution.
    pub(super) fn solve(&mut self, rhs: &mut [f64]) {
        let mut x = std::mem::take(&mut self.ordered);
        self.band.order.iter().zip(&*rhs).for_each(|(&place, value)| x[place] = *value);
        match self.band.below {
            1 => self.forward_few::<1, 2>(&mut x),
            2 => self.forward_few::<2, 3>(&mut x),
            3 => self.forward_few::<3, 4>(&mut x),
            4 => self.forward_few::<4, 5>(&mut x),
            5 => self.forward_few::<5, 6>(&mut x),
            _ => self.forward(&mut x, 0),
        }
        match self.band.width() {
            3 => self.back_few::<2>(&mut x),
            4 => self.back_few::<3>(&mut x),
            5 => self.back_few::<4>(&mut x),
            7 => self.back_few::<6>(&mut x),
            9 => self.back_few::<8>(&mut x),
            11 => self.back_few::<10>(&mut x),
            _ => self.back(&mut x, 0),
        }
        self.band.order.iter().zip(rhs).for_each(|(&place, value)| *value = x[place]);
        self.ordered = x;
    }

    /// Solves with L, from a row on.
    fn forward(&self, x: &mut [f64], from: usize) {
        let below = self.band.below;
        for (k, &exchanged) in self.exchanged.iter().enumerate().skip(from) {
            x.swap(k, k + exchanged);
            let known = x[k];
            let multiples = &self.multiples[k * below..][..below];
            x[k + 1..].iter_mut().zip(multiples).for_each(|(x, multiple)| *x -= multiple * known);
        }
    }

    /// Solves where what the next numbers depend on fits in registers: each
    /// waits for the one before, and memory would make it wait longer. Number k is in register k modulo `RING`, which is
    /// `BELOW` + 1.
    fn forward_few<const BELOW: usize, const RING: usize>(&self, x: &mut [f64]) {
        let (multiples, _) = self.multiples.as_chunks::<BELOW>();
        let mut ring: [f64; RING] = std::array::from_fn(|j| x[j]);
        let rounds = self.exchanged.len() / RING;
        for round in 0..rounds {
            for s in 0..RING {
                let k = round * RING + s;
                let exchanged = self.exchanged[k];
                if exchanged > 0 {
                    // One by one: what is found by a number does not stay in a register.
                    (1..RING).filter(|j| exchanged == *j).for_each(|j| ring.swap(s, (s + j) % RING));
                }
                let known = ring[s];
                x[k] = known;
                for j in 1..RING {
                    ring[(s + j) % RING] -= multiples[k][j - 1] * known;
                }
                ring[s] = x[k + RING];
            }
        }
        x[rounds * RING..][..RING].copy_from_slice(&ring);
        self.forward(x, rounds * RING);
    }

    /// Solves with D U, down to a row.
    fn back(&self, x: &mut [f64], to: usize) {
        for (k, row) in self.rows.chunks_exact(self.band.width()).enumerate().skip(to).rev() {
            let sum: f64 = x[k + 1..].iter().zip(&row[1..]).map(|(x, entry)| x * entry).sum();
            x[k] = x[k] * row[0] - sum;
        }
    }

    /// Solves backwards in registers, number k in that of k modulo `ABOVE`.
    fn back_few<const ABOVE: usize>(&self, x: &mut [f64]) {
        let rounds = self.exchanged.len() / ABOVE;
        self.back(x, rounds * ABOVE);
        let mut ring: [f64; ABOVE] = std::array::from_fn(|j| x[rounds * ABOVE + j]);
        for round in (0..rounds).rev() {
            for s in (0..ABOVE).rev() {
                let k = round * ABOVE + s;
                let row = &self.rows[k * (ABOVE + 1)..][..ABOVE + 1];
                // The nearest comes last: the others were known before.
                let rest: f64 = (2..=ABOVE).rev().map(|j| row[j] * ring[(s + j) % ABOVE]).sum();
                let value = (x[k] * row[0] - rest) - row[1] * ring[(s + 1) % ABOVE];
                ring[s] = value;
                x[k] = value;
            }
        }
    }

    /// Replaces the right-hand side by the solution with the transposed matrix.
    pub(super) fn solve_transposed(&mut self, rhs: &mut [f64]) {
        let (below, width) = (self.band.below, self.band.width());
        let x = &mut self.ordered;
        self.band.order.iter().zip(&*rhs).for_each(|(&place, value)| x[place] = *value);
        for (k, row) in self.rows.chunks_exact(width).enumerate() {
            let known = x[k];
            x[k] *= row[0];
            x[k + 1..].iter_mut().zip(&row[1..]).for_each(|(x, entry)| *x -= entry * known);
        }
        for (k, &exchanged) in self.exchanged.iter().enumerate().rev() {
            let multiples = &self.multiples[k * below..][..below];
            let sum: f64 = x[k + 1..].iter().zip(multiples).map(|(x, multiple)| x * multiple).sum();
            x[k] -= sum;
            x.swap(k, k + exchanged);
        }
        self.band.order.iter().zip(rhs).for_each(|(&place, value)| *value = x[place]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in [-1/2, 1/2) without a pattern.
    fn number(i: usize) -> f64 {
        ((i + 1) as f64 * 0.618_033_988_749_894_9 * (i % 7 + 3) as f64).fract() - 0.5
    }

    /// Gauss-Jordan elimination with row exchanges.
    fn dense_solution(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        for k in 0..b.len() {
            let pivot = (k..b.len()).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("rows");
            a.swap(k, pivot);
            b.swap(k, pivot);
            for i in (0..b.len()).filter(|&i| i != k) {
                let (factor, top) = (a[i][k] / a[k][k], a[k].clone());
                a[i].iter_mut().zip(&top).for_each(|(entry, top)| *entry -= factor * top);
                b[i] -= factor * b[k];
            }
        }
        b.iter().enumerate().map(|(i, b)| b / a[i][i]).collect()
    }

    /// A ring of 20 or 21 nodes with neighbours on both sides; along the line it would fill the matrix.
    #[test]
    fn a_ring_is_a_band_of_twice_the_width() {
        for (nodes, states) in [(20, 1), (21, 1), (20, 2)] {
            let size = nodes * states;
            let near = |i: usize, j: usize| {
                let apart = (i % nodes).abs_diff(j % nodes);
                apart.min(nodes - apart) <= 1
            };
            let all = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
            let pairs: Vec<(usize, usize)> = all.filter(|&(i, j)| near(i, j)).collect();
            let band = Band::new(size, states, &pairs);
            assert_eq!(band.width(), 6 * states - 1, "{nodes} {states}");
            let values: Vec<f64> = (0..pairs.len()).map(number).collect();
            let mut matrix = vec![vec![0.0; size]; size];
            pairs.iter().zip(&values).for_each(|(&(i, j), value)| matrix[i][j] = *value);
            let places: Vec<usize> = pairs.iter().map(|&(i, j)| band.place(i, j)).collect();
            let mut lu = BandedLu::new(&band);
            lu.factorise(&places, &values);
            let rhs: Vec<f64> = (0..size).map(number).collect();
            let mut x = rhs.clone();
            lu.solve(&mut x);
            for (x, exact) in x.iter().zip(dense_solution(matrix, rhs)) {
                // Rounding times a condition number of some hundreds.
                assert!(
                    (x - exact).abs() < 1e-11 * exact.abs().max(1.0),
                    "{nodes} {states}: {x} for {exact}"
                );
            }
        }
    }

    #[test]
    fn solutions_are_those_of_a_dense_solve() {
        // Bands of all kinds, with and without code of their own; small diagonals,
        // so that rows are exchanged; one and two states.
        for (below, above, states) in
            [(1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 1), (3, 1, 1), (1, 1, 2), (0, 2, 1)]
        {
            let nodes = 20;
            let size = nodes * states;
            let node = |i: usize| i % nodes;
            let near = |i: usize, j: usize| node(j) <= node(i) + above && node(i) <= node(j) + below;
            let all = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
            let pairs: Vec<(usize, usize)> = all.filter(|&(i, j)| near(i, j)).collect();
            let diagonal = if below > 0 { 0.1 } else { 10.0 };
            let entry =
                |i: usize, j: usize| if i == j { diagonal } else { 1.0 } * (number(i * size + j) + 0.6);
            let values: Vec<f64> = pairs.iter().map(|&(i, j)| entry(i, j)).collect();
            let mut matrix = vec![vec![0.0; size]; size];
            pairs.iter().zip(&values).for_each(|(&(i, j), value)| matrix[i][j] = *value);
            let transposed: Vec<Vec<f64>> =
                (0..size).map(|j| (0..size).map(|i| matrix[i][j]).collect()).collect();
            let rhs: Vec<f64> = (0..size).map(number).collect();
            let band = Band::new(size, states, &pairs);
            assert_eq!(band.width(), (below + above + 2) * states - 1);
            let places: Vec<usize> = pairs.iter().map(|&(i, j)| band.place(i, j)).collect();
            let mut lu = BandedLu::new(&band);
            // Twice: nothing of the first may be left.
            for _ in 0..2 {
                lu.factorise(&places, &values);
                assert_eq!(below > 0, lu.exchanged.iter().any(|&k| k > 0));
            }
            let (mut x, mut y) = (rhs.clone(), rhs.clone());
            lu.solve(&mut x);
            lu.solve_transposed(&mut y);
            for (found, exact) in
                [(x, dense_solution(matrix, rhs.clone())), (y, dense_solution(transposed, rhs))]
            {
                let scale = exact.iter().fold(1.0_f64, |m, e| m.max(e.abs()));
                for (x, e) in found.iter().zip(&exact) {
                    // Rounding times a condition number of at most a few thousands.
                    assert!((x - e).abs() < 1e-12 * scale, "{below} {above} {states}: {x} for {e}");
                }
            }
        }
    }
}
