//! What every name of a problem stands for in expressions.

use super::model::{Formula, Problem, Transform, Unknown};
use crate::diagnostic::Result;
use bilo_expr::{Expr, Function, Graph, Leaf, MultiIndex, Scope, Symbol, lower};

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
    /// The extra inputs of networks, each a symbol that stands for its value.
    pub inputs: Vec<Symbol>,
    /// Coordinates, constants, unknowns and inputs by name; expressions are differentiated by coordinates
    /// and inputs.
    pub scope: Scope,
}

impl Names {
    /// Coordinates, constants and unknowns, functions among them as opaque functions of their
    /// coordinates; states are bound later, to whatever stands for them.
    pub fn new(problem: &Problem) -> Result<Names> {
        let mut names = Names::without_functions(problem)?;
        for unknown in &problem.functions {
            let function = names.bind_function(&unknown.name, &unknown.of);
            names.functions.push(function);
        }
        Ok(names)
    }

    /// Coordinates, constants, scalar unknowns and inputs; unknown functions are bound later, like states.
    pub(crate) fn without_functions(problem: &Problem) -> Result<Names> {
        let mut names = Names::without_unknowns(problem);
        names.bind_scalars(problem);
        names.bind_inputs(problem)?;
        Ok(names)
    }

    /// The same with each unknown function replaced by a formula of its coordinates, in their order.
    pub(crate) fn with_functions<'a>(
        problem: &Problem,
        formulas: impl IntoIterator<Item = &'a Formula>,
    ) -> Result<Names> {
        let mut names = Names::without_unknowns(problem);
        let values = formulas.into_iter().map(|formula| names.lower(formula)).collect::<Result<Vec<_>>>()?;
        names.bind_scalars(problem);
        names.bind_inputs(problem)?;
        for (unknown, value) in problem.functions.iter().zip(values) {
            names.scope.bind(&unknown.name, value);
        }
        Ok(names)
    }

    fn bind_scalars(&mut self, problem: &Problem) {
        for unknown in &problem.unknowns {
            let eta = self.graph.symbol(&unknown.name);
            let theta = unknown.theta_expr(eta, &mut self.graph);
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

    /// Coordinates and constants only: all that a choice of points may use.
    pub(super) fn without_unknowns(problem: &Problem) -> Names {
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
        Names {
            graph,
            coordinates,
            eta: Vec::new(),
            theta: Vec::new(),
            functions: Vec::new(),
            inputs: Vec::new(),
            scope,
        }
    }

    /// A formula as an expression, inputs replaced by their values; errors point into its text.
    pub fn lower(&mut self, formula: &Formula) -> Result<Expr> {
        let expression = self.lower_with_inputs(formula)?;
        Ok(self.without_inputs(expression))
    }

    /// A formula as an expression in which inputs stand for themselves, so that it can be differentiated by
    /// them.
    pub fn lower_with_inputs(&mut self, formula: &Formula) -> Result<Expr> {
        lower(&formula.ast, &mut self.graph, &self.scope).map_err(|e| formula.error(e))
    }

    /// An expression with inputs replaced by their values.
    pub fn without_inputs(&mut self, expression: Expr) -> Expr {
        if self.inputs.is_empty() { expression } else { self.graph.expand_definitions(expression) }
    }

    /// Binds `name` to an opaque function of the coordinates and, after these, of the departures of inputs
    /// from their values. So `u_x`, a total derivative, is the leaf of its first slot, and `u_phi` that of
    /// its last.
    pub fn bind_opaque(&mut self, name: &str) -> Function {
        let mut slots: Vec<Expr> = self.coordinates.iter().map(|&symbol| self.graph.leaf(symbol)).collect();
        for input in self.inputs.clone() {
            slots.push(self.departure(input));
        }
        self.bind_function_of(name, slots)
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

    /// Binds `name` to an opaque function of some coordinates.
    fn bind_function(&mut self, name: &str, of: &[usize]) -> Function {
        let slots = of.iter().map(|&c| self.graph.leaf(self.coordinates[c])).collect();
        self.bind_function_of(name, slots)
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
        problem.states.iter().map(|state| self.bind_opaque(&state.name)).collect()
    }
}

impl Unknown {
    /// The variable eta of a value theta.
    pub fn eta_of(&self, theta: f64) -> f64 {
        match self.transform {
            Transform::Identity => theta / self.scale,
            Transform::Log => (theta / self.scale).ln(),
        }
    }

    /// The value theta of a variable eta.
    pub fn theta_of(&self, eta: f64) -> f64 {
        match self.transform {
            Transform::Identity => self.scale * eta,
            Transform::Log => self.scale * eta.exp(),
        }
    }

    /// d theta / d eta at a variable eta.
    pub fn theta_slope(&self, eta: f64) -> f64 {
        match self.transform {
            Transform::Identity => self.scale,
            Transform::Log => self.theta_of(eta),
        }
    }

    /// The nearest variable whose value lies within the unknown's bounds.
    pub fn project(&self, eta: f64) -> f64 {
        match self.bounds {
            Some((lo, _)) if self.theta_of(eta) < lo => self.eta_of(lo),
            Some((_, hi)) if self.theta_of(eta) > hi => self.eta_of(hi),
            _ => eta,
        }
    }

    fn theta_expr(&self, eta: Symbol, graph: &mut Graph) -> Expr {
        let eta = graph.leaf(eta);
        let scale = graph.constant(self.scale);
        let bare = match self.transform {
            Transform::Identity => eta,
            Transform::Log => graph.unary(bilo_expr::Unary::Exp, eta),
        };
        graph.mul(scale, bare)
    }
}
