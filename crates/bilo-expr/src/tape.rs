//! Expressions compiled to a flat list of instructions: plain data that any back end can run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::graph::{Expr, Graph, Leaf, Node};
use crate::ops::{Binary, Unary};

/// One step of a tape. Operands are positions of earlier instructions; the result belongs to the position of this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instruction {
    /// The input with this number.
    Input(u32),
    /// A number.
    Constant(f64),
    /// A function of one operand.
    Unary(Unary, u32),
    /// An integer power of an operand.
    Power(u32, i32),
    /// A function of two operands.
    Binary(Binary, u32, u32),
    /// The second operand where the first is not zero, else the third.
    Select(u32, u32, u32),
}

impl Instruction {
    /// The positions this instruction reads.
    pub fn operands(self) -> impl Iterator<Item = usize> {
        let operands = match self {
            Instruction::Input(_) | Instruction::Constant(_) => [None; 3],
            Instruction::Unary(_, a) | Instruction::Power(a, _) => [Some(a), None, None],
            Instruction::Binary(_, a, b) => [Some(a), Some(b), None],
            Instruction::Select(c, a, b) => [Some(c), Some(a), Some(b)],
        };
        operands.into_iter().flatten().map(|k| k as usize)
    }
}

/// Tells tapes apart; copies of one are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TapeId(u64);

impl TapeId {
    fn next() -> TapeId {
        static LAST: AtomicU64 = AtomicU64::new(0);
        TapeId(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// A compiled list of expressions.
#[derive(Clone, Debug)]
pub struct Tape {
    pub(crate) id: TapeId,
    pub(crate) inputs: Vec<Leaf>,
    /// Starts with one instruction per input, in their order.
    pub(crate) code: Vec<Instruction>,
    pub(crate) outputs: Vec<u32>,
    /// Numbers to be broadcast: position and value.
    pub(crate) constants: Vec<(u32, f64)>,
    /// Whether an instruction depends on any input.
    pub(crate) varies: Vec<bool>,
    /// For every output a row of one entry per input.
    dependence: Vec<bool>,
}

impl Tape {
    /// Compiles the outputs as functions of the inputs.
    ///
    /// An output that contains a leaf outside the inputs cannot be compiled: that leaf is the error.
    pub fn compile(graph: &Graph, outputs: &[Expr], inputs: &[Leaf]) -> Result<Tape, Leaf> {
        let mut leaf_positions = HashMap::new();
        for (k, leaf) in inputs.iter().enumerate() {
            leaf_positions.entry(leaf).or_insert(k as u32);
        }
        let mut code: Vec<_> = (0..inputs.len() as u32).map(Instruction::Input).collect();
        let mut positions: HashMap<Expr, u32> = HashMap::new();
        for e in graph.in_order(outputs) {
            let position = match graph.as_leaf(e) {
                Some(leaf) => *leaf_positions.get(leaf).ok_or_else(|| leaf.clone())?,
                None => {
                    code.push(translate(graph.node(e), &positions));
                    code.len() as u32 - 1
                }
            };
            positions.insert(e, position);
        }
        let outputs: Vec<u32> = outputs.iter().map(|e| positions[e]).collect();
        Ok(Tape {
            id: TapeId::next(),
            inputs: inputs.to_vec(),
            constants: constants(&code),
            varies: varying(&code),
            dependence: dependence(&code, &outputs, inputs.len()),
            code,
            outputs,
        })
    }

    /// The leaves to be given, in order.
    pub fn inputs(&self) -> &[Leaf] {
        &self.inputs
    }

    /// The positions in [`Tape::code`] whose results are the outputs.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// The instructions in order of evaluation.
    pub fn code(&self) -> &[Instruction] {
        &self.code
    }

    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether there is nothing to evaluate.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// Whether the input occurs in the output.
    pub fn depends_on(&self, output: usize, input: usize) -> bool {
        assert!(input < self.inputs.len(), "there is no input {input}");
        self.dependence[output * self.inputs.len() + input]
    }
}

fn translate(node: Node, positions: &HashMap<Expr, u32>) -> Instruction {
    match node {
        Node::Constant(bits) => Instruction::Constant(f64::from_bits(bits)),
        Node::Leaf(_) => unreachable!("leaves are inputs"),
        Node::Unary(op, a) => Instruction::Unary(op, positions[&a]),
        Node::Power(a, n) => Instruction::Power(positions[&a], n),
        Node::Binary(op, a, b) => Instruction::Binary(op, positions[&a], positions[&b]),
        Node::Select(c, a, b) => Instruction::Select(positions[&c], positions[&a], positions[&b]),
    }
}

fn constants(code: &[Instruction]) -> Vec<(u32, f64)> {
    let numbered = code.iter().enumerate();
    numbered
        .filter_map(|(k, instruction)| match instruction {
            Instruction::Constant(value) => Some((k as u32, *value)),
            _ => None,
        })
        .collect()
}

fn varying(code: &[Instruction]) -> Vec<bool> {
    let mut varies: Vec<bool> = Vec::with_capacity(code.len());
    for instruction in code {
        let is_input = matches!(instruction, Instruction::Input(_));
        let inherits = instruction.operands().any(|k| varies[k]);
        varies.push(is_input || inherits);
    }
    varies
}

fn dependence(code: &[Instruction], outputs: &[u32], inputs: usize) -> Vec<bool> {
    let mut rows = Vec::with_capacity(outputs.len() * inputs);
    for &output in outputs {
        let mut used = vec![false; code.len()];
        used[output as usize] = true;
        for k in (inputs..=output as usize).rev() {
            if used[k] {
                code[k].operands().for_each(|operand| used[operand] = true);
            }
        }
        rows.extend(&used[..inputs]);
    }
    rows
}
