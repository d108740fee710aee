//! The derivatives that a network carries: a downward-closed set of multi-indices over its inputs.

use bilo_expr::MultiIndex;

/// A downward-closed set of multi-indices, in graded order: component 0 is the value, then come
/// the first derivatives, then the second ones, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    inputs: usize,
    indices: Vec<MultiIndex>,
}

impl Plan {
    /// The smallest plan over `inputs` inputs that holds the wanted derivatives.
    pub fn closure(inputs: usize, wanted: &[MultiIndex]) -> Self {
        let mut indices = vec![MultiIndex::zero(inputs)];
        let mut queue = wanted.to_vec();
        while let Some(index) = queue.pop() {
            if !indices.contains(&index) {
                queue.extend((0..inputs).filter_map(|input| lowered(&index, input)));
                indices.push(index);
            }
        }
        indices.sort_by(|a, b| a.order().cmp(&b.order()).then_with(|| b.cmp(a)));
        Self { inputs, indices }
    }

    /// Number of components.
    #[expect(clippy::len_without_is_empty, reason = "a plan always holds the value")]
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Number of inputs that the multi-indices range over.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The multi-indices, by component.
    pub fn indices(&self) -> &[MultiIndex] {
        &self.indices
    }

    /// The component of a multi-index.
    pub fn component(&self, index: &MultiIndex) -> Option<usize> {
        self.indices.iter().position(|candidate| candidate == index)
    }

    /// The component of α + e_input.
    pub fn successor(&self, component: usize, input: usize) -> Option<usize> {
        self.component(&self.indices[component].plus(input))
    }

    /// A component α - e_i of the plan and the input i, for a component α that is not the value.
    pub(crate) fn predecessor(&self, component: usize) -> (usize, usize) {
        let index = &self.indices[component];
        let input = index.as_slice().iter().position(|&order| order > 0).expect("not the value");
        let lower = lowered(index, input).expect("its order is positive");
        (self.component(&lower).expect("plans are downward closed"), input)
    }

    /// Components that can be nonzero for the inputs themselves: the value and first derivatives.
    pub(crate) fn linear_components(&self) -> usize {
        self.indices.iter().take_while(|index| index.order() <= 1).count()
    }

    /// All (α, β, γ, binomial) with β + γ = α: the product rule.
    pub(crate) fn product_rule(&self) -> Vec<(usize, usize, usize, f64)> {
        let mut rule = vec![];
        for (alpha, a) in self.indices.iter().enumerate() {
            for (beta, b) in self.indices.iter().enumerate() {
                if let Some((difference, binomial)) = difference(a, b) {
                    let gamma = self.component(&difference).expect("plans are downward closed");
                    rule.push((alpha, beta, gamma, binomial));
                }
            }
        }
        rule
    }
}

fn lowered(index: &MultiIndex, input: usize) -> Option<MultiIndex> {
    let mut orders = index.as_slice().to_vec();
    orders[input] = orders[input].checked_sub(1)?;
    Some(MultiIndex::from(orders))
}

/// α - β and the binomial (α over β), if β <= α.
fn difference(alpha: &MultiIndex, beta: &MultiIndex) -> Option<(MultiIndex, f64)> {
    let mut orders = vec![];
    let mut factor = 1.0;
    for (&a, &b) in alpha.as_slice().iter().zip(beta.as_slice()) {
        orders.push(a.checked_sub(b)?);
        factor *= binomial(a, b);
    }
    Some((MultiIndex::from(orders), factor))
}

fn binomial(n: u8, k: u8) -> f64 {
    (0..k).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1)).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fisher_kpp_needs_four_components() {
        let index = |orders: &[u8]| MultiIndex::from(orders.to_vec());
        let plan = Plan::closure(2, &[index(&[2, 0]), index(&[0, 1])]);
        let expected = [[0, 0], [1, 0], [0, 1], [2, 0]].map(|orders| index(&orders));
        assert_eq!(plan.indices(), expected);
        assert_eq!(plan.linear_components(), 3);
    }

    #[test]
    fn product_rule_of_a_second_derivative() {
        let plan = Plan::closure(1, &[MultiIndex::from(vec![2])]);
        let rule: Vec<_> = plan.product_rule().into_iter().filter(|term| term.0 == 2).collect();
        assert_eq!(rule, [(2, 0, 2, 1.0), (2, 1, 1, 2.0), (2, 2, 0, 1.0)]);
    }
}
