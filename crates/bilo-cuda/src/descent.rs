//! Whole steps on the machine: programs, Adam on both levels and the note of what was seen follow each other there, and the
//! notes come back once for many steps.

use crate::machine::{Machine, Shared};
use crate::program::{Program, WEIGHT_BLOCKS, filled};
use crate::runtime::{CudaError, Launch, Memory, RecordId, Runtime, doubles};
use bilo_jet::{Descent, Fault, Moments, ResidentSteps, Seen, Weighted};
use bilo_optim::Adam;

/// A descent under way.
pub(crate) struct Descending {
    machine: Shared,
    descent: Descent,
    /// Weights and unknowns that the steps have led to.
    here: (Vec<f64>, Vec<f64>),
    /// Words of a row of the table of what steps saw: sums of all programs, then unknowns.
    row: usize,
    sums: usize,
    /// Which of the sums are losses; the others are derivatives by unknowns.
    losses: Vec<usize>,
    /// Steps that the table has room for.
    room: usize,
    table: Memory,
    factors: Memory,
    /// The number of the step in the table.
    step: Memory,
    /// Steps since the beginning.
    taken: i32,
    movers: Vec<Mover>,
    packings: Memory,
    /// What moves the unknowns and keeps the table.
    state: Memory,
    bounds: Memory,
    all_sums: Memory,
    args: Memory,
    /// The launches of a step: these stay the same, while the numbers at the addresses they are given change.
    record: Option<RecordId>,
}

/// Weights that one level moves: neighbours.
struct Mover {
    first: usize,
    count: usize,
    level: u64,
    state: Memory,
    /// The programs whose gradients move them.
    programs: Memory,
    args: Memory,
}

/// Words of what kernels are told of a program's gradients, and of its sums.
const OF_GRADIENTS: usize = 5;
const OF_SUMS: usize = 7;

impl Descending {
    pub(crate) fn begin(
        descent: &Descent,
        weights: &[f64],
        unknowns: &[f64],
        [of_lower, of_upper]: &[Moments; 2],
        shared: Shared,
    ) -> Result<Self, CudaError> {
        let guard = &mut *shared.lock();
        let (sums, losses) = places(descent, guard);
        let programs = descent.residuals.len() + descent.densities.len();
        let runtime = guard.runtime.as_mut();
        let packings: Vec<u64> = guard.numbers.packed.iter().flat_map(|packed| packed.addresses()).collect();
        let Descent { first, rate, upper_rates, bounds, .. } = descent;
        let (of_unknowns, of_weights) = upper_rates.split_at(bounds.len());
        let mut movers = vec![];
        let lower = (*first, interleaved(of_lower, 0, &vec![*rate; weights.len() - first]), 0);
        for (first, state, level) in [lower, (0, interleaved(of_upper, of_unknowns.len(), of_weights), 1)] {
            if !state.is_empty() {
                movers.push(Mover {
                    first,
                    count: state.len() / OF_ADAM,
                    level,
                    state: filled(runtime, &doubles(&state))?,
                    programs: runtime.allocate(programs * OF_GRADIENTS)?,
                    args: runtime.allocate(11)?,
                });
            }
        }
        let flat: Vec<f64> = bounds.iter().flat_map(|&(low, high)| [low, high]).collect();
        Ok(Self {
            machine: shared.clone(),
            descent: descent.clone(),
            here: (weights.to_vec(), unknowns.to_vec()),
            row: sums + unknowns.len(),
            sums,
            losses,
            room: 0,
            table: runtime.allocate(0)?,
            factors: runtime.allocate(0)?,
            step: runtime.allocate(1)?,
            taken: of_lower[0][0] as i32,
            movers,
            packings: filled(runtime, &packings)?,
            state: filled(runtime, &doubles(&interleaved(of_upper, 0, of_unknowns)))?,
            bounds: filled(runtime, &doubles(&flat))?,
            all_sums: runtime.allocate(programs * OF_SUMS)?,
            args: runtime.allocate(12)?,
            record: None,
        })
    }

    /// Takes steps.
    fn steps(&mut self, factors: &[(f64, f64)], machine: &mut Machine) -> Result<Vec<Seen>, CudaError> {
        let runtime = machine.runtime.as_mut();
        if self.room < factors.len() {
            self.room = factors.len();
            self.table = runtime.allocate(self.room * self.row)?;
            self.factors = runtime.allocate(4 * self.room)?;
        }
        let flat: Vec<f64> = (factors.iter().zip(self.taken + 1..))
            .flat_map(|(&(lower, upper), step)| {
                let [mean, square] = Adam::corrections(step);
                [lower, upper, mean, square]
            })
            .collect();
        runtime.write(&mut self.factors, &doubles(&flat))?;
        // The first one that begins has the number 0.
        runtime.write(&mut self.step, &[u64::MAX])?;
        self.aim(machine)?;
        let record = match self.record {
            Some(record) => record,
            None => {
                machine.runtime.begin_record()?;
                self.launch_step(machine)?;
                *self.record.insert(machine.runtime.end_record()?)
            }
        };
        let runtime = machine.runtime.as_mut();
        for _ in factors {
            runtime.replay(record)?;
        }
        self.taken += factors.len() as i32;
        let rows = numbers(&self.table, factors.len() * self.row, runtime)?;
        for (memory, here) in
            [(machine.numbers.weights(), &mut self.here.0), (machine.numbers.unknowns(), &mut self.here.1)]
        {
            *here = numbers(memory, here.len(), runtime)?;
        }
        let seen = rows.chunks_exact(self.row).map(|row| Seen {
            losses: self.losses.iter().map(|&place| row[place]).collect(),
            unknowns: row[self.sums..].to_vec(),
        });
        Ok(seen.collect())
    }

    /// Tells every program and kernel where its numbers are, and puts weights and unknowns there: whatever was
    /// asked of the device meanwhile had others.
    fn aim(&mut self, machine: &mut Machine) -> Result<(), CudaError> {
        let Machine { runtime, numbers, kernels, residuals, densities, .. } = machine;
        let runtime = runtime.as_mut();
        numbers.put(&self.here.0, &self.here.1, runtime)?;
        for packed in &numbers.packed {
            packed.update(kernels.pack, runtime)?;
        }
        let unknowns = numbers.unknowns();
        let (mut sums, mut gradients) = (vec![], [vec![], vec![]]);
        let mut place = 0;
        for (id, terms) in &self.descent.residuals {
            let program = residuals[id.0].as_mut().expect("it is here");
            program.set_terms(&[&terms.equation[..], &[terms.gradient]].concat(), runtime)?;
            program.aim(&numbers.packed[program.packed], unknowns, true, [0; 2], runtime)?;
            let factor = 1.0 / program.count() as f64;
            sums.extend(program.sums(runtime, factor, 0.0, place));
            gradients[0].extend(program.gradients(factor));
            place += program.sum_count();
        }
        for &Weighted { id, factor, level } in &self.descent.densities {
            let program = densities[id.0].as_mut().expect("it is here");
            // The upper loss moves weights only if some stand before `first`.
            let differentiate = level.is_lower() || self.descent.first > 0;
            program.aim(&numbers.packed[program.packed], unknowns, differentiate, [0; 2], runtime)?;
            let by_unknowns = if level.is_upper() { factor } else { 0.0 };
            sums.extend(program.sums(runtime, 1.0, by_unknowns, place));
            for (gradients, moved) in gradients.iter_mut().zip([level.is_lower(), level.is_upper()]) {
                gradients.extend(program.gradients(factor).iter().filter(|_| moved));
            }
            place += program.sum_count();
        }
        runtime.write(&mut self.all_sums, &sums)?;
        let weights = numbers.weights().address;
        let unknowns = unknowns.address;
        for mover in &mut self.movers {
            let gradients = &gradients[mover.level as usize];
            runtime.write(&mut mover.programs, gradients)?;
            let args = [
                weights,
                mover.state.address,
                mover.first as u64,
                mover.count as u64,
                self.step.address,
                self.factors.address,
                mover.level,
                mover.programs.address,
                (gradients.len() / OF_GRADIENTS) as u64,
                self.packings.address,
                (self.packings.words / 2) as u64,
            ];
            runtime.write(&mut mover.args, &args)?;
        }
        let args = [
            self.step.address,
            self.factors.address,
            self.table.address,
            self.row as u64,
            self.all_sums.address,
            (sums.len() / OF_SUMS) as u64,
            unknowns,
            self.state.address,
            self.bounds.address,
            self.here.1.len() as u64,
            self.descent.bounds.len() as u64,
            self.sums as u64,
        ];
        runtime.write(&mut self.args, &args)
    }

    fn launch_step(&self, machine: &mut Machine) -> Result<(), CudaError> {
        let Machine { runtime, kernels, residuals, densities, .. } = machine;
        let lower = self.descent.residuals.iter().map(|(id, _)| &residuals[id.0]);
        let others = self.descent.densities.iter().map(|Weighted { id, .. }| &densities[id.0]);
        let programs = lower.chain(others).map(|program| program.as_ref().expect("it is here"));
        let mut launches: Vec<Launch> = programs.map(Program::launch).collect();
        launches.push((kernels.begin, 1, self.args.address));
        runtime.launch_beside(&launches)?;
        let movers = self.movers.iter().map(|mover| {
            let blocks = mover.count.div_ceil(runtime.threads()).min(WEIGHT_BLOCKS);
            (kernels.move_weights, blocks, mover.args.address)
        });
        let mut launches: Vec<Launch> = movers.collect();
        launches.push((kernels.advance, 1, self.args.address));
        runtime.launch_beside(&launches)
    }

    /// What the two levels remember.
    fn memories(&self, runtime: &mut dyn Runtime) -> Result<[Moments; 2], CudaError> {
        let taken = || vec![vec![f64::from(self.taken)], vec![], vec![], vec![]];
        let mut moments = [taken(), taken()];
        let mut add = |level: usize, state: &Memory, count: usize| {
            for of_one in numbers(state, count * OF_ADAM, runtime)?.chunks_exact(OF_ADAM) {
                moments[level][1..].iter_mut().zip(of_one).for_each(|(list, &value)| list.push(value));
            }
            Ok(())
        };
        // Unknowns stand before the weights of the upper level.
        add(1, &self.state, self.descent.bounds.len())?;
        for mover in &self.movers {
            add(mover.level as usize, &mover.state, mover.count)?;
        }
        Ok(moments)
    }
}

impl ResidentSteps for Descending {
    fn descend(&mut self, factors: &[(f64, f64)]) -> Result<Vec<Seen>, Fault> {
        let machine = self.machine.clone();
        Ok(self.steps(factors, &mut machine.lock())?)
    }

    fn arrived(&mut self) -> Result<(Vec<f64>, Vec<f64>), Fault> {
        Ok(self.here.clone())
    }

    fn moments(&mut self) -> Result<[Moments; 2], Fault> {
        Ok(self.memories(self.machine.lock().runtime.as_mut())?)
    }
}

/// What kernels know of a variable: its mean gradient, mean square, the largest of these, and its rate.
const OF_ADAM: usize = 4;

/// That of variables with these rates, from the first one's place among a level's on.
fn interleaved(moments: &Moments, first: usize, rates: &[f64]) -> Vec<f64> {
    let of_one = |(j, &rate): (usize, &f64)| [moments[1][j], moments[2][j], moments[3][j], rate];
    (first..).zip(rates).flat_map(of_one).collect()
}

fn numbers(memory: &Memory, count: usize, runtime: &mut dyn Runtime) -> Result<Vec<f64>, CudaError> {
    let mut words = vec![0; count];
    runtime.read(memory, &mut words)?;
    Ok(words.into_iter().map(f64::from_bits).collect())
}

/// How many sums all programs of a descent leave in a row of the table, and which of them are losses.
fn places(descent: &Descent, machine: &Machine) -> (usize, Vec<usize>) {
    let (mut sums, mut losses) = (0, vec![]);
    for (id, _) in &descent.residuals {
        let count = machine.residuals[id.0].as_ref().expect("it is here").sum_count();
        losses.extend(sums..sums + count);
        sums += count;
    }
    for Weighted { id, .. } in &descent.densities {
        losses.push(sums);
        sums += machine.densities[id.0].as_ref().expect("it is here").sum_count();
    }
    (sums, losses)
}
