//! A problem stated in Rust.

use crate::diagnostic::{Origin, Result};
use crate::dictionary::OperatorChoice;
use crate::learning::Learning;
use crate::likelihood::Likelihood;
use crate::model::observation::{Data, Observation, Table};
use crate::model::{
    Classical, Constant, Coordinate, Equation, Formula, GradientMode, Input, NetworkChoice, Problem, Recipe,
    State, Training, Transform, Unknown,
};
use crate::resolve::argument::Variables;
use crate::resolve::check;
use crate::resolve::given::GivenSpec;
use crate::tree::Places;
use crate::unknown_function::FunctionSpec;
use crate::written::points::{Ground, PointsSpec};

/// States a problem step by step; nothing is checked before [`ProblemBuilder::build`].
///
/// ```
/// use bilo::problem::{Coordinate, DataSpec, PointsSpec, Problem, Unknown};
///
/// let problem = Problem::builder("decay")
///     .coordinate(Coordinate::time("t", 0.0, 1.0))
///     .unknown(Unknown::new("k", 1.0).truth(2.0))
///     .state("u", "1 + net*t")
///     .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 21)]))
///     .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.01))
///     .build()?;
/// assert_eq!(problem.unknowns[0].guess, 1.0);
/// # Ok::<(), bilo::diagnostic::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProblemBuilder {
    /// What needs no work to be part of the problem.
    problem: Problem,
    given: Vec<GivenSpec>,
    functions: Vec<FunctionSpec>,
    /// Names and values.
    inputs: Vec<(String, String)>,
    states: Vec<StateSpec>,
    equations: Vec<EquationSpec>,
    observations: Vec<ObservationSpec>,
}

#[derive(Clone, Debug)]
struct StateSpec {
    name: String,
    form: String,
    truth: Option<String>,
}

#[derive(Clone, Debug)]
struct EquationSpec {
    name: String,
    residual: String,
    trained: Option<String>,
    points: PointsSpec,
    weight: f64,
}

#[derive(Clone, Debug)]
struct ObservationSpec {
    name: String,
    value: String,
    data: DataSpec,
    likelihood: Likelihood,
    weight: f64,
}

/// Observed values as a user states them.
#[derive(Clone, Debug)]
pub struct DataSpec(DataChoice);

#[derive(Clone, Debug)]
enum DataChoice {
    Synthetic(PointsSpec, f64),
    Drawn,
    Table(Table),
}

impl DataSpec {
    /// Made by the classical solver at the truth, with Gaussian noise of a standard deviation.
    pub fn synthetic(points: PointsSpec, noise: f64) -> DataSpec {
        DataSpec(DataChoice::Synthetic(points, noise))
    }

    /// Particles of a Poisson process, drawn at the truth.
    pub fn drawn() -> DataSpec {
        DataSpec(DataChoice::Drawn)
    }

    /// The values themselves.
    pub fn table(table: Table) -> DataSpec {
        DataSpec(DataChoice::Table(table))
    }
}

impl Problem {
    /// Begins a problem, with the fast recipe.
    pub fn builder(name: &str) -> ProblemBuilder {
        let (network, training) = Recipe::Fast.defaults();
        ProblemBuilder {
            problem: Problem {
                name: name.to_string(),
                about: String::new(),
                coordinates: Vec::new(),
                constants: Vec::new(),
                given: Vec::new(),
                unknowns: Vec::new(),
                functions: Vec::new(),
                inputs: Vec::new(),
                states: Vec::new(),
                equations: Vec::new(),
                observations: Vec::new(),
                pictures: Vec::new(),
                operator: OperatorChoice::of_recipe(Recipe::Fast),
                network,
                training,
                classical: Classical::over(&[]),
                learning: Learning::default(),
                neighbours: vec![],
            },
            given: Vec::new(),
            functions: Vec::new(),
            inputs: Vec::new(),
            states: Vec::new(),
            equations: Vec::new(),
            observations: Vec::new(),
        }
    }
}

impl ProblemBuilder {
    /// One line for people.
    pub fn about(mut self, about: &str) -> Self {
        self.problem.about = about.to_string();
        self
    }

    /// Adds a coordinate.
    pub fn coordinate(mut self, coordinate: Coordinate) -> Self {
        self.problem.coordinates.push(coordinate);
        self.problem.classical = Classical::over(&self.problem.coordinates);
        self
    }

    /// Adds a named number.
    pub fn constant(mut self, name: &str, value: f64) -> Self {
        self.problem.constants.push(Constant { name: name.to_string(), value });
        self
    }

    /// Adds a given field.
    pub fn given(mut self, field: GivenSpec) -> Self {
        self.given.push(field);
        self
    }

    /// Adds an unknown.
    pub fn unknown(mut self, unknown: Unknown) -> Self {
        self.problem.unknowns.push(unknown);
        self
    }

    /// Adds an unknown function. With a function of a state the gradient is the exact one.
    pub fn unknown_function(mut self, function: FunctionSpec) -> Self {
        self.functions.push(function);
        self.exact_for_states();
        self
    }

    /// Functions of states have the exact gradient only.
    fn exact_for_states(&mut self) {
        if self.functions.iter().any(FunctionSpec::is_of_state) {
            self.problem.training.gradient = GradientMode::Exact;
        }
    }

    /// Adds an extra input of the networks, an expression of coordinates, constants and scalar unknowns.
    pub fn input(mut self, name: &str, value: &str) -> Self {
        self.inputs.push((name.to_string(), value.to_string()));
        self
    }

    /// Adds a state and its form, an expression of `net`, coordinates, constants and unknowns.
    pub fn state(mut self, name: &str, form: &str) -> Self {
        self.states.push(StateSpec { name: name.to_string(), form: form.to_string(), truth: None });
        self
    }

    /// Adds a state whose exact solution is known, an expression of coordinates, constants and unknowns.
    pub fn known_state(mut self, name: &str, form: &str, truth: &str) -> Self {
        let truth = Some(truth.to_string());
        self.states.push(StateSpec { name: name.to_string(), form: form.to_string(), truth });
        self
    }

    /// Adds a residual that must vanish at points.
    pub fn equation(self, name: &str, residual: &str, points: PointsSpec) -> Self {
        self.weighted_equation(name, residual, points, 1.0)
    }

    /// Adds a residual with a weight in the lower-level loss.
    pub fn weighted_equation(mut self, name: &str, residual: &str, points: PointsSpec, weight: f64) -> Self {
        let (name, residual) = (name.to_string(), residual.to_string());
        self.equations.push(EquationSpec { name, residual, trained: None, points, weight });
        self
    }

    /// What vanishes for the networks instead of the residual of the equation added last: the same with a
    /// little viscosity, say.
    pub fn trained_as(mut self, residual: &str) -> Self {
        if let Some(equation) = self.equations.last_mut() {
            equation.trained = Some(residual.to_string());
        }
        self
    }

    /// Adds data of an expression of states, coordinates and unknowns.
    pub fn observation(self, name: &str, value: &str, data: DataSpec) -> Self {
        self.weighted_observation(name, value, data, 1.0)
    }

    /// Adds data with a weight in the upper-level loss.
    pub fn weighted_observation(mut self, name: &str, value: &str, data: DataSpec, weight: f64) -> Self {
        let (name, value) = (name.to_string(), value.to_string());
        let likelihood = Likelihood::Gaussian;
        self.observations.push(ObservationSpec { name, value, data, likelihood, weight });
        self
    }

    /// How the data of the observation added last speak of what is observed; normal errors otherwise.
    pub fn likelihood(mut self, likelihood: Likelihood) -> Self {
        if let Some(observation) = self.observations.last_mut() {
            observation.likelihood = likelihood;
        }
        self
    }

    /// Starts from a recipe's network and training.
    pub fn recipe(mut self, recipe: Recipe) -> Self {
        (self.problem.network, self.problem.training) = recipe.defaults();
        self.problem.operator = OperatorChoice::of_recipe(recipe);
        self.exact_for_states();
        self
    }

    /// Changes what stands for the solution.
    pub fn operator(mut self, change: impl FnOnce(&mut OperatorChoice)) -> Self {
        change(&mut self.problem.operator);
        self
    }

    /// Changes the network.
    pub fn network(mut self, change: impl FnOnce(&mut NetworkChoice)) -> Self {
        change(&mut self.problem.network);
        self
    }

    /// Changes the training.
    pub fn training(mut self, change: impl FnOnce(&mut Training)) -> Self {
        change(&mut self.problem.training);
        self
    }

    /// Changes how the reference solver solves; to be said after all coordinates.
    pub fn classical(mut self, change: impl FnOnce(&mut Classical)) -> Self {
        change(&mut self.problem.classical);
        self
    }

    /// Changes what neural operators learn from, and how.
    pub fn learning(mut self, change: impl FnOnce(&mut Learning)) -> Self {
        change(&mut self.problem.learning);
        self
    }

    /// The problem, checked.
    pub fn build(self) -> Result<Problem> {
        let mut problem = self.problem;
        let places = Places::default();
        problem.given = GivenSpec::resolve(self.given, &problem.coordinates, &problem.constants)?;
        let states: Vec<&str> = self.states.iter().map(|state| state.name.as_str()).collect();
        for function in self.functions {
            let variables = Variables { coordinates: &problem.coordinates, states: &states };
            problem.functions.push(function.resolve(variables, problem.training.recipe)?);
        }
        for (name, value) in self.inputs {
            let value = formula(&format!("input.{name}.value"), &value)?;
            problem.inputs.push(Input { name, value });
        }
        problem.operator = problem.operator.completed(problem.coordinates.len(), problem.inputs.len());
        for StateSpec { name, form, truth } in self.states {
            let form = formula(&format!("state.{name}.form"), &form)?;
            let truth = truth.map(|truth| formula(&format!("state.{name}.truth"), &truth)).transpose()?;
            problem.states.push(State { name, form, truth });
        }
        let ground = Ground {
            coordinates: &problem.coordinates,
            constants: &problem.constants,
            unknowns: &problem.unknowns,
        };
        for equation in self.equations {
            let path = format!("equation.{}", equation.name);
            problem.equations.push(Equation {
                residual: formula(&format!("{path}.residual"), &equation.residual)?,
                trained: (equation.trained.as_deref())
                    .map(|trained| formula(&format!("{path}.trained"), trained))
                    .transpose()?,
                points: equation.points.resolve(ground, &format!("{path}.points"), &places)?,
                name: equation.name,
                weight: equation.weight,
            });
        }
        for observation in self.observations {
            let path = format!("observation.{}", observation.name);
            let data = match observation.data.0 {
                DataChoice::Table(table) => Data::Table(table),
                DataChoice::Drawn => Data::Drawn,
                DataChoice::Synthetic(points, noise) => {
                    let path = format!("{path}.data.synthetic");
                    let points = points.resolve(ground, &path, &places)?;
                    Data::Synthetic { points, noise, made: None }
                }
            };
            problem.observations.push(Observation {
                value: formula(&format!("{path}.value"), &observation.value)?,
                data,
                name: observation.name,
                likelihood: observation.likelihood,
                weight: observation.weight,
            });
        }
        check::check(&problem, &places)?;
        Ok(problem)
    }
}

/// Parses a formula under the name that errors call it by.
fn formula(path: &str, text: &str) -> Result<Formula> {
    Formula::parse(text, Origin::text(path, text))
}

impl Coordinate {
    /// A space coordinate.
    pub fn space(name: &str, lo: f64, hi: f64) -> Coordinate {
        Coordinate { name: name.to_string(), lo, hi, time: false, periodic: false }
    }

    /// The time.
    pub fn time(name: &str, lo: f64, hi: f64) -> Coordinate {
        Coordinate { time: true, ..Coordinate::space(name, lo, hi) }
    }

    /// Makes the two ends the same point.
    pub fn periodic(self) -> Coordinate {
        Coordinate { periodic: true, ..self }
    }
}

impl Unknown {
    /// An unknown and where the search starts.
    pub fn new(name: &str, guess: f64) -> Unknown {
        Unknown {
            name: name.to_string(),
            guess,
            truth: None,
            bounds: None,
            scale: 1.0,
            transform: Transform::Identity,
            rate: None,
            unit: None,
        }
    }

    /// Its true value.
    pub fn truth(self, truth: f64) -> Unknown {
        Unknown { truth: Some(truth), ..self }
    }

    /// Values it may not leave.
    pub fn bounds(self, lo: f64, hi: f64) -> Unknown {
        Unknown { bounds: Some((lo, hi)), ..self }
    }

    /// Its typical size.
    pub fn scale(self, scale: f64) -> Unknown {
        Unknown { scale, ..self }
    }

    /// Moves its logarithm, so that it stays positive.
    pub fn log(self) -> Unknown {
        Unknown { transform: Transform::Log, ..self }
    }

    /// Its own learning rate.
    pub fn rate(self, rate: f64) -> Unknown {
        Unknown { rate: Some(rate), ..self }
    }

    /// Its unit, for people.
    pub fn unit(self, unit: &str) -> Unknown {
        Unknown { unit: Some(unit.to_string()), ..self }
    }
}
