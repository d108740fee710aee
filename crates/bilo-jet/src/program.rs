//! From expressions to plain data that a device can run: which derivatives each network carries,
//! and the tapes between its outputs and the losses.

mod frame;
mod leading;
mod moving;

pub use frame::Frame;

use crate::network::Network;
use crate::plan::Plan;
use bilo_expr::{Expr, Function, Graph, Leaf, Symbol, Tape};
use leading::Leading;
use moving::Moving;
use std::collections::BTreeMap;

/// A network and the opaque functions that stand for its outputs in a graph.
#[derive(Clone, Debug)]
pub struct BoundNetwork {
    /// The network.
    pub network: Network,
    /// One function per output; their inputs are the expressions of the network's coordinates, of
    /// columns and unknowns, followed by those of its parameters.
    pub outputs: Vec<Function>,
    /// Which of the unknowns each parameter input is.
    pub parameters: Vec<usize>,
    /// The parameter inputs that are functions of the coordinates.
    pub fed: Vec<Fed>,
    /// It stands for an unknown function: the lower level takes it as given, and only densities that say so
    /// ([`Moves`]) move it. Such networks come before those that they feed.
    pub given: bool,
}

impl BoundNetwork {
    /// A network whose parameter inputs are unknowns, each the same at all points.
    pub fn new(network: Network, outputs: Vec<Function>, parameters: Vec<usize>) -> Self {
        Self { network, outputs, parameters, fed: vec![], given: false }
    }
}

/// A parameter input z = f(x) + s that is a function of the coordinates, shifted by an unknown s (its
/// entry in `parameters`, whose value is zero). The derivatives of the network by the coordinates are
/// total ones, d/dx + f_x d/dz; the derivative by s moves z by a constant.
#[derive(Clone, Debug)]
pub struct Fed {
    /// The parameter input.
    pub input: usize,
    /// f, an expression of the columns and of networks that are given.
    pub value: Expr,
}

/// The networks of a local operator and the symbols of the values that a device is given.
#[derive(Clone, Debug)]
pub struct Operator {
    /// The networks; their weights stand one after the other.
    pub networks: Vec<BoundNetwork>,
    /// Symbols given at each point: coordinates, data.
    pub columns: Vec<Symbol>,
    /// Symbols of the unknowns, the same at all points.
    pub unknowns: Vec<Symbol>,
    /// Columns whose values are expressions of the unknowns: points that follow these. What the source of
    /// the points gives in their place is not used, and derivatives by unknowns are those along the
    /// moving points.
    pub held: BTreeMap<Symbol, Expr>,
}

impl Operator {
    /// Number of trained weights of all networks together.
    pub fn weights(&self) -> usize {
        self.networks.iter().map(|bound| bound.network.weights()).sum()
    }

    /// Symbols of all values that a device is given.
    fn given(&self) -> impl Iterator<Item = Symbol> {
        self.columns.iter().chain(&self.unknowns).copied()
    }
}

/// A network with its plan, where its weights begin, and how its inputs come about.
#[derive(Clone, Debug)]
pub struct Carrier {
    /// The network.
    pub network: Network,
    /// Derivatives with respect to the coordinate inputs.
    pub plan: Plan,
    /// Offset of its weights.
    pub offset: usize,
    /// Coordinate inputs from the columns and the unknowns.
    pub inputs: Tape,
    /// Which unknown each parameter input is.
    pub parameters: Vec<usize>,
    /// Where the coefficients of the plan's leading part come from.
    pub leading: Option<LeadingProgram>,
    /// Where the jets of parameter inputs that are functions come from.
    pub feeds: Vec<Feed>,
    /// Whether it stands for an unknown function.
    pub given: bool,
    /// Whether nothing asks for it: it is not evaluated.
    pub idle: bool,
}

/// The jet of a parameter input that is a function.
#[derive(Clone, Debug)]
pub struct Feed {
    /// The parameter input.
    pub input: usize,
    /// One output per component of the network's plan; the inputs are those of every tape.
    pub jets: Tape,
}

/// The coefficients c_k of a plan's leading part.
#[derive(Clone, Debug)]
pub struct LeadingProgram {
    /// From the columns and the unknowns: c_k; then ∂c_k/∂η_j by k.
    pub coefficients: Tape,
    /// Whether any of them depends on an unknown.
    pub moving: bool,
}

/// A component of an output of a network, as tapes see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The network.
    pub network: usize,
    /// Its output.
    pub output: usize,
    /// The component of its plan.
    pub component: usize,
}

/// Residuals r_q with everything that the losses |r|² and |dr/dθ|² and their weight gradient need.
#[derive(Clone, Debug)]
pub struct ResidualProgram {
    /// Networks and slots.
    pub frame: Frame,
    /// Number Q of residuals.
    pub residuals: usize,
    /// Outputs: r_q; then ∂r_q/∂(slot) by q; then ∂r_q/∂η_j by q, without what goes through parameter
    /// inputs of networks.
    pub linearisation: Tape,
    /// Further inputs: c_q; then v_qj by q; then the slots' tangents by q. Outputs: the derivative of
    /// Σ_q (c_q r_q + D_{v_q} r_q) with respect to each slot.
    pub second: Tape,
}

/// The weights that a density moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// Those of the states' networks: the functions are given.
    States,
    /// Those of the unknown functions' networks, through the networks that they feed too.
    Functions,
    /// All.
    All,
}

impl Moves {
    /// Whether it moves networks that are given to the lower level, or those that are not.
    pub fn moves(self, given: bool) -> bool {
        match self {
            Self::States => !given,
            Self::Functions => given,
            Self::All => true,
        }
    }
}

/// A loss Σ_points weight · density, with its gradients by the tape's adjoint.
#[derive(Clone, Debug)]
pub struct DensityProgram {
    /// Networks and slots.
    pub frame: Frame,
    /// Which weights its gradient is about.
    pub moves: Moves,
    /// Outputs: the density; then its derivative by each of the `moving` unknowns through coordinate
    /// inputs of networks.
    pub density: Tape,
    /// The unknowns that coordinate inputs move with.
    pub moving: Vec<usize>,
}

/// Expressions to be evaluated at points, with first derivatives with respect to unknowns.
#[derive(Clone, Debug)]
pub struct FieldProgram {
    /// Networks and slots.
    pub frame: Frame,
    /// Further inputs: the slots' tangents by unknown, in the order of `directions`.
    pub values: Tape,
    /// The unknowns whose directions are carried.
    pub directions: Vec<usize>,
}

/// Why expressions cannot be turned into a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// The expression has a leaf that is neither a network's, a column's nor an unknown's.
    Unbound(Leaf),
    /// A derivative of higher order than networks carry.
    Order(Leaf),
    /// A function that a network is fed with has no derivative by one of the network's inputs, since
    /// that is no multiple of a coordinate.
    Feed,
}

impl std::fmt::Display for ProgramError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unbound(leaf) => write!(f, "{leaf:?} is not given to the device"),
            Self::Order(leaf) => write!(f, "the derivative {leaf:?} is of too high an order"),
            Self::Feed => write!(f, "a function has no derivative by an input of the network that it feeds"),
        }
    }
}

impl std::error::Error for ProgramError {}

/// Highest derivative that networks carry.
pub(crate) const MAX_DERIVATIVE: usize = 6;

impl ResidualProgram {
    /// Compiles residuals that all live at the same points. Highest derivatives that occur in one
    /// linear combination only are carried as such: the leading part of a network's plan. Networks whose
    /// coordinate inputs move with unknowns carry every derivative by itself.
    pub fn new(graph: &mut Graph, operator: &Operator, residuals: &[Expr]) -> Result<Self, ProgramError> {
        let mut residuals = at_places(graph, operator, residuals);
        let moving = Moving::new(graph, operator);
        let mut leading = vec![];
        for (number, bound) in operator.networks.iter().enumerate() {
            let found = match moving.moves(number) {
                true => None,
                false => Leading::find(graph, operator, bound, &residuals)?,
            };
            if let Some(found) = &found {
                found.rewrite(graph, bound, &mut residuals);
            }
            leading.push(found);
        }
        Self::compile(graph, operator, &residuals, &moving, &leading)
    }

    /// A residual program with every derivative carried by itself, so that each is a slot of the tapes.
    pub fn expanded(
        graph: &mut Graph,
        operator: &Operator,
        residuals: &[Expr],
    ) -> Result<Self, ProgramError> {
        let residuals = at_places(graph, operator, residuals);
        let moving = Moving::new(graph, operator);
        Self::compile(graph, operator, &residuals, &moving, &[])
    }

    fn compile(
        graph: &mut Graph,
        operator: &Operator,
        residuals: &[Expr],
        moving: &Moving<'_>,
        leading: &[Option<Leading>],
    ) -> Result<Self, ProgramError> {
        let unknowns: Vec<usize> = (0..operator.unknowns.len()).collect();
        let by_unknown = moving.partials(graph, residuals, &unknowns);
        let all: Vec<Expr> = residuals.iter().chain(by_unknown.iter().flatten()).copied().collect();
        let frame = Frame::new(graph, operator, &all, leading)?;
        let slots = frame.leaves[..frame.slots.len()].to_vec();
        let by_slot = partials(graph, residuals, &slots);
        let outputs: Vec<Expr> = residuals
            .iter()
            .chain(by_slot.iter().flatten())
            .chain(by_unknown.iter().flatten())
            .copied()
            .collect();
        let linearisation = frame.compile(graph, &outputs, &[])?;

        let mut fresh = |name: String| graph.symbol(&name);
        let count = residuals.len();
        let c: Vec<Symbol> = (0..count).map(|q| fresh(format!("c{q}"))).collect();
        let v: Vec<Vec<Symbol>> =
            (0..count).map(|q| (0..unknowns.len()).map(|j| fresh(format!("v{q}_{j}"))).collect()).collect();
        let moved: Vec<Vec<Symbol>> =
            (0..count).map(|q| (0..slots.len()).map(|i| fresh(format!("dn{q}_{i}"))).collect()).collect();
        let mut objective = vec![];
        for q in 0..count {
            let scaled = product(graph, c[q], residuals[q]);
            objective.push(scaled);
            for (&symbol, &slope) in moved[q].iter().zip(&by_slot[q]).chain(v[q].iter().zip(&by_unknown[q])) {
                objective.push(product(graph, symbol, slope));
            }
        }
        let objective = graph.sum(&objective);
        let outputs = partials(graph, &[objective], &slots).remove(0);
        let more: Vec<Symbol> =
            c.into_iter().chain(v.into_iter().flatten()).chain(moved.into_iter().flatten()).collect();
        let second = frame.compile(graph, &outputs, &more)?;
        Ok(Self { frame, residuals: count, linearisation, second })
    }
}

impl DensityProgram {
    /// Compiles a density.
    pub fn new(
        graph: &mut Graph,
        operator: &Operator,
        density: Expr,
        moves: Moves,
    ) -> Result<Self, ProgramError> {
        let networks = Moving::new(graph, operator);
        let moving = networks.unknowns();
        let mut outputs = at_places(graph, operator, &[density]);
        for &unknown in &moving {
            outputs.push(networks.derivative(graph, outputs[0], unknown));
        }
        let frame = Frame::new(graph, operator, &outputs, &[])?;
        let density = frame.compile(graph, &outputs, &[])?;
        Ok(Self { frame, density, moving, moves })
    }
}

impl FieldProgram {
    /// Compiles expressions. First derivatives of networks by their parameter inputs may stand in them.
    pub fn new(graph: &mut Graph, operator: &Operator, values: &[Expr]) -> Result<Self, ProgramError> {
        let values = &at_places(graph, operator, values)[..];
        let mut directions = vec![];
        for leaf in graph.leaves(values) {
            if let Some(unknown) = direction_of(operator, &leaf)?
                && !directions.contains(&unknown)
            {
                directions.push(unknown);
            }
        }
        let frame = Frame::new(graph, operator, values, &[])?;
        let mut inputs = frame.leaves.clone();
        for &unknown in &directions {
            for slot in &frame.slots {
                inputs.push(frame.directed_leaf(operator, *slot, unknown, graph));
            }
        }
        let values = Tape::compile(graph, values, &inputs).map_err(ProgramError::Unbound)?;
        Ok(Self { frame, values, directions })
    }

    /// Compiles expressions followed by their derivatives by each slot, by expression and slot, and then by some of the
    /// unknowns at fixed slots, by expression and unknown.
    pub fn linearised(
        graph: &mut Graph,
        operator: &Operator,
        values: &[Expr],
        unknowns: &[usize],
    ) -> Result<Self, ProgramError> {
        let Linear { values, by_slot, by_unknown, frame } = Linear::new(graph, operator, values, unknowns)?;
        let outputs = [values, by_slot.concat(), by_unknown.concat()].concat();
        let values = frame.compile(graph, &outputs, &[])?;
        Ok(Self { frame, values, directions: vec![] })
    }

    /// Compiles expressions followed by their total derivatives along some of the unknowns, by expression
    /// and unknown: where an unknown stands itself, through coordinate and parameter inputs of networks,
    /// and through weights that move with it ([`Device::evaluate`](crate::Device::evaluate)). Unlike a
    /// symbolic derivative, this one sees networks that have no input for the unknown.
    pub fn along(
        graph: &mut Graph,
        operator: &Operator,
        values: &[Expr],
        unknowns: &[usize],
    ) -> Result<Self, ProgramError> {
        let Linear { values, by_slot, by_unknown, frame } = Linear::new(graph, operator, values, unknowns)?;
        let slots = frame.slots.len();
        let names = (0..unknowns.len() * slots).map(|i| format!("dn{i}"));
        let moved: Vec<Symbol> = names.map(|name| graph.symbol(&name)).collect();
        let mut outputs = values;
        for (by_slot, by_unknown) in by_slot.iter().zip(by_unknown) {
            for (direction, partial) in by_unknown.into_iter().enumerate() {
                let mut terms = vec![partial];
                let moved = &moved[direction * slots..(direction + 1) * slots];
                terms.extend(moved.iter().zip(by_slot).map(|(&moved, &slope)| product(graph, moved, slope)));
                outputs.push(graph.sum(&terms));
            }
        }
        let values = frame.compile(graph, &outputs, &moved)?;
        Ok(Self { frame, values, directions: unknowns.to_vec() })
    }
}

/// Expressions with their derivatives by slots and, at fixed slots, by unknowns.
struct Linear {
    values: Vec<Expr>,
    by_slot: Vec<Vec<Expr>>,
    by_unknown: Vec<Vec<Expr>>,
    frame: Frame,
}

impl Linear {
    fn new(
        graph: &mut Graph,
        operator: &Operator,
        values: &[Expr],
        unknowns: &[usize],
    ) -> Result<Self, ProgramError> {
        let values = at_places(graph, operator, values);
        for leaf in graph.leaves(&values) {
            if direction_of(operator, &leaf)?.is_some() {
                return Err(ProgramError::Order(leaf));
            }
        }
        let by_unknown = Moving::new(graph, operator).partials(graph, &values, unknowns);
        let frame = Frame::new(graph, operator, &[values.clone(), by_unknown.concat()].concat(), &[])?;
        let by_slot = partials(graph, &values, &frame.leaves[..frame.slots.len()]);
        Ok(Self { values, by_slot, by_unknown, frame })
    }
}

/// Expressions at the places of an operator's points.
fn at_places(graph: &mut Graph, operator: &Operator, expressions: &[Expr]) -> Vec<Expr> {
    expressions.iter().map(|&expression| operator.at_places(graph, expression)).collect()
}

/// ∂(expression)/∂(leaf), by expression and leaf.
fn partials(graph: &mut Graph, expressions: &[Expr], leaves: &[Leaf]) -> Vec<Vec<Expr>> {
    expressions
        .iter()
        .map(|&expression| leaves.iter().map(|leaf| graph.partial(expression, leaf)).collect())
        .collect()
}

fn product(graph: &mut Graph, symbol: Symbol, expression: Expr) -> Expr {
    let symbol = graph.leaf(symbol);
    graph.mul(symbol, expression)
}

/// The unknown that a leaf is differentiated by, if it is.
fn direction_of(operator: &Operator, leaf: &Leaf) -> Result<Option<usize>, ProgramError> {
    let Leaf::Derivative(function, index) = leaf else { return Ok(None) };
    let Some(bound) = operator.networks.iter().find(|bound| bound.outputs.contains(function)) else {
        return Err(ProgramError::Unbound(leaf.clone()));
    };
    let orders = &index.as_slice()[bound.network.coordinates()..];
    match orders.iter().map(|&order| usize::from(order)).sum::<usize>() {
        0 => Ok(None),
        1 => Ok(orders.iter().position(|&order| order == 1).map(|input| bound.parameters[input])),
        _ => Err(ProgramError::Order(leaf.clone())),
    }
}
