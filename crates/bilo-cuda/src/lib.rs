//! The [`Device`] of NVIDIA GPUs.
//!
//! Nothing of CUDA is needed to build this crate, and nothing is linked: the driver and the run-time compiler are looked
//! for when a device is asked for. Kernels are CUDA C++, generated for each program: a tape becomes straight-line code,
//! a network a list of products and loops with all sizes known. One kernel does all that a program asks: a block
//! takes a tile of points with all its jets through every layer forward and back.
//!
//! ```
//! use bilo_jet::{Precision, cpu};
//!
//! // Where there is no GPU this is an error that says so, and nothing else happens.
//! match bilo_cuda::cuda(0, Precision::F32, cpu(Precision::F32, None)) {
//!     Ok(device) => assert!(device.description().ends_with("CUDA")),
//!     Err(error) => assert!(!error.to_string().is_empty()),
//! }
//! ```

mod cache;
mod compile;
mod descent;
mod device;
mod driver;
mod dual;
#[cfg(test)]
mod emulator;
mod generate;
mod machine;
mod program;
mod runtime;
mod spare;
mod system;
#[cfg(test)]
#[expect(clippy::print_stderr, reason = "what is skipped is said loudly")]
mod tests;

pub use runtime::CudaError;

use bilo_jet::{Device, Precision};

/// The GPU of a number, with a CPU device of the same precision beside it.
pub fn cuda(
    ordinal: usize,
    precision: Precision,
    host: Box<dyn Device>,
) -> Result<Box<dyn Device>, CudaError> {
    let driver = driver::Driver::new(ordinal)?;
    Ok(Box::new(device::CudaDevice::new(Box::new(driver), precision, host)?))
}

/// Whether the GPU of a number is there, with all that is needed to use it.
pub fn require(ordinal: usize) -> Result<(), CudaError> {
    driver::Driver::find(ordinal)
}
