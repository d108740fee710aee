//! The discrete equations at one resolution, as far as they do not depend on
//! values: grid, points, stencils, rows and the pattern of the Jacobian.

use bilo_expr::Tape;

use crate::combination::Combination;
use crate::compile::{Block, Orders, Slot};
use crate::compiled::Compiled;
use crate::grid::{Grid, Line};
use crate::linear::Pattern;
use crate::operator::{Operator, Points};
use crate::rows::{Part, Rows, rows};
use crate::statement::Axis;

/// What an operator does.
#[derive(Clone, Copy, PartialEq)]
enum Key<'a> {
    Derivative(&'a [usize], Orders),
    Jump,
}

/// A block at its points.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) points: Points,
    /// The points' coordinates, axis by axis.
    pub(crate) coordinates: Vec<Vec<f64>>,
    /// Their derivatives by the place of the interface.
    pub(crate) coordinate_rates: Vec<Vec<f64>>,
    /// The length of a cell along each axis.
    pub(crate) widths: Vec<f64>,
    operators: Vec<Operator>,
    /// Which operator makes each slot, where one does.
    operator_of: Vec<Option<usize>>,
}

impl Placed {
    pub(crate) fn new(compiled: &Compiled, block: &Block, grid: &Grid, points: Points) -> Placed {
        let all_axes: Vec<usize> = (0..grid.lines.len()).collect();
        let mut made = Vec::new();
        let mut operators = Vec::new();
        let mut operator_of = Vec::new();
        for slot in &block.slots {
            let key = match *slot {
                Slot::State { orders, .. } => Key::Derivative(&all_axes, orders),
                Slot::Coefficient { coefficient, orders } => {
                    Key::Derivative(&compiled.coefficient_axes[coefficient], orders)
                }
                Slot::Jump { .. } => Key::Jump,
                Slot::Space(_)
                | Slot::Width(_)
                | Slot::Time
                | Slot::Signal { .. }
                | Slot::Curve { .. }
                | Slot::Parameter(_) => {
                    operator_of.push(None);
                    continue;
                }
            };
            let place = made.iter().position(|other| *other == key).unwrap_or_else(|| {
                operators.push(match key {
                    Key::Derivative(axes, orders) => Operator::new(grid, &points, axes, orders),
                    Key::Jump => Operator::jump(grid),
                });
                made.push(key);
                made.len() - 1
            });
            operator_of.push(Some(place));
        }
        Placed {
            coordinates: all_axes.iter().map(|&axis| points.coordinates(grid, axis)).collect(),
            coordinate_rates: all_axes.iter().map(|&axis| points.coordinate_rates(grid, axis)).collect(),
            widths: grid.lines.iter().map(|line| line.step(0)).collect(),
            points,
            operators,
            operator_of,
        }
    }

    /// How a slot is made from nodal values.
    pub(crate) fn operator(&self, slot: usize) -> &Operator {
        let operator = self.operator_of[slot].expect("states and coefficients have operators");
        &self.operators[operator]
    }
}

/// What the grid is made from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mesh {
    pub(crate) cells: Vec<usize>,
    /// The place of the interface.
    pub(crate) position: Option<f64>,
}

impl Mesh {
    pub(crate) fn grid(&self, compiled: &Compiled) -> Grid {
        let line = |(number, (axis, &cells)): (usize, (&Axis, &usize))| match self.position {
            Some(z) => Line::broken(axis, cells, z, compiled.cells_needed(number)),
            None => Line::new(axis, cells),
        };
        Grid { lines: compiled.space.iter().zip(&self.cells).enumerate().map(line).collect() }
    }
}

/// Everything that solves at one resolution have in common.
#[derive(Debug)]
pub(crate) struct Discrete {
    pub(crate) mesh: Mesh,
    pub(crate) grid: Grid,
    /// The blocks of the compiled at their points.
    pub(crate) placed: Vec<Placed>,
    /// The initial values (or the guess) at every node.
    pub(crate) start: Placed,
    pub(crate) rows: Rows,
    pub(crate) pattern: Pattern,
    /// The rows from the residuals of all blocks, in their [`Layout`].
    pub(crate) residuals: Combination,
    /// The entries of dr/du and of dr/du_t from the partial derivatives of all
    /// blocks.
    pub(crate) by_u: Combination,
    pub(crate) by_velocity: Combination,
}

impl Discrete {
    pub(crate) fn new(compiled: &Compiled, mesh: Mesh) -> Discrete {
        let grid = mesh.grid(compiled);
        let (rows, points) = rows(compiled, &grid);
        let placed: Vec<Placed> = compiled
            .blocks
            .iter()
            .zip(points)
            .map(|(block, points)| Placed::new(compiled, block, &grid, points))
            .collect();
        let start = Placed::new(compiled, &compiled.start, &grid, Points::everywhere(&grid));
        let by_states = by_states(compiled, &grid, &rows, &placed);
        let pairs: Vec<(usize, usize)> = by_states.iter().map(|product| product.pair).collect();
        let (pattern, places) = Pattern::new(rows.len(), compiled.states(), &pairs);
        let entries = |velocity: bool| {
            let products = by_states.iter().zip(&places).filter(|(product, _)| product.velocity == velocity);
            let terms: Vec<_> = products.map(|(p, &place)| (place, p.partial, p.weight)).collect();
            Combination::new(pattern.entries(), &terms)
        };
        let (by_u, by_velocity) = (entries(false), entries(true));
        let residuals = residuals(compiled, &rows, &placed);
        Discrete { mesh, grid, placed, start, rows, pattern, residuals, by_u, by_velocity }
    }
}

/// Where the outputs of one tape of every block stand when they are put
/// behind each other: block by block, output by output, point by point.
struct Layout {
    starts: Vec<usize>,
}

impl Layout {
    fn new(compiled: &Compiled, placed: &[Placed], tape: impl Fn(&Block) -> &Tape) -> Layout {
        let mut next = 0;
        let start = |(block, placed): (&Block, &Placed)| {
            let start = next;
            next += tape(block).outputs().len() * placed.points.len();
            start
        };
        Layout { starts: compiled.blocks.iter().zip(placed).map(start).collect() }
    }

    fn place(&self, placed: &[Placed], part: &Part, output: usize) -> usize {
        self.starts[part.block] + output * placed[part.block].points.len() + part.point
    }
}

/// Every row as a sum of residuals.
fn residuals(compiled: &Compiled, rows: &Rows, placed: &[Placed]) -> Combination {
    let layout = Layout::new(compiled, placed, |block| &block.residuals);
    let mut sums = Combination::default();
    for parts in rows.iter() {
        sums.push(parts.iter().map(|part| (layout.place(placed, part, part.residual), part.weight)));
    }
    sums
}

/// A weight times a partial derivative, which is part of an entry of the
/// Jacobian.
struct Product {
    /// Row and column of the entry.
    pair: (usize, usize),
    /// Where the partial derivative stands among all.
    partial: usize,
    weight: f64,
    /// Whether it is one by `u_t`.
    velocity: bool,
}

/// All that the Jacobian is made of.
fn by_states(compiled: &Compiled, grid: &Grid, rows: &Rows, placed: &[Placed]) -> Vec<Product> {
    let layout = Layout::new(compiled, placed, |block| &block.partials);
    let mut products = Vec::new();
    for (row, parts) in rows.iter().enumerate() {
        for part in parts {
            let block = &compiled.blocks[part.block];
            for term in &block.terms[part.residual] {
                let slot = &block.slots[term.slot];
                let state = slot.state().expect("terms depend on states");
                let partial = layout.place(placed, part, term.output);
                let (nodes, weights) = placed[part.block].operator(term.slot).at(part.point);
                products.extend(nodes.iter().zip(weights).map(|(&node, weight)| Product {
                    pair: (row, state * grid.nodes() + node),
                    partial,
                    weight: part.weight * weight,
                    velocity: matches!(slot, Slot::State { velocity: true, .. }),
                }));
            }
        }
    }
    products
}
