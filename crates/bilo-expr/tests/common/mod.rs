//! A slow, obvious oracle: the tree is evaluated by recursion, with value and two derivatives in one direction.

use std::collections::BTreeMap;

use bilo_expr::{Ast, AstKind, Comparison, Operator};
use proptest::prelude::*;

/// `f`, `f'` and `f''` along a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jet(pub f64, pub f64, pub f64);

impl Jet {
    fn constant(v: f64) -> Jet {
        Jet(v, 0.0, 0.0)
    }

    fn mul(self, o: Jet) -> Jet {
        Jet(self.0 * o.0, self.1 * o.0 + self.0 * o.1, self.2 * o.0 + 2.0 * self.1 * o.1 + self.0 * o.2)
    }

    /// `g(f)` from the value and two derivatives of `g`.
    fn chain(self, g: f64, g1: f64, g2: f64) -> Jet {
        Jet(g, g1 * self.1, g2 * self.1 * self.1 + g1 * self.2)
    }

    fn recip(self) -> Jet {
        let v = self.0;
        self.chain(1.0 / v, -1.0 / (v * v), 2.0 / (v * v * v))
    }

    fn size(self) -> f64 {
        self.0.abs().max(self.1.abs()).max(self.2.abs())
    }
}

pub(crate) struct Oracle<'a> {
    pub ast: &'a Ast,
    pub names: &'a BTreeMap<&'static str, Jet>,
    /// The largest number met on the way: rounding errors are in proportion to it.
    pub largest: f64,
}

impl Oracle<'_> {
    pub(crate) fn evaluate(&mut self, id: usize) -> Jet {
        let kind = self.ast.nodes()[id].kind.clone();
        let jet = match kind {
            AstKind::Number(v) => Jet::constant(v),
            AstKind::Name(name) if name == "pi" => Jet::constant(std::f64::consts::PI),
            AstKind::Name(name) => self.names[name.as_str()],
            AstKind::Negate(a) => self.evaluate(a).mul(Jet::constant(-1.0)),
            AstKind::Not(a) => truth(self.evaluate(a).0 == 0.0),
            AstKind::Binary(op, a, b) => {
                let (a, b) = (self.evaluate(a), self.evaluate(b));
                binary(op, a, b)
            }
            AstKind::Call(name, arguments) => {
                let arguments: Vec<Jet> = arguments.iter().map(|&a| self.evaluate(a)).collect();
                call(&name, &arguments)
            }
            AstKind::Derivative(..) | AstKind::Functional(_) => unreachable!("not generated"),
        };
        self.largest = self.largest.max(jet.size());
        jet
    }
}

fn truth(holds: bool) -> Jet {
    Jet::constant(if holds { 1.0 } else { 0.0 })
}

fn binary(op: Operator, a: Jet, b: Jet) -> Jet {
    match op {
        Operator::Add => Jet(a.0 + b.0, a.1 + b.1, a.2 + b.2),
        Operator::Sub => Jet(a.0 - b.0, a.1 - b.1, a.2 - b.2),
        Operator::Mul => a.mul(b),
        Operator::Div => a.mul(b.recip()),
        Operator::Pow => {
            // Only constant exponents are generated.
            let (v, n) = (a.0, b.0);
            a.chain(v.powf(n), n * v.powf(n - 1.0), n * (n - 1.0) * v.powf(n - 2.0))
        }
        Operator::Compare(c) => truth(match c {
            Comparison::Less => a.0 < b.0,
            Comparison::LessEqual => a.0 <= b.0,
            Comparison::Greater => a.0 > b.0,
            Comparison::GreaterEqual => a.0 >= b.0,
            Comparison::Equal => a.0 == b.0,
            Comparison::NotEqual => a.0 != b.0,
        }),
        Operator::And => truth(a.0 != 0.0 && b.0 != 0.0),
        Operator::Or => truth(a.0 != 0.0 || b.0 != 0.0),
    }
}

fn call(name: &str, arguments: &[Jet]) -> Jet {
    let a = arguments[0];
    let v = a.0;
    let logistic = 1.0 / (1.0 + (-v).exp());
    let bell = 2.0 / std::f64::consts::PI.sqrt() * (-v * v).exp();
    match name {
        "sin" => a.chain(v.sin(), v.cos(), -v.sin()),
        "cos" => a.chain(v.cos(), -v.sin(), -v.cos()),
        "atan" => a.chain(v.atan(), 1.0 / (1.0 + v * v), -2.0 * v / (1.0 + v * v).powi(2)),
        "tanh" => {
            let t = v.tanh();
            a.chain(t, 1.0 - t * t, -2.0 * t * (1.0 - t * t))
        }
        "exp" => a.chain(v.exp(), v.exp(), v.exp()),
        "log" => a.chain(v.ln(), 1.0 / v, -1.0 / (v * v)),
        "sqrt" => a.chain(v.sqrt(), 0.5 / v.sqrt(), -0.25 / (v * v.sqrt())),
        "sigmoid" => {
            let slope = logistic * (1.0 - logistic);
            a.chain(logistic, slope, slope * (1.0 - 2.0 * logistic))
        }
        "softplus" => a.chain(v.exp().ln_1p(), logistic, logistic * (1.0 - logistic)),
        "erf" => a.chain(libm::erf(v), bell, -2.0 * v * bell),
        "abs" => a.mul(call("sign", arguments)),
        "sign" => Jet::constant(if v == 0.0 { 0.0 } else { v.signum() }),
        "min" => {
            if arguments[1].0 < v {
                arguments[1]
            } else {
                a
            }
        }
        "max" => {
            if arguments[1].0 > v {
                arguments[1]
            } else {
                a
            }
        }
        "if" => {
            if v != 0.0 {
                arguments[1]
            } else {
                arguments[2]
            }
        }
        other => unreachable!("{other} is not generated"),
    }
}

/// Texts of smooth expressions in `x`, `y`, `D` that stay of moderate size.
pub(crate) fn smooth() -> BoxedStrategy<String> {
    leaf().prop_recursive(5, 40, 3, smooth_step).boxed()
}

/// The same with kinks, comparisons and choices.
pub(crate) fn any_expression() -> BoxedStrategy<String> {
    leaf()
        .prop_recursive(5, 40, 3, |inner| {
            let three = (inner.clone(), inner.clone(), inner.clone());
            prop_oneof![
                4 => smooth_step(inner),
                1 => three.clone().prop_map(|(a, b, c)| format!("if({a} < {b}, {c}, {a})")),
                1 => three.clone().prop_map(|(a, b, c)| format!("if({a} > 0 and not {b} >= 1, {b}, {c})")),
                1 => three.clone().prop_map(|(a, b, c)| format!("({a} <= {b} or {c} != 0)")),
                1 => three.prop_map(|(a, b, c)| format!("max({a}, min({b}, {c}))")),
            ]
        })
        .boxed()
}

fn leaf() -> BoxedStrategy<String> {
    let number = (1_i32..400).prop_map(|n| format!("{}", f64::from(n) / 100.0));
    prop_oneof![
        3 => prop::sample::select(vec!["x", "y", "D"]).prop_map(String::from),
        1 => number,
        1 => Just("pi".to_string()),
    ]
    .boxed()
}

fn smooth_step(inner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let two = (inner.clone(), inner.clone());
    let function = prop::sample::select(vec!["sin", "cos", "tanh", "atan", "sigmoid", "softplus", "erf"]);
    prop_oneof![
        3 => (two.clone(), prop::sample::select(vec!["+", "-", "*"]))
            .prop_map(|((a, b), op)| format!("({a} {op} {b})")),
        1 => two.clone().prop_map(|(a, b)| format!("{a}/(1.5 + cos({b}))")),
        2 => (function, inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
        1 => inner.clone().prop_map(|a| format!("exp(-sin({a}))")),
        1 => inner.clone().prop_map(|a| format!("sqrt(1 + ({a})^2)")),
        1 => inner.clone().prop_map(|a| format!("log(1 + ({a})^2)")),
        1 => (inner.clone(), prop::sample::select(vec!["2", "3", "5"]))
            .prop_map(|(a, n)| format!("tanh({a})^{n}")),
        1 => (inner.clone(), prop::sample::select(vec!["-1", "-2", "1.5", "-3"]))
            .prop_map(|(a, n)| format!("(1.5 + sin({a}))^{n}")),
        1 => inner.prop_map(|a| format!("-{a}")),
    ]
    .boxed()
}
