//! The device boundary: a few coarse calls per training step, plain data across it. Nothing above
//! it knows about f32, threads or hardware.

use crate::points::{Column, PointSource};
use crate::program::{DensityProgram, FieldProgram, ResidualProgram};

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
    /// dr_q/dW for each q: row-major, one row of all weights per point. Zero for the networks of unknown
    /// functions, which the lower level takes as given. Empty if it was not asked for.
    pub by_weight: Vec<Vec<f64>>,
    /// dr_q/d(slot), one column over the points for each q and slot: column q n + s of n slots. Empty if it was not
    /// asked for.
    pub by_slot: Vec<Vec<f64>>,
}

/// What solves (K + damping) y = b for a [kernel](Device::kernel) K.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solved {
    /// y.
    pub numbers: Vec<f64>,
    /// K y.
    pub product: Vec<f64>,
}

/// Steps of Adam with amsgrad on both levels at once, which a device may take by itself, without its numbers going
/// to and fro. The lower level has the weights from `first` on, the upper level the unknowns and the weights before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Descent {
    /// Losses of the lower level: residuals.
    pub residuals: Vec<(ResidualId, ResidualWeights)>,
    /// Losses of either level, or of both: densities.
    pub densities: Vec<Weighted>,
    /// The first weight of the lower level.
    pub first: usize,
    /// Learning rate of the lower level.
    pub rate: f64,
    /// Learning rates of the unknowns, then of the weights before `first`. Unknowns beyond stay where they are.
    pub upper_rates: Vec<f64>,
    /// Between which bounds each of these unknowns stays.
    pub bounds: Vec<(f64, f64)>,
}

/// A density in a loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// The density.
    pub id: DensityId,
    /// Its factor.
    pub factor: f64,
    /// Whose loss it belongs to.
    pub level: Level,
}

/// Whose loss something belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// That of the lower level.
    Lower,
    /// That of the upper level.
    Upper,
    /// One loss for both.
    Both,
}

impl Level {
    /// Whether it is a loss of the lower level.
    pub fn is_lower(self) -> bool {
        self != Self::Upper
    }

    /// Whether it is a loss of the upper level.
    pub fn is_upper(self) -> bool {
        self != Self::Lower
    }
}

/// What Adam remembers of the steps before, in the order of an optimiser's state: how many there were, then of every
/// variable the mean gradient, the mean square and the largest of these.
pub type Moments = Vec<Vec<f64>>;

/// What a step of a [`Descent`] saw before it moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Of each residual program: mean |r_q|² by q, mean |dr_q/dη|² by q; then the densities.
    pub losses: Vec<f64>,
    /// The unknowns.
    pub unknowns: Vec<f64>,
}

/// Hardware that computes losses and their gradients. `weights` are the trained weights of all
/// networks, `unknowns` the variables η; points have one column per symbol of the operator. A device
/// may ask for points whenever it needs them: the CPU keeps nothing per point, so that its memory does not grow
/// with a grid, while a GPU has a copy of them.
pub trait Device: Send {
    /// The hardware in words.
    fn description(&self) -> String;

    /// The most bytes of memory of its own that it had in use; none for one that works in the program's.
    fn peak_memory(&self) -> Option<u64> {
        None
    }

    /// Its arithmetic.
    fn precision(&self) -> Precision;

    /// What went wrong with the hardware, if anything did: from then on losses are not numbers.
    fn fault(&self) -> Option<String> {
        None
    }

    /// Takes a residual program and its points.
    fn load_residual(&mut self, program: ResidualProgram, points: PointSource) -> ResidualId;

    /// Takes a density program, its points and their weights, by point.
    fn load_density(&mut self, program: DensityProgram, points: PointSource, weights: Column) -> DensityId;

    /// Puts a residual program to other points.
    fn move_residual(&mut self, id: ResidualId, points: PointSource);

    /// Puts a density program to other points with other weights.
    fn move_density(&mut self, id: DensityId, points: PointSource, weights: Column);

    /// L_res and L_rgrad of each residual; with `gradient`, adds to it the weight gradient of
    /// Σ_q equation_q (L_res,q + w_rgrad L_rgrad,q). Never differentiates with respect to unknowns.
    fn residual(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        terms: &ResidualWeights,
        gradient: Option<&mut [f64]>,
    ) -> ResidualLoss;

    /// The residuals at every point with their derivatives by the unknowns and by what `jacobian` names: what the
    /// lower level is as a problem of least squares.
    fn linearise(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        jacobian: Jacobian,
    ) -> Linearisation;

    /// Makes the kernel K = S J Jᵀ S of the residuals of several programs, without J, and keeps it until the next
    /// call: the dual form of least squares, for fewer rows than weights. Rows are in the order of programs, residuals,
    /// points, and `scales` is the diagonal of S. Returns the residuals of each program with their derivatives by the
    /// unknowns, unscaled.
    fn kernel(
        &mut self,
        ids: &[ResidualId],
        weights: &[f64],
        unknowns: &[f64],
        scales: &[f64],
    ) -> Vec<Linearisation>;

    /// Factorises K + damping, and says whether it could: where the damping is too small, rounding makes the matrix
    /// indefinite.
    fn factorise(&mut self, damping: f64) -> bool;

    /// Solves (K + damping) y = b for each b, with the factors that were made last.
    fn solve(&mut self, right: &[&[f64]]) -> Vec<Solved>;

    /// Adds Jᵀ seeds to `gradient`, with one column of seeds over the points for each residual.
    fn pullback(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        seeds: &[Vec<f64>],
        gradient: &mut [f64],
    );

    /// Σ weight · density and its gradient with respect to the unknowns at fixed weights; with
    /// `gradient`, adds to it the gradient with respect to the weights that the program moves, at fixed
    /// unknowns.
    fn density(
        &mut self,
        id: DensityId,
        weights: &[f64],
        unknowns: &[f64],
        gradient: Option<&mut [f64]>,
    ) -> (f64, Vec<f64>);

    /// Gets ready to take steps by itself from a point, if it can, with what the lower and the upper level remember.
    fn begin(
        &mut self,
        descent: &Descent,
        weights: &[f64],
        unknowns: &[f64],
        moments: &[Moments; 2],
    ) -> bool {
        let _ = (descent, weights, unknowns, moments);
        false
    }

    /// Takes one step for each pair of factors of the learning rates, of the weights' loss and of the other; what
    /// every step saw, or nothing after a [fault](Device::fault).
    fn descend(&mut self, factors: &[(f64, f64)]) -> Vec<Seen> {
        let _ = factors;
        vec![]
    }

    /// The weights and unknowns that the steps have led to.
    fn arrived(&mut self) -> Option<(Vec<f64>, Vec<f64>)> {
        None
    }

    /// What the two levels remember there.
    fn moments(&mut self) -> Option<[Moments; 2]> {
        None
    }

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
    ) -> Vec<Vec<f64>>;
}
