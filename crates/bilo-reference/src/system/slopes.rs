//! Derivatives of observed values by the unknowns' variables eta: by the tangents of the classical
//! solution, one linear solve per unknown and time step, and by its adjoint, one for all unknowns.

use super::observe::EvaluatedFormula;
use super::profile::Profile;
use super::{Engine, ReferenceError, Solved, SystemSolution, solver_nodes};
use bilo_expr::{Input, Leaf, MultiIndex};
use bilo_fit::sensitivities::Sensitivities;
use bilo_problem::Formula;
use bilo_problem::diagnostic::Result;
use bilo_problem::theta::Theta;
use bilo_solve::Solution;
use bilo_solve::conservation::{Evolution, Inputs};

/// Derivatives of a solution by each eta.
pub(super) enum Tangents {
    Central(Vec<Solution>),
    Godunov(Vec<Evolution>),
}

impl SystemSolution<'_> {
    /// A formula at points with its total derivatives by each eta: through the states, and where the
    /// unknowns stand in the formula. The tangents behind it are computed once per solution.
    pub(crate) fn observe_with_slopes(
        &self,
        formula: &Formula,
        columns: &[Vec<f64>],
    ) -> Result<Sensitivities> {
        let tangents = self.tangents()?;
        let mut evaluated = self.evaluate(formula, columns)?;
        let values = evaluated.values();
        let mut slopes = vec![vec![0.0; values.len()]; self.reference.names.eta.len()];
        for (leaf, by_leaf) in evaluated.pull_back(Input::Uniform(1.0)) {
            for (j, slope) in slopes.iter_mut().enumerate() {
                match leaf {
                    Leaf::Derivative(function, index) => {
                        // Unknown functions and given fields do not move with the scalars.
                        if let Some(state) = self.reference.state(*function) {
                            add_product(slope, by_leaf, self.moved(tangents, j, state, index, columns));
                        }
                    }
                    Leaf::Symbol(symbol) if *symbol == self.reference.names.eta[j] => {
                        slope.iter_mut().zip(by_leaf).for_each(|(sum, by_leaf)| *sum += by_leaf);
                    }
                    Leaf::Symbol(_) => {}
                }
            }
        }
        Ok(Sensitivities { values, slopes })
    }

    /// Solves for the derivatives by the scalars, which are kept.
    pub(crate) fn find_tangents(&self) -> std::result::Result<(), ReferenceError> {
        self.tangents().map(drop)
    }

    /// The derivatives of Σ_i weights_i value_i over the points by everything unknown, by one adjoint
    /// solve.
    ///
    /// # Panics
    /// If the solution is that of a stated truth rather than of values on grids.
    pub(crate) fn gradient(&self, formula: &Formula, columns: &[Vec<f64>], weights: &[f64]) -> Result<Theta> {
        let mut evaluated = self.evaluate(formula, columns)?;
        let mut gradient = self.no_slopes();
        let mut by_parameters = vec![0.0; self.parameters.len()];
        let mut by_states = vec![];
        for (leaf, by_leaf) in evaluated.pull_back(Input::Column(weights)) {
            match leaf {
                Leaf::Derivative(function, index) => match self.reference.state(*function) {
                    Some(state) => by_states.push((state, index.clone(), by_leaf.to_vec())),
                    None if self.reference.names.given_field(*function).is_some() => {}
                    None => {
                        let unknown = self.reference.unknown_function(*function);
                        let lattice = &self.reference.lattices[unknown];
                        lattice.scatter(&mut gradient.functions[unknown], &lattice.select(columns), by_leaf);
                    }
                },
                Leaf::Symbol(symbol) => {
                    if let Some(j) =
                        self.reference.parameters.iter().position(|parameter| parameter == symbol)
                    {
                        by_parameters[j] += by_leaf.iter().sum::<f64>();
                    }
                }
            }
        }
        add(&mut by_parameters, &self.through_states(&by_states, columns, &mut gradient)?);
        let (by_eta, mut rest) = by_parameters.split_at(gradient.eta.len());
        add(&mut gradient.eta, by_eta);
        for (by_values, &count) in gradient.functions.iter_mut().zip(&self.reference.nodal) {
            let (own, others) = rest.split_at(count);
            add(by_values, own);
            rest = others;
        }
        Ok(gradient)
    }

    /// Zero for everything unknown.
    fn no_slopes(&self) -> Theta {
        let zeros = |profile: &Profile| match profile {
            Profile::Nodal(values) => vec![0.0; values.len()],
            Profile::Known(_) => panic!("what is stated has no values to differentiate by"),
        };
        let functions = self.profiles.iter().map(zeros).collect();
        Theta { eta: vec![0.0; self.reference.names.eta.len()], functions }
    }

    /// One adjoint solve, loaded with weights on derivatives of states at points: returns the derivatives by
    /// the parameters and adds those by functions of coordinates.
    fn through_states(
        &self,
        by_states: &[(usize, MultiIndex, Vec<f64>)],
        columns: &[Vec<f64>],
        gradient: &mut Theta,
    ) -> std::result::Result<Vec<f64>, ReferenceError> {
        match (&self.reference.engine, &self.solved) {
            (Engine::Central(solver), Solved::Central(solution)) => {
                let mut load = solution.load();
                for (state, index, weights) in by_states {
                    let (orders, points) = self.reference.axes.along(index, columns);
                    solution.scatter(&mut load, *state, &orders, &points, weights);
                }
                let found = solver.adjoint(solution, &load)?;
                // Given fields, which come after the unknown functions, are not differentiated by.
                let functions = self.reference.coefficients.iter().zip(&found.coefficients);
                for (coefficient, (&function, by_nodes)) in functions.enumerate() {
                    let resolution = &self.reference.resolution;
                    let nodes = solver_nodes(solver, coefficient, &self.parameters, resolution)?;
                    self.pull_back_profile(gradient, function, &nodes, by_nodes);
                }
                Ok(found.parameters)
            }
            (Engine::Godunov(godunov, start), Solved::Godunov(run)) => {
                let weights = by_states.iter().map(|(_, _, weights)| weights);
                let places = weights.flat_map(|weights| self.reference.axes.plane(columns).zip(weights));
                let places: Vec<_> = places.map(|((x, t), &weight)| (x, t, weight)).collect();
                let found = run.adjoint(&run.evolution.scatter(&places))?;
                if let Some(function) = *start {
                    let nodes = [self.reference.cell_nodes(godunov)];
                    self.pull_back_profile(gradient, function, &nodes, &found.initial);
                }
                Ok(found.parameters)
            }
            _ => unreachable!("solved by its own engine"),
        }
    }

    /// From derivatives by an unknown function at the solver's nodes to those at the nodes of its grid.
    fn pull_back_profile(&self, gradient: &mut Theta, function: usize, nodes: &[Vec<f64>], by_nodes: &[f64]) {
        let columns: Vec<&[f64]> = nodes.iter().map(|column| &column[..]).collect();
        self.reference.lattices[function].scatter(&mut gradient.functions[function], &columns, by_nodes);
    }

    /// How a derivative of a state moves with eta_j at points.
    fn moved(
        &self,
        tangents: &Tangents,
        j: usize,
        state: usize,
        index: &MultiIndex,
        columns: &[Vec<f64>],
    ) -> Vec<f64> {
        match tangents {
            Tangents::Central(tangents) => {
                let (orders, points) = self.reference.axes.along(index, columns);
                tangents[j].sample(state, &orders, &points)
            }
            Tangents::Godunov(tangents) => {
                let points: Vec<(f64, f64)> = self.reference.axes.plane(columns).collect();
                tangents[j].sample(&points)
            }
        }
    }

    fn tangents(&self) -> std::result::Result<&Tangents, ReferenceError> {
        let tangents = self.tangents.get_or_init(|| match (&self.reference.engine, &self.solved) {
            (Engine::Central(solver), Solved::Central(solution)) => {
                Ok(Tangents::Central(solver.tangent(solution, self.reference.names.eta.len())?))
            }
            (_, Solved::Godunov(run)) => {
                let count = self.parameters.len();
                let unit = |j: usize| (0..count).map(|i| f64::from(i == j)).collect();
                let still = vec![0.0; run.inputs().initial.len()];
                let along = |j: usize| run.tangent(&Inputs { parameters: unit(j), initial: still.clone() });
                let tangents: std::result::Result<_, _> = (0..count).map(along).collect();
                Ok(Tangents::Godunov(tangents?))
            }
            (Engine::Godunov(..), Solved::Central(_)) => unreachable!("solved by its own engine"),
        });
        tangents.as_ref().map_err(Clone::clone)
    }
}

impl EvaluatedFormula {
    /// The derivative of Σ seed · value by each leaf, by point.
    fn pull_back(&mut self, seed: Input<'_, f64>) -> impl Iterator<Item = (&Leaf, &[f64])> {
        self.tape.adjoint(&[seed], &mut self.scratch);
        let (tape, scratch) = (&self.tape, &self.scratch);
        self.leaves.iter().enumerate().map(|(input, leaf)| (leaf, scratch.input_adjoint(tape, input)))
    }
}

fn add(sum: &mut [f64], terms: &[f64]) {
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

fn add_product(sum: &mut [f64], a: &[f64], b: Vec<f64>) {
    sum.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
}
