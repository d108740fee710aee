//! The lower level as a problem of least squares in its dual form: rows, their kernel K = S J Jᵀ S, and sums of rows.

use crate::generate::{Kernel, MapFactors, bytes, side};
use crate::machine::{Machine, Shared};
use crate::program::{Program, filled};
use crate::runtime::{CudaError, Memory, doubles, words_of};
use crate::spare::Spare;
use crate::system::{KernelHandle, System};
use bilo_jet::{Dual, Linearisation, Precision, ResidualId, ResidualProgram};

/// Residual programs as rows, made when a kernel is first asked for.
#[derive(Default)]
pub(crate) struct Rows {
    programs: Vec<ResidualProgram>,
    made: Vec<Option<OfProgram>>,
    spare: Spare,
}

/// The rows of one residual program.
struct OfProgram {
    program: Program,
    maps: Vec<MapFactors>,
    /// Numbers of the factors by point.
    numbers: usize,
    values: Memory,
    factors: Memory,
    pullback: Program,
}

/// One residual of a program, with the place of its first row.
#[derive(Clone, Copy)]
struct Part {
    id: usize,
    q: usize,
    row: usize,
    /// Number of rows.
    count: usize,
}

impl Rows {
    /// Takes a residual program.
    pub(crate) fn take(&mut self, program: &ResidualProgram) {
        self.programs.push(program.clone());
        self.made.push(None);
    }

    /// Whether a program has been made into rows.
    pub(crate) fn has(&self, id: ResidualId) -> bool {
        self.made[id.0].is_some()
    }

    /// The rows of several programs with K.
    pub(crate) fn dual(
        &mut self,
        ids: &[ResidualId],
        weights: &[f64],
        unknowns: &[f64],
        scales: &[f64],
        shared: &Shared,
    ) -> Result<Dual, CudaError> {
        let machine = &mut *shared.lock();
        let (mut parts, mut places, mut row) = (vec![], vec![], 0);
        for id in ids {
            if !self.has(*id) {
                self.made[id.0] = Some(OfProgram::new(&self.programs[id.0], *id, machine)?);
            }
            parts.push(self.linearise(*id, weights, unknowns, true, machine)?);
            let count = machine.residual(*id).count();
            for q in 0..self.programs[id.0].residuals {
                places.push(Part { id: id.0, q, row, count });
                row += count;
            }
        }
        assert_eq!(row, scales.len(), "one scale for each row");
        let system = System::new(row, &self.spare, machine)?;
        self.fill(&system, &places, scales, machine)?;
        let system = Box::new(KernelHandle::new(system, self.spare.clone(), shared.clone()));
        Ok(Dual { parts, system })
    }

    /// Makes K of the factors of all rows.
    fn fill(
        &self,
        system: &System,
        places: &[Part],
        scales: &[f64],
        machine: &mut Machine,
    ) -> Result<(), CudaError> {
        let (precision, runtime) = (machine.precision, machine.runtime.as_mut());
        let size = scales.len();
        let scales = filled(runtime, &doubles(scales))?;
        let (mut lists, mut launches) = (vec![], vec![]);
        for (number, a) in places.iter().enumerate() {
            for b in &places[..=number] {
                launches.push((lists.len(), [a.count, b.count]));
                let maps = self.maps_of_both([*a, *b], precision);
                let sizes = [size, a.row, b.row, a.count, b.count, maps.len()].map(|size| size as u64);
                lists.extend([system.kernel(), scales.address].into_iter().chain(sizes));
                lists.extend(maps.concat());
            }
        }
        let lists = filled(runtime, &lists)?;
        for (first, counts) in launches {
            let [down, across] = counts.map(|count| count.div_ceil(side(runtime.threads())));
            system.add_products(down * across, lists.address + 8 * first as u64, runtime)?;
        }
        Ok(())
    }

    /// The factors of all affine maps that two residuals have in common.
    fn maps_of_both(&self, sides: [Part; 2], precision: Precision) -> Vec<[u64; 8]> {
        let rows = sides.map(|part| self.made[part.id].as_ref().expect("made before"));
        let mut both = vec![];
        for left in &rows[0].maps {
            let is_same = |right: &&MapFactors| (right.network, right.node) == (left.network, left.node);
            let Some(right) = rows[1].maps.iter().find(is_same) else { continue };
            let place = |side: usize, before: usize| {
                rows[side].factors.address + (before * sides[side].count * bytes(precision)) as u64
            };
            let adjoints = |side: usize, map: &MapFactors| {
                place(side, map.adjoints + sides[side].q * map.components * map.width)
            };
            let [components, others] = [left.components, right.components].map(|number| number as u64);
            both.push([
                adjoints(0, left),
                adjoints(1, right),
                place(0, left.inputs),
                place(1, right.inputs),
                components,
                others,
                left.width as u64,
                left.columns as u64,
            ]);
        }
        both
    }

    /// The rows of a program that has been made into rows; with `factors`, also those of its derivatives.
    pub(crate) fn linearise(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        factors: bool,
        machine: &mut Machine,
    ) -> Result<Linearisation, CudaError> {
        let rows = self.made[id.0].as_mut().expect("made before");
        let (count, residuals) = (machine.residual(id).count(), self.programs[id.0].residuals);
        let columns = residuals * (1 + unknowns.len());
        resize(&mut rows.values, columns * count, machine)?;
        if factors {
            resize(&mut rows.factors, words_of(rows.numbers * count, machine.precision), machine)?;
        }
        rows.program.share_points(machine.residual(id));
        let outputs = [rows.values.address, if factors { rows.factors.address } else { 0 }];
        machine.put(&mut rows.program, weights, unknowns, false, outputs)?;
        machine.runtime.launch_beside(&[rows.program.launch()])?;
        let mut words = vec![0; columns * count];
        machine.runtime.read(&rows.values, &mut words)?;
        let mut values =
            words.chunks(count).map(|column| column.iter().copied().map(f64::from_bits).collect());
        let found = values.by_ref().take(residuals).collect();
        Ok(Linearisation { residuals: found, by_unknown: values.collect(), ..Linearisation::default() })
    }

    /// Adds Jᵀ seeds of a program that has been made into rows.
    pub(crate) fn pullback(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        seeds: &[Vec<f64>],
        gradient: &mut [f64],
        machine: &mut Machine,
    ) -> Result<(), CudaError> {
        let program = &mut self.made[id.0].as_mut().expect("made before").pullback;
        program.share_points(machine.residual(id));
        program.set_terms(&seeds.concat(), machine.runtime.as_mut())?;
        machine.put(program, weights, unknowns, true, [0; 2])?;
        machine.run(program, 1.0, Some(gradient)).map(|_| ())
    }
}

impl OfProgram {
    fn new(program: &ResidualProgram, id: ResidualId, machine: &mut Machine) -> Result<Self, CudaError> {
        let precision = machine.precision;
        let loaded = machine.residual(id);
        let (packed, count, shape) =
            (loaded.packed, loaded.count(), (loaded.tile(), machine.runtime.threads()));
        let packing = machine.numbers.packed[packed].packing();
        let (rows, maps, numbers) = Kernel::rows(program, packing, precision, shape);
        let pullback = Kernel::pullback(program, packing, precision, shape);
        let mut make = |kernel: Kernel, weights: usize| {
            Program::new(kernel, weights, packed, count, precision, machine.runtime.as_mut())
        };
        // Rows have no gradient.
        let (program, pullback) = (make(rows, 0)?, make(pullback, program.frame.weights)?);
        let [values, factors] = [machine.runtime.allocate(0)?, machine.runtime.allocate(0)?];
        Ok(Self { program, maps, numbers, values, factors, pullback })
    }
}

/// So many words; other memory, full of zeros, where it had others.
fn resize(memory: &mut Memory, words: usize, machine: &mut Machine) -> Result<(), CudaError> {
    if memory.words != words {
        *memory = machine.runtime.allocate(words)?;
    }
    Ok(())
}
