//! Formulas of problem files in MathML, which browsers set as print does.
//!
//! It is written from the text's tree, not from the graph: a reader wants to see what the author wrote, `-div(D grad u)`
//! and not what became of it.

use crate::markup::{Html, html};
use bilo_expr::{Ast, AstKind, Functional, FunctionalKind, Operator, Over, parse};

/// What names in formulas mean.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Names of their own: `u_wt` among them is no derivative.
    pub(super) declared: Vec<String>,
    /// What derivatives are by.
    pub(super) variables: Vec<String>,
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
    text: Html,
    level: Level,
    first: Edge,
    last: Edge,
    /// Name and arguments of a function, for `sin^2(x)`.
    call: Option<(Html, Html)>,
    /// Begins with a minus that may stay outside of a product.
    negated: bool,
}

/// Characters of a formula that is set smaller, to have room in a line.
const LONG: usize = 150;

/// A formula in MathML; the text itself if it is none.
pub(super) fn formula(text: &str, names: &Names) -> Html {
    match markup(text, names) {
        Some(markup) => html!("<math display=\"block\">{}</math>", markup),
        None => html!("<code>{}</code>", text),
    }
}

/// `left = right`, in which either side may be no formula.
pub(super) fn equation(left: &str, right: &str, names: &Names) -> Html {
    match (markup(left, names), markup(right, names)) {
        (Some(a), Some(b)) => {
            let class = if left.len() + right.len() > LONG { "long" } else { "short" };
            html!("<math display=\"block\" class=\"{}\">{}<mo>=</mo>{}</math>", class, a, b)
        }
        _ => html!("<code>{} = {}</code>", left, right),
    }
}

/// A formula within a line of text.
pub(super) fn inline_formula(text: &str, names: &Names) -> Html {
    match markup(text, names) {
        Some(markup) => html!("<math>{}</math>", markup),
        None => Html::text(text),
    }
}

/// A name within a line of text.
pub(super) fn inline_name(name: &str) -> Html {
    html!("<math>{}</math>", symbol(name).text)
}

fn markup(text: &str, names: &Names) -> Option<Html> {
    let ast = parse(text).ok()?;
    // Operands stand before operators, so one pass from the first node to the last needs no recursion.
    let mut pieces: Vec<Option<Piece>> = Vec::with_capacity(ast.nodes().len());
    for number in 0..ast.nodes().len() {
        let piece = piece(&ast, number, &mut pieces, names);
        pieces.push(Some(piece));
    }
    pieces.pop().flatten().map(|piece| piece.text)
}

fn piece(ast: &Ast, number: usize, made: &mut [Option<Piece>], names: &Names) -> Piece {
    // Every operand belongs to one operator, which takes it.
    let mut take = |id: usize| made[id].take().unwrap_or_else(|| Piece::letter(Html::default()));
    match &ast.nodes()[number].kind {
        AstKind::Number(value) => Piece { first: Edge::Number, ..Piece::letter(self::number(*value)) },
        AstKind::Name(name) => name_or_derivative(name, names),
        AstKind::Negate(a) => {
            let text = html!("<mo>−</mo>{}", take(*a).within(Level::Product));
            Piece { negated: true, ..Piece::new(text, Level::Sum) }
        }
        AstKind::Not(a) => {
            let a = take(*a).within(Level::Compare);
            Piece::new(html!("<mtext>not&nbsp;</mtext>{}", a), Level::And)
        }
        AstKind::Binary(operator, a, b) => binary(*operator, take(*a), take(*b)),
        AstKind::Call(name, arguments) => call(name, arguments.iter().map(|&a| take(a)).collect()),
        AstKind::Derivative(of, by) => {
            let by: Vec<&str> = by.iter().map(|(name, _)| name.as_str()).collect();
            let of = take(*of).within(Level::Atom);
            Piece::new(fraction_of(Html::default(), &by) + of, Level::Power)
        }
        AstKind::Functional(functional) => typeset_functional(functional, names, &mut take),
    }
}

/// An integral sign for every coordinate, angle brackets for a mean, a bar for a place.
fn typeset_functional(functional: &Functional, names: &Names, take: &mut dyn FnMut(usize) -> Piece) -> Piece {
    let of = take(functional.of);
    let letter = |over: &Over| name_or_derivative(&over.variable, names).text;
    let mut bounds = vec![];
    for over in &functional.over {
        let ends: Vec<Html> = over.range.bounds().into_iter().map(|end| take(end).text).collect();
        bounds.push(ends);
    }
    if functional.kind == FunctionalKind::Integral {
        let mut text = of.within(Level::Product);
        for (over, ends) in functional.over.iter().zip(&bounds).rev() {
            let sign = match &ends[..] {
                [lo, hi] => {
                    html!(
                        "<msubsup><mo>∫</mo><mrow>{}</mrow><mrow>{}</mrow></msubsup>",
                        lo.clone(),
                        hi.clone()
                    )
                }
                _ => html!("<mo>∫</mo>"),
            };
            text = html!("{}{}<mspace width=\"0.17em\"/><mi>d</mi>{}", sign, text, letter(over));
        }
        return Piece::new(text, Level::Product);
    }
    let mut held = Html::default();
    for (number, (over, ends)) in functional.over.iter().zip(bounds).enumerate() {
        let comma = if number == 0 { Html::default() } else { html!("<mo>,</mo>") };
        let place = match &ends[..] {
            [at] => html!("<mo>=</mo>{}", at.clone()),
            [lo, hi] => html!("<mo>∈</mo><mo>[</mo>{}<mo>,</mo>{}<mo>]</mo>", lo.clone(), hi.clone()),
            _ => Html::default(),
        };
        held = held + comma + letter(over) + place;
    }
    let whole = match functional.kind {
        FunctionalKind::Place => html!("<mrow>{}<mo>|</mo></mrow>", of.within(Level::Atom)),
        _ => html!("<mrow><mo>⟨</mo>{}<mo>⟩</mo></mrow>", of.text),
    };
    Piece::new(html!("<msub>{}<mrow>{}</mrow></msub>", whole, held), Level::Power)
}

impl Piece {
    fn new(text: Html, level: Level) -> Piece {
        Piece { text, level, first: Edge::Letter, last: Edge::Letter, call: None, negated: false }
    }

    fn letter(text: Html) -> Piece {
        Piece::new(text, Level::Atom)
    }

    /// In parentheses if it is looser than its surroundings.
    fn within(self, level: Level) -> Html {
        if self.level < level { parenthesised(self.text) } else { self.text }
    }
}

fn parenthesised(text: Html) -> Html {
    html!("<mrow><mo>(</mo>{}<mo>)</mo></mrow>", text)
}

fn binary(operator: Operator, a: Piece, b: Piece) -> Piece {
    let infix = |sign: Html, left: Level, right: Level, level: Level, a: Piece, b: Piece| {
        Piece::new(a.within(left) + sign + b.within(right), level)
    };
    match operator {
        Operator::Add => infix(html!("<mo>+</mo>"), Level::Sum, Level::Sum, Level::Sum, a, b),
        Operator::Sub => infix(html!("<mo>−</mo>"), Level::Sum, Level::Product, Level::Sum, a, b),
        Operator::Mul => product(a, b),
        Operator::Div => {
            Piece::new(html!("<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>", a.text, b.text), Level::Power)
        }
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
            infix(html!("<mo>{}</mo>", sign), Level::Sum, Level::Sum, Level::Compare, a, b)
        }
        Operator::And => {
            infix(html!("<mtext>&nbsp;and&nbsp;</mtext>"), Level::And, Level::Compare, Level::And, a, b)
        }
        Operator::Or => infix(html!("<mtext>&nbsp;or&nbsp;</mtext>"), Level::Or, Level::And, Level::Or, a, b),
    }
}

fn product(a: Piece, b: Piece) -> Piece {
    // A sum in parentheses begins and ends with these, whatever is inside.
    let edge = |piece: &Piece, edge| if piece.level < Level::Product { Edge::Letter } else { edge };
    let (last, first) = (edge(&a, a.last), edge(&b, b.first));
    let sign = match (last, first) {
        (_, Edge::Number) | (Edge::Word, _) | (_, Edge::Word) => html!("<mo>⋅</mo>"),
        (_, Edge::Function) => html!("<mspace width=\"0.17em\"/>"),
        _ => html!("<mo>&#x2062;</mo>"),
    };
    let (first, last, negated) = (edge(&a, a.first), edge(&b, b.last), a.negated);
    // (-a) b is -a b, which is a sum to what is around it.
    let (a, level) = if negated { (a.text, Level::Sum) } else { (a.within(Level::Product), Level::Product) };
    Piece { first, last, negated, ..Piece::new(a + sign + b.within(Level::Product), level) }
}

fn power(a: Piece, b: Piece) -> Piece {
    let exponent = row(b.text);
    match a.call {
        // sin^2(x), as everyone writes it.
        Some((name, arguments)) => Piece {
            first: Edge::Function,
            ..Piece::new(html!("<msup>{}{}</msup>{}", name, exponent, arguments), Level::Power)
        },
        None => {
            let first = a.first;
            let text = html!("<msup>{}{}</msup>", row(a.within(Level::Atom)), exponent);
            Piece { first, ..Piece::new(text, Level::Power) }
        }
    }
}

fn row(text: Html) -> Html {
    html!("<mrow>{}</mrow>", text)
}

fn call(name: &str, mut arguments: Vec<Piece>) -> Piece {
    let prefix = |sign: &str, of: Piece| {
        Piece::new(html!("<mo>{}</mo>{}", sign, of.within(Level::Power)), Level::Product)
    };
    match (name, arguments.len()) {
        ("sqrt", 1) => Piece::letter(html!("<msqrt>{}</msqrt>", arguments.remove(0).text)),
        ("abs", 1) => {
            let of = arguments.remove(0).text;
            Piece::letter(html!("<mrow><mo>|</mo>{}<mo>|</mo></mrow>", of))
        }
        ("exp", 1) => {
            let of = arguments.remove(0).text;
            Piece { level: Level::Power, ..Piece::letter(html!("<msup><mi>e</mi>{}</msup>", row(of))) }
        }
        ("grad", 1) => prefix("∇", arguments.remove(0)),
        ("lap", 1) => prefix("Δ", arguments.remove(0)),
        ("div", 1) => {
            let of = parenthesised(arguments.remove(0).text);
            Piece::new(html!("<mo>∇</mo><mo>⋅</mo>{}", of), Level::Product)
        }
        ("dot", 2) => {
            let (b, a) = (arguments.remove(1), arguments.remove(0));
            let text = html!("{}<mo>⋅</mo>{}", a.within(Level::Product), b.within(Level::Product));
            Piece::new(text, Level::Product)
        }
        ("if", 3) => cases(arguments),
        _ => named_function(name, &arguments),
    }
}

fn cases(arguments: Vec<Piece>) -> Piece {
    let [condition, yes, no] = [0, 1, 2].map(|i: usize| &arguments[i].text);
    let line = |value: &Html, when: Html| {
        html!("<mtr><mtd><mrow>{}</mrow></mtd><mtd><mrow>{}</mrow></mtd></mtr>", value, when)
    };
    let lines =
        line(yes, html!("<mtext>if&nbsp;</mtext>{}", condition)) + line(no, html!("<mtext>else</mtext>"));
    Piece::letter(html!("<mrow><mo>{{</mo><mtable columnalign=\"left\">{}</mtable></mrow>", lines))
}

fn named_function(name: &str, arguments: &[Piece]) -> Piece {
    let name = html!("<mi>{}</mi>", name);
    let arguments = arguments.iter().map(|argument| argument.text.clone());
    let arguments = parenthesised(Html::joined(arguments, html!("<mo>,</mo>")));
    let text = html!("{}{}", &name, &arguments);
    Piece { first: Edge::Function, call: Some((name, arguments)), ..Piece::new(text, Level::Power) }
}

fn name_or_derivative(name: &str, names: &Names) -> Piece {
    let declared = |name: &str| names.declared.iter().any(|other| other == name);
    let parts = (!declared(name)).then(|| name.rsplit_once('_')).flatten();
    let found = parts.filter(|(of, _)| declared(of)).and_then(|(of, by)| Some((of, variables(by, names)?)));
    match found {
        Some((of, by)) => Piece::new(fraction_of(symbol(of).text, &by), Level::Power),
        None => symbol(name),
    }
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
fn fraction_of(of: Html, by: &[&str]) -> Html {
    let raised = |text: Html, power: usize| match power {
        1 => text,
        _ => html!("<msup>{}<mn>{}</mn></msup>", text, power.to_string()),
    };
    let mut below = Html::default();
    let mut rest = by;
    while let Some(first) = rest.first() {
        let times = rest.iter().take_while(|other| *other == first).count();
        below += html!("<mo>∂</mo>{}", raised(symbol(first).text, times));
        rest = &rest[times..];
    }
    let above = raised(html!("<mo>∂</mo>"), by.len());
    html!("<mfrac><mrow>{}{}</mrow><mrow>{}</mrow></mfrac>", above, of, below)
}

/// Names of letters, each before its letter.
const GREEK: &str = "alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν \
    xi ξ pi π rho ρ sigma σ tau τ phi φ chi χ psi ψ omega ω net 𝒩";

/// A name that is no derivative: Greek letters, bars and subscripts as they are written by hand.
fn symbol(name: &str) -> Piece {
    if let Some(letter) = letter(name) {
        return Piece::letter(html!("<mi>{}</mi>", letter));
    }
    if let Some(below) = name.strip_suffix("bar").and_then(letter) {
        return Piece::letter(html!("<mover><mi>{}</mi><mo>¯</mo></mover>", below));
    }
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (stem, number) = name.split_at(name.len() - digits);
    if let (Some(stem), false) = (letter(stem), number.is_empty()) {
        return Piece::letter(html!("<msub><mi>{}</mi><mn>{}</mn></msub>", stem, number));
    }
    match name.split_once('_') {
        Some((base, below)) if !base.is_empty() && !below.is_empty() => {
            let below = html!("<mi mathvariant=\"normal\">{}</mi>", below);
            Piece::letter(html!("<msub>{}{}</msub>", symbol(base).text, below))
        }
        _ => {
            let text = html!("<mi>{}</mi>", name);
            Piece { first: Edge::Word, last: Edge::Word, ..Piece::letter(text) }
        }
    }
}

/// A single letter, or the Greek one of that name.
fn letter(name: &str) -> Option<&str> {
    let greek = GREEK.split(' ').skip_while(|word| *word != name || name.is_empty()).nth(1);
    greek.or((name.len() == 1 && name.chars().all(char::is_alphabetic)).then_some(name))
}

/// A number, with powers of ten where digits would be too many.
fn number(value: f64) -> Html {
    if value == 0.0 || (1e-4..1e7).contains(&value.abs()) {
        return html!("<mn>{}</mn>", value.to_string());
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power = html!("<msup><mn>10</mn><mn>{}</mn></msup>", exponent.replace('-', "−"));
    match mantissa {
        "1" => power,
        _ => html!("<mn>{}</mn><mo>⋅</mo>{}", mantissa, power),
    }
}

#[cfg(test)]
mod tests;
