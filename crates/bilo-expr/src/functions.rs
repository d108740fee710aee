//! The functions a text can call, and the names nobody may take.

use crate::ops::Unary;

/// Names with a fixed meaning; a problem may not use them for anything else.
pub const RESERVED: &[&str] = &[
    "pi", "e", "and", "or", "not", "if", "d", "grad", "div", "lap", "dot", "min", "max", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log", "log10", "sqrt",
    "abs", "sign", "sigmoid", "softplus", "erf",
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Builtin {
    Unary(Unary),
    /// The logarithm to base ten.
    Log10,
    /// In terms of others.
    Acosh,
    Atanh,
    Min,
    Max,
    If,
    Grad,
    Div,
    Lap,
    Dot,
}

const FUNCTIONS: &[(&str, Builtin)] = &[
    ("sin", Builtin::Unary(Unary::Sin)),
    ("cos", Builtin::Unary(Unary::Cos)),
    ("tan", Builtin::Unary(Unary::Tan)),
    ("asin", Builtin::Unary(Unary::Asin)),
    ("acos", Builtin::Unary(Unary::Acos)),
    ("atan", Builtin::Unary(Unary::Atan)),
    ("sinh", Builtin::Unary(Unary::Sinh)),
    ("cosh", Builtin::Unary(Unary::Cosh)),
    ("tanh", Builtin::Unary(Unary::Tanh)),
    ("asinh", Builtin::Unary(Unary::Asinh)),
    ("acosh", Builtin::Acosh),
    ("atanh", Builtin::Atanh),
    ("exp", Builtin::Unary(Unary::Exp)),
    ("log", Builtin::Unary(Unary::Log)),
    ("log10", Builtin::Log10),
    ("sqrt", Builtin::Unary(Unary::Sqrt)),
    ("abs", Builtin::Unary(Unary::Abs)),
    ("sign", Builtin::Unary(Unary::Sign)),
    ("sigmoid", Builtin::Unary(Unary::Sigmoid)),
    ("softplus", Builtin::Unary(Unary::Softplus)),
    ("erf", Builtin::Unary(Unary::Erf)),
    ("min", Builtin::Min),
    ("max", Builtin::Max),
    ("if", Builtin::If),
    ("grad", Builtin::Grad),
    ("div", Builtin::Div),
    ("lap", Builtin::Lap),
    ("dot", Builtin::Dot),
];

/// Names that other languages use for our functions, too far in spelling to be guessed.
const ALIASES: &[(&str, &str)] = &[
    ("ln", "log"),
    ("sgn", "sign"),
    ("where", "if"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("arcsinh", "asinh"),
    ("arccosh", "acosh"),
    ("arctanh", "atanh"),
    ("laplacian", "lap"),
    ("diff", "d"),
];

/// What to write for functions of other languages that ours have no name for.
const PHRASES: &[(&str, &str)] = &[
    ("heaviside", "if(x > 0, 1, 0)"),
    ("step", "if(x > 0, 1, 0)"),
    ("erfc", "1 - erf(x)"),
    ("square", "x^2"),
    ("cbrt", "x^(1/3)"),
    ("pow", "x^y"),
];

/// What to write in the place of a function of another language.
pub(crate) fn phrase(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    PHRASES.iter().find(|(foreign, _)| *foreign == lower).map(|(_, ours)| *ours)
}

impl Builtin {
    pub(crate) fn find(name: &str) -> Option<Builtin> {
        let entry = FUNCTIONS.iter().find(|(known, _)| *known == name);
        entry.map(|(_, builtin)| *builtin)
    }

    /// The numbers of arguments accepted, and how to say so.
    pub(crate) fn accepts(self, arguments: usize) -> Result<(), &'static str> {
        let (fits, wanted) = match self {
            Builtin::Min | Builtin::Max => (arguments >= 2, "two or more arguments"),
            Builtin::If => (arguments == 3, "three arguments: condition, then, else"),
            Builtin::Dot => (arguments == 2, "two arguments"),
            _ => (arguments == 1, "one argument"),
        };
        if fits { Ok(()) } else { Err(wanted) }
    }
}

/// The constants of the language.
pub(crate) fn named_constant(name: &str) -> Option<f64> {
    match name {
        "pi" => Some(std::f64::consts::PI),
        "e" => Some(std::f64::consts::E),
        _ => None,
    }
}

/// A function the author may have meant.
pub(crate) fn similar_function(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let alias = ALIASES.iter().find(|(foreign, _)| *foreign == lower);
    alias.map(|(_, ours)| *ours).or_else(|| closest(name, FUNCTIONS.iter().map(|(known, _)| *known)))
}

/// The candidate with the fewest typing slips, if that is few enough to be a slip at all.
pub(crate) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips_allowed = (1 + name.len() / 4).min(name.len().saturating_sub(1));
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(slips, _)| *slips <= slips_allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_name_is_reserved() {
        for (name, _) in FUNCTIONS {
            assert!(RESERVED.contains(name), "{name}");
        }
        assert_eq!(RESERVED.len(), FUNCTIONS.len() + "pi e and or not d".split(' ').count());
    }
}
