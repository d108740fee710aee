//! The lower level: residuals and their derivatives by the unknowns, over the weights W.

use super::{Group, When};
use crate::operator::{LocalOperator, Size, program_error, with_shifts};
use bilo_expr::Expr;
use bilo_jet::{Device, Frame, LocalFeatures, PointSource, ResidualId, ResidualProgram, ResidualWeights};
use bilo_problem::diagnostic::Result;
use bilo_problem::given_columns::GivenColumns;
use bilo_problem::{PlaceWeights, Points, Problem};

/// Fewer points than this are never thinned.
const FEW: usize = 100;

/// L_LO = Σ_e weight_e (L_res,e + w_rgrad L_rgrad,e).
pub struct Lower {
    pub(crate) blocks: Vec<Block>,
    names: Vec<String>,
    /// Unknowns of the device: scalars and shifts of functions.
    pub(crate) unknowns: usize,
}

/// Equations that share their points.
pub(crate) struct Block {
    pub(crate) id: ResidualId,
    /// The weight of each point in a mean over them.
    places: PlaceWeights,
    weights: ResidualWeights,
    group: Group,
    given: GivenColumns,
    /// Where a dictionary whose features live in few places has its points.
    local: Option<(Frame, PointSource)>,
}

/// Points, and what each counts in a mean over them.
type Placed = (PointSource, PlaceWeights);

impl Lower {
    /// Loads every equation into the device; equations at the same points go together.
    pub fn new(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        seed: u64,
    ) -> Result<Self> {
        Self::thinned(problem, operator, device, 1.0, seed)
    }

    /// The lower level at every so many of the points, which need not be a whole number.
    pub fn thinned(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        stride: f64,
        seed: u64,
    ) -> Result<Self> {
        Self::at(problem, operator, device, seed, &|points, seed| {
            let drawn = thinned(points.drawn(problem, seed, 0)?, stride);
            let weights = PlaceWeights::Equal(drawn.len());
            Ok((drawn, weights))
        })
    }

    /// The lower level at the points where polynomials of a dictionary need them.
    pub fn clustered(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        size: &Size,
        seed: u64,
    ) -> Result<Self> {
        let modes = size.along(problem);
        Self::at(problem, operator, device, seed, &|points, seed| points.clustered(problem, &modes, seed))
    }

    fn at(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        seed: u64,
        place: &dyn Fn(&Points, u64) -> Result<Placed>,
    ) -> Result<Self> {
        let unknowns = operator.operator.unknowns.len();
        let mut at_guess = LocalOperator::at_guess(problem)?;
        let mut lower = Self { blocks: vec![], names: vec![], unknowns };
        for group in Group::all(problem, seed) {
            let points = group.points(problem);
            let mut residuals: Vec<Expr> = group.members.iter().map(|&e| operator.residuals[e]).collect();
            let there = operator.following(points)?;
            let origin = group.origin(problem);
            let given = GivenColumns::replace(&mut operator.names, &there, &mut residuals, origin)?;
            let graph = &mut operator.names.graph;
            let local = operator.is_local;
            // Combinations of derivatives that move with unknowns could not be kept.
            let expanded = local || operator.is_reduced;
            let compile = if expanded { ResidualProgram::expanded } else { ResidualProgram::new };
            let program = compile(graph, &given.operator, &residuals)
                .map_err(|error| program_error(graph, &error, origin))?;
            let (drawn, places) = place(points, group.seed)?;
            group.require_finite(problem, &mut at_guess, &drawn)?;
            let drawn = given.at(drawn);
            let local = local.then(|| (program.frame.clone(), drawn.clone()));
            let id = device.load_residual(program, drawn)?;
            let equation = group.members.iter().map(|&e| problem.equations[e].weight).collect();
            let weights = ResidualWeights { equation, gradient: problem.training.rgrad_weight };
            let name = |kind: &str, e: &usize| format!("{kind}.{}", problem.equations[*e].name);
            lower.names.extend(group.members.iter().map(|e| name("residual", e)));
            lower.names.extend(group.members.iter().map(|e| name("residual-gradient", e)));
            lower.blocks.push(Block { id, places, weights, group, given, local });
        }
        Ok(lower)
    }

    /// Names of the terms.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Its residuals on the device, with the weights of their terms.
    pub(crate) fn terms(&self) -> Vec<(ResidualId, ResidualWeights)> {
        self.blocks.iter().map(|block| (block.id, block.weights.clone())).collect()
    }

    /// The steps until points are drawn anew, if they are.
    pub(crate) fn renewal(&self, problem: &Problem) -> Option<usize> {
        self.blocks.iter().filter_map(|block| block.group.renewal(problem)).min()
    }

    /// Draws points where other ones are asked for.
    pub fn renew(&self, problem: &Problem, device: &mut dyn Device, when: When) -> Result<()> {
        for block in &self.blocks {
            if let Some(drawn) = block.group.renewed(problem, when) {
                device.move_residual(block.id, block.given.at(drawn))?;
            }
        }
        Ok(())
    }

    /// L_LO and its terms; adds its gradient with respect to W, at fixed theta.
    pub fn loss(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        mut gradient: Option<&mut [f64]>,
    ) -> Result<(f64, Vec<f64>)> {
        let (mut total, mut terms) = (0.0, vec![]);
        let unknowns = with_shifts(eta, self.unknowns);
        for block in &self.blocks {
            let gradient = gradient.as_deref_mut();
            let loss = device.residual(block.id, weights, &unknowns, &block.weights, gradient)?;
            for (q, weight) in block.weights.equation.iter().enumerate() {
                total += weight * (loss.residual[q] + block.weights.gradient * loss.gradient[q]);
            }
            terms.extend(loss.residual);
            terms.extend(loss.gradient);
        }
        Ok((total, terms))
    }
}

/// Every so many of the points; a condition at a few places keeps them all.
fn thinned(points: PointSource, stride: f64) -> PointSource {
    if stride <= 1.0 || points.len() < FEW {
        return points;
    }
    let mut number = 0.0;
    points.keep(|columns| {
        let kept = |_: &f64| {
            let before = (number / stride).floor();
            number += 1.0;
            (number / stride).floor() > before
        };
        columns[0].iter().map(kept).collect()
    })
}

impl Block {
    /// The features of a dictionary at its points, if they live in few places.
    pub(crate) fn features(&self, unknowns: &[f64]) -> Option<LocalFeatures> {
        let (frame, points) = self.local.as_ref()?;
        frame.local_features(points, unknowns)
    }

    /// √weight of every residual of each equation in L_LO.
    pub(crate) fn roots(&self) -> Vec<Vec<f64>> {
        let of = |weight: &f64| match &self.places {
            PlaceWeights::Equal(count) => vec![(weight / *count as f64).sqrt(); *count],
            PlaceWeights::Each(places) => places.iter().map(|place| (weight * place).sqrt()).collect(),
        };
        self.weights.equation.iter().map(of).collect()
    }
}
