//! Derivatives of the discrete solution: tangents forward, the adjoint back.
//!
//! The discrete equations `r(u, p) = 0` are differentiated as they stand, so
//! both are exact for the numbers that [`Solver::solve`] returns. With J the
//! Jacobian of a converged stage and M its part that came from `u_t`, a stage
//! gives `J dY = -r_p dp + M dbase`; see [`Method`](crate::runge_kutta::Method) for the bases.

use std::ops::Range;
use std::sync::Arc;

use crate::compiled::Values;
use crate::discrete::{Discrete, Mesh};
use crate::error::SolveError;
use crate::linear::Refined;
use crate::partials::{Partial, Partials, Sources, column};
use crate::runge_kutta::Step;
use crate::solution::{Load, Solution};
use crate::solver::Solver;
use crate::system::{Stage, System, Workspace};

/// Right-hand sides of a general matrix that share each pass through its factors.
const TOGETHER: usize = 4;

impl Solver {
    /// The derivatives of a solution of this solver by each of these parameters.
    ///
    /// They have the fields of a solution and are sampled like one. Where an
    /// interface moves with a parameter the nodes move too: fields hold the
    /// derivatives at the moving nodes, samples those at fixed places.
    pub fn tangents(
        &self,
        solution: &Solution,
        parameters: Range<usize>,
    ) -> Result<Vec<Solution>, SolveError> {
        let discrete = self.discretise_again(solution);
        let mut stages = Stages::new(self, &discrete, solution);
        stages.slopes = stages.slopes[parameters.clone()].to_vec();
        stages.parameters = parameters;
        let mut tangents: Vec<Solution> =
            stages.slopes.iter().map(|&slope| solution.empty_tangent(slope)).collect();
        if self.compiled.time.is_none() {
            stages.linearise(&steady_stage(&discrete), &solution.level(0))?;
            let none = vec![vec![0.0; discrete.rows.len()]; tangents.len()];
            let du = stages.step_forward(&none)?;
            tangents.iter_mut().zip(&du).for_each(|(tangent, du)| tangent.push(du));
        } else {
            self.march_tangents(&mut stages, solution, &mut tangents)?;
        }
        for tangent in &mut tangents {
            tangent.work.factorisations = stages.inverse.factorisations;
        }
        Ok(tangents)
    }

    fn march_tangents(
        &self,
        stages: &mut Stages<'_>,
        solution: &Solution,
        tangents: &mut [Solution],
    ) -> Result<(), SolveError> {
        let parameters = stages.parameters.clone();
        let start = self.start_by_parameters(stages.system.discrete, &solution.values, parameters);
        let mut du = stages.fold(start);
        tangents.iter_mut().zip(&du).for_each(|(tangent, du)| tangent.push(du));
        for (level, step) in self.steps(solution).into_iter().enumerate() {
            // The derivatives of the stages so far, for every parameter.
            let mut earlier: Vec<Vec<Vec<f64>>> = vec![Vec::new(); du.len()];
            for (number, (stage, value)) in solved_stages(&step, solution, level).into_iter().enumerate() {
                stages.linearise(&stage, &value)?;
                let base = |(u, earlier): (&Vec<f64>, &Vec<Vec<f64>>)| {
                    let earlier: Vec<&[f64]> = earlier.iter().map(Vec::as_slice).collect();
                    step.base(number, u, &earlier)
                };
                let bases: Vec<Vec<f64>> = du.iter().zip(&earlier).map(base).collect();
                let found = stages.step_forward(&bases)?;
                earlier.iter_mut().zip(found).for_each(|(earlier, dy)| earlier.push(dy));
            }
            du = earlier.into_iter().filter_map(|mut all| all.pop()).collect();
            tangents.iter_mut().zip(&du).for_each(|(tangent, du)| tangent.push(du));
        }
        Ok(())
    }

    /// The derivatives by all values of a number whose derivative by the
    /// solution (of this solver) is the load. Nodal values of coefficients are
    /// held fixed even where nodes move with an interface.
    ///
    /// # Panics
    /// If the load was made for another solution.
    pub fn adjoint(&self, solution: &Solution, load: &Load) -> Result<Values, SolveError> {
        let mut gradients = self.adjoints(solution, std::slice::from_ref(load))?;
        Ok(gradients.pop().expect("one for each load"))
    }

    /// The same for many numbers: the equations are linearised once at each time, for all of them.
    ///
    /// # Panics
    /// If a load was made for another solution.
    pub fn adjoints(&self, solution: &Solution, loads: &[Load]) -> Result<Vec<Values>, SolveError> {
        let discrete = self.discretise_again(solution);
        let mut stages = Stages::new(self, &discrete, solution);
        let values = &solution.values;
        let none = Values {
            parameters: vec![0.0; values.parameters.len() + 1],
            coefficients: values.coefficients.iter().map(|c| vec![0.0; c.len()]).collect(),
        };
        let mut gradients = vec![none; loads.len()];
        if self.compiled.time.is_none() {
            stages.linearise(&steady_stage(&discrete), &solution.level(0))?;
            for (load, gradient) in loads.iter().zip(&mut gradients) {
                stages.step_back(&solution.load_level(load, 0), gradient)?;
            }
        } else {
            self.march_back(&mut stages, solution, loads, &mut gradients)?;
        }
        for (load, gradient) in loads.iter().zip(&mut gradients) {
            let position = gradient.parameters.pop().expect("one more than the parameters") + load.position;
            let parameters = gradient.parameters.iter_mut().zip(&stages.slopes);
            parameters.for_each(|(parameter, slope)| *parameter += slope * position);
        }
        Ok(gradients)
    }

    fn march_back(
        &self,
        stages: &mut Stages<'_>,
        solution: &Solution,
        loads: &[Load],
        gradients: &mut [Values],
    ) -> Result<(), SolveError> {
        let steps = self.steps(solution);
        let at = |load: &Load| solution.load_level(load, steps.len());
        let mut weights: Vec<Vec<f64>> = loads.iter().map(at).collect();
        for (level, step) in steps.iter().enumerate().rev() {
            stages.system.require_time()?;
            // Before its last datum a number does not depend on the solution.
            let begun = |(_, weights): &(usize, Vec<f64>)| weights.iter().any(|&weight| weight != 0.0);
            let all = std::mem::take(&mut weights).into_iter().enumerate();
            let mut under_way: Vec<StepBack> =
                all.filter(begun).map(|(load, weights)| StepBack::new(load, step, weights)).collect();
            if !under_way.is_empty() {
                let solved = solved_stages(step, solution, level);
                for (number, (stage, value)) in solved.into_iter().enumerate().rev() {
                    stages.linearise(&stage, &value)?;
                    for back in &mut under_way {
                        let on_base = stages.step_back(&back.on_stages[number], &mut gradients[back.load])?;
                        back.pass_on(step.ahead(number), &on_base);
                    }
                }
            }
            weights = loads.iter().map(|load| solution.load_level(load, level)).collect();
            for back in under_way {
                weights[back.load].iter_mut().zip(&back.on_u).for_each(|(weight, on_u)| *weight += on_u);
            }
        }
        self.pull_back_start(stages.system.discrete, &solution.values, &weights, gradients);
        Ok(())
    }

    /// How each step in time was taken.
    pub(crate) fn steps(&self, solution: &Solution) -> Vec<Step> {
        solution.time.as_ref().map_or(vec![], |times| self.method().steps(times))
    }

    /// The discrete equations of a solution.
    fn discretise_again(&self, solution: &Solution) -> Arc<Discrete> {
        let cells = solution.axes.iter().map(|axis| axis.len() - 1).collect();
        let position = self.compiled.position(&solution.values.parameters).map(|(z, _)| z);
        self.discretise(Mesh { cells, position })
    }

    /// The derivatives of the initial values by each of these parameters, then by the place
    /// of the interface.
    fn start_by_parameters(
        &self,
        discrete: &Discrete,
        values: &Values,
        parameters: Range<usize>,
    ) -> Vec<Vec<f64>> {
        let nodes = discrete.grid.nodes();
        let mut all = vec![vec![0.0; discrete.rows.len()]; parameters.len() + 1];
        for partial in self.start_partials(discrete, values) {
            partial.for_each_parameter(|parameter, node, value| {
                let is_position = parameter == values.parameters.len();
                if let Some(column) = column(parameter, is_position, &parameters) {
                    all[column][partial.residual * nodes + node] += value;
                }
            });
        }
        all
    }

    /// The parameters in groups whose tangents may be solved for at the same time on so many threads. Solutions of bands are the
    /// same to the bit in any group; elsewhere groups are the same whatever the threads.
    pub fn groups(&self, solution: &Solution, count: usize, threads: usize) -> Vec<Range<usize>> {
        let groups = match self.discretise_again(solution).pattern.is_banded() {
            true => threads.min(count),
            false => count.div_ceil(TOGETHER),
        };
        let end = |group: usize| group * count / groups.max(1);
        (0..groups).map(|group| end(group)..end(group + 1)).collect()
    }

    /// Adds the derivative of `sum weights * u(start)` by all values, for each of several weights.
    fn pull_back_start(
        &self,
        discrete: &Discrete,
        values: &Values,
        weights: &[Vec<f64>],
        gradients: &mut [Values],
    ) {
        let nodes = discrete.grid.nodes();
        let partials = self.start_partials(discrete, values);
        for (weights, gradient) in weights.iter().zip(gradients) {
            for partial in &partials {
                let seeds = &weights[partial.residual * nodes..(partial.residual + 1) * nodes];
                partial.pull_back(&discrete.start, seeds, gradient);
            }
        }
    }

    /// The derivatives of the initial values.
    fn start_partials(&self, discrete: &Discrete, values: &Values) -> Vec<Partial> {
        let mut workspace = self.evaluated_start(discrete, values);
        let sources = Sources { discrete, values, u: &[], velocity: &[] };
        let block = &self.compiled.start;
        let states = 0..block.residuals.outputs().len();
        states.flat_map(|state| workspace.partials_of(block, &discrete.start, state, &sources)).collect()
    }

    /// The initial values just evaluated.
    pub(crate) fn evaluated_start(&self, discrete: &Discrete, values: &Values) -> Workspace {
        let t = self.compiled.time.map_or(0.0, |time| time.lo);
        let mut workspace = Workspace::new(&self.compiled.start, &discrete.start, values);
        workspace.run_residuals(&self.compiled.start, &discrete.start, values, t);
        workspace
    }
}

/// Converged stages, one after the other, and linear solves with each.
struct Stages<'a> {
    system: System<'a>,
    inverse: Refined<'a>,
    /// The parameters that are differentiated by.
    parameters: Range<usize>,
    /// The derivative of the place of the interface by each of them.
    slopes: Vec<f64>,
    /// Time of the present stage.
    t: f64,
    /// The derivatives of its equations.
    partials: Partials,
}

/// One number on its way back through a step in time: its derivatives by the stages and by what the step began with.
struct StepBack {
    load: usize,
    on_stages: Vec<Vec<f64>>,
    on_u: Vec<f64>,
}

impl StepBack {
    /// The last stage is the new solution.
    fn new(load: usize, step: &Step, weights: Vec<f64>) -> StepBack {
        let on_u = vec![0.0; weights.len()];
        let mut on_stages = vec![on_u.clone(); step.stages() - 1];
        on_stages.push(weights);
        StepBack { load, on_stages, on_u }
    }

    /// From the base of a stage to what it was made from.
    fn pass_on(&mut self, ahead: &[f64], on_base: &[f64]) {
        for (on_stage, ahead) in self.on_stages.iter_mut().zip(ahead) {
            on_stage.iter_mut().zip(on_base).for_each(|(weight, base)| *weight += ahead * base);
        }
        let rest = 1.0 - ahead.iter().sum::<f64>();
        self.on_u.iter_mut().zip(on_base).for_each(|(weight, base)| *weight += rest * base);
    }
}

impl<'a> Stages<'a> {
    fn new(solver: &'a Solver, discrete: &'a Discrete, solution: &'a Solution) -> Stages<'a> {
        Stages {
            system: System::new(&solver.compiled, discrete, &solution.values, &solver.interrupt),
            inverse: Refined::new(&discrete.pattern),
            parameters: 0..solution.values.parameters.len(),
            slopes: match solver.compiled.position(&solution.values.parameters) {
                Some((_, slopes)) => slopes,
                None => vec![0.0; solution.values.parameters.len()],
            },
            t: 0.0,
            partials: Partials::default(),
        }
    }

    /// Goes to a stage and its value.
    fn linearise(&mut self, stage: &Stage, value: &[f64]) -> Result<(), SolveError> {
        self.system.require_time()?;
        self.system.evaluate(value, stage);
        self.system.linearise(stage)?;
        self.partials = self.system.partials();
        self.t = stage.t;
        Ok(())
    }

    /// From derivatives by parameters and, last, by the place of the interface
    /// to those by parameters alone.
    fn fold(&self, mut all: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let by_position = all.pop().expect("one more than the parameters");
        for (by_parameter, slope) in all.iter_mut().zip(&self.slopes) {
            by_parameter.iter_mut().zip(&by_position).for_each(|(p, z)| *p += slope * z);
        }
        all
    }

    /// `dY = J^-1 (M dbase - r_p)` for each of the parameters, whose bases they are.
    fn step_forward(&mut self, bases: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, SolveError> {
        let by_parameters = self.system.by_parameters(&self.partials, &self.parameters);
        let by_parameters = self.fold(by_parameters);
        let pattern = &self.system.discrete.pattern;
        let with_base = |(base, r_p): (&Vec<f64>, Vec<f64>)| {
            let mut rhs: Vec<f64> = r_p.iter().map(|r| -r).collect();
            pattern.for_each(self.system.mass(), |row, column, m| rhs[row] += m * base[column]);
            rhs
        };
        let all = bases.iter().zip(by_parameters).map(with_base).collect();
        self.solve(all, false)
    }

    /// From weights on Y to weights on its base, `M^T J^-T w`; what goes to the
    /// values is added to the gradient.
    fn step_back(&mut self, weights: &[f64], gradient: &mut Values) -> Result<Vec<f64>, SolveError> {
        let multipliers = self.solve(vec![weights.to_vec()], true)?.pop().expect("one for each");
        self.system.pull_back(&self.partials, &multipliers, gradient);
        let mut on_base = vec![0.0; weights.len()];
        let pattern = &self.system.discrete.pattern;
        pattern.for_each(self.system.mass(), |row, column, m| on_base[column] += m * multipliers[row]);
        Ok(on_base)
    }

    fn solve(&mut self, all: Vec<Vec<f64>>, transposed: bool) -> Result<Vec<Vec<f64>>, SolveError> {
        self.inverse
            .solve_all(self.system.jacobian(), transposed, all)
            .map_err(|degenerate| SolveError::Singular { t: self.t, condition: degenerate.0 })
    }
}

fn steady_stage(discrete: &Discrete) -> Stage {
    Stage { t: 0.0, rate: 0.0, base: vec![0.0; discrete.rows.len()] }
}

/// The stages of a time step, as they were solved, and their values.
fn solved_stages(step: &Step, solution: &Solution, level: usize) -> Vec<(Stage, Vec<f64>)> {
    let (u, values) = (solution.level(level), solution.stages(level));
    let earlier: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    let stages: Vec<Stage> =
        (0..step.stages()).map(|number| step.stage(number, &u, &earlier[..number])).collect();
    stages.into_iter().zip(values).collect()
}
