//! The upper level: data and regularisers, over the unknowns.

use super::{Loaded, LossSlopes, Sum, Term, add_scaled, gaussian_density, on_nodes, part_source, reference};
use crate::operator::{LocalOperator, with_shifts};
use bilo_expr::{Expr, Unary};
use bilo_fit::joint_likelihood::JointLikelihood;
use bilo_jet::{DensityId, Device, Moves};
use bilo_problem::diagnostic::{Diagnostic, Result};
use bilo_problem::sites::Sites;
use bilo_problem::{Problem, RegulariserKind, Table, Unknown};

/// L_data + Σ_f weight_f L_reg,f, with the data of all observations in L_data.
pub struct Upper {
    /// The observations, then the regularisers.
    terms: Vec<Term>,
    names: Vec<String>,
    joint: JointLikelihood,
    /// What is known of the unknowns before the data, if something is.
    priors: Option<Priors>,
    /// What multiplies L_data.
    data_weight: f64,
    /// The weights of the regularisers.
    regularisers: Vec<f64>,
    /// Unknowns of the device: scalars and what functions have.
    pub(crate) unknowns: usize,
    /// The weights that it moves, if any.
    moves: Option<Moves>,
}

impl Upper {
    /// Loads every observation and every regulariser into the device.
    pub fn new(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        tables: Vec<Table>,
    ) -> Result<Self> {
        // Functions that are no networks have no weights.
        let moves = (!operator.functions.networks.is_empty()).then_some(Moves::Functions);
        Self::moving(problem, operator, device, tables, moves, 1.0)
    }

    /// The upper level over some weights, the data with a factor.
    pub(super) fn moving(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        tables: Vec<Table>,
        moves: Option<Moves>,
        data_weight: f64,
    ) -> Result<Self> {
        let unknowns = operator.operator.unknowns.len();
        let joint = JointLikelihood::new(problem, &tables);
        let (terms, names, regularisers) = (vec![], vec![], vec![]);
        let priors = Priors::new(problem, joint.count());
        let mut upper = Self { terms, names, joint, priors, data_weight, regularisers, unknowns, moves };
        let moves = moves.unwrap_or(Moves::States);
        let guess = problem.thetas(&problem.eta_of_guess());
        for (number, (observation, table)) in problem.observations.iter().zip(tables).enumerate() {
            observation.require_local("networks")?;
            observation.require_stated_scale(&table, "networks")?;
            let sites = Sites::new(problem, observation, &table, &guess)?;
            let mut parts = vec![];
            for part in &sites.parts {
                let density = operator.density_of(&part.law, operator.observed[number][0])?;
                let origin = &observation.value.origin;
                let sum = Sum { density, operator: operator.with_data_columns(), moves, origin };
                let (points, weights) = part_source(&sites, part);
                parts.push(sum.load(&mut operator.names, device, points, weights)?);
            }
            let moving = observation.likelihood.moves_with_unknowns(problem).then_some((number, table));
            upper.terms.push(Term { parts, moving });
            upper.names.push(format!("data.{}", observation.name));
        }
        upper.names.extend(upper.priors.as_ref().map(|_| "prior".to_owned()));
        for (number, function) in problem.functions.iter().enumerate() {
            let Some(regulariser) = &function.regulariser else { continue };
            if let RegulariserKind::Field(_) = regulariser.kind {
                let message = format!(
                    "the prior of `{}` belongs to functions that are solved for, not to networks",
                    function.name
                );
                let help = "take the method `adjoint`, or a dictionary (operator.kind = \"dictionary\")";
                return Err(Diagnostic::new(message, function.form.origin.clone()).help(help).into());
            }
            let density = regulariser_density(operator, number, &regulariser.kind);
            let with_data = operator.for_function_with_data(number);
            let sum = Sum { density, operator: with_data, moves, origin: &function.form.origin };
            let table = on_nodes(problem, function, reference(function, regulariser))?;
            let parts = vec![sum.load_mean(&mut operator.names, device, table)?];
            upper.terms.push(Term { parts, moving: None });
            upper.regularisers.push(regulariser.weight);
            upper.names.push(format!("regulariser.{}", function.name));
        }
        Ok(upper)
    }

    /// Names of the terms.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Its densities on the device, with the weights of their terms and these terms' numbers.
    pub(crate) fn parts(&self) -> Vec<(DensityId, f64, usize)> {
        let weights = self.weights(&vec![1.0; self.terms.len()]);
        let terms = self.terms.iter().zip(weights).enumerate();
        terms
            .flat_map(|(number, (term, weight))| term.parts.iter().map(move |part| (part.id, weight, number)))
            .collect()
    }

    fn observations(&self) -> usize {
        self.terms.len() - self.regularisers.len()
    }

    /// The derivatives of the loss by its terms.
    fn weights(&self, terms: &[f64]) -> Vec<f64> {
        let data = self.joint.slopes(&terms[..self.observations()]);
        data.iter().map(|slope| self.data_weight * slope).chain(self.regularisers.iter().copied()).collect()
    }

    /// Whether places move with the unknowns, or weights with the terms, or priors count, so that the host has to follow at every step.
    pub(crate) fn follows_unknowns(&self) -> bool {
        !self.joint.is_linear()
            || self.priors.is_some()
            || self.terms.iter().any(|term| term.moving.is_some())
    }

    /// Puts the places of integrals whose breaks move with the unknowns to where these are now. (The breaks
    /// move no value of the integral, so the gradient is that at fixed places.)
    pub fn move_places(&self, problem: &Problem, device: &mut dyn Device, eta: &[f64]) -> Result<()> {
        for Term { parts, moving } in &self.terms {
            let Some((number, table)) = moving else { continue };
            let sites = Sites::new(problem, &problem.observations[*number], table, &problem.thetas(eta))?;
            for (Loaded { id, given }, part) in parts.iter().zip(&sites.parts) {
                let (points, weights) = part_source(&sites, part);
                device.move_density(*id, given.at(points), weights)?;
            }
        }
        Ok(())
    }

    /// The terms and the gradient of their weighted sum with respect to the unknowns, at fixed W.
    pub fn loss(&self, device: &mut dyn Device, weights: &[f64], eta: &[f64]) -> Result<LossSlopes> {
        let mut loss = self.sum(&self.terms, device, weights, eta)?;
        if let Some(priors) = &self.priors {
            let (term, slopes) = priors.at(eta);
            loss.terms.insert(self.observations(), term);
            add_scaled(&mut loss.by_eta, self.data_weight, &slopes);
        }
        Ok(loss)
    }

    /// The data loss without the regularisers, with its derivatives.
    pub fn data_loss(&self, device: &mut dyn Device, weights: &[f64], eta: &[f64]) -> Result<LossSlopes> {
        self.sum(&self.terms[..self.observations()], device, weights, eta)
    }

    fn sum(
        &self,
        terms: &[Term],
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
    ) -> Result<LossSlopes> {
        let unknowns = with_shifts(eta, self.unknowns);
        let moved = if self.moves.is_some() { weights.len() } else { 0 };
        let mut loss = LossSlopes::zero(eta.len(), moved);
        let mut slopes = vec![];
        for term in terms {
            let (mut sum, mut by_weights, mut by_eta) = (0.0, vec![0.0; moved], vec![]);
            for part in &term.parts {
                let gradient = self.moves.is_some().then_some(&mut by_weights[..]);
                let (value, by_unknowns) = device.density(part.id, weights, &unknowns, gradient)?;
                sum += value;
                by_eta.push(by_unknowns);
            }
            loss.terms.push(sum);
            slopes.push((by_eta, by_weights));
        }
        for ((by_eta, by_weights), weight) in slopes.into_iter().zip(self.weights(&loss.terms)) {
            by_eta.iter().for_each(|part| add_scaled(&mut loss.by_eta, weight, part));
            add_scaled(&mut loss.by_weights, weight, &by_weights);
        }
        Ok(loss)
    }
}

/// What is known of the unknown numbers before the data, in units of the loss.
struct Priors {
    unknowns: Vec<Unknown>,
    factor: f64,
}

impl Priors {
    fn new(problem: &Problem, count: f64) -> Option<Priors> {
        let factor = 2.0 / count.max(1.0);
        problem.has_priors_of_numbers().then(|| Priors { unknowns: problem.unknowns.clone(), factor })
    }

    /// The term and its derivatives by the variables.
    fn at(&self, eta: &[f64]) -> (f64, Vec<f64>) {
        let (mut term, mut slopes) = (0.0, vec![0.0; eta.len()]);
        for ((unknown, &eta), slope) in self.unknowns.iter().zip(eta).zip(&mut slopes) {
            let Some(prior) = unknown.prior else { continue };
            let at = prior.at(unknown.theta_of(eta));
            term += self.factor * at.value;
            *slope = self.factor * at.slope * unknown.theta_slope(eta);
        }
        (term, slopes)
    }
}

/// The density of a regulariser of an unknown function; a reference stands in the column of data.
fn regulariser_density(operator: &mut LocalOperator, number: usize, kind: &RegulariserKind) -> Expr {
    let f = operator.functions.values[number];
    if let RegulariserKind::L2 { .. } = kind {
        return gaussian_density(operator, f);
    }
    let graph = &mut operator.names.graph;
    let mut terms = vec![];
    for &argument in &operator.functions.arguments[number] {
        let slope = graph.diff(f, argument);
        let judged = if *kind == RegulariserKind::H2 { graph.diff(slope, argument) } else { slope };
        let square = graph.mul(judged, judged);
        terms.push(match kind {
            RegulariserKind::Tv { smoothing } => {
                let (s, s_squared) = (graph.constant(*smoothing), graph.constant(smoothing * smoothing));
                let sum = graph.add(square, s_squared);
                let rounded = graph.unary(Unary::Sqrt, sum);
                graph.sub(rounded, s)
            }
            _ => square,
        });
    }
    graph.sum(&terms)
}
