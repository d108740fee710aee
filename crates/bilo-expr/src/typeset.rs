//! Formulas as print sets them, for pages and terminals alike.
//!
//! They are made from the text's tree, not from the graph: a reader wants to see what the author wrote, `-div(D grad u)`
//! and not what became of it.

mod plain;
mod symbols;

use crate::ast::{Ast, AstKind, Functional, FunctionalKind, Operator, Over};
use crate::{parse, parse_equation};
use symbols::{number, symbol};

/// What names in formulas mean.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Names of their own: `u_wt` among them is no derivative.
    pub declared: Vec<String>,
    /// What derivatives are by.
    pub variables: Vec<String>,
}

/// A formula in terms of what print knows. Its [`Display`](std::fmt::Display) is a line of text.
#[derive(Clone, Debug, PartialEq)]
pub enum Math {
    /// A letter or a word that names something.
    Letter(String),
    /// A word below a letter.
    Upright(String),
    /// Digits.
    Number(String),
    /// A sign that belongs to what follows or stands alone.
    Sign(&'static str),
    /// A sign between two things.
    Infix(&'static str),
    /// Words between two things.
    Words(&'static str),
    /// A small space between factors.
    Thin,
    /// A product whose sign is not shown.
    Times,
    /// One after the other.
    Row(Vec<Math>),
    /// A part that belongs together.
    Group(Box<Math>),
    /// What is above and below a line.
    Fraction(Box<Math>, Box<Math>),
    /// A base with an exponent.
    Raised(Box<Math>, Box<Math>),
    /// A base with an index.
    Lowered(Box<Math>, Box<Math>),
    /// A sign with a lower and an upper bound.
    Bounded(&'static str, Box<Math>, Box<Math>),
    /// A square root.
    Root(Box<Math>),
    /// A letter with a bar.
    Bar(Box<Math>),
    /// A value where a condition holds, and another elsewhere.
    Cases([Box<Math>; 3]),
}

/// The formula of an expression, or of `left = right`; none if it is neither.
pub fn typeset(text: &str, names: &Names) -> Option<Math> {
    if let Ok(ast) = parse(text) {
        let root = ast.root();
        return pieces(&ast, names)[root].take().map(|piece| piece.math);
    }
    let ast = parse_equation(text).ok()?;
    let AstKind::Binary(_, left, right) = ast.nodes()[ast.root()].kind else { return None };
    // The last node, the difference of both sides, is not wanted.
    let sides = Ast { text: String::new(), nodes: ast.nodes()[..ast.root()].to_vec() };
    let mut pieces = pieces(&sides, names);
    let (left, right) = (pieces[left].take()?, pieces[right].take()?);
    Some(row([left.math, Math::Infix("="), right.math]))
}

/// How tightly a piece holds together, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Or,
    And,
    Compare,
    Sum,
    Product,
    /// Raised to a power it would be misread: `x^2`, a fraction, a function of something.
    Power,
    Atom,
}

/// What a product shows at its seam.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edge {
    Letter,
    Number,
    /// Letters that would run together with their neighbours.
    Word,
    Function,
}

#[derive(Clone, Debug)]
struct Piece {
    math: Math,
    level: Level,
    first: Edge,
    last: Edge,
    /// Name and arguments of a function, for `sin^2(x)`.
    call: Option<(Math, Math)>,
    /// Begins with a minus that may stay outside of a product.
    negated: bool,
}

impl Piece {
    fn new(math: Math, level: Level) -> Piece {
        Piece { math, level, first: Edge::Letter, last: Edge::Letter, call: None, negated: false }
    }

    fn atom(math: Math) -> Piece {
        Piece::new(math, Level::Atom)
    }

    /// In parentheses if it is looser than its surroundings.
    fn within(self, level: Level) -> Math {
        if self.level < level { parenthesised(self.math) } else { self.math }
    }
}

/// Parts one after the other; rows among them become part of it, so that long sums are not deep.
fn row(parts: impl IntoIterator<Item = Math>) -> Math {
    let mut all = vec![];
    for part in parts {
        match part {
            Math::Row(inner) if all.is_empty() => all = inner,
            Math::Row(inner) => all.extend(inner),
            other => all.push(other),
        }
    }
    Math::Row(all)
}

fn group(math: Math) -> Math {
    Math::Group(Box::new(math))
}

fn parenthesised(math: Math) -> Math {
    group(row([Math::Sign("("), math, Math::Sign(")")]))
}

fn fraction(above: Math, below: Math) -> Math {
    Math::Fraction(Box::new(above), Box::new(below))
}

fn raised(base: Math, exponent: Math) -> Math {
    Math::Raised(Box::new(base), Box::new(exponent))
}

fn lowered(base: Math, index: Math) -> Math {
    Math::Lowered(Box::new(base), Box::new(index))
}

/// All pieces, those alone that no other took.
fn pieces(ast: &Ast, names: &Names) -> Vec<Option<Piece>> {
    // Operands stand before operators, so one pass from the first node to the last needs no recursion.
    let mut made: Vec<Option<Piece>> = Vec::with_capacity(ast.nodes().len());
    for node in ast.nodes() {
        let piece = piece(&node.kind, &mut made, names);
        made.push(Some(piece));
    }
    made
}

fn piece(kind: &AstKind, made: &mut [Option<Piece>], names: &Names) -> Piece {
    // Every operand belongs to one operator, which takes it.
    let mut take = |id: usize| made[id].take().unwrap_or_else(|| Piece::atom(Math::Row(vec![])));
    match kind {
        AstKind::Number(value) => Piece { first: Edge::Number, ..Piece::atom(number(*value)) },
        AstKind::Name(name) => name_or_derivative(name, names),
        AstKind::Negate(a) => {
            let math = row([Math::Sign("−"), take(*a).within(Level::Product)]);
            Piece { negated: true, ..Piece::new(math, Level::Sum) }
        }
        AstKind::Not(a) => {
            Piece::new(row([Math::Words("not "), take(*a).within(Level::Compare)]), Level::And)
        }
        AstKind::Binary(operator, a, b) => binary(*operator, take(*a), take(*b)),
        AstKind::Call(name, arguments) => call(name, arguments.iter().map(|&a| take(a)).collect()),
        AstKind::Derivative(of, by) => {
            let by: Vec<&str> = by.iter().map(|(name, _)| name.as_str()).collect();
            let of = take(*of).within(Level::Atom);
            Piece::new(row([fraction_of(None, &by), of]), Level::Power)
        }
        AstKind::Functional(functional) => set_functional(functional, names, &mut take),
    }
}

/// An integral sign for every coordinate, angle brackets for a mean, a bar for a place.
fn set_functional(functional: &Functional, names: &Names, take: &mut dyn FnMut(usize) -> Piece) -> Piece {
    let of = take(functional.of);
    let letter = |over: &Over| name_or_derivative(&over.variable, names).math;
    let mut bounds: Vec<Vec<Math>> = vec![];
    for over in &functional.over {
        bounds.push(over.range.bounds().into_iter().map(|end| take(end).math).collect());
    }
    let each = functional.over.iter().zip(bounds);
    if functional.kind == FunctionalKind::Integral {
        let mut math = of.within(Level::Product);
        for (over, ends) in each.rev() {
            let sign = match <[Math; 2]>::try_from(ends) {
                Ok([lo, hi]) => Math::Bounded("∫", Box::new(group(lo)), Box::new(group(hi))),
                Err(_) => Math::Sign("∫"),
            };
            math = row([sign, math, Math::Thin, Math::Letter("d".to_owned()), letter(over)]);
        }
        return Piece::new(math, Level::Product);
    }
    let mut held = vec![];
    for (number, (over, ends)) in each.enumerate() {
        held.extend((number > 0).then_some(Math::Sign(",")));
        held.push(letter(over));
        match ends.len() {
            0 => {}
            1 => held.extend([vec![Math::Infix("=")], ends].concat()),
            _ => held.extend([Math::Infix("∈"), interval(ends)]),
        }
    }
    let whole = match functional.kind {
        FunctionalKind::Place => row([of.within(Level::Atom), Math::Sign("|")]),
        _ => row([Math::Sign("⟨"), of.math, Math::Sign("⟩")]),
    };
    Piece::new(lowered(group(whole), group(row(held))), Level::Power)
}

/// `[a, b]`
fn interval(ends: Vec<Math>) -> Math {
    let mut all = vec![Math::Sign("[")];
    all.extend(separated(ends));
    all.push(Math::Sign("]"));
    row(all)
}

fn separated(parts: Vec<Math>) -> Vec<Math> {
    let mut all = vec![];
    for (number, part) in parts.into_iter().enumerate() {
        all.extend((number > 0).then_some(Math::Sign(",")));
        all.push(part);
    }
    all
}

fn binary(operator: Operator, a: Piece, b: Piece) -> Piece {
    let infix = |sign: Math, left: Level, right: Level, level: Level, a: Piece, b: Piece| {
        Piece::new(row([a.within(left), sign, b.within(right)]), level)
    };
    match operator {
        Operator::Add => infix(Math::Infix("+"), Level::Sum, Level::Sum, Level::Sum, a, b),
        Operator::Sub => infix(Math::Infix("−"), Level::Sum, Level::Product, Level::Sum, a, b),
        Operator::Mul => product(a, b),
        Operator::Div => Piece::new(fraction(a.math, b.math), Level::Power),
        Operator::Pow => power(a, b),
        Operator::Compare(comparison) => {
            let sign = match comparison.name() {
                "<" => "<",
                "<=" => "≤",
                ">" => ">",
                ">=" => "≥",
                "==" => "=",
                _ => "≠",
            };
            infix(Math::Infix(sign), Level::Sum, Level::Sum, Level::Compare, a, b)
        }
        Operator::And => infix(Math::Words(" and "), Level::And, Level::Compare, Level::And, a, b),
        Operator::Or => infix(Math::Words(" or "), Level::Or, Level::And, Level::Or, a, b),
    }
}

fn product(a: Piece, b: Piece) -> Piece {
    // A sum in parentheses begins and ends with these, whatever is inside.
    let edge = |piece: &Piece, edge| if piece.level < Level::Product { Edge::Letter } else { edge };
    let (last, first) = (edge(&a, a.last), edge(&b, b.first));
    let sign = match (last, first) {
        (_, Edge::Number) | (Edge::Word, _) | (_, Edge::Word) => Math::Infix("⋅"),
        (_, Edge::Function) => Math::Thin,
        _ => Math::Times,
    };
    let (first, last, negated) = (edge(&a, a.first), edge(&b, b.last), a.negated);
    // (-a) b is -a b, which is a sum to what is around it.
    let (a, level) = if negated { (a.math, Level::Sum) } else { (a.within(Level::Product), Level::Product) };
    Piece { first, last, negated, ..Piece::new(row([a, sign, b.within(Level::Product)]), level) }
}

fn power(a: Piece, b: Piece) -> Piece {
    let exponent = group(b.math);
    match a.call {
        // sin^2(x), as everyone writes it.
        Some((name, arguments)) => Piece {
            first: Edge::Function,
            ..Piece::new(row([raised(name, exponent), arguments]), Level::Power)
        },
        None => {
            let first = a.first;
            let math = raised(group(a.within(Level::Atom)), exponent);
            Piece { first, ..Piece::new(math, Level::Power) }
        }
    }
}

fn call(name: &str, mut arguments: Vec<Piece>) -> Piece {
    let prefix = |sign: &'static str, of: Piece| {
        Piece::new(row([Math::Sign(sign), of.within(Level::Power)]), Level::Product)
    };
    match (name, arguments.len()) {
        ("sqrt", 1) => Piece::atom(Math::Root(Box::new(arguments.remove(0).math))),
        ("abs", 1) => {
            let of = arguments.remove(0).math;
            Piece::atom(group(row([Math::Sign("|"), of, Math::Sign("|")])))
        }
        ("exp", 1) => {
            let of = arguments.remove(0).math;
            Piece::new(raised(Math::Letter("e".to_owned()), group(of)), Level::Power)
        }
        ("grad", 1) => prefix("∇", arguments.remove(0)),
        ("lap", 1) => prefix("Δ", arguments.remove(0)),
        ("div", 1) => {
            let of = parenthesised(arguments.remove(0).math);
            Piece::new(row([Math::Sign("∇"), Math::Sign("⋅"), of]), Level::Product)
        }
        ("dot", 2) => {
            let (b, a) = (arguments.remove(1), arguments.remove(0));
            let parts = [a.within(Level::Product), Math::Infix("⋅"), b.within(Level::Product)];
            Piece::new(row(parts), Level::Product)
        }
        ("if", 3) => {
            let [no, yes, condition] = [2, 1, 0].map(|i| Box::new(arguments.remove(i).math));
            Piece::atom(Math::Cases([condition, yes, no]))
        }
        _ => named_function(name, arguments),
    }
}

fn named_function(name: &str, arguments: Vec<Piece>) -> Piece {
    let name = Math::Letter(name.to_owned());
    let arguments = separated(arguments.into_iter().map(|argument| argument.math).collect());
    let arguments = parenthesised(row(arguments));
    let math = row([name.clone(), arguments.clone()]);
    Piece { first: Edge::Function, call: Some((name, arguments)), ..Piece::new(math, Level::Power) }
}

fn name_or_derivative(name: &str, names: &Names) -> Piece {
    let declared = |name: &str| names.declared.iter().any(|other| other == name);
    let parts = (!declared(name)).then(|| name.rsplit_once('_')).flatten();
    // A state that is nowhere declared, and a definition, have derivatives too.
    let found = parts.and_then(|(of, by)| Some((of, variables(by, names)?)));
    match found {
        Some((of, by)) if !of.is_empty() && !by.is_empty() => {
            Piece::new(fraction_of(Some(set_symbol(of).math), &by), Level::Power)
        }
        _ => set_symbol(name),
    }
}

fn set_symbol(name: &str) -> Piece {
    let (math, is_word) = symbol(name);
    let edge = if is_word { Edge::Word } else { Edge::Letter };
    Piece { first: edge, last: edge, ..Piece::atom(math) }
}

/// A name within a line of text.
pub fn typeset_name(name: &str) -> Math {
    symbol(name).0
}

/// `xx` as x, x; none if it is not made of variables.
fn variables<'a>(mut text: &'a str, names: &Names) -> Option<Vec<&'a str>> {
    let mut found = vec![];
    while !text.is_empty() {
        let fits = |name: &&String| text.starts_with(name.as_str());
        let longest = names.variables.iter().filter(fits).map(String::len).max()?;
        let (first, rest) = text.split_at(longest);
        found.push(first);
        text = rest;
    }
    Some(found)
}

/// The partial derivative of something by variables, as a fraction.
fn fraction_of(of: Option<Math>, by: &[&str]) -> Math {
    let times = |math: Math, power: usize| match power {
        1 => math,
        _ => raised(math, Math::Number(power.to_string())),
    };
    let mut below = vec![];
    let mut rest = by;
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|other| *other == first).count();
        below.extend([Math::Sign("∂"), times(symbol(first).0, count)]);
        rest = &rest[count..];
    }
    let above = std::iter::once(times(Math::Sign("∂"), by.len())).chain(of);
    fraction(row(above), row(below))
}
