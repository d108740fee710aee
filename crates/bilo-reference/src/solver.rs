//! The reference solver: the same problem, read off the same formulas, for a solver that knows nothing of networks. It
//! makes synthetic data and u_0, and re-solves the PDE at the estimate.
//!
//! Equations that are not coupled, such as those of several experiments, are solved each by itself and at the same time.

use crate::coupling::coupled;
use crate::jumps::Jump;
pub use crate::system::{ReferenceError, definitions};
use crate::system::{System, SystemSolution};
use bilo_fit::parallel;
use bilo_fit::sensitivities::Sensitivities;
use bilo_problem::diagnostic::{Diagnostic, Result};
use bilo_problem::text::is_made_of;
use bilo_problem::theta::Theta;
use bilo_problem::{Formula, Observation, Problem, Sampling};
use bilo_solve::{Interrupt, Work};

/// The classical solver of a problem.
pub struct ReferenceSolver {
    systems: Vec<System>,
    /// The states of the problem by name: the system that has them, and their number there.
    states: Vec<(String, usize, usize)>,
    coordinates: Vec<String>,
    jumps: Vec<Jump>,
    threads: usize,
}

/// The values of a state, by number, at points given by one column per coordinate; none where nobody knows.
pub type StateAt<'a> = dyn FnMut(usize, &[Vec<f64>]) -> Option<Vec<f64>> + 'a;

/// A classical solution at some theta.
pub struct ReferenceSolution<'a> {
    parts: Vec<SystemSolution<'a>>,
    reference: &'a ReferenceSolver,
}

impl ReferenceSolver {
    /// Reads the boundary and initial values off the forms and the conditions.
    pub fn new(problem: &Problem) -> Result<Self> {
        let groups = coupled(problem)?;
        let mut states = vec![(String::new(), 0, 0); problem.states.len()];
        let mut systems = vec![];
        for (number, group) in groups.iter().enumerate() {
            for (place, &state) in group.states.iter().enumerate() {
                states[state] = (problem.states[state].name.clone(), number, place);
            }
            systems.push(match groups.len() {
                1 => System::new(problem)?,
                _ => System::new(&group.of(problem))?,
            });
        }
        let coordinates = problem.coordinates.iter().map(|coordinate| coordinate.name.clone()).collect();
        Ok(Self {
            systems,
            states,
            coordinates,
            jumps: Jump::all(problem)?,
            threads: parallel::threads(None),
        })
    }

    /// The unknowns that say where equations jump.
    pub fn jumps(&self) -> &[Jump] {
        &self.jumps
    }

    /// Ends a solve with an error when the interrupt is due.
    pub fn interruptible(self, interrupt: &Interrupt) -> Self {
        let systems = self.systems.into_iter().map(|system| system.interruptible(interrupt)).collect();
        Self { systems, ..self }
    }

    /// On so many threads, where there are several systems; on all cores if nothing is said.
    pub fn on_threads(self, threads: Option<usize>) -> Self {
        Self { threads: parallel::threads(threads), ..self }
    }

    /// Of several solutions of a steady problem, finds that near the one at some theta.
    pub fn near(self, theta: impl Into<Theta>) -> std::result::Result<Self, ReferenceError> {
        let found: Vec<_> = self.solve(theta)?.parts.iter().map(SystemSolution::as_nearby).collect();
        let systems =
            self.systems.into_iter().zip(&found).map(|(system, found)| system.near(found)).collect();
        Ok(Self { systems, ..self })
    }

    /// Solves at a value of everything unknown, at the problem's resolution.
    pub fn solve(
        &self,
        theta: impl Into<Theta>,
    ) -> std::result::Result<ReferenceSolution<'_>, ReferenceError> {
        self.solve_near(theta, None)
    }

    /// Solves at a value of everything unknown; of several steady solutions finds that near one for other values or on another
    /// grid.
    pub fn solve_near(
        &self,
        theta: impl Into<Theta>,
        near: Option<&ReferenceSolution<'_>>,
    ) -> std::result::Result<ReferenceSolution<'_>, ReferenceError> {
        let theta = theta.into();
        let numbered: Vec<(usize, &System)> = self.systems.iter().enumerate().collect();
        let parts = parallel::each(self.threads, &numbered, |&(number, system)| {
            system.solve(theta.clone(), near.map(|near| &near.parts[number]))
        });
        Ok(ReferenceSolution {
            parts: parts.into_iter().collect::<std::result::Result<_, _>>()?,
            reference: self,
        })
    }

    /// Solves at a value of everything unknown; of several steady solutions finds that near other values of the states.
    pub fn solve_from(
        &self,
        theta: &Theta,
        state: &mut StateAt<'_>,
    ) -> std::result::Result<ReferenceSolution<'_>, ReferenceError> {
        let mut starts: Vec<Option<Vec<Vec<f64>>>> = vec![];
        for (number, system) in self.systems.iter().enumerate() {
            let own = (0..self.states.len()).filter(|&state| self.states[state].1 == number);
            let values = |columns: Vec<Vec<f64>>| own.map(|number| state(number, &columns)).collect();
            starts.push(system.nodes(theta).and_then(values));
        }
        let each: Vec<_> = self.systems.iter().zip(&starts).collect();
        let parts = parallel::each(self.threads, &each, |(system, start)| match start {
            Some(start) => system.solve_from(theta.clone(), start),
            None => system.solve(theta.clone(), None),
        });
        Ok(ReferenceSolution {
            parts: parts.into_iter().collect::<std::result::Result<_, _>>()?,
            reference: self,
        })
    }

    /// Solves at the truth of a problem, this reference solver's own; none unless the truth of everything unknown is
    /// stated.
    pub fn solve_truth(
        &self,
        problem: &Problem,
    ) -> Result<Option<std::result::Result<ReferenceSolution<'_>, ReferenceError>>> {
        let stated = problem.functions.iter().all(|function| function.truth.is_some());
        problem.eta_of_truth().filter(|_| stated).map(|eta| self.solve_stated(problem, eta)).transpose()
    }

    /// Solves at these scalars, with each unknown function as it is stated: its truth, else its guess. It is taken as it
    /// is, not as its grid sees it.
    pub fn solve_stated(
        &self,
        problem: &Problem,
        eta: Vec<f64>,
    ) -> Result<std::result::Result<ReferenceSolution<'_>, ReferenceError>> {
        let mut parts = vec![];
        for solved in
            parallel::each(self.threads, &self.systems, |system| system.solve_stated(problem, eta.clone()))
        {
            match solved? {
                Ok(part) => parts.push(part),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(ReferenceSolution { parts, reference: self }))
    }

    /// The order of its error where the solution is smooth: that of differences, of steps where time is alone, or of a scheme for shocks.
    pub fn order(&self) -> f64 {
        self.systems.iter().map(System::order).fold(f64::INFINITY, f64::min)
    }

    /// The scheme's name in a problem file.
    pub fn scheme(&self) -> &'static str {
        self.systems[0].scheme()
    }

    /// The scheme and the resolution in words.
    pub fn describe(&self) -> String {
        let one = self.systems[0].describe();
        match self.systems.len() {
            1 => one,
            count => format!("{one}, for each of {count} systems that are not coupled"),
        }
    }

    /// The system that a formula is about: that of its states, any if it has none.
    fn system_of(&self, formula: &Formula) -> Result<usize> {
        let coordinates: Vec<&str> = self.coordinates.iter().map(String::as_str).collect();
        let mut found: Option<usize> = None;
        for (name, _) in formula.ast.names() {
            let is_of = |(state, ..): &&(String, usize, usize)| match name.strip_prefix(state.as_str()) {
                Some("") => true,
                Some(rest) => rest.strip_prefix('_').is_some_and(|by| is_made_of(by, &coordinates)),
                None => false,
            };
            let Some(&(_, system, _)) = self.states.iter().find(is_of) else { continue };
            if found.is_some_and(|other| other != system) {
                let message = "this is about states that are solved for by themselves, not together";
                return Err(Diagnostic::new(message, formula.origin.clone())
                    .help("observe each of them")
                    .into());
            }
            found = Some(system);
        }
        Ok(found.unwrap_or(0))
    }
}

impl<'a> ReferenceSolution<'a> {
    /// What it took.
    pub fn work(&self) -> Work {
        let parts = self.parts.iter().map(SystemSolution::work);
        parts.fold(Work::default(), |sum, part| Work {
            newton_iterations: sum.newton_iterations + part.newton_iterations,
            factorisations: sum.factorisations + part.factorisations,
            steps: sum.steps + part.steps,
        })
    }

    fn part(&self, formula: &Formula) -> Result<&SystemSolution<'a>> {
        Ok(&self.parts[self.reference.system_of(formula)?])
    }

    /// A state at points given by one column per coordinate.
    pub fn state(&self, state: usize, columns: &[Vec<f64>]) -> Vec<f64> {
        let (_, system, place) = self.reference.states[state];
        self.parts[system].state(place, columns)
    }

    /// Whether a state is solved for. One that an equation defines comes from differences of others, which are far off
    /// where coefficients jump.
    pub fn solves_for(&self, state: usize) -> bool {
        let (_, system, place) = self.reference.states[state];
        self.parts[system].solves_for(place)
    }

    /// A formula of states, coordinates and unknowns at points. Derivatives of a solution by Godunov's scheme are an error:
    /// it may jump.
    pub fn observe(&self, formula: &Formula, columns: &[Vec<f64>]) -> Result<Vec<f64>> {
        self.part(formula)?.observe(formula, columns)
    }

    /// A formula at points with further names, whose values there are given.
    pub(crate) fn observe_with(
        &self,
        formula: &Formula,
        columns: &[Vec<f64>],
        more: &[(&str, &[f64])],
    ) -> Result<Vec<f64>> {
        self.part(formula)?.observe_with(formula, columns, more)
    }

    /// What is observed at places.
    pub fn observed(&self, observation: &Observation, sampling: &Sampling) -> Result<Vec<f64>> {
        sampling.sum(|term, columns| self.observe(&observation.terms[term].integrand, columns))
    }

    /// Solves for the derivatives by the scalars, of all systems at the same time; they are kept.
    pub(crate) fn find_tangents(&self) -> Result<()> {
        // Several systems share the threads; one has them for itself.
        let own = if self.parts.len() == 1 { self.reference.threads } else { 1 };
        for found in parallel::each(self.reference.threads, &self.parts, |part| part.find_tangents(own)) {
            found?;
        }
        Ok(())
    }

    /// A formula at points with its total derivatives by each eta: through the states, and where the unknowns stand in the
    /// formula. The tangents behind it are computed once per solution.
    pub fn observe_with_slopes(&self, formula: &Formula, columns: &[Vec<f64>]) -> Result<Sensitivities> {
        self.part(formula)?.observe_with_slopes(formula, columns)
    }

    /// What is observed at places, with its total derivatives by each eta.
    pub fn observed_with_slopes(
        &self,
        observation: &Observation,
        sampling: &Sampling,
    ) -> Result<Sensitivities> {
        Sensitivities::observed(sampling, |term, columns| {
            self.observe_with_slopes(&observation.terms[term].integrand, columns)
        })
    }

    /// The derivatives of Σ_i weights_i value_i over the points by everything unknown, by one adjoint solve.
    ///
    /// # Panics
    /// If the solution is that of a stated truth rather than of values on grids.
    pub fn gradient(&self, formula: &Formula, columns: &[Vec<f64>], weights: &[f64]) -> Result<Theta> {
        let row = weights.iter().copied().enumerate().collect();
        let mut found = self.part(formula)?.gradients(formula, columns, &[row])?;
        Ok(found.pop().expect("one for each row"))
    }

    /// The derivatives of Σ_i weights_i observed_i by everything unknown, one adjoint solve for each term.
    ///
    /// # Panics
    /// If the solution is that of a stated truth rather than of values on grids.
    pub fn observed_gradient(
        &self,
        observation: &Observation,
        sampling: &Sampling,
        weights: &[f64],
    ) -> Result<Theta> {
        let mut sum: Option<Theta> = None;
        for (number, term) in observation.terms.iter().enumerate() {
            let weights = sampling.scatter(number, weights);
            let found = self.gradient(&term.integrand, sampling.columns(number), &weights)?;
            match &mut sum {
                Some(sum) => sum.add(&found),
                None => sum = Some(found),
            }
        }
        Ok(sum.expect("an observation has a term"))
    }

    /// The derivatives of each observed value by everything unknown.
    ///
    /// # Panics
    /// If the solution is that of a stated truth rather than of values on grids.
    pub fn observed_gradients(&self, observation: &Observation, sampling: &Sampling) -> Result<Vec<Theta>> {
        let mut sums: Vec<Theta> = vec![];
        for (number, term) in observation.terms.iter().enumerate() {
            let (formula, rows) = (&term.integrand, sampling.rows(number));
            let part = self.part(formula)?;
            let together: Vec<_> = rows.chunks(part.at_once()).collect();
            let found = self.each(&together, |rows| {
                let (columns, rows) = only(sampling.columns(number), rows);
                part.gradients(formula, &columns, &rows)
            });
            let found: Vec<Theta> = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
            match sums.is_empty() {
                true => sums = found,
                false => sums.iter_mut().zip(&found).for_each(|(sum, found)| sum.add(found)),
            }
        }
        Ok(sums)
    }

    /// What is made of each of some things at the same time, on the solver's threads.
    pub fn each<'i, T: Sync, R: Send>(&self, items: &'i [T], make: impl Fn(&'i T) -> R + Sync) -> Vec<R> {
        parallel::each(self.reference.threads, items, make)
    }
}

/// A sum over points: which, and by which weight.
type Row = Vec<(usize, f64)>;

/// The columns at the points of some rows only, and the rows in terms of these.
fn only(columns: &[Vec<f64>], rows: &[Row]) -> (Vec<Vec<f64>>, Vec<Row>) {
    let at = |column: &Vec<f64>| rows.iter().flatten().map(|&(point, _)| column[point]).collect();
    let mut next = 0..;
    let renumbered = |row: &Row| row.iter().zip(&mut next).map(|(&(_, w), i)| (i, w)).collect();
    (columns.iter().map(at).collect(), rows.iter().map(renumbered).collect())
}
