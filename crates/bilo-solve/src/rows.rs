//! Which equation stands in which row of the discrete system.

use bilo_expr::{Input, Scratch, Tape};

use crate::compiled::{Compiled, Condition, Pinned};
use crate::grid::{Grid, Location};
use crate::operator::Points;
use crate::statement::End;

/// One summand of a discrete equation: a number times a residual at a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) block: usize,
    pub(crate) residual: usize,
    pub(crate) point: usize,
    pub(crate) weight: f64,
    /// The derivative of the weight by the place of the interface.
    pub(crate) rate: f64,
}

/// The equations for the unknowns `u[state * nodes + node]`; row numbers run
/// the same way.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    first: Vec<usize>,
    parts: Vec<Part>,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// The parts of every row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Part]> {
        (0..self.len()).map(|row| self.parts(row))
    }

    pub(crate) fn parts(&self, row: usize) -> &[Part] {
        &self.parts[self.first[row]..self.first[row + 1]]
    }
}

/// What holds in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// The equation of the state inside the domain.
    Interior,
    /// A boundary equation, at this node of its side.
    Boundary { boundary: usize, node: usize },
    /// The state has its value outside the mask.
    Outside,
    /// The interface residual of the state.
    Interface,
    /// An equation at a single node.
    Pin { pin: usize, node: usize },
}

/// The rows, and for every block the points where it is needed.
pub(crate) fn rows(compiled: &Compiled, grid: &Grid) -> (Rows, Vec<Points>) {
    let mut collect = Collect::new(compiled, grid);
    for (row, kind) in kinds(compiled, grid).into_iter().enumerate() {
        let (state, node) = (row / grid.nodes(), row % grid.nodes());
        match kind {
            Kind::Interior => collect.interior(state, node),
            Kind::Boundary { boundary, node } => {
                let Condition { block, residual, .. } = compiled.boundary[boundary];
                collect.part(block, residual, node);
            }
            Kind::Outside => {
                let (_, block) = compiled.mask.as_ref().expect("only a mask has an outside");
                collect.part(*block, state, node);
            }
            Kind::Interface => {
                let interface = compiled.interface.as_ref().expect("only an interface has a break");
                collect.part(interface.block, state, node);
            }
            Kind::Pin { pin, node } => collect.part(compiled.pins[pin].block, 0, node),
        }
        collect.rows.first.push(collect.rows.parts.len());
    }
    (collect.rows, collect.points)
}

/// The interior equations everywhere, but for those that boundary equations
/// replace and those outside the mask.
///
/// Near a corner two sides may claim a row. A condition on values goes first,
/// then the one nearer to its side; what is left out there is a condition that
/// the neighbouring nodes of its side still hold. A condition on derivatives
/// that says nothing of the state whose row it takes has no claim to a corner:
/// where two sides hold all other states, it says nothing new.
fn kinds(compiled: &Compiled, grid: &Grid) -> Vec<Kind> {
    let nodes = grid.nodes();
    let mut kinds = vec![(Kind::Interior, (true, usize::MAX)); compiled.states() * nodes];
    for (axis, replacements) in compiled.replacements.iter().enumerate() {
        let last = grid.lines[axis].nodes() - 1;
        for replaced in replacements {
            let Condition { block, residual, end } = compiled.boundary[replaced.boundary];
            let rank = (!compiled.blocks[block].has_no_derivatives(residual), replaced.depth);
            let from = |end: End, depth: usize| if end == End::Lower { depth } else { last - depth };
            let row = from(replaced.end, replaced.depth);
            let stranger = rank.0 && !compiled.blocks[block].occurs(residual, replaced.state);
            for node in (0..nodes).filter(|&node| grid.along_axes(node)[axis] == row) {
                let mut at = grid.along_axes(node);
                if stranger && is_at_other_side(grid, axis, at) {
                    continue;
                }
                at[axis] = from(end, 0);
                let slot = &mut kinds[replaced.state * nodes + node];
                if rank < slot.1 {
                    *slot = (Kind::Boundary { boundary: replaced.boundary, node: grid.node(at) }, rank);
                }
            }
        }
    }
    let mut kinds: Vec<Kind> = kinds.into_iter().map(|(kind, _)| kind).collect();
    if let Some(node) = grid.lines[0].break_node() {
        (0..compiled.states()).for_each(|state| kinds[state * nodes + node] = Kind::Interface);
    }
    if let Some((inside, _)) = &compiled.mask {
        let inside = values_at_nodes(inside, grid);
        for state in kinds.chunks_exact_mut(nodes) {
            for (kind, inside) in state.iter_mut().zip(&inside) {
                // A value that is not a number is outside too.
                let holds = *inside > 0.0;
                *kind = if holds { *kind } else { Kind::Outside };
            }
        }
    }
    for (pin, Pinned { at, instead: (state, place), .. }) in compiled.pins.iter().enumerate() {
        let node = nearest(grid, at);
        kinds[state * nodes + nearest(grid, place)] = Kind::Pin { pin, node };
    }
    kinds
}

/// Whether a node is at an end of another axis, too.
fn is_at_other_side(grid: &Grid, axis: usize, at: [usize; 2]) -> bool {
    let others = grid.lines.iter().enumerate().filter(|&(other, _)| other != axis);
    others.into_iter().any(|(other, line)| !line.periodic && [0, line.nodes() - 1].contains(&at[other]))
}

/// The node nearest to a place.
fn nearest(grid: &Grid, place: &[f64]) -> usize {
    let mut at = [0; 2];
    for ((at, line), &x) in at.iter_mut().zip(&grid.lines).zip(place) {
        let distance = |&i: &usize| (line.position(Location::Node, i) - x).abs();
        *at = (0..line.nodes()).min_by(|i, j| distance(i).total_cmp(&distance(j))).unwrap_or(0);
    }
    grid.node(at)
}

/// An expression of the space coordinates at every node.
fn values_at_nodes(tape: &Tape, grid: &Grid) -> Vec<f64> {
    let everywhere = Points::everywhere(grid);
    let columns: Vec<Vec<f64>> =
        (0..grid.lines.len()).map(|axis| everywhere.coordinates(grid, axis)).collect();
    let inputs: Vec<Input<'_, f64>> = columns.iter().map(|column| Input::Column(column)).collect();
    let mut scratch = Scratch::new();
    tape.eval(&inputs, grid.nodes(), &mut scratch);
    scratch.output(tape, 0).to_vec()
}

/// Rows as they are put together, and the points they need.
struct Collect<'a> {
    compiled: &'a Compiled,
    grid: &'a Grid,
    rows: Rows,
    points: Vec<Points>,
    /// Number of the point at each node (or at the face after it), per block.
    numbers: Vec<Vec<Option<usize>>>,
}

impl<'a> Collect<'a> {
    fn new(compiled: &'a Compiled, grid: &'a Grid) -> Collect<'a> {
        let mut points = vec![Points::default(); compiled.blocks.len()];
        for (axis, fluxes) in compiled.fluxes.iter().enumerate() {
            for flux in fluxes {
                points[flux.block] = Points { face: Some(axis), nudge: flux.nudge, at: Vec::new() };
            }
        }
        Collect {
            compiled,
            grid,
            rows: Rows { first: vec![0], parts: Vec::new() },
            numbers: vec![vec![None; grid.nodes()]; points.len()],
            points,
        }
    }

    /// Adds a residual to the present row.
    fn part(&mut self, block: usize, residual: usize, node: usize) {
        self.weighted_part(block, residual, node, [1.0, 0.0]);
    }

    /// Adds a residual times a weight with its rate to the present row.
    fn weighted_part(&mut self, block: usize, residual: usize, node: usize, [weight, rate]: [f64; 2]) {
        let points = &mut self.points[block].at;
        let point = *self.numbers[block][node].get_or_insert_with(|| {
            points.push(self.grid.along_axes(node));
            points.len() - 1
        });
        self.rows.parts.push(Part { block, residual, point, weight, rate });
    }

    /// The remainder and the differences of the fluxes; the residual as it was
    /// written where a face is missing.
    fn interior(&mut self, state: usize, node: usize) {
        let at = self.grid.along_axes(node);
        let axes: Vec<usize> =
            (0..self.grid.lines.len()).filter(|&axis| self.compiled.has_flux[state][axis]).collect();
        let faces = axes.iter().all(|&axis| self.grid.lines[axis].has_faces(at[axis]));
        if axes.is_empty() || !faces {
            return self.part(self.compiled.plain, state, node);
        }
        self.part(self.compiled.remainder, state, node);
        for axis in axes {
            let line = &self.grid.lines[axis];
            let mut before = at;
            before[axis] = (at[axis] + line.nodes() - 1) % line.nodes();
            let fluxes = &self.compiled.fluxes[axis];
            let weight = (line.step(at[axis]) * fluxes.len() as f64).recip();
            let rate = -line.stretch(at[axis]) * weight;
            for flux in fluxes {
                self.weighted_part(flux.block, state, node, [weight, rate]);
                self.weighted_part(flux.block, state, self.grid.node(before), [-weight, -rate]);
            }
        }
    }
}
