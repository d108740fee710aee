//! The CPU device: tiles of points in cache, threads over fixed groups of tiles, the same bits for
//! any number of threads.

mod crew;
mod dual;
mod kernel;
mod linear;

use crate::device::{
    DensityId, Device, Dual, Fault, Jacobian, Linearisation, Precision, ResidualId, ResidualLoss,
    ResidualWeights,
};
use crate::points::{Column, PointSource};
use crate::program::{DensityProgram, FieldProgram, Frame, ResidualProgram};
use crate::scalar::Number;
use crate::tile::{DensityTask, FieldTask, Points, PullbackTask, ResidualTask, Task, TileRunner};
use bilo_linear::{Aligned, Job, Scalar, Simd};
use crew::Crew;
use dual::Kernel;
use std::cmp::Reverse;
use std::ops::DerefMut;
use std::sync::Mutex;

/// Groups of tiles with a gradient of their own. The number is fixed, so that the order of sums does
/// not depend on the threads; it bounds how many threads can help.
const GROUPS: usize = 16;

/// A CPU with the given precision and number of threads (all cores if none is given). It has no tensor cores, so tf32 is
/// f32 here.
pub fn cpu(precision: Precision, threads: Option<usize>) -> Box<dyn Device> {
    match precision {
        Precision::F32 | Precision::Tf32 => Box::new(Cpu::<f32>::new(Precision::F32, threads)),
        Precision::F64 => Box::new(Cpu::<f64>::new(precision, threads)),
    }
}

struct Cpu<T> {
    precision: Precision,
    simd: Simd,
    crew: Crew,
    residuals: Vec<Block<T, ResidualProgram>>,
    densities: Vec<Block<T, DensityProgram>>,
}

/// A program with its points and the workspaces that have been made for it.
struct Block<T, P> {
    program: P,
    simd: Simd,
    points: Points<T>,
    runners: Mutex<Vec<TileRunner<T>>>,
    /// One share per group, kept for the next call.
    shares: Vec<Share<T>>,
}

/// What one group of tiles contributes.
#[derive(Clone)]
struct Share<T> {
    sums: Vec<f64>,
    /// Zero between calls.
    gradient: Aligned<T>,
}

impl<T: Number> Cpu<T> {
    fn new(precision: Precision, threads: Option<usize>) -> Self {
        let crew = Crew::new(threads);
        Self { precision, simd: Simd::detect(), crew, residuals: vec![], densities: vec![] }
    }
}

fn cast<T: Number>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::cast(value)).collect()
}

impl<T: Number, P: Sync> Block<T, P> {
    fn new(
        program: P,
        frame: &Frame,
        directions: usize,
        source: PointSource,
        weights: Column,
        simd: Simd,
    ) -> Self {
        let mut points = Points::new(frame, directions, source, weights, simd);
        points.combine();
        let mut block = Self { program, simd, points, runners: Mutex::new(vec![]), shares: vec![] };
        block.share_out();
        block
    }

    /// A share for each group of tiles.
    fn share_out(&mut self) {
        let share = Share { sums: vec![], gradient: Aligned::zeros(0) };
        self.shares.resize(self.points.tiles().min(GROUPS), share);
    }

    fn move_to(&mut self, source: PointSource, weights: Column) {
        self.points.move_to(source, weights);
        self.points.combine();
        self.share_out();
    }

    /// Runs the task over all tiles and adds up in a fixed order; returns the sums and adds the
    /// weight gradient, times `scale`, to `gradient`.
    fn run(
        &mut self,
        crew: &Crew,
        task: &dyn Task<T, Program = P>,
        scale: f64,
        gradient: Option<&mut [f64]>,
    ) -> Vec<f64> {
        let (tiles, groups) = (self.points.tiles(), self.shares.len());
        let length = gradient.as_ref().map_or(0, |gradient| gradient.len());
        let mut shares = std::mem::take(&mut self.shares);
        let tiles_of = |group: usize| group * tiles / groups..(group + 1) * tiles / groups;
        let fill = |(group, share): (usize, &mut Share<T>)| {
            let mut runner = self.take_runner();
            share.sums.clear();
            share.sums.resize(task.sums(), 0.0);
            share.gradient.resize(length);
            for tile in tiles_of(group) {
                let Share { sums, gradient } = share;
                task.run(&self.program, &self.points, tile, &mut runner, sums, gradient);
            }
            self.give_back(runner);
        };
        // The longest first: the threads end at the same time.
        let mut parts: Vec<_> = shares.iter_mut().enumerate().collect();
        parts.sort_by_key(|(group, _)| Reverse(tiles_of(*group).len()));
        crew.each(parts.into_iter(), fill);
        if let Some(gradient) = gradient {
            add_gradients(crew, self.simd, &mut shares, scale, gradient);
        }
        let mut sums = vec![0.0; task.sums()];
        for share in &shares {
            sums.iter_mut().zip(&share.sums).for_each(|(sum, value)| *sum += value);
        }
        self.shares = shares;
        sums
    }

    fn take_runner(&self) -> TileRunner<T> {
        let free = self.runners.lock().expect("no holder panicked").pop();
        free.unwrap_or_else(|| self.points.runner())
    }

    fn give_back(&self, runner: TileRunner<T>) {
        self.runners.lock().expect("no holder panicked").push(runner);
    }

    /// Does something with every part of a result, each by itself.
    fn map_parts<Part: Send, Made: Send>(
        &self,
        crew: &Crew,
        parts: Vec<Part>,
        make: impl Fn(usize, &mut TileRunner<T>, Part) -> Made + Sync,
    ) -> Vec<Made> {
        let mut made: Vec<Option<Made>> = parts.iter().map(|_| None).collect();
        crew.each(parts.into_iter().zip(&mut made).enumerate(), |(number, (part, made))| {
            let mut runner = self.take_runner();
            *made = Some(make(number, &mut runner, part));
            self.give_back(runner);
        });
        made.into_iter().flatten().collect()
    }
}

/// Adds the groups' gradients in their order, stretch by stretch, and leaves zeros behind.
fn add_gradients<T: Number>(
    crew: &Crew,
    simd: Simd,
    shares: &mut [Share<T>],
    scale: f64,
    gradient: &mut [f64],
) {
    let stretches = gradient.len().div_ceil(STRETCH);
    let parts = by_tile(shares.iter_mut().map(|share| &mut share.gradient), stretches, STRETCH);
    crew.each(gradient.chunks_mut(STRETCH).zip(parts), |(target, parts)| {
        simd.run(AddStretch { parts, scale, target });
    });
}

/// Numbers of a stretch: their sums stay in the nearest cache.
const STRETCH: usize = 2048;

/// target += scale · Σ parts, which become zero.
struct AddStretch<'a, T> {
    parts: Vec<&'a mut [T]>,
    scale: f64,
    target: &'a mut [f64],
}

impl<T: Scalar> Job for AddStretch<'_, T> {
    #[inline(always)]
    fn run(self) {
        let mut sum = [0.0; STRETCH];
        for part in self.parts {
            sum.iter_mut().zip(part.iter()).for_each(|(sum, value)| *sum += value.wide());
            part.fill(T::ZERO);
        }
        self.target.iter_mut().zip(sum).for_each(|(target, sum)| *target += self.scale * sum);
    }
}

impl<T: Number> Device for Cpu<T> {
    fn description(&self) -> String {
        format!("CPU, {}", self.simd.name())
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn load_residual(&mut self, program: ResidualProgram, points: PointSource) -> Result<ResidualId, Fault> {
        let frame = program.frame.clone();
        let directions = program.residuals;
        let weights = Column::uniform(1.0);
        self.residuals.push(Block::new(program, &frame, directions, points, weights, self.simd));
        Ok(ResidualId(self.residuals.len() - 1))
    }

    fn load_density(
        &mut self,
        program: DensityProgram,
        points: PointSource,
        weights: Column,
    ) -> Result<DensityId, Fault> {
        let frame = program.frame.clone();
        self.densities.push(Block::new(program, &frame, 0, points, weights, self.simd));
        Ok(DensityId(self.densities.len() - 1))
    }

    fn move_residual(&mut self, id: ResidualId, points: PointSource) -> Result<(), Fault> {
        self.residuals[id.0].move_to(points, Column::uniform(1.0));
        Ok(())
    }

    fn move_density(&mut self, id: DensityId, points: PointSource, weights: Column) -> Result<(), Fault> {
        self.densities[id.0].move_to(points, weights);
        Ok(())
    }

    fn residual(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        terms: &ResidualWeights,
        gradient: Option<&mut [f64]>,
    ) -> Result<ResidualLoss, Fault> {
        let block = &mut self.residuals[id.0];
        let task = ResidualTask {
            weights: block.points.weights(weights),
            unknowns: cast(unknowns),
            terms,
            gradient: gradient.is_some(),
        };
        // The factor 1/points comes last: the numbers of a tile stay of order one in f32.
        let scale = 1.0 / block.points.len() as f64;
        let mut sums = block.run(&self.crew, &task, scale, gradient);
        sums.iter_mut().for_each(|sum| *sum *= scale);
        let gradient = sums.split_off(block.program.residuals);
        Ok(ResidualLoss { residual: sums, gradient })
    }

    fn density(
        &mut self,
        id: DensityId,
        weights: &[f64],
        unknowns: &[f64],
        gradient: Option<&mut [f64]>,
    ) -> Result<(f64, Vec<f64>), Fault> {
        let block = &mut self.densities[id.0];
        let task = DensityTask {
            weights: block.points.weights(weights),
            unknowns: cast(unknowns),
            gradient: gradient.is_some(),
        };
        let mut sums = block.run(&self.crew, &task, 1.0, gradient);
        let by_unknown = sums.split_off(1);
        Ok((sums[0], by_unknown))
    }

    fn linearise(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        jacobian: Jacobian,
    ) -> Result<Linearisation, Fault> {
        Ok(self.residuals[id.0].linearise(&self.crew, weights, unknowns, jacobian))
    }

    fn pullback(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        seeds: &[Vec<f64>],
        gradient: &mut [f64],
    ) -> Result<(), Fault> {
        let block = &mut self.residuals[id.0];
        let task = PullbackTask { weights: block.points.weights(weights), unknowns: cast(unknowns), seeds };
        block.run(&self.crew, &task, 1.0, Some(gradient));
        Ok(())
    }

    fn evaluate(
        &mut self,
        program: &FieldProgram,
        points: PointSource,
        weights: &[f64],
        unknowns: &[f64],
        slopes: &[Vec<f64>],
    ) -> Result<Vec<Vec<f64>>, Fault> {
        assert!(slopes.is_empty() || slopes.len() == unknowns.len(), "one slope of the weights per unknown");
        let (frame, directions) = (&program.frame, program.directions.len());
        let points = Points::<T>::new(frame, directions, points, Column::uniform(1.0), self.simd);
        let moved = program.directions.iter().filter_map(|&unknown| slopes.get(unknown));
        let task = FieldTask {
            program,
            weights: points.weights(weights),
            slopes: moved.map(|slope| points.weights(slope)).collect(),
            unknowns: cast(unknowns),
        };
        let mut result = vec![vec![0.0; points.len()]; program.values.outputs().len()];
        let fill = |runner: &mut TileRunner<T>, (tile, parts): (usize, Vec<&mut [f64]>)| {
            let values = task.values(&points, tile, runner);
            parts.into_iter().zip(values).for_each(|(part, values)| part.copy_from_slice(&values));
        };
        let parts = by_tile(&mut result, points.tiles(), points.tile());
        self.crew.each_with(parts.into_iter().enumerate(), || points.runner(), fill);
        Ok(result)
    }

    fn dual(
        &mut self,
        ids: &[ResidualId],
        weights: &[f64],
        unknowns: &[f64],
        scales: &[f64],
    ) -> Result<Dual, Fault> {
        let blocks: Vec<_> = ids.iter().map(|id| &self.residuals[id.0]).collect();
        let (parts, gram) = kernel::kernel(&self.crew, &blocks, weights, unknowns);
        Ok(Dual { parts, system: Box::new(Kernel::new(&gram, scales)) })
    }
}

/// The parts of all columns that belong to each tile, of so many entries.
fn by_tile<'a, V: 'a, C: DerefMut<Target = [V]> + 'a>(
    columns: impl IntoIterator<Item = &'a mut C>,
    tiles: usize,
    length: usize,
) -> Vec<Vec<&'a mut [V]>> {
    let mut parts: Vec<Vec<&mut [V]>> = (0..tiles).map(|_| vec![]).collect();
    for column in columns {
        parts.iter_mut().zip(column.chunks_mut(length.max(1))).for_each(|(parts, part)| parts.push(part));
    }
    parts
}
