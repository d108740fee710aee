//! The local operator of a problem: which networks there are, what their inputs are, and every
//! formula of the problem in terms of them.

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::problem::{NET, Names, Problem};
use crate::seeds::{Purpose, seed_for};
use bilo_expr::{Expr, Graph, Leaf, Symbol, Unary};
use bilo_jet::{BoundNetwork, Fourier, Network, NetworkSpec, Operator, ProgramError};

/// A problem in terms of its networks: states are their forms, derivatives total derivatives through
/// them.
pub struct LocalOperator {
    /// Names and graph, with every state bound to its form.
    pub names: Names,
    /// The networks; columns are the coordinates.
    pub operator: Operator,
    /// The states.
    pub states: Vec<Expr>,
    /// The residuals of the equations.
    pub residuals: Vec<Expr>,
    /// The observed quantities.
    pub observed: Vec<Expr>,
    /// Symbol of an observed value.
    pub datum: Symbol,
    /// Symbol of its standard deviation.
    pub sigma: Symbol,
}

impl LocalOperator {
    /// Binds the networks and lowers all formulas.
    pub fn new(problem: &Problem, seed: u64) -> Result<Self> {
        let inputs = unknowns_of_the_pde(problem)?;
        let mut names = Names::with_functions(problem, |function| &function.guess)?;
        let networks = bind_networks(problem, &mut names, &inputs, seed);
        let outputs: Vec<_> = networks.iter().flat_map(|bound| bound.outputs.clone()).collect();
        let mut forms = vec![];
        for (state, output) in problem.states.iter().zip(outputs) {
            let net = names.graph.value(output);
            names.scope.bind(NET, net);
            forms.push(names.lower_with_inputs(&state.form)?);
        }
        for (state, &form) in problem.states.iter().zip(&forms) {
            names.scope.bind(&state.name, form);
        }
        let states = forms.into_iter().map(|form| names.without_inputs(form)).collect();
        let residuals = problem.equations.iter().map(|e| names.lower(&e.residual)).collect::<Result<_>>()?;
        let observed = problem.observations.iter().map(|o| names.lower(&o.value)).collect::<Result<_>>()?;
        let (datum, sigma) = (names.graph.symbol("data"), names.graph.symbol("sigma"));
        let (columns, unknowns) = (names.coordinates.clone(), names.eta.clone());
        Ok(Self {
            names,
            operator: Operator { networks, columns, unknowns },
            states,
            residuals,
            observed,
            datum,
            sigma,
        })
    }

    /// The operator with data and sigma among the columns.
    pub fn with_data_columns(&self) -> Operator {
        let mut operator = self.operator.clone();
        operator.columns.extend([self.datum, self.sigma]);
        operator
    }

    /// Initial weights of all networks.
    pub fn initial_weights(&self, seed: u64) -> Vec<f64> {
        let networks = self.operator.networks.iter().enumerate();
        networks
            .flat_map(|(number, bound)| {
                bound.network.initial_weights(seed_for(seed, Purpose::Weights, number))
            })
            .collect()
    }
}

/// A device cannot carry what a formula asks for.
pub(crate) fn program_error(graph: &mut Graph, error: &ProgramError, origin: &Origin) -> Diagnostic {
    let mut show = |leaf: &Leaf| {
        let expression = match leaf {
            Leaf::Symbol(symbol) => graph.leaf(*symbol),
            Leaf::Derivative(function, index) => graph.derivative(*function, index.clone()),
        };
        graph.display(expression).to_string()
    };
    let message = match error {
        ProgramError::Unbound(leaf) => format!("`{}` has no value here", show(leaf)),
        ProgramError::Order(leaf) => format!("`{}` is of too high an order for networks", show(leaf)),
    };
    Diagnostic::new(message, origin.clone()).help("derivatives up to sixth order are carried")
}

/// The unknowns that equations or forms use: only these are inputs of the networks.
fn unknowns_of_the_pde(problem: &Problem) -> Result<Vec<usize>> {
    let mut names = Names::new(problem)?;
    names.bind_states_opaque(problem);
    names.bind_opaque(NET);
    let mut formulas = vec![];
    for formula in problem
        .states
        .iter()
        .map(|s| &s.form)
        .chain(problem.equations.iter().map(|equation| &equation.residual))
    {
        formulas.push(names.lower(formula)?);
    }
    let leaves = names.graph.leaves(&formulas);
    Ok((0..names.eta.len()).filter(|&j| leaves.contains(&Leaf::Symbol(names.eta[j]))).collect())
}

fn bind_networks(problem: &Problem, names: &mut Names, parameters: &[usize], seed: u64) -> Vec<BoundNetwork> {
    let mut coordinates = coordinate_inputs(problem, names);
    coordinates.extend(names.inputs.iter().map(|&input| names.graph.leaf(input)));
    let mut inputs = coordinates.clone();
    inputs.extend(parameters.iter().map(|&unknown| names.graph.leaf(names.eta[unknown])));
    let choice = &problem.network;
    let groups: Vec<Vec<usize>> = if choice.separate {
        (0..problem.states.len()).map(|state| vec![state]).collect()
    } else {
        vec![(0..problem.states.len()).collect()]
    };
    let bind = |(number, states): (usize, Vec<usize>)| {
        let spec = NetworkSpec {
            coordinates: coordinates.len(),
            parameters: parameters.len(),
            outputs: states.len(),
            width: choice.width,
            layers: choice.layers,
            activation: choice.activation,
            fourier: choice.fourier.map(|(features, scale)| Fourier { features, scale }),
            residual: choice.residual,
            modified: choice.modified,
        };
        let name = |state: &usize| match problem.states.len() {
            1 => NET.to_owned(),
            _ => format!("{NET}_{}", problem.states[*state].name),
        };
        BoundNetwork {
            network: Network::new(spec, seed_for(seed, Purpose::Features, number)),
            outputs: states.iter().map(|state| names.graph.function(&name(state), inputs.clone())).collect(),
            parameters: parameters.to_vec(),
        }
    };
    groups.into_iter().enumerate().map(bind).collect()
}

/// Each coordinate scaled to [0, 1]; a periodic one as sine and cosine, so that every network is
/// periodic.
fn coordinate_inputs(problem: &Problem, names: &mut Names) -> Vec<Expr> {
    let mut inputs = vec![];
    for (coordinate, &symbol) in problem.coordinates.iter().zip(&names.coordinates) {
        let graph = &mut names.graph;
        let unit = unit_interval(graph, symbol, coordinate.lo, coordinate.hi);
        if coordinate.periodic {
            let turn = graph.constant(std::f64::consts::TAU);
            let angle = graph.mul(turn, unit);
            inputs.push(graph.unary(Unary::Sin, angle));
            inputs.push(graph.unary(Unary::Cos, angle));
        } else {
            inputs.push(unit);
        }
    }
    inputs
}

fn unit_interval(graph: &mut Graph, symbol: Symbol, lo: f64, hi: f64) -> Expr {
    let x = graph.leaf(symbol);
    let (lo, width) = (graph.constant(lo), graph.constant(hi - lo));
    let shifted = graph.sub(x, lo);
    graph.div(shifted, width)
}
