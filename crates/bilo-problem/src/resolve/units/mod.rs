//! Whether the units of equations, conditions and observations agree.
//!
//! A unit is a product of powers of base units, times a number. In logarithms it is a vector, and a name without a stated
//! unit, such as that of a state, is a vector that is not known yet. Sums, equations and arguments of functions say that
//! vectors are equal: linear equations, which are solved one after the other. One that cannot hold is an error where it
//! stands, if all its units are stated (that of a state by an observation of it); where a unit was found out from another
//! formula, or a number stands that may have one, it is something to look at.

mod celsius;
mod vector;

use crate::diagnostic::Result;
use crate::model::formula::Formula;
use crate::model::problem::Problem;
use crate::text::is_made_of;
use crate::tree::Places;
use crate::written::Written;
use bilo_expr::{Ast, AstKind, ExprError, FunctionalKind, NodeId, Operator, Range, Span};
use std::collections::BTreeMap;
use vector::{Key, ROUNDING, SCALE, Vector, parse, shown};

/// Factors of formulas that have no unit.
const PLAIN: [f64; 8] = [0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0];

/// What a number without a unit is called.
const NUMBER: &str = "a number";

/// The units that are stated, by name; `observation.NAME` for that of an observation.
pub(crate) fn stated(written: &Written) -> Vec<(String, String)> {
    let coordinates = written.coordinates.iter().map(|c| (c.name.clone(), &c.unit));
    let unknowns = written.unknowns.iter().map(|u| (u.name.clone(), &u.unit));
    let functions = written.functions.iter().map(|f| (f.name.clone(), &f.unit));
    let observations = written.observations.iter().map(|o| (format!("observation.{}", o.name), &o.unit));
    let all = coordinates.chain(unknowns).chain(functions).chain(observations);
    let all = all.filter_map(|(name, unit)| Some((name, unit.clone()?)));
    all.chain(written.constant_units.iter().cloned()).collect()
}

/// Checks the units of a problem, if any are stated; returns sentences on what may be meant but should be looked at.
pub(crate) fn check(problem: &Problem, stated: &[(String, String)], places: &Places) -> Result<Vec<String>> {
    if stated.is_empty() {
        return Ok(vec![]);
    }
    let mut known = BTreeMap::new();
    for (name, unit) in stated {
        let path = path_of(problem, name);
        let vector = parse(unit).map_err(|part| {
            let error = places.error(&path, format!("`{part}` is not a unit"));
            error.help("write units as `m^2/s`, `W/(m^2 K)` or `1/h`")
        })?;
        known.insert(name.clone(), vector);
    }
    for observation in &problem.observations {
        let state = observation.value.text.trim();
        let unit = known.get(&format!("observation.{}", observation.name)).cloned();
        if let (true, Some(unit)) = (problem.states.iter().any(|s| s.name == state), unit) {
            known.entry(state.to_owned()).or_insert(unit);
        }
    }
    let mut solver =
        Solver { problem, known, solved: BTreeMap::new(), remarks: vec![], about: String::new() };
    for equation in &problem.equations {
        let condition = problem.conditions.iter().any(|condition| condition.name == equation.name);
        if !condition {
            solver.about = format!("equation {}", equation.name);
            solver.formula(&equation.residual)?;
        }
    }
    for condition in &problem.conditions {
        solver.about = format!("condition {}", condition.name);
        solver.formula(&condition.holds)?;
    }
    for observation in &problem.observations {
        solver.about = format!("observation {}", observation.name);
        let unit = solver.formula(&observation.value)?;
        let whole = Span { start: 0, end: observation.value.text.len() };
        if let (Some(unit), Some(own)) =
            (unit, solver.known.get(&format!("observation.{}", observation.name)))
        {
            let own = own.clone();
            solver.same(&observation.value, whole, (&unit, "what is observed"), (&own, "the data"))?;
        }
    }
    solver.remarks.extend(celsius::remarks(problem, stated));
    Ok(solver.remarks)
}

fn path_of(problem: &Problem, name: &str) -> String {
    if name.starts_with("observation.") {
        return format!("{name}.unit");
    }
    let kind = match problem.coordinates.iter().any(|coordinate| coordinate.name == name) {
        true => "coordinates",
        false if problem.constants.iter().any(|constant| constant.name == name) => "constants",
        false => "unknown",
    };
    format!("{kind}.{name}.unit")
}

struct Solver<'a> {
    problem: &'a Problem,
    known: BTreeMap<String, Vector>,
    /// What names turned out to have.
    solved: BTreeMap<String, Vector>,
    remarks: Vec<String>,
    /// What is looked at.
    about: String,
}

/// The unit of an expression; none for a number that may have any, such as 20 in `u - 20`.
type Unit = Option<Vector>;

impl Solver<'_> {
    /// With everything that is known by now.
    fn reduced(&self, vector: &Vector) -> Vector {
        let mut reduced = vector.clone();
        let next = |vector: &Vector| {
            vector.0.iter().find_map(|(key, exponent)| match key {
                Key::Open(name) => Some((key.clone(), *exponent, self.solved.get(name)?)),
                Key::Base(_) => None,
            })
        };
        while let Some((key, exponent, known)) = next(&reduced) {
            reduced.0.remove(&key);
            reduced = reduced.plus(exponent, known);
        }
        reduced
    }

    /// Two units are the same; an error if they cannot be, a remark if a number is between them.
    fn same(
        &mut self,
        formula: &Formula,
        span: Span,
        (a, left): (&Vector, &str),
        (b, right): (&Vector, &str),
    ) -> Result<()> {
        let difference = self.reduced(&a.clone().plus(-1.0, b));
        let has_quantity = has_quantity(&formula.ast, span);
        if let Some((name, exponent)) = difference.first_open().map(|(n, e)| (n.clone(), e)) {
            // A number that may have a unit tells nothing of others.
            if has_quantity {
                return Ok(());
            }
            let mut rest = difference.clone();
            rest.0.remove(&Key::Open(name.clone()));
            self.solved.insert(name, rest.times(-1.0 / exponent));
            return Ok(());
        }
        if difference.0.is_empty() {
            return Ok(());
        }
        let found_out = [a, b].iter().any(|unit| unit.first_open().is_some());
        let (a, b) = (self.reduced(a).in_words(), self.reduced(b).in_words());
        let scale = difference.0.get(&Key::Base(SCALE.to_owned())).copied().unwrap_or(0.0);
        if difference.0.len() == 1 && scale != 0.0 {
            if !self.converts(&formula.ast, scale.exp()) {
                self.remarks.push(format!(
                    "in {} the units of {left} ({a}) and of {right} ({b}) differ by a factor of {}, unless a number in it \
                     converts them",
                    self.about,
                    shown(scale.abs().exp())
                ));
            }
            return Ok(());
        }
        let message = match right {
            NUMBER => format!("{left} has the unit {a}, where a number is needed"),
            _ => format!("the units do not agree: {left} has {a}, {right} {b}"),
        };
        if has_quantity || found_out {
            // Lengths and times in the arguments of functions are written as numbers as a rule.
            if right != NUMBER {
                let what = if has_quantity { "a number" } else { "a factor of 1" };
                self.remarks.push(format!("in {}, {message}, unless {what} in it has a unit", self.about));
            }
            return Ok(());
        }
        Err(formula.error(ExprError::new(span, message)))
    }

    /// The unit of a formula whose parts all agree.
    fn formula(&mut self, formula: &Formula) -> Result<Unit> {
        let mut units: Vec<Unit> = vec![];
        for id in 0..formula.ast.nodes().len() {
            let unit = self.node(formula, id, &units)?;
            units.push(unit);
        }
        Ok(units.pop().flatten())
    }

    fn node(&mut self, formula: &Formula, id: NodeId, units: &[Unit]) -> Result<Unit> {
        let ast = &formula.ast;
        let span = ast.nodes()[id].span;
        let none = Vector::default();
        Ok(match &ast.nodes()[id].kind {
            AstKind::Number(_) => None,
            AstKind::Name(name) => self.name(name),
            AstKind::Negate(a) | AstKind::Not(a) => units[*a].clone(),
            AstKind::Binary(Operator::Add | Operator::Sub | Operator::Compare(_), a, b) => {
                let nested = id != ast.root();
                let side = |operand: NodeId| match ast.nodes()[operand].kind {
                    // In `1 - u/K` it is a number, in `u = 1` it is what u is.
                    AstKind::Number(1.0) if nested => Some(Vector::default()),
                    _ => units[operand].clone(),
                };
                if let (Some(left), Some(right)) = (&side(*a), &side(*b)) {
                    let words = (format!("`{}`", ast.source(*a)), format!("`{}`", ast.source(*b)));
                    self.same(formula, span, (left, &words.0), (right, &words.1))?;
                }
                units[*a].clone().or_else(|| units[*b].clone())
            }
            AstKind::Binary(Operator::Mul, a, b) => {
                let pure =
                    |id: NodeId| units[id].as_ref().is_some_and(|unit| self.reduced(unit).0.is_empty());
                match (is_quantity(ast, *a) && pure(*b)) || (is_quantity(ast, *b) && pure(*a)) {
                    // 60 in `60*(1 - exp(-t/8))` has any unit, and so has the product.
                    true => None,
                    false => product(&units[*a], 1.0, &units[*b]),
                }
            }
            AstKind::Binary(Operator::Div, a, b) => product(&units[*a], -1.0, &units[*b]),
            AstKind::Binary(Operator::Pow, a, b) => match self.number(ast, *b) {
                Some(power) => units[*a].as_ref().map(|unit| unit.times(power)),
                None => {
                    self.pure(formula, *a, units)?;
                    self.pure(formula, *b, units)?;
                    Some(none)
                }
            },
            AstKind::Binary(..) => None,
            AstKind::Call(name, arguments) => self.call(formula, name, arguments, units)?,
            AstKind::Derivative(of, by) => {
                let mut unit = units[*of].clone();
                for (variable, _) in by {
                    unit = product(&unit, -1.0, &self.name(variable));
                }
                unit
            }
            AstKind::Functional(functional) => {
                let mut unit = units[functional.of].clone();
                for over in &functional.over {
                    let own = self.name(&over.variable);
                    for bound in over.range.bounds() {
                        if let (Some(own), Some(bound)) = (&own, &units[bound]) {
                            self.same(formula, span, (own, "the coordinate"), (bound, "its bound"))?;
                        }
                    }
                    let whole = !matches!(over.range, Range::At(_));
                    if functional.kind == FunctionalKind::Integral && whole {
                        unit = product(&unit, 1.0, &own);
                    }
                }
                unit
            }
        })
    }

    /// What a part made of numbers and constants without units comes to, such as the exponent `(1 - n)/n` of a flow law.
    fn number(&self, ast: &Ast, id: NodeId) -> Option<f64> {
        match &ast.nodes()[id].kind {
            AstKind::Number(number) => Some(*number),
            AstKind::Name(name) if !self.known.contains_key(name) => self.constant(name),
            AstKind::Negate(a) => Some(-self.number(ast, *a)?),
            AstKind::Binary(operator, a, b) => {
                let (a, b) = (self.number(ast, *a)?, self.number(ast, *b)?);
                match operator {
                    Operator::Add => Some(a + b),
                    Operator::Sub => Some(a - b),
                    Operator::Mul => Some(a * b),
                    Operator::Div => Some(a / b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn constant(&self, name: &str) -> Option<f64> {
        self.problem.constants.iter().find(|constant| constant.name == name).map(|constant| constant.value)
    }

    fn call(&mut self, formula: &Formula, name: &str, arguments: &[NodeId], units: &[Unit]) -> Result<Unit> {
        let first = arguments.first().and_then(|a| units[*a].clone());
        let space = self.problem.coordinates.iter().find(|coordinate| !coordinate.time);
        let length = space.map(|coordinate| coordinate.name.clone()).and_then(|name| self.name(&name));
        Ok(match name {
            "abs" => first,
            "sqrt" => first.map(|unit| unit.times(0.5)),
            "min" | "max" => self.alike(formula, arguments, units)?,
            "if" => self.alike(formula, &arguments[1.min(arguments.len())..], units)?,
            "sign" => Some(Vector::default()),
            "grad" | "div" => product(&first, -1.0, &length),
            "lap" => product(&first, -2.0, &length),
            "dot" => product(&first, 1.0, &arguments.get(1).and_then(|b| units[*b].clone())),
            _ => {
                for argument in arguments {
                    self.pure(formula, *argument, units)?;
                }
                Some(Vector::default())
            }
        })
    }

    /// All of one unit.
    fn alike(&mut self, formula: &Formula, arguments: &[NodeId], units: &[Unit]) -> Result<Unit> {
        let mut unit: Unit = None;
        for argument in arguments {
            if let (Some(known), Some(own)) = (&unit, &units[*argument]) {
                let span = formula.ast.nodes()[*argument].span;
                self.same(formula, span, (known, "what stands before it"), (own, "this"))?;
            }
            unit = unit.or_else(|| units[*argument].clone());
        }
        Ok(unit)
    }

    /// Whether a number of an expression, or a constant without a unit, is this factor, or one over it.
    fn converts(&self, ast: &Ast, factor: f64) -> bool {
        let near =
            |value: f64| (value / factor - 1.0).abs() < ROUNDING || (value * factor - 1.0).abs() < ROUNDING;
        ast.nodes().iter().any(|node| match &node.kind {
            AstKind::Number(value) => near(*value),
            AstKind::Name(name) if !self.known.contains_key(name) => self.constant(name).is_some_and(near),
            _ => false,
        })
    }

    /// A number without a unit.
    fn pure(&mut self, formula: &Formula, id: NodeId, units: &[Unit]) -> Result<()> {
        let Some(unit) = &units[id] else { return Ok(()) };
        let words = format!("`{}`", formula.ast.source(id));
        let span = formula.ast.nodes()[id].span;
        self.same(formula, span, (unit, &words), (&Vector::default(), NUMBER))
    }

    /// The unit of a name: that which is stated, else one to be found out.
    fn name(&mut self, name: &str) -> Unit {
        if bilo_expr::RESERVED.contains(&name) {
            return None;
        }
        if let Some(unit) = self.known.get(name) {
            return Some(unit.clone());
        }
        let coordinates: Vec<String> = self.problem.coordinates.iter().map(|c| c.name.clone()).collect();
        let letters: Vec<&str> = coordinates.iter().map(String::as_str).collect();
        let states = self.problem.states.iter().map(|state| state.name.clone());
        for state in states {
            let Some(by) = name.strip_prefix(&state).and_then(|rest| rest.strip_prefix('_')) else {
                continue;
            };
            if !is_made_of(by, &letters) {
                continue;
            }
            let mut unit = self.name(&state);
            let mut rest = by;
            while let Some(coordinate) = coordinates.iter().find(|c| rest.starts_with(c.as_str())) {
                unit = product(&unit, -1.0, &self.name(coordinate));
                rest = &rest[coordinate.len()..];
            }
            return unit;
        }
        // A constant without a unit may be a number or not: like one that is written out.
        let constant = self.problem.constants.iter().any(|constant| constant.name == name);
        (!constant).then(|| Vector::open(name))
    }
}

/// a b^power, where what has any unit has none in a product.
fn product(a: &Unit, power: f64, b: &Unit) -> Unit {
    match (a, b) {
        (None, None) => None,
        _ => {
            let (a, b) = (a.clone().unwrap_or_default(), b.clone().unwrap_or_default());
            Some(a.plus(power, &b))
        }
    }
}

/// Whether a number that multiplies or divides may well have a unit: `20` in `sin(pi*x/20)`, not `2` in `2*u_x`.
fn has_quantity(ast: &Ast, span: Span) -> bool {
    let inside = |other: Span| span.start <= other.start && other.end <= span.end;
    let quantity = |id: NodeId| is_quantity(ast, id);
    ast.nodes().iter().filter(|node| inside(node.span)).any(|node| match node.kind {
        AstKind::Binary(Operator::Mul, a, b) => quantity(a) || quantity(b),
        AstKind::Binary(Operator::Div, a, b) => {
            quantity(a) || matches!(ast.nodes()[b].kind, AstKind::Number(_))
        }
        _ => false,
    })
}

/// Whether it is a number that may well have a unit.
fn is_quantity(ast: &Ast, id: NodeId) -> bool {
    matches!(ast.nodes()[id].kind, AstKind::Number(value) if !PLAIN.contains(&value))
}

#[cfg(test)]
mod tests {
    use crate::{Overrides, Problem};
    use std::path::Path;

    const ROD: &str = r#"
        name = "rod"
        [coordinates]
        x = { range = [0.0, 0.5], unit = "m" }
        t = { range = [0.0, 3600.0], unit = "s", time = true }
        [constants]
        Ta = { value = 20.0, unit = "degC" }
        L = { value = 0.5, unit = "m" }
        [unknown.alpha]
        guess = 2e-5
        truth = 3e-5
        unit = "m^2/s"
        [unknown.h]
        guess = 2.0
        truth = 5.0
        unit = "1/m"
        [equation.heat]
        holds = "u_t = alpha*u_xx"
        [condition.start]
        at = { t = 0 }
        holds = "u = Ta + 60"
        [condition.left]
        at = { x = 0 }
        holds = "u_x = 0"
        [condition.right]
        at = { x = 0.5 }
        holds = "u_x = -h*(u - Ta)"
        [observation.probes]
        value = "u"
        unit = "K"
        data = { synthetic = { grid = { x = 4, t = 12 }, noise = 0.3 } }
    "#;

    fn changed(changes: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let mut text = ROD.to_owned();
        for (old, new) in changes {
            assert!(text.contains(old), "{old}");
            text = text.replace(old, new);
        }
        let read = Problem::from_toml("rod", &text, Path::new("."), &Overrides::default());
        read.map(|problem| problem.remarks).map_err(|error| error.headline())
    }

    #[test]
    fn what_agrees_passes() {
        assert_eq!(changed(&[]), Ok(vec![]));
        let mixed = [
            ("3600.0], unit = \"s\"", "1.0], unit = \"h\""),
            ("0.5], unit = \"m\"", "50.0], unit = \"cm\""),
            ("\"m^2/s\"", "\"cm^2/h\""),
            ("\"1/m\"", "\"1/cm\""),
            ("x = 0.5 }", "x = 50 }"),
        ];
        assert_eq!(changed(&mixed), Ok(vec![]));
        assert_eq!(changed(&[("alpha*u_xx", "alpha*u_xx*exp(-x/L)")]), Ok(vec![]));
        let converted = [("3600.0], unit = \"s\"", "1.0], unit = \"h\""), ("alpha*u_xx", "3600*alpha*u_xx")];
        assert_eq!(changed(&converted), Ok(vec![]));
        // Without a unit of the unknown there is nothing to be wrong.
        assert_eq!(changed(&[("unit = \"m^2/s\"", "")]), Ok(vec![]));
    }

    #[test]
    fn what_does_not_agree_is_named() {
        let cases: [(&[(&str, &str)], &str); 7] = [
            (&[("\"m^2/s\"", "\"W/(m K)\"")], "`u_t` has K/s, `alpha*u_xx` kg/m/s^3"),
            (&[("\"1/m\"", "\"W/(m^2 K)\"")], "`u_x` has K/m, `-h*(u - Ta)` kg/s^3"),
            (
                &[("value = 20.0, unit = \"degC\"", "value = 20.0, unit = \"W\"")],
                "`u` has K, `Ta + 60` kg m^2/s^3",
            ),
            (&[("unit = \"K\"", "unit = \"mol/L\"")], "`u` has 1000 mol/m^3, `Ta + 60` K"),
            (&[("alpha*u_xx", "alpha*u_xx*exp(-x)")], "`-x` has the unit m, where a number is needed"),
            (&[("alpha*u_xx", "alpha*u_xx - h*u")], "`alpha*u_xx` has"),
            (&[("alpha*u_xx", "alpha*u_xx*(1 - x)")], "`1` has 1, `x` m"),
        ];
        for (changes, expected) in cases {
            let error = changed(changes).unwrap_err();
            assert!(error.contains(expected), "{error}\nnot {expected}");
        }
    }

    /// Glen's law of ice: what it needs of a rate is a root, whose exponent is made of a constant.
    #[test]
    fn powers_may_be_parts() {
        let law = |exponent: &str| {
            let holds = format!("(alpha*t)^((1 - n)/n)*x^{exponent}*u_x");
            changed(&[
                ("u_x = 0\"", &format!("{holds} = 0*{holds} + u_x\"")),
                ("[constants]", "[constants]\nn = 3.0"),
            ])
        };
        // (m^2)^(-2/3) m^(4/3) is none.
        assert_eq!(law("(4/n)"), Ok(vec![]));
        let remarks = law("(1/3)").unwrap();
        assert!(remarks[0].contains("has K/m^2, `u_x` K/m"), "{remarks:?}");
    }

    /// A number may have the unit of the state, and a product of states a factor of 1 that has one.
    #[test]
    fn what_may_be_meant_is_no_error() {
        assert_eq!(changed(&[("Ta + 60", "20 + 60*(1 - exp(-x/0.1))")]), Ok(vec![]));
        let unseen = [("value = \"u\"", "value = \"u^2\""), ("alpha*u_xx", "alpha*u_xx - u^3")];
        let remarks = changed(&unseen).unwrap();
        assert!(remarks[0].contains("unless a factor of 1 in it has a unit"), "{remarks:?}");
    }

    /// From 20 degC a rod does not radiate as 20^4.
    #[test]
    fn absolute_temperatures_are_not_in_degrees_celsius() {
        let radiates = [("unit = \"K\"", "unit = \"degC\""), ("-h*(u - Ta)", "-h*5e-8*(u^4 - Ta^4)")];
        let remarks = changed(&radiates).unwrap().join("; ");
        assert!(remarks.contains("in condition right, `u` is in degC"), "{remarks}");
        assert!(remarks.contains("in condition right, `Ta` is in degC"), "{remarks}");
        assert_eq!(changed(&[("unit = \"K\"", "unit = \"degC\"")]), Ok(vec![]));
    }

    /// A factor may be meant: a number of the equation may convert.
    #[test]
    fn a_factor_between_units_is_remarked() {
        assert_eq!(changed(&[("alpha*u_xx", "alpha*u_xx*sin(pi*x/0.5)")]), Ok(vec![]));
        let remarks = changed(&[("alpha*u_xx", "alpha*u_xx + 0.01*u")]).unwrap();
        assert!(remarks[0].contains("unless a number in it has a unit"), "{remarks:?}");
        let named = [
            ("3600.0], unit = \"s\"", "1.0], unit = \"h\""),
            ("alpha*u_xx", "hour*alpha*u_xx"),
            ("[constants]", "[constants]\nhour = 3600.0"),
        ];
        assert_eq!(changed(&named), Ok(vec![]));
        let remarks = changed(&[("3600.0], unit = \"s\"", "1.0], unit = \"h\"")]).unwrap();
        assert!(remarks[0].contains("equation heat") && remarks[0].contains("3600"), "{remarks:?}");
    }
}
