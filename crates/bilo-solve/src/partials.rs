//! Derivatives of the residuals by what they are given besides the states:
//! one reverse sweep over a tape gives those of a residual by all its inputs.
//!
//! The place of the interface counts as one more parameter, the last. It acts
//! through the node positions: through coordinates, through the weights of the
//! stencils, and through those of the fluxes.

use std::ops::Range;

use bilo_expr::Input;

use crate::compile::{Block, Slot};
use crate::compiled::Values;
use crate::discrete::{Discrete, Placed};
use crate::rows::Part;
use crate::system::{System, Workspace, nodal_values, outputs};

/// Where the derivatives by a parameter go, or those by the place of the interface, which come last.
pub(crate) fn column(parameter: usize, is_position: bool, parameters: &Range<usize>) -> Option<usize> {
    match is_position {
        true => Some(parameters.len()),
        false => parameters.contains(&parameter).then(|| parameter - parameters.start),
    }
}

/// What the rates of the slots of a block are made from.
pub(crate) struct Sources<'a> {
    pub(crate) discrete: &'a Discrete,
    pub(crate) values: &'a Values,
    pub(crate) u: &'a [f64],
    pub(crate) velocity: &'a [f64],
}

impl Sources<'_> {
    /// The derivative of a slot by the place of the interface, nodal values held
    /// fixed; `None` where it does not move, and for a curve, which moves with its argument.
    fn rates(&self, placed: &Placed, number: usize, slot: &Slot) -> Option<Vec<f64>> {
        self.discrete.mesh.position?;
        match *slot {
            Slot::Space(axis) => Some(placed.coordinate_rates[axis].clone()),
            Slot::Coefficient { coefficient, .. } => {
                Some(placed.operator(number).apply_rates(&self.values.coefficients[coefficient]))
            }
            Slot::Width(_) | Slot::Time | Slot::Signal { .. } | Slot::Curve { .. } | Slot::Parameter(_) => {
                None
            }
            Slot::State { .. } | Slot::Jump { .. } => {
                let nodes = self.discrete.grid.nodes();
                let source = nodal_values(slot, nodes, self.u, self.velocity)?;
                Some(placed.operator(number).apply_rates(source))
            }
        }
    }
}

/// The derivative of a residual of a block at each of its points by something that is given.
pub(crate) struct Partial {
    pub(crate) residual: usize,
    by: By,
    column: Vec<f64>,
}

/// What is given.
enum By {
    Parameter(usize),
    /// The nodal values of a coefficient, from which a slot is made.
    Coefficient {
        coefficient: usize,
        slot: usize,
    },
    /// The values of a curve: those around each point, by their positions among the parameters, with their weights.
    Curve(Vec<[(usize, f64); 3]>),
}

impl Partial {
    /// Calls `visit(parameter, point, value)` for the derivatives by parameters.
    pub(crate) fn for_each_parameter(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for (point, value) in self.column.iter().enumerate() {
            match &self.by {
                By::Parameter(parameter) => visit(*parameter, point, *value),
                By::Coefficient { .. } => {}
                By::Curve(around) => {
                    around[point]
                        .iter()
                        .for_each(|&(parameter, weight)| visit(parameter, point, weight * value));
                }
            }
        }
    }

    /// Adds the derivative of `sum seeds * residual` by what is given.
    pub(crate) fn pull_back(&self, placed: &Placed, seeds: &[f64], gradient: &mut Values) {
        let products = self.column.iter().zip(seeds).map(|(value, seed)| value * seed);
        match &self.by {
            By::Parameter(parameter) => gradient.parameters[*parameter] += products.sum::<f64>(),
            By::Coefficient { coefficient, slot } => {
                let products: Vec<f64> = products.collect();
                placed.operator(*slot).add_transposed(&products, &mut gradient.coefficients[*coefficient]);
            }
            By::Curve(around) => {
                for (around, product) in around.iter().zip(products) {
                    for &(parameter, weight) in around {
                        gradient.parameters[parameter] += weight * product;
                    }
                }
            }
        }
    }
}

impl Workspace {
    /// The derivatives of one residual by all that is given, where the
    /// residuals were last evaluated.
    pub(crate) fn partials_of(
        &mut self,
        block: &Block,
        placed: &Placed,
        residual: usize,
        sources: &Sources<'_>,
    ) -> Vec<Partial> {
        let tape = &block.residuals;
        let seeds: Vec<Input<'_, f64>> = (0..tape.outputs().len())
            .map(|output| Input::Uniform(if output == residual { 1.0 } else { 0.0 }))
            .collect();
        tape.adjoint(&seeds, &mut self.residuals);
        let mut through = self.pull_back_arguments(block, residual, sources.values);
        let mut all = Vec::new();
        let mut add = |by, column| all.push(Partial { residual, by, column });
        for (i, slot) in block.slots.iter().enumerate() {
            let direct = tape.depends_on(residual, i).then(|| self.residuals.input_adjoint(tape, i).to_vec());
            let column = match (direct, through.as_mut().map(|through| std::mem::take(&mut through[i]))) {
                (None, None) => continue,
                (Some(column), None) | (None, Some(column)) => column,
                (Some(direct), Some(through)) => direct.iter().zip(through).map(|(a, b)| a + b).collect(),
            };
            if let Some(rates) = sources.rates(placed, i, slot) {
                let product = column.iter().zip(&rates).map(|(a, r)| a * r).collect();
                add(By::Parameter(sources.values.parameters.len()), product);
            }
            match *slot {
                Slot::Parameter(parameter) => add(By::Parameter(parameter), column),
                Slot::Coefficient { coefficient, .. } => {
                    add(By::Coefficient { coefficient, slot: i }, column)
                }
                Slot::Curve { curve, order, argument } => {
                    let curve = &block.curves[curve];
                    let places = self.arguments.output(&block.arguments, argument);
                    let mut around = (curve.weights)(places, order);
                    around.iter_mut().flatten().for_each(|(node, _)| *node += curve.first);
                    add(By::Curve(around), column);
                }
                _ => {}
            }
        }
        all
    }

    /// The derivatives of the residual just swept by every slot, through the arguments of its curves; none if it has no curve.
    fn pull_back_arguments(
        &mut self,
        block: &Block,
        residual: usize,
        values: &Values,
    ) -> Option<Vec<Vec<f64>>> {
        let count = block.arguments.outputs().len();
        if count == 0 {
            return None;
        }
        let mut seeds: Vec<Vec<f64>> =
            (0..count).map(|k| vec![0.0; self.arguments.output(&block.arguments, k).len()]).collect();
        for (i, slot) in block.slots.iter().enumerate() {
            let Slot::Curve { curve, order, argument } = *slot else { continue };
            if !block.residuals.depends_on(residual, i) {
                continue;
            }
            let adjoint = self.residuals.input_adjoint(&block.residuals, i);
            let places = self.arguments.output(&block.arguments, argument);
            let slopes = block.curves[curve].at(&values.parameters, places, order + 1);
            for ((seed, slope), adjoint) in seeds[argument].iter_mut().zip(slopes).zip(adjoint) {
                *seed += adjoint * slope;
            }
        }
        let seeds: Vec<Input<'_, f64>> = seeds.iter().map(|seed| Input::Column(seed)).collect();
        block.arguments.adjoint(&seeds, &mut self.arguments);
        let slots = 0..block.slots.len();
        Some(slots.map(|i| self.arguments.input_adjoint(&block.arguments, i).to_vec()).collect())
    }
}

/// The derivatives of all residuals of all blocks, where they were last evaluated.
#[derive(Default)]
pub(crate) struct Partials {
    /// By block.
    all: Vec<Vec<Partial>>,
}

impl System<'_> {
    /// The derivatives by all that is given, the nodal values held fixed, where the residuals were last evaluated.
    pub(crate) fn partials(&mut self) -> Partials {
        let sources =
            Sources { discrete: self.discrete, values: self.values, u: &self.u, velocity: &self.velocity };
        let blocks = self.compiled.blocks.iter().zip(&self.discrete.placed);
        let of_block = |((block, placed), workspace): ((&Block, &Placed), &mut Workspace)| {
            let residuals = 0..block.terms.len();
            residuals.flat_map(|residual| workspace.partials_of(block, placed, residual, &sources)).collect()
        };
        Partials { all: blocks.zip(&mut self.workspaces).map(of_block).collect() }
    }

    /// The derivative of every row by each of these parameters, and by the place of the interface, the last.
    pub(crate) fn by_parameters(&self, partials: &Partials, parameters: &Range<usize>) -> Vec<Vec<f64>> {
        let blocks = self.compiled.blocks.iter().zip(&self.discrete.placed);
        // For each parameter, a column of every residual of every block.
        let size = blocks.clone().map(|(block, placed)| block.terms.len() * placed.points.len()).sum();
        let mut columns = vec![vec![0.0; size]; parameters.len() + 1];
        let mut start = 0;
        for ((block, placed), partials) in blocks.zip(&partials.all) {
            for partial in partials {
                let start = start + partial.residual * placed.points.len();
                partial.for_each_parameter(|parameter, point, value| {
                    let is_position = parameter == self.values.parameters.len();
                    if let Some(column) = column(parameter, is_position, parameters) {
                        columns[column][start + point] += value;
                    }
                });
            }
            start += block.terms.len() * placed.points.len();
        }
        let mut all = vec![vec![0.0; self.discrete.rows.len()]; columns.len()];
        let rows = columns.iter().zip(&mut all);
        rows.for_each(|(columns, rows)| self.discrete.residuals.apply(columns, rows));
        if self.discrete.mesh.position.is_some() {
            self.add_rates(&mut all[parameters.len()]);
        }
        all
    }

    /// Adds the derivative of every row by the place of the interface through the
    /// weights of its parts.
    fn add_rates(&self, rows: &mut [f64]) {
        let outputs = outputs(&self.workspaces, self.compiled, |block| &block.residuals, |w| &w.residuals);
        for (row, parts) in rows.iter_mut().zip(self.discrete.rows.iter()) {
            let value = |part: &Part| part.rate * outputs[part.block][part.residual][part.point];
            *row += parts.iter().map(value).sum::<f64>();
        }
    }

    /// Adds the derivative of `-sum multipliers * rows` by all that is given, the nodal
    /// values held fixed, where the residuals were last evaluated.
    pub(crate) fn pull_back(&self, partials: &Partials, multipliers: &[f64], gradient: &mut Values) {
        let blocks = self.compiled.blocks.iter().zip(&self.discrete.placed);
        let mut seeds: Vec<Vec<Vec<f64>>> = blocks
            .clone()
            .map(|(block, placed)| vec![vec![0.0; placed.points.len()]; block.terms.len()])
            .collect();
        for (parts, multiplier) in self.discrete.rows.iter().zip(multipliers) {
            for part in parts {
                seeds[part.block][part.residual][part.point] -= part.weight * multiplier;
            }
        }
        if self.discrete.mesh.position.is_some() {
            let mut rates = vec![0.0; multipliers.len()];
            self.add_rates(&mut rates);
            let by_position: f64 = rates.iter().zip(multipliers).map(|(rate, m)| rate * m).sum();
            gradient.parameters[self.values.parameters.len()] -= by_position;
        }
        for (((_, placed), partials), seeds) in blocks.zip(&partials.all).zip(&seeds) {
            partials.iter().for_each(|partial| partial.pull_back(placed, &seeds[partial.residual], gradient));
        }
    }
}
