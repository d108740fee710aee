//! States as forms of linear combinations of frozen features.
//!
//! ```text
//! net = U(x) + Σ_j (theta_j - theta_j^k) V_j(x) + Σ_k a_k e_k(x)
//! ```
//!
//! U, V_j and a_k are coefficients: weights W(theta) that move with the unknowns, W + Σ_j (theta_j - theta_j^k)
//! dW/dtheta_j. So the unknowns are no inputs of the features, and what knows how the solution moves with
//! them are the slopes dW/dtheta_j of the weights.

use super::{LocalOperator, ReducedBasis, coordinate_input, unit_interval};
use bilo_expr::Expr;
use bilo_jet::{Activation, Axis, BoundNetwork, DictionarySpec, Family, Features, Network, Operation, Ridge};
use bilo_problem::diagnostic::Result;
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::{Basis, NET, Names, OperatorKind, Problem};

/// Polynomials along each of one, two or more coordinates, from few to many.
const LADDERS: [&[usize]; 3] = [&[12, 18, 27, 40, 60, 90], &[8, 12, 18, 27, 36], &[5, 7, 10]];

/// Splines along each of one, two or more coordinates: cells are halved from one to the next, so that each holds
/// the splines of the one before.
const SPLINES: [&[usize]; 3] = [&[13, 23, 43, 83, 163], &[13, 23, 43], &[8, 13]];

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
            OperatorKind::Automatic => vec![size.smaller(choice.basis), size],
            OperatorKind::Dictionary | OperatorKind::Network => vec![size],
        };
        if !choice.basis.is_tensor() {
            return match choice.features {
                Some(count) => stated(Size::Ridges(count)),
                None => RIDGES.iter().map(|&count| Size::Ridges(count)).collect(),
            };
        }
        let free = choice.modes.iter().filter(|modes| modes.is_none()).count();
        if free == 0 {
            return stated(Size::Modes(choice.modes.iter().flatten().copied().collect()));
        }
        let ladders = if choice.basis == Basis::Splines { &SPLINES } else { &LADDERS };
        let sizes = ladders[free.min(ladders.len()) - 1].iter();
        sizes
            .map(|&size| Size::Modes(choice.modes.iter().map(|modes| modes.unwrap_or(size)).collect()))
            .collect()
    }

    /// Two thirds of it, or splines on half the cells.
    fn smaller(&self, basis: Basis) -> Size {
        let part = |count: usize| match basis {
            Basis::Splines => (count - 3).div_ceil(2) + 3,
            _ => (2 * count).div_ceil(3),
        };
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

/// The features and the value of `net` for each state; of combinations of features if there is a basis of them.
pub(super) fn bind(
    problem: &Problem,
    names: &mut Names,
    size: &Size,
    seed: u64,
    basis: Option<&ReducedBasis>,
) -> Result<(Vec<BoundNetwork>, Vec<Expr>)> {
    let inputs = inputs(problem, names, size);
    let states = problem.states.len();
    // Each state has its own: residuals of equations that do not see a state have no derivatives by its coefficients.
    let spec = DictionarySpec { coordinates: inputs.len(), outputs: 1, features: features(problem, size) };
    let network = Network::dictionary(&spec, seed_for(seed, Purpose::Features, 0));
    let of_state = |state: usize| {
        let reduced = basis.and_then(|basis| network.reduced(&basis.states[state]));
        bound(names, reduced.unwrap_or_else(|| network.clone()), &inputs, &format!("{NET} {state}"))
    };
    let mut networks: Vec<BoundNetwork> = (0..states).map(of_state).collect();
    let values = |names: &mut Names, bound: &BoundNetwork| -> Vec<Expr> {
        bound.outputs.iter().map(|&output| names.graph.value(output)).collect()
    };
    let mut nets: Vec<Expr> = networks.iter().flat_map(|bound| values(names, bound)).collect();
    for (number, formula) in problem.operator.dictionary.enrich.iter().enumerate() {
        // A dictionary of one constant: its weights are the coefficients of e_k, one for each state.
        let constant = Features::Tensor(vec![Axis { count: 1, family: Family::Chebyshev }; inputs.len()]);
        let spec = DictionarySpec { outputs: states, features: constant, ..spec.clone() };
        networks.push(bound(names, Network::dictionary(&spec, 0), &inputs, &format!("enrichment {number}")));
        let function = names.lower_with_inputs(formula)?;
        for (net, coefficient) in nets.iter_mut().zip(values(names, &networks[states + number])) {
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
    let coordinate = |(number, coordinate): (usize, &bilo_problem::Coordinate)| match size {
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
    let choice = &problem.operator.dictionary;
    let family = |number: usize| match problem.coordinates.get(number) {
        Some(coordinate) if coordinate.periodic => Family::Waves,
        Some(_) if choice.basis == Basis::Splines => Family::Splines,
        _ => Family::Chebyshev,
    };
    match size {
        Size::Modes(modes) => Features::Tensor(
            modes.iter().enumerate().map(|(k, &count)| Axis { count, family: family(k) }).collect(),
        ),
        Size::Ridges(count) => {
            let activation = match choice.basis {
                Basis::Sine => Activation::Sin,
                _ => Activation::Tanh,
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
        let mut rest = &mut weights[..];
        for bound in &self.operator.networks[..self.states.len()] {
            let (own, others) = rest.split_at_mut(bound.network.weights());
            // T_0 .. T_0 is the first feature, and beside ridge functions there is a bias at the end.
            let constant = if bound.network.shapes().len() == 1 { 0 } else { own.len() - 1 };
            own[constant] = 1.0;
            rest = others;
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
                for _ in 0..rows {
                    let (own, others) = rest.split_at(few);
                    let mut row = refined(axes(small), axes(large), own);
                    row.resize(columns, 0.0);
                    all.extend(row);
                    rest = others;
                }
            }
        }
        all
    }
}

/// Whether features live in few places each.
pub(super) fn is_local(network: &Network) -> bool {
    axes(network).iter().any(|axis| axis.family == Family::Splines)
}

/// The axes of a dictionary of products; none of any other network.
fn axes(network: &Network) -> &[Axis] {
    match &network.nodes()[2].operation {
        Operation::Tensor(axes) => axes,
        _ => &[],
    }
}

/// The coefficients of products of few functions, as those of products of more functions.
fn refined(few: &[Axis], many: &[Axis], coefficients: &[f64]) -> Vec<f64> {
    let mut all = coefficients.to_vec();
    let mut inner = 1;
    // The last coordinate runs fastest.
    for (few, many) in few.iter().zip(many).rev() {
        let outer = all.len() / (few.count * inner);
        let mut next = vec![0.0; outer * many.count * inner];
        for (place, value) in all.iter().enumerate() {
            let (block, function, below) =
                (place / inner / few.count, place / inner % few.count, place % inner);
            for (number, part) in among(few, many, function) {
                next[(block * many.count + number) * inner + below] += part * value;
            }
        }
        all = next;
        inner *= many.count;
    }
    all
}

/// A function of one axis as a sum of those of another: itself, or, where cells are halved, the five splines that a
/// spline consists of. (Between other numbers of cells there is no such sum; one near it is a start for Newton's
/// method.)
fn among(few: &Axis, many: &Axis, function: usize) -> Vec<(usize, f64)> {
    if few.family != Family::Splines {
        return vec![(function, 1.0)];
    }
    // Spline i is centred on the end i - 1 of a cell.
    let ratio = (many.count - 3) as f64 / (few.count - 3) as f64;
    let distance = |number: usize| (number as f64 - 1.0) - ratio * (function as f64 - 1.0);
    let part = |number: usize| match (ratio == 2.0, distance(number).abs()) {
        (true, distance) if distance <= 2.0 => [6.0, 4.0, 1.0][distance as usize] / 8.0,
        (true, _) => 0.0,
        (false, distance) => (1.0 - distance / ratio).max(0.0),
    };
    (0..many.count).map(|number| (number, part(number))).filter(|(_, part)| *part > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of all products times their coefficients at a place.
    fn value(axes: &[Axis], coefficients: &[f64], place: [f64; 2]) -> f64 {
        let around = [axes[0].around(place[0], 1), axes[1].around(place[1], 1)];
        let mut sum = 0.0;
        for (i, a) in around[0].1.iter().enumerate() {
            for (j, b) in around[1].1.iter().enumerate() {
                sum += a * b * coefficients[(around[0].0 + i) * axes[1].count + around[1].0 + j];
            }
        }
        sum
    }

    /// Rounding of sums of sixteen numbers of the size one.
    #[test]
    fn more_splines_hold_the_same_function() {
        let pair = |first: usize, second: usize| {
            [Axis { count: first, family: Family::Splines }, Axis { count: second, family: Family::Splines }]
        };
        let (few, many) = (pair(6, 8), pair(9, 13));
        let coefficients: Vec<f64> = (0..48).map(|k| (1.3 * k as f64).sin()).collect();
        let refined = refined(&few, &many, &coefficients);
        for place in [[0.0, 0.0], [0.1, 0.93], [0.5, 0.4], [0.77, 1.0], [1.0, 0.21]] {
            let (coarse, fine) = (value(&few, &coefficients, place), value(&many, &refined, place));
            assert!((coarse - fine).abs() < 1e-14, "{place:?}: {coarse} {fine}");
        }
    }

    #[test]
    fn more_polynomials_hold_the_same_function() {
        let pair = |count: usize| [Axis { count, family: Family::Chebyshev }; 2];
        let coefficients: Vec<f64> = (0..9).map(|k| (1.3 * k as f64).sin()).collect();
        let refined = refined(&pair(3), &pair(5), &coefficients);
        for place in [[0.0, 0.0], [0.1, 0.93], [1.0, 0.21]] {
            let (few, many) = (value(&pair(3), &coefficients, place), value(&pair(5), &refined, place));
            assert!((few - many).abs() < 1e-14, "{place:?}: {few} {many}");
        }
    }
}
