//! A value of everything that is unknown.

use crate::Problem;
use crate::diagnostic::Result;

/// The variables eta of the scalar unknowns, and the values of each unknown function at the nodes of
/// its grid. A gradient has the same shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Theta {
    /// One per scalar.
    pub eta: Vec<f64>,
    /// One list per function.
    pub functions: Vec<Vec<f64>>,
}

impl Theta {
    /// Where the search starts.
    pub fn guess(problem: &Problem) -> Result<Theta> {
        Ok(Theta {
            eta: problem.eta_of_guess(),
            functions: (problem.functions.iter())
                .map(|function| function.on_nodes(problem, &function.guess))
                .collect::<Result<_>>()?,
        })
    }

    /// Zero in the same shape.
    pub fn zeros(&self) -> Theta {
        let functions = self.functions.iter().map(|values| vec![0.0; values.len()]);
        Theta { eta: vec![0.0; self.eta.len()], functions: functions.collect() }
    }

    /// Adds another of the same shape.
    pub fn add(&mut self, other: &Theta) {
        let ours = std::iter::once(&mut self.eta).chain(&mut self.functions);
        for (ours, theirs) in ours.zip(std::iter::once(&other.eta).chain(&other.functions)) {
            ours.iter_mut().zip(theirs).for_each(|(sum, term)| *sum += term);
        }
    }
}

/// Without functions.
impl From<&[f64]> for Theta {
    fn from(eta: &[f64]) -> Theta {
        Theta { eta: eta.to_vec(), functions: vec![] }
    }
}

/// Without functions.
impl<const N: usize> From<&[f64; N]> for Theta {
    fn from(eta: &[f64; N]) -> Theta {
        Theta::from(&eta[..])
    }
}

/// Without functions.
impl From<&Vec<f64>> for Theta {
    fn from(eta: &Vec<f64>) -> Theta {
        Theta::from(&eta[..])
    }
}

impl From<&Theta> for Theta {
    fn from(theta: &Theta) -> Theta {
        theta.clone()
    }
}

/// The size that relative changes are relative to, of what may be zero.
pub fn unit(size: f64) -> f64 {
    if size == 0.0 { 1.0 } else { size }
}
