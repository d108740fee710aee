//! The lower level as a problem of least squares in its dual form: rows, their kernel K = S J Jᵀ S, and sums of rows.

use crate::device::Parts;
use crate::generate::{Kernel, MapFactors, bytes, side};
use crate::program::{Program, filled};
use crate::runtime::{CudaError, Memory, doubles, words_of};
use crate::system::System;
use bilo_jet::{Linearisation, Precision, ResidualId, ResidualProgram, Solved};

/// Residual programs as rows, made when a kernel is asked for.
pub(crate) struct Dual {
    precision: Precision,
    programs: Vec<ResidualProgram>,
    rows: Vec<Option<Rows>>,
    system: Option<System>,
}

/// One residual program.
struct Rows {
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

impl Dual {
    pub(crate) fn new(precision: Precision) -> Self {
        Self { precision, programs: vec![], rows: vec![], system: None }
    }

    /// Takes a residual program.
    pub(crate) fn take(&mut self, program: &ResidualProgram) {
        self.programs.push(program.clone());
        self.rows.push(None);
    }

    /// Number of a program's residuals.
    pub(crate) fn residuals(&self, id: ResidualId) -> usize {
        self.programs[id.0].residuals
    }

    /// Whether a program has been made into rows.
    pub(crate) fn has(&self, id: ResidualId) -> bool {
        self.rows[id.0].is_some()
    }

    /// Makes K.
    pub(crate) fn kernel(
        &mut self,
        ids: &[ResidualId],
        weights: &[f64],
        unknowns: &[f64],
        scales: &[f64],
        parts: &mut Parts<'_>,
    ) -> Result<Vec<Linearisation>, CudaError> {
        let (mut found, mut places, mut row) = (vec![], vec![], 0);
        for id in ids {
            if !self.has(*id) {
                self.rows[id.0] = Some(Rows::new(&self.programs[id.0], *id, self.precision, parts)?);
            }
            found.push(self.linearise(*id, weights, unknowns, true, parts)?);
            let count = parts.residual(*id).count();
            for q in 0..self.programs[id.0].residuals {
                places.push(Part { id: id.0, q, row, count });
                row += count;
            }
        }
        assert_eq!(row, scales.len(), "one scale for each row");
        if self.system.as_ref().is_none_or(|system| system.size() != row) {
            // The one before need not stay beside it.
            self.system = None;
            self.system = Some(System::new(row, self.precision, parts.runtime)?);
        }
        let system = self.system.as_ref().expect("made above");
        let scales = filled(parts.runtime, &doubles(scales))?;
        let (mut lists, mut launches) = (vec![], vec![]);
        for (number, a) in places.iter().enumerate() {
            for b in &places[..=number] {
                launches.push((lists.len(), [a.count, b.count]));
                let maps = self.maps_of_both([*a, *b]);
                let sizes = [row, a.row, b.row, a.count, b.count, maps.len()].map(|size| size as u64);
                lists.extend([system.kernel(), scales.address].into_iter().chain(sizes));
                lists.extend(maps.concat());
            }
        }
        let lists = filled(parts.runtime, &lists)?;
        for (first, counts) in launches {
            let [down, across] = counts.map(|count| count.div_ceil(side(parts.runtime.threads())));
            system.add_products(down * across, lists.address + 8 * first as u64, parts.runtime)?;
        }
        Ok(found)
    }

    /// The factors of all affine maps that two residuals have in common.
    fn maps_of_both(&self, sides: [Part; 2]) -> Vec<[u64; 8]> {
        let rows = sides.map(|part| self.rows[part.id].as_ref().expect("made before"));
        let mut both = vec![];
        for left in &rows[0].maps {
            let is_same = |right: &&MapFactors| (right.network, right.node) == (left.network, left.node);
            let Some(right) = rows[1].maps.iter().find(is_same) else { continue };
            let place = |side: usize, before: usize| {
                rows[side].factors.address + (before * sides[side].count * bytes(self.precision)) as u64
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
        parts: &mut Parts<'_>,
    ) -> Result<Linearisation, CudaError> {
        let rows = self.rows[id.0].as_mut().expect("made before");
        let (count, residuals) = (parts.residual(id).count(), self.programs[id.0].residuals);
        let columns = residuals * (1 + unknowns.len());
        resize(&mut rows.values, columns * count, parts)?;
        if factors {
            resize(&mut rows.factors, words_of(rows.numbers * count, self.precision), parts)?;
        }
        rows.program.share_points(parts.residual(id));
        let outputs = [rows.values.address, if factors { rows.factors.address } else { 0 }];
        parts.put(&mut rows.program, weights, unknowns, false, outputs)?;
        parts.runtime.launch_beside(&[rows.program.launch()])?;
        let mut words = vec![0; columns * count];
        parts.runtime.read(&rows.values, &mut words)?;
        let mut values =
            words.chunks(count).map(|column| column.iter().copied().map(f64::from_bits).collect());
        let found = values.by_ref().take(residuals).collect();
        Ok(Linearisation { residuals: found, by_unknown: values.collect(), ..Linearisation::default() })
    }

    pub(crate) fn factorise(&mut self, damping: f64, parts: &mut Parts<'_>) -> Result<bool, CudaError> {
        self.system.as_mut().expect("there is a kernel").factorise(damping, parts.runtime)
    }

    pub(crate) fn solve(
        &mut self,
        right: &[&[f64]],
        parts: &mut Parts<'_>,
    ) -> Result<Vec<Solved>, CudaError> {
        self.system.as_mut().expect("there is a kernel").solve(right, parts.runtime)
    }

    /// Adds Jᵀ seeds of a program that has been made into rows.
    pub(crate) fn pullback(
        &mut self,
        id: ResidualId,
        weights: &[f64],
        unknowns: &[f64],
        seeds: &[Vec<f64>],
        gradient: &mut [f64],
        parts: &mut Parts<'_>,
    ) -> Result<(), CudaError> {
        let program = &mut self.rows[id.0].as_mut().expect("made before").pullback;
        program.share_points(parts.residual(id));
        program.set_terms(&seeds.concat(), parts.runtime)?;
        parts.put(program, weights, unknowns, true, [0; 2])?;
        parts.run(program, 1.0, Some(gradient)).map(|_| ())
    }
}

impl Rows {
    fn new(
        program: &ResidualProgram,
        id: ResidualId,
        precision: Precision,
        parts: &mut Parts<'_>,
    ) -> Result<Self, CudaError> {
        let loaded = parts.residual(id);
        let (packed, count, shape) =
            (loaded.packed, loaded.count(), (loaded.tile(), parts.runtime.threads()));
        let packing = parts.shared.packed[packed].packing();
        let (rows, maps, numbers) = Kernel::rows(program, packing, precision, shape);
        let pullback = Kernel::pullback(program, packing, precision, shape);
        let mut make = |kernel: Kernel, weights: usize| {
            Program::new(kernel, weights, packed, count, precision, parts.runtime)
        };
        // Rows have no gradient.
        let (program, pullback) = (make(rows, 0)?, make(pullback, program.frame.weights)?);
        let [values, factors] = [parts.runtime.allocate(0)?, parts.runtime.allocate(0)?];
        Ok(Self { program, maps, numbers, values, factors, pullback })
    }
}

/// So many words; other memory, full of zeros, where it had others.
fn resize(memory: &mut Memory, words: usize, parts: &mut Parts<'_>) -> Result<(), CudaError> {
    if memory.words != words {
        *memory = parts.runtime.allocate(words)?;
    }
    Ok(())
}
