//! The one loss of a physics-informed network, over its weights W, the weights V of functions and the unknowns at once:
//!
//! ```text
//! Σ_e weight_e mean |r_e|² + w_dat L_data + Σ_f weight_f L_reg,f
//! ```
//!
//! Here equation and data pull at the same weights, and w_dat says how hard.

use super::{Group, Loaded, LossSlopes, Sum, Upper, When, add_scaled};
use crate::operator::{LocalOperator, with_shifts};
use bilo_expr::Expr;
use bilo_jet::{Column, DensityId, Device, Moves, PointSource};
use bilo_problem::diagnostic::Result;
use bilo_problem::{Problem, Table};

/// Residuals, data and regularisers as densities that move everything.
pub struct Joint {
    residuals: Vec<Squares>,
    upper: Upper,
    names: Vec<String>,
    unknowns: usize,
}

/// Σ_e weight_e mean |r_e|² of equations that share their points.
struct Squares {
    group: Group,
    /// Over all weights.
    all: Loaded,
    /// Over W only, for pre-training; none where there are no others.
    states: Option<Loaded>,
}

impl Joint {
    /// Loads everything into the device; the data count with a weight.
    pub fn new(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        tables: Vec<Table>,
        data_weight: f64,
        seed: u64,
    ) -> Result<Self> {
        let mut at_guess = LocalOperator::at_guess(problem)?;
        let (mut residuals, mut names) = (vec![], vec![]);
        for group in Group::all(problem, seed) {
            let drawn = group.points(problem).drawn(problem, group.seed, 0)?;
            group.require_finite(problem, &mut at_guess, &drawn)?;
            let members: Vec<&str> = group.members.iter().map(|&e| &problem.equations[e].name[..]).collect();
            names.push(format!("residual.{}", members.join("+")));
            residuals.push(Squares::new(problem, operator, device, group, &drawn)?);
        }
        let upper = Upper::moving(problem, operator, device, tables, Some(Moves::All), data_weight)?;
        Ok(Self { residuals, upper, names, unknowns: operator.operator.unknowns.len() })
    }

    /// Names of the residuals' terms.
    pub fn residual_names(&self) -> &[String] {
        &self.names
    }

    /// Data and regularisers.
    pub fn upper(&self) -> &Upper {
        &self.upper
    }

    /// The residuals' densities on the device: over W only, or over everything.
    pub(crate) fn densities(&self, moves: Moves) -> impl Iterator<Item = DensityId> {
        self.residuals.iter().map(move |squares| squares.over(moves).id)
    }

    /// The steps until points are drawn anew, if they are.
    pub(crate) fn renewal(&self, problem: &Problem) -> Option<usize> {
        self.residuals.iter().filter_map(|squares| squares.group.renewal(problem)).min()
    }

    /// Draws points where other ones are asked for.
    pub fn renew(&self, problem: &Problem, device: &mut dyn Device, when: When) -> Result<()> {
        for Squares { group, all, states } in &self.residuals {
            let Some(drawn) = group.renewed(problem, when) else { continue };
            for Loaded { id, given } in std::iter::once(all).chain(states) {
                device.move_density(*id, given.at(drawn.clone()), mean(&drawn))?;
            }
        }
        Ok(())
    }

    /// The residuals' terms with their slopes by the unknowns, and by W only or by everything.
    pub fn residual_loss(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        moves: Moves,
    ) -> Result<LossSlopes> {
        let unknowns = with_shifts(eta, self.unknowns);
        let mut loss = LossSlopes::zero(eta.len(), weights.len());
        for id in self.densities(moves) {
            let (value, by_eta) = device.density(id, weights, &unknowns, Some(&mut loss.by_weights))?;
            loss.terms.push(value);
            add_scaled(&mut loss.by_eta, 1.0, &by_eta);
        }
        Ok(loss)
    }

    /// All terms, with the slopes of their weighted sum by everything.
    pub fn loss(&self, device: &mut dyn Device, weights: &[f64], eta: &[f64]) -> Result<LossSlopes> {
        let mut loss = self.residual_loss(device, weights, eta, Moves::All)?;
        let upper = self.upper.loss(device, weights, eta)?;
        loss.terms.extend(upper.terms);
        add_scaled(&mut loss.by_eta, 1.0, &upper.by_eta);
        add_scaled(&mut loss.by_weights, 1.0, &upper.by_weights);
        Ok(loss)
    }
}

impl Squares {
    fn new(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        group: Group,
        points: &PointSource,
    ) -> Result<Self> {
        let graph = &mut operator.names.graph;
        let mut terms: Vec<Expr> = vec![];
        for &equation in &group.members {
            let (residual, weight) = (operator.residuals[equation], problem.equations[equation].weight);
            let square = graph.mul(residual, residual);
            let weight = graph.constant(weight);
            terms.push(graph.mul(weight, square));
        }
        let density = graph.sum(&terms);
        let there = operator.following(group.points(problem))?;
        let origin = group.origin(problem);
        let mut load = |moves: Moves| {
            let sum = Sum { density, operator: there.clone(), moves, origin };
            sum.load(&mut operator.names, device, points.clone(), mean(points))
        };
        let all = load(Moves::All)?;
        let states = match operator.functions.networks.is_empty() {
            true => None,
            false => Some(load(Moves::States)?),
        };
        Ok(Self { group, all, states })
    }

    fn over(&self, moves: Moves) -> &Loaded {
        match (moves, &self.states) {
            (Moves::States, Some(states)) => states,
            _ => &self.all,
        }
    }
}

/// The weights of a mean over points.
fn mean(points: &PointSource) -> Column {
    Column::uniform(1.0 / points.len() as f64)
}
