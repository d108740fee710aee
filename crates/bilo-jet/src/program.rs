//! From expressions to plain data that a device can run: which derivatives each network carries,
//! and the tapes between its outputs and the losses.

use crate::leading::Leading;
use crate::network::Network;
use crate::plan::Plan;
use bilo_expr::{Expr, Function, Graph, Leaf, MultiIndex, Symbol, Tape};

/// A network and the opaque functions that stand for its outputs in a graph.
#[derive(Clone, Debug)]
pub struct BoundNetwork {
    /// The network.
    pub network: Network,
    /// One function per output; their inputs are the expressions of the network's coordinates
    /// followed by those of its parameters.
    pub outputs: Vec<Function>,
    /// Which of the unknowns each parameter input is.
    pub parameters: Vec<usize>,
    /// The parameter inputs that are functions of the coordinates.
    pub fed: Vec<Fed>,
    /// It stands for an unknown function: the lower level takes it as given, and only programs made
    /// [`DensityProgram::over_functions`] move it. Such networks come before those that they feed.
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
}

impl Operator {
    /// Number of trained weights of all networks together.
    pub fn weights(&self) -> usize {
        self.networks.iter().map(|bound| bound.network.weights()).sum()
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
    /// Coordinate inputs from the columns.
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

/// What all programs share. The inputs of every tape are the slots, the columns, the unknowns.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The networks.
    pub carriers: Vec<Carrier>,
    /// The outputs' components in the order of the tapes' inputs.
    pub slots: Vec<Slot>,
    /// Number of columns.
    pub columns: usize,
    /// Number of unknowns.
    pub unknowns: usize,
    /// Number of weights.
    pub weights: usize,
    /// The leaves of the tapes' inputs.
    leaves: Vec<Leaf>,
}

/// Residuals r_q with everything that the losses |r|² and |dr/dθ|² and their weight gradient need.
#[derive(Clone, Debug)]
pub struct ResidualProgram {
    /// Networks and slots.
    pub frame: Frame,
    /// Number Q of residuals.
    pub residuals: usize,
    /// Outputs: r_q; then ∂r_q/∂(slot) by q; then the explicit ∂r_q/∂η_j by q.
    pub linearisation: Tape,
    /// Further inputs: c_q; then v_qj by q; then the slots' tangents by q. Outputs: the derivative of
    /// Σ_q (c_q r_q + D_{v_q} r_q) with respect to each slot.
    pub second: Tape,
}

/// A loss Σ_points weight · density, with its gradients by the tape's adjoint.
#[derive(Clone, Debug)]
pub struct DensityProgram {
    /// Networks and slots.
    pub frame: Frame,
    /// Whether its weight gradient is that of the unknown functions' networks, or that of the others.
    pub over_functions: bool,
    /// One output.
    pub density: Tape,
}

/// Expressions to be evaluated at points; first derivatives with respect to unknowns are allowed.
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
    /// linear combination only are carried as such: the leading part of a network's plan.
    pub fn new(graph: &mut Graph, operator: &Operator, residuals: &[Expr]) -> Result<Self, ProgramError> {
        let mut residuals = residuals.to_vec();
        let mut leading = vec![];
        for bound in &operator.networks {
            let found = Leading::find(graph, operator, bound, &residuals)?;
            if let Some(found) = &found {
                found.rewrite(graph, bound, &mut residuals);
            }
            leading.push(found);
        }
        let frame = Frame::new(graph, operator, &residuals, &leading)?;
        Self::compile(graph, operator, &residuals, frame)
    }

    /// The same with every derivative carried by itself, so that each is a slot of the tapes.
    pub fn expanded(
        graph: &mut Graph,
        operator: &Operator,
        residuals: &[Expr],
    ) -> Result<Self, ProgramError> {
        let frame = Frame::new(graph, operator, residuals, &[])?;
        Self::compile(graph, operator, residuals, frame)
    }

    fn compile(
        graph: &mut Graph,
        operator: &Operator,
        residuals: &[Expr],
        frame: Frame,
    ) -> Result<Self, ProgramError> {
        let slots = frame.leaves[..frame.slots.len()].to_vec();
        let unknowns: Vec<Leaf> = operator.unknowns.iter().map(|&symbol| Leaf::Symbol(symbol)).collect();
        let by_slot = partials(graph, residuals, &slots);
        let by_unknown = partials(graph, residuals, &unknowns);
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
    pub fn new(graph: &mut Graph, operator: &Operator, density: Expr) -> Result<Self, ProgramError> {
        let frame = Frame::new(graph, operator, &[density], &[])?;
        let density = frame.compile(graph, &[density], &[])?;
        Ok(Self { frame, density, over_functions: false })
    }

    /// The same with the weight gradient of the unknown functions' networks.
    pub fn over_functions(
        graph: &mut Graph,
        operator: &Operator,
        density: Expr,
    ) -> Result<Self, ProgramError> {
        Ok(Self { over_functions: true, ..Self::new(graph, operator, density)? })
    }
}

impl FieldProgram {
    /// Compiles expressions.
    pub fn new(graph: &mut Graph, operator: &Operator, values: &[Expr]) -> Result<Self, ProgramError> {
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
}

impl Frame {
    /// `leading` has the leading part of each network, or is empty if there are none.
    fn new(
        graph: &mut Graph,
        operator: &Operator,
        expressions: &[Expr],
        leading: &[Option<Leading>],
    ) -> Result<Self, ProgramError> {
        let (plans, jets) = plans_and_jets(graph, operator, expressions, leading)?;
        let mut frame = Self {
            carriers: vec![],
            slots: vec![],
            columns: operator.columns.len(),
            unknowns: operator.unknowns.len(),
            weights: operator.weights(),
            leaves: vec![],
        };
        let mut offset = 0;
        for (number, (bound, (plan, idle))) in operator.networks.iter().zip(plans).enumerate() {
            let leading = leading.get(number).and_then(Option::as_ref);
            for (output, &function) in bound.outputs.iter().enumerate() {
                for (component, index) in plan.indices().iter().enumerate() {
                    frame.slots.push(Slot { network: number, output, component });
                    frame.leaves.push(Leaf::Derivative(function, padded(index, bound)));
                }
                if let (Some(leading), Some(component)) = (leading, plan.leading_component()) {
                    frame.slots.push(Slot { network: number, output, component });
                    frame.leaves.push(Leaf::Symbol(leading.symbols[output]));
                }
            }
            let leading = leading.map(|leading| leading.program(graph, operator)).transpose()?;
            let inputs: Vec<Expr> = coordinate_inputs(graph, bound);
            let columns: Vec<Leaf> = operator.columns.iter().map(|&symbol| Leaf::Symbol(symbol)).collect();
            let inputs = Tape::compile(graph, &inputs, &columns).map_err(ProgramError::Unbound)?;
            frame.carriers.push(Carrier {
                network: bound.network.clone(),
                plan,
                offset,
                inputs,
                parameters: bound.parameters.clone(),
                leading,
                feeds: vec![],
                given: bound.given,
                idle,
            });
            offset += bound.network.weights();
        }
        frame
            .leaves
            .extend(operator.columns.iter().chain(&operator.unknowns).map(|&symbol| Leaf::Symbol(symbol)));
        for (number, (bound, jets)) in operator.networks.iter().zip(jets).enumerate() {
            for (fed, jets) in bound.fed.iter().zip(jets) {
                let jets = frame.compile(graph, &jets, &[])?;
                frame.carriers[number].feeds.push(Feed { input: fed.input, jets });
            }
        }
        Ok(frame)
    }

    fn compile(&self, graph: &Graph, outputs: &[Expr], more: &[Symbol]) -> Result<Tape, ProgramError> {
        let inputs: Vec<Leaf> =
            self.leaves.iter().cloned().chain(more.iter().map(|&symbol| Leaf::Symbol(symbol))).collect();
        Tape::compile(graph, outputs, &inputs).map_err(ProgramError::Unbound)
    }

    /// The leaf ∂(slot)/∂η, or a leaf that cannot occur where the network does not see this unknown.
    fn directed_leaf(&self, operator: &Operator, slot: Slot, unknown: usize, graph: &mut Graph) -> Leaf {
        let bound = &operator.networks[slot.network];
        let index = padded(&self.carriers[slot.network].plan.indices()[slot.component], bound);
        match bound.parameters.iter().position(|&parameter| parameter == unknown) {
            Some(input) => {
                let place = bound.network.spec().coordinates + input;
                Leaf::Derivative(bound.outputs[slot.output], index.plus(place))
            }
            None => Leaf::Symbol(graph.symbol("unseen")),
        }
    }
}

/// The plan of every network and whether it is idle, and the jets of the functions that it is fed with.
#[expect(clippy::type_complexity, reason = "one list per network")]
fn plans_and_jets(
    graph: &mut Graph,
    operator: &Operator,
    expressions: &[Expr],
    leading: &[Option<Leading>],
) -> Result<(Vec<(Plan, bool)>, Vec<Vec<Vec<Expr>>>), ProgramError> {
    let mut leaves = graph.leaves(expressions);
    let (mut plans, mut jets) = (vec![], vec![]);
    // A network that is fed asks for derivatives of the networks before it.
    for (number, bound) in operator.networks.iter().enumerate().rev() {
        let leading = leading.get(number).and_then(Option::as_ref);
        let mut wanted = wanted(bound, &leaves)?;
        wanted.extend(leading.iter().flat_map(|leading| leading.indices.iter().cloned()));
        let mut plan = Plan::closure(bound.network.spec().coordinates, &wanted);
        if let Some(leading) = leading {
            plan = plan.with_leading(leading.indices.clone());
        }
        let idle = wanted.is_empty();
        let fed = if idle { &[] } else { &bound.fed[..] };
        let fed: Vec<Vec<Expr>> =
            fed.iter().map(|fed| jet_of(graph, bound, &plan, fed.value)).collect::<Result<_, _>>()?;
        for jet in &fed {
            leaves.extend(graph.leaves(jet));
        }
        plans.push((plan, idle));
        jets.push(fed);
    }
    plans.reverse();
    jets.reverse();
    Ok((plans, jets))
}

/// The expressions of a network's coordinate inputs, of columns only.
fn coordinate_inputs(graph: &mut Graph, bound: &BoundNetwork) -> Vec<Expr> {
    let coordinates = bound.network.spec().coordinates;
    let inputs = graph.function_inputs(bound.outputs[0])[..coordinates].to_vec();
    inputs.into_iter().map(|input| graph.expand_definitions(input)).collect()
}

/// The derivatives of a function by the coordinate inputs of a network, by component of a plan.
fn jet_of(
    graph: &mut Graph,
    bound: &BoundNetwork,
    plan: &Plan,
    value: Expr,
) -> Result<Vec<Expr>, ProgramError> {
    let inputs = graph.function_inputs(bound.outputs[0]).to_vec();
    let mut jet = vec![value];
    for component in 1..plan.len() {
        let (lower, input) = plan.predecessor(component);
        let slope = derivative_by_input(graph, jet[lower], inputs[input])?;
        jet.push(slope);
    }
    Ok(jet)
}

/// ∂(expression)/∂(input) for an input that is a coordinate, scaled and shifted.
fn derivative_by_input(graph: &mut Graph, expression: Expr, input: Expr) -> Result<Expr, ProgramError> {
    let mut derivative = graph.constant(0.0);
    for leaf in graph.leaves(&[input]) {
        let Leaf::Symbol(coordinate) = leaf else { return Err(ProgramError::Feed) };
        let slope = graph.diff(expression, coordinate);
        if graph.as_constant(slope) == Some(0.0) {
            continue;
        }
        let scale = graph.diff(input, coordinate);
        if graph.as_constant(scale).is_none() {
            return Err(ProgramError::Feed);
        }
        derivative = graph.div(slope, scale);
    }
    Ok(derivative)
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

/// A multi-index over the coordinates, made one over all inputs.
pub(crate) fn padded(index: &MultiIndex, bound: &BoundNetwork) -> MultiIndex {
    let mut orders = index.as_slice().to_vec();
    orders.resize(orders.len() + bound.network.spec().parameters, 0);
    MultiIndex::from(orders)
}

/// The derivatives with respect to coordinates that leaves ask of a network.
pub(crate) fn wanted(bound: &BoundNetwork, leaves: &[Leaf]) -> Result<Vec<MultiIndex>, ProgramError> {
    let coordinates = bound.network.spec().coordinates;
    let mut result = vec![];
    for leaf in leaves {
        if let Leaf::Derivative(function, index) = leaf
            && bound.outputs.contains(function)
        {
            let index = MultiIndex::from(index.as_slice()[..coordinates].to_vec());
            if index.order() > MAX_DERIVATIVE {
                return Err(ProgramError::Order(leaf.clone()));
            }
            result.push(index);
        }
    }
    Ok(result)
}

/// The unknown that a leaf is differentiated by, if it is.
fn direction_of(operator: &Operator, leaf: &Leaf) -> Result<Option<usize>, ProgramError> {
    let Leaf::Derivative(function, index) = leaf else { return Ok(None) };
    let Some(bound) = operator.networks.iter().find(|bound| bound.outputs.contains(function)) else {
        return Err(ProgramError::Unbound(leaf.clone()));
    };
    let orders = &index.as_slice()[bound.network.spec().coordinates..];
    match orders.iter().map(|&order| usize::from(order)).sum::<usize>() {
        0 => Ok(None),
        1 => Ok(orders.iter().position(|&order| order == 1).map(|input| bound.parameters[input])),
        _ => Err(ProgramError::Order(leaf.clone())),
    }
}
