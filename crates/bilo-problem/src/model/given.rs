//! Given fields: functions of coordinates that are known by their values on a grid, such as images and logs.

use crate::diagnostic::Origin;
use crate::grid::spline::Spline;
use std::sync::Arc;

/// A function of coordinates by its values on a grid of even spacing, or of one coordinate at any nodes.
#[derive(Clone, Debug)]
pub struct GivenField {
    /// Its name in expressions.
    pub name: String,
    /// The coordinates that it depends on, by number, ascending: the axes of the spline.
    pub of: Vec<usize>,
    /// The function.
    pub spline: Arc<Spline>,
    /// The smallest and the largest value at the nodes.
    pub range: (f64, f64),
    /// Where the values come from, in words.
    pub source: String,
    /// Where the problem names them.
    pub origin: Origin,
}

/// Two are the same if they say the same, wherever they were written.
impl PartialEq for GivenField {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.of, &self.spline) == (&other.name, &other.of, &other.spline)
    }
}

impl GivenField {
    /// What may not be meant of it.
    pub(crate) fn remark(&self) -> Option<String> {
        let values = self.spline.zigzags()?;
        Some(format!(
            "given.{} goes back and forth between {values} values in straight lines; if it is switched, write `interpolation = \"previous\"`",
            self.name
        ))
    }

    /// A derivative, of these orders along its coordinates, at points given by one column per coordinate of
    /// the problem.
    pub fn at(&self, columns: &[Vec<f64>], orders: &[u8]) -> Vec<f64> {
        let own: Vec<&[f64]> = self.of.iter().map(|&c| &columns[c][..]).collect();
        self.spline.at(&own, orders)
    }

    /// Its values at points given by one column per coordinate of its own.
    pub fn at_own(&self, columns: &[Vec<f64>]) -> Vec<f64> {
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        self.spline.at(&columns, &vec![0; columns.len()])
    }
}
