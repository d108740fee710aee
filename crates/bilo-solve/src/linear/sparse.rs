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
}

impl<'a> SparseLu<'a> {
    pub(super) fn new(plan: &'a SymbolicLu<usize>) -> SparseLu<'a> {
        let factorise = plan.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        let solve = plan.solve_in_place_scratch::<f64>(1, Par::Seq);
        let solve_transposed = plan.solve_transpose_in_place_scratch::<f64>(1, Par::Seq);
        let memory = MemBuffer::new(factorise.or(solve).or(solve_transposed));
        SparseLu { plan, numeric: NumericLu::new(), memory }
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

    /// Replaces the right-hand side by the solution.
    pub(super) fn solve(&mut self, rhs: &mut [f64]) {
        let rows = rhs.len();
        LuRef::new_unchecked(self.plan, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(rhs, rows, 1),
            Par::Seq,
            MemStack::new(&mut self.memory),
        );
    }

    /// Replaces the right-hand side by the solution with the transposed matrix.
    pub(super) fn solve_transposed(&mut self, rhs: &mut [f64]) {
        let rows = rhs.len();
        LuRef::new_unchecked(self.plan, &self.numeric).solve_transpose_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(rhs, rows, 1),
            Par::Seq,
            MemStack::new(&mut self.memory),
        );
    }
}
