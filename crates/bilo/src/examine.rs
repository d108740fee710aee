//! `bilo check`: the problem as understood, and what can be found wrong with it before training.

use crate::diagnostic::Result;
use crate::finite::{probes, require_finite};
use crate::identify::{Identifiability, identifiability};
use crate::operator::{LocalOperator, program_error};
use crate::problem::{Data, Names, Problem, Transform, Unknown};
use crate::seeds::{Purpose, seed_for};
use crate::twin::Twin;
use bilo_expr::{Expr, Leaf};
use bilo_jet::{Activation, Frame, PointSource, ResidualProgram};

/// The problem as understood.
#[derive(Clone, Debug, Default)]
pub struct Examination {
    /// Headings with their lines.
    pub sections: Vec<(String, Vec<String>)>,
    /// What deserves attention.
    pub warnings: Vec<String>,
}

/// Examines a problem: what the residuals become, what the network carries, which unknown reaches
/// which loss, whether some residual cannot vanish, whether the data can identify the unknowns.
pub fn examine(problem: &Problem) -> Result<Examination> {
    let mut examination = Examination::default();
    let mut operator = LocalOperator::new(problem, 0)?;
    examination.section("Coordinates", coordinates(problem));
    examination.section("Unknowns", unknowns(problem)?);
    examination.section("States", states(problem));
    examination.equations(problem, &mut operator)?;
    examination.section("Observations", observations(problem));
    examination.section("Network", network(problem, &operator));
    examination.twin(problem)?;
    Ok(examination)
}

impl Examination {
    fn section(&mut self, heading: &str, lines: Vec<String>) {
        self.sections.push((heading.to_owned(), lines));
    }

    fn equations(&mut self, problem: &Problem, operator: &mut LocalOperator) -> Result<()> {
        let mut names = Names::new(&as_written(problem));
        names.bind_states_opaque(problem);
        let mut lines = vec![];
        for (number, equation) in problem.equations.iter().enumerate() {
            let residual = names.lower(&equation.residual)?;
            lines.push(format!("{}: 0 = {}", equation.name, names.graph.display(residual)));
            let points = equation.points.source(problem, seed_for(0, Purpose::EquationPoints, number))?;
            let graph = &mut operator.names.graph;
            let program = ResidualProgram::expanded(graph, &operator.operator, &[operator.residuals[number]])
                .map_err(|error| program_error(graph, &error, &equation.residual.origin))?;
            lines.push(format!(
                "    {}; the network carries {}",
                count(points.len(), "point"),
                carried(problem, &program.frame)
            ));
            require_finite(problem, &[equation], &program, &points)?;
            if let Some(stuck) = Stuck::find(problem, &program, &points) {
                self.warnings.push(stuck.warning(problem, &equation.name));
            }
        }
        self.section("Equations", lines);
        Ok(())
    }

    fn twin(&mut self, problem: &Problem) -> Result<()> {
        let twin = match Twin::new(problem) {
            Ok(twin) => twin,
            // Without the twin there are no synthetic data: what a run would refuse, so does the check.
            Err(error) if problem.observations.iter().any(|o| matches!(o.data, Data::Synthetic { .. })) => {
                return Err(error);
            }
            Err(error) => {
                self.section("Classical twin", vec!["none".to_owned()]);
                self.warnings.push(format!("no classical twin: {}", error.headline()));
                return Ok(());
            }
        };
        self.section("Classical twin", vec![format!("finite differences, {}", twin.describe())]);
        match identifiability(problem)? {
            Ok(found) => self.identifiability(problem, &found),
            Err(reason) => self.warnings.push(format!("identifiability not examined: {reason}")),
        }
        Ok(())
    }

    fn identifiability(&mut self, problem: &Problem, found: &Identifiability) {
        let mut lines = vec![format!(
            "singular values of d observation/d log unknown at the {}: {}",
            found.at,
            found.singular_values.iter().map(|value| format!("{value:.3e}")).collect::<Vec<_>>().join(", ")
        )];
        if let Some(noise) = found.noise {
            for (unknown, deviation) in problem.unknowns.iter().zip(&found.relative_deviation) {
                let share = 100.0 * deviation;
                lines.push(format!(
                    "{}: standard deviation {share:.2} % at best with noise {noise}",
                    unknown.name
                ));
            }
        }
        for misfit in &found.misfits {
            lines.push(misfit.clone());
        }
        self.warnings.extend(found.warning.clone());
        self.section("Identifiability", lines);
    }
}

/// The problem with its unknowns moved as themselves, so that formulas are displayed as written.
fn as_written(problem: &Problem) -> Problem {
    let mut plain = problem.clone();
    for unknown in &mut plain.unknowns {
        (unknown.scale, unknown.transform) = (1.0, Transform::Identity);
    }
    plain
}

fn coordinates(problem: &Problem) -> Vec<String> {
    let line = |c: &crate::problem::Coordinate| {
        let kind = if c.time {
            ", time"
        } else if c.periodic {
            ", periodic"
        } else {
            ""
        };
        format!("{} in [{}, {}]{kind}", c.name, c.lo, c.hi)
    };
    problem.coordinates.iter().map(line).collect()
}

/// Every unknown with its start and the way it reaches the losses.
fn unknowns(problem: &Problem) -> Result<Vec<String>> {
    let mut names = Names::new(problem);
    names.bind_states_opaque(problem);
    names.bind_opaque(crate::problem::NET);
    let mut places: Vec<(String, Expr)> = vec![];
    for state in &problem.states {
        places.push((format!("form of {}", state.name), names.lower(&state.form)?));
    }
    for equation in &problem.equations {
        places.push((format!("equation {}", equation.name), names.lower(&equation.residual)?));
    }
    let pde = places.len();
    for observation in &problem.observations {
        places.push((format!("observation {}", observation.name), names.lower(&observation.value)?));
    }
    let line = |(number, unknown): (usize, &Unknown)| {
        let leaf = Leaf::Symbol(names.eta[number]);
        let uses = |place: &&(String, Expr)| names.graph.leaves(&[place.1]).contains(&leaf);
        let through = if places[..pde].iter().any(|place| uses(&place)) {
            "an input of the network; reaches the data through it"
        } else {
            "no input of the network; reaches the data directly"
        };
        let used: Vec<&str> = places.iter().filter(uses).map(|place| place.0.as_str()).collect();
        let moved = match unknown.transform {
            Transform::Identity => String::new(),
            Transform::Log => ", moved as its logarithm".to_owned(),
        };
        let truth = unknown.truth.map(|truth| format!(", truth {truth}")).unwrap_or_default();
        format!("{}: guess {}{truth}{moved}; in {}; {through}", unknown.name, unknown.guess, used.join(", "))
    };
    Ok(problem.unknowns.iter().enumerate().map(line).collect())
}

fn states(problem: &Problem) -> Vec<String> {
    problem.states.iter().map(|state| format!("{} = {}", state.name, state.form.text)).collect()
}

fn observations(problem: &Problem) -> Vec<String> {
    let line = |o: &crate::problem::Observation| {
        let data = match &o.data {
            Data::Synthetic { noise, .. } => format!("synthetic at the truth, noise {noise}"),
            Data::Table(table) => count(table.values.len(), "value"),
        };
        format!("{}: {} ({data})", o.name, o.value.text)
    };
    problem.observations.iter().map(line).collect()
}

fn network(problem: &Problem, operator: &LocalOperator) -> Vec<String> {
    let choice = &problem.network;
    let line = |bound: &bilo_jet::BoundNetwork| {
        let spec = bound.network.spec();
        format!(
            "{} and {} in, {} out, width {}, {} after the embedding, {}: {}",
            count(spec.coordinates, "coordinate input"),
            count(spec.parameters, "unknown"),
            spec.outputs,
            choice.width,
            count(choice.layers, "hidden layer"),
            activation_name(choice.activation),
            count(bound.network.weights(), "weight")
        )
    };
    operator.operator.networks.iter().map(line).collect()
}

/// "1 point", "2 points".
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn activation_name(activation: Activation) -> &'static str {
    match activation {
        Activation::Tanh => "tanh",
        Activation::Sin => "sin",
        Activation::Softplus => "softplus",
        Activation::Swish => "swish",
    }
}

/// The derivatives of a frame's networks, as a reader would write them.
fn carried(problem: &Problem, frame: &Frame) -> String {
    let inputs: Vec<String> = problem
        .coordinates
        .iter()
        .flat_map(|c| {
            if c.periodic {
                vec![format!("[sin {}]", c.name), format!("[cos {}]", c.name)]
            } else {
                vec![c.name.clone()]
            }
        })
        .collect();
    let name = |orders: &[u8]| {
        let suffix: Vec<String> =
            inputs.iter().zip(orders).map(|(input, &order)| input.repeat(usize::from(order))).collect();
        let suffix = suffix.concat();
        if suffix.is_empty() { "net".to_owned() } else { format!("net_{suffix}") }
    };
    let names: Vec<String> =
        frame.carriers[0].plan.indices().iter().map(|index| name(index.as_slice())).collect();
    format!("{}, and each along one direction of the unknowns", names.join(", "))
}

/// Points that a warning shows.
const SHOWN: usize = 4;

/// Points where the residual does not depend on the network and yet does not vanish, such as corners
/// where initial and boundary values disagree.
struct Stuck {
    points: Vec<Vec<f64>>,
    count: usize,
    all: usize,
    mean_square: f64,
}

impl Stuck {
    /// Looks at all points twice: for the largest residual and slope, then for what is small beside them.
    fn find(problem: &Problem, program: &ResidualProgram, points: &PointSource) -> Option<Self> {
        let slots = program.frame.slots.len();
        let largest_of = |values: &[f64], start: f64| values.iter().fold(start, |m, v| m.max(v.abs()));
        let (mut scale, mut largest) = (0.0_f64, 0.0_f64);
        for (_, probe) in probes(problem, program, points) {
            scale = largest_of(probe.residual(0), scale);
            largest = (0..slots).fold(largest, |m, slot| largest_of(probe.slope(0, slot), m));
        }
        let mut stuck = Self { points: vec![], count: 0, all: points.len(), mean_square: 0.0 };
        for (columns, probe) in probes(problem, program, points) {
            for (point, residual) in probe.residual(0).iter().enumerate() {
                let free = (0..slots).all(|slot| probe.slope(0, slot)[point].abs() <= 1e-12 * largest);
                if free && residual.abs() > 1e-9 * scale {
                    stuck.add(columns.iter().map(|column| column[point]), *residual);
                }
            }
        }
        stuck.mean_square /= stuck.all as f64;
        (stuck.count > 0).then_some(stuck)
    }

    fn add(&mut self, point: impl Iterator<Item = f64>, residual: f64) {
        if self.points.len() < SHOWN {
            self.points.push(point.collect());
        }
        self.count += 1;
        self.mean_square += residual * residual;
    }

    fn warning(&self, problem: &Problem, equation: &str) -> String {
        let names: Vec<&str> = problem.coordinates.iter().map(|c| c.name.as_str()).collect();
        let place = |point: &Vec<f64>| {
            format!("({})", point.iter().map(f64::to_string).collect::<Vec<_>>().join(", "))
        };
        let places: Vec<String> = self.points.iter().map(place).collect();
        let more = if self.count > self.points.len() { ", ..." } else { "" };
        format!(
            "at {} of the {} points of equation `{equation}`, ({}) = {}{more}, the residual does not depend on the \
             network and does not vanish: initial and boundary values disagree there, and the loss at the guess \
             cannot fall below {:.2e}. Leave these points out with `where`.",
            self.count,
            self.all,
            names.join(", "),
            places.join(", "),
            self.mean_square
        )
    }
}
