//! The tables `[picture.NAME]`.

use crate::diagnostic::{Diagnostic, Result};
use crate::read::Statement;
use crate::read::observation::read_held;
use crate::schema;
use crate::tree::reader::{Reader, expression, number, string, wrong_type};
use crate::tree::{Entry, Node, Value};
use crate::written::picture::{ContourSpec, PictureSpec};

impl Statement<'_> {
    pub(super) fn picture(&self, path: &str, entry: &Entry) -> Result<PictureSpec> {
        let reader = Reader::of(&entry.node, path, self.constants, &schema::PICTURE.names())?;
        Ok(PictureSpec {
            name: entry.key.clone(),
            axes: reader.get("axes").map(read_axes).transpose()?,
            at: read_held(&reader)?,
            background: reader.expression("background")?,
            field: reader.expression("field")?,
            contours: read_contours(&reader)?,
        })
    }
}

fn read_axes(node: &Node) -> Result<[String; 2]> {
    let two = match &node.value {
        Value::List(items) => <&[Node; 2]>::try_from(&items[..]).ok(),
        _ => None,
    };
    let Some([right, up]) = two else {
        let message = "`axes` must name two coordinates";
        let error = Diagnostic::new(message, node.origin.clone());
        return Err(error.help("write `axes = [\"x\", \"y\"]`").into());
    };
    Ok([string(right, "axes")?.to_owned(), string(up, "axes")?.to_owned()])
}

fn read_contours(reader: &Reader<'_>) -> Result<Vec<ContourSpec>> {
    let Some(node) = reader.get("contours") else { return Ok(vec![]) };
    let Value::List(items) = &node.value else {
        return Err(wrong_type(node, "contours", "a list of tables"));
    };
    let path = reader.path("contours");
    let keys = schema::CONTOUR.names();
    items.iter().map(|node| read_contour(&Reader::of(node, &path, reader.constants(), &keys)?)).collect()
}

fn read_contour(reader: &Reader<'_>) -> Result<ContourSpec> {
    let level = reader.require("level", "0.5")?;
    Ok(ContourSpec {
        value: expression(reader.require("value", "\"u\"")?, "value")?.to_owned(),
        level: match &level.value {
            Value::Text(text) => text.clone(),
            _ => format!("{:?}", number(level, "level", &[])?),
        },
        data: reader.string("data")?,
        name: reader.string("name")?,
    })
}
