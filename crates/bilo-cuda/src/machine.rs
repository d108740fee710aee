//! What a device and its handles share: the machine, the programs that are on it, and their memory.

use crate::generate::{Kernel, Packing, blocks_each, common, pad, rows_each};
use crate::program::{Packed, Program};
use crate::runtime::{CudaError, KernelId, Memory, Runtime, doubles};
use bilo_jet::{Frame, PointSource, Precision, ResidualId};
use std::sync::{Arc, Mutex, MutexGuard};

/// The machine of a device, which its handles keep alive: one of them works with it at a time.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Machine>>);

impl Shared {
    pub(crate) fn new(machine: Machine) -> Self {
        Self(Arc::new(Mutex::new(machine)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Machine> {
        self.0.lock().expect("no holder panicked")
    }
}

/// A machine with programs.
pub(crate) struct Machine {
    pub(crate) runtime: Box<dyn Runtime>,
    pub(crate) precision: Precision,
    pub(crate) kernels: Common,
    pub(crate) numbers: Numbers,
    /// None for those that only the CPU can run.
    pub(crate) residuals: Vec<Option<Program>>,
    pub(crate) densities: Vec<Option<Program>>,
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

/// Memory that all programs share; the first program brings it. Every call writes there what it needs.
#[derive(Default)]
pub(crate) struct Numbers {
    weights: Option<Memory>,
    unknowns: Option<Memory>,
    gradient: Option<Memory>,
    pub(crate) packed: Vec<Packed>,
}

impl Numbers {
    pub(crate) fn weights(&self) -> &Memory {
        self.weights.as_ref().expect("programs bring it")
    }

    pub(crate) fn unknowns(&self) -> &Memory {
        self.unknowns.as_ref().expect("programs bring it")
    }

    /// Writes weights and unknowns.
    pub(crate) fn put(
        &mut self,
        weights: &[f64],
        unknowns: &[f64],
        runtime: &mut dyn Runtime,
    ) -> Result<(), CudaError> {
        for (memory, values) in [(&mut self.weights, weights), (&mut self.unknowns, unknowns)] {
            runtime.write(memory.as_mut().expect("programs bring it"), &doubles(values))?;
        }
        Ok(())
    }
}

/// A program that was loaded.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    Residual(usize),
    Density(usize),
}

impl Machine {
    pub(crate) fn new(mut runtime: Box<dyn Runtime>, precision: Precision) -> Result<Self, CudaError> {
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
            kernels: Common { pack, collect, begin, move_weights, advance },
            numbers: Numbers::default(),
            residuals: vec![],
            densities: vec![],
        })
    }

    /// Whether a residual program is on the machine.
    pub(crate) fn has_residual(&self, id: ResidualId) -> bool {
        self.residuals[id.0].is_some()
    }

    /// A residual program on the machine.
    pub(crate) fn residual(&self, id: ResidualId) -> &Program {
        self.residuals[id.0].as_ref().expect("it is here")
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
        let Numbers { weights, unknowns, gradient, packed } = &mut self.numbers;
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

    /// Makes a program of a frame at some points.
    pub(crate) fn load(
        &mut self,
        frame: &Frame,
        points: &PointSource,
        make: impl FnOnce(&Packing, Precision, (usize, usize)) -> Kernel,
    ) -> Result<Program, CudaError> {
        let packed = self.packed(frame)?;
        let shape = (self.tile(frame, points.len()), self.runtime.threads());
        let kernel = make(self.numbers.packed[packed].packing(), self.precision, shape);
        let runtime = self.runtime.as_mut();
        let mut program = Program::new(kernel, frame.weights, packed, points.len(), self.precision, runtime)?;
        program.move_to(points, runtime)?;
        Ok(program)
    }

    /// Runs a program that was loaded at some weights and unknowns: its sums; adds factor · its weight gradient to
    /// `gradient`.
    pub(crate) fn run_loaded(
        &mut self,
        which: Which,
        weights: &[f64],
        unknowns: &[f64],
        factor: f64,
        gradient: Option<&mut [f64]>,
    ) -> Result<Vec<f64>, CudaError> {
        let mut program = self.held(which).take().expect("it is here");
        let put = self.put(&mut program, weights, unknowns, gradient.is_some(), [0; 2]);
        let sums = put.and_then(|()| self.run(&mut program, factor, gradient));
        *self.held(which) = Some(program);
        sums
    }

    fn held(&mut self, which: Which) -> &mut Option<Program> {
        match which {
            Which::Residual(number) => &mut self.residuals[number],
            Which::Density(number) => &mut self.densities[number],
        }
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
        let (numbers, runtime) = (&mut self.numbers, self.runtime.as_mut());
        numbers.put(weights, unknowns, runtime)?;
        let packed = &numbers.packed[program.packed];
        program.aim(packed, numbers.unknowns(), differentiate, outputs, runtime)?;
        packed.update(self.kernels.pack, runtime)
    }

    /// Runs a program where it was aimed: its sums; adds factor · its weight gradient to `gradient`.
    pub(crate) fn run(
        &mut self,
        program: &mut Program,
        factor: f64,
        gradient: Option<&mut [f64]>,
    ) -> Result<Vec<f64>, CudaError> {
        let found = self.numbers.gradient.as_ref().expect("programs bring it");
        let wanted = gradient.is_some().then_some(found);
        let sums = program.run(self.kernels.collect, factor, wanted, self.runtime.as_mut())?;
        if let Some(gradient) = gradient {
            let mut words = vec![0; program.weights()];
            self.runtime.read(found, &mut words)?;
            gradient.iter_mut().zip(words).for_each(|(sum, word)| *sum += f64::from_bits(word));
        }
        Ok(sums)
    }
}
