//! The parts of a run.

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Solving examples for a neural operator to learn from.
    Examples,
    /// Lower level at the guess, together with the fit of u_0; or a neural operator learning its examples.
    Pretrain,
    /// Both levels.
    Train,
}

impl Phase {
    /// The name in `history.csv`.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Examples => "examples",
            Phase::Pretrain => "pretrain",
            Phase::Train => "train",
        }
    }
}
