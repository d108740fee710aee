//! The solution on its grid, and its values anywhere.

use crate::compiled::Values;
use crate::grid::{Grid, Line, Weight};

/// What a solve cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Newton updates computed and used.
    pub newton_iterations: usize,
    /// LU factorisations.
    pub factorisations: usize,
    /// Time steps taken.
    pub steps: usize,
}

/// A solution on the nodes of the axes at times `t`.
///
/// It remembers what it was solved for and, if evolving, the inner stages of
/// every time step, so that [`Solver::tangents`](crate::Solver::tangents) and
/// [`Solver::adjoint`](crate::Solver::adjoint) can go through it again.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Nodes of each space axis, both ends included.
    pub axes: Vec<Vec<f64>>,
    /// Times from start to end; the one value 0 if steady.
    pub t: Vec<f64>,
    /// What the solve cost.
    pub work: Work,
    pub(crate) grid: Grid,
    /// The times as an axis; `None` if steady.
    pub(crate) time: Option<Line>,
    fields: Vec<Vec<f64>>,
    /// If this is a tangent: the fields whose derivative it is, and the
    /// derivative of the place of the interface.
    moving: Option<(Vec<Vec<f64>>, f64)>,
    /// What it was solved for.
    pub(crate) values: Values,
    /// The stages of every time step but the last, which is the next level, behind each other; for linearisations.
    stages: Vec<f64>,
}

/// Weights on the values of a solution: the derivative of a number by the
/// solution, such as that of a data misfit. Made by [`Solution::load`], filled
/// by [`Solution::scatter`] or value by value.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    fields: Vec<Vec<f64>>,
    /// The derivative by the place of an interface, nodal values held fixed.
    pub(crate) position: f64,
}

impl Load {
    /// The weights of a state, in the order of [`Solution::field`]. Where nodes
    /// move with an interface they are weights on the moving nodes.
    pub fn field(&self, state: usize) -> &[f64] {
        &self.fields[state]
    }

    /// The values of a state, to be changed.
    pub fn field_mut(&mut self, state: usize) -> &mut [f64] {
        &mut self.fields[state]
    }
}

impl Solution {
    /// An empty solution on a grid.
    pub(crate) fn new(grid: &Grid, time: Option<Line>, states: usize) -> Solution {
        let times = time.as_ref().map_or(1, |time| time.positions().len());
        // Each field is one block: many small ones in many pages are slow to go through.
        let room = times * grid.field_nodes().count();
        Solution {
            axes: grid.lines.iter().map(|line| line.positions().to_vec()).collect(),
            t: time.as_ref().map_or(vec![0.0], |time| time.positions().to_vec()),
            work: Work::default(),
            grid: grid.clone(),
            time,
            fields: (0..states).map(|_| Vec::with_capacity(room)).collect(),
            moving: None,
            values: Values::default(),
            stages: Vec::new(),
        }
    }

    /// An empty tangent of this solution, for a parameter that moves the
    /// interface at this rate.
    pub(crate) fn empty_tangent(&self, slope: f64) -> Solution {
        let mut tangent = Solution::new(&self.grid, self.time.clone(), self.fields.len());
        tangent.moving = (slope != 0.0).then(|| (self.fields.clone(), slope));
        tangent
    }

    /// Appends the unknown vector of one time.
    pub(crate) fn push(&mut self, u: &[f64]) {
        for (field, column) in self.fields.iter_mut().zip(u.chunks_exact(self.grid.nodes())) {
            match self.grid.wraps() {
                false => field.extend_from_slice(column),
                true => field.extend(self.grid.field_nodes().map(|node| column[node])),
            }
        }
    }

    /// The unknown vector of one time.
    pub(crate) fn level(&self, k: usize) -> Vec<f64> {
        let nodes = self.grid.nodes();
        if !self.grid.wraps() {
            return self
                .fields
                .iter()
                .flat_map(|field| &field[k * nodes..(k + 1) * nodes])
                .copied()
                .collect();
        }
        let mut u = vec![0.0; self.fields.len() * nodes];
        self.for_each_at(k, &self.fields, |unknown, value| u[unknown] = value);
        u
    }

    /// The unknown vector of a steady solution on another grid.
    pub(crate) fn on(&self, grid: &Grid) -> Vec<f64> {
        let same = |(own, other): (&Line, &Line)| own.positions() == other.positions();
        if self.grid.lines.iter().zip(&grid.lines).all(same) {
            return self.level(0);
        }
        let columns = grid.columns();
        let points: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let orders = vec![0; points.len()];
        (0..self.fields.len()).flat_map(|state| self.sample(state, &orders, &points)).collect()
    }

    /// How many times there are values of.
    pub(crate) fn levels(&self) -> usize {
        self.fields[0].len() / self.grid.field_nodes().count()
    }

    /// Divides the step from the last level into so many.
    pub(crate) fn divide_step(&mut self, parts: usize) {
        let next = self.levels();
        if let Some(time) = &mut self.time {
            *time = time.divided(next, parts);
            self.t = time.positions().to_vec();
        }
    }

    /// Appends the stages of a step in time and what it came to.
    pub(crate) fn push_step(&mut self, inner: &[Vec<f64>], end: &[f64]) {
        if self.stages.is_empty() {
            self.stages.reserve_exact((self.t.len() - 1) * inner.len() * end.len());
        }
        inner.iter().for_each(|stage| self.stages.extend_from_slice(stage));
        self.push(end);
    }

    /// The stages of the step from a level to the next, which is the last of them.
    pub(crate) fn stages(&self, level: usize) -> Vec<Vec<f64>> {
        let (size, inner) = (self.fields.len() * self.grid.nodes(), self.stages.len() / (self.t.len() - 1));
        let mut stages: Vec<Vec<f64>> =
            self.stages[level * inner..(level + 1) * inner].chunks_exact(size).map(<[f64]>::to_vec).collect();
        stages.push(self.level(level + 1));
        stages
    }

    /// Weights on the unknown vector of one time.
    pub(crate) fn load_level(&self, load: &Load, k: usize) -> Vec<f64> {
        let mut weights = vec![0.0; self.fields.len() * self.grid.nodes()];
        self.for_each_at(k, &load.fields, |unknown, value| weights[unknown] += value);
        weights
    }

    /// Calls `visit(unknown, value)` for all entries of fields at one time.
    fn for_each_at(&self, k: usize, fields: &[Vec<f64>], mut visit: impl FnMut(usize, f64)) {
        let size = self.grid.field_nodes().count();
        for (state, field) in fields.iter().enumerate() {
            for (node, &value) in self.grid.field_nodes().zip(&field[k * size..(k + 1) * size]) {
                visit(state * self.grid.nodes() + node, value);
            }
        }
    }

    /// No weights yet.
    pub fn load(&self) -> Load {
        Load { fields: self.fields.iter().map(|field| vec![0.0; field.len()]).collect(), position: 0.0 }
    }

    /// Values of a state in C order: time, then the first axis, then the second.
    pub fn field(&self, state: usize) -> &[f64] {
        &self.fields[state]
    }

    /// A derivative of a state at points, from the local polynomial through the
    /// nearest nodes: four of them per direction and one more per order of
    /// derivative, so that the error of the interpolation is of fourth order; two more
    /// along times that follow the solution.
    ///
    /// `orders` and `points` have one entry per coordinate: the space axes in
    /// their order, then time unless steady. A point is an entry of each of the
    /// columns `points`.
    ///
    /// Values at nodes are exact. A periodic axis wraps; outside the domain
    /// otherwise the polynomial of the nearest nodes is extrapolated. No
    /// polynomial reaches across an interface; at the interface itself
    /// derivatives are those below it.
    ///
    /// # Panics
    /// If there is not one order and one column per coordinate.
    pub fn sample(&self, state: usize, orders: &[usize], points: &[&[f64]]) -> Vec<f64> {
        let field = &self.fields[state];
        let mut values = vec![0.0; points[0].len()];
        self.for_each_weight(orders, points, |point, w| {
            values[point] += w.weight * field[w.node];
            if let Some((fields, slope)) = &self.moving {
                values[point] += slope * w.rate * fields[state][w.node];
            }
        });
        values
    }

    /// The transpose of [`Solution::sample`]: adds `sum_i weights_i * sample_i`,
    /// seen as a function of the solution, to a load.
    ///
    /// # Panics
    /// As [`Solution::sample`], or if there is not one weight per point.
    pub fn scatter(
        &self,
        load: &mut Load,
        state: usize,
        orders: &[usize],
        points: &[&[f64]],
        weights: &[f64],
    ) {
        assert_eq!(weights.len(), points[0].len(), "one weight per point");
        let (from, to) = (&self.fields[state], &mut load.fields[state]);
        self.for_each_weight(orders, points, |point, w| {
            to[w.node] += weights[point] * w.weight;
            load.position += weights[point] * w.rate * from[w.node];
        });
    }

    /// Calls `visit(point, weight)` for everything that makes the derivative at
    /// the points; the node of a weight is a position in the field.
    fn for_each_weight(&self, orders: &[usize], points: &[&[f64]], mut visit: impl FnMut(usize, Weight)) {
        let coordinates = self.grid.lines.len() + usize::from(self.time.is_some());
        assert_eq!(orders.len(), coordinates, "one order per coordinate");
        assert_eq!(points.len(), coordinates, "one column per coordinate");
        for point in 0..points[0].len() {
            let place: Vec<f64> = points.iter().map(|column| column[point]).collect();
            self.weights_at(orders, &place).into_iter().for_each(|weight| visit(point, weight));
        }
    }

    /// The product of the weights along all coordinates.
    fn weights_at(&self, orders: &[usize], place: &[f64]) -> Vec<Weight> {
        // Time is the last coordinate but the slowest index of a field.
        let time = self.time.iter().map(|time| (self.grid.lines.len(), time));
        let mut products = vec![Weight { node: 0, weight: 1.0, rate: 0.0 }];
        for (coordinate, line) in time.chain(self.grid.lines.iter().enumerate()) {
            let stencil = line.interpolate(place[coordinate], orders[coordinate]);
            let stride = line.positions().len();
            let times = |a: Weight, b: &Weight| Weight {
                node: a.node * stride + b.node,
                weight: a.weight * b.weight,
                rate: a.weight * b.rate + a.rate * b.weight,
            };
            products = products.iter().flat_map(|&a| stencil.iter().map(move |b| times(a, b))).collect();
        }
        products
    }
}
