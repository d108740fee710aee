//! `bilo convert`: a problem stated by residuals and forms, said as a textbook does.

use crate::args::ConvertTask;
use crate::failure::Failure;
use crate::new::write_new;
use crate::output;
use crate::statement::Statement;
use bilo::problem::restate::{HeldCondition, RestatedEquation, RestatedForm, restate};
use bilo::problem::{Overrides, Problem};
use bilo::{forward, verify};
use std::fmt::Write;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

/// Solutions of both statements that differ by more are of different problems. Where a side is held by a form and where by an
/// equation changes a discretisation, and corners too.
const ONE_SOLUTION: f64 = 1e-3;

pub(crate) fn convert(task: &ConvertTask) -> Result<(), Failure> {
    let old = task.statement.problem(&Overrides::default())?;
    let converted = Converted::of(&task.statement, &old)?;
    if converted.changes == 0 {
        let failure = Failure::new("nothing here can be said otherwise");
        return Err(failure.help(converted.lines.trim_start()));
    }
    let agreement = compare(&old, &converted.problem)?;
    write_new(&task.out, &converted.text)?;
    let out = task.out.display();
    output::say(&format!(
        "{}{agreement}\n{out} written; `bilo check {out}` shows how it is understood\n",
        converted.lines
    ))
}

/// A file in other words.
struct Converted {
    text: String,
    problem: Problem,
    /// What was changed and what was not, a line each.
    lines: String,
    changes: usize,
}

impl Converted {
    fn of(statement: &Statement, old: &Problem) -> Result<Converted, Failure> {
        let not_toml = |error| Failure::new(format!("the file cannot be rewritten: {error}"));
        let mut document: DocumentMut = statement.text.parse().map_err(not_toml)?;
        let mut editor = Editor { document: &mut document, lines: String::new(), changes: 0, place: None };
        let restated = restate(old)?;
        for (name, equation) in &restated.equations {
            editor.equation(name, equation);
        }
        for (name, form) in &restated.forms {
            editor.form(name, form);
        }
        let (lines, changes) = (editor.lines, editor.changes);
        let read = |document: &DocumentMut| {
            Problem::from_toml(
                "the new statement",
                &document.to_string(),
                statement.folder(),
                &Overrides::default(),
            )
        };
        // States that equations name need no table of their own.
        let mut bare = document.clone();
        if without_empty_states(&mut bare)
            && let Ok(problem) = read(&bare)
            && names_of_states(&problem) == names_of_states(old)
        {
            return Ok(Converted { text: bare.to_string(), problem, lines, changes });
        }
        let problem = read(&document)?;
        Ok(Converted { text: document.to_string(), problem, lines, changes })
    }
}

/// Takes the tables of states away if nothing is said in any.
fn without_empty_states(document: &mut DocumentMut) -> bool {
    let states = document.get("state").and_then(Item::as_table_like);
    let empty = |item: &Item| item.as_table_like().is_some_and(TableLike::is_empty);
    let all = states.is_some_and(|states| states.iter().all(|(_, state)| empty(state)));
    all && document.remove("state").is_some()
}

fn names_of_states(problem: &Problem) -> Vec<&str> {
    let mut names: Vec<&str> = problem.states.iter().map(|state| &state.name[..]).collect();
    names.sort_unstable();
    names
}

/// Changes the tables of a file.
struct Editor<'a> {
    document: &'a mut DocumentMut,
    lines: String,
    changes: usize,
    /// Where the last equation stood.
    place: Option<isize>,
}

impl Editor<'_> {
    fn say(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.lines, "{line}");
    }

    fn changed(&mut self, line: &str) {
        self.changes += 1;
        self.say(line);
    }

    /// The entry of a table of the file, such as `[equation.heat]`.
    fn entry(&mut self, kind: &str, name: &str) -> Option<&mut dyn TableLike> {
        self.document.get_mut(kind)?.as_table_like_mut()?.get_mut(name)?.as_table_like_mut()
    }

    fn equation(&mut self, name: &str, restated: &RestatedEquation) {
        // Conditions of a textbook statement are equations of the problem, but not of the file.
        let Some(entry) = self.entry("equation", name) else { return };
        let stated = entry.contains_key("residual");
        match restated {
            RestatedEquation::Kept(_) if !stated => {}
            RestatedEquation::Kept(why) => self.say(&format!("equation {name}: left as it is, since {why}")),
            RestatedEquation::Inside { .. } if !stated => {}
            RestatedEquation::Inside { holds, keep_points } => {
                entry.remove("residual");
                entry.remove("weight");
                if !keep_points {
                    entry.remove("points");
                }
                entry.insert("holds", value(holds));
                let points = if *keep_points { ", at its points" } else { "" };
                self.changed(&format!("equation {name}: {holds}{points}"));
            }
            RestatedEquation::Condition { holds } => {
                let at = entry.get("points").and_then(|points| points.as_table_like()?.get("at")).cloned();
                let Some(at) = at else { return };
                let said = at.to_string();
                if let Some(equations) = self.document["equation"].as_table_like_mut() {
                    equations.remove(name);
                }
                self.condition(name, at, holds);
                self.changed(&format!("condition {name}: {holds} at {}", said.trim()));
            }
        }
    }

    fn form(&mut self, state: &str, restated: &RestatedForm) {
        let Some(entry) = self.entry("state", state).filter(|entry| entry.contains_key("form")) else {
            return;
        };
        match restated {
            RestatedForm::Kept(why) => self.say(&format!("form of {state}: left as it is, since {why}")),
            RestatedForm::Conditions(conditions) => {
                entry.remove("form");
                for HeldCondition { name, at: (coordinate, values), holds } in conditions {
                    let at = match &values[..] {
                        [one] => Value::from(*one),
                        several => Value::Array(several.iter().copied().collect::<Array>()),
                    };
                    let mut place = InlineTable::new();
                    place.insert(coordinate, at);
                    self.condition(name, value(place), holds);
                    let values: Vec<String> = values.iter().map(f64::to_string).collect();
                    let place = format!("{coordinate} = {}", values.join(" and "));
                    self.changed(&format!("condition {name}: {holds} at {place}, from the form of {state}"));
                }
                if conditions.is_empty() {
                    self.changed(&format!("form of {state}: taken away, since it holds no condition"));
                }
            }
        }
    }

    /// Where conditions are to stand in the file: behind the last equation.
    fn behind_equations(&self) -> Option<isize> {
        let tables = self.document.get("equation")?.as_table_like()?;
        tables.iter().filter_map(|(_, item)| item.as_table()?.position()).max()
    }

    fn condition(&mut self, name: &str, at: Item, holds: &str) {
        let behind = self.behind_equations().or(self.place);
        self.place = behind;
        let conditions = self.document.entry("condition").or_insert_with(|| {
            let mut all = Table::new();
            all.set_implicit(true);
            Item::Table(all)
        });
        let mut condition = Table::new();
        condition.insert("at", at);
        condition.insert("holds", value(holds));
        condition.set_position(behind);
        if let Some(conditions) = conditions.as_table_like_mut() {
            conditions.insert(name, Item::Table(condition));
        }
    }
}

/// Whether both statements have one solution at the guess, in words; an error if they do not.
fn compare(old: &Problem, new: &Problem) -> Result<String, Failure> {
    let solve = |problem: &Problem| {
        let guess: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.guess).collect();
        let nodes = vec![verify::report_nodes(problem); problem.coordinates.len()];
        forward::solve(problem, &guess, &nodes)
    };
    let (before, after) = match (solve(old), solve(new)) {
        (Ok(before), Ok(after)) => (before.fields, after.fields),
        (Err(error), _) | (_, Err(error)) => {
            return Ok(format!("Not compared: {}", error.headline()));
        }
    };
    let mut worst: f64 = 0.0;
    for field in &before.arrays {
        let Some(other) = after.arrays.iter().find(|other| other.name == field.name) else { continue };
        let square = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>();
        let difference = square(&mut field.values.iter().zip(&other.values).map(|(a, b)| a - b));
        let size = square(&mut field.values.iter().copied());
        // A state that is zero to rounding has no relative difference.
        worst = worst.max(if size > 0.0 { (difference / size).sqrt() } else { difference.sqrt() });
    }
    if worst.is_nan() || worst > ONE_SOLUTION {
        let message =
            format!("the new statement has another solution: it differs by {worst:.1e} (relative L2)");
        return Err(Failure::new(message)
            .help("nothing was written; the form or a residual says more than was understood"));
    }
    Ok(format!(
        "Both statements have one solution at the guess, to {worst:.1e} (relative L2, by the reference solver)."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems;
    use std::path::Path;

    fn converted(name: &str) -> Converted {
        let statement =
            Statement::find(Path::new(name), false).unwrap_or_else(|e| panic!("{}", e.render(false)));
        let problem =
            statement.problem(&Overrides::default()).unwrap_or_else(|e| panic!("{}", e.render(false)));
        Converted::of(&statement, &problem).unwrap_or_else(|e| panic!("{name}: {}", e.render(false)))
    }

    #[test]
    fn fisher_kpp_is_said_as_in_a_textbook() {
        let Converted { text, .. } = converted("fisher-kpp");
        for part in [
            "holds = \"u_t = 0.01*D*u_xx + rho*u*(1-u)\"",
            "[condition.u-x-ends]\nat = { x = [0.0, 1.0] }\nholds = \"u = 0\"",
            "[condition.u-start]\nat = { t = 0.0 }\nholds = \"u = 0.5*sin(pi*x)^2\"",
        ] {
            assert!(text.contains(part), "{text}");
        }
        for gone in ["[state.u]", "\nresidual", "\npoints"] {
            assert!(!text.contains(gone), "{gone} in {text}");
        }
    }

    /// Every shipped problem is rewritten, or it is said why not; and what is rewritten has the same solution.
    #[test]
    fn shipped_problems_keep_their_solutions() {
        let (mut rewritten, mut left) = (vec![], vec![]);
        for shipped in problems::SHIPPED.iter().filter(|shipped| !shipped.text.contains("[experiment.")) {
            let old = Statement::find(Path::new(shipped.name), false).ok().unwrap();
            let old = old.problem(&Overrides::default()).unwrap_or_else(|e| panic!("{}", e.render(false)));
            let converted = converted(shipped.name);
            match converted.changes {
                0 => left.push(shipped.name),
                _ => {
                    let said = compare(&old, &converted.problem);
                    said.unwrap_or_else(|e| panic!("{}: {}", shipped.name, e.render(false)));
                    rewritten.push(shipped.name);
                }
            }
        }
        assert!(rewritten.len() >= 8, "rewritten: {rewritten:?}, left: {left:?}");
    }
}
