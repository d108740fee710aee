//! What all programs of an operator share: which derivatives each network carries, and where its inputs
//! come from.

use super::leading::{Leading, padded, wanted};
use super::{BoundNetwork, Carrier, Feed, Operator, ProgramError, Slot};
use crate::plan::Plan;
use bilo_expr::{Expr, Graph, Leaf, Symbol, Tape};

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
    pub(super) leaves: Vec<Leaf>,
}

impl Frame {
    /// `leading` has the leading part of each network, or is empty if there are none.
    pub(super) fn new(
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
            let inputs = operator.coordinate_inputs(graph, bound);
            let given: Vec<Leaf> = operator.given().map(Leaf::Symbol).collect();
            let inputs = Tape::compile(graph, &inputs, &given).map_err(ProgramError::Unbound)?;
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
        frame.leaves.extend(operator.given().map(Leaf::Symbol));
        for (number, (bound, jets)) in operator.networks.iter().zip(jets).enumerate() {
            for (fed, jets) in bound.fed.iter().zip(jets) {
                let jets = frame.compile(graph, &jets, &[])?;
                frame.carriers[number].feeds.push(Feed { input: fed.input, jets });
            }
        }
        Ok(frame)
    }

    pub(super) fn compile(
        &self,
        graph: &Graph,
        outputs: &[Expr],
        more: &[Symbol],
    ) -> Result<Tape, ProgramError> {
        let inputs: Vec<Leaf> =
            self.leaves.iter().cloned().chain(more.iter().map(|&symbol| Leaf::Symbol(symbol))).collect();
        Tape::compile(graph, outputs, &inputs).map_err(ProgramError::Unbound)
    }

    /// The leaf ∂(slot)/∂η, or a leaf that cannot occur where the network does not see this unknown.
    pub(super) fn directed_leaf(
        &self,
        operator: &Operator,
        slot: Slot,
        unknown: usize,
        graph: &mut Graph,
    ) -> Leaf {
        let bound = &operator.networks[slot.network];
        let index = padded(&self.carriers[slot.network].plan.indices()[slot.component], bound);
        match bound.parameters.iter().position(|&parameter| parameter == unknown) {
            Some(input) => {
                let place = bound.network.coordinates() + input;
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
        let mut plan = Plan::closure(bound.network.coordinates(), &wanted);
        if let Some(leading) = leading {
            plan = plan.with_leading(leading.indices.clone());
        }
        let idle = wanted.is_empty();
        let fed = if idle { &[] } else { &bound.fed[..] };
        let fed: Vec<Vec<Expr>> = fed
            .iter()
            .map(|fed| jet_of(graph, operator, bound, &plan, fed.value))
            .collect::<Result<_, _>>()?;
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

/// The derivatives of a function by the coordinate inputs of a network, by component of a plan.
fn jet_of(
    graph: &mut Graph,
    operator: &Operator,
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
    Ok(jet.into_iter().map(|component| operator.at_places(graph, component)).collect())
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
