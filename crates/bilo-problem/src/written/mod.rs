//! What a user wrote, before it is looked at.

pub(crate) mod points;
