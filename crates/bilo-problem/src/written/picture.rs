//! Pictures as a user states them.

/// A picture as a user states it: by the names of coordinates and observations.
#[derive(Clone, Debug, Default)]
pub struct PictureSpec {
    pub(crate) name: String,
    /// Those of space come first if none are named.
    pub(crate) axes: Option<[String; 2]>,
    pub(crate) at: Vec<(String, f64)>,
    pub(crate) background: Option<String>,
    pub(crate) field: Option<String>,
    pub(crate) contours: Vec<ContourSpec>,
}

/// A line of a picture as a user states it.
#[derive(Clone, Debug)]
pub struct ContourSpec {
    pub(crate) value: String,
    pub(crate) level: String,
    pub(crate) data: Option<String>,
    pub(crate) name: Option<String>,
}

impl PictureSpec {
    /// A picture that shows nothing yet.
    pub fn new(name: &str) -> PictureSpec {
        PictureSpec { name: name.to_owned(), ..PictureSpec::default() }
    }

    /// The coordinates to the right and upwards.
    pub fn axes(self, right: &str, up: &str) -> PictureSpec {
        PictureSpec { axes: Some([right.to_owned(), up.to_owned()]), ..self }
    }

    /// Where a coordinate is held that is no axis.
    pub fn hold(mut self, coordinate: &str, value: f64) -> PictureSpec {
        self.at.push((coordinate.to_owned(), value));
        self
    }

    /// What is shown in grey behind all else, an expression like an observation's.
    pub fn background(self, value: &str) -> PictureSpec {
        PictureSpec { background: Some(value.to_owned()), ..self }
    }

    /// What is shown in colours, an expression like an observation's.
    pub fn field(self, value: &str) -> PictureSpec {
        PictureSpec { field: Some(value.to_owned()), ..self }
    }

    /// Adds a line.
    pub fn contour(mut self, contour: ContourSpec) -> PictureSpec {
        self.contours.push(contour);
        self
    }
}

impl ContourSpec {
    /// Where a quantity passes a level, an expression of constants and unknown numbers.
    pub fn new(value: &str, level: &str) -> ContourSpec {
        ContourSpec { value: value.to_owned(), level: level.to_owned(), data: None, name: None }
    }

    /// The observation whose contour is drawn beside it.
    pub fn data(self, observation: &str) -> ContourSpec {
        ContourSpec { data: Some(observation.to_owned()), ..self }
    }

    /// What the legend calls it.
    pub fn name(self, name: &str) -> ContourSpec {
        ContourSpec { name: Some(name.to_owned()), ..self }
    }
}
