//! Small pieces of text.

use crate::Problem;

/// "1 point", "2 points".
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A share as a percentage.
pub fn share(relative: f64) -> String {
    let percent = 100.0 * relative;
    match percent {
        0.0 => "0 %".to_owned(),
        p if (0.1..1e4).contains(&p) => format!("{p:.1} %"),
        p => format!("{p:.1e} %"),
    }
}

/// Point `i` of columns.
pub fn point(columns: &[Vec<f64>], i: usize) -> Vec<f64> {
    columns.iter().map(|column| column[i]).collect()
}

/// "x = 0.2, t = 0.5", to four digits.
pub fn place(problem: &Problem, point: &[f64]) -> String {
    let pair = |(c, x): (&crate::Coordinate, &f64)| format!("{} = {}", c.name, digits(*x, 4));
    problem.coordinates.iter().zip(point).map(pair).collect::<Vec<_>>().join(", ")
}

/// "(x, t) = (0, 0), (1, 0)", to four digits.
pub fn places(problem: &Problem, points: &[Vec<f64>]) -> String {
    let tuple = |parts: Vec<String>| match parts.as_slice() {
        [one] => one.clone(),
        _ => format!("({})", parts.join(", ")),
    };
    let names = tuple(problem.coordinates.iter().map(|c| c.name.clone()).collect());
    let points = points.iter().map(|point| tuple(point.iter().map(|&x| digits(x, 4)).collect()));
    format!("{names} = {}", points.collect::<Vec<_>>().join(", "))
}

/// So many significant digits, without trailing zeros.
pub fn digits(x: f64, count: usize) -> String {
    let text = format!("{x:.*e}", count - 1);
    match text.parse::<f64>() {
        // Adding zero turns -0 into 0.
        Ok(rounded) if rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs()) => (rounded + 0.0).to_string(),
        _ => text,
    }
}

/// All digits of a number, with a power of ten where it is very small or large.
pub fn number(x: f64) -> String {
    if x == 0.0 || (1e-4..1e6).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

/// Whether a suffix is made of names of variables, such as `xxt`.
pub fn is_made_of(suffix: &str, variables: &[&str]) -> bool {
    let rest = |variable: &&str| suffix.strip_prefix(*variable).filter(|_| !variable.is_empty());
    let mut rests = variables.iter().filter_map(rest);
    rests.any(|rest| rest.is_empty() || is_made_of(rest, variables))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_their_digits_allow() {
        let cases =
            [(0.1 + 0.2, "0.3"), (-0.0, "0"), (2.0 / 3.0, "0.6667"), (1.5e-9, "1.500e-9"), (2e7, "2.000e7")];
        for (x, expected) in cases {
            assert_eq!(digits(x, 4), expected);
        }
        assert_eq!(
            [5e17, -3e-14, 0.0, 0.25, 123456.0].map(number),
            ["5e17", "-3e-14", "0", "0.25", "123456"]
        );
        assert_eq!([share(0.0), share(0.3876), share(1e-9)], ["0 %", "38.8 %", "1.0e-7 %"]);
    }
}
