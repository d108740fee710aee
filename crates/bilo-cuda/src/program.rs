//! A program with its points in the memory of a machine, and its launches.

use crate::generate::{Kernel, NOWHERE, Packing, blocks_each, pad};
use crate::runtime::{CudaError, KernelId, Launch, Memory, Runtime, doubles, halves, reals, words_of};
use bilo_jet::{PointSource, Precision};

/// Most blocks of kernels that go over weights.
pub(crate) const WEIGHT_BLOCKS: usize = 1024;

/// The numbers of some networks as kernels want them.
pub(crate) struct Packed {
    packing: Packing,
    memory: Memory,
    /// Which weight goes where: pairs, and two places for each weight.
    _routes: [Memory; 2],
    places: Memory,
    args: Memory,
}

impl Packed {
    pub(crate) fn new(
        packing: Packing,
        weights: &Memory,
        precision: Precision,
        runtime: &mut dyn Runtime,
    ) -> Result<Self, CudaError> {
        let (from, to): (Vec<u32>, Vec<u32>) = packing.trained.iter().copied().unzip();
        let memory = filled(runtime, &reals(&packing.image, precision))?;
        let routes = [filled(runtime, &halves(&from))?, filled(runtime, &halves(&to))?];
        let args = [memory.address, weights.address, routes[0].address, routes[1].address, from.len() as u64];
        let args = filled(runtime, &args)?;
        let places = filled(runtime, &halves(&two_places(&packing, weights.words)))?;
        Ok(Self { packing, memory, _routes: routes, places, args })
    }

    pub(crate) fn packing(&self) -> &Packing {
        &self.packing
    }

    /// Whether it has the same networks.
    pub(crate) fn is_of(&self, packing: &Packing) -> bool {
        self.packing == *packing
    }

    /// Where the numbers are, and the list of two places for each weight.
    pub(crate) fn addresses(&self) -> [u64; 2] {
        [self.memory.address, self.places.address]
    }

    /// Puts all weights to their places.
    pub(crate) fn update(&self, pack: KernelId, runtime: &mut dyn Runtime) -> Result<(), CudaError> {
        let blocks = self.packing.trained.len().div_ceil(runtime.threads());
        runtime.launch(pack, blocks.clamp(1, WEIGHT_BLOCKS), self.args.address)
    }
}

/// A matrix is packed twice, a bias once.
fn two_places(packing: &Packing, weights: usize) -> Vec<u32> {
    let mut places = vec![NOWHERE; 2 * weights];
    for &(weight, place) in &packing.trained {
        let slots = &mut places[2 * weight as usize..][..2];
        let free = slots.iter_mut().find(|slot| **slot == NOWHERE);
        *free.expect("at most two places") = place;
    }
    places
}

/// A program with its points.
pub(crate) struct Program {
    kernel: Kernel,
    id: KernelId,
    /// Tiles that are worked on at the same time.
    blocks: usize,
    /// Where its points are, and how many.
    points: (u64, usize),
    /// Which of the packed networks it uses.
    pub(crate) packed: usize,
    weights: usize,
    columns: Memory,
    /// Weights of the residuals' terms, or of the points.
    terms: Memory,
    work: Memory,
    gradients: Memory,
    block_sums: Memory,
    /// The sums over all blocks.
    found: Memory,
    /// What kernels are told of its gradients and sums.
    lists: Memory,
    args: Memory,
    collect_args: Memory,
}

impl Program {
    /// Loads a kernel for networks of so many weights.
    pub(crate) fn new(
        kernel: Kernel,
        weights: usize,
        packed: usize,
        points: usize,
        precision: Precision,
        runtime: &mut dyn Runtime,
    ) -> Result<Self, CudaError> {
        let id = runtime.load(&kernel.source, &["program"], kernel.shared)?[0];
        let most = runtime.multiprocessors() * blocks_each(precision);
        let blocks = points.div_ceil(kernel.points).min(most).max(1);
        let (sums, threads) = (kernel.sums, runtime.threads());
        let mut empty = |words: usize| runtime.allocate(words);
        Ok(Self {
            columns: empty(0)?,
            terms: empty(0)?,
            work: empty(words_of(blocks * kernel.work, precision))?,
            gradients: empty(words_of(blocks * pad(weights), precision))?,
            found: empty(sums)?,
            lists: empty(12)?,
            args: empty(12)?,
            collect_args: empty(4)?,
            block_sums: empty(blocks * sums * (1 + threads))?,
            kernel,
            id,
            blocks,
            points: (0, 0),
            packed,
            weights,
        })
    }

    /// Number of its sums.
    pub(crate) fn sum_count(&self) -> usize {
        self.kernel.sums
    }

    /// Number of the weights that it knows.
    pub(crate) fn weights(&self) -> usize {
        self.weights
    }

    /// Number of points.
    pub(crate) fn count(&self) -> usize {
        self.points.1
    }

    /// Points of a tile.
    pub(crate) fn tile(&self) -> usize {
        self.kernel.points
    }

    /// Copies points.
    pub(crate) fn move_to(
        &mut self,
        points: &PointSource,
        runtime: &mut dyn Runtime,
    ) -> Result<(), CudaError> {
        let columns = points.columns(0..points.len());
        let words: Vec<u64> = columns.iter().flat_map(|column| doubles(column)).collect();
        rewrite(&mut self.columns, &words, runtime)?;
        self.points = (self.columns.address, points.len());
        Ok(())
    }

    /// Works at the points of another program, until that has others.
    pub(crate) fn share_points(&mut self, other: &Program) {
        self.points = other.points;
    }

    /// Copies the weights of terms or points.
    pub(crate) fn set_terms(&mut self, terms: &[f64], runtime: &mut dyn Runtime) -> Result<(), CudaError> {
        rewrite(&mut self.terms, &doubles(terms), runtime)
    }

    /// Says where everything is, whether the weight gradient is wanted, and where results by point go, if it has any.
    pub(crate) fn aim(
        &mut self,
        packed: &Packed,
        unknowns: &Memory,
        differentiate: bool,
        outputs: [u64; 2],
        runtime: &mut dyn Runtime,
    ) -> Result<(), CudaError> {
        let args = [
            packed.memory.address,
            unknowns.address,
            self.points.0,
            self.points.1 as u64,
            self.terms.address,
            self.work.address,
            self.kernel.work as u64,
            self.gradients.address,
            self.block_sums.address,
            u64::from(differentiate),
            outputs[0],
            outputs[1],
        ];
        runtime.write(&mut self.args, &args)
    }

    /// What runs it where it was aimed.
    pub(crate) fn launch(&self) -> Launch {
        (self.id, self.blocks, self.args.address)
    }

    /// Its blocks' weight gradients, as kernels are told of them.
    pub(crate) fn gradients(&self, factor: f64) -> [u64; 5] {
        let [distance, blocks, weights] = [pad(self.weights), self.blocks, self.weights].map(|n| n as u64);
        [self.gradients.address, distance, blocks, weights, factor.to_bits()]
    }

    /// Its blocks' sums, as kernels are told of them.
    pub(crate) fn sums(&self, runtime: &dyn Runtime, scale: f64, by_unknown: f64, place: usize) -> [u64; 7] {
        let count = self.kernel.sums;
        let distance = count * (1 + runtime.threads());
        let [distance, blocks, count, place] = [distance, self.blocks, count, place].map(|n| n as u64);
        let [scale, by_unknown] = [scale, by_unknown].map(f64::to_bits);
        [self.block_sums.address, distance, blocks, count, scale, by_unknown, place]
    }

    /// Runs it and adds up what its blocks found: its sums times a factor; with `gradient`, also its weight gradient
    /// times the factor.
    pub(crate) fn run(
        &mut self,
        collect: KernelId,
        factor: f64,
        gradient: Option<&Memory>,
        runtime: &mut dyn Runtime,
    ) -> Result<Vec<f64>, CudaError> {
        let lists = [&self.gradients(factor)[..], &self.sums(runtime, factor, 0.0, 0)].concat();
        runtime.write(&mut self.lists, &lists)?;
        let lists = self.lists.address;
        let args = [gradient.map_or(0, |memory| memory.address), self.found.address, lists, lists + 8 * 5];
        runtime.write(&mut self.collect_args, &args)?;
        runtime.launch_beside(&[self.launch()])?;
        let blocks = self.weights.div_ceil(runtime.threads()).clamp(1, WEIGHT_BLOCKS);
        runtime.launch(collect, blocks, self.collect_args.address)?;
        let mut words = vec![0; self.kernel.sums];
        runtime.read(&self.found, &mut words)?;
        Ok(words.into_iter().map(f64::from_bits).collect())
    }
}

/// Memory with these words.
pub(crate) fn filled(runtime: &mut dyn Runtime, words: &[u64]) -> Result<Memory, CudaError> {
    let mut memory = runtime.allocate(words.len())?;
    runtime.write(&mut memory, words)?;
    Ok(memory)
}

/// Other words, in larger memory if they do not fit.
fn rewrite(memory: &mut Memory, words: &[u64], runtime: &mut dyn Runtime) -> Result<(), CudaError> {
    if memory.words < words.len() {
        *memory = runtime.allocate(words.len())?;
    }
    runtime.write(memory, words)
}
