//! Derivatives of observed values by the unknowns' variables eta: by the tangents of the classical
//! solution, one linear solve per unknown and time step, and by its adjoint, one for all unknowns.

use super::{Evaluated, TwinSolution};
use crate::diagnostic::Result;
use crate::problem::Formula;
use bilo_expr::{Input, Leaf};
use bilo_solve::{Solution, SolveError};

/// Values at points and their derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct WithSlopes {
    /// The values.
    pub values: Vec<f64>,
    /// d value / d eta_j, one column per unknown.
    pub slopes: Vec<Vec<f64>>,
}

impl TwinSolution<'_> {
    /// A formula at points with its total derivatives by each eta: through the states, and where the
    /// unknowns stand in the formula. The tangents behind it are computed once per solution.
    pub fn observe_with_slopes(&self, formula: &Formula, columns: &[Vec<f64>]) -> Result<WithSlopes> {
        let tangents = self.tangents()?;
        let mut evaluated = self.evaluate(formula, columns)?;
        let values = evaluated.scratch.output(&evaluated.tape, 0).to_vec();
        let mut slopes = vec![vec![0.0; values.len()]; self.eta.len()];
        for (leaf, by_leaf) in evaluated.pull_back(Input::Uniform(1.0)) {
            for (j, slope) in slopes.iter_mut().enumerate() {
                match leaf {
                    Leaf::Derivative(function, index) => {
                        let (orders, points) = self.twin.axes.along(index, columns);
                        let moved = tangents[j].sample(self.twin.state(*function), &orders, &points);
                        add_product(slope, by_leaf, moved);
                    }
                    Leaf::Symbol(symbol) if *symbol == self.twin.names.eta[j] => {
                        slope.iter_mut().zip(by_leaf).for_each(|(sum, by_leaf)| *sum += by_leaf);
                    }
                    Leaf::Symbol(_) => {}
                }
            }
        }
        Ok(WithSlopes { values, slopes })
    }

    /// d/d eta of Σ_i weights_i value_i over the points, by one adjoint solve whatever the number of
    /// unknowns.
    pub fn gradient(&self, formula: &Formula, columns: &[Vec<f64>], weights: &[f64]) -> Result<Vec<f64>> {
        let mut evaluated = self.evaluate(formula, columns)?;
        let mut load = self.solution.load();
        let mut explicit = vec![0.0; self.eta.len()];
        for (leaf, by_leaf) in evaluated.pull_back(Input::Column(weights)) {
            match leaf {
                Leaf::Derivative(function, index) => {
                    let (orders, points) = self.twin.axes.along(index, columns);
                    self.solution.scatter(&mut load, self.twin.state(*function), &orders, &points, by_leaf);
                }
                Leaf::Symbol(symbol) => {
                    if let Some(j) = self.twin.names.eta.iter().position(|eta| eta == symbol) {
                        explicit[j] += by_leaf.iter().sum::<f64>();
                    }
                }
            }
        }
        let through_states = self.twin.solver.adjoint(&self.solution, &load)?.parameters;
        Ok(explicit.iter().zip(through_states).map(|(explicit, through)| explicit + through).collect())
    }

    fn tangents(&self) -> std::result::Result<&[Solution], SolveError> {
        let tangents = self.tangents.get_or_init(|| self.twin.solver.tangent(&self.solution));
        tangents.as_deref().map_err(Clone::clone)
    }
}

impl Evaluated {
    /// The derivative of Σ seed · value by each leaf, by point.
    fn pull_back(&mut self, seed: Input<'_, f64>) -> impl Iterator<Item = (&Leaf, &[f64])> {
        self.tape.adjoint(&[seed], &mut self.scratch);
        let (tape, scratch) = (&self.tape, &self.scratch);
        self.leaves.iter().enumerate().map(|(input, leaf)| (leaf, scratch.input_adjoint(tape, input)))
    }
}

fn add_product(sum: &mut [f64], a: &[f64], b: Vec<f64>) {
    sum.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
}
