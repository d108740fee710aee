//! Known functions in problem files: an expression, `{ random-field = .. }` or `{ file = .. }`.

use crate::diagnostic::{Diagnostic, Result};
use crate::files::folder::Folder;
use crate::grid::values::GridValues;
use crate::known::{FIELD, KnownFunction};
use crate::model::random_field::RandomField;
use crate::model::{Coordinate, Formula};
use crate::resolve::data_file::{DataFile, read_table};
use crate::schema;
use crate::tree::reader::{Reader, count, string};
use crate::tree::{Node, Value};

/// What known functions of one unknown function are read with.
pub(crate) struct KnownReader<'a> {
    /// What the unknown function depends on.
    pub(crate) axes: Vec<Coordinate>,
    /// Files are found relative to this.
    pub(crate) folder: Folder<'a>,
}

impl KnownReader<'_> {
    /// The known function under a key; a number is a function that is constant.
    pub(crate) fn read(&self, reader: &Reader<'_>, key: &str) -> Result<Option<KnownFunction>> {
        let Some(node) = reader.get(key) else { return Ok(None) };
        let known = match &node.value {
            Value::Integer(_) | Value::Float(_) => {
                let number = reader.number(key)?.unwrap_or_default();
                KnownFunction::Formula(Formula::parse(&format!("{number:?}"), node.origin.clone())?)
            }
            Value::Table(_) => self.table(reader, key, node)?,
            _ => return Ok(reader.formula(key)?.map(KnownFunction::Formula)),
        };
        Ok(Some(known))
    }

    fn table(&self, reader: &Reader<'_>, key: &str, node: &Node) -> Result<KnownFunction> {
        let path = reader.path(key);
        let inner = Reader::of(node, &path, reader.constants(), &schema::KNOWN_FUNCTION.names())?;
        match (inner.get("random-field"), inner.get("file"), inner.formula("value")?) {
            (Some(field), None, value) => {
                let field = read_field(field, &inner)?;
                let value = value.map_or_else(|| Formula::parse(FIELD, node.origin.clone()), Ok)?;
                Ok(KnownFunction::Random { field, value })
            }
            (None, Some(file), None) => self.file(file),
            (None, Some(_), Some(value)) => {
                Err(Diagnostic::new("`value` belongs to `random-field`", value.origin).into())
            }
            _ => {
                let message = format!("`{key}` is an expression, a `random-field` or from a `file`");
                let help = "write `{ random-field = { sd = 1.0, length = 0.1, seed = 1 } }`, for instance";
                Err(Diagnostic::new(message, node.origin.clone()).help(help).into())
            }
        }
    }

    fn file(&self, node: &Node) -> Result<KnownFunction> {
        let name = string(node, "file")?;
        let (folder, origin) = (self.folder, &node.origin);
        let file = DataFile { name, folder, origin, coordinates: &self.axes, held: &[] };
        let table = read_table(&file)?;
        let grid = GridValues::from_table(&self.axes, &table).map_err(|why| {
            Diagnostic::new(format!("{name} has no values on a grid: {why}"), origin.clone())
                .help("give every combination of the nodes along the coordinates once")
        })?;
        Ok(KnownFunction::Grid { grid, source: format!("from {name}"), origin: origin.clone() })
    }
}

fn read_field(node: &Node, parent: &Reader<'_>) -> Result<RandomField> {
    let path = parent.path("random-field");
    let reader = Reader::of(node, &path, parent.constants(), &schema::RANDOM_FIELD.names())?;
    let number = |key: &str, example: &str| reader.number(key)?.ok_or_else(|| reader.missing(key, example));
    let seed = count(reader.require("seed", "1")?, "seed")?;
    Ok(RandomField { sd: number("sd", "1.0")?, length: number("length", "0.1")?, seed: seed as u64 })
}
