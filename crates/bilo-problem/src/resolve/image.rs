//! Given fields from images.

use crate::diagnostic::{Diagnostic, Error, Origin, Result, list};
use crate::files::folder::Folder;
use crate::files::nifti::{Image, MOST_VOXELS};
use crate::files::npy::{Archive, Array};
use crate::grid::raster::Raster;
use crate::grid::spline::{GridAxis, Interpolation};
use crate::grid::values::GridValues;
use crate::model::domain::Coordinate;
use crate::resolve::data_file::{DataFile, SIGMA, read_table};
use crate::tree::Places;
use crate::written::given::ImageSpec;

/// Most bytes of a file: those of the largest image in double precision.
const MOST_BYTES: u64 = 8 * MOST_VOXELS as u64 + (1 << 20);

/// Distances and places that differ by less than this part of a cell are the same.
const SAME: f64 = 1e-4;

/// A log of switches ends with the last one: its value holds on.
fn hold_last(places: &mut Vec<f64>, values: &mut Vec<f64>, end: f64) {
    if let (Some(&place), Some(&value)) = (places.last(), values.last())
        && place < end
    {
        places.push(end);
        values.push(value);
    }
}

/// An image as a problem names it.
pub(crate) struct ImageFile<'a> {
    pub(crate) spec: &'a ImageSpec,
    /// The field's name.
    pub(crate) field: &'a str,
    /// The field's path.
    pub(crate) path: &'a str,
    /// The coordinates of its axes, in their order.
    pub(crate) own: Vec<&'a Coordinate>,
    pub(crate) places: &'a Places,
    pub(crate) folder: Folder<'a>,
}

/// What a file says: values in row-major order, and nodes along each axis of them if it says that.
struct Loaded {
    shape: Vec<usize>,
    values: Vec<f64>,
    axes: Option<Vec<GridAxis>>,
}

impl ImageFile<'_> {
    /// An error where the file is named.
    fn error(&self, message: String) -> Diagnostic {
        Diagnostic::new(message, self.place("file"))
    }

    /// Where a key is written.
    fn place(&self, key: &str) -> Origin {
        self.places.get(&format!("{}.{key}", self.path))
    }

    fn damaged(&self, why: impl std::fmt::Display) -> Error {
        self.error(format!("{}: {why}", self.spec.file)).into()
    }

    /// The values over the coordinates, in the order of the image, scaled and in their range.
    pub(crate) fn values(&self) -> Result<Raster> {
        let mut raster = self.raster()?;
        raster.values.iter_mut().for_each(|value| *value *= self.spec.scale);
        self.check_range(&raster)?;
        Ok(raster)
    }

    /// A table: rows with places and values, in any order. Places may lie outside the domain.
    fn table(&self) -> Result<Raster> {
        for (key, stated) in [("origin", &self.spec.origin), ("spacing", &self.spec.spacing)] {
            if stated.is_some() {
                let message = format!("`{key}` belongs to an image; a table has the places of its values");
                return Err(Diagnostic::new(message, self.place(key)).into());
            }
        }
        let endless =
            |c: &&Coordinate| Coordinate { lo: f64::NEG_INFINITY, hi: f64::INFINITY, ..(*c).clone() };
        let coordinates: Vec<Coordinate> = self.own.iter().map(endless).collect();
        let mut layout = self.spec.layout.clone();
        if !layout.columns.iter().any(|(role, _)| role == "value") {
            layout.columns.push(("value".to_owned(), self.field.to_owned()));
        }
        let origin = self.place("file");
        let mut rows = read_table(
            &DataFile {
                name: &self.spec.file,
                folder: self.folder,
                origin: &origin,
                coordinates: &coordinates,
                held: &[],
                layout: &layout,
            },
            SIGMA,
        )?;
        if let [places] = &rows.coordinates[..] {
            let mut order: Vec<usize> = (0..places.len()).collect();
            order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
            let sorted = |column: &[f64]| order.iter().map(|&row| column[row]).collect::<Vec<_>>();
            let (mut places, mut values) = (sorted(places), sorted(&rows.values));
            if self.spec.interpolation == Some(Interpolation::Previous) {
                hold_last(&mut places, &mut values, self.own[0].hi);
            }
            return Raster::series(places, values).map_err(|why| self.damaged(why));
        }
        rows.sigma = None;
        let grid = GridValues::from_table(&coordinates, &rows).map_err(|why| self.damaged(why))?;
        let nodes: Vec<Vec<f64>> = (0..coordinates.len()).map(|c| grid.nodes(c).to_vec()).collect();
        Raster::over_nodes(&nodes, grid.values().to_vec()).map_err(|why| self.damaged(why))
    }

    fn raster(&self) -> Result<Raster> {
        if self.spec.is_table() {
            return self.table();
        }
        let Loaded { shape, values, axes } = self.load()?.without_single_axes(self.own.len());
        if shape.len() != self.own.len() {
            let names: Vec<&str> = self.own.iter().map(|c| c.name.as_str()).collect();
            let message = format!(
                "{} has shape {shape:?}, and `{}` depends on {}",
                self.spec.file,
                self.field,
                list(names)
            );
            let help = "name the coordinate of each of its axes with `of`, or save the part that is wanted";
            return Err(self.error(message).help(help).into());
        }
        let stated = self.stated_axes(&shape)?;
        let axes = match (axes, stated) {
            (Some(own), Some(stated)) => self.agreed(own, &stated)?,
            (Some(axes), None) | (None, Some(axes)) => axes,
            (None, None) => self.spread(&shape),
        };
        let nodes: Vec<Vec<f64>> = axes.iter().map(GridAxis::nodes).collect();
        Raster::over_nodes(&nodes, values).map_err(|why| self.damaged(why))
    }

    fn load(&self) -> Result<Loaded> {
        let lower = self.spec.file.to_ascii_lowercase();
        let is = |ending: &str| lower.ends_with(ending);
        if ![".npy", ".npz", ".nii", ".nii.gz"].into_iter().any(is) {
            let error = self.error(format!("{} has no known format", self.spec.file));
            return Err(error.help("choose from `.npy`, `.npz`, `.nii`, `.nii.gz`, `.csv`").into());
        }
        let bytes = self.folder.read_up_to(&self.spec.file, MOST_BYTES).map_err(|why| {
            let path = self.folder.path(&self.spec.file);
            self.error(format!("cannot read {}: {why}", path.display()))
        })?;
        if self.spec.array.is_some() && !is(".npz") {
            let message = "`array` belongs to a file `.npz`, which has several";
            return Err(Diagnostic::new(message, self.place("array")).into());
        }
        let content = if is(".npy") {
            let array = Array::from_npy(&bytes).map_err(|why| self.damaged(why))?;
            Loaded { shape: array.shape, values: array.data, axes: None }
        } else if is(".npz") {
            self.load_archive(bytes)?
        } else {
            Loaded::of_image(Image::from_bytes(&bytes).map_err(|why| self.damaged(why))?)
        };
        if content.values.len() > MOST_VOXELS {
            return Err(self.damaged(format!("more than the {MOST_VOXELS} values allowed")));
        }
        Ok(content)
    }

    fn load_archive(&self, bytes: Vec<u8>) -> Result<Loaded> {
        let mut archive = Archive::new(bytes).map_err(|why| self.damaged(why))?;
        let wanted = self.spec.array.as_deref().unwrap_or(self.field);
        let names = archive.names();
        let mut member = |name: &str| archive.array(name).map_err(|why| self.damaged(why));
        let Some(array) = member(wanted)? else {
            let message = format!("there is no array `{wanted}` in {}", self.spec.file);
            let found = format!("found {}", list(names.iter().map(String::as_str)));
            return Err(self.error(message).label(found).help("name it: `array = \"..\"`").into());
        };
        let mut nodes = vec![];
        for coordinate in &self.own {
            nodes.extend(member(&coordinate.name)?.map(|array| (&coordinate.name, array)));
        }
        if nodes.is_empty() {
            return Ok(Loaded { shape: array.shape, values: array.data, axes: None });
        }
        if let Some(missing) = self.own.iter().find(|c| !nodes.iter().any(|(name, _)| **name == c.name)) {
            let message = format!(
                "{} has nodes along `{}`, and none along `{}`",
                self.spec.file, nodes[0].0, missing.name
            );
            return Err(self
                .error(message)
                .help("give one-dimensional arrays of nodes for all, or for none")
                .into());
        }
        self.over_nodes(array, nodes.into_iter().map(|(_, nodes)| nodes.data).collect())
    }

    /// Values over nodes that the same archive has.
    fn over_nodes(&self, array: Array, nodes: Vec<Vec<f64>>) -> Result<Loaded> {
        let lengths: Vec<usize> = nodes.iter().map(Vec::len).collect();
        let content = Loaded { shape: array.shape, values: array.data, axes: None };
        let Loaded { shape, values, .. } = content.without_single_axes(lengths.len());
        if shape != lengths {
            return Err(self.damaged(format!("values of shape {shape:?} over nodes of {lengths:?}")));
        }
        let Raster { axes, values, .. } =
            Raster::over_nodes(&nodes, values).map_err(|why| self.damaged(why))?;
        Ok(Loaded { shape, values, axes: Some(axes) })
    }

    /// The grid by the keys `origin` and `spacing`, in the order of the image's axes.
    fn stated_axes(&self, shape: &[usize]) -> Result<Option<Vec<GridAxis>>> {
        let ImageSpec { origin, spacing, .. } = self.spec;
        let (Some(origin), Some(spacing)) = (origin, spacing) else {
            return match (origin, spacing) {
                (Some(_), None) => Err(self.alone("origin", "spacing")),
                (None, Some(_)) => Err(self.alone("spacing", "origin")),
                _ => Ok(None),
            };
        };
        for (key, values) in [("origin", origin), ("spacing", spacing)] {
            if values.len() != shape.len() || (key == "spacing" && values.iter().any(|&h| h <= 0.0)) {
                let (count, kind) = (shape.len(), if key == "spacing" { "positive " } else { "" });
                let message = format!("`{key}` must have {count} {kind}numbers, one for each axis");
                return Err(Diagnostic::new(message, self.place(key)).into());
            }
        }
        let axes = origin.iter().zip(spacing).zip(shape);
        Ok(Some(axes.map(|((&first, &step), &count)| GridAxis { first, step, count }).collect()))
    }

    fn alone(&self, key: &str, other: &str) -> Error {
        Diagnostic::new(format!("`{key}` needs `{other}` beside it"), self.place(key)).into()
    }

    /// The file's own grid, if what is stated beside it is the same.
    fn agreed(&self, own: Vec<GridAxis>, stated: &[GridAxis]) -> Result<Vec<GridAxis>> {
        let apart = |a: f64, b: f64, step: f64| (a - b).abs() > SAME * step;
        for ((own, stated), coordinate) in own.iter().zip(stated).zip(&self.own) {
            let spacing =
                apart(own.step, stated.step, own.step).then_some(("spacing", own.step, stated.step));
            let origin = apart(own.first, stated.first, own.step);
            let origin = origin.then_some(("origin", own.first, stated.first));
            if let Some((key, found, said)) = spacing.or(origin) {
                let message = format!(
                    "{} has the {key} {found} along `{}`, not {said}",
                    self.spec.file, coordinate.name
                );
                return Err(Diagnostic::new(message, self.place(key))
                    .help("leave out `origin` and `spacing`")
                    .into());
            }
        }
        Ok(own)
    }

    /// Nodes from end to end of the domain.
    fn spread(&self, shape: &[usize]) -> Vec<GridAxis> {
        let axis = |(c, &count): (&&Coordinate, &usize)| {
            let cells = count.saturating_sub(1).max(1);
            GridAxis { first: c.lo, step: (c.hi - c.lo) / cells as f64, count }
        };
        self.own.iter().zip(shape).map(axis).collect()
    }

    fn check_range(&self, raster: &Raster) -> Result<()> {
        let Some((lo, hi)) = self.spec.range else { return Ok(()) };
        match raster.values.iter().position(|&value| value < lo || value > hi) {
            None => Ok(()),
            Some(number) => {
                let (value, place) = (raster.values[number], raster.place(&self.own, number));
                let message =
                    format!("{} has the value {value} at {place}, outside [{lo}, {hi}]", self.spec.file);
                Err(Diagnostic::new(message, self.place("range")).into())
            }
        }
    }
}

impl Loaded {
    fn of_image(image: Image) -> Self {
        let axis = |row: usize| GridAxis {
            first: image.origin[row],
            step: image.spacing[row],
            count: image.shape[row],
        };
        Self { shape: image.shape.to_vec(), axes: Some([0, 1, 2].map(axis).to_vec()), values: image.data }
    }

    /// Without axes of one value, unless there are as many axes as are wanted.
    fn without_single_axes(mut self, wanted: usize) -> Self {
        if self.shape.len() != wanted {
            let kept = |i: &usize| self.shape[*i] != 1;
            let kept: Vec<usize> = (0..self.shape.len()).filter(kept).collect();
            self.axes = self.axes.map(|axes| kept.iter().map(|&i| axes[i]).collect());
            self.shape = kept.into_iter().map(|i| self.shape[i]).collect();
        }
        self
    }
}
