//! Residuals must have values: a point where one does not is an error of the statement, found before
//! training rather than blamed on it.

use crate::operator::{program_error, with_shifts};
use bilo_expr::{Expr, Input, Scratch};
use bilo_jet::{Operator, PointSource, ResidualProgram};
use bilo_problem::diagnostic::{Diagnostic, Origin, Result};
use bilo_problem::given_columns::GivenColumns;
use bilo_problem::{Equation, Formula, Input as NetworkInput, InputValues, Names, Problem};
use std::collections::BTreeSet;

/// Residuals to be evaluated on the host, every derivative of the networks by itself.
pub struct HostProgram {
    /// The program.
    pub program: ResidualProgram,
    given: GivenColumns,
}

impl HostProgram {
    /// Compiles residuals for the host.
    pub fn new(names: &mut Names, operator: &Operator, residuals: &[Expr], origin: &Origin) -> Result<Self> {
        let mut residuals = residuals.to_vec();
        let given = GivenColumns::replace(names, operator, &mut residuals, origin)?;
        let graph = &mut names.graph;
        let program = ResidualProgram::expanded(graph, &given.operator, &residuals)
            .map_err(|error| program_error(graph, &error, origin))?;
        Ok(Self { program, given })
    }
}

/// A residual program evaluated on the host at the guess, with arbitrary values of the network and
/// its derivatives.
pub struct Probe<'a> {
    program: &'a ResidualProgram,
    scratch: Scratch<f64>,
}

impl<'a> Probe<'a> {
    /// Evaluates the residuals and their derivatives at points, with some values of the network.
    fn new(
        problem: &Problem,
        program: &'a ResidualProgram,
        columns: &[Vec<f64>],
        [first, step]: [f64; 2],
    ) -> Self {
        let guess = with_shifts(&problem.eta_of_guess(), program.frame.unknowns);
        let arbitrary: Vec<f64> =
            (0..program.frame.slots.len()).map(|slot| first + step * slot as f64).collect();
        let inputs: Vec<Input<'_, f64>> = (arbitrary.iter().map(|&value| Input::Uniform(value)))
            .chain(columns.iter().map(|column| Input::Column(column)))
            .chain(guess.iter().map(|&value| Input::Uniform(value)))
            .collect();
        let mut scratch = Scratch::new();
        program.linearisation.eval(&inputs, columns[0].len(), &mut scratch);
        Self { program, scratch }
    }

    /// Residual q at the points.
    pub fn residual(&self, q: usize) -> &[f64] {
        self.scratch.output(&self.program.linearisation, q)
    }

    /// The components of the states' networks, without those of unknown functions.
    pub fn slots(&self) -> impl Iterator<Item = usize> {
        let frame = &self.program.frame;
        (0..frame.slots.len()).filter(|&slot| !frame.carriers[frame.slots[slot].network].given)
    }

    /// Derivative of residual q with respect to a component of the network.
    pub fn slope(&self, q: usize, slot: usize) -> &[f64] {
        let slots = self.program.frame.slots.len();
        self.scratch.output(&self.program.linearisation, self.program.residuals + q * slots + slot)
    }

    /// The points where residual q or one of its derivatives has no finite value.
    fn without_value(&self, q: usize) -> BTreeSet<usize> {
        let slots = self.program.frame.slots.len();
        let columns = std::iter::once(self.residual(q)).chain((0..slots).map(|slot| self.slope(q, slot)));
        columns.flat_map(|values| (0..values.len()).filter(|&point| !values[point].is_finite())).collect()
    }
}

/// Values of the network and its derivatives, as the first and the distance of the next: a residual that has no value with one of
/// them may have met a pole of its own, such as that of `1/(K + u)`; with all of them it has none at that point.
const TRIALS: [[f64; 2]; 3] = [[0.7, -0.3], [0.45, 0.17], [-0.6, 0.23]];

/// Points probed at once: the memory of a probe must not grow with the number of points.
const STRETCH: usize = 1024;

/// Probes of a program at all points, a stretch at a time, each with the coordinates.
pub fn probes<'a>(
    problem: &'a Problem,
    host: &'a HostProgram,
    points: &PointSource,
) -> impl Iterator<Item = (Vec<Vec<f64>>, Probe<'a>)> {
    let points = host.given.at(points.clone());
    let starts = (0..points.len()).step_by(STRETCH);
    starts.map(move |start| {
        let mut columns = points.columns(start..points.len().min(start + STRETCH));
        let probe = Probe::new(problem, &host.program, &columns, TRIALS[0]);
        columns.truncate(problem.coordinates.len());
        (columns, probe)
    })
}

/// Fails if an input of the networks, or the residual of one of a program's equations, has no value at one
/// of its points.
pub fn require_finite(
    problem: &Problem,
    equations: &[&Equation],
    host: &HostProgram,
    points: &PointSource,
) -> Result<()> {
    let inputs = InputValues::new(problem)?;
    let with_given = host.given.at(points.clone());
    for (stretch, (columns, probe)) in probes(problem, host, points).enumerate() {
        if let Some((input, point)) = inputs.first_without_value(&columns) {
            let NetworkInput { name, value } = &problem.inputs[input];
            return Err(without_value(problem, &format!("input `{name}`"), value, &columns, point).into());
        }
        for (q, equation) in equations.iter().enumerate() {
            let mut bad = probe.without_value(q);
            for trial in &TRIALS[1..] {
                if bad.is_empty() {
                    break;
                }
                let start = stretch * STRETCH;
                let all = with_given.columns(start..start + columns[0].len());
                let found = Probe::new(problem, &host.program, &all, *trial).without_value(q);
                bad.retain(|point| found.contains(point));
            }
            if let Some(&point) = bad.first() {
                let what = format!("residual of `{}`", equation.name);
                return Err(without_value(problem, &what, equation.of_networks(), &columns, point).into());
            }
        }
    }
    Ok(())
}

fn without_value(
    problem: &Problem,
    what: &str,
    formula: &Formula,
    columns: &[Vec<f64>],
    point: usize,
) -> Diagnostic {
    let places: Vec<String> = (problem.coordinates.iter().zip(columns))
        .map(|(coordinate, column)| format!("{} = {}", coordinate.name, column[point]))
        .collect();
    let message = format!("the {what} has no finite value at {}", places.join(", "));
    let help = "leave the point out with `where` beside the equation's points, or bound the expression";
    Diagnostic::new(message, formula.origin.clone()).help(help)
}
