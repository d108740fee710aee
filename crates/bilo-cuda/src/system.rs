//! Linear systems with a kernel K + damping, by Cholesky factors, tile by tile.

use crate::generate::{dual, side};
use crate::runtime::{CudaError, KernelId, Memory, Runtime, doubles};
use bilo_jet::{Precision, Solved};

/// Most blocks of kernels that go over rows.
const ROW_BLOCKS: usize = 4096;

/// K with room for its factors.
pub(crate) struct System {
    size: usize,
    /// Rows of a tile.
    side: usize,
    kernels: Kernels,
    kernel: Memory,
    matrix: Memory,
    inverses: Memory,
    failed: Memory,
    /// Columns of right sides, halfway solutions, solutions and products.
    vectors: Memory,
    damping: f64,
    /// What kernels are told of it.
    told: Memory,
    /// What kernels are told that work on one block of the diagonal: where that is, and its number.
    steps: Memory,
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
    pub(crate) fn new(
        size: usize,
        precision: Precision,
        runtime: &mut dyn Runtime,
    ) -> Result<Self, CudaError> {
        let names = ["products", "damp", "diagonal", "eliminate", "update", "forward", "backward", "times"];
        let ids = runtime.load(&dual(precision, runtime.threads()), &names, 0)?;
        let [products, damp, diagonal, eliminate, update, forward, backward, times] = ids[..] else {
            unreachable!("as many as names")
        };
        let side = side(runtime.threads());
        let blocks = size.div_ceil(side);
        let mut empty = |words: usize| runtime.allocate(words);
        let mut system = Self {
            size,
            side,
            kernels: Kernels { products, damp, diagonal, eliminate, update, forward, backward, times },
            kernel: empty(size * size)?,
            matrix: empty(size * size)?,
            inverses: empty(blocks * side * side)?,
            failed: empty(1)?,
            vectors: empty(0)?,
            damping: 0.0,
            told: empty(11)?,
            steps: empty(2 * blocks)?,
        };
        let steps: Vec<u64> = (0..blocks as u64).flat_map(|block| [system.told.address, block]).collect();
        runtime.write(&mut system.steps, &steps)?;
        Ok(system)
    }

    /// Number of rows.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Where K is.
    pub(crate) fn kernel(&self) -> u64 {
        self.kernel.address
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

    /// Factorises K + damping; whether all pivots were positive.
    pub(crate) fn factorise(&mut self, damping: f64, runtime: &mut dyn Runtime) -> Result<bool, CudaError> {
        self.damping = damping;
        self.tell(0, runtime)?;
        runtime.write(&mut self.failed, &[0])?;
        runtime.launch(self.kernels.damp, self.size.min(ROW_BLOCKS), self.steps.address)?;
        for block in 0..self.blocks() {
            let below = self.blocks() - block - 1;
            self.step(self.kernels.diagonal, 1, block, runtime)?;
            if below > 0 {
                self.step(self.kernels.eliminate, below, block, runtime)?;
                self.step(self.kernels.update, below * (below + 1) / 2, block, runtime)?;
            }
        }
        let mut failed = [0];
        runtime.read(&self.failed, &mut failed)?;
        Ok(f64::from_bits(failed[0]) == 0.0)
    }

    /// Solves with the last factors.
    pub(crate) fn solve(
        &mut self,
        right: &[&[f64]],
        runtime: &mut dyn Runtime,
    ) -> Result<Vec<Solved>, CudaError> {
        let length = right.len() * self.size;
        if self.vectors.words < 4 * length {
            self.vectors = runtime.allocate(4 * length)?;
        }
        runtime.write(&mut self.vectors, &doubles(&right.concat()))?;
        self.tell(right.len(), runtime)?;
        for block in 0..self.blocks() {
            self.step(self.kernels.forward, self.blocks() - block, block, runtime)?;
        }
        for block in (0..self.blocks()).rev() {
            self.step(self.kernels.backward, block + 1, block, runtime)?;
        }
        runtime.launch(self.kernels.times, self.size.min(ROW_BLOCKS), self.steps.address)?;
        let mut words = vec![0; 4 * length];
        runtime.read(&self.vectors, &mut words)?;
        let column = |first: usize| words[first..first + self.size].iter().copied().map(f64::from_bits);
        let solved = (0..right.len()).map(|number| number * self.size).map(|first| Solved {
            numbers: column(2 * length + first).collect(),
            product: column(3 * length + first).collect(),
        });
        Ok(solved.collect())
    }

    fn blocks(&self) -> usize {
        self.size.div_ceil(self.side)
    }

    fn step(
        &self,
        kernel: KernelId,
        blocks: usize,
        number: usize,
        runtime: &mut dyn Runtime,
    ) -> Result<(), CudaError> {
        runtime.launch(kernel, blocks, self.steps.address + 16 * number as u64)
    }

    /// Tells kernels where everything is, for so many right sides.
    fn tell(&mut self, columns: usize, runtime: &mut dyn Runtime) -> Result<(), CudaError> {
        let part = |number: usize| self.vectors.address + (8 * number * columns * self.size) as u64;
        let words = [
            self.kernel.address,
            self.matrix.address,
            self.size as u64,
            self.inverses.address,
            self.failed.address,
            self.damping.to_bits(),
            part(0),
            part(1),
            part(2),
            part(3),
            columns as u64,
        ];
        runtime.write(&mut self.told, &words)
    }
}
