//! States as forms of linear combinations of frozen features.
//!
//! ```text
//! net = U(x) + Σ_j (theta_j - theta_j^k) V_j(x) + Σ_k a_k e_k(x)
//! ```
//!
//! U, V_j and a_k are coefficients: weights W(theta) that move with the unknowns, W + Σ_j (theta_j - theta_j^k)
//! dW/dtheta_j. So the unknowns are no inputs of the features, and what knows how the solution moves with
//! them are the slopes dW/dtheta_j of the weights.

use super::{LocalOperator, coordinate_input, unit_interval};
use crate::diagnostic::Result;
use crate::problem::{Basis, NET, Names, OperatorKind, Problem};
use crate::seeds::{Purpose, seed_for};
use bilo_expr::Expr;
use bilo_jet::{Activation, Axis, BoundNetwork, DictionarySpec, Features, Network, Operation, Ridge};

/// Polynomials along each of one, two or more coordinates, from few to many.
const LADDERS: [&[usize]; 3] = [&[12, 18, 27, 40, 60, 90], &[8, 12, 18, 27, 36], &[5, 7, 10]];

/// Ridge functions, from few to many.
const RIDGES: &[usize] = &[100, 200, 400, 800];

/// How much a dictionary holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    /// Functions along each coordinate, then of each extra input.
    Modes(Vec<usize>),
    /// Ridge functions.
    Ridges(usize),
}

impl Size {
    /// The sizes that a problem allows, from small to large. A stated one is the only one, or, where it has to be
    /// found out whether it is enough, comes after a smaller one to compare with.
    pub fn ladder(problem: &Problem) -> Vec<Size> {
        let choice = &problem.operator.dictionary;
        let stated = |size: Size| match problem.operator.kind {
            OperatorKind::Automatic => vec![size.smaller(), size],
            OperatorKind::Dictionary | OperatorKind::Network => vec![size],
        };
        if choice.basis != Basis::Chebyshev {
            return match choice.features {
                Some(count) => stated(Size::Ridges(count)),
                None => RIDGES.iter().map(|&count| Size::Ridges(count)).collect(),
            };
        }
        let free = choice.modes.iter().filter(|modes| modes.is_none()).count();
        if free == 0 {
            return stated(Size::Modes(choice.modes.iter().flatten().copied().collect()));
        }
        let sizes = LADDERS[free.min(LADDERS.len()) - 1].iter();
        sizes
            .map(|&size| Size::Modes(choice.modes.iter().map(|modes| modes.unwrap_or(size)).collect()))
            .collect()
    }

    /// Two thirds of it.
    fn smaller(&self) -> Size {
        let part = |count: usize| (2 * count).div_ceil(3);
        match self {
            Size::Modes(modes) => Size::Modes(modes.iter().copied().map(part).collect()),
            Size::Ridges(count) => Size::Ridges(part(*count)),
        }
    }

    /// Functions along each coordinate, about.
    pub(crate) fn along(&self, problem: &Problem) -> Vec<usize> {
        match self {
            Size::Modes(modes) => modes[..problem.coordinates.len()].to_vec(),
            Size::Ridges(count) => {
                let along = (*count as f64).powf(1.0 / problem.coordinates.len() as f64);
                vec![along.ceil() as usize; problem.coordinates.len()]
            }
        }
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        match self {
            Size::Modes(modes) => modes.iter().product(),
            Size::Ridges(count) => *count,
        }
    }
}

/// The features and the value of `net` for each state.
pub(super) fn bind(
    problem: &Problem,
    names: &mut Names,
    size: &Size,
    seed: u64,
) -> Result<(Vec<BoundNetwork>, Vec<Expr>)> {
    let inputs = inputs(problem, names, size);
    let states = problem.states.len();
    let spec =
        DictionarySpec { coordinates: inputs.len(), outputs: states, features: features(problem, size) };
    let network = Network::dictionary(&spec, seed_for(seed, Purpose::Features, 0));
    let mut networks = vec![bound(names, network, &inputs, NET)];
    let values = |names: &mut Names, bound: &BoundNetwork| -> Vec<Expr> {
        bound.outputs.iter().map(|&output| names.graph.value(output)).collect()
    };
    let mut nets = values(names, &networks[0]);
    for (number, formula) in problem.operator.dictionary.enrich.iter().enumerate() {
        // A dictionary of one constant: its weights are the coefficients of e_k, one for each state.
        let constant = Features::Tensor(vec![Axis { count: 1, periodic: false }; inputs.len()]);
        let spec = DictionarySpec { features: constant, ..spec.clone() };
        networks.push(bound(names, Network::dictionary(&spec, 0), &inputs, &format!("enrichment {number}")));
        let function = names.lower_with_inputs(formula)?;
        for (net, coefficient) in nets.iter_mut().zip(values(names, &networks[number + 1])) {
            let part = names.graph.mul(coefficient, function);
            *net = names.graph.add(*net, part);
        }
    }
    Ok((networks, nets))
}

fn bound(names: &mut Names, network: Network, inputs: &[Expr], name: &str) -> BoundNetwork {
    let outputs = network.nodes().last().expect("a network has an output").width;
    let outputs = (0..outputs).map(|k| names.graph.function(&format!("{name} {k}"), inputs.to_vec()));
    BoundNetwork::new(network, outputs.collect(), vec![])
}

/// The coordinates scaled to [0, 1] and the extra inputs. Waves are functions of the coordinate itself, ridge
/// functions of its sine and cosine.
fn inputs(problem: &Problem, names: &mut Names, size: &Size) -> Vec<Expr> {
    let coordinate = |(number, coordinate): (usize, &crate::problem::Coordinate)| match size {
        Size::Modes(_) => {
            let symbol = names.coordinates[number];
            vec![unit_interval(&mut names.graph, symbol, coordinate.lo, coordinate.hi)]
        }
        Size::Ridges(_) => coordinate_input(problem, names, number),
    };
    let mut inputs: Vec<Expr> = problem.coordinates.iter().enumerate().flat_map(coordinate).collect();
    inputs.extend(names.inputs.iter().map(|&input| names.graph.leaf(input)));
    inputs
}

fn features(problem: &Problem, size: &Size) -> Features {
    let periodic = |number: usize| problem.coordinates.get(number).is_some_and(|c| c.periodic);
    match size {
        Size::Modes(modes) => Features::Tensor(
            modes.iter().enumerate().map(|(k, &count)| Axis { count, periodic: periodic(k) }).collect(),
        ),
        Size::Ridges(count) => {
            let choice = &problem.operator.dictionary;
            let activation = match choice.basis {
                Basis::Sine => Activation::Sin,
                Basis::Tanh | Basis::Chebyshev => Activation::Tanh,
            };
            Features::Ridge(Ridge { activation, count: *count, scale: choice.scale })
        }
    }
}

impl LocalOperator {
    /// Weights of a dictionary with which `net` is one everywhere. (A form such as net^2 does not move with
    /// weights that are zero.)
    pub fn unit_weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.operator.weights()];
        let first = &self.operator.networks[0].network;
        let constants = first.shapes();
        match constants[..] {
            // T_0 .. T_0 is the first feature of every head,
            [(features, heads)] => (0..heads).for_each(|head| weights[head * features] = 1.0),
            // and beside ridge functions there is a bias.
            _ => weights[first.weights() - self.states.len()..first.weights()].fill(1.0),
        }
        weights
    }

    /// The weights of the same solution by this dictionary, which holds all features of a smaller one.
    pub fn prolonged(&self, smaller: &LocalOperator, weights: &[f64]) -> Vec<f64> {
        let mut all = vec![];
        let mut rest = weights;
        for (large, small) in self.operator.networks.iter().zip(&smaller.operator.networks) {
            let (large, small) = (&large.network, &small.network);
            for ((columns, rows), (few, _)) in large.shapes().into_iter().zip(small.shapes()) {
                let place = places(small, large);
                for _ in 0..rows {
                    let mut row = vec![0.0; columns];
                    let (own, others) = rest.split_at(few);
                    own.iter().enumerate().for_each(|(k, &weight)| row[place(k)] = weight);
                    all.extend(row);
                    rest = others;
                }
            }
        }
        all
    }
}

/// Where a feature of a small dictionary stands in a large one.
fn places<'a>(small: &'a Network, large: &'a Network) -> impl Fn(usize) -> usize + 'a {
    let axes = |network: &'a Network| match &network.nodes()[2].operation {
        Operation::Tensor(axes) => &axes[..],
        _ => &[],
    };
    move |feature: usize| {
        let (mut rest, mut place, mut stride) = (feature, 0, 1);
        // The last coordinate runs fastest.
        for (few, many) in axes(small).iter().zip(axes(large)).rev() {
            place += stride * (rest % few.count);
            rest /= few.count;
            stride *= many.count;
        }
        if axes(small).is_empty() { feature } else { place }
    }
}
