//! What every name of a problem stands for in expressions.

use crate::diagnostic::Result;
use crate::model::given::GivenField;
use crate::model::{Argument, Formula, Observation, Problem, Transform, Unknown, UnknownFunction, Variable};
use bilo_expr::{Expr, Function, Graph, Leaf, MultiIndex, Scope, Symbol, lower};
use std::collections::BTreeMap;

/// The name by which a state's form calls the network.
pub const NET: &str = "net";

/// The names of a problem as expressions of one graph.
#[derive(Clone)]
pub struct Names {
    /// Owns all expressions below.
    pub graph: Graph,
    /// The coordinates, in the problem's order.
    pub coordinates: Vec<Symbol>,
    /// The variables that the method moves, one per unknown, displayed under the unknown's name.
    pub eta: Vec<Symbol>,
    /// The unknowns as expressions of `eta`.
    pub theta: Vec<Expr>,
    /// The unknown functions, where they are opaque.
    pub functions: Vec<Function>,
    /// The given fields, as opaque functions of their coordinates.
    pub given: Vec<BoundField>,
    /// The extra inputs of networks, each a symbol that stands for its value.
    pub inputs: Vec<Symbol>,
    /// Coordinates, constants, unknowns and inputs by name; expressions are differentiated by coordinates,
    /// inputs and states that functions depend on.
    pub scope: Scope,
    /// The states as opaque functions, where they are.
    states: Vec<Function>,
    /// The states that functions depend on, by number, each with a symbol that stands for it: so that
    /// functions can be differentiated by it.
    arguments: BTreeMap<usize, Symbol>,
    /// Functions of states that wait for their states to be bound.
    waiting: Vec<Waiting>,
}

/// A given field and the function that stands for it in a graph.
#[derive(Clone)]
pub struct BoundField {
    /// Its inputs are the coordinates of the field.
    pub function: Function,
    /// The field.
    pub field: GivenField,
}

/// An expression of a symbol in whose place a state is to be put.
#[derive(Clone)]
struct Waiting {
    name: String,
    state: usize,
    symbol: Symbol,
    value: Expr,
}

impl Names {
    /// Coordinates, constants and unknowns, functions among them as opaque functions of their
    /// arguments; states are bound later, to whatever stands for them.
    pub fn new(problem: &Problem) -> Result<Names> {
        let mut names = Names::without_functions(problem)?;
        names.make_states(problem);
        for unknown in &problem.functions {
            let mut slots = vec![];
            for argument in &unknown.of {
                let symbol = match argument.variable {
                    Variable::Coordinate(c) => names.coordinates[c],
                    Variable::State(state) => {
                        let value = names.graph.value(names.states[state]);
                        names.argument(&argument.axis.name, state, value)
                    }
                };
                slots.push(names.graph.leaf(symbol));
            }
            let function = names.bind_function_of(&unknown.name, slots);
            names.functions.push(function);
        }
        Ok(names)
    }

    /// Coordinates, constants, scalar unknowns and inputs; unknown functions are bound later, like states.
    pub fn without_functions(problem: &Problem) -> Result<Names> {
        let mut names = Names::without_unknowns(problem);
        names.bind_scalars(problem);
        names.bind_inputs(problem)?;
        Ok(names)
    }

    /// [`Names::new`] with each unknown function replaced by a formula of its arguments, in their order.
    pub fn with_functions<'a>(
        problem: &Problem,
        formulas: impl IntoIterator<Item = &'a Formula>,
    ) -> Result<Names> {
        let mut names = Names::without_unknowns(problem);
        let mut values = vec![];
        for (unknown, formula) in problem.functions.iter().zip(formulas) {
            let arguments = names.arguments(unknown);
            let value = names.lower_within(unknown, &arguments, formula)?;
            values.push((arguments, value));
        }
        names.bind_scalars(problem);
        names.bind_inputs(problem)?;
        for (unknown, (arguments, value)) in problem.functions.iter().zip(values) {
            names.bind_value(unknown, &arguments, value);
        }
        Ok(names)
    }

    fn bind_scalars(&mut self, problem: &Problem) {
        for unknown in &problem.unknowns {
            let eta = self.graph.symbol(&unknown.name);
            let theta = theta_expr(unknown, eta, &mut self.graph);
            self.eta.push(eta);
            self.theta.push(theta);
            self.scope.bind(&unknown.name, theta);
        }
    }

    /// Inputs may not use each other, so all values are lowered before any input has a name.
    fn bind_inputs(&mut self, problem: &Problem) -> Result<()> {
        let values =
            problem.inputs.iter().map(|input| self.lower(&input.value)).collect::<Result<Vec<_>>>()?;
        for (input, value) in problem.inputs.iter().zip(values) {
            let symbol = self.graph.define(&input.name, value);
            let leaf = self.graph.leaf(symbol);
            self.scope.bind(&input.name, leaf);
            self.scope.variable(&input.name, symbol);
            self.inputs.push(symbol);
        }
        Ok(())
    }

    /// Coordinates, constants and given fields, and the scalar unknowns as numbers: all that a choice of points may
    /// use.
    pub(crate) fn with_scalars_at(problem: &Problem, theta: &[f64]) -> Names {
        let mut names = Names::without_unknowns(problem);
        for (unknown, &value) in problem.unknowns.iter().zip(theta) {
            let value = names.graph.constant(value);
            names.scope.bind(&unknown.name, value);
        }
        names
    }

    /// What makes networks or points move with unknowns outside the formulas of states: the values of the
    /// inputs, and the places that equations follow.
    pub fn moving(&mut self, problem: &Problem) -> Result<Vec<Expr>> {
        let inputs = problem.inputs.iter().map(|input| &input.value);
        let places = problem.equations.iter().flat_map(|equation| &equation.points.moving);
        inputs.chain(places.map(|(_, place)| place)).map(|formula| self.lower(formula)).collect()
    }

    fn bind_given(&mut self, problem: &Problem) {
        for field in &problem.given {
            let slots = field.of.iter().map(|&c| self.graph.leaf(self.coordinates[c])).collect();
            let function = self.bind_function_of(&field.name, slots);
            self.given.push(BoundField { function, field: field.clone() });
        }
    }

    /// The given field that an opaque function is, if it is one.
    pub fn given_field(&self, function: Function) -> Option<&GivenField> {
        self.given.iter().find(|bound| bound.function == function).map(|bound| &bound.field)
    }

    /// Coordinates, constants and given fields only.
    pub(crate) fn without_unknowns(problem: &Problem) -> Names {
        let mut graph = Graph::new();
        let mut scope = Scope::new();
        let mut coordinates = Vec::new();
        for coordinate in &problem.coordinates {
            let symbol = graph.symbol(&coordinate.name);
            let leaf = graph.leaf(symbol);
            scope.bind(&coordinate.name, leaf);
            scope.variable(&coordinate.name, symbol);
            coordinates.push(symbol);
        }
        let pairs = coordinates.iter().zip(&problem.coordinates);
        scope.space(pairs.filter(|(_, c)| !c.time).map(|(symbol, _)| *symbol).collect());
        for constant in &problem.constants {
            let value = graph.constant(constant.value);
            scope.bind(&constant.name, value);
        }
        let mut names = Names {
            graph,
            coordinates,
            eta: Vec::new(),
            theta: Vec::new(),
            functions: Vec::new(),
            given: Vec::new(),
            inputs: Vec::new(),
            scope,
            states: Vec::new(),
            arguments: BTreeMap::new(),
            waiting: Vec::new(),
        };
        names.bind_given(problem);
        names
    }

    /// Symbols of a function's arguments, by itself: its coordinates, or a new one in place of its state.
    pub fn arguments(&mut self, unknown: &UnknownFunction) -> Vec<Symbol> {
        let symbol = |argument: &Argument| match argument.variable {
            Variable::Coordinate(c) => self.coordinates[c],
            Variable::State(_) => self.graph.symbol(&argument.axis.name),
        };
        unknown.of.iter().map(symbol).collect()
    }

    /// A formula that is about a function's own arguments, as an expression of their symbols.
    pub fn lower_within(
        &mut self,
        unknown: &UnknownFunction,
        arguments: &[Symbol],
        formula: &Formula,
    ) -> Result<Expr> {
        let outside = self.scope.clone();
        for (argument, &symbol) in unknown.of.iter().zip(arguments) {
            let leaf = self.graph.leaf(symbol);
            self.scope.bind(&argument.axis.name, leaf);
        }
        let value = self.lower(formula);
        self.scope = outside;
        value
    }

    /// Binds a function to an expression of the symbols of its arguments; one of a state once that is
    /// bound.
    pub fn bind_value(&mut self, unknown: &UnknownFunction, arguments: &[Symbol], value: Expr) {
        match unknown.state() {
            None => self.scope.bind(&unknown.name, value),
            Some(state) => {
                let (name, symbol) = (unknown.name.clone(), arguments[0]);
                self.waiting.push(Waiting { name, state, symbol, value });
            }
        }
    }

    /// The symbol that stands for a state with this value.
    fn argument(&mut self, name: &str, state: usize, value: Expr) -> Symbol {
        *self.arguments.entry(state).or_insert_with(|| self.graph.define(name, value))
    }

    /// A formula as an expression, inputs and states replaced by their values; errors point into its text.
    pub fn lower(&mut self, formula: &Formula) -> Result<Expr> {
        let expression = self.lower_with_inputs(formula)?;
        Ok(self.without_inputs(expression))
    }

    /// The integrands of what is observed as expressions.
    pub fn lower_terms(&mut self, observation: &Observation) -> Result<Vec<Expr>> {
        observation.terms.iter().map(|term| self.lower(&term.integrand)).collect()
    }

    /// A formula as an expression in which inputs stand for themselves, so that it can be differentiated by
    /// them.
    pub fn lower_with_inputs(&mut self, formula: &Formula) -> Result<Expr> {
        lower(&formula.ast, &mut self.graph, &self.scope).map_err(|e| formula.error(e))
    }

    /// An expression with inputs, and states that functions depend on, replaced by their values.
    pub fn without_inputs(&mut self, expression: Expr) -> Expr {
        let nothing = self.inputs.is_empty() && self.arguments.is_empty();
        if nothing { expression } else { self.graph.expand_definitions(expression) }
    }

    /// Binds `name` to an opaque function of the coordinates and, after these, of the departures of inputs
    /// from their values. So `u_x`, a total derivative, is the leaf of its first slot, and `u_phi` that of
    /// its last.
    pub fn bind_opaque(&mut self, name: &str) -> Function {
        let slots = self.opaque_slots();
        self.bind_function_of(name, slots)
    }

    fn opaque_slots(&mut self) -> Vec<Expr> {
        let mut slots: Vec<Expr> = self.coordinates.iter().map(|&symbol| self.graph.leaf(symbol)).collect();
        for input in self.inputs.clone() {
            slots.push(self.departure(input));
        }
        slots
    }

    /// Whether a derivative of what [`Names::bind_opaque`] bound is one by an input.
    pub fn is_by_input(&self, index: &MultiIndex) -> bool {
        index.as_slice().iter().skip(self.coordinates.len()).any(|&order| order > 0)
    }

    /// The value of an opaque function as a leaf.
    pub fn value_leaf(&self, function: Function) -> Leaf {
        Leaf::Derivative(function, MultiIndex::zero(self.graph.function_inputs(function).len()))
    }

    /// phi minus its value: moves with phi and with nothing else.
    fn departure(&mut self, input: Symbol) -> Expr {
        let graph = &mut self.graph;
        let (phi, value) = (graph.leaf(input), graph.definition(input).expect("inputs are defined"));
        let difference = graph.sub(phi, value);
        let name = graph.symbol_name(input).to_owned();
        let departure = graph.define(&name, difference);
        graph.leaf(departure)
    }

    fn bind_function_of(&mut self, name: &str, inputs: Vec<Expr>) -> Function {
        let function = self.graph.function(name, inputs);
        let value = self.graph.value(function);
        self.scope.bind(name, value);
        function
    }

    /// Binds each state to an opaque function, so that `u_xx` is a leaf: what a solver that knows nothing
    /// of networks needs.
    pub fn bind_states_opaque(&mut self, problem: &Problem) -> Vec<Function> {
        self.make_states(problem);
        let states = self.states.clone();
        let values: Vec<Expr> = states.iter().map(|&state| self.graph.value(state)).collect();
        self.bind_states(problem, &values);
        states
    }

    /// Makes an opaque function of each state, without a name in formulas yet.
    fn make_states(&mut self, problem: &Problem) {
        for state in &problem.states[self.states.len()..] {
            let slots = self.opaque_slots();
            self.states.push(self.graph.function(&state.name, slots));
        }
    }

    /// Binds each state to what stands for it, and then the functions of states.
    pub fn bind_states(&mut self, problem: &Problem, values: &[Expr]) {
        for (number, (state, &value)) in problem.states.iter().zip(values).enumerate() {
            let is_argument = problem.functions.iter().any(|function| function.state() == Some(number));
            if !is_argument {
                self.scope.bind(&state.name, value);
                continue;
            }
            let symbol = self.argument(&state.name, number, value);
            let leaf = self.graph.leaf(symbol);
            self.scope.bind(&state.name, leaf);
            self.scope.variable(&state.name, symbol);
        }
        for Waiting { name, state, symbol, value } in std::mem::take(&mut self.waiting) {
            let argument = self.graph.leaf(self.arguments[&state]);
            let value = self.graph.substitute(value, &BTreeMap::from([(Leaf::Symbol(symbol), argument)]));
            self.scope.bind(&name, value);
        }
    }
}

/// An unknown as an expression of its variable eta.
fn theta_expr(unknown: &Unknown, eta: Symbol, graph: &mut Graph) -> Expr {
    let eta = graph.leaf(eta);
    let scale = graph.constant(unknown.scale);
    let bare = match unknown.transform {
        Transform::Identity => eta,
        Transform::Log => graph.unary(bilo_expr::Unary::Exp, eta),
    };
    graph.mul(scale, bare)
}
