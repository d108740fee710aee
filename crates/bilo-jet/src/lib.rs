//! Jets of neural networks.

mod activation;
pub mod conformance;
mod cpu;
mod device;
mod linear;
mod network;
pub mod oracle;
mod plan;
mod polynomial;
mod program;
mod scalar;
mod simd;
mod sweep;
mod tile;

pub use activation::Activation;
pub use cpu::cpu;
pub use device::{DensityId, Device, Precision, ResidualId, ResidualLoss, ResidualWeights};
pub use network::{Fourier, Network, NetworkSpec, Node, Operation, Source, Store};
pub use plan::Plan;
pub use program::{
    BoundNetwork, Carrier, DensityProgram, FieldProgram, Frame, Operator, ProgramError, ResidualProgram, Slot,
};
