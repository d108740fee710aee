//! The CPU device: tiles of points in cache, threads over fixed groups of tiles, the same bits for
//! any number of threads.

use crate::device::{DensityId, Device, Precision, ResidualId, ResidualLoss, ResidualWeights};
use crate::program::{DensityProgram, FieldProgram, Frame, ResidualProgram};
use crate::scalar::Scalar;
use crate::simd::Simd;
use crate::tile::{Points, Task, TileRunner};
use rayon::prelude::*;
use std::sync::Mutex;

/// Groups of tiles with a gradient of their own. The number is fixed, so that the order of sums does
/// not depend on the threads; it bounds how many threads can help.
const GROUPS: usize = 16;

/// A CPU with the given precision and number of threads (all cores if none is given).
pub fn cpu(precision: Precision, threads: Option<usize>) -> Box<dyn Device> {
    match precision {
        Precision::F32 => Box::new(Cpu::<f32>::new(precision, threads)),
        Precision::F64 => Box::new(Cpu::<f64>::new(precision, threads)),
    }
}

struct Cpu<T> {
    precision: Precision,
    simd: Simd,
    pool: rayon::ThreadPool,
    residuals: Vec<Block<T, ResidualProgram>>,
    densities: Vec<Block<T, DensityProgram>>,
}

/// A program with its points and the workspaces that have been made for it.
struct Block<T, P> {
    program: P,
    points: Points<T>,
    runners: Mutex<Vec<TileRunner<T>>>,
}

/// What one group of tiles contributes.
struct Share<T> {
    sums: Vec<f64>,
    gradient: Vec<T>,
}

impl<T: Scalar> Cpu<T> {
    fn new(precision: Precision, threads: Option<usize>) -> Self {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .build()
            .expect("the system can start threads");
        Self { precision, simd: Simd::detect(), pool, residuals: vec![], densities: vec![] }
    }
}

fn cast<T: Scalar>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::cast(value)).collect()
}

impl<T: Scalar, P: Sync> Block<T, P> {
    fn new(program: P, frame: &Frame, directions: usize, columns: &[Vec<f64>], weights: Vec<f64>, simd: Simd) -> Self {
        let points = Points::new(frame, directions, columns, weights, simd);
        Self { program, points, runners: Mutex::new(vec![]) }
    }

    /// Runs the task over all tiles and adds up in a fixed order: (sums, weight gradient).
    fn run<'a>(
        &self,
        pool: &rayon::ThreadPool,
        task: &(dyn Task<T> + 'a),
        gradient: Option<&mut [f64]>,
    ) -> Vec<f64> {
        let tiles = self.points.tiles();
        let groups = tiles.min(GROUPS);
        let length = gradient.as_ref().map_or(0, |gradient| gradient.len());
        let share = |group: usize| {
            let mut runner = self.take_runner();
            let mut share = Share { sums: vec![0.0; task.sums()], gradient: vec![T::default(); length] };
            for tile in group * tiles / groups..(group + 1) * tiles / groups {
                task.run(&self.points, tile, &mut runner, &mut share.sums, &mut share.gradient);
            }
            self.runners.lock().expect("no holder panicked").push(runner);
            share
        };
        let shares: Vec<Share<T>> = pool.install(|| (0..groups).into_par_iter().map(share).collect());
        if let Some(gradient) = gradient {
            for share in &shares {
                for (sum, value) in gradient.iter_mut().zip(&share.gradient) {
                    *sum += value.wide();
                }
            }
        }
        let mut sums = vec![0.0; task.sums()];
        for share in &shares {
            for (sum, value) in sums.iter_mut().zip(&share.sums) {
                *sum += value;
            }
        }
        sums
    }

    fn take_runner(&self) -> TileRunner<T> {
        let free = self.runners.lock().expect("no holder panicked").pop();
        free.unwrap_or_else(|| self.points.runner())
    }
}

impl<T: Scalar> Device for Cpu<T> {
    fn description(&self) -> String {
        format!("CPU, {}", self.simd.name())
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn load_residual(&mut self, program: ResidualProgram, columns: Vec<Vec<f64>>) -> ResidualId {
        let frame = program.frame.clone();
        let directions = program.residuals;
        self.residuals.push(Block::new(program, &frame, directions, &columns, vec![], self.simd));
        ResidualId(self.residuals.len() - 1)
    }

    fn load_density(&mut self, program: DensityProgram, columns: Vec<Vec<f64>>, weights: Vec<f64>) -> DensityId {
        let frame = program.frame.clone();
        self.densities.push(Block::new(program, &frame, 0, &columns, weights, self.simd));
        DensityId(self.densities.len() - 1)
    }

    fn residual(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        terms: &ResidualWeights,
        gradient: Option<&mut [f64]>,
    ) -> ResidualLoss {
        let block = &self.residuals[id.0];
        let task = crate::tile::ResidualTask {
            program: &block.program,
            weights: cast(weights),
            unknowns: cast(unknowns),
            terms,
            gradient: gradient.is_some(),
        };
        let points = block.points.len() as f64;
        // The task leaves the factor 1/points to the end: its numbers stay of order one in f32.
        let mut sum = gradient.as_ref().map(|gradient| vec![0.0; gradient.len()]);
        let mut sums = block.run(&self.pool, &task, sum.as_deref_mut());
        if let (Some(gradient), Some(sum)) = (gradient, sum) {
            for (target, value) in gradient.iter_mut().zip(sum) {
                *target += value / points;
            }
        }
        sums.iter_mut().for_each(|sum| *sum /= points);
        let gradient = sums.split_off(block.program.residuals);
        ResidualLoss { residual: sums, gradient }
    }

    fn density(
        &mut self,
        id: DensityId,
        weights: &[f64],
        unknowns: &[f64],
        gradient: Option<&mut [f64]>,
    ) -> (f64, Vec<f64>) {
        let block = &self.densities[id.0];
        let task = crate::tile::DensityTask {
            program: &block.program,
            weights: cast(weights),
            unknowns: cast(unknowns),
            gradient: gradient.is_some(),
        };
        let mut sums = block.run(&self.pool, &task, gradient);
        let by_unknown = sums.split_off(1);
        (sums[0], by_unknown)
    }

    fn evaluate(
        &mut self,
        program: &FieldProgram,
        columns: &[Vec<f64>],
        weights: &[f64],
        unknowns: &[f64],
    ) -> Vec<Vec<f64>> {
        let frame = &program.frame;
        let points = Points::<T>::new(frame, program.directions.len(), columns, vec![], self.simd);
        let task = crate::tile::FieldTask { program, weights: cast(weights), unknowns: cast(unknowns) };
        let tiles: Vec<Vec<Vec<f64>>> = self.pool.install(|| {
            (0..points.tiles())
                .into_par_iter()
                .map_init(|| points.runner(), |runner, tile| task.values(&points, tile, runner))
                .collect()
        });
        let mut result = vec![Vec::with_capacity(points.len()); program.values.outputs().len()];
        for tile in tiles {
            for (column, part) in result.iter_mut().zip(tile) {
                column.extend(part);
            }
        }
        result
    }
}
