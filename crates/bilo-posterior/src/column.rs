//! What was drawn of one quantity.

/// Quantities drawn, by chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The values, by chain.
    pub chains: Vec<Vec<f64>>,
}

impl Column {
    pub(crate) fn slices(&self) -> Vec<&[f64]> {
        self.chains.iter().map(|chain| &chain[..]).collect()
    }

    /// The values of all chains.
    pub fn all(&self) -> Vec<f64> {
        self.chains.concat()
    }
}
