//! Faà di Bruno tables as data: how a nonlinearity acts on jets, and every derivative of that
//! action that the reverse sweeps need, derived by three rewriting rules instead of by hand.
//!
//! With y = s(z) and z_β the jet of z, each y_α is a polynomial in the z_β whose coefficients are
//! the derivatives s_k = s^(k)(z). Starting from y_0 = s_0, a coordinate derivative acts by
//!
//! ```text
//! D_i (s_k Π z_β) = s_{k+1} z_{e_i} Π z_β + s_k Σ z_{β+e_i} Π' z_β
//! ```
//!
//! The leading part Σ_k c_k ∂^α_k of a plan acts the same way on both sides, but for the terms of
//! Faà di Bruno that are not linear in z:
//!
//! ```text
//! y_L = s_1 z_L + Σ_k c_k (y_α_k - s_1 z_α_k)
//! ```

use crate::plan::Plan;

/// Where the factor of a monomial is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bank {
    /// Jets of the argument z.
    Argument,
    /// Tangents ż of those jets along one direction.
    Tangent,
    /// Adjoints of the result's jets.
    Adjoint,
    /// Adjoints of the tangents of the result's jets.
    TangentAdjoint,
    /// Coefficients c_k of the leading part: one number per point.
    Coefficient,
    /// Their tangents along the direction.
    CoefficientTangent,
}

/// A component of a jet in one of the banks, or a coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Factor {
    /// The bank.
    pub bank: Bank,
    /// Number of the component in the plan, or k of a coefficient.
    pub component: usize,
}

/// coefficient * s_order * product of the factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Monomial {
    /// Order k of the derivative s_k of the nonlinearity.
    pub order: usize,
    /// Integer coefficient.
    pub coefficient: f64,
    /// Factors, sorted.
    pub factors: Vec<Factor>,
}

/// A sum of monomials without repetitions.
pub type Polynomial = Vec<Monomial>;

/// The four actions of a nonlinearity on jets; one polynomial per component of the result.
#[derive(Clone, Debug)]
pub struct ActivationTables {
    /// y_α from z.
    pub forward: Vec<Polynomial>,
    /// ẏ_α from z and ż.
    pub tangent: Vec<Polynomial>,
    /// Adjoint of z_β from the adjoint λ of y.
    pub reverse: Vec<Polynomial>,
    /// What ẏ adds to the adjoint of z_β: Σ_α λ_α ∂ẏ_α/∂z_β.
    pub source: Vec<Polynomial>,
    /// `reverse` and `source` at once.
    pub joint: Vec<Polynomial>,
    /// Adjoint of each coefficient c_k of the leading part, from the adjoint λ of y.
    pub coefficient: Vec<Polynomial>,
    /// Highest order of s that occurs in any table.
    pub highest_order: usize,
}

impl ActivationTables {
    /// Derives the tables for the components of a plan.
    pub fn new(plan: &Plan) -> Self {
        let forward = forward_tables(plan);
        let tangent: Vec<_> = forward.iter().map(dot).collect();
        let reverse = adjoint_tables(plan.len(), &forward, Bank::Adjoint);
        let source = adjoint_tables(plan.len(), &tangent, Bank::TangentAdjoint);
        let joint =
            reverse.iter().zip(&source).map(|(a, b)| collect([a.clone(), b.clone()].concat())).collect();
        let coefficient = (0..plan.leading().len()).map(|k| coefficient_table(plan, k)).collect();
        let highest_order = [&forward, &tangent, &reverse, &source]
            .into_iter()
            .flatten()
            .flatten()
            .map(|monomial| monomial.order)
            .max()
            .unwrap_or(0);
        Self { forward, tangent, reverse, source, joint, coefficient, highest_order }
    }
}

fn argument(component: usize) -> Factor {
    Factor { bank: Bank::Argument, component }
}

/// y_α for every α of the plan, then y_L if there is a leading part.
fn forward_tables(plan: &Plan) -> Vec<Polynomial> {
    let mut tables = derivative_tables(plan);
    if let Some(leading) = plan.leading_component() {
        let mut sum = vec![Monomial { order: 1, coefficient: 1.0, factors: vec![argument(leading)] }];
        for k in 0..plan.leading().len() {
            for mut monomial in nonlinear_part(plan, k) {
                monomial.factors.push(Factor { bank: Bank::Coefficient, component: k });
                sum.push(monomial);
            }
        }
        tables.push(collect(sum));
    }
    tables
}

/// y_α for every multi-index α, each from a predecessor α - e_i.
fn derivative_tables(plan: &Plan) -> Vec<Polynomial> {
    let mut tables: Vec<Polynomial> = vec![vec![Monomial { order: 0, coefficient: 1.0, factors: vec![] }]];
    for component in 1..plan.indices().len() {
        let (predecessor, input) = plan.predecessor(component);
        tables.push(coordinate_derivative(plan, &tables[predecessor], input));
    }
    tables
}

/// y_α - s_1 z_α for the derivative α = α_k of the leading part: it has no derivatives of z but those
/// below α, which the plan carries.
fn nonlinear_part(plan: &Plan, k: usize) -> Polynomial {
    let alpha = &plan.leading()[k];
    let below = Plan::closure(plan.inputs(), std::slice::from_ref(alpha));
    let whole = derivative_tables(&below).pop().expect("the highest derivative comes last");
    let carried = |component: usize| plan.component(&below.indices()[component]);
    let renamed = whole.into_iter().filter_map(|mut monomial| {
        for factor in &mut monomial.factors {
            factor.component = carried(factor.component)?;
        }
        Some(monomial)
    });
    renamed.collect()
}

/// Σ λ_L ∂y_L/∂c_k.
fn coefficient_table(plan: &Plan, k: usize) -> Polynomial {
    let leading = plan.leading_component().expect("there is a leading part");
    let mut table = nonlinear_part(plan, k);
    for monomial in &mut table {
        monomial.factors.push(Factor { bank: Bank::Adjoint, component: leading });
    }
    collect(table)
}

/// D_i of a polynomial in the jets of z.
fn coordinate_derivative(plan: &Plan, polynomial: &Polynomial, input: usize) -> Polynomial {
    let raised = |component| plan.successor(component, input).expect("plans are downward closed");
    let mut result = vec![];
    for monomial in polynomial {
        let mut chain = monomial.clone();
        chain.order += 1;
        chain.factors.push(argument(raised(0)));
        result.push(chain);
        for place in 0..monomial.factors.len() {
            let mut term = monomial.clone();
            term.factors[place] = argument(raised(term.factors[place].component));
            result.push(term);
        }
    }
    collect(result)
}

/// The derivative along a direction: z -> z + ε ż, c -> c + ε ċ.
fn dot(polynomial: &Polynomial) -> Polynomial {
    let mut result = vec![];
    for monomial in polynomial {
        let mut chain = monomial.clone();
        chain.order += 1;
        chain.factors.push(Factor { bank: Bank::Tangent, component: 0 });
        result.push(chain);
        for place in 0..monomial.factors.len() {
            let mut term = monomial.clone();
            let factor = &mut term.factors[place];
            factor.bank = match factor.bank {
                Bank::Coefficient => Bank::CoefficientTangent,
                _ => Bank::Tangent,
            };
            result.push(term);
        }
    }
    collect(result)
}

/// Σ_α λ_α ∂(table_α)/∂z_β for every β.
fn adjoint_tables(components: usize, tables: &[Polynomial], bank: Bank) -> Vec<Polynomial> {
    (0..components)
        .map(|beta| {
            let mut result = vec![];
            for (alpha, polynomial) in tables.iter().enumerate() {
                let lambda = Factor { bank, component: alpha };
                for mut monomial in partial(polynomial, beta) {
                    monomial.factors.push(lambda);
                    result.push(monomial);
                }
            }
            collect(result)
        })
        .collect()
}

/// ∂/∂z_β; z_0 occurs only inside s_k, never as a factor.
fn partial(polynomial: &Polynomial, beta: usize) -> Polynomial {
    let mut result = vec![];
    for monomial in polynomial {
        if beta == 0 {
            let mut term = monomial.clone();
            term.order += 1;
            result.push(term);
            continue;
        }
        for place in 0..monomial.factors.len() {
            if monomial.factors[place] == argument(beta) {
                let mut term = monomial.clone();
                term.factors.remove(place);
                result.push(term);
            }
        }
    }
    result
}

/// Sorts, and adds up equal monomials.
fn collect(mut monomials: Polynomial) -> Polynomial {
    for monomial in &mut monomials {
        monomial.factors.sort_unstable();
    }
    monomials.sort_by(|a, b| (a.order, &a.factors).cmp(&(b.order, &b.factors)));
    let mut result: Polynomial = vec![];
    for monomial in monomials {
        match result.last_mut() {
            Some(last) if last.order == monomial.order && last.factors == monomial.factors => {
                last.coefficient += monomial.coefficient;
            }
            _ => result.push(monomial),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_expr::MultiIndex;

    /// The formula of the paper's setting: a_xx = s1 z_xx + s2 z_x^2, and its tangent
    /// s1 ż_xx + s2 (z_xx ż + 2 z_x ż_x) + s3 z_x^2 ż.
    #[test]
    fn second_derivative_and_its_tangent_are_faa_di_bruno() {
        let plan = Plan::closure(1, &[MultiIndex::zero(1).plus(0).plus(0)]);
        let tables = ActivationTables::new(&plan);
        assert_eq!(show(&tables.forward[2]), "1*s1*z2 + 1*s2*z1*z1");
        assert_eq!(show(&tables.tangent[2]), "1*s1*d2 + 2*s2*z1*d1 + 1*s2*z2*d0 + 1*s3*z1*z1*d0");
        assert_eq!(tables.highest_order, 4);
    }

    /// With L = c_0 ∂_t + c_1 ∂_xx: a_L = s1 z_L + c_1 s2 z_x^2, whose derivative by c_1 is s2 z_x^2.
    #[test]
    fn leading_part_is_linear_but_for_the_square_of_the_slope() {
        let index = |orders: [u8; 2]| MultiIndex::from(orders.to_vec());
        let leading = vec![index([0, 1]), index([2, 0])];
        let plan = Plan::closure(2, &leading).with_leading(leading);
        let tables = ActivationTables::new(&plan);
        assert_eq!(show(&tables.forward[2]), "1*s1*z2 + 1*s2*z1*z1*c1");
        assert_eq!(
            show(&tables.tangent[2]),
            "1*s1*d2 + 1*s2*z1*z1*e1 + 2*s2*z1*d1*c1 + 1*s2*z2*d0 + 1*s3*z1*z1*d0*c1"
        );
        assert_eq!(show(&tables.coefficient[0]), "");
        assert_eq!(show(&tables.coefficient[1]), "1*s2*z1*z1*l2");
    }

    fn show(polynomial: &Polynomial) -> String {
        let letter = |bank| match bank {
            Bank::Argument => "z",
            Bank::Tangent => "d",
            Bank::Adjoint => "l",
            Bank::TangentAdjoint => "m",
            Bank::Coefficient => "c",
            Bank::CoefficientTangent => "e",
        };
        let monomial = |m: &Monomial| {
            let factors: Vec<_> =
                m.factors.iter().map(|f| format!("{}{}", letter(f.bank), f.component)).collect();
            format!("{}*s{}*{}", m.coefficient, m.order, factors.join("*"))
        };
        polynomial.iter().map(monomial).collect::<Vec<_>>().join(" + ")
    }
}
