//! Which hardware trains networks.

use bilo_jet::{Device, Precision, cpu};
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use std::str::FromStr;

/// Where networks are trained. Everything else is done on the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hardware {
    /// On the CPU.
    #[default]
    Cpu,
    /// On the NVIDIA GPU of this number.
    Cuda(usize),
    /// On the first GPU if there is one that can be used, else on the CPU.
    Auto,
}

impl Hardware {
    /// Whether a GPU that was asked for is there, even where nothing will be trained on it.
    pub fn require(self) -> Result<()> {
        match self {
            Hardware::Cpu | Hardware::Auto => Ok(()),
            Hardware::Cuda(number) => require(number),
        }
    }

    /// The device.
    pub fn device(self, precision: Precision, threads: Option<usize>) -> Result<Box<dyn Device>> {
        let gpu = |number| gpu(number, precision, cpu(precision, threads));
        match self {
            Hardware::Cpu => Ok(cpu(precision, threads)),
            Hardware::Auto => Ok(gpu(0).unwrap_or_else(|_| cpu(precision, threads))),
            Hardware::Cuda(number) => gpu(number),
        }
    }
}

impl FromStr for Hardware {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        let (kind, number) = name.split_once(':').map_or((name, "0"), |(kind, number)| (kind, number));
        match (kind, number.parse()) {
            ("cpu", _) if kind == name => Ok(Hardware::Cpu),
            ("auto", _) if kind == name => Ok(Hardware::Auto),
            ("cuda", Ok(number)) => Ok(Hardware::Cuda(number)),
            _ => {
                Err(format!("there is no device `{name}`; write cpu, cuda, cuda:1 (the second GPU) or auto"))
            }
        }
    }
}

#[cfg(feature = "cuda")]
fn require(number: usize) -> Result<()> {
    bilo_cuda::require(number).map_err(refused)
}

#[cfg(feature = "cuda")]
fn gpu(number: usize, precision: Precision, beside: Box<dyn Device>) -> Result<Box<dyn Device>> {
    bilo_cuda::cuda(number, precision, beside).map_err(refused)
}

#[cfg(feature = "cuda")]
fn refused(error: bilo_cuda::CudaError) -> Error {
    Error::new(ErrorKind::Device, error.to_string())
}

#[cfg(not(feature = "cuda"))]
fn require(_: usize) -> Result<()> {
    Err(no_gpus())
}

#[cfg(not(feature = "cuda"))]
fn gpu(_: usize, _: Precision, _: Box<dyn Device>) -> Result<Box<dyn Device>> {
    Err(no_gpus())
}

#[cfg(not(feature = "cuda"))]
fn no_gpus() -> Error {
    Error::new(ErrorKind::Device, "this build knows no GPUs: its feature `cuda` is off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        assert_eq!("cpu".parse(), Ok(Hardware::Cpu));
        assert_eq!("auto".parse(), Ok(Hardware::Auto));
        assert_eq!("cuda".parse(), Ok(Hardware::Cuda(0)));
        assert_eq!("cuda:3".parse(), Ok(Hardware::Cuda(3)));
        for wrong in ["gpu", "cuda:", "cuda:x", "cpu:1", "auto:0", ""] {
            let error = wrong.parse::<Hardware>().expect_err("no device");
            assert!(error.contains("write cpu, cuda, cuda:1"), "{error}");
        }
    }
}
