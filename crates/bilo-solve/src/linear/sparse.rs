//! LU factorisation of any sparse matrix, by `faer`.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::LuError;
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par};

/// How the factorisation of a pattern goes.
pub(super) fn plan(columns: &SymbolicSparseColMat<usize>) -> SymbolicLu<usize> {
    factorize_symbolic_lu(columns.as_ref(), Default::default())
        .expect("the pattern fits in memory and its indices in a machine word")
}

/// The factors and the memory to work with them.
pub(super) struct SparseLu<'a> {
    plan: &'a SymbolicLu<usize>,
    numeric: NumericLu<usize, f64>,
    memory: MemBuffer,
    /// Right-hand sides for which there is memory.
    room: usize,
}

impl<'a> SparseLu<'a> {
    pub(super) fn new(plan: &'a SymbolicLu<usize>) -> SparseLu<'a> {
        SparseLu { plan, numeric: NumericLu::new(), memory: memory(plan, 1), room: 1 }
    }

    /// False if the pattern alone makes the matrix singular.
    pub(super) fn factorise(&mut self, columns: &SymbolicSparseColMat<usize>, values: &[f64]) -> bool {
        let outcome = self.plan.factorize_numeric_lu(
            &mut self.numeric,
            SparseColMatRef::new(columns.as_ref(), values),
            Par::Seq,
            MemStack::new(&mut self.memory),
            Default::default(),
        );
        match outcome {
            Ok(_) => true,
            Err(LuError::SymbolicSingular { .. }) => false,
            Err(LuError::Generic(error)) => panic!("sparse LU ran out of memory: {error:?}"),
        }
    }

    /// Right-hand sides as columns, with memory for them.
    fn columns<'b>(&mut self, rhs: &'b mut [f64]) -> MatMut<'b, f64> {
        let rows = self.plan.nrows();
        let columns = rhs.len() / rows;
        if columns > self.room {
            (self.memory, self.room) = (memory(self.plan, columns), columns);
        }
        MatMut::from_column_major_slice_mut(rhs, rows, columns)
    }

    /// Replaces the right-hand sides, one after the other, by the solutions.
    pub(super) fn solve(&mut self, rhs: &mut [f64]) {
        let rhs = self.columns(rhs);
        let stack = MemStack::new(&mut self.memory);
        let factors = LuRef::new_unchecked(self.plan, &self.numeric);
        factors.solve_in_place_with_conj(Conj::No, rhs, Par::Seq, stack);
    }

    /// Replaces the right-hand sides by the solutions with the transposed matrix.
    pub(super) fn solve_transposed(&mut self, rhs: &mut [f64]) {
        let rhs = self.columns(rhs);
        let stack = MemStack::new(&mut self.memory);
        let factors = LuRef::new_unchecked(self.plan, &self.numeric);
        factors.solve_transpose_in_place_with_conj(Conj::No, rhs, Par::Seq, stack);
    }
}

/// Memory to factorise and to solve for so many right-hand sides.
fn memory(plan: &SymbolicLu<usize>, columns: usize) -> MemBuffer {
    let factorise = plan.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
    let solve = plan.solve_in_place_scratch::<f64>(columns, Par::Seq);
    let solve_transposed = plan.solve_transpose_in_place_scratch::<f64>(columns, Par::Seq);
    MemBuffer::new(factorise.or(solve).or(solve_transposed))
}
