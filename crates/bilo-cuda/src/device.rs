//! The device: programs on a GPU, with a CPU beside it for what is asked for once in a while.

use crate::descent::Descending;
use crate::dual::Rows;
use crate::generate::{Kernel, is_supported};
use crate::machine::{Machine, Shared, Which};
use crate::runtime::{CudaError, Runtime};
use bilo_jet::{
    Column, DensityId, DensityProgram, Descent, Device, Dual, Fault, FieldProgram, Jacobian, Linearisation,
    Moments, PointSource, Precision, ResidentSteps, ResidualId, ResidualLoss, ResidualProgram,
    ResidualWeights,
};

/// A GPU. Losses and gradients are computed there, and least squares in the dual form; Jacobians, and what is asked for at
/// the end of a run and in audits, on the CPU.
pub(crate) struct CudaDevice {
    machine: Shared,
    host: Box<dyn Device>,
    rows: Rows,
}

impl CudaDevice {
    pub(crate) fn new(
        runtime: Box<dyn Runtime>,
        precision: Precision,
        host: Box<dyn Device>,
    ) -> Result<Self, CudaError> {
        let machine = Shared::new(Machine::new(runtime, precision)?);
        Ok(Self { machine, host, rows: Rows::default() })
    }
}

impl Device for CudaDevice {
    fn description(&self) -> String {
        self.machine.lock().runtime.description()
    }

    fn peak_memory(&self) -> Option<u64> {
        Some(self.machine.lock().runtime.tally().most_bytes())
    }

    fn precision(&self) -> Precision {
        self.machine.lock().precision
    }

    fn load_residual(&mut self, program: ResidualProgram, points: PointSource) -> Result<ResidualId, Fault> {
        let mut machine = self.machine.lock();
        let loaded = is_supported(&program.frame).then(|| {
            machine.load(&program.frame, &points, |packing, precision, shape| {
                Kernel::residual(&program, packing, precision, shape)
            })
        });
        let loaded = loaded.transpose()?;
        machine.residuals.push(loaded);
        self.rows.take(&program);
        self.host.load_residual(program, points)
    }

    fn load_density(
        &mut self,
        program: DensityProgram,
        points: PointSource,
        weights: Column,
    ) -> Result<DensityId, Fault> {
        let mut machine = self.machine.lock();
        let mut loaded = None;
        if is_supported(&program.frame) {
            let mut made = machine.load(&program.frame, &points, |packing, precision, shape| {
                Kernel::density(&program, packing, precision, shape)
            })?;
            made.set_terms(&at_points(&weights, points.len()), machine.runtime.as_mut())?;
            loaded = Some(made);
        }
        machine.densities.push(loaded);
        self.host.load_density(program, points, weights)
    }

    fn move_residual(&mut self, id: ResidualId, points: PointSource) -> Result<(), Fault> {
        let machine = &mut *self.machine.lock();
        if let Some(program) = &mut machine.residuals[id.0] {
            program.move_to(&points, machine.runtime.as_mut())?;
        }
        self.host.move_residual(id, points)
    }

    fn move_density(&mut self, id: DensityId, points: PointSource, weights: Column) -> Result<(), Fault> {
        let machine = &mut *self.machine.lock();
        if let Some(program) = &mut machine.densities[id.0] {
            program.move_to(&points, machine.runtime.as_mut())?;
            program.set_terms(&at_points(&weights, points.len()), machine.runtime.as_mut())?;
        }
        self.host.move_density(id, points, weights)
    }

    fn residual(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        terms: &ResidualWeights,
        gradient: Option<&mut [f64]>,
    ) -> Result<ResidualLoss, Fault> {
        let machine = &mut *self.machine.lock();
        let Some(program) = &mut machine.residuals[id.0] else {
            return self.host.residual(id, weights, unknowns, terms, gradient);
        };
        let scale = 1.0 / program.count() as f64;
        let both = [&terms.equation[..], &[terms.gradient]].concat();
        program.set_terms(&both, machine.runtime.as_mut())?;
        let mut sums = machine.run_loaded(Which::Residual(id.0), weights, unknowns, scale, gradient)?;
        let gradient = sums.split_off(terms.equation.len());
        Ok(ResidualLoss { residual: sums, gradient })
    }

    fn density(
        &mut self,
        id: DensityId,
        weights: &[f64],
        unknowns: &[f64],
        gradient: Option<&mut [f64]>,
    ) -> Result<(f64, Vec<f64>), Fault> {
        let machine = &mut *self.machine.lock();
        if machine.densities[id.0].is_none() {
            return self.host.density(id, weights, unknowns, gradient);
        }
        let mut sums = machine.run_loaded(Which::Density(id.0), weights, unknowns, 1.0, gradient)?;
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
        // Residuals that are asked for once in a while are not worth a kernel of their own.
        if jacobian != Jacobian::None || !self.rows.has(id) {
            return self.host.linearise(id, weights, unknowns, jacobian);
        }
        Ok(self.rows.linearise(id, weights, unknowns, false, &mut self.machine.lock())?)
    }

    fn pullback(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        seeds: &[Vec<f64>],
        gradient: &mut [f64],
    ) -> Result<(), Fault> {
        if !self.rows.has(id) {
            return self.host.pullback(id, weights, unknowns, seeds, gradient);
        }
        Ok(self.rows.pullback(id, weights, unknowns, seeds, gradient, &mut self.machine.lock())?)
    }

    fn evaluate(
        &mut self,
        program: &FieldProgram,
        points: PointSource,
        weights: &[f64],
        unknowns: &[f64],
        slopes: &[Vec<f64>],
    ) -> Result<Vec<Vec<f64>>, Fault> {
        self.host.evaluate(program, points, weights, unknowns, slopes)
    }

    fn dual(
        &mut self,
        ids: &[ResidualId],
        weights: &[f64],
        unknowns: &[f64],
        scales: &[f64],
    ) -> Result<Dual, Fault> {
        let here = ids.iter().all(|&id| self.machine.lock().has_residual(id));
        match here {
            true => Ok(self.rows.dual(ids, weights, unknowns, scales, &self.machine)?),
            false => self.host.dual(ids, weights, unknowns, scales),
        }
    }

    fn steps(
        &mut self,
        descent: &Descent,
        weights: &[f64],
        unknowns: &[f64],
        moments: &[Moments; 2],
    ) -> Result<Option<Box<dyn ResidentSteps>>, Fault> {
        let machine = self.machine.lock();
        let here = descent.residuals.iter().all(|(id, _)| machine.has_residual(*id))
            && descent.densities.iter().all(|density| machine.densities[density.id.0].is_some());
        drop(machine);
        if !here {
            return Ok(None);
        }
        let begun = Descending::begin(descent, weights, unknowns, moments, self.machine.clone())?;
        Ok(Some(Box::new(begun)))
    }
}

/// The weights of so many points.
fn at_points(weights: &Column, count: usize) -> Vec<f64> {
    let mut values = vec![0.0; count];
    weights.write(0, &mut values);
    values
}
