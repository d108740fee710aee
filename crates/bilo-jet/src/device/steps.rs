//! Steps that stay on a device.

use super::{DensityId, Fault, ResidualId, ResidualWeights};

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

/// A [`Descent`] under way on a device, begun by [`Device::steps`](super::Device::steps).
///
/// Its programs can be moved to other points between two stretches of steps; whatever else is asked of the device
/// meanwhile changes nothing here.
pub trait ResidentSteps {
    /// Takes one step for each pair of factors of the learning rates, of the weights' loss and of the other; what every
    /// step saw.
    fn descend(&mut self, factors: &[(f64, f64)]) -> Result<Vec<Seen>, Fault>;

    /// The weights and unknowns that the steps have led to.
    fn arrived(&mut self) -> Result<(Vec<f64>, Vec<f64>), Fault>;

    /// What the lower and the upper level remember there.
    fn moments(&mut self) -> Result<[Moments; 2], Fault>;
}
