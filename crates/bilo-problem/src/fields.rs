//! Arrays over one tensor grid.

use crate::Problem;

/// A named array over the grid of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name of the array, e.g. `u_network`, `u_classical`, `residual_front`.
    pub name: String,
    /// The axes, by number, that it depends on.
    pub of: Vec<usize>,
    /// Values in row-major order of these axes.
    pub values: Vec<f64>,
}

impl Field {
    /// Over all coordinates of a problem.
    pub fn everywhere(problem: &Problem, name: String, values: Vec<f64>) -> Field {
        Field { name, of: (0..problem.coordinates.len()).collect(), values }
    }
}

/// Solutions, residuals and unknown functions on one tensor grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// Name and nodes of each coordinate, then of each state that an unknown function depends on.
    pub axes: Vec<(String, Vec<f64>)>,
    /// The arrays.
    pub arrays: Vec<Field>,
}
