//! Derivatives of observed values by the unknowns' variables eta: by the tangents of the classical
//! solution, one linear solve per unknown and time step, and by its adjoint, one for all unknowns.

use super::nodal::NodalFunction;
use super::observe::EvaluatedFormula;
use super::parts::Standing;
use super::profile::Profile;
use super::{Engine, ReferenceError, Solved, SystemSolution, solver_nodes};
use bilo_expr::{Input, Leaf, MultiIndex};
use bilo_fit::parallel;
use bilo_fit::sensitivities::Sensitivities;
use bilo_problem::diagnostic::Result;
use bilo_problem::theta::Theta;
use bilo_problem::{Formula, Variable};
use bilo_solve::conservation::{Evolution, Inputs};
use bilo_solve::{Load, Solution};
use std::ops::Range;

/// Derivatives of a solution by each eta.
pub(super) enum Tangents {
    Central(Vec<Solution>),
    Godunov(Vec<Evolution>),
}

/// Numbers that the fields of so many adjoint solves have together, and most of these.
const ROOM: usize = 4_000_000;
const MOST_AT_ONCE: usize = 64;

/// Something that the values of a formula move with, and their derivatives by it, point by point.
struct Source {
    of: Of,
    by: Vec<f64>,
}

enum Of {
    Parameter(usize),
    /// A derivative of a state that is solved for.
    State(usize, MultiIndex),
    /// An unknown function of places.
    Function(usize),
    /// A function that is given by its values at nodes: the parameters around each point with their weights.
    Curve(Vec<[(usize, f64); 3]>),
}

/// Weights on derivatives of states at points.
struct Weighted<'s> {
    columns: Vec<Vec<f64>>,
    by_states: Vec<(usize, &'s MultiIndex, Vec<f64>)>,
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
        let mut slopes = vec![vec![0.0; columns[0].len()]; self.reference.names.eta.len()];
        for Source { of, by } in self.sources(&mut evaluated, columns)? {
            match of {
                Of::State(state, index) => {
                    for (j, slope) in slopes.iter_mut().enumerate() {
                        add_product(slope, &by, self.moved(tangents, j, state, &index, columns));
                    }
                }
                Of::Parameter(j) if j < slopes.len() => add(&mut slopes[j], &by),
                // Unknown functions do not move with the scalars.
                Of::Parameter(_) | Of::Function(_) | Of::Curve(_) => {}
            }
        }
        Ok(Sensitivities { values: evaluated.values(), slopes })
    }

    /// Solves for the derivatives by the scalars on so many threads; they are kept.
    pub(crate) fn find_tangents(&self, threads: usize) -> std::result::Result<(), ReferenceError> {
        self.tangents_on(threads).map(drop)
    }

    /// What the values of a formula move with, at each point.
    fn sources(&self, evaluated: &mut EvaluatedFormula, columns: &[Vec<f64>]) -> Result<Vec<Source>> {
        let leaves: Vec<(Leaf, Vec<f64>)> =
            evaluated.pull_back(Input::Uniform(1.0)).map(|(leaf, by)| (leaf.clone(), by.to_vec())).collect();
        let mut sources = vec![];
        for (leaf, by) in leaves {
            match leaf {
                Leaf::Symbol(symbol) => {
                    let parameter = self.reference.parameters.iter().position(|&other| other == symbol);
                    sources.extend(parameter.map(|j| Source { of: Of::Parameter(j), by }));
                }
                Leaf::Derivative(function, index) => {
                    if let Some(state) = self.reference.state(function) {
                        sources.push(Source { of: Of::State(state, index), by });
                    } else if let Some(nodal) = self.reference.nodal_function(function) {
                        self.add_nodal(&mut sources, (nodal, index.order()), by, columns)?;
                    } else if self.reference.names.given_field(function).is_none() {
                        let unknown = self.reference.unknown_function(function);
                        sources.push(Source { of: Of::Function(unknown), by });
                    }
                }
            }
        }
        Ok(sources)
    }

    /// What moves a function that is given by its values at nodes: these, and the state that it is of.
    fn add_nodal(
        &self,
        sources: &mut Vec<Source>,
        (nodal, order): (&NodalFunction, usize),
        by: Vec<f64>,
        columns: &[Vec<f64>],
    ) -> Result<()> {
        if let Variable::State(state) = nodal.of {
            let slopes = self.curve(nodal, order + 1, columns);
            let by: Vec<f64> = by.iter().zip(slopes).map(|(by, slope)| by * slope).collect();
            match self.reference.standing[state] {
                Standing::Solved(state) => {
                    let index = MultiIndex::zero(columns.len());
                    sources.push(Source { of: Of::State(state, index), by });
                }
                Standing::Defined(value) => {
                    let mut defined = self.defined(value, columns)?;
                    for mut source in self.sources(&mut defined, columns)? {
                        source.by.iter_mut().zip(&by).for_each(|(own, by)| *own *= by);
                        sources.push(source);
                    }
                }
            }
        }
        let mut around = nodal.curve.weights(&self.argument(nodal, columns), order);
        around.iter_mut().flatten().for_each(|(node, _)| *node += nodal.first);
        sources.push(Source { of: Of::Curve(around), by });
        Ok(())
    }

    /// The derivatives of a weighted sum of values by everything unknown, for each row of (point, weight), by one adjoint solve
    /// each, all of them at the same time.
    ///
    /// # Panics
    /// If the solution is that of a stated truth rather than of values on grids.
    pub(crate) fn gradients(
        &self,
        formula: &Formula,
        columns: &[Vec<f64>],
        rows: &[Vec<(usize, f64)>],
    ) -> Result<Vec<Theta>> {
        let mut evaluated = self.evaluate(formula, columns)?;
        let sources = self.sources(&mut evaluated, columns)?;
        let mut gradients = vec![self.no_slopes(); rows.len()];
        let mut by_parameters = vec![vec![0.0; self.parameters.len()]; rows.len()];
        let mut weighted = vec![];
        for ((row, gradient), by_parameters) in rows.iter().zip(&mut gradients).zip(&mut by_parameters) {
            let at = |column: &Vec<f64>| row.iter().map(|&(point, _)| column[point]).collect();
            let columns: Vec<Vec<f64>> = columns.iter().map(at).collect();
            let mut by_states = vec![];
            for Source { of, by } in &sources {
                let by: Vec<f64> = row.iter().map(|&(point, weight)| weight * by[point]).collect();
                match of {
                    Of::Parameter(j) => by_parameters[*j] += by.iter().sum::<f64>(),
                    Of::State(state, index) => by_states.push((*state, index, by)),
                    Of::Function(unknown) => {
                        let lattice = &self.reference.lattices[*unknown];
                        lattice.scatter(&mut gradient.functions[*unknown], &lattice.select(&columns), &by);
                    }
                    Of::Curve(around) => {
                        for (&(point, _), by) in row.iter().zip(by) {
                            for &(parameter, weight) in &around[point] {
                                by_parameters[parameter] += weight * by;
                            }
                        }
                    }
                }
            }
            weighted.push(Weighted { columns, by_states });
        }
        let through_states = self.through_states(&weighted, &mut gradients)?;
        for ((gradient, mut direct), through) in gradients.iter_mut().zip(by_parameters).zip(through_states) {
            add(&mut direct, &through);
            let (by_eta, mut rest) = direct.split_at(gradient.eta.len());
            add(&mut gradient.eta, by_eta);
            for (by_values, &count) in gradient.functions.iter_mut().zip(&self.reference.nodal) {
                let (own, others) = rest.split_at(count);
                add(by_values, own);
                rest = others;
            }
        }
        Ok(gradients)
    }

    /// How many adjoint solves share their linearised equations: as many as have room. Fewer would not change them by a bit where
    /// matrices are bands; elsewhere it is the same number whatever the threads.
    pub(crate) fn at_once(&self) -> usize {
        let Solved::Central(solution) = &self.solved else { return 1 };
        let size: usize = (0..self.reference.states.len()).map(|state| solution.field(state).len()).sum();
        (ROOM / size.max(1)).clamp(1, MOST_AT_ONCE)
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

    /// An adjoint solve for each of some weights: returns the derivatives by
    /// the parameters and adds those by functions of coordinates.
    fn through_states(
        &self,
        weighted: &[Weighted<'_>],
        gradients: &mut [Theta],
    ) -> std::result::Result<Vec<Vec<f64>>, ReferenceError> {
        match (&self.reference.engine, &self.solved) {
            (Engine::Central(solver), Solved::Central(solution)) => {
                let loads: Vec<Load> =
                    weighted.iter().map(|weighted| self.load(solution, weighted)).collect();
                let found = solver.adjoints(solution, &loads)?;
                let resolution = &self.reference.resolution;
                // Given fields, which come after the unknown functions, are not differentiated by.
                for (coefficient, &function) in self.reference.coefficients.iter().enumerate() {
                    let nodes = solver_nodes(solver, coefficient, &self.parameters, resolution)?;
                    for (found, gradient) in found.iter().zip(&mut *gradients) {
                        self.pull_back_profile(gradient, function, &nodes, &found.coefficients[coefficient]);
                    }
                }
                Ok(found.into_iter().map(|found| found.parameters).collect())
            }
            (Engine::Godunov(godunov, start), Solved::Godunov(run)) => {
                let mut all = vec![];
                for (Weighted { columns, by_states }, gradient) in weighted.iter().zip(gradients) {
                    let weights = by_states.iter().map(|(_, _, weights)| weights);
                    let places = weights.flat_map(|weights| self.reference.axes.plane(columns).zip(weights));
                    let places: Vec<_> = places.map(|((x, t), &weight)| (x, t, weight)).collect();
                    let found = run.adjoint(&run.evolution.scatter(&places))?;
                    if let Some(function) = *start {
                        let nodes = [self.reference.cell_nodes(godunov)];
                        self.pull_back_profile(gradient, function, &nodes, &found.initial);
                    }
                    all.push(found.parameters);
                }
                Ok(all)
            }
            _ => unreachable!("solved by its own engine"),
        }
    }

    fn load(&self, solution: &Solution, Weighted { columns, by_states }: &Weighted<'_>) -> Load {
        let mut load = solution.load();
        for (state, index, weights) in by_states {
            let (orders, points) = self.reference.axes.along(index, columns);
            solution.scatter(&mut load, *state, &orders, &points, weights);
        }
        load
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
        self.tangents_on(1)
    }

    fn tangents_on(&self, threads: usize) -> std::result::Result<&Tangents, ReferenceError> {
        let tangents = self.tangents.get_or_init(|| match (&self.reference.engine, &self.solved) {
            (Engine::Central(solver), Solved::Central(solution)) => {
                let groups = solver.groups(solution, self.reference.names.eta.len(), threads);
                let of_group = |group: &Range<usize>| solver.tangents(solution, group.clone());
                let found = parallel::each(threads, &groups, of_group);
                let all: std::result::Result<Vec<Vec<Solution>>, _> = found.into_iter().collect();
                Ok(Tangents::Central(all?.into_iter().flatten().collect()))
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

fn add(sum: &mut [f64], terms: &[f64]) {
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

fn add_product(sum: &mut [f64], a: &[f64], b: Vec<f64>) {
    sum.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
}
