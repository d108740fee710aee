//! Formulas of problem files in MathML, which browsers set as print does.

use crate::markup::{Html, html};
pub(super) use bilo_expr::typeset::Names;
use bilo_expr::typeset::{Math, typeset, typeset_name};

/// Characters of a formula that is set smaller, to have room in a line.
const LONG: usize = 150;

/// A formula or an equation in MathML; the text itself if it is none.
pub(super) fn formula(text: &str, names: &Names) -> Html {
    match typeset(text, names) {
        Some(math) => {
            let class = if text.len() > LONG { "long" } else { "short" };
            html!("<math display=\"block\" class=\"{}\">{}</math>", class, markup(&math))
        }
        None => html!("<code>{}</code>", text),
    }
}

/// A formula within a line of text.
pub(super) fn inline_formula(text: &str, names: &Names) -> Html {
    match typeset(text, names) {
        Some(math) => html!("<math>{}</math>", markup(&math)),
        None => Html::text(text),
    }
}

/// A name within a line of text.
pub(super) fn inline_name(name: &str) -> Html {
    html!("<math>{}</math>", markup(&typeset_name(name)))
}

fn markup(math: &Math) -> Html {
    match math {
        Math::Letter(text) => html!("<mi>{}</mi>", text),
        Math::Upright(text) => html!("<mi mathvariant=\"normal\">{}</mi>", text),
        Math::Number(text) => html!("<mn>{}</mn>", text),
        Math::Sign(text) | Math::Infix(text) => html!("<mo>{}</mo>", text),
        Math::Words(text) => words(text),
        Math::Thin => html!("<mspace width=\"0.17em\"/>"),
        Math::Times => html!("<mo>&#x2062;</mo>"),
        Math::Row(parts) => parts.iter().map(markup).collect(),
        Math::Group(inner) => html!("<mrow>{}</mrow>", markup(inner)),
        Math::Fraction(above, below) => {
            html!("<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>", markup(above), markup(below))
        }
        Math::Raised(base, exponent) => html!("<msup>{}{}</msup>", markup(base), markup(exponent)),
        Math::Lowered(base, index) => html!("<msub>{}{}</msub>", markup(base), markup(index)),
        Math::Bounded(sign, lo, hi) => {
            html!("<msubsup><mo>{}</mo>{}{}</msubsup>", sign, markup(lo), markup(hi))
        }
        Math::Root(of) => html!("<msqrt>{}</msqrt>", markup(of)),
        Math::Bar(letter) => html!("<mover>{}<mo>¯</mo></mover>", markup(letter)),
        Math::Cases([condition, yes, no]) => {
            let lines = case(yes, words("if ") + markup(condition)) + case(no, words("else"));
            html!("<mrow><mo>{{</mo><mtable columnalign=\"left\">{}</mtable></mrow>", lines)
        }
    }
}

fn case(value: &Math, when: Html) -> Html {
    html!("<mtr><mtd><mrow>{}</mrow></mtd><mtd><mrow>{}</mrow></mtd></mtr>", markup(value), when)
}

/// Words whose blanks are kept.
fn words(text: &str) -> Html {
    html!("<mtext>{}</mtext>", text.replace(' ', "\u{a0}"))
}

#[cfg(test)]
mod tests;
