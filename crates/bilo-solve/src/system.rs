//! The discrete equations at one resolution: residual vector and Jacobian.

use std::ops::Range;

use bilo_expr::{Input, Scratch};

use crate::compile::Block;
use crate::error::SolveError;
use crate::linear::Pattern;
use crate::solver::Solver;
use crate::statement::End;
use crate::stencil::{Grid, Stencils};

/// When, and how the time derivative follows from the unknowns:
/// `u_t = rate * (u - base)`.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) t: f64,
    pub(crate) rate: f64,
    pub(crate) base: Vec<f64>,
}

/// A block of residuals at a range of nodes, with its working memory.
struct Placed<'a> {
    block: &'a Block,
    nodes: Range<usize>,
    columns: Vec<Vec<f64>>,
    scratch: Scratch<f64>,
}

/// Where one equation comes from.
#[derive(Clone, Copy)]
struct Row {
    placed: usize,
    residual: usize,
    node: usize,
}

/// The equations for the unknown vector `u[state * nodes + node]`; row numbers
/// run the same way.
pub(crate) struct System<'a> {
    pub(crate) grid: Grid,
    x: Vec<f64>,
    states: usize,
    steady: bool,
    parameters: &'a [f64],
    stencils: Vec<Stencils>,
    placed: Vec<Placed<'a>>,
    rows: Vec<Row>,
    pattern: Pattern,
    /// Where each product of a partial derivative and a stencil weight is
    /// added, in the order of [`System::evaluate`].
    places: Vec<usize>,
    velocity: Vec<f64>,
    residual: Vec<f64>,
    jacobian: Vec<f64>,
}

const INTERIOR: usize = 0;
const LOWER: usize = 1;
const UPPER: usize = 2;

impl<'a> System<'a> {
    pub(crate) fn new(solver: &'a Solver, parameters: &'a [f64], grid: Grid) -> System<'a> {
        let n = grid.nodes();
        let placed = vec![
            Placed::new(&solver.interior, 0..n),
            Placed::new(&solver.lower, 0..1),
            Placed::new(&solver.upper, n - 1..n),
        ];
        let stencils: Vec<Stencils> =
            (0..=solver.highest_order()).map(|order| Stencils::new(&grid, order)).collect();
        let rows = rows(solver, n);
        let pairs = pairs(&rows, &placed, &stencils, n);
        let (pattern, places) = Pattern::new(rows.len(), &pairs);
        System {
            x: (0..n).map(|i| grid.x(i)).collect(),
            grid,
            states: solver.states(),
            steady: solver.time.is_none(),
            parameters,
            stencils,
            placed,
            velocity: vec![0.0; rows.len()],
            residual: vec![0.0; rows.len()],
            jacobian: vec![0.0; pattern.entries()],
            rows,
            pattern,
            places,
        }
    }

    pub(crate) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The residuals at the last evaluation.
    pub(crate) fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// The Jacobian at the last evaluation.
    pub(crate) fn jacobian(&self) -> &[f64] {
        &self.jacobian
    }

    /// Residuals and Jacobian at `u`.
    pub(crate) fn evaluate(&mut self, u: &[f64], stage: &Stage) {
        for ((v, u), base) in self.velocity.iter_mut().zip(u).zip(&stage.base) {
            *v = stage.rate * (u - base);
        }
        for i in 0..self.placed.len() {
            self.run_tape(i, u, stage.t);
        }
        self.jacobian.fill(0.0);
        let mut places = self.places.iter();
        for (row, residual) in self.rows.iter().zip(&mut self.residual) {
            let Placed { block, nodes, scratch, .. } = &self.placed[row.placed];
            let point = row.node - nodes.start;
            *residual = scratch.output(&block.tape, row.residual)[point];
            for term in &block.terms[row.residual] {
                let derivative = block.derivatives[term.derivative];
                let chain = if derivative.order_t == 1 { stage.rate } else { 1.0 };
                let partial = chain * scratch.output(&block.tape, term.output)[point];
                let (_, weights) = self.stencils[derivative.order_x].at(row.node);
                for (w, &place) in weights.iter().zip(places.by_ref()) {
                    self.jacobian[place] += partial * w;
                }
            }
        }
    }

    fn run_tape(&mut self, i: usize, u: &[f64], t: f64) {
        let n = self.x.len();
        let Placed { block, nodes, columns, scratch } = &mut self.placed[i];
        for (derivative, column) in block.derivatives.iter().zip(columns.iter_mut()) {
            let source = if derivative.order_t == 1 { &self.velocity } else { u };
            let source = &source[derivative.state * n..(derivative.state + 1) * n];
            let stencils = &self.stencils[derivative.order_x];
            for (value, node) in column.iter_mut().zip(nodes.clone()) {
                *value = stencils.apply(source, node);
            }
        }
        let mut inputs: Vec<Input<'_, f64>> = columns.iter().map(|c| Input::Column(c)).collect();
        inputs.push(Input::Column(&self.x[nodes.clone()]));
        if !self.steady {
            inputs.push(Input::Uniform(t));
        }
        inputs.extend(self.parameters.iter().map(|&p| Input::Uniform(p)));
        block.tape.eval(&inputs, nodes.len(), scratch);
    }

    /// An error if the last evaluation met a number that is not finite.
    pub(crate) fn check_finite(&self, t: f64) -> Result<(), SolveError> {
        let mut bad = self.residual.iter().position(|r| !r.is_finite());
        let mut what = "a residual";
        if bad.is_none() {
            what = "the derivative of a residual";
            self.pattern.for_each(&self.jacobian, |row, _, v| {
                if !v.is_finite() {
                    bad = Some(row);
                }
            });
        }
        match bad {
            None => Ok(()),
            Some(row) => Err(SolveError::NonFinite { what, x: self.x[self.rows[row].node], t }),
        }
    }

    /// Largest residual relative to the size of the terms it is made of, where
    /// each state counts with its largest value. At most one; near machine
    /// epsilon nothing but rounding is left.
    pub(crate) fn relative_residual(&self, u: &[f64]) -> f64 {
        let n = self.x.len();
        let scales = self.scales(u);
        let mut terms = vec![0.0; self.rows.len()];
        self.pattern.for_each(&self.jacobian, |row, column, v| {
            terms[row] += v.abs() * scales[column / n];
        });
        largest_ratio(&self.residual, &terms)
    }

    /// Largest update of any state relative to the state's largest
    /// value; infinite if not finite.
    pub(crate) fn relative_update(&self, update: &[f64], u: &[f64]) -> f64 {
        if update.iter().any(|d| !d.is_finite()) {
            return f64::INFINITY;
        }
        largest_ratio(&self.scales(update), &self.scales(u))
    }

    /// Largest magnitude of each state.
    fn scales(&self, u: &[f64]) -> Vec<f64> {
        (0..self.states)
            .map(|s| {
                let n = self.x.len();
                u[s * n..(s + 1) * n].iter().fold(0.0_f64, |m, a| m.max(a.abs()))
            })
            .collect()
    }
}

impl<'a> Placed<'a> {
    fn new(block: &'a Block, nodes: Range<usize>) -> Placed<'a> {
        Placed {
            block,
            columns: vec![vec![0.0; nodes.len()]; block.derivatives.len()],
            nodes,
            scratch: Scratch::new(),
        }
    }
}

/// Largest `|part| / (|part| + whole)`; nothing counts as nothing.
fn largest_ratio(parts: &[f64], wholes: &[f64]) -> f64 {
    parts
        .iter()
        .zip(wholes)
        .filter(|(part, _)| **part != 0.0)
        .map(|(part, whole)| part.abs() / (part.abs() + whole))
        .fold(0.0, f64::max)
}

/// The interior equations everywhere, but for those that boundary equations
/// replace.
fn rows(solver: &Solver, nodes: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = (0..solver.states() * nodes)
        .map(|row| Row { placed: INTERIOR, residual: row / nodes, node: row % nodes })
        .collect();
    for replaced in &solver.replacements {
        let node = match replaced.end {
            End::Lower => replaced.depth,
            End::Upper => nodes - 1 - replaced.depth,
        };
        let (end, residual) = solver.boundary[replaced.boundary];
        let (placed, holds_at) = match end {
            End::Lower => (LOWER, 0),
            End::Upper => (UPPER, nodes - 1),
        };
        rows[replaced.state * nodes + node] = Row { placed, residual, node: holds_at };
    }
    rows
}

/// (row, column) of every product that [`System::evaluate`] adds, in its order.
fn pairs(rows: &[Row], placed: &[Placed<'_>], stencils: &[Stencils], nodes: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (r, row) in rows.iter().enumerate() {
        let block = placed[row.placed].block;
        for term in &block.terms[row.residual] {
            let derivative = block.derivatives[term.derivative];
            let (at, _) = stencils[derivative.order_x].at(row.node);
            pairs.extend(at.iter().map(|&j| (r, derivative.state * nodes + j)));
        }
    }
    pairs
}
