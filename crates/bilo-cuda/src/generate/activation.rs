//! Nonlinearities acting on jets: the tables of Faà di Bruno's rule as loops over the neurons of a tile.

use super::code::{Code, number};
use bilo_jet::{Activation, Bank, Factor, Monomial, Polynomial, derivative_polynomials};
use std::collections::BTreeSet;

/// Terms of a loop that is short: any of second order in a few coordinates.
const FEW_TERMS: usize = 40;

/// Planes that a loop reads, by the tables' banks: where the plane of component 0 begins in the workspace; further
/// components follow at the distance of a plane. Coefficients: where their first column begins.
#[derive(Clone, Copy)]
pub(super) struct Banks {
    pub(super) argument: usize,
    pub(super) tangent: usize,
    pub(super) adjoint: usize,
    pub(super) tangent_adjoint: usize,
    pub(super) coefficients: usize,
    pub(super) coefficient_tangents: usize,
}

impl Banks {
    /// Where nothing is read but the argument and the coefficients.
    pub(super) fn of_argument(argument: usize, coefficients: usize) -> Self {
        Self { argument, tangent: 0, adjoint: 0, tangent_adjoint: 0, coefficients, coefficient_tangents: 0 }
    }
}

/// Polynomials of one table with the banks that they read; several are added up.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) table: &'a [Polynomial],
    pub(super) banks: Banks,
}

/// The shape of the planes of a node.
#[derive(Clone, Copy)]
pub(super) struct Planes {
    pub(super) points: usize,
    pub(super) width: usize,
    pub(super) stride: usize,
    /// Where the nonlinearity's values are, and what `begin` keeps beside them.
    pub(super) value: usize,
    pub(super) aux: usize,
}

impl Planes {
    pub(super) fn size(&self) -> usize {
        self.points * self.stride
    }
}

/// Sums of polynomials over the neurons of a point, added up a quad of neurons at a time: columns of points by polynomial and
/// quad.
#[derive(Clone, Copy)]
pub(super) struct SumsByPoint<'a> {
    pub(super) table: &'a [Polynomial],
    pub(super) banks: Banks,
    /// Columns of a polynomial.
    pub(super) chunks: usize,
    pub(super) result: usize,
}

/// The first pass: the values of the nonlinearity and what its derivatives follow from, and all components of the result.
pub(super) fn begin(code: &mut Code, kind: Activation, planes: Planes, part: Part<'_>, result: usize) {
    sweep(code, kind, planes, Sweep { parts: &[part], result, add: false, sums: None, first: true });
}

/// result (+)= the sum of the parts, one plane per polynomial; and perhaps sums by point. A thread takes four
/// neighbouring neurons at a time.
pub(super) fn apply(
    code: &mut Code,
    kind: Activation,
    planes: Planes,
    parts: &[Part<'_>],
    (result, add): (usize, bool),
    sums: Option<SumsByPoint<'_>>,
) {
    sweep(code, kind, planes, Sweep { parts, result, add, sums, first: false });
}

/// One loop over the neurons of a tile.
struct Sweep<'a> {
    parts: &'a [Part<'a>],
    result: usize,
    add: bool,
    sums: Option<SumsByPoint<'a>>,
    /// Whether the values of the nonlinearity are yet to be made.
    first: bool,
}

fn sweep(code: &mut Code, kind: Activation, planes: Planes, sweep: Sweep<'_>) {
    let Planes { points, width, stride, value, aux } = planes;
    let Sweep { parts, result, add, sums, first } = sweep;
    let size = planes.size();
    let count = parts[0].table.len();
    let mut all = parts.to_vec();
    all.extend(sums.map(|SumsByPoint { table, banks, .. }| Part { table, banks }));
    // What is read and what is written are different planes: loads need not wait for stores.
    code.line("{ const real* __restrict__ from = work; real* __restrict__ to = work;");
    // Copies of a short loop wait for memory together; those of a long one take the compiler half a minute.
    if all.iter().map(|part| part.table.iter().flatten().count()).sum::<usize>() <= FEW_TERMS {
        code.line("#pragma unroll 3");
    }
    code.block(format!("EACH(v, {})", size / 4), |code| {
        code.line("const int i = 4*v;");
        let mut factors = load(code, planes, &all);
        if first {
            code.line("Four kept;");
        } else {
            code.line(format!("const Four s0_ = four(from + {value} + i), kept_ = four(from + {aux} + i);"));
            factors.extend(["s0".to_string(), "kept".to_string()]);
        }
        (0..count).for_each(|k| code.line(format!("Four y{k};")));
        let summed = sums.iter().flat_map(|sums| sums.table.iter().enumerate());
        let summed: Vec<usize> = summed.filter(|(_, p)| !p.is_empty()).map(|(k, _)| k).collect();
        summed.iter().for_each(|k| code.line(format!("real sum_{k} = 0;")));
        code.line("#pragma unroll");
        code.block("for (int n = 0; n < 4; n++)", |code| {
            factors.iter().for_each(|name| code.line(format!("const real {name} = {name}_.n[n];")));
            if first {
                begin_derivatives(code, kind);
            }
            derivatives(code, kind, highest(&all), if first { "kept1" } else { "kept" });
            // Places that fill a row up stay zero.
            let inside = if width < stride { format!("i % {stride} + n < {width}") } else { "true".into() };
            for k in 0..count {
                let terms = parts.iter().enumerate().map(|(part, p)| sum(&p.table[k], &Names { part }));
                let terms: Vec<String> = terms.collect();
                code.line(format!("y{k}.n[n] = {inside} ? {} : 0;", terms.join(" + ")));
            }
            for &k in &summed {
                let table = sums.expect("some are summed").table;
                code.line(format!(
                    "if ({inside}) sum_{k} += {};",
                    sum(&table[k], &Names { part: parts.len() })
                ));
            }
        });
        for k in 0..count {
            let at = format!("to + {} + i", result + k * size);
            if add {
                code.line(format!("const Four before{k} = four({at});"));
                code.line("#pragma unroll");
                code.line(format!("for (int n = 0; n < 4; n++) y{k}.n[n] += before{k}.n[n];"));
            }
            code.line(format!("put({at}, y{k});"));
        }
        if first {
            code.line(format!("put(to + {aux} + i, kept);"));
        }
        for k in summed {
            let SumsByPoint { chunks, result, .. } = sums.expect("some are summed");
            let first = result + k * chunks * points;
            code.line(format!(
                "to[{first} + v % {quads}*{points} + v / {quads}] += sum_{k};",
                quads = stride / 4
            ));
        }
    });
    code.line("}");
    code.barrier();
}

/// The highest derivative of the nonlinearity that the parts have.
fn highest(parts: &[Part<'_>]) -> usize {
    let monomials = parts.iter().flat_map(|part| part.table.iter().flatten());
    monomials.map(|monomial| monomial.order).max().unwrap_or(0)
}

/// Names of the factors of one part.
struct Names {
    part: usize,
}

impl Names {
    fn of(&self, factor: Factor) -> String {
        let letter = match factor.bank {
            Bank::Argument => return format!("z{}", factor.component),
            Bank::Coefficient => return format!("c{}", factor.component),
            Bank::Tangent => "d",
            Bank::Adjoint => "l",
            Bank::TangentAdjoint => "m",
            Bank::CoefficientTangent => "e",
        };
        format!("{letter}{}_{}", self.part, factor.component)
    }
}

/// Reads every factor once, four neurons of it, and says the names of those that differ from neuron to neuron; coefficients are
/// the same for all neurons of a point.
fn load(code: &mut Code, planes: Planes, parts: &[Part<'_>]) -> Vec<String> {
    let mut known = BTreeSet::from(["z0".to_string()]);
    let mut result = vec!["z0".to_string()];
    code.line(format!("const Four z0_ = four(from + {} + i);", parts[0].banks.argument));
    for (number, Part { table, banks }) in parts.iter().enumerate() {
        let names = Names { part: number };
        for &factor in table.iter().flatten().flat_map(|monomial| &monomial.factors) {
            let name = names.of(factor);
            if !known.insert(name.clone()) {
                continue;
            }
            let Factor { bank, component } = factor;
            let plane = |start: usize| start + component * planes.size();
            let column = |start: usize| start + component * planes.points;
            let place = match bank {
                Bank::Argument => plane(banks.argument),
                Bank::Tangent => plane(banks.tangent),
                Bank::Adjoint => plane(banks.adjoint),
                Bank::TangentAdjoint => plane(banks.tangent_adjoint),
                Bank::Coefficient => column(banks.coefficients),
                Bank::CoefficientTangent => column(banks.coefficient_tangents),
            };
            if matches!(bank, Bank::Coefficient | Bank::CoefficientTangent) {
                code.line(format!("const real {name} = from[{place} + i / {}];", planes.stride));
            } else {
                code.line(format!("const Four {name}_ = four(from + {place} + i);"));
                result.push(name);
            }
        }
    }
    result
}

/// The value s0 and what is kept beside it, of z0.
fn begin_derivatives(code: &mut Code, kind: Activation) {
    match kind {
        Activation::Tanh => code.line("real s0; tanh_and_slope(z0, s0, kept.n[n]);"),
        Activation::Sin => code.line("const real s0 = f_sin(z0); kept.n[n] = f_cos(z0);"),
        Activation::Softplus => code.line("const real s0 = f_softplus(z0); kept.n[n] = f_sigmoid(z0);"),
        Activation::Swish => code.line("kept.n[n] = f_sigmoid(z0); const real s0 = z0*kept.n[n];"),
    }
    code.line("const real kept1 = kept.n[n];");
}

/// s1, s2, .. from s0 and what was kept.
fn derivatives(code: &mut Code, kind: Activation, highest: usize, kept: &str) {
    let polynomials = derivative_polynomials(kind, highest.max(1));
    for order in 1..=highest {
        let value = match kind {
            Activation::Tanh if order == 1 => kept.into(),
            Activation::Tanh => format!("{kept}*({})", horner(&polynomials[order], "s0")),
            Activation::Sin if order == 1 => kept.into(),
            Activation::Sin => format!("-s{}", order - 2),
            Activation::Softplus => horner(&polynomials[order], kept),
            Activation::Swish => {
                let [here, below] = [order, order - 1].map(|k| horner(&polynomials[k], kept));
                format!("z0*({here}) + {order}*({below})")
            }
        };
        code.line(format!("const real s{order} = {value};"));
    }
}

fn horner(coefficients: &[f64], x: &str) -> String {
    let mut rest = coefficients.iter().rev();
    let first = number(*rest.next().expect("a polynomial has a coefficient"));
    rest.fold(first, |sum, &coefficient| match coefficient {
        0.0 => format!("({sum})*{x}"),
        _ => format!("({sum})*{x} + {}", number(coefficient)),
    })
}

/// A polynomial as an expression: terms with the same derivative of the nonlinearity stand together.
fn sum(polynomial: &[Monomial], names: &Names) -> String {
    let orders: BTreeSet<usize> = polynomial.iter().map(|monomial| monomial.order).collect();
    let groups: Vec<String> = orders
        .into_iter()
        .map(|order| {
            let terms: Vec<String> = polynomial
                .iter()
                .filter(|monomial| monomial.order == order)
                .map(|monomial| term(monomial, names))
                .collect();
            format!("s{order}*({})", terms.join(" + "))
        })
        .collect();
    if groups.is_empty() { "0".into() } else { groups.join(" + ") }
}

fn term(monomial: &Monomial, names: &Names) -> String {
    let mut factors: Vec<String> = monomial.factors.iter().map(|&factor| names.of(factor)).collect();
    if monomial.coefficient != 1.0 || factors.is_empty() {
        factors.insert(0, number(monomial.coefficient));
    }
    factors.join("*")
}
