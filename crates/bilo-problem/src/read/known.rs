//! Known functions: an expression, `{ random-field = .. }` or `{ file = .. }`.

use crate::diagnostic::{Diagnostic, Result};
use crate::model::known::FIELD;
use crate::model::random_field::RandomField;
use crate::schema;
use crate::tree::reader::{Reader, count, expression, string};
use crate::tree::{Node, Value};
use crate::written::known::KnownSpec;

/// The known function under a key; a number is a function that is constant.
pub(super) fn read_known(reader: &Reader<'_>, key: &str) -> Result<Option<KnownSpec>> {
    let Some(node) = reader.get(key) else { return Ok(None) };
    Ok(Some(match &node.value {
        Value::Integer(_) | Value::Float(_) => {
            KnownSpec::Formula(format!("{:?}", reader.number(key)?.unwrap_or_default()))
        }
        Value::Table(_) => read_table(reader, key, node)?,
        _ => KnownSpec::Formula(expression(node, key)?.to_owned()),
    }))
}

fn read_table(reader: &Reader<'_>, key: &str, node: &Node) -> Result<KnownSpec> {
    let path = reader.path(key);
    let inner = Reader::of(node, &path, reader.constants(), &schema::KNOWN_FUNCTION.names())?;
    match (inner.get("random-field"), inner.get("file"), inner.expression("value")?) {
        (Some(field), None, value) => {
            Ok(KnownSpec::Random(read_field(field, &inner)?, value.unwrap_or_else(|| FIELD.to_owned())))
        }
        (None, Some(file), None) => Ok(KnownSpec::File(string(file, "file")?.to_owned())),
        (None, Some(_), Some(_)) => {
            let origin = inner.content_of("value");
            Err(Diagnostic::new("`value` belongs to `random-field`", origin).into())
        }
        _ => {
            let message = format!("`{key}` is an expression, a `random-field` or from a `file`");
            let help = "write `{ random-field = { sd = 1.0, length = 0.1, seed = 1 } }`, for instance";
            Err(Diagnostic::new(message, node.origin.clone()).help(help).into())
        }
    }
}

fn read_field(node: &Node, parent: &Reader<'_>) -> Result<RandomField> {
    let path = parent.path("random-field");
    let reader = Reader::of(node, &path, parent.constants(), &schema::RANDOM_FIELD.names())?;
    let number = |key: &str, example: &str| reader.number(key)?.ok_or_else(|| reader.missing(key, example));
    let seed = count(reader.require("seed", "1")?, "seed")?;
    Ok(RandomField { sd: number("sd", "1.0")?, length: number("length", "0.1")?, seed: seed as u64 })
}
