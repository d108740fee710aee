//! Known functions: formulas parsed, files read.

use crate::diagnostic::{Diagnostic, Result};
use crate::files::folder::Folder;
use crate::grid::values::GridValues;
use crate::model::domain::Coordinate;
use crate::model::known::KnownFunction;
use crate::resolve::data_file::{DataFile, SIGMA, read_table};
use crate::tree::Places;
use crate::written::data::FileLayout;
use crate::written::known::KnownSpec;

/// Where known functions are written, and where their files are.
#[derive(Clone, Copy)]
pub(crate) struct Knowns<'a> {
    pub(crate) places: &'a Places,
    pub(crate) folder: Folder<'a>,
}

impl Knowns<'_> {
    /// The function over axes that is stated at a path.
    pub(crate) fn resolve(&self, spec: &KnownSpec, path: &str, axes: &[Coordinate]) -> Result<KnownFunction> {
        match spec {
            KnownSpec::Formula(text) => Ok(KnownFunction::Formula(self.places.formula(path, text)?)),
            KnownSpec::Random(field, value) => Ok(KnownFunction::Random {
                field: *field,
                value: self.places.formula(&format!("{path}.value"), value)?,
            }),
            KnownSpec::Grid(nodes, values) => Ok(KnownFunction::Grid {
                grid: GridValues::new(axes, nodes.clone(), values.clone())
                    .map_err(|why| self.places.error(path, why))?,
                source: "on a grid".to_owned(),
                origin: self.places.get(path),
            }),
            KnownSpec::File(name) => self.file(name, path, axes),
        }
    }

    fn file(&self, name: &str, path: &str, axes: &[Coordinate]) -> Result<KnownFunction> {
        let origin = self.places.get(&format!("{path}.file"));
        let file = DataFile {
            name,
            folder: self.folder,
            origin: &origin,
            coordinates: axes,
            held: &[],
            layout: &FileLayout::default(),
        };
        let grid = GridValues::from_table(axes, &read_table(&file, SIGMA)?).map_err(|why| {
            Diagnostic::new(format!("{name} has no values on a grid: {why}"), origin.clone())
                .help("give every combination of the nodes along the coordinates once")
        })?;
        Ok(KnownFunction::Grid { grid, source: format!("from {name}"), origin })
    }
}
