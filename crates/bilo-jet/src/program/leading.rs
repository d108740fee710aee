//! Finds the leading part of a residual: the highest derivatives of a network, where they occur in one
//! linear combination only. For u_t - D u_xx - ρ u (1-u) = 0 that is u_t - D u_xx. The combination may have a factor
//! that depends on the network: with u = exp(net) it is exp(net) (net_t - D net_xx).

use super::{BoundNetwork, LeadingProgram, MAX_DERIVATIVE, Operator, ProgramError};
use crate::activation::MAX_LEADING;
use crate::plan::Plan;
use bilo_expr::{Expr, Graph, Leaf, MultiIndex, Symbol, Tape};
use std::collections::BTreeMap;

/// The leading part Σ_k c_k ∂^α_k of one network, as it stands in one residual.
#[derive(Clone, Debug)]
pub(crate) struct Leading {
    /// α_k.
    pub(crate) indices: Vec<MultiIndex>,
    /// Stands for the leading part of each output of the network; the residual has only that of one.
    pub(crate) symbols: Vec<Symbol>,
    /// c_k: expressions of columns and unknowns.
    coefficients: Vec<Expr>,
    /// What the combination is multiplied by in the residual.
    factor: Expr,
    residual: usize,
    output: usize,
}

/// A highest derivative that occurs linearly, in one residual and for one output.
struct Candidate {
    index: MultiIndex,
    /// Its coefficient, but for a factor that depends on networks.
    coefficient: Expr,
    factor: Expr,
    residual: usize,
    output: usize,
}

impl Leading {
    /// The leading part of a network if at least two derivatives can be carried as one.
    pub(crate) fn find(
        graph: &mut Graph,
        operator: &Operator,
        bound: &BoundNetwork,
        residuals: &[Expr],
    ) -> Result<Option<Self>, ProgramError> {
        // The product of two jets, which gates and tensor features are made of, has no such rule.
        // Nor are functions fed as combinations of their derivatives.
        if bound.network.has_products() || bound.given || !bound.fed.is_empty() {
            return Ok(None);
        }
        let wanted = wanted(bound, &graph.leaves(residuals))?;
        let plan = Plan::closure(bound.network.coordinates(), &wanted);
        let highest =
            plan.indices().iter().filter(|index| index.order() > 0 && !plan.is_below_another(index));
        let candidates: Vec<Candidate> =
            highest.filter_map(|index| candidate(graph, operator, bound, residuals, index)).collect();
        let Some(chosen) = largest_group(candidates) else { return Ok(None) };
        let Candidate { residual, output, factor, .. } = chosen[0];
        let in_factor = graph.leaves(&[factor]);
        if chosen.iter().any(|candidate| in_factor.contains(&leaf(bound, output, &candidate.index))) {
            return Ok(None);
        }
        let names = bound
            .outputs
            .iter()
            .map(|&function| format!("leading part of {}", graph.function_name(function)));
        let names: Vec<String> = names.collect();
        Ok(Some(Self {
            indices: chosen.iter().map(|candidate| candidate.index.clone()).collect(),
            symbols: names.iter().map(|name| graph.symbol(name)).collect(),
            coefficients: chosen.iter().map(|candidate| candidate.coefficient).collect(),
            factor,
            residual,
            output,
        }))
    }

    /// Writes the leading part's symbol into the residual in place of its derivatives.
    pub(crate) fn rewrite(&self, graph: &mut Graph, bound: &BoundNetwork, residuals: &mut [Expr]) {
        let zero = graph.constant(0.0);
        let none: BTreeMap<Leaf, Expr> =
            self.indices.iter().map(|index| (leaf(bound, self.output, index), zero)).collect();
        let rest = graph.substitute(residuals[self.residual], &none);
        let leading = graph.leaf(self.symbols[self.output]);
        let leading = graph.mul(self.factor, leading);
        residuals[self.residual] = graph.add(rest, leading);
    }

    /// The tape of the coefficients and their derivatives by the unknowns.
    pub(crate) fn program(
        &self,
        graph: &mut Graph,
        operator: &Operator,
    ) -> Result<LeadingProgram, ProgramError> {
        let unknowns: Vec<Leaf> = operator.unknowns.iter().map(|&symbol| Leaf::Symbol(symbol)).collect();
        let mut outputs = self.coefficients.clone();
        for &coefficient in &self.coefficients {
            outputs.extend(unknowns.iter().map(|unknown| graph.partial(coefficient, unknown)));
        }
        let slopes = &outputs[self.coefficients.len()..];
        let moving = slopes.iter().any(|&slope| graph.as_constant(slope) != Some(0.0));
        let columns = operator.columns.iter().map(|&symbol| Leaf::Symbol(symbol));
        let inputs: Vec<Leaf> = columns.chain(unknowns).collect();
        let coefficients = Tape::compile(graph, &outputs, &inputs).map_err(ProgramError::Unbound)?;
        Ok(LeadingProgram { coefficients, moving })
    }
}

fn leaf(bound: &BoundNetwork, output: usize, index: &MultiIndex) -> Leaf {
    Leaf::Derivative(bound.outputs[output], padded(index, bound))
}

/// The largest set, the first of those, of candidates that go together; none of one only.
fn largest_group(candidates: Vec<Candidate>) -> Option<Vec<Candidate>> {
    let mut groups: Vec<Vec<Candidate>> = vec![];
    for candidate in candidates {
        let key = |c: &Candidate| (c.residual, c.output, c.factor);
        match groups.iter_mut().find(|group| key(&group[0]) == key(&candidate)) {
            Some(group) if group.len() < MAX_LEADING => group.push(candidate),
            Some(_) => {}
            None => groups.push(vec![candidate]),
        }
    }
    let most = groups.iter().map(Vec::len).max().filter(|&most| most > 1)?;
    groups.into_iter().find(|group| group.len() == most)
}

fn candidate(
    graph: &mut Graph,
    operator: &Operator,
    bound: &BoundNetwork,
    residuals: &[Expr],
    index: &MultiIndex,
) -> Option<Candidate> {
    let mut found = None;
    for output in 0..bound.outputs.len() {
        for (residual, &expression) in residuals.iter().enumerate() {
            let coefficient = graph.partial(expression, &leaf(bound, output, index));
            if graph.as_constant(coefficient) == Some(0.0) {
                continue;
            }
            if found.is_some() {
                return None;
            }
            let of_networks = |graph: &Graph, e: Expr| {
                graph.leaves(&[e]).iter().any(|leaf| matches!(leaf, Leaf::Derivative(..)))
            };
            let (factor, coefficient) = graph.split_product(coefficient, &of_networks);
            found = Some(Candidate { index: index.clone(), coefficient, factor, residual, output });
        }
    }
    let found = found?;
    let leaves = graph.leaves(&[found.coefficient]);
    // The leading part of a coordinate is the coefficient of its first derivative; it stays put, so
    // that coordinates need neither tangents nor adjoints.
    let moves = |leaf: &Leaf| matches!(leaf, Leaf::Symbol(symbol) if operator.unknowns.contains(symbol));
    (index.order() > 1 || !leaves.iter().any(moves)).then_some(found)
}

/// A multi-index over the coordinates, made one over all inputs.
pub(super) fn padded(index: &MultiIndex, bound: &BoundNetwork) -> MultiIndex {
    let mut orders = index.as_slice().to_vec();
    orders.resize(orders.len() + bound.network.parameters(), 0);
    MultiIndex::from(orders)
}

/// The derivatives with respect to coordinates that leaves ask of a network.
pub(super) fn wanted(bound: &BoundNetwork, leaves: &[Leaf]) -> Result<Vec<MultiIndex>, ProgramError> {
    let coordinates = bound.network.coordinates();
    let mut result = vec![];
    for leaf in leaves {
        if let Leaf::Derivative(function, index) = leaf
            && bound.outputs.contains(function)
        {
            let index = MultiIndex::from(index.as_slice()[..coordinates].to_vec());
            if index.order() > MAX_DERIVATIVE {
                return Err(ProgramError::Order(leaf.clone()));
            }
            result.push(index);
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::Activation;
    use crate::network::{Network, NetworkSpec};
    use bilo_expr::{Scope, lower, parse};

    /// The leading parts that are found in residuals over u(x, y, t) with the unknown D, as text.
    fn leading_of(residuals: &[&str], modified: bool) -> Option<Vec<(Vec<u8>, String)>> {
        let mut graph = Graph::new();
        let columns = ["x", "y", "t"].map(|name| graph.symbol(name)).to_vec();
        let unknowns = vec![graph.symbol("D")];
        let inputs: Vec<Expr> = columns.iter().chain(&unknowns).map(|&symbol| graph.leaf(symbol)).collect();
        let u = graph.function("u", inputs);
        let mut scope = Scope::new();
        for (&symbol, name) in columns.iter().zip(["x", "y", "t"]) {
            scope.bind(name, graph.leaf(symbol));
            scope.variable(name, symbol);
        }
        scope.bind("D", graph.leaf(unknowns[0]));
        scope.bind("u", graph.value(u));
        let residuals: Vec<Expr> = residuals
            .iter()
            .map(|text| lower(&parse(text).expect("it parses"), &mut graph, &scope).expect("known names"))
            .collect();
        let spec = NetworkSpec {
            coordinates: 3,
            parameters: 1,
            outputs: 1,
            width: 2,
            layers: 1,
            activation: Activation::Tanh,
            fourier: None,
            residual: false,
            modified,
        };
        let bound = BoundNetwork::new(Network::new(spec, 0), vec![u], vec![0]);
        let operator =
            Operator { networks: vec![bound.clone()], columns, unknowns, held: Default::default() };
        let found = Leading::find(&mut graph, &operator, &bound, &residuals).expect("a valid case")?;
        let pairs = found.indices.iter().zip(&found.coefficients);
        Some(pairs.map(|(i, &c)| (i.as_slice().to_vec(), graph.display(c).to_string())).collect())
    }

    #[test]
    fn a_parabolic_equation_has_one() {
        let found = leading_of(&["u_t - D*(u_xx + u_yy) + u*u_x"], false).expect("a leading part");
        let indices: Vec<&[u8]> = found.iter().map(|(index, _)| index.as_slice()).collect();
        assert_eq!(indices, [[0, 0, 1], [2, 0, 0], [0, 2, 0]]);
        assert_eq!(found[0].1, "1");
        assert_eq!(found[1].1, "-D");
    }

    #[test]
    fn derivatives_that_are_needed_by_themselves_stay_out() {
        let found = leading_of(&["u_t - u*u_xx - u_yy - x*u_xy"], false).expect("a leading part");
        let indices: Vec<&[u8]> = found.iter().map(|(index, _)| index.as_slice()).collect();
        assert_eq!(indices, [[0, 0, 1], [1, 1, 0], [0, 2, 0]], "u_xx has a state as its coefficient");
        assert_eq!(leading_of(&["u_t - u_xx", "u_t + u_y"], false).map(|found| found.len()), None);
    }

    #[test]
    fn a_factor_of_states_is_taken_out() {
        let found = leading_of(&["(1 + u^2)*(u_t - D*u_xx) + x*u_yy*(1 + u^2) + u_x^2"], false);
        let found = found.expect("a leading part");
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["1", "-D", "x"]);
        assert_eq!(leading_of(&["u_xx*(u_t - u_xx)"], false), None, "not linear in the highest");
    }

    #[test]
    fn none_where_one_derivative_is_left_or_gates_multiply_jets() {
        assert_eq!(leading_of(&["D*u_xx - u"], false), None);
        assert_eq!(leading_of(&["u_x + D*u_t"], false), None, "a first derivative must not move");
        assert_eq!(leading_of(&["u_t - D*u_xx"], true), None);
    }
}
