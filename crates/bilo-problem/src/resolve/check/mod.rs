//! Everything that must hold in a problem, whether it comes from a file or from the builder.

mod function;
mod input;
mod neighbour;
mod observation;
mod points;
mod scheme;

use crate::diagnostic::{Diagnostic, Result};
use crate::evaluate::input::InputValues;
use crate::evaluate::names::{NET, Names};
use crate::model::domain::check_columns;
use crate::model::observation::Table;
use crate::model::problem::Problem;
use crate::model::unknown::{Transform, Unknown};
use crate::resolve::Extent;
use crate::resolve::data_file::{SIGMA, finite, not_positive};
use crate::settings::{Basis, Classical, DictionaryChoice, MOST_CELLS, MOST_EXAMPLES, WeightOptimiser};
use crate::text::is_made_of;
use crate::tree::Places;
use bilo_expr::{Expr, Function, Graph, Leaf, RESERVED, Symbol};
use std::collections::BTreeMap;

/// Checks a problem; `places` tells where its parts were written.
pub(crate) fn check(problem: &Problem, places: &Places, extent: Extent) -> Result<()> {
    let check = Check { problem, places };
    check.presence()?;
    check.names()?;
    check.coordinates()?;
    input::refuse_functions(problem)?;
    input::refuse_given_fields(problem)?;
    InputValues::new(problem)?;
    for unknown in &problem.unknowns {
        check.unknown(unknown)?;
    }
    for function in &problem.functions {
        check.function(function)?;
    }
    for equation in &problem.equations {
        let condition = problem.conditions.iter().any(|condition| condition.name == equation.name);
        let kind = if condition { "condition" } else { "equation" };
        check.not_negative(&format!("{kind}.{}.weight", equation.name), equation.weight)?;
        check.places_at_truth(equation)?;
    }
    for observation in &problem.observations {
        check.observation(observation)?;
    }
    check.dictionary()?;
    check.training()?;
    check.classical()?;
    check.sampling()?;
    check.learning()?;
    check.neighbours()?;
    check.derived()?;
    check.formulas(extent)?;
    check.scheme()
}

pub(crate) struct Check<'a> {
    pub(crate) problem: &'a Problem,
    places: &'a Places,
}

impl Check<'_> {
    /// Fails with `message` at a path unless `holds`.
    pub(crate) fn demand(&self, holds: bool, path: &str, message: impl FnOnce() -> String) -> Result<()> {
        if holds { Ok(()) } else { Err(self.error(path, message()).into()) }
    }

    pub(crate) fn error(&self, path: &str, message: String) -> Diagnostic {
        self.places.error(path, message)
    }

    pub(crate) fn number(&self, path: &str, value: f64, holds: bool, what: &str) -> Result<()> {
        let key = path.rsplit('.').next().unwrap_or(path);
        let fine = value.is_finite() && holds;
        self.demand(fine, path, || format!("`{key}` must be {what}, found {value:?}"))
    }

    pub(crate) fn finite(&self, path: &str, value: f64) -> Result<()> {
        self.number(path, value, true, "a finite number")
    }

    pub(crate) fn positive(&self, path: &str, value: f64) -> Result<()> {
        self.number(path, value, value > 0.0, "positive")
    }

    pub(crate) fn not_negative(&self, path: &str, value: f64) -> Result<()> {
        self.number(path, value, value >= 0.0, "zero or positive")
    }

    pub(crate) fn count(&self, path: &str, value: usize, least: usize, most: usize) -> Result<()> {
        let key = path.rsplit('.').next().unwrap_or(path);
        let fine = (least..=most).contains(&value);
        self.demand(fine, path, || format!("`{key}` must be from {least} to {most}, found {value}"))
    }

    fn presence(&self) -> Result<()> {
        let p = self.problem;
        let kinds = [
            ("coordinate", "[coordinates]", p.coordinates.is_empty()),
            ("unknown", "[unknown.NAME]", p.unknowns.is_empty() && p.functions.is_empty()),
            ("state", "[state.NAME]", p.states.is_empty()),
            ("equation", "[equation.NAME]", p.equations.is_empty()),
            ("observation", "[observation.NAME]", p.observations.is_empty()),
        ];
        for (kind, table, absent) in kinds {
            if absent {
                let error = self.error("name", format!("the problem has no {kind}"));
                return Err(error.help(format!("add a table `{table}`")).into());
            }
        }
        Ok(())
    }

    fn names(&self) -> Result<()> {
        self.demand(is_file_name(&self.problem.name), "name", || {
            format!("`{}` cannot name a folder: use letters, digits, `-`, `_` and `.`", self.problem.name)
        })?;
        let mut taken = BTreeMap::new();
        for (kind, name) in self.all_names() {
            let path = format!("{kind}.{name}");
            if let Some(fault) = self.name_fault(kind, name) {
                return Err(self.places.error_at_key(&path, fault).into());
            }
            if let Some(first) = taken.insert((namespace(kind), name), kind) {
                let (kind, first) = (singular(kind), singular(first));
                let article = if first.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                let message = format!("the name `{name}` of this {kind} is taken by {article} {first}");
                let help = "names in expressions are unique, and so are those of equations and conditions";
                return Err(self.places.error_at_key(&path, message).help(help).into());
            }
        }
        Ok(())
    }

    fn all_names(&self) -> Vec<(&'static str, &str)> {
        let p = self.problem;
        let mut names: Vec<(&'static str, &str)> = Vec::new();
        names.extend(p.coordinates.iter().map(|c| ("coordinates", c.name.as_str())));
        names.extend(p.constants.iter().map(|c| ("constants", c.name.as_str())));
        names.extend(p.given.iter().map(|g| ("given", g.name.as_str())));
        names.extend(p.unknowns.iter().map(|u| ("unknown", u.name.as_str())));
        names.extend(p.functions.iter().map(|f| ("unknown", f.name.as_str())));
        names.extend(p.derived.iter().map(|d| ("derived", d.name.as_str())));
        names.extend(p.inputs.iter().map(|i| ("input", i.name.as_str())));
        names.extend(p.states.iter().map(|s| ("state", s.name.as_str())));
        let condition = |name: &str| p.conditions.iter().any(|c| c.name == name);
        let equations = p.equations.iter().filter(|e| !condition(&e.name));
        names.extend(equations.map(|e| ("equation", e.name.as_str())));
        names.extend(p.conditions.iter().map(|c| ("condition", c.name.as_str())));
        names.extend(p.observations.iter().map(|o| ("observation", o.name.as_str())));
        names.extend(p.pictures.iter().map(|p| ("picture", p.name.as_str())));
        names
    }

    /// Why a name cannot be used, if it cannot. Equations, observations and pictures are not
    /// named in expressions, so their names are freer.
    fn name_fault(&self, kind: &str, name: &str) -> Option<String> {
        let in_expressions = namespace(kind) == "expression";
        let start = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || (c == '-' && !in_expressions);
        if !start || !name.chars().all(fits) {
            return Some(format!("`{name}` is not a name: use letters, digits and `_`, a letter first"));
        }
        if !in_expressions {
            return None;
        }
        if RESERVED.contains(&name) || name == NET {
            let meaning = match name {
                "e" => "the number 2.718...",
                "pi" => "the number 3.141...",
                "d" => "the derivative, as in `d(u, x)`",
                "and" | "or" | "not" => "a word of conditions",
                NET => "what a form is made of",
                _ => "a function",
            };
            return Some(format!("the name `{name}` is reserved: it is {meaning}"));
        }
        let state = self.as_derivative(name)?;
        Some(format!("the name `{name}` reads as a derivative of `{state}`"))
    }

    /// The state, unknown function or given field that a name such as `u_xt` is a derivative of.
    fn as_derivative(&self, name: &str) -> Option<&str> {
        let coordinates = self.problem.coordinates.iter().map(|c| c.name.as_str());
        let arguments = self.problem.functions.iter().flat_map(|f| f.argument_names());
        let inputs = self.problem.inputs.iter().map(|i| i.name.as_str());
        let variables: Vec<&str> = coordinates.chain(inputs).chain(arguments).collect();
        let functions = self.problem.functions.iter().map(|f| f.name.as_str());
        let given = self.problem.given.iter().map(|g| g.name.as_str());
        let states = self.problem.states.iter().map(|s| s.name.as_str()).chain(functions).chain(given);
        let suffix = |state: &str| name.strip_prefix(state).and_then(|rest| rest.strip_prefix('_'));
        let mut states = states.filter(|state| suffix(state).is_some_and(|s| is_made_of(s, &variables)));
        states.next()
    }

    fn coordinates(&self) -> Result<()> {
        let mut time = None;
        for c in &self.problem.coordinates {
            let path = format!("coordinates.{}", c.name);
            self.finite(&path, c.lo)?;
            self.finite(&path, c.hi)?;
            self.demand(c.lo < c.hi, &path, || {
                format!("the range of `{}` must go upwards, found [{:?}, {:?}]", c.name, c.lo, c.hi)
            })?;
            self.demand(!(c.time && c.periodic), &path, || {
                format!("the time `{}` cannot be periodic", c.name)
            })?;
            let first = if c.time { time.replace(&c.name) } else { None };
            if let Some(first) = first {
                let message = format!("`{}` is a second time, after `{first}`", c.name);
                return Err(self.error(&path, message).into());
            }
        }
        for constant in &self.problem.constants {
            self.finite(&format!("constants.{}", constant.name), constant.value)?;
        }
        Ok(())
    }

    fn unknown(&self, u: &Unknown) -> Result<()> {
        let path = |key: &str| format!("unknown.{}.{key}", u.name);
        self.finite(&path("guess"), u.guess)?;
        self.positive(&path("scale"), u.scale)?;
        if let Some(rate) = u.rate {
            self.positive(&path("rate"), rate)?;
        }
        let values = [("guess", Some(u.guess)), ("truth", u.truth)];
        for (key, value) in values.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            self.finite(&path(key), value)?;
            if u.transform == Transform::Log {
                self.number(&path(key), value, value > 0.0, "positive under `transform = \"log\"`")?;
            }
            if let Some(prior) = u.prior {
                let message = || format!("the guess {:?} is where the prior has no density", u.guess);
                self.demand(prior.at(u.guess).value.is_finite(), &path("prior"), message)?;
            }
            if let Some((lo, hi)) = u.bounds {
                let message = || format!("the range of `bounds` must go upwards, found [{lo:?}, {hi:?}]");
                self.demand(lo < hi, &path("bounds"), message)?;
                let inside = (lo..=hi).contains(&value);
                let message = || format!("`{key}` = {value:?} is outside the bounds [{lo:?}, {hi:?}]");
                self.demand(inside, &path(key), message)?;
            }
        }
        Ok(())
    }

    /// What is said at a path needs the truth of every unknown.
    pub(crate) fn truths(&self, path: &str, what: &str) -> Result<()> {
        let numbers = self.problem.unknowns.iter().filter(|u| u.truth.is_none()).map(|u| &u.name);
        let functions = self.problem.functions.iter().filter(|f| f.truth.is_none()).map(|f| &f.name);
        match numbers.chain(functions).next() {
            None => Ok(()),
            Some(unknown) => {
                let message = format!("{what} the truth of every unknown, `{unknown}` has none");
                let error = self.error(path, message);
                Err(error.help(format!("add `truth = ...` to [unknown.{unknown}]")).into())
            }
        }
    }

    pub(crate) fn table(&self, path: &str, table: &Table) -> Result<()> {
        let why = table_fault(table, self.problem);
        why.map_or(Ok(()), |why| Err(self.error(&format!("{path}.data"), why).into()))
    }

    /// A spline lives on four cells.
    fn dictionary(&self) -> Result<()> {
        let DictionaryChoice { basis, modes, .. } = &self.problem.operator.dictionary;
        for (coordinate, modes) in self.problem.coordinates.iter().zip(modes) {
            if let (Basis::Splines, Some(modes)) = (basis, modes) {
                self.count(&format!("operator.modes.{}", coordinate.name), *modes, 4, 256)?;
            }
        }
        Ok(())
    }

    fn classical(&self) -> Result<()> {
        let Classical { cells, .. } = &self.problem.classical;
        let all = cells.iter().fold(1usize, |all, &cells| all.saturating_mul(cells));
        self.demand(all <= MOST_CELLS, "classical.cells", || {
            format!("there must be at most {MOST_CELLS} cells in all, found {all}")
        })
    }

    fn sampling(&self) -> Result<()> {
        let acceptance = self.problem.sampling.acceptance;
        self.demand(acceptance < 1.0, "sample.acceptance", || {
            format!("a probability below one is needed, found {acceptance:?}")
        })
    }

    /// What is asked of the reference solver's scheme can be had.
    fn scheme(&self) -> Result<()> {
        match scheme::scheme_fault(self.problem)? {
            None => Ok(()),
            Some((key, why)) => Err(self.error(&format!("classical.{key}"), why).into()),
        }
    }

    fn training(&self) -> Result<()> {
        let renewed = self.problem.equations.iter().any(|equation| equation.points.renewal.is_some());
        let lbfgs = self.problem.training.optimiser == WeightOptimiser::Lbfgs;
        self.demand(!(renewed && lbfgs), "train.optimiser", || {
            "`lbfgs` needs a loss that stands still, and points are drawn afresh: choose `adam` or `soap`"
                .to_owned()
        })
    }

    /// There are examples, and not too many.
    fn learning(&self) -> Result<()> {
        let Some(examples) = &self.problem.learning.examples else { return Ok(()) };
        self.count("examples", examples.size(), 2, MOST_EXAMPLES)
    }

    /// What follows from the unknowns follows from nothing else, and has a value at the guess.
    fn derived(&self) -> Result<()> {
        for derived in &self.problem.derived {
            let thetas: Vec<f64> = self.problem.unknowns.iter().map(|unknown| unknown.guess).collect();
            let (value, _) = derived.at(self.problem, &thetas)?;
            self.demand(value.is_finite(), &format!("derived.{}", derived.name), || {
                format!("`{}` has no value at the guess", derived.name)
            })?;
        }
        Ok(())
    }

    /// Every formula has a meaning in its scope, and everything declared is used.
    fn formulas(&self, extent: Extent) -> Result<()> {
        let problem = self.problem;
        let mut names = Names::new(problem)?;
        names.bind_states_opaque(problem);
        // Before the forms that are made of them, so that errors point at what was written.
        problem.conditions.iter().try_for_each(|condition| names.lower(&condition.holds).map(drop))?;
        let mut in_forms = Names::new(problem)?;
        self.state_truths(&mut in_forms)?;
        let enrichments = &problem.operator.dictionary.enrich;
        enrichments.iter().try_for_each(|function| in_forms.lower(function).map(drop))?;
        let net = in_forms.bind_opaque(NET);
        let mut forms = Vec::new();
        for state in &problem.states {
            let form = in_forms.lower(&state.form)?;
            self.demand(
                depends_on(&in_forms.graph, &[form], net),
                &format!("state.{}.form", state.name),
                || format!("the form of `{}` does not use the network, `net`", state.name),
            )?;
            self.no_function_of_state(&in_forms, form, &format!("state.{}.form", state.name))?;
            forms.push(form);
        }
        let mut names = Names::new(problem)?;
        let states = names.bind_states_opaque(problem);
        let residuals =
            problem.equations.iter().map(|e| names.lower(&e.residual)).collect::<Result<Vec<_>>>()?;
        problem.equations.iter().try_for_each(|e| names.lower(e.of_networks()).map(drop))?;
        let mut values = vec![];
        for observation in &problem.observations {
            values.extend(names.lower_terms(observation)?);
        }
        problem.pictures.iter().try_for_each(|picture| picture.check_formulas(problem, &mut names))?;
        for (number, &residual) in residuals.iter().enumerate() {
            self.given_at_fixed_points(&names, number, residual)?;
        }
        for (state, function) in problem.states.iter().zip(states) {
            self.demand(
                depends_on(&names.graph, &residuals, function),
                &format!("state.{}", state.name),
                || format!("no equation is about the state `{}`", state.name),
            )?;
        }
        let all = [residuals, values, names.moving(problem)?].concat();
        for (i, unknown) in problem.unknowns.iter().enumerate() {
            let used =
                uses(&in_forms.graph, &forms, in_forms.eta[i]) || uses(&names.graph, &all, names.eta[i]);
            self.demand(used || extent == Extent::Part, &format!("unknown.{}", unknown.name), || {
                format!("the unknown `{}` occurs in no equation, form or observation", unknown.name)
            })?;
        }
        for (i, function) in problem.functions.iter().enumerate() {
            let used = depends_on(&in_forms.graph, &forms, in_forms.functions[i])
                || depends_on(&names.graph, &all, names.functions[i]);
            self.demand(used, &format!("unknown.{}", function.name), || {
                format!("the unknown `{}` occurs in no equation, form or observation", function.name)
            })?;
        }
        self.filters()
    }

    /// What makes a state cannot use functions of states.
    fn no_function_of_state(&self, names: &Names, value: Expr, path: &str) -> Result<()> {
        for (function, &opaque) in self.problem.functions.iter().zip(&names.functions) {
            let used = function.state().is_some() && depends_on(&names.graph, &[value], opaque);
            self.demand(!used, path, || {
                format!(
                    "`{}`, a function of a state, can stand in equations and observations only",
                    function.name
                )
            })?;
        }
        Ok(())
    }

    /// Exact solutions are formulas of coordinates, constants and unknowns.
    fn state_truths(&self, names: &mut Names) -> Result<()> {
        for state in &self.problem.states {
            if let Some(truth) = &state.truth {
                let value = names.lower(truth)?;
                self.no_function_of_state(names, value, &format!("state.{}.truth", state.name))?;
                self.truths(&format!("state.{}.truth", state.name), "the truth of a state needs")?;
            }
        }
        Ok(())
    }
}

fn singular(kind: &str) -> &str {
    kind.strip_suffix('s').unwrap_or(kind)
}

fn is_file_name(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && !name.starts_with(['.', '-']) && name.chars().all(fits)
}

/// Kinds whose names must differ from each other. Expressions name neither equations nor data: both may be called as the
/// state that they are about.
fn namespace(kind: &str) -> &str {
    match kind {
        "equation" | "condition" => "equation",
        "observation" | "picture" => kind,
        _ => "expression",
    }
}

fn table_fault(table: &Table, problem: &Problem) -> Option<String> {
    if let Err(why) = check_columns(&table.coordinates, &problem.coordinates) {
        return Some(why);
    }
    let rows = table.coordinates.first().map_or(0, Vec::len);
    let lengths = [Some(table.values.len()), table.sigma.as_ref().map(Vec::len)];
    if let Some(other) = lengths.into_iter().flatten().find(|n| *n != rows) {
        return Some(format!("there are {rows} points and {other} values"));
    }
    let bad_value = table.values.iter().find_map(|v| finite("value", *v));
    bad_value.or_else(|| table.sigma.iter().flatten().find_map(|s| not_positive(SIGMA, *s)))
}

fn depends_on(graph: &Graph, exprs: &[Expr], function: Function) -> bool {
    let leaves = graph.leaves(exprs);
    leaves.iter().any(|leaf| matches!(leaf, Leaf::Derivative(f, _) if *f == function))
}

fn uses(graph: &Graph, exprs: &[Expr], symbol: Symbol) -> bool {
    graph.leaves(exprs).contains(&Leaf::Symbol(symbol))
}
