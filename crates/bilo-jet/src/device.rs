//! The device boundary: a few coarse calls per training step, plain data across it. Nothing above
//! it knows about f32, threads or hardware.

mod dual;
mod fault;
mod steps;

pub use dual::{Dual, DualFactors, DualSystem, Solved};
pub use fault::Fault;
pub use steps::{Descent, Level, Moments, ResidentSteps, Seen, Weighted};

use crate::points::{Column, PointSource};
use crate::program::{DensityProgram, FieldProgram, ResidualProgram};
use std::ops::Range;

/// Arithmetic of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Single.
    F32,
    /// Single, but the factors of matrix products are rounded to eleven bits where that is faster: on tensor cores.
    Tf32,
    /// Double.
    F64,
}

impl Precision {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Tf32 => "tf32",
            Self::F64 => "f64",
        }
    }
}

/// A residual program with its points, held by a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidualId(pub usize);

/// A density program with its points, held by a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DensityId(pub usize);

/// Mean squares over the points, one entry per residual.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResidualLoss {
    /// mean |r_q|².
    pub residual: Vec<f64>,
    /// mean Σ_j |dr_q/dη_j|².
    pub gradient: Vec<f64>,
}

/// The weights of a residual's two terms in the lower-level loss.
#[derive(Clone, Debug, PartialEq)]
pub struct ResidualWeights {
    /// Weight of each residual.
    pub equation: Vec<f64>,
    /// w_rgrad.
    pub gradient: f64,
}

/// What residuals are differentiated by, besides the unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jacobian {
    /// Nothing.
    None,
    /// All weights.
    Weights,
    /// The slots of the program: values and derivatives of networks, from which the weights of a dictionary whose
    /// features live in few places are near.
    Slots,
}

/// Residuals at every point with their first derivatives, unscaled: no weights of equations, no mean over
/// the points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Linearisation {
    /// r_q, one column over the points for each q.
    pub residuals: Vec<Vec<f64>>,
    /// dr_q/dη_j at fixed weights, one column over the points for each q and j: column q m + j of m unknowns.
    pub by_unknown: Vec<Vec<f64>>,
    /// The weights that it may depend on, in rising stretches: those of the networks that the program asks for, but those
    /// of unknown functions, which the lower level takes as given.
    pub weights: Vec<Range<usize>>,
    /// dr_q/d(these weights) for each q: row-major, one row per point. Empty if it was not asked for.
    pub by_weight: Vec<Vec<f64>>,
    /// dr_q/d(slot), one column over the points for each q and slot: column q n + s of n slots. Empty if it was not
    /// asked for.
    pub by_slot: Vec<Vec<f64>>,
}

impl Linearisation {
    /// dr_q/dW at a point, for as many weights as there are.
    pub fn row(&self, q: usize, point: usize, weights: usize) -> Vec<f64> {
        let length = self.weights.iter().map(Range::len).sum::<usize>();
        let mut rest = &self.by_weight[q][point * length..][..length];
        let mut row = vec![0.0; weights];
        for stretch in &self.weights {
            let (own, others) = rest.split_at(stretch.len());
            row[stretch.clone()].copy_from_slice(own);
            rest = others;
        }
        row
    }

    /// All these rows, by q and point.
    pub fn rows(&self, weights: usize) -> impl Iterator<Item = Vec<f64>> {
        let residuals = self.residuals.iter().enumerate();
        residuals.flat_map(move |(q, values)| (0..values.len()).map(move |point| self.row(q, point, weights)))
    }
}

/// Hardware that computes losses and their gradients. `weights` are the trained weights of all
/// networks, `unknowns` the variables η; points have one column per symbol of the operator. A device
/// may ask for points whenever it needs them: the CPU keeps nothing per point, so that its memory does not grow
/// with a grid, while a GPU has a copy of them.
///
/// No call depends on calls before it but for the programs that were loaded and the points that they were moved to. What
/// takes several calls is a handle: [`dual`](Device::dual) and [`steps`](Device::steps) give one each. A call that fails
/// may have added to a gradient in part.
pub trait Device: Send {
    /// The hardware in words.
    fn description(&self) -> String;

    /// The most bytes of memory of its own that it had in use; none for one that works in the program's.
    fn peak_memory(&self) -> Option<u64> {
        None
    }

    /// Its arithmetic.
    fn precision(&self) -> Precision;

    /// Takes a residual program and its points.
    fn load_residual(&mut self, program: ResidualProgram, points: PointSource) -> Result<ResidualId, Fault>;

    /// Takes a density program, its points and their weights, by point.
    fn load_density(
        &mut self,
        program: DensityProgram,
        points: PointSource,
        weights: Column,
    ) -> Result<DensityId, Fault>;

    /// Puts a residual program to other points.
    fn move_residual(&mut self, id: ResidualId, points: PointSource) -> Result<(), Fault>;

    /// Puts a density program to other points with other weights.
    fn move_density(&mut self, id: DensityId, points: PointSource, weights: Column) -> Result<(), Fault>;

    /// L_res and L_rgrad of each residual; with `gradient`, adds to it the weight gradient of
    /// Σ_q equation_q (L_res,q + w_rgrad L_rgrad,q). Never differentiates with respect to unknowns.
    fn residual(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        terms: &ResidualWeights,
        gradient: Option<&mut [f64]>,
    ) -> Result<ResidualLoss, Fault>;

    /// Σ weight · density and its gradient with respect to the unknowns at fixed weights; with
    /// `gradient`, adds to it the gradient with respect to the weights that the program moves, at fixed
    /// unknowns.
    fn density(
        &mut self,
        id: DensityId,
        weights: &[f64],
        unknowns: &[f64],
        gradient: Option<&mut [f64]>,
    ) -> Result<(f64, Vec<f64>), Fault>;

    /// The residuals at every point with their derivatives by the unknowns and by what `jacobian` names: what the
    /// lower level is as a problem of least squares.
    fn linearise(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        jacobian: Jacobian,
    ) -> Result<Linearisation, Fault>;

    /// Adds Jᵀ seeds to `gradient`, with one column of seeds over the points for each residual.
    fn pullback(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        seeds: &[Vec<f64>],
        gradient: &mut [f64],
    ) -> Result<(), Fault>;

    /// Values of expressions at points, one column per expression. `slopes` is empty, or has one vector
    /// dW/dη_j of all weights per unknown: then the weights move with the unknowns, and so do the networks
    /// in derivatives along unknowns. Networks of unknown functions never move.
    fn evaluate(
        &mut self,
        program: &FieldProgram,
        points: PointSource,
        weights: &[f64],
        unknowns: &[f64],
        slopes: &[Vec<f64>],
    ) -> Result<Vec<Vec<f64>>, Fault>;

    /// The residuals of several programs with their kernel K = S J Jᵀ S, made without J: the dual form of least squares,
    /// for fewer rows than weights. Rows are in the order of programs, residuals, points, and `scales` is the diagonal
    /// of S.
    fn dual(
        &mut self,
        ids: &[ResidualId],
        weights: &[f64],
        unknowns: &[f64],
        scales: &[f64],
    ) -> Result<Dual, Fault>;

    /// Begins to take steps by itself from a point, with what the lower and the upper level remember; none where it
    /// cannot.
    fn steps(
        &mut self,
        descent: &Descent,
        weights: &[f64],
        unknowns: &[f64],
        moments: &[Moments; 2],
    ) -> Result<Option<Box<dyn ResidentSteps>>, Fault> {
        let _ = (descent, weights, unknowns, moments);
        Ok(None)
    }
}
