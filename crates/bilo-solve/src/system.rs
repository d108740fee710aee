//! The discrete equations for given values: residual vector and Jacobian.

use bilo_expr::{Input, Scratch, Tape};
use bilo_linear::clear_upper_halves;

use crate::compile::{Block, Slot};
use crate::compiled::{Compiled, Values};
use crate::discrete::{Discrete, Placed};
use crate::error::SolveError;
use crate::interrupt::Interrupt;

/// States that are smaller than this part of the largest one count as so large in the test of convergence.
const BEGUN: f64 = 1e-7;

/// When, and how the time derivative follows from the unknowns:
/// `u_t = rate * (u - base)`.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) t: f64,
    pub(crate) rate: f64,
    pub(crate) base: Vec<f64>,
}

/// Working memory of a block at its points.
pub(crate) struct Workspace {
    /// One column per slot; empty where the value is the same at all points.
    columns: Vec<Vec<f64>>,
    pub(crate) arguments: Scratch<f64>,
    pub(crate) residuals: Scratch<f64>,
    pub(crate) partials: Scratch<f64>,
}

impl Workspace {
    /// Coordinates and coefficients are filled in for good.
    pub(crate) fn new(block: &Block, placed: &Placed, values: &Values) -> Workspace {
        let fill = |(slot, meaning): (usize, &Slot)| match *meaning {
            Slot::State { .. } | Slot::Jump { .. } | Slot::Curve { .. } => vec![0.0; placed.points.len()],
            Slot::Coefficient { coefficient, .. } => {
                let mut column = vec![0.0; placed.points.len()];
                placed.operator(slot).apply(&values.coefficients[coefficient], &mut column);
                column
            }
            Slot::Space(axis) => placed.coordinates[axis].clone(),
            Slot::Width(_) | Slot::Time | Slot::Signal { .. } | Slot::Parameter(_) => Vec::new(),
        };
        Workspace {
            columns: block.slots.iter().enumerate().map(fill).collect(),
            arguments: Scratch::new(),
            residuals: Scratch::new(),
            partials: Scratch::new(),
        }
    }

    /// Derivatives of the states from their nodal values.
    fn fill(&mut self, block: &Block, placed: &Placed, nodes: usize, u: &[f64], velocity: &[f64]) {
        for (slot, meaning) in block.slots.iter().enumerate() {
            if let Some(source) = nodal_values(meaning, nodes, u, velocity) {
                placed.operator(slot).apply(source, &mut self.columns[slot]);
            }
        }
    }

    /// What a tape of the block is given.
    fn inputs<'a>(
        columns: &'a [Vec<f64>],
        block: &Block,
        placed: &Placed,
        values: &Values,
        t: f64,
    ) -> Vec<Input<'a, f64>> {
        let input = |(slot, column): (&Slot, &'a Vec<f64>)| match *slot {
            Slot::Width(axis) => Input::Uniform(placed.widths[axis]),
            Slot::Time => Input::Uniform(t),
            Slot::Signal { signal, order } => Input::Uniform(block.signal(signal, order, t)),
            Slot::Parameter(i) => Input::Uniform(values.parameters[i]),
            _ => Input::Column(&column[..]),
        };
        block.slots.iter().zip(columns).map(input).collect()
    }

    /// Evaluates the curves at their arguments.
    fn run_curves(&mut self, block: &Block, placed: &Placed, values: &Values, t: f64) {
        if block.arguments.outputs().is_empty() {
            return;
        }
        let inputs = Workspace::inputs(&self.columns, block, placed, values, t);
        block.arguments.eval(&inputs, placed.points.len(), &mut self.arguments);
        for (slot, column) in block.slots.iter().zip(&mut self.columns) {
            let Slot::Curve { curve, order, argument } = *slot else { continue };
            let places = self.arguments.output(&block.arguments, argument);
            let found = block.curves[curve].at(&values.parameters, places, order);
            column.iter_mut().zip(found).for_each(|(value, found)| *value = found);
        }
    }

    pub(crate) fn run_residuals(&mut self, block: &Block, placed: &Placed, values: &Values, t: f64) {
        if placed.points.len() == 0 {
            return;
        }
        self.run_curves(block, placed, values, t);
        let inputs = Workspace::inputs(&self.columns, block, placed, values, t);
        block.residuals.eval(&inputs, placed.points.len(), &mut self.residuals);
    }

    fn run_partials(&mut self, block: &Block, placed: &Placed, values: &Values, t: f64) {
        if placed.points.len() == 0 {
            return;
        }
        let inputs = Workspace::inputs(&self.columns, block, placed, values, t);
        block.partials.eval(&inputs, placed.points.len(), &mut self.partials);
    }
}

/// The nodal values that a slot is made from, if it depends on a state.
pub(crate) fn nodal_values<'a>(
    slot: &Slot,
    nodes: usize,
    u: &'a [f64],
    velocity: &'a [f64],
) -> Option<&'a [f64]> {
    let state = slot.state()?;
    let source = if matches!(slot, Slot::State { velocity: true, .. }) { velocity } else { u };
    Some(&source[state * nodes..(state + 1) * nodes])
}

/// The equations and their working memory.
pub(crate) struct System<'a> {
    pub(crate) compiled: &'a Compiled,
    interrupt: &'a Interrupt,
    pub(crate) discrete: &'a Discrete,
    pub(crate) values: &'a Values,
    pub(crate) workspaces: Vec<Workspace>,
    /// Where the residuals were last evaluated.
    pub(crate) u: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    residual: Vec<f64>,
    jacobian: Vec<f64>,
    /// The derivative of the residuals by the velocity, times the rate: how
    /// much of the base of the stage is felt.
    mass: Vec<f64>,
    /// The outputs of all blocks behind each other.
    outputs: Vec<f64>,
    /// Sum of the magnitudes of the Jacobian's entries, by row and state.
    row_sums: Vec<f64>,
}

impl<'a> System<'a> {
    pub(crate) fn new(
        compiled: &'a Compiled,
        discrete: &'a Discrete,
        values: &'a Values,
        interrupt: &'a Interrupt,
    ) -> System<'a> {
        let size = discrete.rows.len();
        let workspaces = compiled
            .blocks
            .iter()
            .zip(&discrete.placed)
            .map(|(block, placed)| Workspace::new(block, placed, values))
            .collect();
        System {
            compiled,
            interrupt,
            discrete,
            values,
            workspaces,
            u: vec![0.0; size],
            velocity: vec![0.0; size],
            residual: vec![0.0; size],
            jacobian: vec![0.0; discrete.pattern.entries()],
            mass: vec![0.0; discrete.pattern.entries()],
            outputs: Vec::new(),
            row_sums: vec![0.0; size * compiled.states()],
        }
    }

    /// An error when a solve should end.
    pub(crate) fn require_time(&self) -> Result<(), SolveError> {
        if self.interrupt.is_due() { Err(SolveError::Interrupted) } else { Ok(()) }
    }

    /// The residuals at the last evaluation.
    pub(crate) fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// The Jacobian where it was last linearised.
    pub(crate) fn jacobian(&self) -> &[f64] {
        &self.jacobian
    }

    /// The part of it that came from `u_t`.
    pub(crate) fn mass(&self) -> &[f64] {
        &self.mass
    }

    fn nodes(&self) -> usize {
        self.discrete.grid.nodes()
    }

    /// Residuals at `u`.
    pub(crate) fn evaluate(&mut self, u: &[f64], stage: &Stage) {
        clear_upper_halves();
        let nodes = self.nodes();
        self.u.copy_from_slice(u);
        for ((v, u), base) in self.velocity.iter_mut().zip(u).zip(&stage.base) {
            *v = stage.rate * (u - base);
        }
        let blocks = self.compiled.blocks.iter().zip(&self.discrete.placed);
        for ((block, placed), workspace) in blocks.zip(&mut self.workspaces) {
            workspace.fill(block, placed, nodes, u, &self.velocity);
            workspace.run_residuals(block, placed, self.values, stage.t);
        }
        self.gather(|block| &block.residuals, |w| &w.residuals);
        self.discrete.residuals.apply(&self.outputs, &mut self.residual);
    }

    /// Puts the outputs of one tape of every block behind each other.
    fn gather(&mut self, tape: impl Fn(&Block) -> &Tape, scratch: impl Fn(&Workspace) -> &Scratch<f64>) {
        self.outputs.clear();
        for (block, workspace) in self.compiled.blocks.iter().zip(&self.workspaces) {
            let tape = tape(block);
            for output in 0..tape.outputs().len() {
                self.outputs.extend_from_slice(scratch(workspace).output(tape, output));
            }
        }
    }

    /// The Jacobian where the residuals were last evaluated.
    pub(crate) fn linearise(&mut self, stage: &Stage) -> Result<(), SolveError> {
        let blocks = self.compiled.blocks.iter().zip(&self.discrete.placed);
        for ((block, placed), workspace) in blocks.zip(&mut self.workspaces) {
            workspace.run_partials(block, placed, self.values, stage.t);
        }
        self.gather(|block| &block.partials, |w| &w.partials);
        self.discrete.by_u.apply(&self.outputs, &mut self.jacobian);
        self.discrete.by_velocity.apply(&self.outputs, &mut self.mass);
        for (entry, mass) in self.jacobian.iter_mut().zip(&mut self.mass) {
            *mass *= stage.rate;
            *entry += *mass;
        }
        let bad = self.jacobian.iter().position(|v| !v.is_finite());
        let row = bad.map(|place| self.discrete.pattern.row(place));
        self.report("the derivative of a residual", row, stage.t)
    }

    /// Adds up what [`System::relative_residual`] compares with, by the last
    /// linearisation.
    pub(crate) fn measure_rows(&mut self) {
        let (nodes, states) = (self.nodes(), self.compiled.states());
        self.row_sums.fill(0.0);
        self.discrete.pattern.for_each(&self.jacobian, |row, column, v| {
            self.row_sums[row * states + column / nodes] += v.abs();
        });
    }

    /// An error if the last evaluation met a number that is not finite.
    pub(crate) fn check_finite(&self, t: f64) -> Result<(), SolveError> {
        self.report("a residual", self.residual.iter().position(|r| !r.is_finite()), t)
    }

    fn report(&self, what: &'static str, row: Option<usize>, t: f64) -> Result<(), SolveError> {
        let Some(row) = row else {
            return Ok(());
        };
        let part = self.discrete.rows.parts(row)[0];
        let coordinates = &self.discrete.placed[part.block].coordinates;
        let position: Vec<f64> = coordinates.iter().map(|column| column[part.point]).collect();
        Err(self.compiled.not_finite(what, &position, t))
    }

    /// Largest residual relative to the size of the terms it is made of, where
    /// each state counts with its largest value. At most one; near machine
    /// epsilon nothing but rounding is left.
    pub(crate) fn relative_residual(&self, u: &[f64]) -> f64 {
        let scales = self.scales(u);
        let terms: Vec<f64> = self
            .row_sums
            .chunks_exact(scales.len())
            .map(|sums| sums.iter().zip(&scales).map(|(sum, scale)| sum * scale).sum())
            .collect();
        largest_ratio(&self.residual, &terms)
    }

    /// Largest update of any state relative to the state's largest
    /// value; infinite if not finite. A state that has hardly begun to
    /// differ from zero has the rounding of the largest one.
    pub(crate) fn relative_update(&self, update: &[f64], u: &[f64]) -> f64 {
        if update.iter().any(|d| !d.is_finite()) {
            return f64::INFINITY;
        }
        let mut scales = self.scales(u);
        let floor = BEGUN * scales.iter().copied().fold(0.0, f64::max);
        scales.iter_mut().for_each(|scale| *scale = scale.max(floor));
        largest_ratio(&self.scales(update), &scales)
    }

    /// Largest magnitude of each state.
    fn scales(&self, u: &[f64]) -> Vec<f64> {
        u.chunks_exact(self.nodes()).map(|state| state.iter().fold(0.0_f64, |m, a| m.max(a.abs()))).collect()
    }
}

/// The output columns of every block.
pub(crate) fn outputs<'a>(
    workspaces: &'a [Workspace],
    compiled: &Compiled,
    tape: impl Fn(&Block) -> &Tape,
    scratch: impl Fn(&'a Workspace) -> &'a Scratch<f64>,
) -> Vec<Vec<&'a [f64]>> {
    let of_block = |(block, workspace)| {
        let tape = tape(block);
        (0..tape.outputs().len()).map(|i| scratch(workspace).output(tape, i)).collect()
    };
    compiled.blocks.iter().zip(workspaces).map(of_block).collect()
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
