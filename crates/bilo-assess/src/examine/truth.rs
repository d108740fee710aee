//! Whether the stated truth satisfies what else is stated: equations, conditions, forms and data.

use crate::identify::observation_points;
use bilo_expr::{Expr, Leaf, Tape};
use bilo_jet::PointSource;
use bilo_problem::diagnostic::{Diagnostic, Result};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::text::{digits, place, point, share};
use bilo_problem::truth::StatedTruth;
use bilo_problem::{
    Coordinate, Data, Equation, Likelihood, NET, Observation, Problem, Sampling, State, Table,
};
use std::collections::BTreeMap;

/// Largest relative violation that counts as satisfied: constants of a formula written with seven
/// digits pass, slips do not.
const TOLERANCE: f64 = 1e-6;

/// Beside the largest of all sizes, smaller ones than this are rounding and no scale.
const NEGLIGIBLE: f64 = 1e-6;

/// Without a sigma, data that the truth misses by more of their size are not described by it.
const DESCRIBES: f64 = 0.5;

/// Points evaluated at once.
const STRETCH: usize = 1024;

/// A value for the network where it must not matter; not zero, where squares have no slope either.
const ANY_NET: f64 = 0.7;

/// What was found, in lines; a violated equation or form is an error.
#[derive(Default)]
pub(super) struct Verdicts {
    pub(super) lines: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// Holds the stated truth against the problem; none if no state has one.
pub(super) fn verdicts(problem: &Problem) -> Result<Option<Verdicts>> {
    let Some(truth) = StatedTruth::new(problem)? else { return Ok(None) };
    let mut check = Check { problem, truth, found: Verdicts::default() };
    for (number, equation) in problem.equations.iter().enumerate() {
        check.equation(number, equation)?;
    }
    for (number, state) in problem.states.iter().enumerate() {
        if let Some(solution) = check.truth.solution(number) {
            check.form(state, solution)?;
            check.periods(state, solution)?;
        }
    }
    let points = observation_points(problem)?;
    for (observation, points) in problem.observations.iter().zip(&points) {
        if let Data::Table(table) = &observation.data
            && !matches!(observation.likelihood, Likelihood::PoissonProcess { .. })
        {
            check.data(observation, table, points)?;
        }
    }
    Ok(Some(check.found))
}

struct Check<'a> {
    problem: &'a Problem,
    truth: StatedTruth,
    found: Verdicts,
}

/// `made` must be `needed`: an equation as its terms with the states and minus the rest, a form and
/// the truth. `parts` are what `made` is the sum of.
struct Claim {
    made: Expr,
    needed: Expr,
    parts: Vec<Expr>,
}

/// How far a claim is from holding.
struct Violation {
    /// Root mean square of the difference against that of what is made.
    relative: f64,
    worst: Vec<f64>,
    made: f64,
    needed: f64,
}

impl Check<'_> {
    fn equation(&mut self, number: usize, equation: &Equation) -> Result<()> {
        let residual = self.truth.names.lower(&equation.residual)?;
        if let Some(state) = self.truth.missing(residual) {
            let state = &self.problem.states[state].name;
            let line =
                format!("equation {}: not checked, the truth of `{state}` is not stated", equation.name);
            self.found.lines.push(line);
            return Ok(());
        }
        if self.truth.is_by_input(residual) {
            let line =
                format!("equation {}: not checked, it is about a derivative by an input", equation.name);
            self.found.lines.push(line);
            return Ok(());
        }
        // Points that follow unknowns, and those that `where` leaves out, are those at the truth.
        let truth: Vec<f64> = self.problem.unknowns.iter().map(|u| u.truth.unwrap_or(u.guess)).collect();
        let seed = seed_for(0, Purpose::EquationPoints, number);
        let points = equation.points.source_at(self.problem, &truth, seed)?;
        let claim = self.parts_of(residual);
        let what = format!("equation `{}`", equation.name);
        let found = self.measure(&claim, &points, &[]).map_err(|worst| {
            let message =
                format!("at the stated truth the {what} has no finite residual at {}", self.at(&worst));
            let help = "leave the point out with `where` beside the equation's points, or write the truth so \
                        that its derivatives have values there";
            Diagnostic::new(message, equation.residual.origin.clone()).help(help)
        })?;
        let line = format!("equation {}: {}", equation.name, self.satisfied(&found));
        self.found.lines.push(line);
        if found.relative <= TOLERANCE {
            return Ok(());
        }
        let made = format!("its terms with {} make {}", self.states_of(residual), digits(found.made, 5));
        let error = self.violated(&what, &found, &made);
        Err(Diagnostic { origin: equation.residual.origin.clone(), ..error }.into())
    }

    /// A residual as its terms with the states, each state or derivative of one with what multiplies
    /// it, and the rest, which must be their opposite.
    fn parts_of(&mut self, residual: Expr) -> Claim {
        let leaves = self.truth.state_leaves(residual);
        let graph = &mut self.truth.names.graph;
        let zero = graph.constant(0.0);
        let rest = graph.substitute(residual, &leaves.iter().map(|leaf| (leaf.clone(), zero)).collect());
        let made = graph.sub(residual, rest);
        let needed = graph.neg(rest);
        let mut parts = vec![];
        for leaf in &leaves {
            let Leaf::Derivative(function, index) = leaf else { continue };
            let graph = &mut self.truth.names.graph;
            let (slope, value) = (graph.partial(residual, leaf), graph.derivative(*function, index.clone()));
            let part = graph.mul(slope, value);
            parts.push(self.truth.in_place(part));
        }
        Claim { made: self.truth.in_place(made), needed, parts }
    }

    fn states_of(&self, expression: Expr) -> String {
        let leaves = self.truth.names.graph.leaves(&[expression]);
        let occurs = |state: &&State| {
            let named = |leaf: &Leaf| match leaf {
                Leaf::Derivative(f, _) => self.truth.names.graph.function_name(*f) == state.name,
                Leaf::Symbol(_) => false,
            };
            leaves.iter().any(named)
        };
        let names = self.problem.states.iter().filter(occurs).map(|state| format!("`{}`", state.name));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Where the network has no influence on a form, the form is an initial or boundary value.
    fn form(&mut self, state: &State, solution: Expr) -> Result<()> {
        self.truth.names.bind_opaque(NET);
        let form = self.truth.names.lower(&state.form)?;
        let graph = &mut self.truth.names.graph;
        let mut net = graph.leaves(&[form]);
        let given = self.truth.names.given.iter().map(|bound| bound.function).collect::<Vec<_>>();
        net.retain(|leaf| matches!(leaf, Leaf::Derivative(f, _) if !given.contains(f)));
        let slopes: Vec<Expr> = net.iter().map(|leaf| graph.partial(form, leaf)).collect();
        let points = self.held_by_form(&slopes, &net);
        if points.is_empty() {
            return Ok(());
        }
        let claim = Claim { made: solution, needed: form, parts: vec![] };
        let Ok(found) = self.measure(&claim, &points, &net) else {
            let line = format!("values held by the form of {}: not checked, not all are finite", state.name);
            self.found.lines.push(line);
            return Ok(());
        };
        let line = format!("values held by the form of {}: {}", state.name, self.satisfied(&found));
        self.found.lines.push(line);
        if found.relative <= TOLERANCE {
            return Ok(());
        }
        let made = format!("it is {}", digits(found.made, 5));
        let error = self.violated(&format!("values that the form of `{}` holds", state.name), &found, &made);
        Err(Diagnostic { origin: state.form.origin.clone(), ..error }.into())
    }

    fn held_by_form(&self, slopes: &[Expr], net: &[Leaf]) -> PointSource {
        let tape = self.truth.compile(slopes, net);
        let any = vec![ANY_NET; net.len()];
        let domain = self.domain(None);
        let mut largest = 0.0_f64;
        for columns in domain.stretches(STRETCH) {
            let values = self.truth.evaluate(&tape, &columns, &any);
            largest = values.iter().flatten().filter(|v| v.is_finite()).fold(largest, |m, v| m.max(v.abs()));
        }
        domain.keep(|columns| {
            let values = self.truth.evaluate(&tape, columns, &any);
            (0..columns[0].len()).map(|i| values.iter().all(|v| v[i].abs() <= 1e-12 * largest)).collect()
        })
    }

    /// Where a coordinate is periodic, so is every network.
    fn periods(&mut self, state: &State, solution: Expr) -> Result<()> {
        for (number, coordinate) in self.problem.coordinates.iter().enumerate().filter(|(_, c)| c.periodic) {
            let leaf = Leaf::Symbol(self.truth.names.coordinates[number]);
            let graph = &mut self.truth.names.graph;
            let mut end = |place: f64| {
                let place = graph.constant(place);
                graph.substitute(solution, &BTreeMap::from([(leaf.clone(), place)]))
            };
            let claim = Claim { made: end(coordinate.lo), needed: end(coordinate.hi), parts: vec![solution] };
            let points = self.domain(Some(number));
            let Ok(found) = self.measure(&claim, &points, &[]) else { continue };
            let line = format!("{} periodic in {}: {}", state.name, coordinate.name, self.satisfied(&found));
            self.found.lines.push(line);
            if found.relative > TOLERANCE {
                let what = format!("period of `{}`", coordinate.name);
                let error = self.violated(&what, &found, &format!("it is {}", digits(found.made, 5)));
                let origin = state.truth.as_ref().map(|truth| truth.origin.clone()).unwrap_or_default();
                return Err(Diagnostic { origin, ..error }.into());
            }
        }
        Ok(())
    }

    fn data(&mut self, observation: &Observation, table: &Table, points: &Sampling) -> Result<()> {
        let name = &observation.name;
        let Some(values) = self.truth.observed(observation, points)? else { return Ok(()) };
        let rms = |values: &mut dyn Iterator<Item = f64>| {
            (values.map(|v| v * v).sum::<f64>() / table.values.len() as f64).sqrt()
        };
        let differ = |i: usize| table.values[i] - values[i];
        let count = table.values.len();
        let (distance, size) = (rms(&mut (0..count).map(differ)), rms(&mut table.values.iter().copied()));
        let worst = (0..count).max_by(|&i, &j| differ(i).abs().total_cmp(&differ(j).abs())).unwrap_or(0);
        let mut by = format!(
            "off by {distance:.3e} (root mean square, {} of their size), most at {}",
            share(distance / size.max(f64::MIN_POSITIVE)),
            self.at(&point(&points.coordinates, worst))
        );
        let fine = match &table.sigma {
            Some(sigma) => {
                let deviations = rms(&mut (0..count).map(|i| differ(i) / sigma[i]));
                by += &format!("; {deviations:.2} of their sigma");
                // The root mean square of n normal numbers has a standard deviation of 1/sqrt(2n).
                deviations <= 1.0 + 4.0 / (2.0 * count as f64).sqrt()
            }
            None => distance <= DESCRIBES * size,
        };
        if !fine {
            self.found.warnings.push(format!("the stated truth does not describe the data `{name}`: {by}"));
        }
        self.found.lines.push(format!("data {name}: {by}"));
        Ok(())
    }

    /// A claim at points; the point where it has no finite value, if there is one.
    fn measure(
        &self,
        claim: &Claim,
        points: &PointSource,
        more: &[Leaf],
    ) -> std::result::Result<Violation, Vec<f64>> {
        let outputs: Vec<Expr> = [claim.made, claim.needed].into_iter().chain(claim.parts.clone()).collect();
        let tape = self.truth.compile(&outputs, more);
        let any = vec![ANY_NET; more.len()];
        let (mut square, mut worst) =
            (0.0, Violation { relative: 0.0, worst: vec![], made: 0.0, needed: 0.0 });
        for columns in points.stretches(STRETCH) {
            let values = self.truth.evaluate(&tape, &columns, &any);
            for (i, (&made, &needed)) in values[0].iter().zip(&values[1]).enumerate() {
                let difference = made - needed;
                if !difference.is_finite() {
                    return Err(point(&columns, i));
                }
                square += difference * difference;
                if worst.worst.is_empty() || difference.abs() > (worst.made - worst.needed).abs() {
                    worst = Violation { relative: 0.0, worst: point(&columns, i), made, needed };
                }
            }
        }
        let size = (square / points.len() as f64).sqrt();
        let scale = self.scale(&tape, points, &any);
        Ok(Violation { relative: if size == 0.0 { 0.0 } else { size / scale }, ..worst })
    }

    /// What a claim's difference is measured against: the size of what is made, or of its largest
    /// part if these cancel; where that is nothing, of what is needed; where that is nothing too, of
    /// what is made in the whole domain.
    fn scale(&self, tape: &Tape, points: &PointSource, any: &[f64]) -> f64 {
        let here = self.sizes(tape, points, any);
        let everywhere = self.sizes(tape, &self.domain(None), any);
        let largest = |sizes: &[f64]| sizes.iter().copied().fold(0.0, f64::max);
        let made = |sizes: &[f64]| sizes[0].max(largest(&sizes[2..]));
        let candidates = [made(&here), here[1], made(&everywhere)];
        let least = NEGLIGIBLE * largest(&candidates);
        candidates.into_iter().find(|&size| size > least).unwrap_or(f64::MIN_POSITIVE)
    }

    /// Root mean squares of the outputs where they are finite.
    fn sizes(&self, tape: &Tape, points: &PointSource, any: &[f64]) -> Vec<f64> {
        let mut squares = vec![0.0; tape.outputs().len()];
        for columns in points.stretches(STRETCH) {
            let values = self.truth.evaluate(tape, &columns, any);
            for (square, values) in squares.iter_mut().zip(&values) {
                *square += values.iter().filter(|v| v.is_finite()).map(|v| v * v).sum::<f64>();
            }
        }
        squares.into_iter().map(|square| (square / points.len() as f64).sqrt()).collect()
    }

    /// A grid over the whole domain, or over an end of one coordinate.
    fn domain(&self, end_of: Option<usize>) -> PointSource {
        let count = match self.problem.coordinates.len() {
            1 => 201,
            2 => 41,
            3 => 15,
            _ => 7,
        };
        let axis = |(number, coordinate): (usize, &Coordinate)| match end_of {
            Some(end) if end == number => vec![coordinate.lo],
            _ => coordinate.axis(count),
        };
        PointSource::grid(self.problem.coordinates.iter().enumerate().map(axis).collect())
    }

    fn at(&self, worst: &[f64]) -> String {
        place(self.problem, worst)
    }

    fn satisfied(&self, found: &Violation) -> String {
        if found.relative == 0.0 {
            return "satisfied".to_owned();
        }
        format!("satisfied (off by {}, most at {})", share(found.relative), self.at(&found.worst))
    }

    fn violated(&self, what: &str, found: &Violation, made: &str) -> Diagnostic {
        let message = format!(
            "the stated truth violates the {what} by {} (relative L2); worst at {}: {made}, where {} is needed",
            share(found.relative),
            self.at(&found.worst),
            digits(found.needed, 5)
        );
        let values = |u: &bilo_problem::Unknown| Some(format!("{} = {}", u.name, u.truth?));
        let values: Vec<String> = self.problem.unknowns.iter().filter_map(values).collect();
        let help = format!(
            "correct this, or the `truth` of the states, or that of the unknowns (here {})",
            values.join(", ")
        );
        Diagnostic::new(message, Default::default()).help(help)
    }
}
