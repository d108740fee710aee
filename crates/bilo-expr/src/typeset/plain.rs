//! Formulas in a line of text: `∂u/∂t = D ∂²u/∂x² + √(1 + x)`.

use super::Math;
use std::fmt::{Display, Formatter, Result};

impl Display for Math {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Math::Letter(text) | Math::Upright(text) | Math::Number(text) => f.write_str(text),
            Math::Sign(",") => f.write_str(", "),
            Math::Sign(text) | Math::Words(text) => f.write_str(text),
            Math::Infix("⋅") => f.write_str("·"),
            Math::Infix(text) => write!(f, " {text} "),
            Math::Thin | Math::Times => f.write_str(" "),
            Math::Row(parts) => write_row(f, parts),
            Math::Group(inner) => inner.fmt(f),
            Math::Fraction(above, below) => {
                let below_apart = below.has(&[Found::Sum, Found::Product, Found::Fraction]);
                apart(f, above, above.has(&[Found::Sum, Found::Fraction]))?;
                f.write_str("/")?;
                apart(f, below, below_apart)
            }
            Math::Raised(base, exponent) => {
                base.fmt(f)?;
                match small(&exponent.to_string(), SUPERSCRIPTS) {
                    Some(small) => f.write_str(&small),
                    None => {
                        f.write_str("^")?;
                        apart(f, exponent, !exponent.is_short())
                    }
                }
            }
            Math::Lowered(base, index) => {
                base.fmt(f)?;
                match small(&index.to_string(), SUBSCRIPTS) {
                    Some(small) => f.write_str(&small),
                    None if index.is_short() => write!(f, "_{index}"),
                    None => write!(f, "[{index}]"),
                }
            }
            Math::Bounded(sign, lo, hi) => write!(f, "{sign}[{lo}, {hi}] "),
            Math::Root(of) => {
                f.write_str("√")?;
                apart(f, of, !of.is_short())
            }
            Math::Bar(letter) => write!(f, "{letter}\u{304}"),
            Math::Cases([condition, yes, no]) => write!(f, "({yes} if {condition} else {no})"),
        }
    }
}

fn write_row(f: &mut Formatter<'_>, parts: &[Math]) -> Result {
    for (number, part) in parts.iter().enumerate() {
        let before = number.checked_sub(1).map(|before| &parts[before]);
        match (before, part) {
            // a/b c would be read as a/(b c); what follows a derivative is clear.
            (Some(Math::Fraction(above, _)), Math::Times | Math::Thin) if !above.is_derivative() => {
                f.write_str("·")?;
            }
            // What a derivative is of.
            (
                Some(Math::Fraction(..)),
                Math::Group(_) | Math::Letter(_) | Math::Lowered(..) | Math::Bar(_),
            ) => {
                write!(f, " {part}")?;
            }
            _ => part.fmt(f)?,
        }
    }
    Ok(())
}

fn apart(f: &mut Formatter<'_>, math: &Math, parenthesised: bool) -> Result {
    if parenthesised { write!(f, "({math})") } else { math.fmt(f) }
}

/// What stands open in a formula: in no parentheses.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    Sum,
    Product,
    Fraction,
}

impl Math {
    fn has(&self, wanted: &[Found]) -> bool {
        match self {
            Math::Row(parts) => parts.iter().any(|part| part.has(wanted)),
            Math::Infix("⋅") | Math::Times | Math::Thin => wanted.contains(&Found::Product),
            Math::Infix(_) | Math::Words(_) => wanted.contains(&Found::Sum),
            Math::Fraction(..) => wanted.contains(&Found::Fraction),
            _ => false,
        }
    }

    /// Whether it is a letter, a word or a number.
    fn is_short(&self) -> bool {
        match self {
            Math::Letter(_) | Math::Upright(_) | Math::Number(_) => true,
            Math::Lowered(base, _) => base.is_short(),
            Math::Group(inner) => inner.is_short(),
            Math::Row(parts) => matches!(&parts[..], [only] if only.is_short()),
            _ => false,
        }
    }

    /// Whether it is what stands above the line of a derivative.
    fn is_derivative(&self) -> bool {
        match self {
            Math::Row(parts) => parts.first().is_some_and(Math::is_derivative),
            Math::Raised(base, _) => base.is_derivative(),
            other => *other == Math::Sign("∂"),
        }
    }
}

const SUPERSCRIPTS: &str = "0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹−⁻";
const SUBSCRIPTS: &str = "0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉";

/// A text in small letters; none if there are none for it.
fn small(text: &str, letters: &str) -> Option<String> {
    let small = |c: char| {
        let pairs: Vec<char> = letters.chars().collect();
        pairs.chunks(2).find(|pair| pair[0] == c).map(|pair| pair[1])
    };
    text.chars().map(small).collect::<Option<String>>().filter(|small| !small.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::typeset::{Names, typeset};

    fn check(text: &str, expected: &str) {
        let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let declared = list(&["u", "D", "alpha", "T", "T0", "u_wt", "x", "t"]);
        let names = Names { declared, variables: list(&["x", "y", "t"]) };
        assert_eq!(typeset(text, &names).map(|math| math.to_string()).as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn equations_read_like_a_textbook() {
        for (text, expected) in [
            ("u_t = 0.01*D*u_xx + rho*u*(1-u)", "∂u/∂t = 0.01 D ∂²u/∂x² + ρ u (1 − u)"),
            ("T_x = -h*(T - T0)/k", "∂T/∂x = −h (T − T₀)/k"),
            ("d(alpha*T_x, x) = 0", "∂/∂x (α ∂T/∂x) = 0"),
            ("div(D*grad(u)) = -2*pi^2*sin(pi*x)", "∇⋅(D ∇u) = −2 π² sin(π x)"),
            ("d(u, x, x) = 0", "∂²/∂x² u = 0"),
            ("u_xyt = 0", "∂³u/∂x∂y∂t = 0"),
            ("-u_x*u", "−∂u/∂x u"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn fractions_and_powers_keep_their_meaning_in_a_line() {
        for (text, expected) in [
            ("a/b*c", "a/b·c"),
            ("c*(a/b)", "c a/b"),
            ("a/(b*c)", "a/(b c)"),
            ("(a + b)/c", "(a + b)/c"),
            ("a/b/c", "(a/b)/c"),
            ("a/(b/c)", "a/(b/c)"),
            ("u^2", "u²"),
            ("u^-2", "u⁻²"),
            ("u^(1/3)", "u^(1/3)"),
            ("u^n", "u^n"),
            ("(u + 1)^2", "(u + 1)²"),
            ("sin(pi*x)^2", "sin²(π x)"),
            ("exp(-x/2)", "e^(−x/2)"),
            ("sqrt(x) + sqrt(1 + x)", "√x + √(1 + x)"),
            ("3e-9*x", "3·10⁻⁹ x"),
            ("2*width*x", "2·width·x"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn places_means_and_cases_are_said() {
        for (text, expected) in [
            ("u(x = 0.4) - u_wt", "u|[x = 0.4] − u_wt"),
            ("mean(u, t = [0, 60])", "⟨u⟩[t ∈ [0, 60]]"),
            ("integral(u, x)", "∫u dx"),
            ("integral(u, x = [0, 1])", "∫[0, 1] u dx"),
            ("if(x < 0.5, 1, 2)*u", "(1 if x < 0.5 else 2) u"),
            ("k_1 + k_2", "k₁ + k₂"),
            ("max(0, t - 5)", "max(0, t − 5)"),
            ("abs(x) <= 1 and not (t > 2)", "|x| ≤ 1 and (not t > 2)"),
        ] {
            check(text, expected);
        }
    }
}
