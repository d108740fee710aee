//! The discrete equations at one resolution, as far as they do not depend on
//! values: grid, points, stencils, rows and the pattern of the Jacobian.

use crate::compile::{Block, Slot};
use crate::grid::Grid;
use crate::linear::Pattern;
use crate::operator::{Operator, Points};
use crate::rows::{Rows, rows};
use crate::solver::Solver;

/// A block at its points.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) points: Points,
    /// The points' coordinates, axis by axis.
    pub(crate) coordinates: Vec<Vec<f64>>,
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
                Slot::State { orders, .. } => Some((&all_axes, orders)),
                Slot::Coefficient { coefficient, orders } => {
                    Some((&solver.coefficient_axes[coefficient], orders))
                }
                Slot::Space(_) | Slot::Time | Slot::Parameter(_) => None,
            };
            operator_of.push(key.map(|key| {
                made.iter().position(|other| *other == key).unwrap_or_else(|| {
                    made.push(key);
                    operators.push(Operator::new(grid, &points, key.0, key.1));
                    made.len() - 1
                })
            }));
        }
        let coordinates = all_axes.iter().map(|&axis| points.coordinates(grid, axis)).collect();
        Placed { points, coordinates, operators, operator_of }
    }

    /// How a slot is made from nodal values.
    pub(crate) fn operator(&self, slot: usize) -> &Operator {
        let operator = self.operator_of[slot].expect("states and coefficients have operators");
        &self.operators[operator]
    }
}

/// Everything that solves at one resolution have in common.
#[derive(Debug)]
pub(crate) struct Discrete {
    pub(crate) cells: Vec<usize>,
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
    pub(crate) fn new(solver: &Solver, cells: &[usize]) -> Discrete {
        let grid = Grid::new(&solver.space, cells);
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
        Discrete { cells: cells.to_vec(), grid, placed, start, rows, pattern, places }
    }
}

/// (row, column) of every product of a partial derivative and a stencil weight.
fn pairs(solver: &Solver, grid: &Grid, rows: &Rows, placed: &[Placed]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for row in 0..rows.len() {
        for part in rows.parts(row) {
            let block = &solver.blocks[part.block];
            for term in &block.terms[part.residual] {
                let Slot::State { state, .. } = block.slots[term.slot] else {
                    unreachable!("terms are derivatives of states");
                };
                let (nodes, _) = placed[part.block].operator(term.slot).at(part.point);
                pairs.extend(nodes.iter().map(|&node| (row, state * grid.nodes() + node)));
            }
        }
    }
    pairs
}
