//! Names and numbers as they are written by hand.

use super::{Math, lowered, raised, row};

/// Names of letters, each before its letter.
const GREEK: &str = "alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν \
    xi ξ pi π rho ρ sigma σ tau τ phi φ chi χ psi ψ omega ω net 𝒩";

/// A name that is no derivative: Greek letters, bars and subscripts; and whether it is a word, whose letters would run
/// together with those of a neighbour.
pub(super) fn symbol(name: &str) -> (Math, bool) {
    if let Some(letter) = letter(name) {
        return (Math::Letter(letter.to_owned()), false);
    }
    if let Some(below) = name.strip_suffix("bar").and_then(letter) {
        return (Math::Bar(Box::new(Math::Letter(below.to_owned()))), false);
    }
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (stem, number) = name.split_at(name.len() - digits);
    if let (Some(stem), false) = (letter(stem), number.is_empty()) {
        return (lowered(Math::Letter(stem.to_owned()), Math::Number(number.to_owned())), false);
    }
    match name.split_once('_') {
        Some((base, below)) if !base.is_empty() && !below.is_empty() => {
            (lowered(symbol(base).0, Math::Upright(below.to_owned())), false)
        }
        _ => (Math::Letter(name.to_owned()), true),
    }
}

/// A single letter, or the Greek one of that name.
fn letter(name: &str) -> Option<&str> {
    let greek = GREEK.split(' ').skip_while(|word| *word != name || name.is_empty()).nth(1);
    greek.or((name.len() == 1 && name.chars().all(char::is_alphabetic)).then_some(name))
}

/// A number, with powers of ten where digits would be too many.
pub(super) fn number(value: f64) -> Math {
    if value == 0.0 || (1e-4..1e7).contains(&value.abs()) {
        return Math::Number(value.to_string());
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power = raised(Math::Number("10".to_owned()), Math::Number(exponent.replace('-', "−")));
    match mantissa {
        "1" => power,
        _ => row([Math::Number(mantissa.to_owned()), Math::Infix("⋅"), power]),
    }
}
