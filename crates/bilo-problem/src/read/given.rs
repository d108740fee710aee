//! The table `[given]`: fields from images.

use crate::classical::divided;
use crate::diagnostic::{Diagnostic, Error, Result, list};
use crate::files::folder::Folder;
use crate::grid::raster::Raster;
use crate::model::{Constant, Coordinate};
use crate::nifti::{Image, MOST_VOXELS};
use crate::npy::{Archive, Array};
use crate::resolve::diffuse::Diffuse;
use crate::resolve::given::{self, GivenField, Stated, Values, numbers_of, resolve};
use crate::schema;
use crate::spline::{GridAxis, Interpolation};
use crate::tree::reader::{Reader, numbers, pair, string, table, wrong_type};
use crate::tree::{Entry, Node, Table, Value};

/// Most bytes of a file: those of the largest image in double precision.
const MOST_BYTES: u64 = 8 * MOST_VOXELS as u64 + (1 << 20);

/// Distances and places that differ by less than this part of a cell are the same.
const SAME: f64 = 1e-4;

/// Reads all given fields; files are found in `folder`.
pub(crate) fn read_given(
    tree: &Table,
    coordinates: &[Coordinate],
    constants: &[Constant],
    folder: Folder<'_>,
) -> Result<Vec<GivenField>> {
    let Some(node) = tree.get("given") else { return Ok(vec![]) };
    let entries = &table(node, "given")?.entries;
    let read = |entry: &Entry| {
        let path = format!("given.{}", entry.key);
        let is_diffuse = table(&entry.node, &path)?.get("diffuse").is_some();
        if is_diffuse {
            read_diffuse(&path, entry, constants)
        } else {
            read_image(&path, entry, coordinates, constants, folder)
        }
    };
    let stated = entries.iter().map(read).collect::<Result<Vec<_>>>()?;
    resolve(stated, coordinates, constants)
}

fn read_diffuse(path: &str, entry: &Entry, constants: &[Constant]) -> Result<Stated> {
    let reader = Reader::of(&entry.node, path, constants, &schema::DIFFUSE.names())?;
    let condition = reader.formula("diffuse")?.ok_or_else(|| reader.missing("diffuse", "\"m > 0.5\""))?;
    let width = reader.number("width")?.ok_or_else(|| reader.missing("width", "3.0"))?;
    let floor = reader.number("floor")?.unwrap_or(Diffuse::DEFAULT_FLOOR);
    Ok(Stated {
        name: entry.key.clone(),
        source: format!("`{}`, smoothed over {width}", condition.text),
        content: given::Content::Diffuse(Diffuse::new(condition, width, floor)),
        origin: entry.node.origin.clone(),
    })
}

fn read_image(
    path: &str,
    entry: &Entry,
    coordinates: &[Coordinate],
    constants: &[Constant],
    folder: Folder<'_>,
) -> Result<Stated> {
    let reader = Reader::of(&entry.node, path, constants, &schema::IMAGE.names())?;
    let file = reader.require("file", "\"image.nii.gz\"")?;
    let of = read_of(&reader, coordinates)?;
    let own: Vec<&Coordinate> = of.iter().map(|&c| &coordinates[c]).collect();
    let image = ImageFile { reader, key: &entry.key, name: string(file, "file")?, node: file, own, folder };
    let mut raster = image.raster()?;
    let scale = image.reader.number("scale")?.unwrap_or(1.0);
    raster.values.iter_mut().for_each(|value| *value *= scale);
    image.check_range(&raster)?;
    let interpolation = image.reader.choice("interpolation", &Interpolation::NAMED)?;
    let values = Values::new(raster, &of, interpolation.unwrap_or(Interpolation::Cubic));
    Ok(Stated {
        name: entry.key.clone(),
        content: given::Content::Values(values),
        source: format!("from {}", image.name),
        origin: file.origin.clone(),
    })
}

/// The coordinates of an image's axes: all of space, unless stated.
fn read_of(reader: &Reader<'_>, coordinates: &[Coordinate]) -> Result<Vec<usize>> {
    let Some(node) = reader.get("of") else { return Ok(divided(coordinates)) };
    let Value::List(items) = &node.value else {
        return Err(wrong_type(node, "of", "a list of coordinates, such as `[\"x\", \"y\"]`"));
    };
    let names = items.iter().map(|item| string(item, "of")).collect::<Result<Vec<_>>>()?;
    numbers_of(&names, coordinates).map_err(|(why, place)| {
        let origin = items.get(place).unwrap_or(node).origin.clone();
        Diagnostic::new(why, origin).into()
    })
}

/// An image as a problem names it.
struct ImageFile<'a> {
    reader: Reader<'a>,
    /// The field's name.
    key: &'a str,
    name: &'a str,
    node: &'a Node,
    /// The coordinates of its axes, in their order.
    own: Vec<&'a Coordinate>,
    folder: Folder<'a>,
}

/// What a file says: values in row-major order, and nodes along each axis of them if it says that.
struct Loaded {
    shape: Vec<usize>,
    values: Vec<f64>,
    axes: Option<Vec<GridAxis>>,
}

impl ImageFile<'_> {
    fn error(&self, message: String) -> Diagnostic {
        Diagnostic::new(message, self.node.origin.clone())
    }

    fn damaged(&self, why: impl std::fmt::Display) -> Error {
        self.error(format!("{}: {why}", self.name)).into()
    }

    /// The values over the coordinates, in the order of the image.
    fn raster(&self) -> Result<Raster> {
        let Loaded { shape, values, axes } = self.load()?.without_single_axes(self.own.len());
        if shape.len() != self.own.len() {
            let names: Vec<&str> = self.own.iter().map(|c| c.name.as_str()).collect();
            let message =
                format!("{} has shape {shape:?}, and `{}` depends on {}", self.name, self.key, list(names));
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
        let lower = self.name.to_ascii_lowercase();
        let is = |ending: &str| lower.ends_with(ending);
        if ![".npy", ".npz", ".nii", ".nii.gz"].into_iter().any(is) {
            let error = self.error(format!("{} has no known format", self.name));
            return Err(error.help("choose from `.npy`, `.npz`, `.nii`, `.nii.gz`").into());
        }
        let bytes = self.folder.read_up_to(self.name, MOST_BYTES).map_err(|why| {
            let path = self.folder.path(self.name);
            self.error(format!("cannot read {}: {why}", path.display()))
        })?;
        if let Some(array) = self.reader.get("array").filter(|_| !is(".npz")) {
            let message = "`array` belongs to a file `.npz`, which has several";
            return Err(Diagnostic::new(message, array.origin.clone()).into());
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
        let wanted = self.reader.string("array")?.unwrap_or_else(|| self.key.to_owned());
        let names = archive.names();
        let mut member = |name: &str| archive.array(name).map_err(|why| self.damaged(why));
        let Some(array) = member(&wanted)? else {
            let message = format!("there is no array `{wanted}` in {}", self.name);
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
            let message =
                format!("{} has nodes along `{}`, and none along `{}`", self.name, nodes[0].0, missing.name);
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
        let Raster { axes, values } = Raster::over_nodes(&nodes, values).map_err(|why| self.damaged(why))?;
        Ok(Loaded { shape, values, axes: Some(axes) })
    }

    /// The grid by the keys `origin` and `spacing`, in the order of the image's axes.
    fn stated_axes(&self, shape: &[usize]) -> Result<Option<Vec<GridAxis>>> {
        let read = |key: &'static str, other: &str| {
            let Some(node) = self.reader.get(key) else { return Ok(None) };
            if self.reader.get(other).is_none() {
                let message = format!("`{key}` needs `{other}` beside it");
                return Err(Error::from(Diagnostic::new(message, node.origin.clone())));
            }
            let values = numbers(node, key, self.reader.constants())?;
            if values.len() != shape.len() || (key == "spacing" && values.iter().any(|&h| h <= 0.0)) {
                let (count, kind) = (shape.len(), if key == "spacing" { "positive " } else { "" });
                let message = format!("`{key}` must have {count} {kind}numbers, one for each axis");
                return Err(Diagnostic::new(message, node.origin.clone()).into());
            }
            Ok(Some(values))
        };
        let (Some(origin), Some(spacing)) = (read("origin", "spacing")?, read("spacing", "origin")?) else {
            return Ok(None);
        };
        let axes = origin.iter().zip(&spacing).zip(shape);
        Ok(Some(axes.map(|((&first, &step), &count)| GridAxis { first, step, count }).collect()))
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
                let message =
                    format!("{} has the {key} {found} along `{}`, not {said}", self.name, coordinate.name);
                let place = self.reader.get(key).unwrap_or(self.node).origin.clone();
                return Err(Diagnostic::new(message, place).help("leave out `origin` and `spacing`").into());
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
        let Some(node) = self.reader.get("range") else { return Ok(()) };
        let (lo, hi) = pair(node, "range", self.reader.constants())?;
        match raster.values.iter().position(|&value| value < lo || value > hi) {
            None => Ok(()),
            Some(number) => {
                let (value, place) = (raster.values[number], raster.place(&self.own, number));
                let message = format!("{} has the value {value} at {place}, outside [{lo}, {hi}]", self.name);
                Err(Diagnostic::new(message, node.origin.clone()).into())
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
