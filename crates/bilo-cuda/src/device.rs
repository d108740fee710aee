//! The device: programs on a GPU, with a CPU beside it for what is asked for once in a while.

use crate::descent::Descending;
use crate::dual::Dual;
use crate::generate::{Kernel, Packing, blocks_each, common, is_supported, pad, rows_each};
use crate::program::{Packed, Program};
use crate::runtime::{CudaError, KernelId, Memory, Runtime, doubles};
use bilo_jet::{
    Column, DensityId, DensityProgram, Descent, Device, FieldProgram, Frame, Jacobian, Linearisation,
    Moments, PointSource, Precision, ResidualId, ResidualLoss, ResidualProgram, ResidualWeights, Seen,
    Solved,
};

/// A GPU. Losses and gradients are computed there, and least squares in the dual form; Jacobians, and what is asked for at
/// the end of a run and in audits, on the CPU.
pub(crate) struct CudaDevice {
    runtime: Box<dyn Runtime>,
    precision: Precision,
    host: Box<dyn Device>,
    kernels: Common,
    shared: Shared,
    residuals: Vec<Option<Program>>,
    densities: Vec<Option<Program>>,
    descending: Option<Descending>,
    dual: Dual,
    /// Whether the last kernel was made here, not on the CPU.
    kernel_is_here: bool,
    fault: Option<CudaError>,
}

/// The kernels that belong to no program.
#[derive(Clone, Copy)]
pub(crate) struct Common {
    pub(crate) pack: KernelId,
    pub(crate) collect: KernelId,
    pub(crate) begin: KernelId,
    pub(crate) move_weights: KernelId,
    pub(crate) advance: KernelId,
}

/// Memory that all programs share; the first program brings it.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) weights: Option<Memory>,
    pub(crate) unknowns: Option<Memory>,
    pub(crate) gradient: Option<Memory>,
    pub(crate) packed: Vec<Packed>,
}

impl CudaDevice {
    pub(crate) fn new(
        mut runtime: Box<dyn Runtime>,
        precision: Precision,
        host: Box<dyn Device>,
    ) -> Result<Self, CudaError> {
        let kernels = runtime.load(
            &common(precision, runtime.threads()),
            &["pack", "collect", "begin", "move_weights", "advance"],
            0,
        )?;
        let [pack, collect, begin, move_weights, advance] = kernels[..] else {
            unreachable!("as many as names")
        };
        Ok(Self {
            runtime,
            precision,
            host,
            kernels: Common { pack, collect, begin, move_weights, advance },
            descending: None,
            dual: Dual::new(precision),
            kernel_is_here: false,
            shared: Shared::default(),
            residuals: vec![],
            densities: vec![],
            fault: None,
        })
    }

    fn parts(&mut self) -> Parts<'_> {
        self.parts_and_dual().0
    }

    fn parts_and_dual(&mut self) -> (Parts<'_>, &mut Dual) {
        let parts = Parts {
            runtime: self.runtime.as_mut(),
            kernels: self.kernels,
            shared: &mut self.shared,
            residuals: &mut self.residuals,
            densities: &mut self.densities,
        };
        (parts, &mut self.dual)
    }

    /// Notes the first thing that goes wrong; from then on every loss is not a number.
    fn noted<T>(&mut self, result: Result<T, CudaError>) -> Option<T> {
        result.map_err(|error| self.fault.get_or_insert(error).clone()).ok()
    }

    /// Rows of a program that cannot be had.
    fn no_rows(&self, id: ResidualId, unknowns: usize) -> Linearisation {
        let count = self.residuals[id.0].as_ref().map_or(0, Program::count);
        let columns = |number: usize| vec![vec![f64::NAN; count]; number];
        let residuals = self.dual.residuals(id);
        Linearisation {
            residuals: columns(residuals),
            by_unknown: columns(residuals * unknowns),
            ..Linearisation::default()
        }
    }

    /// Points of a tile: enough rows for all threads, but no more than it takes to occupy every block.
    fn tile(&self, frame: &Frame, count: usize) -> usize {
        let active = frame.carriers.iter().filter(|carrier| !carrier.idle);
        let fitting = active.map(|carrier| {
            let widest = carrier.network.nodes().iter().map(|node| node.width).max().unwrap_or(1);
            let rows = rows_each(self.precision) * self.runtime.threads() * 4 / pad(widest);
            rows / carrier.plan.len()
        });
        let fitting = fitting.min().unwrap_or(1);
        let blocks = self.runtime.multiprocessors() * blocks_each(self.precision);
        fitting.min(count.div_ceil(blocks)).max(1)
    }

    /// The place among the packed networks of a frame's.
    fn packed(&mut self, frame: &Frame) -> Result<usize, CudaError> {
        let Shared { weights, unknowns, gradient, packed } = &mut self.shared;
        for (memory, words) in
            [(&mut *weights, frame.weights), (gradient, frame.weights), (unknowns, frame.unknowns)]
        {
            if memory.is_none() {
                *memory = Some(self.runtime.allocate(words)?);
            }
        }
        let packing = Packing::new(frame);
        if let Some(place) = packed.iter().position(|packed| packed.is_of(&packing)) {
            return Ok(place);
        }
        let weights = weights.as_ref().expect("allocated above");
        packed.push(Packed::new(packing, weights, self.precision, self.runtime.as_mut())?);
        Ok(packed.len() - 1)
    }

    fn load(
        &mut self,
        frame: &Frame,
        points: &PointSource,
        make: impl FnOnce(&Packing, Precision, (usize, usize)) -> Kernel,
    ) -> Result<Program, CudaError> {
        let packed = self.packed(frame)?;
        let shape = (self.tile(frame, points.len()), self.runtime.threads());
        let kernel = make(self.shared.packed[packed].packing(), self.precision, shape);
        let runtime = self.runtime.as_mut();
        let mut program = Program::new(kernel, frame.weights, packed, points.len(), self.precision, runtime)?;
        program.move_to(points, runtime)?;
        Ok(program)
    }

    /// Runs a program at some weights and unknowns: its sums; adds factor · its weight gradient to `gradient`.
    fn run(
        &mut self,
        which: Which,
        weights: &[f64],
        unknowns: &[f64],
        factor: f64,
        gradient: Option<&mut [f64]>,
    ) -> Result<Vec<f64>, CudaError> {
        let mut program = self.held(which).take().expect("it was loaded");
        let mut parts = self.parts();
        let put = parts.put(&mut program, weights, unknowns, gradient.is_some(), [0; 2]);
        let sums = put.and_then(|()| parts.run(&mut program, factor, gradient));
        *self.held(which) = Some(program);
        sums
    }

    fn held(&mut self, which: Which) -> &mut Option<Program> {
        match which {
            Which::Residual(number) => &mut self.residuals[number],
            Which::Density(number) => &mut self.densities[number],
        }
    }
}

/// Everything of a device that a descent and linear systems work with.
pub(crate) struct Parts<'a> {
    pub(crate) runtime: &'a mut dyn Runtime,
    pub(crate) kernels: Common,
    pub(crate) shared: &'a mut Shared,
    pub(crate) residuals: &'a mut [Option<Program>],
    pub(crate) densities: &'a mut [Option<Program>],
}

impl Parts<'_> {
    /// A residual program that was loaded.
    pub(crate) fn residual(&self, id: ResidualId) -> &Program {
        self.residuals[id.0].as_ref().expect("it was loaded")
    }

    /// Aims a program at some weights and unknowns.
    pub(crate) fn put(
        &mut self,
        program: &mut Program,
        weights: &[f64],
        unknowns: &[f64],
        differentiate: bool,
        outputs: [u64; 2],
    ) -> Result<(), CudaError> {
        let Shared { weights: w, unknowns: u, packed, .. } = &mut *self.shared;
        let [w, u] = [w, u].map(|memory| memory.as_mut().expect("programs bring it"));
        self.runtime.write(w, &doubles(weights))?;
        self.runtime.write(u, &doubles(unknowns))?;
        let packed = &packed[program.packed];
        program.aim(packed, u, differentiate, outputs, self.runtime)?;
        packed.update(self.kernels.pack, self.runtime)
    }

    /// Runs a program where it was aimed: its sums; adds factor · its weight gradient to `gradient`.
    pub(crate) fn run(
        &mut self,
        program: &mut Program,
        factor: f64,
        gradient: Option<&mut [f64]>,
    ) -> Result<Vec<f64>, CudaError> {
        let found = self.shared.gradient.as_ref().expect("programs bring it");
        let wanted = gradient.is_some().then_some(found);
        let sums = program.run(self.kernels.collect, factor, wanted, self.runtime)?;
        if let Some(gradient) = gradient {
            let mut words = vec![0; program.weights()];
            self.runtime.read(found, &mut words)?;
            gradient.iter_mut().zip(words).for_each(|(sum, word)| *sum += f64::from_bits(word));
        }
        Ok(sums)
    }
}

/// A program that was loaded.
#[derive(Clone, Copy)]
enum Which {
    Residual(usize),
    Density(usize),
}

impl Device for CudaDevice {
    fn description(&self) -> String {
        self.runtime.description()
    }

    fn peak_memory(&self) -> Option<u64> {
        Some(self.runtime.tally().most_bytes())
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn fault(&self) -> Option<String> {
        self.fault.as_ref().map(ToString::to_string)
    }

    fn load_residual(&mut self, program: ResidualProgram, points: PointSource) -> ResidualId {
        let mut loaded = None;
        if self.fault.is_none() && is_supported(&program.frame) {
            let made = self.load(&program.frame, &points, |packing, precision, shape| {
                Kernel::residual(&program, packing, precision, shape)
            });
            loaded = self.noted(made);
        }
        self.residuals.push(loaded);
        self.dual.take(&program);
        self.host.load_residual(program, points)
    }

    fn load_density(&mut self, program: DensityProgram, points: PointSource, weights: Column) -> DensityId {
        let mut loaded = None;
        if self.fault.is_none() && is_supported(&program.frame) {
            let made = self.load(&program.frame, &points, |packing, precision, shape| {
                Kernel::density(&program, packing, precision, shape)
            });
            let made = made.and_then(|mut program| {
                program.set_terms(&at_points(&weights, points.len()), self.runtime.as_mut())?;
                Ok(program)
            });
            loaded = self.noted(made);
        }
        self.densities.push(loaded);
        self.host.load_density(program, points, weights)
    }

    fn move_residual(&mut self, id: ResidualId, points: PointSource) {
        if let Some(program) = &mut self.residuals[id.0] {
            let moved = program.move_to(&points, self.runtime.as_mut());
            self.noted(moved);
        }
        self.host.move_residual(id, points);
    }

    fn move_density(&mut self, id: DensityId, points: PointSource, weights: Column) {
        if let Some(program) = &mut self.densities[id.0] {
            let runtime = self.runtime.as_mut();
            let moved = program
                .move_to(&points, runtime)
                .and_then(|()| program.set_terms(&at_points(&weights, points.len()), runtime));
            self.noted(moved);
        }
        self.host.move_density(id, points, weights);
    }

    fn residual(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        terms: &ResidualWeights,
        gradient: Option<&mut [f64]>,
    ) -> ResidualLoss {
        let count = terms.equation.len();
        let none = || ResidualLoss { residual: vec![f64::NAN; count], gradient: vec![f64::NAN; count] };
        if self.fault.is_some() {
            return none();
        }
        let Some(program) = &mut self.residuals[id.0] else {
            return self.host.residual(id, weights, unknowns, terms, gradient);
        };
        let scale = 1.0 / program.count() as f64;
        let both = [&terms.equation[..], &[terms.gradient]].concat();
        let set = program.set_terms(&both, self.runtime.as_mut());
        let sums = set.and_then(|()| self.run(Which::Residual(id.0), weights, unknowns, scale, gradient));
        let Some(mut sums) = self.noted(sums) else { return none() };
        let gradient = sums.split_off(count);
        ResidualLoss { residual: sums, gradient }
    }

    fn density(
        &mut self,
        id: DensityId,
        weights: &[f64],
        unknowns: &[f64],
        gradient: Option<&mut [f64]>,
    ) -> (f64, Vec<f64>) {
        let none = (f64::NAN, vec![f64::NAN; unknowns.len()]);
        if self.fault.is_some() {
            return none;
        }
        if self.densities[id.0].is_none() {
            return self.host.density(id, weights, unknowns, gradient);
        }
        let sums = self.run(Which::Density(id.0), weights, unknowns, 1.0, gradient);
        let Some(mut sums) = self.noted(sums) else { return none };
        let by_unknown = sums.split_off(1);
        (sums[0], by_unknown)
    }

    fn begin(
        &mut self,
        descent: &Descent,
        weights: &[f64],
        unknowns: &[f64],
        moments: &[Moments; 2],
    ) -> bool {
        let here = descent.residuals.iter().all(|(id, _)| self.residuals[id.0].is_some())
            && descent.densities.iter().all(|density| self.densities[density.id.0].is_some());
        if !here || self.fault.is_some() {
            return false;
        }
        let begun = Descending::begin(descent, weights, unknowns, moments, &mut self.parts());
        self.descending = self.noted(begun);
        self.descending.is_some()
    }

    fn descend(&mut self, factors: &[(f64, f64)]) -> Vec<Seen> {
        let Some(mut descending) = self.descending.take() else { return vec![] };
        let seen = descending.steps(factors, &mut self.parts());
        self.descending = Some(descending);
        self.noted(seen).unwrap_or_default()
    }

    fn arrived(&mut self) -> Option<(Vec<f64>, Vec<f64>)> {
        let descending = self.descending.take()?;
        let arrived = descending.arrived(&mut self.parts());
        self.descending = Some(descending);
        self.noted(arrived)
    }

    fn moments(&mut self) -> Option<[Moments; 2]> {
        let descending = self.descending.take()?;
        let moments = descending.moments(&mut self.parts());
        self.descending = Some(descending);
        self.noted(moments)
    }

    fn linearise(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        jacobian: Jacobian,
    ) -> Linearisation {
        // Residuals that are asked for once in a while are not worth a kernel of their own.
        if jacobian != Jacobian::None || !self.dual.has(id) {
            return self.host.linearise(id, weights, unknowns, jacobian);
        }
        let (mut parts, dual) = self.parts_and_dual();
        let found = dual.linearise(id, weights, unknowns, false, &mut parts);
        self.noted(found).unwrap_or_else(|| self.no_rows(id, unknowns.len()))
    }

    fn kernel(
        &mut self,
        ids: &[ResidualId],
        weights: &[f64],
        unknowns: &[f64],
        scales: &[f64],
    ) -> Vec<Linearisation> {
        self.kernel_is_here = ids.iter().all(|id| self.residuals[id.0].is_some());
        if !self.kernel_is_here {
            return self.host.kernel(ids, weights, unknowns, scales);
        }
        let (mut parts, dual) = self.parts_and_dual();
        let found = dual.kernel(ids, weights, unknowns, scales, &mut parts);
        let none = |device: &Self| ids.iter().map(|&id| device.no_rows(id, unknowns.len())).collect();
        self.noted(found).unwrap_or_else(|| none(self))
    }

    fn factorise(&mut self, damping: f64) -> bool {
        if !self.kernel_is_here {
            return self.host.factorise(damping);
        }
        if self.fault.is_some() {
            return false;
        }
        let (mut parts, dual) = self.parts_and_dual();
        let done = dual.factorise(damping, &mut parts);
        self.noted(done).unwrap_or(false)
    }

    fn solve(&mut self, right: &[&[f64]]) -> Vec<Solved> {
        if !self.kernel_is_here {
            return self.host.solve(right);
        }
        let (mut parts, dual) = self.parts_and_dual();
        let solved = dual.solve(right, &mut parts);
        let none = |b: &&[f64]| Solved { numbers: vec![f64::NAN; b.len()], product: vec![f64::NAN; b.len()] };
        self.noted(solved).unwrap_or_else(|| right.iter().map(none).collect())
    }

    fn pullback(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        seeds: &[Vec<f64>],
        gradient: &mut [f64],
    ) {
        if !self.dual.has(id) {
            return self.host.pullback(id, weights, unknowns, seeds, gradient);
        }
        let (mut parts, dual) = self.parts_and_dual();
        let done = dual.pullback(id, weights, unknowns, seeds, gradient, &mut parts);
        if self.noted(done).is_none() {
            gradient.fill(f64::NAN);
        }
    }

    fn evaluate(
        &mut self,
        program: &FieldProgram,
        points: PointSource,
        weights: &[f64],
        unknowns: &[f64],
        slopes: &[Vec<f64>],
    ) -> Vec<Vec<f64>> {
        self.host.evaluate(program, points, weights, unknowns, slopes)
    }
}

/// The weights of so many points.
fn at_points(weights: &Column, count: usize) -> Vec<f64> {
    let mut values = vec![0.0; count];
    weights.write(0, &mut values);
    values
}
