//! The graph that owns every expression: equal sub-expressions are stored once.

use std::collections::{BTreeMap, HashMap};

use crate::ops::{Binary, Unary};

/// An expression in a [`Graph`].
///
/// Operands are always made before the expressions that use them, so ascending order is an order of evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Expr(pub(crate) u32);

/// A variable: independent (a coordinate, a parameter) or with a definition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Symbol(pub(crate) u32);

/// An opaque function of its input expressions, such as a network or an unsolved state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Function(pub(crate) u32);

/// The order of a derivative in each input slot of a [`Function`].
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MultiIndex(Vec<u8>);

impl MultiIndex {
    /// No derivative at all, for a function of `n` inputs.
    pub fn zero(n: usize) -> MultiIndex {
        MultiIndex(vec![0; n])
    }

    /// The first derivative by input `i` of `n`.
    pub fn unit(n: usize, i: usize) -> MultiIndex {
        MultiIndex::zero(n).plus(i)
    }

    /// The total order.
    pub fn order(&self) -> usize {
        self.0.iter().map(|&order| usize::from(order)).sum()
    }

    /// One more derivative by input `i`.
    ///
    /// # Panics
    /// If there is no input `i`, or its order would pass 255.
    pub fn plus(&self, i: usize) -> MultiIndex {
        let mut orders = self.0.clone();
        orders[i] = orders[i].checked_add(1).expect("derivative order below 256");
        MultiIndex(orders)
    }

    /// The order per input.
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for MultiIndex {
    fn from(orders: Vec<u8>) -> MultiIndex {
        MultiIndex(orders)
    }
}

/// What an expression is made from: the values a tape must be given.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Leaf {
    /// A variable.
    Symbol(Symbol),
    /// A derivative of a function by its input slots; all zeros is the function itself.
    Derivative(Function, MultiIndex),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// The bits of a number, so that nodes can be compared.
    Constant(u64),
    /// A position in `Graph::leaves`.
    Leaf(u32),
    Unary(Unary, Expr),
    Power(Expr, i32),
    Binary(Binary, Expr, Expr),
    Select(Expr, Expr, Expr),
}

impl Node {
    pub(crate) fn operands(self) -> impl Iterator<Item = Expr> {
        let operands = match self {
            Node::Constant(_) | Node::Leaf(_) => [None; 3],
            Node::Unary(_, a) | Node::Power(a, _) => [Some(a), None, None],
            Node::Binary(_, a, b) => [Some(a), Some(b), None],
            Node::Select(c, a, b) => [Some(c), Some(a), Some(b)],
        };
        operands.into_iter().flatten()
    }
}

#[derive(Clone, Debug)]
struct SymbolEntry {
    name: String,
    definition: Option<Expr>,
}

#[derive(Clone, Debug)]
struct FunctionEntry {
    name: String,
    inputs: Vec<Expr>,
}

/// What is differentiated by, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum By {
    /// Through definitions and function inputs.
    Total(Symbol),
    /// By the leaf with this number, all other leaves held fixed.
    Partial(u32),
}

/// Owns expressions, symbols and functions; equal expressions get the same [`Expr`].
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    node_ids: HashMap<Node, Expr>,
    leaves: Vec<Leaf>,
    leaf_ids: HashMap<Leaf, u32>,
    symbols: Vec<SymbolEntry>,
    functions: Vec<FunctionEntry>,
    pub(crate) derivatives: HashMap<(By, Expr), Expr>,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Graph {
        Graph::default()
    }

    /// A number.
    pub fn constant(&mut self, v: f64) -> Expr {
        // Adding zero turns -0 into 0: two zeros would be two different nodes.
        self.intern(Node::Constant((v + 0.0).to_bits()))
    }

    /// The number that `e` is, if it is one.
    pub fn as_constant(&self, e: Expr) -> Option<f64> {
        match self.node(e) {
            Node::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// The leaf that `e` is, if it is one.
    pub fn as_leaf(&self, e: Expr) -> Option<&Leaf> {
        match self.node(e) {
            Node::Leaf(id) => Some(&self.leaves[id as usize]),
            _ => None,
        }
    }

    /// A new independent variable; the same name twice makes two variables.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        self.add_symbol(name, None)
    }

    /// A new variable that stands for `definition`: [`Graph::diff`] looks through it, [`Graph::partial`] does not.
    pub fn define(&mut self, name: &str, definition: Expr) -> Symbol {
        self.add_symbol(name, Some(definition))
    }

    fn add_symbol(&mut self, name: &str, definition: Option<Expr>) -> Symbol {
        self.symbols.push(SymbolEntry { name: name.to_string(), definition });
        Symbol(index(self.symbols.len() - 1))
    }

    /// A new opaque function of its input expressions.
    pub fn function(&mut self, name: &str, inputs: Vec<Expr>) -> Function {
        self.functions.push(FunctionEntry { name: name.to_string(), inputs });
        Function(index(self.functions.len() - 1))
    }

    /// The name a symbol was made with.
    pub fn symbol_name(&self, s: Symbol) -> &str {
        &self.symbols[s.0 as usize].name
    }

    /// The definition of a symbol made by [`Graph::define`].
    pub fn definition(&self, s: Symbol) -> Option<Expr> {
        self.symbols[s.0 as usize].definition
    }

    /// The name a function was made with.
    pub fn function_name(&self, f: Function) -> &str {
        &self.functions[f.0 as usize].name
    }

    /// The input expressions of a function.
    pub fn function_inputs(&self, f: Function) -> &[Expr] {
        &self.functions[f.0 as usize].inputs
    }

    /// The value of a symbol.
    pub fn leaf(&mut self, s: Symbol) -> Expr {
        self.intern_leaf(Leaf::Symbol(s))
    }

    /// The value of a function at its inputs.
    pub fn value(&mut self, f: Function) -> Expr {
        let slots = self.function_inputs(f).len();
        self.derivative(f, MultiIndex::zero(slots))
    }

    /// A derivative of a function by its input slots.
    ///
    /// # Panics
    /// If the index has not one entry per input of the function.
    pub fn derivative(&mut self, f: Function, index: MultiIndex) -> Expr {
        let slots = self.function_inputs(f).len();
        assert_eq!(index.0.len(), slots, "one order per input of the function");
        self.intern_leaf(Leaf::Derivative(f, index))
    }

    fn intern_leaf(&mut self, leaf: Leaf) -> Expr {
        let id = match self.leaf_ids.get(&leaf) {
            Some(&id) => id,
            None => {
                let id = index(self.leaves.len());
                self.leaves.push(leaf.clone());
                self.leaf_ids.insert(leaf, id);
                id
            }
        };
        self.intern(Node::Leaf(id))
    }

    pub(crate) fn leaf_id(&self, leaf: &Leaf) -> Option<u32> {
        self.leaf_ids.get(leaf).copied()
    }

    pub(crate) fn leaf_at(&self, id: u32) -> &Leaf {
        &self.leaves[id as usize]
    }

    pub(crate) fn node(&self, e: Expr) -> Node {
        self.nodes[e.0 as usize]
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn intern(&mut self, node: Node) -> Expr {
        if let Some(&known) = self.node_ids.get(&node) {
            return known;
        }
        let e = Expr(index(self.nodes.len()));
        self.nodes.push(node);
        self.node_ids.insert(node, e);
        e
    }

    /// Everything reached from `roots`, in ascending order; `next` lists what a node leads to.
    pub(crate) fn reachable(
        &self,
        roots: &[Expr],
        mut next: impl FnMut(&Graph, Expr, &mut Vec<Expr>),
    ) -> Vec<Expr> {
        let mut seen = vec![false; self.nodes.len()];
        let mut waiting = roots.to_vec();
        let mut found = Vec::new();
        while let Some(e) = waiting.pop() {
            if !std::mem::replace(&mut seen[e.0 as usize], true) {
                found.push(e);
                next(self, e, &mut waiting);
            }
        }
        found.sort_unstable();
        found
    }

    /// The sub-expressions of `roots` in an order of evaluation.
    pub(crate) fn in_order(&self, roots: &[Expr]) -> Vec<Expr> {
        self.reachable(roots, |graph, e, next| next.extend(graph.node(e).operands()))
    }

    /// The leaves that the expressions contain, sorted, each once. Definitions and function inputs are not looked into.
    pub fn leaves(&self, exprs: &[Expr]) -> Vec<Leaf> {
        let parts = self.in_order(exprs).into_iter();
        let mut leaves: Vec<Leaf> = parts.filter_map(|e| self.as_leaf(e).cloned()).collect();
        leaves.sort_unstable();
        leaves
    }

    /// What expressions ask the sign of: the differences of what they compare or choose the least or most of, and what they take
    /// the absolute value or the sign of.
    pub fn switches(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        let mut found = Vec::new();
        for part in self.in_order(exprs) {
            match self.node(part) {
                Node::Binary(Binary::Compare(_) | Binary::Min | Binary::Max, a, b) => {
                    found.push(self.sub(a, b))
                }
                Node::Unary(Unary::Abs | Unary::Sign, a) => found.push(a),
                _ => {}
            }
        }
        found
    }

    /// What decides where expressions jump: the differences of what they compare, and what they take the sign of.
    pub fn jumps(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        let mut found = Vec::new();
        for part in self.in_order(exprs) {
            match self.node(part) {
                Node::Binary(Binary::Compare(_), a, b) => found.push(self.sub(a, b)),
                Node::Unary(Unary::Sign, a) => found.push(a),
                _ => {}
            }
        }
        found
    }

    /// `e` with leaves replaced. The inputs of functions stay what they are.
    pub fn substitute(&mut self, e: Expr, map: &BTreeMap<Leaf, Expr>) -> Expr {
        let mut replaced = HashMap::new();
        for part in self.in_order(&[e]) {
            let by = match self.as_leaf(part) {
                Some(leaf) => map.get(leaf).copied().unwrap_or(part),
                None => self.rebuild(part, &replaced),
            };
            replaced.insert(part, by);
        }
        replaced[&e]
    }

    /// `e` with every defined symbol replaced by its definition, down to independent symbols and functions.
    pub fn expand_definitions(&mut self, e: Expr) -> Expr {
        let parts = self.reachable(&[e], |graph, part, next| {
            next.extend(graph.node(part).operands());
            next.extend(graph.definition_of(part));
        });
        let mut expanded = HashMap::new();
        for part in parts {
            let by = match self.definition_of(part) {
                Some(definition) => expanded[&definition],
                None => self.rebuild(part, &expanded),
            };
            expanded.insert(part, by);
        }
        expanded[&e]
    }

    /// The definition behind `e`, if `e` is a defined symbol.
    pub(crate) fn definition_of(&self, e: Expr) -> Option<Expr> {
        match self.as_leaf(e) {
            Some(&Leaf::Symbol(s)) => self.definition(s),
            _ => None,
        }
    }

    /// An operation on new operands, folded again.
    fn rebuild(&mut self, e: Expr, new: &HashMap<Expr, Expr>) -> Expr {
        match self.node(e) {
            Node::Constant(_) | Node::Leaf(_) => e,
            Node::Unary(op, a) => self.unary(op, new[&a]),
            Node::Power(a, n) => self.integer_power(new[&a], n),
            Node::Binary(op, a, b) => self.binary(op, new[&a], new[&b]),
            Node::Select(c, a, b) => self.select(new[&c], new[&a], new[&b]),
        }
    }
}

fn index(position: usize) -> u32 {
    u32::try_from(position).expect("fewer than 2^32 expressions")
}
