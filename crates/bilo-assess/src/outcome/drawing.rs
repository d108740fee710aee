//! What pictures show, as plain arrays.

/// What a picture shows. Values are in row-major order: all of the second axis for the first node of the first one.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The picture's name.
    pub name: String,
    /// Names of the axes.
    pub names: [String; 2],
    /// Their nodes, ascending.
    pub axes: [Vec<f64>; 2],
    /// Whether both axes are lengths.
    pub to_scale: bool,
    /// Names and values of all other coordinates.
    pub at: Vec<(String, f64)>,
    /// In grey behind all else.
    pub background: Option<Vec<f64>>,
    /// In colours.
    pub field: Option<Shown>,
    /// Contours, those of one quantity side by side.
    pub lines: Vec<Line>,
}

/// A quantity at the nodes of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// As it was written.
    pub name: String,
    /// By which solution.
    pub whose: Whose,
    /// Its values.
    pub values: Vec<f64>,
}

/// Where a quantity passes a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The contour of the picture that it belongs to, by number.
    pub contour: usize,
    /// The name of that.
    pub name: String,
    /// By which solution, or observed.
    pub whose: Whose,
    /// Nodes along both axes of the drawing, ascending.
    pub axes: [Vec<f64>; 2],
    /// The quantity at these nodes.
    pub values: Vec<f64>,
    /// The level.
    pub level: f64,
}

/// Where values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The network's solution.
    Network,
    /// The classical solution at the estimate.
    Classical,
    /// Observed.
    Data,
}
