//! A neural operator for each observation: parameters in, observed values out.

use super::examples::{Solved, held};
use bilo_learn::{
    DeepOnet, DeepOnetSpec, Fno, FnoSpec, GridAxis, Samples, Schedule, Split, Surrogate, Training, Units,
};
use bilo_problem::diagnostic::{Diagnostic, Result};
use bilo_problem::function::Lattice;
use bilo_problem::theta::Theta;
use bilo_problem::{Examples, FnoChoice, LearningOptions, Problem};

/// What a neural operator is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    /// A branch for the unknowns and a trunk for the coordinates.
    DeepOnet,
    /// Layers in Fourier space.
    Fno,
}

/// The share of the examples that is held back.
const HELD_BACK: f64 = 0.1;

/// Which numbers of everything unknown a model sees, in order: all scalars, then values of functions at nodes.
pub(super) struct Parameters {
    /// The nodes of each function.
    pub(super) nodes: Vec<Vec<usize>>,
}

impl Parameters {
    /// A DeepONet sees what can move; an FNO sees functions on its whole grid.
    pub(super) fn new(problem: &Problem, architecture: Architecture) -> Result<Self> {
        let mut nodes = vec![];
        for function in &problem.functions {
            let held = if architecture == Architecture::Fno { vec![] } else { held(problem, function)? };
            let all = 0..Lattice::new(function).len();
            nodes.push(all.filter(|node| !held.contains(node)).collect());
        }
        Ok(Self { nodes })
    }

    /// One unit of length for all values of a function: beside an end that is held they hardly vary, and in a unit of
    /// their own the least step of the descent would lead far from all examples.
    fn share_units(&self, units: &mut Units, scalars: usize) {
        let mut rest = &mut units.parameters[scalars..];
        for nodes in &self.nodes {
            let (own, others) = rest.split_at_mut(nodes.len());
            // Those that never vary have the unit one.
            let free = || own.iter().map(|unit| unit.spread).filter(|spread| *spread != 1.0);
            let mean_square =
                free().map(|spread| spread * spread).sum::<f64>() / free().count().max(1) as f64;
            own.iter_mut().for_each(|unit| unit.spread = mean_square.sqrt());
            rest = others;
        }
    }

    /// The numbers of a value of everything unknown.
    pub(super) fn of(&self, problem: &Problem, theta: &Theta) -> Vec<f64> {
        let mut all = problem.thetas(&theta.eta);
        for (nodes, values) in self.nodes.iter().zip(&theta.functions) {
            all.extend(nodes.iter().map(|&node| values[node]));
        }
        all
    }
}

/// An untrained model with what it learns from.
pub(super) struct TrainingSet {
    pub(super) model: Box<dyn Surrogate>,
    pub(super) samples: Samples,
    pub(super) split: Split,
    pub(super) training: Training,
}

impl TrainingSet {
    /// For one observation.
    pub(super) fn new(
        problem: &Problem,
        examples: &Examples,
        architecture: Architecture,
        solved: &Solved,
        parameters: &Parameters,
        observation: usize,
        seed: u64,
    ) -> Result<Self> {
        let inputs = solved.thetas.iter().map(|theta| parameters.of(problem, theta)).collect();
        let samples = Samples::new(inputs, solved.points.clone(), solved.observed[observation].clone());
        let split = Split::new(samples.count(), HELD_BACK, seed);
        let mut units = Units::of(&samples, &split.training);
        parameters.share_units(&mut units, problem.unknowns.len());
        let (model, lessons): (Box<dyn Surrogate>, LearningOptions) = match architecture {
            Architecture::Fno => {
                let choice = problem.learning.fno;
                let axes = axes(problem, examples, choice)?;
                let (scalars, functions) = (problem.unknowns.len(), problem.functions.len());
                let (FnoChoice { width, layers, .. }, lessons) = (choice, choice.lessons());
                (Box::new(Fno::new(FnoSpec { axes, scalars, functions, width, layers }, units)), lessons)
            }
            Architecture::DeepOnet => {
                let choice = problem.learning.deeponet;
                let layers = vec![choice.width; choice.layers];
                let spec = DeepOnetSpec { branch: layers.clone(), trunk: layers };
                (Box::new(DeepOnet::new(spec, units)), choice.lessons())
            }
        };
        let LearningOptions { steps, batch, rate } = lessons;
        let training = Training { steps, batch, rate, schedule: Schedule::Cosine, seed };
        Ok(Self { model, samples, split, training })
    }
}

/// The grid of an FNO, or why there can be none.
fn axes(problem: &Problem, examples: &Examples, choice: FnoChoice) -> Result<Vec<GridAxis>> {
    let refuse = |message: String, help: &str| {
        Err(Diagnostic::new(message, Default::default()).help(help.to_owned()).into())
    };
    if problem.coordinates.len() > 2 {
        let message =
            format!("an FNO learns over one or two coordinates, and there are {}", problem.coordinates.len());
        return refuse(message, "try the method `deeponet`");
    }
    for (coordinate, &nodes) in problem.coordinates.iter().zip(&examples.grid) {
        if choice.modes > nodes {
            let (name, modes) = (&coordinate.name, choice.modes);
            let message = format!("{nodes} nodes along {name} do not carry {modes} modes");
            return refuse(message, "lower `modes` in [fno] or raise `grid` in [examples]");
        }
    }
    for function in &problem.functions {
        if function.nodes != examples.grid || function.of.len() != problem.coordinates.len() {
            let message = format!("an FNO needs `{}` on the grid of the examples", function.name);
            return refuse(message, "state the same `grid` for the function and in [examples]");
        }
    }
    let axis = |(coordinate, &nodes): (&bilo_problem::Coordinate, &usize)| GridAxis {
        nodes,
        interval: [coordinate.lo, coordinate.hi],
        modes: choice.modes,
    };
    Ok(problem.coordinates.iter().zip(&examples.grid).map(axis).collect())
}
