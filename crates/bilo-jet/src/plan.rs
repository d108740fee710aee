//! The derivatives that a network carries: a downward-closed set of multi-indices over its inputs,
//! and perhaps one linear combination of further ones, the leading part.

use bilo_expr::MultiIndex;

/// A downward-closed set of multi-indices, in graded order: component 0 is the value, then come
/// the first derivatives, then the second ones, and so on.
///
/// A plan with a leading part has one component more, the last: Σ_k c_k ∂^α_k for derivatives α_k that
/// stand right above the set, with coefficients c_k that may differ from point to point. An equation
/// such as u_t - D u_xx + u u_x = 0 needs u_t and u_xx only in this combination, so that u, u_x and
/// the combination are carried instead of four derivatives. (The Laplacian alone, carried so, is known
/// as the forward Laplacian: Li et al., Nature Machine Intelligence 6 (2024) 209.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    inputs: usize,
    indices: Vec<MultiIndex>,
    leading: Vec<MultiIndex>,
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
        Self { inputs, indices, leading: vec![] }
    }

    /// The plan that carries some of this one's derivatives in one combination only; none of them may
    /// stand below another derivative of the plan.
    pub fn with_leading(mut self, leading: Vec<MultiIndex>) -> Self {
        self.indices.retain(|index| !leading.contains(index));
        self.leading = leading;
        self
    }

    /// The derivatives of the leading part.
    pub fn leading(&self) -> &[MultiIndex] {
        &self.leading
    }

    /// The component of the leading part.
    pub fn leading_component(&self) -> Option<usize> {
        (!self.leading.is_empty()).then_some(self.indices.len())
    }

    /// The place in the leading part of the first derivative by an input.
    pub fn leading_slope(&self, input: usize) -> Option<usize> {
        let slope = MultiIndex::unit(self.inputs, input);
        self.leading.iter().position(|index| *index == slope)
    }

    /// Number of components.
    #[expect(clippy::len_without_is_empty, reason = "a plan always holds the value")]
    pub fn len(&self) -> usize {
        self.indices.len() + usize::from(!self.leading.is_empty())
    }

    /// Number of inputs that the multi-indices range over.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The multi-indices, by component; the leading part comes after them.
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

    /// Whether another derivative of the plan stands above this one.
    pub(crate) fn is_below_another(&self, index: &MultiIndex) -> bool {
        (0..self.inputs).any(|input| self.component(&index.plus(input)).is_some())
    }

    /// Leading components up to the last one that can be nonzero for the inputs themselves, which have
    /// values and first derivatives only.
    pub fn linear_components(&self) -> usize {
        if self.leading.iter().any(|index| index.order() == 1) {
            return self.len();
        }
        self.indices.iter().take_while(|index| index.order() <= 1).count()
    }

    /// All (α, β, γ, binomial) with β + γ = α: the product rule, for plans without a leading part.
    pub fn product_rule(&self) -> Vec<(usize, usize, usize, f64)> {
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
    fn fisher_kpp_with_its_leading_part_needs_three_components() {
        let index = |orders: &[u8]| MultiIndex::from(orders.to_vec());
        let leading = vec![index(&[0, 1]), index(&[2, 0])];
        let plan = Plan::closure(2, &leading).with_leading(leading);
        assert_eq!(plan.indices(), [index(&[0, 0]), index(&[1, 0])]);
        assert_eq!((plan.len(), plan.leading_component(), plan.linear_components()), (3, Some(2), 3));
    }

    #[test]
    fn product_rule_of_a_second_derivative() {
        let plan = Plan::closure(1, &[MultiIndex::from(vec![2])]);
        let rule: Vec<_> = plan.product_rule().into_iter().filter(|term| term.0 == 2).collect();
        assert_eq!(rule, [(2, 0, 2, 1.0), (2, 1, 1, 2.0), (2, 2, 0, 1.0)]);
    }
}
