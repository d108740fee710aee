//! The discrete equations at one resolution, as far as they do not depend on
//! values: grid, points, stencils, rows and the pattern of the Jacobian.

use crate::compile::{Block, Orders, Slot};
use crate::grid::{Grid, Line};
use crate::linear::Pattern;
use crate::operator::{Operator, Points};
use crate::rows::{Rows, rows};
use crate::solver::Solver;
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
    operators: Vec<Operator>,
    /// Which operator makes each slot, where one does.
    operator_of: Vec<Option<usize>>,
}

impl Placed {
    pub(crate) fn new(solver: &Solver, block: &Block, grid: &Grid, points: Points) -> Placed {
        let all_axes: Vec<usize> = (0..grid.lines.len()).collect();
        let mut made = Vec::new();
        let mut operators = Vec::new();
        let mut operator_of = Vec::new();
        for slot in &block.slots {
            let key = match *slot {
                Slot::State { orders, .. } => Key::Derivative(&all_axes, orders),
                Slot::Coefficient { coefficient, orders } => {
                    Key::Derivative(&solver.coefficient_axes[coefficient], orders)
                }
                Slot::Jump { .. } => Key::Jump,
                Slot::Space(_) | Slot::Time | Slot::Parameter(_) => {
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
    pub(crate) fn grid(&self, solver: &Solver) -> Grid {
        let line = |(number, (axis, &cells)): (usize, (&Axis, &usize))| match self.position {
            Some(z) => Line::broken(axis, cells, z, solver.cells_needed(number)),
            None => Line::new(axis, cells),
        };
        Grid { lines: solver.space.iter().zip(&self.cells).enumerate().map(line).collect() }
    }
}

/// Everything that solves at one resolution have in common.
#[derive(Debug)]
pub(crate) struct Discrete {
    pub(crate) mesh: Mesh,
    pub(crate) grid: Grid,
    /// The blocks of the solver at their points.
    pub(crate) placed: Vec<Placed>,
    /// The initial values (or the guess) at every node.
    pub(crate) start: Placed,
    pub(crate) rows: Rows,
    pub(crate) pattern: Pattern,
    /// Where each product of a partial derivative and a stencil weight is
    /// added, in the order of `pairs`.
    pub(crate) places: Vec<usize>,
}

impl Discrete {
    pub(crate) fn new(solver: &Solver, mesh: Mesh) -> Discrete {
        let grid = mesh.grid(solver);
        let (rows, points) = rows(solver, &grid);
        let placed: Vec<Placed> = solver
            .blocks
            .iter()
            .zip(points)
            .map(|(block, points)| Placed::new(solver, block, &grid, points))
            .collect();
        let start = Placed::new(solver, &solver.start, &grid, Points::everywhere(&grid));
        let pairs = pairs(solver, &grid, &rows, &placed);
        let (pattern, places) = Pattern::new(rows.len(), &pairs);
        Discrete { mesh, grid, placed, start, rows, pattern, places }
    }
}

/// (row, column) of every product of a partial derivative and a stencil weight.
fn pairs(solver: &Solver, grid: &Grid, rows: &Rows, placed: &[Placed]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (row, parts) in rows.iter().enumerate() {
        for part in parts {
            let block = &solver.blocks[part.block];
            for term in &block.terms[part.residual] {
                let state = block.slots[term.slot].state().expect("terms depend on states");
                let (nodes, _) = placed[part.block].operator(term.slot).at(part.point);
                pairs.extend(nodes.iter().map(|&node| (row, state * grid.nodes() + node)));
            }
        }
    }
    pairs
}
