//! Files of numbers and images, and where they are found.

pub(crate) mod csv;
pub(crate) mod folder;
pub mod nifti;
pub mod npy;
