//! A problem stated in Rust.

use crate::diagnostic::{Diagnostic, Origin, Result, suggest};
use crate::files::folder::Folder;
use crate::model::domain::{Constant, Coordinate};
use crate::model::likelihood::Likelihood;
use crate::model::observation::Sigma;
use crate::model::problem::Problem;
use crate::model::unknown::Unknown;
use crate::resolve::experiments::{Part, combine};
use crate::resolve::{Extent, resolve};
use crate::schema;
use crate::settings::Recipe;
use crate::tree::{Assignment, Table};
use crate::written::data::DataSpec;
use crate::written::function::FunctionSpec;
use crate::written::given::GivenSpec;
use crate::written::picture::PictureSpec;
use crate::written::points::{HeldAt, PointsSpec};
use crate::written::{ConditionSpec, EquationSpec, ObservationSpec, Said, StateSpec, Written};
use std::path::Path;

/// States a problem step by step; nothing is checked before [`ProblemBuilder::build`].
///
/// Parts of one kind keep the order in which they are stated; otherwise the order does not matter. Settings are those
/// of the problem file: `.set("train.rate=0.01")`, and `.set("train.paper.rate=1e-3")` for one recipe only.
///
/// ```
/// use bilo_problem::{Coordinate, DataSpec, PointsSpec, Problem, Unknown};
///
/// let problem = Problem::builder("decay")
///     .coordinate(Coordinate::time("t", 0.0, 1.0))
///     .unknown(Unknown::new("k", 1.0).truth(2.0))
///     .state("u", "1 + net*t")
///     .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 21)]))
///     .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.01))
///     .build()?;
/// assert_eq!(problem.unknowns[0].guess, 1.0);
/// # Ok::<(), bilo_problem::diagnostic::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProblemBuilder {
    written: Written,
    settings: Vec<String>,
    /// The first call that had nothing to be about.
    misplaced: Option<String>,
    /// What each experiment has for itself.
    experiments: Vec<(String, Written)>,
}

impl Problem {
    /// Begins a problem, with the fast recipe.
    pub fn builder(name: &str) -> ProblemBuilder {
        let written = Written { name: name.to_string(), ..Written::default() };
        ProblemBuilder { written, settings: vec![], misplaced: None, experiments: vec![] }
    }
}

impl ProblemBuilder {
    /// One line for people.
    pub fn about(mut self, about: &str) -> Self {
        self.written.about = about.to_string();
        self
    }

    /// Adds a coordinate.
    pub fn coordinate(mut self, coordinate: Coordinate) -> Self {
        self.written.coordinates.push(coordinate);
        self
    }

    /// Adds a named number.
    pub fn constant(mut self, name: &str, value: f64) -> Self {
        self.written.constants.push(Constant { name: name.to_string(), value });
        self
    }

    /// Adds a given field.
    pub fn given(mut self, field: GivenSpec) -> Self {
        self.written.given.push(field);
        self
    }

    /// Adds an unknown.
    pub fn unknown(mut self, unknown: Unknown) -> Self {
        self.written.unknowns.push(unknown);
        self
    }

    /// Adds an unknown function. With a function of a state the gradient is the exact one, unless stated.
    pub fn unknown_function(mut self, function: FunctionSpec) -> Self {
        self.written.functions.push(function);
        self
    }

    /// Adds a quantity that follows from the unknowns, an expression of them and of constants.
    pub fn derived(mut self, name: &str, value: &str) -> Self {
        self.written.derived.push((name.to_string(), value.to_string()));
        self
    }

    /// Adds an extra input of the networks, an expression of coordinates, constants and scalar unknowns.
    pub fn input(mut self, name: &str, value: &str) -> Self {
        self.written.inputs.push((name.to_string(), value.to_string()));
        self
    }

    /// Adds a state and its form, an expression of `net`, coordinates, constants and unknowns.
    pub fn state(self, name: &str, form: &str) -> Self {
        self.any_state(name, form, None)
    }

    /// Adds a state whose exact solution is known, an expression of coordinates, constants and unknowns.
    pub fn known_state(self, name: &str, form: &str, truth: &str) -> Self {
        self.any_state(name, form, Some(truth.to_string()))
    }

    fn any_state(mut self, name: &str, form: &str, truth: Option<String>) -> Self {
        let (name, form) = (name.to_string(), Some(form.to_string()));
        self.written.states.push(StateSpec { name, form, truth });
        self
    }

    /// Adds a residual that must vanish at points.
    pub fn equation(self, name: &str, residual: &str, points: PointsSpec) -> Self {
        self.weighted_equation(name, residual, points, 1.0)
    }

    /// Adds a residual with a weight in the lower-level loss.
    pub fn weighted_equation(mut self, name: &str, residual: &str, points: PointsSpec, weight: f64) -> Self {
        let (name, said) = (name.to_string(), Said::Residual(residual.to_string()));
        let points = Some(points);
        self.written.equations.push(EquationSpec {
            key: name.clone(),
            name,
            said,
            trained: None,
            points,
            weight: Some(weight),
        });
        self
    }

    /// Adds an equation `left = right` that holds all over the domain. What it differentiates are the states, unless
    /// states are stated.
    pub fn holds(mut self, name: &str, equation: &str) -> Self {
        let (name, said) = (name.to_string(), Said::Holds(equation.to_string()));
        self.written.equations.push(EquationSpec {
            key: name.clone(),
            name,
            said,
            trained: None,
            points: None,
            weight: None,
        });
        self
    }

    /// Adds an equation `left = right` that holds where a coordinate has a value: an initial, boundary or interior
    /// condition.
    pub fn condition(mut self, name: &str, (coordinate, place): (&str, f64), equation: &str) -> Self {
        let (name, holds) = (name.to_string(), equation.to_string());
        let at = vec![(coordinate.to_string(), HeldAt::Values(vec![place]))];
        self.written.conditions.push(ConditionSpec { name, at, holds, weight: None });
        self
    }

    /// What vanishes for the networks instead of the residual of the equation added last: that with a little
    /// viscosity, say.
    pub fn trained_as(mut self, residual: &str) -> Self {
        match self.written.equations.last_mut() {
            Some(equation) => equation.trained = Some(residual.to_string()),
            None => self.misplace("`trained_as` is about the equation added last, and there is none yet"),
        }
        self
    }

    /// Adds data of an expression of states, coordinates and unknowns.
    pub fn observation(self, name: &str, value: &str, data: DataSpec) -> Self {
        self.weighted_observation(name, value, data, 1.0)
    }

    /// Adds data whose log-likelihood is multiplied by a weight.
    pub fn weighted_observation(mut self, name: &str, value: &str, data: DataSpec, weight: f64) -> Self {
        let (name, value) = (name.to_string(), Some(value.to_string()));
        let (likelihood, sigma) = (Likelihood::Gaussian, Sigma::OfData);
        self.written.observations.push(ObservationSpec {
            name,
            value,
            data,
            likelihood,
            sigma,
            unit: None,
            weight,
        });
        self
    }

    /// How the data of the observation added last speak of what is observed; normal errors otherwise.
    pub fn likelihood(mut self, likelihood: Likelihood) -> Self {
        match self.written.observations.last_mut() {
            Some(observation) => observation.likelihood = likelihood,
            None => self.misplace("`likelihood` is about the observation added last, and there is none yet"),
        }
        self
    }

    /// How large the errors of the observation added last are; as its data say otherwise.
    pub fn sigma(mut self, sigma: Sigma) -> Self {
        match self.written.observations.last_mut() {
            Some(observation) => observation.sigma = sigma,
            None => self.misplace("`sigma` is about the observation added last, and there is none yet"),
        }
        self
    }

    fn misplace(&mut self, message: &str) {
        self.misplaced.get_or_insert_with(|| message.to_string());
    }

    /// Adds a picture of the result.
    pub fn picture(mut self, picture: PictureSpec) -> Self {
        self.written.pictures.push(picture);
        self
    }

    /// Adds an experiment: what is stated of `own` are its constants, its own unknown numbers, its conditions and its
    /// observations, in place of shared ones of the same name.
    ///
    /// ```
    /// use bilo_problem::{Coordinate, DataSpec, PointsSpec, Problem, Unknown};
    ///
    /// let doses = Problem::builder("doses")
    ///     .coordinate(Coordinate::time("t", 0.0, 1.0))
    ///     .unknown(Unknown::new("k", 1.0).truth(2.0))
    ///     .holds("decay", "u_t = -k*u")
    ///     .condition("start", ("t", 0.0), "u = dose")
    ///     .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.01))
    ///     .experiment("low", |own| own.constant("dose", 1.0))
    ///     .experiment("high", |own| own.constant("dose", 5.0))
    ///     .build()?;
    /// assert_eq!(doses.states[1].name, "u@high");
    /// # Ok::<(), bilo_problem::diagnostic::Error>(())
    /// ```
    pub fn experiment(mut self, name: &str, state: impl FnOnce(ProblemBuilder) -> ProblemBuilder) -> Self {
        let own = state(Problem::builder(name));
        self.misplaced = self.misplaced.or(own.misplaced);
        self.experiments.push((name.to_owned(), own.written));
        self
    }

    /// The recipe whose defaults hold.
    pub fn recipe(self, recipe: Recipe) -> Self {
        self.set(format!("train.recipe={}", recipe.name()))
    }

    /// States a setting as `--set` does: `train.rate=0.01`, `classical.cells=100`, `operator.modes={ x = 9 }`,
    /// `train.paper.rate=1e-3` for one recipe only. Of two that say the same the later holds.
    pub fn set(mut self, assignment: impl Into<String>) -> Self {
        self.settings.push(assignment.into());
        self
    }

    /// The problem, checked; files are found in the current folder.
    pub fn build(self) -> Result<Problem> {
        self.build_in(Path::new(""))
    }

    /// The problem, checked; files are found in `folder`.
    pub fn build_in<'a>(self, folder: impl Into<Folder<'a>>) -> Result<Problem> {
        if let Some(message) = self.misplaced {
            return Err(Diagnostic::new(message, Origin::none()).into());
        }
        let (settings, folder) = (settings_of(&self.settings)?, folder.into());
        let shared = Written { settings, ..self.written };
        if self.experiments.is_empty() {
            return resolve(shared, folder, Extent::Whole);
        }
        let mut parts = vec![];
        for (name, own) in self.experiments {
            let unknowns = own.unknowns.iter().map(|unknown| unknown.name.clone()).collect();
            let problem = resolve(shared.clone().with(own), folder, Extent::Part)?;
            parts.push(Part { name, problem, own: unknowns });
        }
        combine(parts)
    }
}

impl Written {
    /// With what an experiment has in place of shared parts of the same name.
    fn with(mut self, own: Written) -> Written {
        put(&mut self.constants, own.constants, |constant| &constant.name);
        put(&mut self.unknowns, own.unknowns, |unknown| &unknown.name);
        put(&mut self.conditions, own.conditions, |condition| &condition.name);
        put(&mut self.observations, own.observations, |observation| &observation.name);
        self
    }
}

/// Each in place of one with its name, or after all others.
fn put<T>(all: &mut Vec<T>, own: Vec<T>, name: fn(&T) -> &str) {
    for new in own {
        match all.iter_mut().find(|known| name(known) == name(&new)) {
            Some(known) => *known = new,
            None => all.push(new),
        }
    }
}

/// The tables of settings that assignments make.
fn settings_of(assignments: &[String]) -> Result<Table> {
    let mut settings = Table::default();
    for text in assignments {
        let table = Assignment::from(text).table("set")?;
        for entry in &table.entries {
            if !schema::SETTINGS.contains(&&entry.key[..]) {
                let message = format!("there is no table of settings `{}`", entry.key);
                let error = Diagnostic::new(message, entry.key_origin.clone());
                return Err(error.help(suggest(&entry.key, schema::SETTINGS)).into());
            }
        }
        settings.merge(table);
    }
    Ok(settings)
}
