//! Regularisers as sums of squares, or of what is nearly |.|, for Gauss-Newton.

use crate::level::{on_nodes, reference};
use crate::operator::{LocalOperator, program_error};
use crate::state::OperatorState;
use bilo_expr::Expr;
use bilo_fit::sensitivities::Sensitivities;
use bilo_jet::{Device, FieldProgram, PointSource};
use bilo_problem::Sampling;
use bilo_problem::diagnostic::Result;
use bilo_problem::function::FieldPrior;
use bilo_problem::sites::{Judgement, Law, Part, Sites};
use bilo_problem::{Problem, RegulariserKind};
use faer::Mat;

/// The regulariser of an unknown function: values at the nodes of its grid, and what is made of them.
pub(crate) struct Penalty {
    pub(crate) name: String,
    pub(crate) weight: f64,
    /// f, or its first or second derivative along each argument; then their derivatives by each unknown.
    program: FieldProgram,
    points: PointSource,
    sites: Vec<Sites>,
    /// What makes values of a Gaussian field independent, and its mean.
    field: Option<(Mat<f64>, Vec<f64>)>,
}

impl Penalty {
    /// The regularisers of all functions.
    pub(crate) fn all(problem: &Problem, operator: &mut LocalOperator) -> Result<Vec<Penalty>> {
        let mut all = vec![];
        for (number, function) in problem.functions.iter().enumerate() {
            let Some(regulariser) = &function.regulariser else { continue };
            let table = on_nodes(problem, function, reference(function, regulariser))?;
            let nodes = table.values.len();
            let (values, law) = judged_values(operator, number, &regulariser.kind);
            let field = match &regulariser.kind {
                RegulariserKind::Field(field) => {
                    Some((FieldPrior::required(function, field)?.whitening, table.values.clone()))
                }
                _ => None,
            };
            // A field has the sum of its squares, the others have means.
            let share = if field.is_some() { 1.0 } else { 1.0 / nodes as f64 };
            let data = if field.is_some() { vec![0.0; nodes] } else { table.values.clone() };
            let sites = |_: &Expr| Sites {
                sampling: Sampling::local(table.coordinates.clone()),
                parts: vec![Part {
                    law: law.clone(),
                    places: 0..nodes,
                    data: data.clone(),
                    sigma: None,
                    free: None,
                    weights: vec![share; nodes],
                }],
                count: nodes as f64,
                calibrated: false,
            };
            let sites = values.iter().map(sites).collect();
            let alone = operator.for_function(number);
            let graph = &mut operator.names.graph;
            let slopes = alone.unknowns.iter().flat_map(|_| values.clone());
            let by = alone.unknowns.iter().flat_map(|&unknown| values.iter().map(move |_| unknown));
            let slopes: Vec<Expr> =
                slopes.zip(by).map(|(value, unknown)| graph.diff(value, unknown)).collect();
            let program = FieldProgram::new(graph, &alone, &[values, slopes].concat())
                .map_err(|error| program_error(graph, &error, &function.form.origin))?;
            all.push(Penalty {
                name: format!("regulariser.{}", function.name),
                weight: regulariser.weight,
                program,
                points: PointSource::stored(table.coordinates.clone()),
                sites,
                field,
            });
        }
        Ok(all)
    }

    /// The values with their derivatives, one entry per argument, and what is made of each.
    pub(crate) fn at(
        &self,
        operator: &LocalOperator,
        device: &mut dyn Device,
        point: &OperatorState,
    ) -> Result<Vec<(Sensitivities, Judgement)>> {
        let unknowns = operator.unknowns(&point.eta);
        let mut columns =
            device.evaluate(&self.program, self.points.clone(), &point.weights, &unknowns, &[])?.into_iter();
        let values: Vec<Vec<f64>> = columns.by_ref().take(self.sites.len()).collect();
        let mut slopes = vec![vec![]; self.sites.len()];
        columns.enumerate().for_each(|(place, column)| slopes[place % self.sites.len()].push(column));
        (self.sites.iter().zip(values).zip(slopes))
            .map(|((sites, mut values), mut slopes)| {
                if let Some((whitening, mean)) = &self.field {
                    values.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
                    values = times(whitening, &values);
                    slopes = slopes.iter().map(|slope| times(whitening, slope)).collect();
                }
                let judgement = sites.terms(&values)?;
                Ok((Sensitivities { values, slopes }, judgement))
            })
            .collect()
    }
}

/// A lower triangle times a column.
fn times(matrix: &Mat<f64>, column: &[f64]) -> Vec<f64> {
    let row = |i: usize| (0..=i).map(|j| matrix[(i, j)] * column[j]).sum();
    (0..column.len()).map(row).collect()
}

/// What a regulariser looks at, and what it makes of it.
fn judged_values(operator: &mut LocalOperator, number: usize, kind: &RegulariserKind) -> (Vec<Expr>, Law) {
    let f = operator.functions.values[number];
    let arguments = operator.functions.arguments[number].clone();
    let graph = &mut operator.names.graph;
    let mut slopes = || arguments.iter().map(|&argument| graph.diff(f, argument)).collect::<Vec<Expr>>();
    match kind {
        RegulariserKind::L2 { .. } | RegulariserKind::Field(_) => (vec![f], Law::gaussian()),
        RegulariserKind::H1 => (slopes(), Law::gaussian()),
        RegulariserKind::H2 => {
            let slopes = slopes().into_iter().zip(&arguments);
            (slopes.map(|(slope, &argument)| graph.diff(slope, argument)).collect(), Law::gaussian())
        }
        RegulariserKind::Tv { smoothing } => (slopes(), Law::rounded(*smoothing)),
    }
}
