//! Draws from a density that is known by its logarithm and the gradient of that.
//!
//! A [`Chain`] is a no-U-turn sampler ([`nuts`]) that finds its step length and metric while it is tuned ([`adaptation`]).
//! All that it knows is plain data, and each draw has random numbers of its own, so that a chain that was stored goes on
//! to the same bits. [`diagnostics`] has the figures by which draws are judged, as the field computes them.
//!
//! ```
//! use bilo_sample::{Chain, Failure, LogDensity, Metric, Tuning, diagnostics};
//!
//! /// Normal, with mean 3 and standard deviation 2.
//! struct Normal;
//!
//! impl LogDensity for Normal {
//!     fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
//!         gradient[0] = -(x[0] - 3.0) / 4.0;
//!         Ok(-(x[0] - 3.0).powi(2) / 8.0)
//!     }
//! }
//!
//! let tuning = Tuning { draws: 500, ..Tuning::default() };
//! let draws = |number: u64| -> Result<Vec<f64>, Failure> {
//!     let mut chain = Chain::new(vec![0.0], Metric::unit(1), tuning, [7, number]);
//!     (0..1500).map(|_| Ok(chain.draw(&mut Normal)?.position[0])).skip(500).collect()
//! };
//! let chains = [draws(0)?, draws(1)?, draws(2)?, draws(3)?];
//! let chains: Vec<&[f64]> = chains.iter().map(|chain| &chain[..]).collect();
//! assert!(diagnostics::rhat(&chains) < 1.01);
//! let mean = chains.concat().iter().sum::<f64>() / 4000.0;
//! assert!((mean - 3.0).abs() < 4.0 * diagnostics::mcse_mean(&chains));
//! # Ok::<(), Failure>(())
//! ```

pub mod adaptation;
mod chain;
mod density;
pub mod diagnostics;
mod metric;
pub mod nuts;

pub use chain::{Chain, Draw, Tuning, dispersed};
pub use density::{Failure, LogDensity};
pub use metric::Metric;
