//! The law compiled once, solved for many inputs, and the derivatives of a solve.

use bilo_expr::{Leaf, Scratch};

use super::error::ConservationError;
use super::evolution::Evolution;
use super::flux::{Curve, FluxFormulas};
use super::formula::{Formula, Place, check_finite};
use super::law::{ConservationLaw, Ends, Initial, Inputs, Levels, Mesh, Side};
use super::step::{Ghost, Scheme};
use crate::interrupt::Interrupt;
use crate::statement::Axis;

const FEWEST_CELLS: usize = 4;

/// More steps than this are a mistake.
const MOST_STEPS: f64 = 1e7;

/// Times at which given values are looked at before the steps are known.
const SCAN: usize = 1024;

const INITIAL: Place =
    Place { name: "the initial value", allowed: "only space and the parameters may be used" };
const SIDE: Place =
    Place { name: "the value at an end", allowed: "only time and the parameters may be used" };

/// A [`ConservationLaw`] checked and compiled.
#[derive(Debug)]
pub struct Godunov {
    flux: FluxFormulas,
    periodic: bool,
    /// Given states outside the lower and the upper end; `None` for others.
    sides: [Option<Formula>; 2],
    /// `None`: nodal values are given.
    initial: Option<Formula>,
    space: Axis,
    time: Axis,
    parameters: usize,
    /// What may end a solve before its time.
    interrupt: Interrupt,
}

impl Godunov {
    /// Checks and compiles a law.
    pub fn new(mut law: ConservationLaw) -> Result<Godunov, ConservationError> {
        for axis in [law.space, law.time] {
            if !(axis.lo < axis.hi && (axis.hi - axis.lo).is_finite()) {
                let name = law.graph.symbol_name(axis.symbol).to_string();
                return Err(ConservationError::EmptyAxis { name, lo: axis.lo, hi: axis.hi });
            }
        }
        let flux = FluxFormulas::new(&mut law)?;
        let (graph, parameters) = (&mut law.graph, &law.parameters);
        let [x, t] = [law.space, law.time].map(|axis| Leaf::Symbol(axis.symbol));
        let mut side = |side| match side {
            Side::Outflow => Ok(None),
            Side::Prescribed(e) => Formula::with_partials(graph, e, t.clone(), parameters, SIDE).map(Some),
        };
        let sides = match law.ends {
            Ends::Periodic => [None, None],
            Ends::Open { lower, upper } => [side(lower)?, side(upper)?],
        };
        let initial = match law.initial {
            Initial::Nodal => None,
            Initial::Formula(e) => Some(Formula::with_partials(graph, e, x, parameters, INITIAL)?),
        };
        let parameters = parameters.len();
        let periodic = law.ends == Ends::Periodic;
        let (space, time, interrupt) = (law.space, law.time, Interrupt::default());
        Ok(Godunov { flux, periodic, sides, initial, space, time, parameters, interrupt })
    }

    /// Ends with an error when the interrupt is due.
    pub fn interruptible(self, interrupt: Interrupt) -> Godunov {
        Godunov { interrupt, ..self }
    }

    fn require_time(&self) -> Result<(), ConservationError> {
        if self.interrupt.is_due() { Err(ConservationError::Interrupted) } else { Ok(()) }
    }

    /// Solves from start to end.
    pub fn solve(&self, inputs: &Inputs, mesh: Mesh) -> Result<Run<'_>, ConservationError> {
        check_mesh(mesh)?;
        self.check_inputs(inputs, mesh.cells)?;
        let x: Vec<f64> = (0..=mesh.cells).map(|i| along(self.space, i, mesh.cells)).collect();
        let start = self.start(inputs, &x[..self.nodes(mesh.cells)])?;
        let (steps, scheme) = self.scheme(&inputs.parameters, &start, mesh)?;
        let intervals = match mesh.levels {
            Levels::Intervals(intervals) => intervals,
            Levels::EveryStep => steps,
        };
        let mut evolution = Evolution::new(x, self.periodic, steps);
        evolution.push(self.time.lo, &start);
        let mut run = Run { godunov: self, inputs: inputs.clone(), scheme, evolution, intervals };
        run.march(start)?;
        Ok(run)
    }

    /// Where the values of [`Initial::Nodal`] are given.
    pub fn initial_nodes(&self, cells: usize) -> Vec<f64> {
        (0..self.nodes(cells)).map(|i| along(self.space, i, cells)).collect()
    }

    /// Number of unknown nodes.
    fn nodes(&self, cells: usize) -> usize {
        if self.periodic { cells } else { cells + 1 }
    }

    fn check_inputs(&self, inputs: &Inputs, cells: usize) -> Result<(), ConservationError> {
        expect_count("parameter values", self.parameters, inputs.parameters.len())?;
        let nodal = if self.initial.is_none() { self.nodes(cells) } else { 0 };
        expect_count("nodal initial values", nodal, inputs.initial.len())
    }

    /// The state at the start.
    fn start(&self, inputs: &Inputs, x: &[f64]) -> Result<Vec<f64>, ConservationError> {
        let start = match &self.initial {
            None => inputs.initial.clone(),
            Some(formula) => formula.columns(x, &inputs.parameters).swap_remove(0),
        };
        check_finite("the initial value", "x", x, &start)?;
        Ok(start)
    }

    /// The number of time steps and the scheme that takes them.
    ///
    /// The state stays within the range of its initial and given values, so the
    /// largest speed over that range bounds the time step. Given values count at
    /// the times of the steps too, hence the loop: more steps may show higher ones.
    fn scheme<'a>(
        &'a self,
        parameters: &[f64],
        start: &[f64],
        mesh: Mesh,
    ) -> Result<(usize, Scheme<'a>), ConservationError> {
        let h = (self.space.hi - self.space.lo) / mesh.cells as f64;
        let mut width = vec![h; start.len()];
        if !self.periodic {
            width[0] = 0.5 * h;
            width[mesh.cells] = 0.5 * h;
        }
        let duration = self.time.hi - self.time.lo;
        let multiple = match mesh.levels {
            Levels::Intervals(intervals) => intervals,
            Levels::EveryStep => 1,
        };
        let scanned = widened((start[0], start[0]), start, &self.ghosts(parameters, SCAN, mesh.cells)?);
        let mut steps = multiple;
        loop {
            let ghosts = self.ghosts(parameters, steps, mesh.cells)?;
            let curve = Curve::new(&self.flux, parameters, widened(scanned, start, &ghosts))?;
            let least = duration * curve.fastest / (mesh.cfl * width[0]);
            let asked_for = least.max(multiple as f64);
            if asked_for > MOST_STEPS {
                return Err(ConservationError::TooManySteps { speed: curve.fastest, steps: asked_for });
            }
            let needed = (least.ceil() as usize).next_multiple_of(multiple);
            if needed <= steps {
                let dt = duration / steps as f64;
                let ratio = width.iter().map(|w| dt / w).collect();
                return Ok((steps, Scheme { curve, ghosts, ratio }));
            }
            steps = needed;
        }
    }

    /// What lies outside the ends at each of the steps.
    fn ghosts(
        &self,
        parameters: &[f64],
        steps: usize,
        cells: usize,
    ) -> Result<[Ghost; 2], ConservationError> {
        if self.periodic {
            return Ok([Ghost::Node(cells - 1), Ghost::Node(0)]);
        }
        let ghost = |formula: &Option<Formula>, node| {
            let Some(formula) = formula else {
                return Ok(Ghost::Node(node));
            };
            let t: Vec<f64> = (0..steps).map(|step| along(self.time, step, steps)).collect();
            let mut columns = formula.columns(&t, parameters);
            let by_parameter = columns.split_off(1);
            let value = columns.swap_remove(0);
            check_finite("the value at an end", "t", &t, &value)?;
            Ok(Ghost::Given { value, by_parameter })
        };
        let [lower, upper] = &self.sides;
        Ok([ghost(lower, 0)?, ghost(upper, cells)?])
    }
}

/// A solve: its solution and, on demand, the derivatives of the scheme that made it.
///
/// The number of time steps is held fixed under differentiation. Memory is what
/// the stored times take and, for the adjoint, the steps of one interval between
/// them, which are computed again.
#[derive(Debug)]
pub struct Run<'a> {
    /// The solution.
    pub evolution: Evolution,
    godunov: &'a Godunov,
    inputs: Inputs,
    scheme: Scheme<'a>,
    /// Stored intervals of time.
    intervals: usize,
}

impl Run<'_> {
    fn march(&mut self, mut u: Vec<f64>) -> Result<(), ConservationError> {
        let mut scratch = Scratch::new();
        for interval in 0..self.intervals {
            self.godunov.require_time()?;
            for step in self.steps_of(interval) {
                self.scheme.advance(step, &mut u, &mut scratch);
            }
            let t = along(self.godunov.time, interval + 1, self.intervals);
            self.evolution.push(t, &u);
        }
        Ok(())
    }

    /// What it was solved for.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The derivative of the solution along a direction of the inputs.
    pub fn tangent(&self, direction: &Inputs) -> Result<Evolution, ConservationError> {
        self.godunov.check_inputs(direction, self.evolution.x.len() - 1)?;
        let dp = &direction.parameters;
        let mut du = match self.initial_partials() {
            None => direction.initial.clone(),
            Some(partials) => (0..self.unknowns())
                .map(|i| partials.iter().zip(dp).map(|(column, d)| column[i] * d).sum())
                .collect(),
        };
        let mut derivative = self.evolution.emptied();
        derivative.push(self.evolution.t[0], &du);
        let mut scratch = [Scratch::new(), Scratch::new()];
        for interval in 0..self.intervals {
            self.godunov.require_time()?;
            let mut u = self.unknowns_at(interval).to_vec();
            for step in self.steps_of(interval) {
                self.scheme.tangent(step, &u, &mut du, dp, &mut scratch[0]);
                self.scheme.advance(step, &mut u, &mut scratch[1]);
            }
            derivative.push(self.evolution.t[interval + 1], &du);
        }
        Ok(derivative)
    }

    /// The gradient of `sum load * field` by the inputs. The load is dJ/du in the
    /// layout of [`Evolution::field`], as [`Evolution::scatter`] makes it.
    pub fn adjoint(&self, load: &[f64]) -> Result<Inputs, ConservationError> {
        expect_count("entries of the load", self.evolution.field().len(), load.len())?;
        let mut lambda = vec![0.0; self.unknowns()];
        let mut by_p = vec![0.0; self.inputs.parameters.len()];
        let mut scratch = Scratch::new();
        self.add_load(&mut lambda, load, self.intervals);
        for interval in (0..self.intervals).rev() {
            self.godunov.require_time()?;
            let trajectory = self.trajectory(interval);
            for (step, u) in self.steps_of(interval).zip(&trajectory).rev() {
                self.scheme.adjoint(step, u, &mut lambda, &mut by_p, &mut scratch);
            }
            self.add_load(&mut lambda, load, interval);
        }
        let Some(partials) = self.initial_partials() else {
            return Ok(Inputs { parameters: by_p, initial: lambda });
        };
        for (sum, column) in by_p.iter_mut().zip(&partials) {
            *sum += column.iter().zip(&lambda).map(|(by, l)| by * l).sum::<f64>();
        }
        Ok(Inputs { parameters: by_p, initial: vec![] })
    }

    /// Time steps of a stored interval.
    fn steps_of(&self, interval: usize) -> std::ops::Range<usize> {
        let each = self.evolution.steps / self.intervals;
        interval * each..(interval + 1) * each
    }

    fn unknowns(&self) -> usize {
        self.scheme.ratio.len()
    }

    fn unknowns_at(&self, level: usize) -> &[f64] {
        &self.evolution.level(level)[..self.unknowns()]
    }

    /// The state before each step of an interval.
    fn trajectory(&self, interval: usize) -> Vec<Vec<f64>> {
        let mut u = self.unknowns_at(interval).to_vec();
        let mut scratch = Scratch::new();
        let mut states = Vec::new();
        for step in self.steps_of(interval) {
            states.push(u.clone());
            self.scheme.advance(step, &mut u, &mut scratch);
        }
        states
    }

    /// Adds the load of one level; on a periodic axis the last node is the first.
    fn add_load(&self, lambda: &mut [f64], load: &[f64], level: usize) {
        let nodes = self.evolution.x.len();
        for (i, l) in load[level * nodes..][..nodes].iter().enumerate() {
            lambda[i % self.unknowns()] += l;
        }
    }

    /// Derivatives of the initial values by each parameter; `None` if nodal.
    fn initial_partials(&self) -> Option<Vec<Vec<f64>>> {
        let formula = self.godunov.initial.as_ref()?;
        let x = &self.evolution.x[..self.unknowns()];
        Some(formula.columns(x, &self.inputs.parameters).split_off(1))
    }
}

fn check_mesh(mesh: Mesh) -> Result<(), ConservationError> {
    if mesh.cells < FEWEST_CELLS {
        return Err(ConservationError::TooCoarse { cells: mesh.cells, needed: FEWEST_CELLS });
    }
    if mesh.levels == Levels::Intervals(0) {
        return Err(ConservationError::NoLevels);
    }
    if !(mesh.cfl > 0.0 && mesh.cfl <= 1.0) {
        return Err(ConservationError::Courant { cfl: mesh.cfl });
    }
    Ok(())
}

fn expect_count(what: &'static str, expected: usize, found: usize) -> Result<(), ConservationError> {
    if expected == found {
        return Ok(());
    }
    Err(ConservationError::WrongCount { what, expected, found })
}

/// Position `i` of `n` along an axis; both ends are exact.
fn along(axis: Axis, i: usize, n: usize) -> f64 {
    let s = i as f64 / n as f64;
    axis.lo * (1.0 - s) + axis.hi * s
}

/// A range widened by the initial and the given values.
fn widened(range: (f64, f64), start: &[f64], ghosts: &[Ghost; 2]) -> (f64, f64) {
    let given = ghosts.iter().flat_map(|ghost| match ghost {
        Ghost::Node(_) => &[],
        Ghost::Given { value, .. } => &value[..],
    });
    start.iter().chain(given).fold(range, |(lo, hi), &u| (u.min(lo), u.max(hi)))
}
