//! Pictures of a result over two coordinates.

use crate::model::formula::Formula;

/// A picture of the result of a run: a field in colours and contours, over two coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its name, which its file has too.
    pub name: String,
    /// The coordinates to the right and upwards, by number.
    pub axes: [usize; 2],
    /// Where every other coordinate is held.
    pub at: Vec<(usize, f64)>,
    /// In grey behind all else, an expression like an observation's.
    pub background: Option<Formula>,
    /// In colours, an expression like an observation's.
    pub field: Option<Formula>,
    /// Lines.
    pub contours: Vec<Contour>,
}

/// Where a quantity passes a level, and where observed values pass one half.
#[derive(Clone, Debug, PartialEq)]
pub struct Contour {
    /// The quantity, an expression like an observation's.
    pub value: Formula,
    /// The level, an expression of constants and unknown numbers, which stand for their estimates.
    pub level: Formula,
    /// The observation, by number, whose contour is drawn beside it.
    pub data: Option<usize>,
    /// For people.
    pub name: String,
}

impl Picture {
    /// All its formulas but the levels.
    pub(crate) fn formulas(&self) -> impl Iterator<Item = &Formula> {
        let values = self.contours.iter().map(|contour| &contour.value);
        self.background.iter().chain(&self.field).chain(values)
    }
}
