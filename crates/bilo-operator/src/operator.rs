//! The local operator of a problem: which networks there are, what their inputs are, and every
//! formula of the problem in terms of them.

mod dictionary;
mod functions;
mod reduced;

pub use dictionary::Size;
pub use functions::{Basis, FunctionInputs};
pub use reduced::ReducedBasis;

use crate::state::OperatorState;
use bilo_expr::{Expr, Function, Graph, Leaf, Symbol, Unary};
use bilo_fit::sensitivities::Sensitivities;
use bilo_jet::{
    BoundNetwork, Device, FieldProgram, Fourier, Network, NetworkSpec, Operator, PointSource, ProgramError,
};
use bilo_problem::diagnostic::{Diagnostic, Origin, Result};
use bilo_problem::given_columns::GivenColumns;
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::{Equation, NET, Names, NetworkChoice, Points, Problem};

/// A problem in terms of its networks: states are their forms, derivatives total derivatives through
/// them.
///
/// Unknown functions are inputs of the states' networks too: see [`FunctionInputs`].
pub struct LocalOperator {
    /// Names and graph, with every state bound to its form.
    pub names: Names,
    /// The networks, those of unknown functions first; columns are the coordinates, unknowns the
    /// scalars, then those of the functions.
    pub operator: Operator,
    /// The unknown functions.
    pub functions: FunctionInputs,
    /// The states.
    pub states: Vec<Expr>,
    /// The residuals of the equations.
    pub residuals: Vec<Expr>,
    /// The observed quantities.
    pub observed: Vec<Vec<Expr>>,
    /// Symbol of an observed value.
    pub datum: Symbol,
    /// Symbol of its standard deviation.
    pub sigma: Symbol,
    /// Whether it is a dictionary whose features live in few places each.
    pub(crate) is_local: bool,
    /// Whether it is a dictionary that was reduced.
    pub(crate) is_reduced: bool,
}

/// The matrices that weights consist of, as [`Network::shapes`] tells them.
#[derive(Clone, Debug, Default)]
pub struct WeightShapes {
    /// Those of the weights V of unknown functions.
    pub functions: Vec<(usize, usize)>,
    /// Those of the weights W of states.
    pub states: Vec<(usize, usize)>,
}

impl WeightShapes {
    /// Number of weights V of the unknown functions; they stand before the weights W of the states.
    pub fn function_weights(&self) -> usize {
        self.functions.iter().map(|(columns, rows)| columns * rows).sum()
    }
}

impl LocalOperator {
    /// Binds the networks and lowers all formulas.
    pub fn new(problem: &Problem, seed: u64) -> Result<Self> {
        let mut names = Names::without_functions(problem)?;
        let functions = FunctionInputs::new(problem, &mut names, seed)?;
        Self::with_networks(problem, names, functions, seed)
    }

    /// The operator of a problem with a dictionary in place of the states' networks.
    pub fn dictionary(problem: &Problem, size: &Size, seed: u64) -> Result<Self> {
        let mut names = Names::without_functions(problem)?;
        let functions = FunctionInputs::new(problem, &mut names, seed)?;
        let (networks, nets) = dictionary::bind(problem, &mut names, size, seed, None)?;
        Self::assemble(problem, names, functions, networks, nets)
    }

    /// The operator of a problem of numbers with a dictionary of some combinations of the features of a larger one.
    pub fn reduced(problem: &Problem, size: &Size, seed: u64, basis: &ReducedBasis) -> Result<Self> {
        let mut names = Names::without_functions(problem)?;
        let (networks, nets) = dictionary::bind(problem, &mut names, size, seed, Some(basis))?;
        let operator = Self::assemble(problem, names, FunctionInputs::default(), networks, nets)?;
        Ok(Self { is_local: false, is_reduced: true, ..operator })
    }

    /// The operator of a problem with every unknown function known to be its guess: what can be said of residuals before
    /// functions have networks that mean anything. A guess that is no formula has no derivatives; then
    /// functions are networks here too.
    pub fn at_guess(problem: &Problem) -> Result<Self> {
        let formulas: Option<Vec<_>> =
            problem.functions.iter().map(|unknown| unknown.guess.formula()).collect();
        let Some(formulas) = formulas else { return Self::new(problem, 0) };
        let names = Names::with_functions(problem, formulas)?;
        Self::with_networks(problem, names, FunctionInputs::default(), 0)
    }

    /// The operator of a problem with networks of the coordinates alone, as physics-informed networks are: one solution, which knows
    /// nothing of unknowns.
    pub fn without_parameters(problem: &Problem, seed: u64) -> Result<Self> {
        let mut names = Names::without_functions(problem)?;
        let functions = FunctionInputs::new(problem, &mut names, seed)?;
        Self::with_inputs(problem, names, functions, &Inputs::default(), seed)
    }

    fn with_networks(problem: &Problem, names: Names, functions: FunctionInputs, seed: u64) -> Result<Self> {
        let inputs = unknowns_of_the_pde(problem)?;
        Self::with_inputs(problem, names, functions, &inputs, seed)
    }

    fn with_inputs(
        problem: &Problem,
        mut names: Names,
        functions: FunctionInputs,
        inputs: &Inputs,
        seed: u64,
    ) -> Result<Self> {
        let networks = bind_states(problem, &mut names, inputs, &functions, seed);
        let outputs = networks.iter().flat_map(|bound| bound.outputs.clone());
        let nets = outputs.map(|output| names.graph.value(output)).collect();
        Self::assemble(problem, names, functions, networks, nets)
    }

    /// With what stands for `net` in the form of each state.
    fn assemble(
        problem: &Problem,
        mut names: Names,
        functions: FunctionInputs,
        of_states: Vec<BoundNetwork>,
        nets: Vec<Expr>,
    ) -> Result<Self> {
        let networks = [functions.networks.clone(), of_states].concat();
        let mut forms = vec![];
        for (state, net) in problem.states.iter().zip(nets) {
            names.scope.bind(NET, net);
            forms.push(names.lower_with_inputs(&state.form)?);
        }
        names.bind_states(problem, &forms);
        let states = forms.into_iter().map(|form| names.without_inputs(form)).collect();
        let residuals =
            problem.equations.iter().map(|e| names.lower(e.of_networks())).collect::<Result<_>>()?;
        let mut observed = vec![];
        for observation in &problem.observations {
            observed.push(names.lower_terms(observation)?);
        }
        let (datum, sigma) = (names.graph.symbol("data"), names.graph.symbol("sigma"));
        let columns = names.coordinates.clone();
        let unknowns = [names.eta.clone(), functions.unknowns()].concat();
        let operator = Operator { networks, columns, unknowns, held: Default::default() };
        let is_local = operator.networks.iter().any(|bound| dictionary::is_local(&bound.network));
        let is_reduced = false;
        Ok(Self {
            names,
            operator,
            functions,
            states,
            residuals,
            observed,
            datum,
            sigma,
            is_local,
            is_reduced,
        })
    }

    /// The operator at points some of whose coordinates follow unknowns.
    pub fn following(&mut self, points: &Points) -> Result<Operator> {
        let mut operator = self.operator.clone();
        for (coordinate, place) in &points.moving {
            operator.held.insert(self.names.coordinates[*coordinate], self.names.lower(place)?);
        }
        Ok(operator)
    }

    /// The operator with data and sigma among the columns.
    pub fn with_data_columns(&self) -> Operator {
        with_columns(self.operator.clone(), &[self.datum, self.sigma])
    }

    /// The operator for an unknown function by itself: the state that it may depend on is a column after
    /// the coordinates.
    pub fn for_function(&self, function: usize) -> Operator {
        let mut own = self.functions.arguments[function].clone();
        own.retain(|symbol| !self.operator.columns.contains(symbol));
        with_columns(self.operator.clone(), &own)
    }

    /// The networks of one function, with data and sigma among the columns.
    pub fn for_function_with_data(&self, function: usize) -> Operator {
        with_columns(self.for_function(function), &[self.datum, self.sigma])
    }

    /// Expressions at points, whose first columns are the coordinates, by the networks with these weights;
    /// first derivatives by unknowns are allowed.
    pub fn evaluate(
        &mut self,
        device: &mut dyn Device,
        expressions: &[Expr],
        points: PointSource,
        point: &OperatorState,
        origin: &Origin,
    ) -> Result<Vec<Vec<f64>>> {
        let mut expressions = expressions.to_vec();
        let unknowns = self.unknowns(&point.eta);
        let given = GivenColumns::replace(&mut self.names, &self.operator, &mut expressions, origin)?;
        let graph = &mut self.names.graph;
        let program = FieldProgram::new(graph, &given.operator, &expressions)
            .map_err(|error| program_error(graph, &error, origin))?;
        Ok(device.evaluate(&program, given.at(points), &point.weights, &unknowns, &[])?)
    }

    /// An expression at points with its total derivatives along the first so many unknowns, the weights moving
    /// with them as the point says.
    pub(crate) fn evaluate_along(
        &mut self,
        device: &mut dyn Device,
        expression: Expr,
        along: usize,
        points: PointSource,
        point: &OperatorState,
        origin: &Origin,
    ) -> Result<Sensitivities> {
        let mut expressions = [expression];
        let unknowns = self.unknowns(&point.eta);
        let given = GivenColumns::replace(&mut self.names, &self.operator, &mut expressions, origin)?;
        let graph = &mut self.names.graph;
        let along: Vec<usize> = (0..along).collect();
        if self.is_local && point.slopes.len() == along.len() {
            let program = FieldProgram::linearised(graph, &given.operator, &expressions, &along)
                .map_err(|error| program_error(graph, &error, origin))?;
            return along_slopes(device, &program, given.at(points), point, &unknowns);
        }
        let program = FieldProgram::along(graph, &given.operator, &expressions, &along)
            .map_err(|error| program_error(graph, &error, origin))?;
        let mut columns =
            device.evaluate(&program, given.at(points), &point.weights, &unknowns, &point.slopes)?;
        let slopes = columns.split_off(1);
        Ok(Sensitivities { values: columns.swap_remove(0), slopes })
    }

    /// Initial weights of all networks.
    pub fn initial_weights(&self, seed: u64) -> Vec<f64> {
        let (functions, states): (Vec<_>, Vec<_>) =
            self.operator.networks.iter().partition(|bound| bound.given);
        let draw = |purpose: Purpose, networks: Vec<&BoundNetwork>| -> Vec<f64> {
            let each = networks.into_iter().enumerate();
            each.flat_map(|(n, bound)| bound.network.initial_weights(seed_for(seed, purpose, n))).collect()
        };
        [draw(Purpose::FunctionWeights, functions), draw(Purpose::Weights, states)].concat()
    }

    /// The matrices that V and W consist of.
    pub fn shapes(&self) -> WeightShapes {
        let shapes = |given: bool| {
            let networks = self.operator.networks.iter().filter(move |bound| bound.given == given);
            networks.flat_map(|bound| bound.network.shapes()).collect()
        };
        WeightShapes { functions: shapes(true), states: shapes(false) }
    }

    /// The unknowns of the device: the variables eta, and the shifts of functions, which are zero.
    pub fn unknowns(&self, eta: &[f64]) -> Vec<f64> {
        with_shifts(eta, self.operator.unknowns.len())
    }

    /// Learning rates of all that the upper level moves: the variables eta, then the weights V.
    pub fn upper_rates(&self, problem: &Problem) -> Vec<f64> {
        let rate = |own: Option<f64>| own.unwrap_or(problem.training.theta_rate);
        let mut rates: Vec<f64> = problem.unknowns.iter().map(|unknown| rate(unknown.rate)).collect();
        let functions = problem.functions.iter().zip(self.functions.moved());
        functions.for_each(|(function, count)| rates.resize(rates.len() + count, rate(function.rate)));
        rates
    }
}

/// A linearised value with its derivatives along all unknowns, by a dictionary whose features live in few places: few
/// of the slopes of the weights meet at a point.
fn along_slopes(
    device: &mut dyn Device,
    program: &FieldProgram,
    points: PointSource,
    point: &OperatorState,
    unknowns: &[f64],
) -> Result<Sensitivities> {
    let features = program.frame.local_features(&points, unknowns).expect("it is such a dictionary");
    let mut columns = device.evaluate(program, points, &point.weights, unknowns, &[])?;
    let mut slopes = columns.split_off(1 + program.frame.slots.len());
    let rows = features.rows(&columns[1..]);
    for (slope, through) in slopes.iter_mut().zip(rows.times(&point.slopes)) {
        slope.iter_mut().zip(through).for_each(|(slope, through)| *slope += through);
    }
    Ok(Sensitivities { values: columns.swap_remove(0), slopes })
}

fn with_columns(mut operator: Operator, more: &[Symbol]) -> Operator {
    operator.columns.extend(more);
    operator
}

/// The variables eta, and after them the shifts of functions, which are zero: so many unknowns of the device.
pub(crate) fn with_shifts(eta: &[f64], unknowns: usize) -> Vec<f64> {
    let mut all = eta.to_vec();
    all.resize(unknowns, 0.0);
    all
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
        ProgramError::Feed => {
            "networks take unknown functions of coordinates that are not periodic".to_owned()
        }
    };
    Diagnostic::new(message, origin.clone()).help("derivatives up to sixth order are carried")
}

/// The unknowns that equations, forms of states, inputs or places of equations use: only these are inputs of
/// the states' networks.
#[derive(Default)]
struct Inputs {
    scalars: Vec<usize>,
    functions: Vec<usize>,
}

fn unknowns_of_the_pde(problem: &Problem) -> Result<Inputs> {
    let mut names = Names::new(problem)?;
    names.bind_states_opaque(problem);
    names.bind_opaque(NET);
    let mut formulas = vec![];
    for formula in
        problem.states.iter().map(|s| &s.form).chain(problem.equations.iter().map(Equation::of_networks))
    {
        formulas.push(names.lower(formula)?);
    }
    formulas.extend(names.moving(problem)?);
    let leaves = names.graph.leaves(&formulas);
    let occurs = |function: Function| {
        leaves.iter().any(|leaf| matches!(leaf, Leaf::Derivative(f, _) if *f == function))
    };
    Ok(Inputs {
        scalars: (0..names.eta.len()).filter(|&j| leaves.contains(&Leaf::Symbol(names.eta[j]))).collect(),
        functions: (0..names.functions.len()).filter(|&k| occurs(names.functions[k])).collect(),
    })
}

fn network_spec(
    choice: &NetworkChoice,
    coordinates: usize,
    parameters: usize,
    outputs: usize,
) -> NetworkSpec {
    NetworkSpec {
        coordinates,
        parameters,
        outputs,
        width: choice.width,
        layers: choice.layers,
        activation: choice.activation,
        fourier: choice.fourier.map(|(features, scale)| Fourier { features, scale }),
        residual: choice.residual,
        modified: choice.modified,
    }
}

fn bind_states(
    problem: &Problem,
    names: &mut Names,
    used: &Inputs,
    functions: &FunctionInputs,
    seed: u64,
) -> Vec<BoundNetwork> {
    let mut coordinates: Vec<Expr> =
        (0..problem.coordinates.len()).flat_map(|c| coordinate_input(problem, names, c)).collect();
    coordinates.extend(names.inputs.iter().map(|&input| names.graph.leaf(input)));
    let scalars = used.scalars.iter().map(|&unknown| (unknown, names.eta[unknown]));
    let of_functions = functions.parameters(problem.unknowns.len(), &used.functions);
    let all: Vec<(usize, Symbol)> = scalars.chain(of_functions).collect();
    let mut inputs = coordinates.clone();
    inputs.extend(all.iter().map(|&(_, symbol)| names.graph.leaf(symbol)));
    let parameters: Vec<usize> = all.iter().map(|&(unknown, _)| unknown).collect();
    let fed = functions.fed(used.scalars.len(), &used.functions);
    let choice = &problem.network;
    let groups: Vec<Vec<usize>> = if choice.separate {
        (0..problem.states.len()).map(|state| vec![state]).collect()
    } else {
        vec![(0..problem.states.len()).collect()]
    };
    let bind = |(number, states): (usize, Vec<usize>)| {
        let name = |state: &usize| match problem.states.len() {
            1 => NET.to_owned(),
            _ => format!("{NET}_{}", problem.states[*state].name),
        };
        let outputs = states.iter().map(|state| names.graph.function(&name(state), inputs.clone())).collect();
        let spec = network_spec(choice, coordinates.len(), parameters.len(), states.len());
        let network = Network::new(spec, seed_for(seed, Purpose::Features, number));
        BoundNetwork { fed: fed.clone(), ..BoundNetwork::new(network, outputs, parameters.clone()) }
    };
    groups.into_iter().enumerate().map(bind).collect()
}

/// A coordinate scaled to [0, 1]; a periodic one as sine and cosine, so that every network is periodic.
fn coordinate_input(problem: &Problem, names: &mut Names, number: usize) -> Vec<Expr> {
    let (coordinate, symbol) = (&problem.coordinates[number], names.coordinates[number]);
    let graph = &mut names.graph;
    let unit = unit_interval(graph, symbol, coordinate.lo, coordinate.hi);
    if !coordinate.periodic {
        return vec![unit];
    }
    let turn = graph.constant(std::f64::consts::TAU);
    let angle = graph.mul(turn, unit);
    vec![graph.unary(Unary::Sin, angle), graph.unary(Unary::Cos, angle)]
}

fn unit_interval(graph: &mut Graph, symbol: Symbol, lo: f64, hi: f64) -> Expr {
    let x = graph.leaf(symbol);
    let (lo, width) = (graph.constant(lo), graph.constant(hi - lo));
    let shifted = graph.sub(x, lo);
    graph.div(shifted, width)
}
