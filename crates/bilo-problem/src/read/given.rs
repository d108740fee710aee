//! The table `[given]`: images and diffuse domains.

use super::observation::read_columns;
use crate::diagnostic::Result;
use crate::model::domain::{Constant, Coordinate};
use crate::schema;
use crate::tree::reader::{Reader, numbers, pair, string, table, wrong_type};
use crate::tree::{Entry, Node, Value};
use crate::written::data::{Decimal, FileLayout, Missing};
use crate::written::given::{GivenContent, GivenSpec, ImageSpec};

/// Reads one given field.
pub(super) fn read_given(
    path: &str,
    entry: &Entry,
    coordinates: &[Coordinate],
    constants: &[Constant],
) -> Result<GivenSpec> {
    let is_diffuse = table(&entry.node, path)?.get("diffuse").is_some();
    let keys = if is_diffuse { schema::DIFFUSE.names() } else { schema::IMAGE.names() };
    let reader = Reader::of(&entry.node, path, constants, &keys)?;
    let content = if is_diffuse {
        read_diffuse(&reader)?
    } else {
        GivenContent::Image(read_image(&entry.key, &reader, coordinates)?)
    };
    Ok(GivenSpec { name: entry.key.clone(), content, misplaced: None })
}

fn read_diffuse(reader: &Reader<'_>) -> Result<GivenContent> {
    let condition = reader.expression("diffuse")?.ok_or_else(|| reader.missing("diffuse", "\"m > 0.5\""))?;
    let width = reader.number("width")?.ok_or_else(|| reader.missing("width", "3.0"))?;
    let floor = reader.number("floor")?.unwrap_or(GivenSpec::FLOOR);
    Ok(GivenContent::Diffuse { condition, width, floor })
}

fn read_image(field: &str, reader: &Reader<'_>, coordinates: &[Coordinate]) -> Result<ImageSpec> {
    // The column of the values is that of the field.
    let mut columns = read_columns(reader, coordinates, &["value", field])?;
    columns.iter_mut().filter(|(role, _)| role == field).for_each(|(role, _)| *role = "value".to_owned());
    let all = |key: &str| reader.get(key).map(|node| numbers(node, key, reader.constants())).transpose();
    let range = reader.get("range").map(|node| pair(node, "range", reader.constants()));
    Ok(ImageSpec {
        file: string(reader.require("file", "\"image.nii.gz\"")?, "file")?.to_owned(),
        array: reader.string("array")?,
        of: reader.get("of").map(read_of).transpose()?,
        origin: all("origin")?,
        spacing: all("spacing")?,
        range: range.transpose()?,
        scale: reader.number("scale")?.unwrap_or(1.0),
        interpolation: reader.word("interpolation")?,
        layout: FileLayout {
            rows: vec![],
            columns,
            origin: vec![],
            skip_missing: reader.word::<Missing>("missing")? == Some(Missing::Skip),
            decimal_comma: reader.word::<Decimal>("decimal")? == Some(Decimal::Comma),
        },
    })
}

fn read_of(node: &Node) -> Result<Vec<String>> {
    let Value::List(items) = &node.value else {
        return Err(wrong_type(node, "of", "a list of coordinates, such as `[\"x\", \"y\"]`"));
    };
    items.iter().map(|item| Ok(string(item, "of")?.to_owned())).collect()
}
