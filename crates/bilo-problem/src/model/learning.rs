//! What neural operators learn from, and how.

use crate::settings::{DeepOnetChoice, Examples, FnoChoice};

/// What neural operators learn from, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Learning {
    /// What from; none if the problem does not say.
    pub examples: Option<Examples>,
    /// Shape and training of a DeepONet.
    pub deeponet: DeepOnetChoice,
    /// Shape and training of an FNO.
    pub fno: FnoChoice,
}

impl Learning {
    /// The models alone.
    pub fn without_examples(&self) -> Learning {
        Learning { examples: None, ..self.clone() }
    }
}
