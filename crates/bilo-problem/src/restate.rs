//! Residuals and forms, said as a textbook does: equations that hold, and conditions at places.

use crate::diagnostic::Result;
use crate::evaluate::names::{NET, Names};
use crate::model::{Equation, Formula, Layout, Problem, State};
use bilo_expr::{Ast, AstKind, Expr, Leaf, Operator, Symbol, parse};
use std::collections::BTreeMap;

/// Derivatives across a side that a form may hold: beams have three.
const ORDERS: usize = 4;

/// What is smaller on a side is zero: sin(pi) is 1.2e-16 to a computer.
const ROUNDING: f64 = 1e-14;

/// Values of each coordinate at which it is asked whether a choice of points leaves any out inside the domain.
const LOOKS: [f64; 5] = [0.07, 0.29, 0.5, 0.71, 0.93];

/// What a problem says in the words of a textbook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restatement {
    /// What becomes of each equation, in their order.
    pub equations: Vec<(String, RestatedEquation)>,
    /// What becomes of the form of each state, in their order.
    pub forms: Vec<(String, RestatedForm)>,
}

/// What becomes of an equation.
#[derive(Clone, Debug, PartialEq)]
pub enum RestatedEquation {
    /// It holds inside; whether its points stay stated, since they are a choice of a part of the domain.
    Inside {
        /// `left = right`
        holds: String,
        /// Whether its points stay stated.
        keep_points: bool,
    },
    /// It holds where some coordinates have certain values: a condition.
    Condition {
        /// `left = right`
        holds: String,
    },
    /// It stays as it is, for this reason.
    Kept(&'static str),
}

/// What becomes of a form.
#[derive(Clone, Debug, PartialEq)]
pub enum RestatedForm {
    /// The conditions that it holds.
    Conditions(Vec<HeldCondition>),
    /// It stays as it is, for this reason.
    Kept(&'static str),
}

/// A condition that a form holds.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldCondition {
    /// A name for it, such as `u-start`.
    pub name: String,
    /// The coordinate, and its values.
    pub at: (String, Vec<f64>),
    /// `left = right`
    pub holds: String,
}

/// Says a problem as a textbook does, as far as that is possible.
pub fn restate(problem: &Problem) -> Result<Restatement> {
    let equations = problem.equations.iter().map(|e| Ok((e.name.clone(), equation(problem, e)?)));
    let forms = problem.states.iter().map(|state| Ok((state.name.clone(), form(problem, state)?)));
    Ok(Restatement { equations: equations.collect::<Result<_>>()?, forms: forms.collect::<Result<_>>()? })
}

fn equation(problem: &Problem, equation: &Equation) -> Result<RestatedEquation> {
    let kept = |why| Ok(RestatedEquation::Kept(why));
    if equation.trained.is_some() {
        return kept("networks are trained for another equation");
    }
    if !problem.inputs.is_empty() {
        return kept("the problem has inputs for kinks, which are said by forms and residuals");
    }
    if !equation.points.moving.is_empty() {
        return kept("its place follows an unknown");
    }
    let holds = match equation.residual.is_equation() {
        true => equation.residual.text.clone(),
        false => as_equation(&equation.residual.text, problem),
    };
    if !equation.points.at.is_empty() {
        return Ok(RestatedEquation::Condition { holds });
    }
    let chosen = match &equation.points.filter {
        Some(filter) => leaves_out_inner_points(problem, filter)?,
        None => matches!(equation.points.layout, Layout::List(_)),
    };
    Ok(RestatedEquation::Inside { holds, keep_points: chosen })
}

/// Whether points inside the domain are left out, or may be.
fn leaves_out_inner_points(problem: &Problem, filter: &Formula) -> Result<bool> {
    let guess: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.guess).collect();
    let mut names = Names::with_scalars_at(problem, &guess);
    let filter = names.lower(filter)?;
    let mut places: Vec<Vec<f64>> = vec![vec![]];
    for coordinate in &problem.coordinates {
        let at = |share: f64| coordinate.lo + share * (coordinate.hi - coordinate.lo);
        let longer = |place: &Vec<f64>| LOOKS.map(|share| [&place[..], &[at(share)]].concat());
        places = places.iter().flat_map(longer).collect();
    }
    let kept = |place: Vec<f64>| {
        let mut at = BTreeMap::new();
        for (&symbol, value) in names.coordinates.iter().zip(place) {
            at.insert(Leaf::Symbol(symbol), names.graph.constant(value));
        }
        let value = names.graph.substitute(filter, &at);
        names.graph.as_constant(value).is_some_and(|value| value != 0.0)
    };
    Ok(!places.into_iter().all(kept))
}

/// `u_t - D*u_xx - f` as `u_t = D*u_xx + f`: what is differentiated by time stands alone, or else the first term.
fn as_equation(residual: &str, problem: &Problem) -> String {
    let Ok(ast) = parse(residual) else { return format!("{residual} = 0") };
    let mut terms = terms(&ast);
    let time = problem.coordinates.iter().find(|coordinate| coordinate.time);
    let is_rate = |&(term, positive): &(&str, bool)| {
        let is_name = term.chars().all(|c| c.is_alphanumeric() || c == '_');
        positive && is_name && time.is_some_and(|time| term.ends_with(&format!("_{}", time.name)))
    };
    if terms.len() == 1 {
        return format!("{residual} = 0");
    }
    let alone = terms.iter().position(is_rate).or(terms.iter().position(|(_, positive)| *positive));
    let (left, positive) = terms.remove(alone.unwrap_or(0));
    let left = if positive { left.to_owned() } else { format!("-{left}") };
    let mut right = String::new();
    for (term, positive) in terms {
        // On the other side signs are the other way round.
        right += match (positive, right.is_empty()) {
            (true, true) => "-",
            (true, false) => " - ",
            (false, true) => "",
            (false, false) => " + ",
        };
        right += term;
    }
    format!("{left} = {right}")
}

/// The terms of a sum without their signs, and whether these are positive; a sum in parentheses is one term.
fn terms(ast: &Ast) -> Vec<(&str, bool)> {
    let mut terms = vec![];
    let mut waiting = vec![(ast.root(), true)];
    while let Some((node, positive)) = waiting.pop() {
        let text = ast.source(node);
        let is_open = node == ast.root() || !closes_at_end(text);
        match ast.nodes()[node].kind {
            AstKind::Binary(Operator::Add, a, b) if is_open => {
                waiting.extend([(b, positive), (a, positive)]);
            }
            AstKind::Binary(Operator::Sub, a, b) if is_open => {
                waiting.extend([(b, !positive), (a, positive)]);
            }
            AstKind::Negate(a) if is_open => waiting.push((a, !positive)),
            // A sign binds tighter than a product: it stands before its first factor.
            AstKind::Binary(Operator::Mul | Operator::Div, ..) if is_open && text.starts_with('-') => {
                terms.push((text[1..].trim_start(), !positive));
            }
            _ => terms.push((text, positive)),
        }
    }
    terms
}

/// Whether a parenthesis at the beginning closes at the end.
fn closes_at_end(text: &str) -> bool {
    if !text.starts_with('(') {
        return false;
    }
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            return at + 1 == text.len();
        }
    }
    false
}

fn form(problem: &Problem, state: &State) -> Result<RestatedForm> {
    if !problem.inputs.is_empty() {
        return Ok(RestatedForm::Kept(
            "the problem has inputs for kinks, which are said by forms and residuals",
        ));
    }
    let mut face = Face::new(problem, state)?;
    if !face.is_affine() {
        return Ok(RestatedForm::Kept("it does more than hold conditions: it is not linear in `net`"));
    }
    let mut found: Vec<HeldCondition> = vec![];
    for (number, coordinate) in problem.coordinates.iter().enumerate().filter(|(_, c)| !c.periodic) {
        for end in [coordinate.lo, coordinate.hi] {
            for (order, value) in face.held(number, end).into_iter().enumerate() {
                let suffix = coordinate.name.repeat(order);
                let left = if order == 0 { state.name.clone() } else { format!("{}_{suffix}", state.name) };
                let holds = format!("{left} = {value}");
                let alike = |c: &&mut HeldCondition| c.holds == holds && c.at.0 == coordinate.name;
                if let Some(condition) = found.iter_mut().find(alike) {
                    condition.at.1.push(end);
                    continue;
                }
                let place = match (coordinate.time, end == coordinate.lo) {
                    (true, true) => "start".to_owned(),
                    (_, lower) => format!("{}-{}", coordinate.name, if lower { "lower" } else { "upper" }),
                };
                let name = [&left.replace('_', "-")[..], &place].join("-");
                let at = (coordinate.name.clone(), vec![end]);
                found.push(HeldCondition { name, at, holds });
            }
        }
    }
    for condition in found.iter_mut().filter(|condition| condition.at.1.len() > 1) {
        condition.name = condition.name.replace("-lower", "-ends");
    }
    Ok(RestatedForm::Conditions(found))
}

/// The form of a state, looked at on sides.
struct Face {
    names: Names,
    form: Expr,
    /// Constants keep their names in what is said, and have their values where it is asked what a form holds.
    constants: BTreeMap<Leaf, Expr>,
}

impl Face {
    fn new(problem: &Problem, state: &State) -> Result<Face> {
        let mut names = Names::new(&problem.with_unknowns_as_stated())?;
        let mut constants = BTreeMap::new();
        for constant in &problem.constants {
            let symbol = names.graph.symbol(&constant.name);
            let leaf = names.graph.leaf(symbol);
            names.scope.bind(&constant.name, leaf);
            constants.insert(Leaf::Symbol(symbol), names.graph.constant(constant.value));
        }
        let slots = names.coordinates.iter().map(|&c| names.graph.leaf(c)).collect();
        let net = names.graph.function(NET, slots);
        let value = names.graph.value(net);
        names.scope.bind(NET, value);
        let form = names.lower(&state.form)?;
        Ok(Face { names, form, constants })
    }

    /// The derivatives of the network in an expression.
    fn nets(&self, e: Expr) -> Vec<Leaf> {
        let is_net =
            |leaf: &Leaf| matches!(leaf, Leaf::Derivative(f, _) if self.names.graph.function_name(*f) == NET);
        self.names.graph.leaves(&[e]).into_iter().filter(is_net).collect()
    }

    fn is_affine(&mut self) -> bool {
        let nets = self.nets(self.form);
        nets.iter().all(|net| {
            let slope = self.names.graph.partial(self.form, net);
            self.nets(slope).is_empty()
        })
    }

    /// What the form holds on a side: its value there, its derivative across it, and so on, as long as no network
    /// has a say.
    fn held(&mut self, coordinate: usize, end: f64) -> Vec<String> {
        let symbol: Symbol = self.names.coordinates[coordinate];
        let mut held = vec![];
        let mut derivative = self.form;
        for _ in 0..ORDERS {
            let graph = &mut self.names.graph;
            let at = BTreeMap::from([(Leaf::Symbol(symbol), graph.constant(end))]);
            let there = graph.substitute(derivative, &at);
            let with_values = graph.substitute(there, &self.constants);
            if !self.nets(with_values).is_empty() {
                break;
            }
            // Factors of the network that are zero for these constants only.
            let nets = self.nets(there);
            let graph = &mut self.names.graph;
            let zero = graph.constant(0.0);
            let without = graph.substitute(there, &nets.into_iter().map(|net| (net, zero)).collect());
            let value = graph.substitute(without, &self.constants);
            let rounding = graph.as_constant(value).is_some_and(|value| value.abs() < ROUNDING);
            held.push(if rounding { "0".to_owned() } else { graph.display(without).to_string() });
            derivative = graph.diff(derivative, symbol);
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Overrides;
    use std::path::Path;

    fn problem(form: &str, residual: &str, points: &str) -> Problem {
        let text = format!(
            r#"
            name = "p"
            [coordinates]
            x = [0.0, 2.0]
            t = {{ range = [0.0, 1.0], time = true }}
            [constants]
            L = 2.0
            [unknown.D]
            guess = 1.0
            [state.u]
            form = "{form}"
            [equation.e]
            residual = "{residual}"
            points = {points}
            [observation.o]
            value = "D*u"
            data = {{ file = "d.csv" }}
            "#
        );
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("d.csv"), "x,t,value\n1,1,1\n").unwrap();
        let read = Problem::from_toml("p.toml", &text, folder.path() as &Path, &Overrides::default());
        read.unwrap_or_else(|error| panic!("{error}"))
    }

    const GRID: &str = "{ grid = { x = 9, t = 9 } }";

    fn holds(residual: &str) -> String {
        match restate(&problem("net*t", residual, GRID)).unwrap().equations.remove(0).1 {
            RestatedEquation::Inside { holds, keep_points: false } => holds,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn residuals_become_equations() {
        for (residual, expected) in [
            ("u_t - 0.01*D*u_xx - u*(1-u)", "u_t = 0.01*D*u_xx + u*(1-u)"),
            ("D*u_xx + u_t", "u_t = -D*u_xx"),
            ("-D*u_xx + u_t - (u + x - t)", "u_t = D*u_xx + (u + x - t)"),
            ("(u_xx + u) + 1", "(u_xx + u) = -1"),
            ("D*u_xx - u + (x - t)*(x + t)", "D*u_xx = u - (x - t)*(x + t)"),
            ("-u_xx - u", "-u_xx = u"),
            ("u_xx", "u_xx = 0"),
        ] {
            assert_eq!(holds(residual), expected, "{residual}");
        }
    }

    fn conditions(form: &str) -> Vec<(String, String, Vec<f64>, String)> {
        match restate(&problem(form, "u_t - u_xx", GRID)).unwrap().forms.remove(0).1 {
            RestatedForm::Conditions(found) => {
                found.into_iter().map(|c| (c.name, c.at.0, c.at.1, c.holds)).collect()
            }
            RestatedForm::Kept(why) => panic!("{why}"),
        }
    }

    #[test]
    fn forms_become_conditions() {
        let condition = |name: &str, at: &str, values: &[f64], holds: &str| {
            (name.to_owned(), at.to_owned(), values.to_vec(), holds.to_owned())
        };
        assert_eq!(
            conditions("sin(pi*x/L) + net*x*(L-x)*t"),
            [
                condition("u-x-ends", "x", &[0.0, 2.0], "u = 0"),
                condition("u-start", "t", &[0.0], "u = sin(pi*x/L)"),
            ]
        );
        assert_eq!(
            conditions("D*x + net*t^2"),
            [condition("u-start", "t", &[0.0], "u = x*D"), condition("u-t-start", "t", &[0.0], "u_t = 0")]
        );
        assert_eq!(
            conditions("0.1*net*x^2*(2-x)^2"),
            [
                condition("u-x-ends", "x", &[0.0, 2.0], "u = 0"),
                condition("u-x-x-ends", "x", &[0.0, 2.0], "u_x = 0"),
            ]
        );
        assert_eq!(conditions("net"), []);
        let positive = restate(&problem("exp(net)*t", "u_t - u_xx", GRID)).unwrap();
        assert!(matches!(positive.forms[0].1, RestatedForm::Kept(_)), "{positive:?}");
    }

    #[test]
    fn points_say_where_an_equation_holds() {
        let at = |points: &str| restate(&problem("net", "u_x - D", points)).unwrap().equations.remove(0).1;
        let inside = |keep_points| RestatedEquation::Inside { holds: "u_x = D".to_owned(), keep_points };
        assert_eq!(at("{ grid = { x = 9, t = 9 }, where = \"t > 0 or (x > 0 and x < 2)\" }"), inside(false));
        assert_eq!(at("{ grid = { x = 9, t = 9 }, where = \"x < 1\" }"), inside(true));
        assert_eq!(at("{ sobol = 50 }"), inside(false));
        let side = at("{ at = { x = 0.0 }, grid = { t = 9 } }");
        assert_eq!(side, RestatedEquation::Condition { holds: "u_x = D".to_owned() });
    }
}
