//! Given fields as a user states them.

use crate::grid::spline::Interpolation;
use crate::written::data::FileLayout;

/// A given field as a user states it.
#[derive(Clone, Debug)]
pub struct GivenSpec {
    pub(crate) name: String,
    pub(crate) content: GivenContent,
    /// The first call that does not go with the content.
    pub(crate) misplaced: Option<&'static str>,
}

/// Where the values of a given field come from.
#[derive(Clone, Debug)]
pub(crate) enum GivenContent {
    Grid { of: Vec<String>, nodes: Vec<Vec<f64>>, values: Vec<f64>, interpolation: Interpolation },
    Diffuse { condition: String, width: f64, floor: f64 },
    Image(ImageSpec),
}

/// An image in a file.
#[derive(Clone, Debug)]
pub(crate) struct ImageSpec {
    pub(crate) file: String,
    /// The array of an archive; the field's name if it is not stated.
    pub(crate) array: Option<String>,
    /// The coordinate of each axis; all of space if it is not stated.
    pub(crate) of: Option<Vec<String>>,
    /// The first node along each axis, and the distance of neighbours.
    pub(crate) origin: Option<Vec<f64>>,
    pub(crate) spacing: Option<Vec<f64>>,
    /// A value outside is an error.
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) scale: f64,
    pub(crate) interpolation: Option<Interpolation>,
    /// How a table says what it says.
    pub(crate) layout: FileLayout,
}

impl ImageSpec {
    /// Whether it is a table in text.
    pub(crate) fn is_table(&self) -> bool {
        self.file.to_ascii_lowercase().ends_with(".csv")
    }

    /// What is between its nodes: unless stated, lines between those of a table, which is what a logger wrote.
    pub(crate) fn between(&self) -> Interpolation {
        self.interpolation.unwrap_or(match self.is_table() {
            true => Interpolation::Linear,
            false => Interpolation::Cubic,
        })
    }
}

impl GivenSpec {
    /// The value far from where a condition holds, unless stated: an equation degenerates at zero.
    pub(crate) const FLOOR: f64 = 1e-3;

    /// Whether it has kinks or jumps between its nodes.
    pub(crate) fn is_rough(&self) -> bool {
        let between = match &self.content {
            GivenContent::Grid { interpolation, .. } => *interpolation,
            GivenContent::Image(image) => image.between(),
            GivenContent::Diffuse { .. } => return false,
        };
        between.smoothness() == 0
    }

    fn new(name: &str, content: GivenContent) -> Self {
        Self { name: name.to_owned(), content, misplaced: None }
    }

    /// Values in row-major order over nodes of even distance along some coordinates, by cubic splines.
    pub fn grid<'a>(
        name: &str,
        of: impl IntoIterator<Item = &'a str>,
        nodes: Vec<Vec<f64>>,
        values: Vec<f64>,
    ) -> Self {
        let of = of.into_iter().map(str::to_string).collect();
        Self::new(name, GivenContent::Grid { of, nodes, values, interpolation: Interpolation::Cubic })
    }

    /// The places where a condition of other given fields holds, as a smooth function that rises from
    /// 5 % to 95 % over a width.
    pub fn diffuse(name: &str, condition: &str, width: f64) -> Self {
        let condition = condition.to_string();
        Self::new(name, GivenContent::Diffuse { condition, width, floor: GivenSpec::FLOOR })
    }

    /// An image in a file, found in the folder that [`crate::ProblemBuilder::build_in`] is told.
    pub fn image(name: &str, file: &str) -> Self {
        let image = ImageSpec {
            file: file.to_owned(),
            array: None,
            of: None,
            origin: None,
            spacing: None,
            range: None,
            scale: 1.0,
            interpolation: None,
            layout: FileLayout::default(),
        };
        Self::new(name, GivenContent::Image(image))
    }

    /// What is between the nodes of values on a grid.
    pub fn interpolation(mut self, chosen: Interpolation) -> Self {
        match &mut self.content {
            GivenContent::Grid { interpolation, .. } => *interpolation = chosen,
            GivenContent::Image(image) => image.interpolation = Some(chosen),
            GivenContent::Diffuse { .. } => self.misplace("`interpolation` belongs to values on a grid"),
        }
        self
    }

    /// The value far from where a condition holds.
    pub fn floor(mut self, chosen: f64) -> Self {
        match &mut self.content {
            GivenContent::Diffuse { floor, .. } => *floor = chosen,
            _ => self.misplace("`floor` belongs to a diffuse domain"),
        }
        self
    }

    /// The array of an archive `.npz`.
    pub fn array(self, name: &str) -> Self {
        self.of_image(|image| image.array = Some(name.to_owned()))
    }

    /// The coordinate of each axis of an image.
    pub fn along<'a>(self, of: impl IntoIterator<Item = &'a str>) -> Self {
        self.of_image(|image| image.of = Some(of.into_iter().map(str::to_owned).collect()))
    }

    /// The first node along each axis of an image, and the distance of neighbours.
    pub fn placed(self, origin: impl Into<Vec<f64>>, spacing: impl Into<Vec<f64>>) -> Self {
        self.of_image(|image| (image.origin, image.spacing) = (Some(origin.into()), Some(spacing.into())))
    }

    /// Multiplies the values of an image.
    pub fn scale(self, scale: f64) -> Self {
        self.of_image(|image| image.scale = scale)
    }

    /// The values that an image may have, after scaling.
    pub fn range(self, lo: f64, hi: f64) -> Self {
        self.of_image(|image| image.range = Some((lo, hi)))
    }

    fn of_image(mut self, change: impl FnOnce(&mut ImageSpec)) -> Self {
        match &mut self.content {
            GivenContent::Image(image) => change(image),
            _ => self.misplace("`array`, `along`, `placed`, `scale` and `range` belong to an image"),
        }
        self
    }

    fn misplace(&mut self, message: &'static str) {
        self.misplaced.get_or_insert(message);
    }
}
