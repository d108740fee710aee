//! `prior` of an unknown number: `"normal(1, 0.5)"` and its like.

use crate::diagnostic::{Diagnostic, Result};
use crate::model::domain::Constant;
use crate::model::formula::{Formula, evaluate};
use crate::model::prior::Prior;
use crate::tree::Node;
use crate::tree::reader::string;

/// Reads a density by its name and its parameters, which are numbers or expressions of constants.
pub(super) fn read_prior(node: &Node, constants: &[Constant]) -> Result<Prior> {
    let text = string(node, "prior")?;
    let names: Vec<String> = Prior::NAMES.iter().map(|(name, _)| format!("`{name}`")).collect();
    let fault = |message: String| {
        let help = format!("write `prior = \"normal(1, 0.5)\"`, or another of {}", names.join(", "));
        Diagnostic::new(message, node.origin.clone()).help(help)
    };
    let parts = text.trim().strip_suffix(')').and_then(|text| text.split_once('('));
    let Some((name, parameters)) = parts else { return Err(fault(format!("`{text}` is no density")).into()) };
    let name = name.trim();
    let Some((_, count)) = Prior::NAMES.iter().find(|(known, _)| *known == name) else {
        return Err(fault(format!("there is no density `{name}`")).into());
    };
    let parameters: Vec<&str> = parameters.split(',').map(str::trim).collect();
    if parameters.len() != *count {
        let message = format!("`{name}` has {count} parameters, found {}", parameters.len());
        return Err(fault(message).into());
    }
    let number = |text: &&str| evaluate(&Formula::parse(text, node.origin.clone())?, constants);
    let parameters = parameters.iter().map(number).collect::<Result<Vec<f64>>>()?;
    Prior::named(name, &parameters).map_err(|message| Diagnostic::new(message, node.origin.clone()).into())
}
