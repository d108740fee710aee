//! `bilo check`: the problem as understood, and what can be found wrong with it before training.

mod corners;
mod describe;
mod reach;
mod truth;

use crate::identify::{Identifiability, identifiability};
use bilo_operator::finite::{HostProgram, require_finite};
use bilo_operator::operator::LocalOperator;
use bilo_problem::diagnostic::{Result, list};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::{Data, Names, Problem, UnknownFunction};
use bilo_reference::solver::{ReferenceSolver, definitions};
use corners::Corners;
use reach::Reach;

/// The problem as understood.
#[derive(Clone, Debug, Default)]
pub struct Examination {
    /// Headings with their lines.
    pub sections: Vec<(String, Vec<String>)>,
    /// What deserves attention.
    pub warnings: Vec<String>,
}

/// Examines a problem: what the residuals become, what the network carries, which unknown reaches
/// which data, whether some residual cannot vanish, whether the stated truth satisfies the problem,
/// whether the data can identify the unknowns.
///
/// An equation or a form that the stated truth violates is an error.
pub fn examine(problem: &Problem) -> Result<Examination> {
    let mut examination = Examination::default();
    let operator = LocalOperator::new(problem, 0)?;
    let reach = Reach::new(problem)?;
    examination.section("Coordinates", describe::coordinates(problem));
    if !problem.given.is_empty() {
        examination.section("Given fields", describe::given(problem));
    }
    if !problem.inputs.is_empty() {
        examination.section("Inputs", describe::inputs(problem));
    }
    let local = examination.equations(problem, &mut LocalOperator::at_guess(problem)?)?;
    examination.section("Unknowns", describe::unknowns(problem, &reach));
    examination.warnings.extend(problem.remarks.iter().cloned());
    examination.warnings.extend(reach.warnings());
    examination.section("Observations", describe::observations(problem));
    if !problem.derived.is_empty() {
        examination.section("Derived", describe::derived(problem));
    }
    examination.truth(problem)?;
    examination.section("Local operator", [describe::states(problem), local].concat());
    examination.section("Network", describe::network(problem, &operator));
    examination.reference(problem, &reach)?;
    if let Some(examples) = &problem.learning.examples {
        examination.section("Examples", describe::examples(problem, examples));
    }
    Ok(examination)
}

impl Examination {
    fn section(&mut self, heading: &str, lines: Vec<String>) {
        self.sections.push((heading.to_owned(), lines));
    }

    /// Equations and conditions as they are stated; what is returned is said of the points of each.
    fn equations(&mut self, problem: &Problem, operator: &mut LocalOperator) -> Result<Vec<String>> {
        let mut names = Names::new(&problem.with_unknowns_as_stated())?;
        names.bind_states_opaque(problem);
        let (mut sections, mut local) = ([vec![], describe::held_by_forms(problem)], vec![]);
        for (number, equation) in problem.equations.iter().enumerate() {
            let condition = problem.conditions.iter().find(|condition| condition.name == equation.name);
            let residual = names.lower(&equation.residual)?;
            sections[usize::from(condition.is_some())].push(match condition {
                Some(condition) => describe::condition(problem, condition),
                None => describe::equation(problem, equation, &names.graph.display(residual).to_string()),
            });
            let points = equation.points.source(problem, seed_for(0, Purpose::EquationPoints, number))?;
            let residual = operator.residuals[number];
            let origin = &equation.of_networks().origin;
            let there = operator.following(&equation.points)?;
            let host = HostProgram::new(&mut operator.names, &there, &[residual], origin)?;
            local.push(format!(
                "{}: {}; carries {}",
                equation.name,
                describe::points(problem, equation, points.len()),
                describe::carried(problem, &host.program.frame)
            ));
            if let Some(trained) = &equation.trained {
                let trained = names.lower(trained)?;
                local.push(format!("    for the networks 0 = {}", names.graph.display(trained)));
            }
            require_finite(problem, &[equation], &host, &points)?;
            match corners::corners(problem, equation, &host, &points)? {
                Corners::None => {}
                Corners::Inside(warning) => self.warnings.push(warning),
                Corners::LeftOut(line) => local.push(format!("    {line}")),
            }
        }
        let [equations, conditions] = sections;
        self.section("Equations", equations);
        if !conditions.is_empty() {
            self.section("Conditions", conditions);
        }
        self.warnings.extend(corners::contradictions(problem, operator)?);
        Ok(local)
    }

    fn truth(&mut self, problem: &Problem) -> Result<()> {
        if let Some(found) = truth::verdicts(problem)? {
            self.section("Stated truth", found.lines);
            self.warnings.extend(found.warnings);
        } else if problem.states.iter().any(|state| state.truth.is_some()) {
            let no_formula = |f: &&UnknownFunction| f.truth.as_ref().is_some_and(|t| t.formula().is_none());
            let names = problem.functions.iter().filter(no_formula).map(|f| f.name.as_str());
            let why = format!("not checked: the truth of {} is no formula", list(names));
            self.section("Stated truth", vec![why]);
        }
        Ok(())
    }

    fn reference(&mut self, problem: &Problem, reach: &Reach) -> Result<()> {
        let reference = match ReferenceSolver::new(problem) {
            Ok(reference) => reference,
            // Without the reference solver there are no synthetic data: what a run would refuse, so does the check.
            Err(error) if problem.observations.iter().any(|o| !matches!(o.data, Data::Table(_))) => {
                return Err(error);
            }
            Err(error) => {
                self.section("Reference solver", vec!["none".to_owned()]);
                self.warnings.push(format!("no reference solver: {}", error.headline()));
                return Ok(());
            }
        };
        let defined = definitions(&problem.with_unknowns_as_stated())?;
        self.section(
            "Reference solver",
            std::iter::once(reference.describe()).chain(put_in(&defined)).collect(),
        );
        // Of functions the data always leave something undetermined: that is what regularisers are for.
        if problem.unknowns.is_empty() {
            return Ok(());
        }
        match identifiability(problem)? {
            Ok(found) => self.identifiability(problem, reach, &found),
            Err(reason) => self.warnings.push(format!("identifiability not examined: {reason}")),
        }
        Ok(())
    }

    fn identifiability(&mut self, problem: &Problem, reach: &Reach, found: &Identifiability) {
        let mut lines = vec![format!(
            "singular values of d observation/d log unknown at the {}: {}",
            found.at,
            found.singular_values.iter().map(|value| format!("{value:.3e}")).collect::<Vec<_>>().join(", ")
        )];
        if let Some(noise) = &found.noise {
            for ((unknown, &deviation), &value) in
                problem.unknowns.iter().zip(&found.relative_deviation).zip(&found.theta)
            {
                let best = match deviation {
                    d if d.is_infinite() => "not determined by the data".to_owned(),
                    d if value == 0.0 => format!("standard deviation {d:.2e} at best with {noise}"),
                    d => format!("standard deviation {:.2} % at best with {noise}", 100.0 * d),
                };
                lines.push(format!("{}: {best}", unknown.name));
            }
        }
        lines.extend(found.misfits.iter().cloned());
        let new = found.unseen.iter().filter(|&&unknown| reach.is_observed(unknown));
        self.warnings.extend(new.map(|&unknown| found.unseen_warning(problem, unknown)));
        self.warnings.extend(found.warnings.iter().cloned());
        self.section("Identifiability", lines);
    }
}

/// `p = -A*u_x and q = -A*u_y are put into the other equations`
fn put_in(defined: &[String]) -> Option<String> {
    let (last, first) = defined.split_last()?;
    Some(match first {
        [] => format!("{last} is put into the other equations"),
        _ => format!("{} and {last} are put into the other equations", first.join(", ")),
    })
}
