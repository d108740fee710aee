//! What is observed as a sum of terms: `gain*mean(u, x) + offset`, `u(x = 0.4) - u(x = 0.1)`.
//!
//! The value f(A_1, .., A_n) is affine in its functionals A_k, so that it is f(0) plus f(.., A_k, ..) - f(0) for each, which
//! is linear in A_k: what it makes of an integrand is integrated in its place.

use crate::diagnostic::{Result, suggest};
use crate::model::domain::Coordinate;
use crate::model::formula::Formula;
use crate::model::observation::{Bound, BoundTo, Term};
use crate::resolve::points::Ground;
use bilo_expr::{Ast, AstKind, ExprError, Functional, FunctionalKind, NodeId, Operator, Range, Span};

/// The terms of an observed quantity.
pub(crate) fn terms(value: &Formula, ground: Ground<'_>) -> Result<Vec<Term>> {
    let reader = Reader { value, ground };
    let functionals = reader.functionals()?;
    if functionals.is_empty() {
        return Ok(vec![Term { integrand: value.clone(), over: vec![] }]);
    }
    reader.require_affine()?;
    let constant = reader.with(&functionals, None)?;
    let has_constant = reader.has_constant(value.ast.root());
    let mut terms = vec![];
    for (number, (_, functional)) in functionals.iter().enumerate() {
        let whole = reader.with(&functionals, Some(number))?;
        let linear = if has_constant { format!("({whole}) - ({constant})") } else { whole };
        terms.push(Term {
            integrand: Formula::parse(&linear, value.origin.clone())?,
            over: reader.over(functional)?,
        });
    }
    if has_constant {
        terms.push(Term { integrand: Formula::parse(&constant, value.origin.clone())?, over: vec![] });
    }
    Ok(terms)
}

/// The coordinates that data of these terms need not have, by number.
pub(crate) fn absent(terms: &[Term], states: &[&str], ground: Ground<'_>) -> Vec<usize> {
    let names_it = |formula: &Formula, coordinate: &Coordinate| {
        formula.ast.names().iter().any(|(name, _)| *name == coordinate.name)
    };
    let is_bound = |term: &Term, number: usize| {
        let coordinate = &ground.coordinates[number];
        let Some(bound) = term.over.iter().find(|bound| bound.coordinate == number) else {
            // A number that is the same everywhere needs no place.
            let names = term.integrand.ast.names();
            let number = |name: &str| {
                ground.constants.iter().any(|c| c.name == name)
                    || ground.unknowns.iter().any(|u| u.name == name)
            };
            return names.iter().all(|(name, _)| number(name) && !states.contains(name));
        };
        match &bound.to {
            BoundTo::Place(place) => !names_it(place, coordinate),
            BoundTo::Window { from, to, .. } => !names_it(from, coordinate) && !names_it(to, coordinate),
        }
    };
    (0..ground.coordinates.len()).filter(|&c| terms.iter().all(|term| is_bound(term, c))).collect()
}

struct Reader<'a> {
    value: &'a Formula,
    ground: Ground<'a>,
}

impl Reader<'_> {
    fn ast(&self) -> &Ast {
        &self.value.ast
    }

    fn error<T>(&self, span: Span, message: &str, help: &str) -> Result<T> {
        Err(self.value.error(ExprError::new(span, message).help(help)))
    }

    /// All functionals with where they stand; none within another.
    fn functionals(&self) -> Result<Vec<(Span, Functional)>> {
        let mut found: Vec<(Span, Functional)> = vec![];
        for node in self.ast().nodes() {
            let AstKind::Functional(functional) = &node.kind else { continue };
            if found.iter().any(|(span, _)| node.span.start <= span.start && span.end <= node.span.end) {
                let help = "integrate over several coordinates at once: `integral(u, x, y)`";
                return self.error(node.span, "a mean, integral or place within another", help);
            }
            found.push((node.span, functional.clone()));
        }
        Ok(found)
    }

    /// The text with zeros for all functionals but one, which is replaced by its integrand.
    fn with(&self, functionals: &[(Span, Functional)], kept: Option<usize>) -> Result<String> {
        let mut text = self.value.text.clone();
        for (number, (span, functional)) in functionals.iter().enumerate().rev() {
            let integrand = format!("({})", self.ast().source(functional.of));
            let by = if kept == Some(number) { &integrand } else { "0" };
            text.replace_range(span.start..span.end, by);
        }
        Ok(text)
    }

    /// How often functionals are multiplied with each other, by node; an error where they are in anything but sums and
    /// products with numbers.
    fn require_affine(&self) -> Result<()> {
        let mut degrees: Vec<bool> = vec![];
        for (id, node) in self.ast().nodes().iter().enumerate() {
            let has = match &node.kind {
                AstKind::Number(_) | AstKind::Name(_) => false,
                AstKind::Functional(_) => true,
                AstKind::Negate(a) => degrees[*a],
                AstKind::Binary(Operator::Add | Operator::Sub, a, b) => degrees[*a] || degrees[*b],
                AstKind::Binary(Operator::Mul, a, b) if !(degrees[*a] && degrees[*b]) => {
                    let (has, other) = if degrees[*a] { (*a, *b) } else { (*b, *a) };
                    if degrees[has] {
                        self.require_number(other)?;
                    }
                    degrees[has]
                }
                AstKind::Binary(Operator::Div, a, b) if !degrees[*b] => {
                    if degrees[*a] {
                        self.require_number(*b)?;
                    }
                    degrees[*a]
                }
                kind => {
                    if operands(kind).iter().any(|&operand| degrees[operand]) {
                        let message =
                            "means, integrals and places can be added and multiplied by numbers only";
                        let help = "observe each of them, or their sum";
                        return self.error(self.ast().nodes()[id].span, message, help);
                    }
                    false
                }
            };
            degrees.push(has);
        }
        Ok(())
    }

    /// What multiplies a functional is the same everywhere.
    fn require_number(&self, id: NodeId) -> Result<()> {
        let span = self.ast().nodes()[id].span;
        let Ground { constants, unknowns, .. } = self.ground;
        for (name, at) in self.ast().names() {
            let inside = span.start <= at.start && at.end <= span.end;
            let number = constants.iter().any(|c| c.name == name) || unknowns.iter().any(|u| u.name == name);
            if inside && !number && self.is_bound(name) {
                let message = format!("`{name}` has no value outside of the mean or integral over it");
                let help =
                    "what multiplies it at each place stands inside; quotients of means are not observed";
                return self.error(at, &message, help);
            }
            if inside && !number {
                let message = format!("`{name}` is not the same at all places");
                return self.error(at, &message, "write it inside of the mean, integral or place");
            }
        }
        Ok(())
    }

    /// Whether a mean, integral or place is over a coordinate.
    fn is_bound(&self, name: &str) -> bool {
        let over = |kind: &AstKind| match kind {
            AstKind::Functional(functional) => functional.over.iter().any(|over| over.variable == name),
            _ => false,
        };
        self.ast().nodes().iter().any(|node| over(&node.kind))
    }

    /// Whether something is added to functionals.
    fn has_constant(&self, id: NodeId) -> bool {
        match &self.ast().nodes()[id].kind {
            AstKind::Functional(_) => false,
            AstKind::Negate(a) | AstKind::Binary(Operator::Div, a, _) => self.has_constant(*a),
            AstKind::Binary(Operator::Mul, a, b) => self.has_constant(*a) && self.has_constant(*b),
            AstKind::Binary(_, a, b) => self.has_constant(*a) || self.has_constant(*b),
            _ => true,
        }
    }

    fn over(&self, functional: &Functional) -> Result<Vec<Bound>> {
        let mut over: Vec<Bound> = vec![];
        for bound in &functional.over {
            let coordinates = self.ground.coordinates;
            let Some(number) = coordinates.iter().position(|c| c.name == bound.variable) else {
                let message = format!("`{}` is not a coordinate", bound.variable);
                let help = suggest(&bound.variable, coordinates.iter().map(|c| c.name.as_str()));
                return self.error(bound.span, &message, &help);
            };
            if over.iter().any(|other| other.coordinate == number) {
                return self.error(bound.span, "this coordinate stands here twice", "leave one out");
            }
            over.push(Bound { coordinate: number, to: self.bound(functional.kind, bound.range, number)? });
        }
        Ok(over)
    }

    fn bound(&self, kind: FunctionalKind, range: Range, coordinate: usize) -> Result<BoundTo> {
        let mean = kind == FunctionalKind::Mean;
        let Coordinate { lo, hi, .. } = self.ground.coordinates[coordinate];
        let number = |value: f64| Formula::parse(&format!("{value:?}"), self.value.origin.clone());
        Ok(match range {
            Range::Whole => BoundTo::Window { from: number(lo)?, to: number(hi)?, mean },
            Range::At(at) => BoundTo::Place(self.end(at)?),
            Range::Between(from, to) => BoundTo::Window { from: self.end(from)?, to: self.end(to)?, mean },
        })
    }

    /// The end of a window, a formula of constants and coordinates.
    fn end(&self, id: NodeId) -> Result<Formula> {
        let span = self.ast().nodes()[id].span;
        for (name, at) in self.ast().names() {
            let inside = span.start <= at.start && at.end <= span.end;
            let Ground { coordinates, constants, .. } = self.ground;
            let known =
                constants.iter().any(|c| c.name == name) || coordinates.iter().any(|c| c.name == name);
            if inside && !known {
                let message = format!("`{name}` cannot say where it is observed");
                return self.error(at, &message, "write a number, a constant or a coordinate of the data");
            }
        }
        Formula::parse(self.ast().source(id), self.value.origin.clone())
    }
}

fn operands(kind: &AstKind) -> Vec<NodeId> {
    match kind {
        AstKind::Number(_) | AstKind::Name(_) | AstKind::Functional(_) => vec![],
        AstKind::Negate(a) | AstKind::Not(a) | AstKind::Derivative(a, _) => vec![*a],
        AstKind::Binary(_, a, b) => vec![*a, *b],
        AstKind::Call(_, operands) => operands.clone(),
    }
}
