//! Faà di Bruno tables as data: how a nonlinearity acts on jets, and every derivative of that
//! action that the reverse sweeps need, derived by three rewriting rules instead of by hand.
//!
//! With y = s(z) and z_β the jet of z, each y_α is a polynomial in the z_β whose coefficients are
//! the derivatives s_k = s^(k)(z). Starting from y_0 = s_0, a coordinate derivative acts by
//!
//! ```text
//! D_i (s_k Π z_β) = s_{k+1} z_{e_i} Π z_β + s_k Σ z_{β+e_i} Π' z_β
//! ```

use crate::plan::Plan;

/// Where the factor of a monomial is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bank {
    /// Jets of the argument z.
    Argument,
    /// Tangents ż of those jets along one direction.
    Tangent,
    /// Adjoints of the result's jets.
    Adjoint,
    /// Adjoints of the tangents of the result's jets.
    TangentAdjoint,
}

/// A component of a jet in one of the banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Factor {
    /// The bank.
    pub bank: Bank,
    /// Number of the component in the plan.
    pub component: usize,
}

/// coefficient * s_order * product of the factors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Monomial {
    /// Order k of the derivative s_k of the nonlinearity.
    pub order: usize,
    /// Integer coefficient.
    pub coefficient: f64,
    /// Factors, sorted.
    pub factors: Vec<Factor>,
}

/// A sum of monomials without repetitions.
pub(crate) type Polynomial = Vec<Monomial>;

/// The four actions of a nonlinearity on jets; one polynomial per component of the result.
#[derive(Clone, Debug)]
pub(crate) struct ActivationTables {
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
    /// Highest order of s that occurs in any table.
    pub highest_order: usize,
}

impl ActivationTables {
    /// Derives the tables for the components of a plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let forward = forward_tables(plan);
        let tangent: Vec<_> = forward.iter().map(dot).collect();
        let reverse = adjoint_tables(plan.len(), &forward, Bank::Adjoint);
        let source = adjoint_tables(plan.len(), &tangent, Bank::TangentAdjoint);
        let joint =
            reverse.iter().zip(&source).map(|(a, b)| collect([a.clone(), b.clone()].concat())).collect();
        let highest_order = [&forward, &tangent, &reverse, &source]
            .into_iter()
            .flatten()
            .flatten()
            .map(|monomial| monomial.order)
            .max()
            .unwrap_or(0);
        Self { forward, tangent, reverse, source, joint, highest_order }
    }
}

fn argument(component: usize) -> Factor {
    Factor { bank: Bank::Argument, component }
}

/// y_α for every α of the plan, each from a predecessor α - e_i.
fn forward_tables(plan: &Plan) -> Vec<Polynomial> {
    let mut tables: Vec<Polynomial> = vec![vec![Monomial { order: 0, coefficient: 1.0, factors: vec![] }]];
    for component in 1..plan.len() {
        let (predecessor, input) = plan.predecessor(component);
        tables.push(coordinate_derivative(plan, &tables[predecessor], input));
    }
    tables
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

/// The derivative along a direction: z -> z + ε ż.
fn dot(polynomial: &Polynomial) -> Polynomial {
    let tangent = |component| Factor { bank: Bank::Tangent, component };
    let mut result = vec![];
    for monomial in polynomial {
        let mut chain = monomial.clone();
        chain.order += 1;
        chain.factors.push(tangent(0));
        result.push(chain);
        for place in 0..monomial.factors.len() {
            let mut term = monomial.clone();
            term.factors[place] = tangent(term.factors[place].component);
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
        let show = |p: &Polynomial| {
            p.iter()
                .map(|m| {
                    let factors: Vec<_> = m
                        .factors
                        .iter()
                        .map(|f| {
                            format!("{}{}", if f.bank == Bank::Argument { "z" } else { "d" }, f.component)
                        })
                        .collect();
                    format!("{}*s{}*{}", m.coefficient, m.order, factors.join("*"))
                })
                .collect::<Vec<_>>()
                .join(" + ")
        };
        assert_eq!(show(&tables.forward[2]), "1*s1*z2 + 1*s2*z1*z1");
        assert_eq!(show(&tables.tangent[2]), "1*s1*d2 + 2*s2*z1*d1 + 1*s2*z2*d0 + 1*s3*z1*z1*d0");
        assert_eq!(tables.highest_order, 4);
    }
}
