//! A field on the nodes at the stored times, and its values anywhere.

/// A solution, or a derivative of one, on the grid of nodes `x` at times `t`.
#[derive(Clone, Debug)]
pub struct Evolution {
    /// Nodes, both ends included.
    pub x: Vec<f64>,
    /// Stored times, from start to end.
    pub t: Vec<f64>,
    /// Time steps taken from start to end.
    pub steps: usize,
    periodic: bool,
    field: Vec<f64>,
}

impl Evolution {
    /// Nothing stored yet.
    pub(super) fn new(x: Vec<f64>, periodic: bool, steps: usize) -> Evolution {
        Evolution { x, t: Vec::new(), steps, periodic, field: Vec::new() }
    }

    /// This grid with nothing stored yet.
    pub(super) fn emptied(&self) -> Evolution {
        Evolution::new(self.x.clone(), self.periodic, self.steps)
    }

    /// Appends the unknown values of one time.
    pub(super) fn push(&mut self, t: f64, u: &[f64]) {
        self.t.push(t);
        self.field.extend_from_slice(u);
        if self.periodic {
            self.field.push(u[0]);
        }
    }

    /// Values time by time: node `i` at time `k` is entry `k * x.len() + i`. On a
    /// periodic axis the last node repeats the first.
    pub fn field(&self) -> &[f64] {
        &self.field
    }

    /// The nodal values of one stored time.
    pub fn level(&self, k: usize) -> &[f64] {
        &self.field[k * self.x.len()..][..self.x.len()]
    }

    /// Values at points `(x, t)` by linear interpolation in both, which never
    /// overshoots. A periodic axis wraps; elsewhere a point outside takes the
    /// value of the nearest end.
    pub fn sample(&self, points: &[(f64, f64)]) -> Vec<f64> {
        let value = |&(x, t): &(f64, f64)| self.corners(x, t).iter().map(|(i, w)| w * self.field[*i]).sum();
        points.iter().map(value).collect()
    }

    /// The transpose of [`Evolution::sample`]: for points `(x, t, weight)` the
    /// load, in the layout of the field, whose product with any field is the
    /// weighted sum of its samples.
    pub fn scatter(&self, weighted: &[(f64, f64, f64)]) -> Vec<f64> {
        let mut load = vec![0.0; self.field.len()];
        for &(x, t, weight) in weighted {
            for (i, w) in self.corners(x, t) {
                load[i] += weight * w;
            }
        }
        load
    }

    /// Entries of the field around a point, with their weights.
    fn corners(&self, x: f64, t: f64) -> [(usize, f64); 4] {
        let (lo, hi) = (self.x[0], self.x[self.x.len() - 1]);
        let x = if self.periodic { lo + (x - lo).rem_euclid(hi - lo) } else { x };
        let (i, right) = bracket(&self.x, x);
        let (k, later) = bracket(&self.t, t);
        let at = |k: usize, i: usize| k * self.x.len() + i;
        [
            (at(k, i), (1.0 - later) * (1.0 - right)),
            (at(k, i + 1), (1.0 - later) * right),
            (at(k + 1, i), later * (1.0 - right)),
            (at(k + 1, i + 1), later * right),
        ]
    }
}

/// The interval of an axis that holds `at`, and how far into it: between 0 and 1.
fn bracket(axis: &[f64], at: f64) -> (usize, f64) {
    let first = axis.partition_point(|&node| node <= at).clamp(1, axis.len() - 1) - 1;
    let fraction = (at - axis[first]) / (axis[first + 1] - axis[first]);
    (first, fraction.clamp(0.0, 1.0))
}
