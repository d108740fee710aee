//! Jets of neural networks: truncated Taylor coefficients carried through a network, and the device
//! that turns them into losses and gradients.
//!
//! The way of the data, in order:
//!
//! 1. [`Network`]: a short list of nodes, each a map of jets.
//! 2. [`Operator`]: networks bound to opaque functions of a [`bilo_expr::Graph`], so that residuals
//!    are expressions over the networks' derivatives.
//! 3. [`Plan`]: the derivatives that those expressions ask for, closed downwards.
//! 4. [`ResidualProgram`], [`DensityProgram`], [`FieldProgram`]: plans and tapes as plain data.
//! 5. [`PointSource`]: points, given a stretch at a time.
//! 6. [`Device`]: runs programs at points. [`cpu`] is one; another is admitted by the
//!    [`conformance`] suite, whose numbers come from the slow [`oracle`].
//!
//! ```
//! use bilo_expr::{Graph, MultiIndex};
//! use bilo_jet::*;
//!
//! // The residual u_xx - p u of a network u(x; p).
//! let mut graph = Graph::new();
//! let (x, p) = (graph.symbol("x"), graph.symbol("p"));
//! let inputs = vec![graph.leaf(x), graph.leaf(p)];
//! let u = graph.function("u", inputs.clone());
//! let (u_value, u_xx) = (graph.value(u), graph.derivative(u, MultiIndex::from(vec![2, 0])));
//! let reaction = graph.mul(inputs[1], u_value);
//! let residual = graph.sub(u_xx, reaction);
//!
//! let spec = NetworkSpec {
//!     coordinates: 1, parameters: 1, outputs: 1, width: 8, layers: 1,
//!     activation: Activation::Tanh, fourier: None, residual: false, modified: false,
//! };
//! let network = Network::new(spec, 0);
//! let weights = network.initial_weights(1);
//! let bound = BoundNetwork::new(network, vec![u], vec![0]);
//! let operator = Operator { networks: vec![bound], columns: vec![x], unknowns: vec![p], held: Default::default() };
//!
//! let program = ResidualProgram::new(&mut graph, &operator, &[residual])?;
//! let mut device = cpu(Precision::F64, Some(1));
//! let points = device.load_residual(program, PointSource::grid(vec![vec![0.0, 0.5, 1.0]]))?;
//! let terms = ResidualWeights { equation: vec![1.0], gradient: 0.1 };
//! let mut gradient = vec![0.0; weights.len()];
//! let loss = device.residual(points, &weights, &[2.0], &terms, Some(&mut gradient))?;
//! assert!(loss.residual[0] > 0.0 && loss.gradient[0] > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod activation;
mod ceiling;
pub mod conformance;
mod cpu;
mod device;
mod dictionary;
mod local;
mod network;
pub mod oracle;
mod plan;
mod points;
mod polynomial;
mod program;
mod scalar;
mod sweep;
mod tile;

pub use activation::{Activation, derivative_polynomials};
pub use ceiling::product_ceiling;
pub use cpu::cpu;
pub use device::{
    DensityId, Descent, Device, Dual, DualFactors, DualSystem, Fault, Jacobian, Level, Linearisation,
    Moments, Precision, ResidentSteps, ResidualId, ResidualLoss, ResidualWeights, Seen, Solved, Weighted,
};
pub use dictionary::{Axis, DictionarySpec, Family, Features, Ridge};
pub use local::{LocalFeatures, SparseRows};
pub use network::{Fourier, Network, NetworkSpec, Node, Operation, Source, Store};
pub use plan::Plan;
pub use points::{Column, PointSource};
pub use polynomial::{ActivationTables, Bank, Factor, Monomial, Polynomial};
pub use program::{
    BoundNetwork, Carrier, DensityProgram, Fed, Feed, FieldProgram, Frame, LeadingProgram, Moves, Operator,
    ProgramError, ResidualProgram, Slot,
};
