//! Linear systems with a kernel K + damping, by Cholesky factors, tile by tile.

use crate::generate::{dual, side};
use crate::machine::{Machine, Shared};
use crate::program::filled;
use crate::runtime::{CudaError, KernelId, Memory, Runtime, doubles};
use crate::spare::{Kept, Spare};
use bilo_jet::{DualFactors, DualSystem, Fault, Solved};
use std::rc::Rc;

/// Most blocks of kernels that go over rows.
const ROW_BLOCKS: usize = 4096;

/// K.
pub(crate) struct System {
    size: usize,
    /// Rows of a tile.
    side: usize,
    kernels: Kernels,
    kernel: Kept,
}

struct Kernels {
    products: KernelId,
    damp: KernelId,
    diagonal: KernelId,
    eliminate: KernelId,
    update: KernelId,
    forward: KernelId,
    backward: KernelId,
    times: KernelId,
}

impl System {
    /// Room for so many rows.
    pub(crate) fn new(size: usize, spare: &Spare, machine: &mut Machine) -> Result<Self, CudaError> {
        let runtime = machine.runtime.as_mut();
        let names = ["products", "damp", "diagonal", "eliminate", "update", "forward", "backward", "times"];
        let ids = runtime.load(&dual(machine.precision, runtime.threads()), &names, 0)?;
        let [products, damp, diagonal, eliminate, update, forward, backward, times] = ids[..] else {
            unreachable!("as many as names")
        };
        let kernels = Kernels { products, damp, diagonal, eliminate, update, forward, backward, times };
        let kernel = spare.take(size * size, runtime)?;
        Ok(Self { size, side: side(runtime.threads()), kernels, kernel })
    }

    /// Where K is.
    pub(crate) fn kernel(&self) -> u64 {
        self.kernel.address()
    }

    /// Makes a part of K of so many tiles, as a list says.
    pub(crate) fn add_products(
        &self,
        tiles: usize,
        list: u64,
        runtime: &mut dyn Runtime,
    ) -> Result<(), CudaError> {
        runtime.launch(self.kernels.products, tiles, list)
    }

    fn blocks(&self) -> usize {
        self.size.div_ceil(self.side)
    }
}

/// K as others have it.
pub(crate) struct KernelHandle {
    system: Rc<System>,
    spare: Spare,
    machine: Shared,
}

impl KernelHandle {
    pub(crate) fn new(system: System, spare: Spare, machine: Shared) -> Self {
        Self { system: Rc::new(system), spare, machine }
    }
}

impl DualSystem for KernelHandle {
    fn factorise(&self, damping: f64) -> Result<Option<Box<dyn DualFactors>>, Fault> {
        let factors = Factors::new(self, damping)?;
        Ok(factors.map(|factors| Box::new(factors) as Box<dyn DualFactors>))
    }
}

/// The factors of K + damping.
struct Factors {
    system: Rc<System>,
    machine: Shared,
    damping: f64,
    matrix: Kept,
    inverses: Kept,
    failed: Memory,
}

/// What kernels are told of a system.
struct Told {
    /// Where everything is.
    _places: Memory,
    /// For those that work on one block of the diagonal: where the places are, and its number.
    steps: Memory,
}

impl Told {
    fn step(&self, number: usize) -> u64 {
        self.steps.address + 16 * number as u64
    }
}

impl Factors {
    /// None where a pivot was not positive.
    fn new(handle: &KernelHandle, damping: f64) -> Result<Option<Self>, CudaError> {
        let KernelHandle { system, spare, machine } = handle;
        let machine_now = &mut *machine.lock();
        let runtime = machine_now.runtime.as_mut();
        let factors = Self {
            system: system.clone(),
            machine: machine.clone(),
            damping,
            matrix: spare.take(system.size * system.size, runtime)?,
            inverses: spare.take(system.blocks() * system.side * system.side, runtime)?,
            failed: runtime.allocate(1)?,
        };
        let told = factors.tell(0, None, runtime)?;
        let kernels = &system.kernels;
        runtime.launch(kernels.damp, system.size.min(ROW_BLOCKS), told.step(0))?;
        for block in 0..system.blocks() {
            let below = system.blocks() - block - 1;
            runtime.launch(kernels.diagonal, 1, told.step(block))?;
            if below > 0 {
                runtime.launch(kernels.eliminate, below, told.step(block))?;
                runtime.launch(kernels.update, below * (below + 1) / 2, told.step(block))?;
            }
        }
        let mut failed = [0];
        runtime.read(&factors.failed, &mut failed)?;
        Ok((f64::from_bits(failed[0]) == 0.0).then_some(factors))
    }

    /// Tells kernels where everything is, for so many right sides.
    fn tell(
        &self,
        columns: usize,
        vectors: Option<&Memory>,
        runtime: &mut dyn Runtime,
    ) -> Result<Told, CudaError> {
        let first = vectors.map_or(0, |vectors| vectors.address);
        let part = |number: usize| first + (8 * number * columns * self.system.size) as u64;
        let places = [
            self.system.kernel(),
            self.matrix.address(),
            self.system.size as u64,
            self.inverses.address(),
            self.failed.address,
            self.damping.to_bits(),
            part(0),
            part(1),
            part(2),
            part(3),
            columns as u64,
        ];
        let places = filled(runtime, &places)?;
        let steps = (0..self.system.blocks() as u64).flat_map(|block| [places.address, block]);
        let steps = filled(runtime, &steps.collect::<Vec<_>>())?;
        Ok(Told { _places: places, steps })
    }

    fn solutions(&self, right: &[&[f64]]) -> Result<Vec<Solved>, CudaError> {
        let machine = &mut *self.machine.lock();
        let runtime = machine.runtime.as_mut();
        let System { size, kernels, .. } = self.system.as_ref();
        let length = right.len() * size;
        // Columns of right sides, halfway solutions, solutions and products.
        let mut vectors = runtime.allocate(4 * length)?;
        runtime.write(&mut vectors, &doubles(&right.concat()))?;
        let told = self.tell(right.len(), Some(&vectors), runtime)?;
        let blocks = self.system.blocks();
        for block in 0..blocks {
            runtime.launch(kernels.forward, blocks - block, told.step(block))?;
        }
        for block in (0..blocks).rev() {
            runtime.launch(kernels.backward, block + 1, told.step(block))?;
        }
        runtime.launch(kernels.times, (*size).min(ROW_BLOCKS), told.step(0))?;
        let mut words = vec![0; 4 * length];
        runtime.read(&vectors, &mut words)?;
        let column = |first: usize| words[first..first + size].iter().copied().map(f64::from_bits);
        let solved = (0..right.len()).map(|number| number * size).map(|first| Solved {
            numbers: column(2 * length + first).collect(),
            product: column(3 * length + first).collect(),
        });
        Ok(solved.collect())
    }
}

impl DualFactors for Factors {
    fn solve(&self, right: &[&[f64]]) -> Result<Vec<Solved>, Fault> {
        Ok(self.solutions(right)?)
    }
}
