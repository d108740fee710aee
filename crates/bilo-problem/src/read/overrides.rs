//! What a command line or a study changes in a problem file.

use crate::diagnostic::{Diagnostic, Result, suggest};
use crate::read::vectors;
use crate::tree::{Assignment, Entry, Table, Value};

/// Tables whose entries have names of their own, and what such an entry is.
const NAMED: [&str; 9] =
    ["given", "unknown", "input", "state", "equation", "condition", "observation", "experiment", "picture"];

/// What a command line changes in a problem file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The recipe, in place of `train.recipe`.
    pub recipe: Option<String>,
    /// Settings such as `train.rate=0.01`.
    pub set: Vec<Assignment>,
}

impl Overrides {
    /// Some settings, and the recipe of the file.
    pub fn of<A: Into<Assignment>>(set: impl IntoIterator<Item = A>) -> Overrides {
        Overrides { recipe: None, set: set.into_iter().map(Into::into).collect() }
    }

    /// Merges them into the tree of a file.
    pub(crate) fn apply(&self, tree: &mut Table) -> Result<()> {
        for assignment in &self.set {
            let over = assignment.table("--set")?;
            for entry in &over.entries {
                if let ("unknown", Value::Table(unknowns)) = (&entry.key[..], &entry.node.value) {
                    unknowns.entries.iter().try_for_each(|e| vectors::expand_for(tree, &e.key))?;
                }
                refuse_new_names(tree, entry)?;
            }
            tree.merge(over);
        }
        if let Some(recipe) = &self.recipe {
            tree.merge(Assignment::from(format!("train.recipe={recipe}")).table("--recipe")?);
        }
        Ok(())
    }
}

/// `equation.front.weight=2` is about an equation that there is: a slip in its name would state half a new one.
fn refuse_new_names(tree: &Table, over: &Entry) -> Result<()> {
    let (kind, Value::Table(named)) = (&over.key[..], &over.node.value) else { return Ok(()) };
    if !NAMED.contains(&kind) || over.node.is_inline() {
        return Ok(());
    }
    let known: Vec<&str> = match tree.get(kind).map(|node| &node.value) {
        Some(Value::Table(own)) => own.entries.iter().map(|entry| entry.key.as_str()).collect(),
        _ => vec![],
    };
    let reaches_in = |entry: &&Entry| matches!(entry.node.value, Value::Table(_)) && !entry.node.is_inline();
    let new = named.entries.iter().filter(reaches_in).find(|entry| !known.contains(&&entry.key[..]));
    let Some(Entry { key, key_origin, .. }) = new else { return Ok(()) };
    let help = match known.is_empty() {
        true => format!("state the whole of it: `{kind}.{key}={{ .. }}`"),
        false => suggest(key, known.iter().copied()),
    };
    Err(Diagnostic::new(format!("there is no {kind} `{key}`"), key_origin.clone()).help(help).into())
}
