//! What hardware can do wrong.

/// Hardware that failed, with the reason in words: a GPU that is lost, has too little memory, or whose compiler refuses a
/// program. Nothing that was asked of the device afterwards can be relied on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(String);

impl Fault {
    /// A fault for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}
