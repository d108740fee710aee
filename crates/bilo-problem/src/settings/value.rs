//! Values of settings: how each type is read, held to its range and written.

use crate::diagnostic::{Diagnostic, Result};
use crate::model::domain::{Constant, Coordinate, divided};
use crate::model::formula::Formula;
use crate::schema::kind::{Key, Kind};
use crate::tree::reader::{Reader, boolean, choice, count, formula, number};
use crate::tree::{self, Node};
use crate::words::Words;

/// What settings may refer to.
#[derive(Clone, Copy, Default)]
pub(crate) struct Context<'a> {
    pub(crate) constants: &'a [Constant],
    pub(crate) coordinates: &'a [Coordinate],
    /// Names of the extra inputs of networks.
    pub(crate) inputs: &'a [&'a str],
}

/// A setting as it was written.
pub(crate) struct Stated<'a> {
    pub(crate) node: &'a Node,
    pub(crate) key: &'a Key,
    /// Its dotted path.
    pub(crate) path: &'a str,
    pub(crate) context: &'a Context<'a>,
}

/// The value of a setting.
pub(crate) trait Value: Sized {
    /// What is written.
    fn parse(stated: &Stated<'_>) -> Result<Self>;

    /// Takes what is written.
    fn read(&mut self, stated: &Stated<'_>) -> Result<()> {
        *self = Self::parse(stated)?;
        Ok(())
    }

    /// As it is written in a problem file; none where nothing is to be written.
    fn write(&self, context: &Context<'_>) -> Option<String>;
}

impl Value for f64 {
    fn parse(stated: &Stated<'_>) -> Result<f64> {
        let Stated { node, key, context, .. } = stated;
        let value = number(node, key.name, context.constants)?;
        in_range(node, key.name, &key.kind, value)?;
        Ok(value)
    }

    fn write(&self, _: &Context<'_>) -> Option<String> {
        Some(format!("{self:?}"))
    }
}

impl Value for usize {
    fn parse(stated: &Stated<'_>) -> Result<usize> {
        counted(stated.node, stated.key.name, &stated.key.kind)
    }

    fn write(&self, _: &Context<'_>) -> Option<String> {
        Some(self.to_string())
    }
}

impl Value for u64 {
    fn parse(stated: &Stated<'_>) -> Result<u64> {
        Ok(usize::parse(stated)? as u64)
    }

    fn write(&self, _: &Context<'_>) -> Option<String> {
        Some(self.to_string())
    }
}

impl Value for bool {
    fn parse(stated: &Stated<'_>) -> Result<bool> {
        boolean(stated.node, stated.key.name)
    }

    fn write(&self, _: &Context<'_>) -> Option<String> {
        Some(self.to_string())
    }
}

impl<T: Words> Value for T {
    fn parse(stated: &Stated<'_>) -> Result<T> {
        choice(stated.node, stated.key.name, T::ALL)
    }

    fn write(&self, _: &Context<'_>) -> Option<String> {
        Some(format!("{:?}", self.word()))
    }
}

impl<T: Value> Value for Option<T> {
    fn parse(stated: &Stated<'_>) -> Result<Option<T>> {
        T::parse(stated).map(Some)
    }

    fn write(&self, context: &Context<'_>) -> Option<String> {
        self.as_ref()?.write(context)
    }
}

impl Value for Formula {
    fn parse(stated: &Stated<'_>) -> Result<Formula> {
        formula(stated.node, stated.key.name)
    }

    fn write(&self, _: &Context<'_>) -> Option<String> {
        Some(format!("{:?}", self.text))
    }
}

/// One expression or a list of them.
impl Value for Vec<Formula> {
    fn parse(stated: &Stated<'_>) -> Result<Vec<Formula>> {
        match &stated.node.value {
            tree::Value::List(nodes) => nodes.iter().map(|node| formula(node, stated.key.name)).collect(),
            _ => Ok(vec![formula(stated.node, stated.key.name)?]),
        }
    }

    fn write(&self, context: &Context<'_>) -> Option<String> {
        let texts: Vec<String> = self.iter().filter_map(|formula| formula.write(context)).collect();
        (!texts.is_empty()).then(|| format!("[{}]", texts.join(", ")))
    }
}

/// Counts along the coordinates that are divided into cells: one for all of them, or a table with one for each.
impl Value for Vec<usize> {
    fn parse(stated: &Stated<'_>) -> Result<Vec<usize>> {
        let Stated { node, key, path, context } = stated;
        let Kind::Any([alone, Kind::Each(each)]) = &key.kind else { return Ok(vec![]) };
        let names = divided_names(context.coordinates);
        let tree::Value::Table(_) = node.value else {
            return Ok(vec![counted(node, key.name, alone)?; names.len()]);
        };
        let reader = Reader::of(node, path, context.constants, &names)?;
        names.iter().map(|name| counted(reader.require(name, "100")?, name, each)).collect()
    }

    fn write(&self, context: &Context<'_>) -> Option<String> {
        if let [one] = self[..] {
            return Some(one.to_string());
        }
        let names = divided_names(context.coordinates);
        let each: Vec<String> = names.iter().zip(self).map(|(name, n)| format!("{name} = {n}")).collect();
        Some(format!("{{ {} }}", each.join(", ")))
    }
}

fn divided_names(coordinates: &[Coordinate]) -> Vec<&str> {
    divided(coordinates).into_iter().map(|c| coordinates[c].name.as_str()).collect()
}

/// Counts of some coordinates and extra inputs, by name; what is not named stays.
impl Value for Vec<Option<usize>> {
    fn parse(stated: &Stated<'_>) -> Result<Self> {
        let mut counts = vec![None; axis_names(stated.context).len()];
        counts.read(stated)?;
        Ok(counts)
    }

    fn read(&mut self, stated: &Stated<'_>) -> Result<()> {
        let Stated { node, key, path, context } = stated;
        let Kind::Each(each) = &key.kind else { return Ok(()) };
        let names = axis_names(context);
        let reader = Reader::of(node, path, context.constants, &names)?;
        for (name, own) in names.iter().zip(self) {
            if let Some(node) = reader.get(name) {
                *own = Some(counted(node, name, each)?);
            }
        }
        Ok(())
    }

    fn write(&self, context: &Context<'_>) -> Option<String> {
        let stated = axis_names(context).into_iter().zip(self);
        let stated = stated.filter_map(|(name, count)| Some(format!("{name} = {}", (*count)?)));
        Some(format!("{{ {} }}", stated.collect::<Vec<_>>().join(", ")))
    }
}

fn axis_names<'a>(context: &Context<'a>) -> Vec<&'a str> {
    context.coordinates.iter().map(|c| c.name.as_str()).chain(context.inputs.iter().copied()).collect()
}

/// A whole number within the range of its kind.
pub(crate) fn counted(node: &Node, key: &str, kind: &Kind) -> Result<usize> {
    let value = count(node, key)?;
    let range = match *kind {
        Kind::Count(least, Some(most)) if !(least..=most).contains(&value) => {
            format!("from {least} to {most}")
        }
        Kind::Count(least, None) if value < least => format!("at least {least}"),
        _ => return Ok(value),
    };
    Err(Diagnostic::new(format!("`{key}` must be {range}, found {value}"), node.origin.clone()).into())
}

/// Refuses a number outside the range of its kind.
pub(crate) fn in_range(node: &Node, key: &str, kind: &Kind, value: f64) -> Result<()> {
    let wanted = match kind {
        Kind::Positive if value <= 0.0 => "positive",
        Kind::NotNegative if value < 0.0 => "zero or positive",
        _ => return Ok(()),
    };
    let message = format!("`{key}` must be {wanted}, found {value:?}");
    Err(Diagnostic::new(message, node.origin.clone()).into())
}
