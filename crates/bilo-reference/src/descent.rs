//! The PDE-constrained optimum where functions are unknown: data loss and regularisers minimised by
//! L-BFGS, with gradients by the adjoint of the reference solver.
//!
//! A function f is moved through `net` at the nodes of its grid, f = form(x, net), so that what its
//! form holds is held here too; and `net` through variables in which neighbouring values move together.

use crate::misfit::{Evaluation, ReferenceLoss};
use bilo_fit::gauss_newton::Iterate;
use bilo_fit::stop::Stop;
use bilo_optim::{Lbfgs, Optimizer};
use bilo_problem::Problem;
use bilo_problem::diagnostic::{ErrorKind, Result};
use bilo_problem::function::{Metric, RegulariserOnLattice, Shape};
use bilo_problem::theta::Theta;

/// Most iterations.
pub const MAX_ITERATIONS: usize = 1000;

/// Pairs that L-BFGS remembers.
const MEMORY: usize = 30;

/// Converged when the loss fell by less than this part of itself over so many iterations.
const GAIN: f64 = 1e-9;
const PATIENCE: usize = 20;

/// The loss of the upper level under the exact PDE, as a function of flat variables.
pub struct Target<'a> {
    loss: ReferenceLoss<'a>,
    shapes: Vec<Shape>,
    metrics: Vec<Metric>,
    regularisers: Vec<Option<RegulariserOnLattice>>,
}

/// Where the loss was evaluated and what was found.
pub struct ObjectiveAt<'a> {
    /// The solution there.
    pub evaluation: Evaluation<'a>,
    /// The data terms, then the regularisers' means, without their weights.
    pub terms: Vec<f64>,
    /// The weighted sum of the terms.
    pub total: f64,
}

/// Where the descent ended.
pub struct Descent<'a> {
    /// The loss there.
    pub end: ObjectiveAt<'a>,
    /// Why it ended.
    pub stop: Stop,
    /// Iterations taken.
    pub steps: usize,
}

impl<'a> Target<'a> {
    /// The data loss of a problem with the regularisers of its functions.
    pub fn new(loss: ReferenceLoss<'a>) -> Result<Self> {
        let problem = loss.data.problem();
        let functions = &problem.functions;
        Ok(Self {
            loss,
            shapes: functions.iter().map(|f| Shape::new(problem, f)).collect::<Result<_>>()?,
            metrics: functions.iter().map(|f| Metric::new(&f.nodes)).collect(),
            regularisers: functions
                .iter()
                .map(|f| RegulariserOnLattice::new(problem, f))
                .collect::<Result<_>>()?,
        })
    }

    fn problem(&self) -> &'a Problem {
        self.loss.data.problem()
    }

    /// Names of the terms.
    pub fn names(&self) -> Vec<String> {
        let functions = self.problem().functions.iter().zip(&self.regularisers);
        let regularised = functions.filter(|(_, regulariser)| regulariser.is_some());
        let names = regularised.map(|(function, _)| format!("regulariser.{}", function.name));
        self.loss.data.names().into_iter().chain(names).collect()
    }

    /// The variables of a value of the unknowns: eta, then those of each function.
    pub fn variables(&self, theta: &Theta) -> Result<Vec<f64>> {
        let mut variables = theta.eta.clone();
        for (net, metric) in self.nets(theta)?.into_iter().zip(&self.metrics) {
            variables.extend(metric.variables(net));
        }
        Ok(variables)
    }

    /// The unknowns at some variables, and how much each moves with its variable, or a function's value with
    /// its `net`.
    fn theta(&self, variables: &[f64]) -> (Theta, Theta) {
        let (eta, mut rest) = variables.split_at(self.problem().unknowns.len());
        // Beyond a bound the unknown stays at it.
        let unknowns = self.problem().unknowns.iter().zip(eta);
        let held: Vec<f64> = unknowns.map(|(unknown, &eta)| unknown.project(eta)).collect();
        let free = held.iter().zip(eta).map(|(held, eta)| f64::from(held == eta)).collect();
        let mut theta = Theta { eta: held, functions: vec![] };
        let mut slopes = Theta { eta: free, functions: vec![] };
        for (i, function) in self.problem().functions.iter().enumerate() {
            let (own, others) = rest.split_at(function.nodes.iter().product());
            let (values, by_net) = self.shapes[i].values(&self.metrics[i].net(own.to_vec()));
            theta.functions.push(values);
            slopes.functions.push(by_net);
            rest = others;
        }
        (theta, slopes)
    }

    /// Solves and differentiates by the variables.
    pub fn differentiate(&self, variables: &[f64]) -> Result<(ObjectiveAt<'a>, Vec<f64>)> {
        let (theta, slopes) = self.theta(variables);
        let here = self.evaluate(&theta)?;
        let mut gradient = self.loss.gradient(&here.evaluation)?;
        for (function, regulariser) in self.regularisers.iter().enumerate() {
            let Some(regulariser) = regulariser else { continue };
            let (_, by_values) = regulariser.mean(&theta.functions[function]);
            let sums = gradient.functions[function].iter_mut().zip(by_values);
            sums.for_each(|(sum, slope)| *sum += regulariser.weight() * slope);
        }
        Ok((here, self.pull_back(&gradient, &slopes)))
    }

    /// Solves at a value of everything unknown.
    pub fn evaluate(&self, theta: &Theta) -> Result<ObjectiveAt<'a>> {
        self.evaluate_near(theta, None)
    }

    /// Solves at a value of everything unknown; of several steady solutions finds that near one for other values or on another
    /// grid.
    pub fn evaluate_near(&self, theta: &Theta, near: Option<&Evaluation<'_>>) -> Result<ObjectiveAt<'a>> {
        let evaluation = self.loss.evaluate_near(theta, near)?;
        let mut terms = evaluation.loss_terms.terms.clone();
        let mut total = evaluation.loss_terms.loss;
        for (values, regulariser) in theta.functions.iter().zip(&self.regularisers) {
            let Some(regulariser) = regulariser else { continue };
            let (mean, _) = regulariser.mean(values);
            terms.push(mean);
            total += regulariser.weight() * mean;
        }
        Ok(ObjectiveAt { evaluation, terms, total })
    }

    /// `net` of each function at its nodes.
    pub fn nets(&self, theta: &Theta) -> Result<Vec<Vec<f64>>> {
        let functions = self.problem().functions.iter().enumerate();
        functions.map(|(i, function)| self.shapes[i].net_of(&theta.functions[i], function)).collect()
    }

    /// The unknowns and each `net` after a part of a change of the unknowns: numbers within their bounds, functions as their
    /// forms allow.
    pub fn moved(
        &self,
        theta: &Theta,
        nets: &[Vec<f64>],
        change: &Theta,
        part: f64,
    ) -> (Theta, Vec<Vec<f64>>) {
        let unknowns = self.problem().unknowns.iter().zip(theta.eta.iter().zip(&change.eta));
        let mut moved = Theta {
            eta: unknowns.map(|(unknown, (eta, change))| unknown.project(eta + part * change)).collect(),
            functions: vec![],
        };
        let mut moved_nets = vec![];
        for ((shape, net), change) in self.shapes.iter().zip(nets).zip(&change.functions) {
            let slopes = shape.values(net).1;
            let along = |(net, (slope, change)): (&f64, (&f64, &f64))| match *slope {
                0.0 => *net,
                slope => net + part * change / slope,
            };
            let net: Vec<f64> = net.iter().zip(slopes.iter().zip(change)).map(along).collect();
            moved.functions.push(shape.values(&net).0);
            moved_nets.push(net);
        }
        (moved, moved_nets)
    }

    /// The derivatives by the variables, from those by the unknowns.
    fn pull_back(&self, by_theta: &Theta, slopes: &Theta) -> Vec<f64> {
        let times = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a * b).collect() };
        let mut all = times(&by_theta.eta, &slopes.eta);
        for (i, metric) in self.metrics.iter().enumerate() {
            all.extend(metric.pull_back(times(&by_theta.functions[i], &slopes.functions[i])));
        }
        all
    }
}

/// Minimises from some variables; `watch` may end it after an iteration.
pub fn descend<'a>(
    target: &Target<'a>,
    start: &Theta,
    watch: &mut dyn FnMut(&Iterate<'_>) -> Option<Stop>,
) -> Result<Descent<'a>> {
    let mut variables = target.variables(start)?;
    // Fails here if the reference solver cannot solve at the start; later that makes a step too long.
    let (mut here, _) = target.differentiate(&variables)?;
    let (mut optimiser, mut losses) = (Lbfgs::new(MEMORY), vec![here.total]);
    // In units of the loss at the start: the first step is as long as the gradient says.
    let unit = if here.total > 0.0 { here.total } else { 1.0 };
    for step in 1..=MAX_ITERATIONS {
        let before = (here.evaluation.theta.eta.clone(), here.terms.clone());
        let (mut last, mut interrupted) = (None, false);
        let moved = optimiser.step(&mut variables, &mut |variables, gradient| {
            let found = target.differentiate(variables);
            interrupted |= found.as_ref().is_err_and(|error| error.kind() == ErrorKind::Interrupted);
            let Ok((there, slopes)) = found else {
                last = None;
                gradient.fill(0.0);
                return f64::INFINITY;
            };
            gradient.iter_mut().zip(slopes).for_each(|(slope, by_loss)| *slope = by_loss / unit);
            last.insert(there).total / unit
        });
        if interrupted {
            return Ok(Descent { end: here, stop: Stop::Interrupted, steps: step - 1 });
        }
        here = match last {
            Some(last) if moved.progress => last,
            _ => target.differentiate(&variables)?.0,
        };
        losses.push(here.total);
        let asked = watch(&Iterate { step, eta: &before.0, terms: &before.1, lower: &[] });
        let settled = losses.len() > PATIENCE && {
            let earlier = losses[losses.len() - 1 - PATIENCE];
            earlier - here.total <= GAIN * earlier.abs()
        };
        if let Some(stop) = (settled || !moved.progress).then_some(Stop::Converged).or(asked) {
            return Ok(Descent { end: here, stop, steps: step });
        }
    }
    Ok(Descent { end: here, stop: Stop::Steps, steps: MAX_ITERATIONS })
}
