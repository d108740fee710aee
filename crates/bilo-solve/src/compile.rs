//! Residual expressions to tapes: values and symbolic Jacobians.

use bilo_expr::{Expr, Function, Graph, Leaf, MultiIndex, Tape};

use crate::error::SolveError;
use crate::statement::{Curve, Signal, Statement};

/// Orders of a derivative along the space axes; the second is 0 in one dimension.
pub(crate) type Orders = [usize; 2];

/// What a tape is given for one of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A space derivative of a state, or (`velocity`) of its time derivative.
    State { state: usize, orders: Orders, velocity: bool },
    /// A space derivative of a coefficient.
    Coefficient { coefficient: usize, orders: Orders },
    /// The jump of a state's slope at the interface.
    Jump { state: usize },
    /// A space coordinate.
    Space(usize),
    /// The length of a cell along a space axis.
    Width(usize),
    /// The time.
    Time,
    /// A derivative of a known function of time.
    Signal { signal: usize, order: usize },
    /// A derivative of an unknown function of a state or of time; its argument is an output of the tape of arguments.
    Curve { curve: usize, order: usize, argument: usize },
    /// A parameter.
    Parameter(usize),
}

impl Slot {
    /// Whether it depends on what is solved for.
    pub(crate) fn is_state(&self) -> bool {
        self.state().is_some()
    }

    /// The state that it is made from.
    pub(crate) fn state(&self) -> Option<usize> {
        match *self {
            Slot::State { state, .. } | Slot::Jump { state } => Some(state),
            _ => None,
        }
    }
}

/// One entry of the symbolic Jacobian: the partial derivative of a residual by
/// a derivative of a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// Which slot of the block; it depends on a state.
    pub(crate) slot: usize,
    /// Which output of the tape of partial derivatives.
    pub(crate) output: usize,
}

/// Residuals that hold at the same places, compiled. All tapes have the slots
/// as inputs; arguments depend on none that is a curve.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) slots: Vec<Slot>,
    /// The arguments of the curves.
    pub(crate) arguments: Tape,
    pub(crate) residuals: Tape,
    pub(crate) partials: Tape,
    /// Jacobian entries of each residual.
    pub(crate) terms: Vec<Vec<Term>>,
    signals: Vec<Signal>,
    pub(crate) curves: Vec<Curve>,
}

impl Block {
    /// A derivative of a known function of time.
    pub(crate) fn signal(&self, signal: usize, order: usize, t: f64) -> f64 {
        (self.signals[signal].value)(t, order)
    }

    /// Whether a state occurs in a residual.
    pub(crate) fn occurs(&self, residual: usize, state: usize) -> bool {
        self.order(residual, state, 0).is_some()
    }

    /// Highest derivative of a state along an axis in a residual.
    pub(crate) fn order(&self, residual: usize, state: usize, axis: usize) -> Option<usize> {
        self.terms[residual]
            .iter()
            .filter_map(|term| match self.slots[term.slot] {
                Slot::State { state: s, orders, .. } if s == state => Some(orders[axis]),
                _ => None,
            })
            .max()
    }

    /// Highest derivative of anything along an axis.
    pub(crate) fn highest_order(&self, axis: usize) -> usize {
        self.slots
            .iter()
            .map(|slot| match slot {
                Slot::State { orders, .. } | Slot::Coefficient { orders, .. } => orders[axis],
                _ => 0,
            })
            .max()
            .unwrap_or(0)
    }

    /// Whether a residual is a condition on values alone.
    pub(crate) fn has_no_derivatives(&self, residual: usize) -> bool {
        self.terms[residual].iter().all(|term| match self.slots[term.slot] {
            Slot::State { orders, velocity, .. } => orders == [0, 0] && !velocity,
            _ => true,
        })
    }
}

/// Compiles residuals of the statement; `place` names them in errors.
pub(crate) fn block(
    statement: &mut Statement,
    residuals: &[Expr],
    place: &'static str,
) -> Result<Block, SolveError> {
    let compiled = compile(statement, residuals, place)?;
    refuse(statement, compiled, place, |slot| matches!(slot, Slot::Jump { .. }))
}

/// The block, unless it uses what has no value at its place.
fn refuse(
    statement: &mut Statement,
    block: Block,
    place: &'static str,
    has_no_value: impl Fn(&Slot) -> bool,
) -> Result<Block, SolveError> {
    match block.slots.iter().position(has_no_value) {
        None => Ok(block),
        Some(i) => Err(unknown(&mut statement.graph, &block.residuals.inputs()[i], place)),
    }
}

fn compile(statement: &mut Statement, residuals: &[Expr], place: &'static str) -> Result<Block, SolveError> {
    let outputs: Vec<Expr> = residuals.iter().map(|&e| statement.graph.expand_definitions(e)).collect();
    let arguments = Arguments::of(statement, &outputs);
    let mut leaves = statement.graph.leaves(&outputs);
    append(&mut leaves, statement.graph.leaves(&arguments.expressions));
    let mut partials = Vec::new();
    let mut terms = vec![Vec::new(); residuals.len()];
    for (&residual, terms) in outputs.iter().zip(&mut terms) {
        for (number, leaf) in leaves.iter().enumerate() {
            if !slot(statement, &arguments, leaf, place)?.is_state() {
                continue;
            }
            let partial = arguments.partial(&mut statement.graph, residual, leaf);
            if statement.graph.as_constant(partial) != Some(0.0) {
                terms.push(Term { slot: number, output: partials.len() });
                partials.push(partial);
            }
        }
    }
    // The slopes of curves.
    append(&mut leaves, statement.graph.leaves(&partials));
    let slots = leaves.iter().map(|leaf| slot(statement, &arguments, leaf, place));
    let slots = slots.collect::<Result<Vec<Slot>, SolveError>>()?;
    let tape = |outputs: &[Expr]| {
        Tape::compile(&statement.graph, outputs, &leaves).expect("all leaves are among the slots")
    };
    Ok(Block {
        slots,
        arguments: tape(&arguments.expressions),
        residuals: tape(&outputs),
        partials: tape(&partials),
        terms,
        signals: statement.signals.clone(),
        curves: statement.curves.clone(),
    })
}

/// Adds those that are not there yet.
fn append(leaves: &mut Vec<Leaf>, more: Vec<Leaf>) {
    for leaf in more {
        if !leaves.contains(&leaf) {
            leaves.push(leaf);
        }
    }
}

/// The curves in some residuals, by number, and what they are functions of.
struct Arguments {
    curves: Vec<usize>,
    expressions: Vec<Expr>,
    /// Their derivatives in the residuals: the leaf, its slope and its argument.
    leaves: Vec<(Leaf, Expr, Expr)>,
}

impl Arguments {
    fn of(statement: &mut Statement, residuals: &[Expr]) -> Arguments {
        let mut found = Arguments { curves: vec![], expressions: vec![], leaves: vec![] };
        for leaf in statement.graph.leaves(residuals) {
            let Leaf::Derivative(function, index) = &leaf else { continue };
            let Some(curve) = statement.curves.iter().position(|curve| curve.function == *function) else {
                continue;
            };
            let argument = statement.graph.expand_definitions(statement.curves[curve].argument);
            let slope = statement.graph.derivative(*function, index.plus(0));
            if !found.curves.contains(&curve) {
                found.curves.push(curve);
                found.expressions.push(argument);
            }
            found.leaves.push((leaf, slope, argument));
        }
        found
    }

    /// The derivative by a leaf, through the arguments too.
    fn partial(&self, graph: &mut Graph, residual: Expr, leaf: &Leaf) -> Expr {
        let mut whole = graph.partial(residual, leaf);
        for &(ref own, slope, argument) in &self.leaves {
            let (outer, inner) = (graph.partial(residual, own), graph.partial(argument, leaf));
            let moved = graph.mul(slope, inner);
            let through = graph.mul(outer, moved);
            whole = graph.add(whole, through);
        }
        whole
    }
}

/// Compiles expressions of coordinates, coefficients and parameters only.
pub(crate) fn stateless_block(
    statement: &mut Statement,
    expressions: &[Expr],
    place: &'static str,
) -> Result<Block, SolveError> {
    let compiled = compile(statement, expressions, place)?;
    refuse(statement, compiled, place, Slot::is_state)
}

/// Compiles an expression of the space coordinates, which are its inputs.
pub(crate) fn mask(statement: &mut Statement, inside: Expr) -> Result<Tape, SolveError> {
    let graph = &mut statement.graph;
    let inside = graph.expand_definitions(inside);
    let inputs: Vec<Leaf> = statement.space.iter().map(|axis| Leaf::Symbol(axis.symbol)).collect();
    Tape::compile(graph, &[inside], &inputs)
        .map_err(|leaf| SolveError::MaskInputs { leaf: text(graph, &leaf) })
}

/// Compiles the residuals at the interface: nothing in them may have two values
/// there.
pub(crate) fn interface_block(statement: &mut Statement, residuals: &[Expr]) -> Result<Block, SolveError> {
    let compiled = compile(statement, residuals, "an interface residual")?;
    let one_sided = |slot: &Slot| match slot {
        Slot::State { orders, .. } | Slot::Coefficient { orders, .. } => *orders != [0, 0],
        _ => false,
    };
    match compiled.slots.iter().position(one_sided) {
        None => Ok(compiled),
        Some(i) => {
            let leaf = text(&mut statement.graph, &compiled.residuals.inputs()[i]);
            Err(SolveError::InterfaceDerivative { leaf })
        }
    }
}

/// Compiles an expression of the parameters.
pub(crate) fn position(statement: &mut Statement, position: Expr) -> Result<Tape, SolveError> {
    let graph = &mut statement.graph;
    let position = graph.expand_definitions(position);
    let inputs: Vec<Leaf> = statement.parameters.iter().map(|&p| Leaf::Symbol(p)).collect();
    Tape::compile(graph, &[position], &inputs)
        .map_err(|leaf| SolveError::InterfaceInputs { leaf: text(graph, &leaf) })
}

/// What a leaf means.
fn slot(
    statement: &mut Statement,
    arguments: &Arguments,
    leaf: &Leaf,
    place: &'static str,
) -> Result<Slot, SolveError> {
    let found = match leaf {
        Leaf::Symbol(symbol) => {
            let axis = statement.space.iter().position(|axis| axis.symbol == *symbol).map(Slot::Space);
            let time = statement.time.filter(|time| time.symbol == *symbol).map(|_| Slot::Time);
            let parameter = statement.parameters.iter().position(|p| p == symbol).map(Slot::Parameter);
            let width = statement.widths.iter().position(|w| w == symbol).map(Slot::Width);
            axis.or(time).or(parameter).or(width)
        }
        Leaf::Derivative(function, index)
            if let Some(curve) = statement.curves.iter().position(|curve| curve.function == *function) =>
        {
            let argument = arguments.curves.iter().position(|&other| other == curve);
            argument.map(|argument| Slot::Curve { curve, order: index.order(), argument })
        }
        Leaf::Derivative(function, index) => {
            let (orders, in_time) = orders(statement, *function, index);
            let position = |all: &[Function]| all.iter().position(|f| f == function);
            if let Some(state) = position(&statement.states) {
                if in_time > 1 {
                    return Err(SolveError::OrderInTime { derivative: text(&mut statement.graph, leaf) });
                }
                Some(Slot::State { state, orders, velocity: in_time == 1 })
            } else if let Some(coefficient) = position(&statement.coefficients) {
                Some(Slot::Coefficient { coefficient, orders })
            } else if let Some(signal) = statement.signals.iter().position(|s| s.function == *function) {
                Some(Slot::Signal { signal, order: in_time })
            } else {
                let mut jumps = statement.interface.iter().flat_map(|interface| &interface.jumps);
                let state = jumps.position(|f| f == function).filter(|_| index.order() == 0);
                state.map(|state| Slot::Jump { state })
            }
        }
    };
    found.ok_or_else(|| unknown(&mut statement.graph, leaf, place))
}

/// The orders of a derivative along the space axes and in time.
fn orders(statement: &mut Statement, function: Function, index: &MultiIndex) -> (Orders, usize) {
    let (mut orders, mut in_time) = ([0, 0], 0);
    let inputs = statement.graph.function_inputs(function).to_vec();
    for (&input, &order) in inputs.iter().zip(index.as_slice()) {
        match axis_of(statement, input) {
            Some(axis) => orders[axis] += usize::from(order),
            None => in_time += usize::from(order),
        }
    }
    (orders, in_time)
}

/// The space axis that an expression is.
fn axis_of(statement: &Statement, input: Expr) -> Option<usize> {
    let leaf = statement.graph.as_leaf(input)?;
    statement.space.iter().position(|axis| *leaf == Leaf::Symbol(axis.symbol))
}

/// Every state must be a function of exactly the coordinates, every
/// coefficient one of some space coordinates.
pub(crate) fn check_inputs(statement: &mut Statement) -> Result<(), SolveError> {
    let symbols = statement.space.iter().chain(&statement.time).map(|axis| axis.symbol);
    let mut coordinates: Vec<Expr> = symbols.map(|symbol| statement.graph.leaf(symbol)).collect();
    coordinates.sort_unstable();
    let graph = &statement.graph;
    for &state in &statement.states {
        let mut inputs = graph.function_inputs(state).to_vec();
        inputs.sort_unstable();
        if inputs != coordinates {
            return Err(SolveError::StateInputs { state: graph.function_name(state).to_string() });
        }
    }
    for &coefficient in &statement.coefficients {
        if coefficient_axes(statement, coefficient).is_none() {
            let coefficient = graph.function_name(coefficient).to_string();
            return Err(SolveError::CoefficientInputs { coefficient });
        }
    }
    Ok(())
}

/// The space axes that a coefficient depends on, in their order; `None` if it
/// depends on anything else, on nothing, or twice on one axis.
pub(crate) fn coefficient_axes(statement: &Statement, coefficient: Function) -> Option<Vec<usize>> {
    let inputs = statement.graph.function_inputs(coefficient);
    let mut axes: Vec<usize> =
        inputs.iter().map(|&input| axis_of(statement, input)).collect::<Option<_>>()?;
    axes.sort_unstable();
    axes.dedup();
    (!axes.is_empty() && axes.len() == inputs.len()).then_some(axes)
}

fn unknown(graph: &mut Graph, leaf: &Leaf, place: &'static str) -> SolveError {
    SolveError::UnknownLeaf { leaf: text(graph, leaf), place }
}

fn text(graph: &mut Graph, leaf: &Leaf) -> String {
    let e = match leaf {
        Leaf::Symbol(symbol) => graph.leaf(*symbol),
        Leaf::Derivative(function, index) => graph.derivative(*function, index.clone()),
    };
    graph.display(e).to_string()
}
