//! The table `[audit]`: values of the unknowns beside the guess, where the local operator is held against the classical
//! solution.

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::evaluate::names::NET;
use crate::function::Shape;
use crate::known::KnownFunction;
use crate::model::{Constant, Formula, GradientMode, Problem, Transform, Unknown, UnknownFunction};
use crate::resolve::check::Check;
use crate::schema;
use crate::tree::reader::{Reader, formula, number, table, wrong_type};
use crate::tree::{Node, Table, Value};

/// The guess, with some of the unknowns moved.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// What is moved, in words: `D = 1.5`.
    pub at: String,
    /// Scalars by their number, with their values.
    pub scalars: Vec<(usize, f64)>,
    /// Functions by their number, with what they are there.
    pub functions: Vec<(usize, Formula)>,
    /// Where it was written.
    pub origin: Origin,
}

/// Two are the same if they say the same, wherever they were written.
impl PartialEq for Neighbour {
    fn eq(&self, other: &Self) -> bool {
        (&self.at, &self.scalars, &self.functions) == (&other.at, &other.scalars, &other.functions)
    }
}

impl Neighbour {
    /// The problem with its guess there. A function that networks take as an input is its formula, whatever its own
    /// network says.
    pub fn of(&self, problem: &Problem) -> Result<Problem> {
        let mut moved = problem.clone();
        for &(number, value) in &self.scalars {
            moved.unknowns[number].guess = value;
        }
        for (number, formula) in &self.functions {
            let function = &mut moved.functions[*number];
            function.guess = KnownFunction::Formula(formula.clone());
            if problem.training.gradient == GradientMode::Pointwise {
                let held = format!("({}) + 0*{NET}", formula.text);
                function.form = Formula::parse(&held, formula.origin.clone())?;
            }
        }
        Ok(moved)
    }
}

impl Check<'_> {
    /// Unknowns have values that they may have.
    pub(crate) fn neighbours(&self) -> Result<()> {
        for neighbour in &self.problem.neighbours {
            let fault = |message: String| Err(Diagnostic::new(message, neighbour.origin.clone()).into());
            let moved = neighbour.of(self.problem)?;
            for &(number, value) in &neighbour.scalars {
                let Unknown { name, bounds, transform, .. } = &self.problem.unknowns[number];
                let (lo, hi) = bounds.unwrap_or((f64::MIN, f64::MAX));
                if !(lo..=hi).contains(&value) {
                    return fault(format!("{name} = {value:?} is outside the bounds [{lo:?}, {hi:?}]"));
                }
                if *transform == Transform::Log && value <= 0.0 {
                    return fault(format!("{name} must be positive under `transform = \"log\"`"));
                }
            }
            for (number, _) in &neighbour.functions {
                let function = &moved.functions[*number];
                let values = function.on_nodes(&moved, &function.guess)?;
                if !values.iter().all(|value| value.is_finite()) {
                    return fault(format!("{} is not finite everywhere", neighbour.at));
                }
                if moved.training.gradient == GradientMode::Exact {
                    Shape::new(&moved, function)?.net_of(&values, function)?;
                }
            }
        }
        Ok(())
    }
}

/// Reads `audit.near`.
pub(crate) fn read(
    tree: &Table,
    unknowns: &[Unknown],
    functions: &[UnknownFunction],
    constants: &[Constant],
) -> Result<Vec<Neighbour>> {
    let Some(node) = tree.get("audit") else { return Ok(vec![]) };
    let reader = Reader::of(node, "audit", constants, &schema::AUDIT.names())?;
    let Some(node) = reader.get("near") else { return Ok(vec![]) };
    let Value::List(items) = &node.value else {
        return Err(wrong_type(node, "near", "a list of values of unknowns, such as `[{ D = 1.5 }]`"));
    };
    items.iter().map(|item| read_one(item, unknowns, functions, constants)).collect()
}

fn read_one(
    node: &Node,
    unknowns: &[Unknown],
    functions: &[UnknownFunction],
    constants: &[Constant],
) -> Result<Neighbour> {
    let names: Vec<&str> =
        unknowns.iter().map(|u| &u.name[..]).chain(functions.iter().map(|f| &f.name[..])).collect();
    Reader::of(node, "audit.near", constants, &names)?;
    let mut found =
        Neighbour { at: String::new(), scalars: vec![], functions: vec![], origin: node.origin.clone() };
    let mut said = vec![];
    for entry in &table(node, "audit.near")?.entries {
        let place = names.iter().position(|name| *name == entry.key).expect("the key is known");
        match place.checked_sub(unknowns.len()) {
            None => {
                let value = number(&entry.node, &entry.key, constants)?;
                said.push(format!("{} = {value}", entry.key));
                found.scalars.push((place, value));
            }
            Some(function) => {
                let value = read_formula(&entry.node, &entry.key, constants)?;
                said.push(format!("{} = {}", entry.key, value.text));
                found.functions.push((function, value));
            }
        }
    }
    if said.is_empty() {
        let error = Diagnostic::new("nothing is moved here", node.origin.clone());
        return Err(error.help(format!("write `{{ {} = .. }}`, for instance", names[0])).into());
    }
    found.at = said.join(", ");
    Ok(found)
}

/// A number is a function that is constant.
fn read_formula(node: &Node, key: &str, constants: &[Constant]) -> Result<Formula> {
    match &node.value {
        Value::Integer(_) | Value::Float(_) => {
            Formula::parse(&number(node, key, constants)?.to_string(), node.origin.clone())
        }
        _ => formula(node, key),
    }
}
