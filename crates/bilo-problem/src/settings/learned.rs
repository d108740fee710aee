//! `[deeponet]` and `[fno]`: shape and training of neural operators.

use crate::schema::kind::Kind::{Count, Positive};
use crate::settings::table::settings;

/// How a model is trained on examples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningOptions {
    /// Steps of Adam.
    pub steps: usize,
    /// Examples of each.
    pub batch: usize,
    /// Learning rate at the start; it falls to zero as a cosine.
    pub rate: f64,
}

settings! {
    /// Shape and training of a DeepONet: branch and trunk have the same layers. Those of the paper.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DeepOnetChoice {
        "width" width: usize = 128;
            Count(1, Some(4096)), "neurons of each layer";
        "layers" layers: usize = 2;
            Count(1, Some(100)), "layers of the branch and of the trunk";
        "steps" steps: usize = 10_000;
            Count(0, None), "steps of learning";
        "batch" batch: usize = 128;
            Count(1, None), "examples of each step";
        "rate" rate: f64 = 1e-3;
            Positive, "learning rate at the start; it falls to zero as a cosine";
    }
}

impl DeepOnetChoice {
    /// Its training.
    pub fn lessons(&self) -> LearningOptions {
        LearningOptions { steps: self.steps, batch: self.batch, rate: self.rate }
    }
}

settings! {
    /// Shape and training of a Fourier neural operator. Those of the paper.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FnoChoice {
        "width" width: usize = 32;
            Count(2, Some(4096)), "channels";
        "layers" layers: usize = 4;
            Count(1, Some(100)), "layers of the operator";
        "modes" modes: usize = 32;
            Count(1, Some(4096)), "modes along each coordinate, negative frequencies counted";
        "steps" steps: usize = 2000;
            Count(0, None), "steps of learning";
        "batch" batch: usize = 64;
            Count(1, None), "examples of each step";
        "rate" rate: f64 = 3e-3;
            Positive, "learning rate at the start; it falls to zero as a cosine";
    }
}

impl FnoChoice {
    /// Its training.
    pub fn lessons(&self) -> LearningOptions {
        LearningOptions { steps: self.steps, batch: self.batch, rate: self.rate }
    }
}
