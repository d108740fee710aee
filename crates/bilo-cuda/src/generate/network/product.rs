//! Products of rows with matrices: which of the prelude's functions makes them.

use crate::generate::MOST_ROWS;
use crate::generate::code::Code;

/// A product of rows in the workspace with a packed matrix.
pub(super) struct Product {
    /// Place and stride.
    pub(super) result: (usize, usize),
    pub(super) left: (usize, usize),
    pub(super) matrix: usize,
    pub(super) rows: usize,
    /// Its place and the rows that get it.
    pub(super) bias: Option<(usize, usize)>,
    pub(super) add: bool,
}

impl Product {
    /// Writes it for so many threads, with tensor cores if they shall and can.
    pub(super) fn write(&self, code: &mut Code, threads: usize, tensor: bool) {
        let ((result, stride), (left, inner)) = (self.result, self.left);
        let quads = stride / 4;
        let rows = rows_of_a_thread(self.rows, quads, threads);
        let (bias, biased) = self.bias.unwrap_or((0, 0));
        if quads == 1 {
            code.line(format!(
                "narrow_product<{}, {}, {inner}>(work + {result}, work + {left}, packed + {}, packed + {bias}, {biased});",
                self.add, self.rows, self.matrix
            ));
            return code.barrier();
        }
        if inner == 4 {
            code.line(format!(
                "thin_product<{}, {}, {quads}>(work + {result}, work + {left}, packed + {}, packed + {bias}, {biased});",
                self.add, self.rows, self.matrix
            ));
            return code.barrier();
        }
        if tensor && by_tensor_cores([stride, inner]) {
            code.line(format!(
                "tensor_product<{}, {}, {stride}, {inner}>(work + {result}, work + {left}, packed + {}, packed + {bias}, {biased});",
                self.add, self.rows, self.matrix
            ));
            return code.barrier();
        }
        code.line(format!(
            "product<{rows}, {}, {}, {quads}, {inner}>(work + {result}, work + {left}, packed + {}, packed + {bias}, {biased});",
            self.add, self.rows, self.matrix
        ));
        code.barrier();
    }
}

/// Whether tensor cores can multiply matrices whose rows are this long.
pub(super) fn by_tensor_cores(strides: [usize; 2]) -> bool {
    strides.iter().all(|stride| stride.is_multiple_of(16))
}

/// The rows that a thread makes of so many, with so many quads of columns: few enough that all threads have work, then
/// as many as possible.
fn rows_of_a_thread(rows: usize, quads: usize, threads: usize) -> usize {
    let turns = |each: usize| (rows.div_ceil(each) * quads).div_ceil(threads) * each;
    (1..=MOST_ROWS).rev().min_by_key(|&each| turns(each)).expect("there are some")
}
