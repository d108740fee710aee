//! Small pieces of text.

use crate::problem::Problem;

/// "1 point", "2 points".
pub(super) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A share as a percentage.
pub(super) fn share(relative: f64) -> String {
    let percent = 100.0 * relative;
    match percent {
        0.0 => "0 %".to_owned(),
        p if (0.1..1e4).contains(&p) => format!("{p:.1} %"),
        p => format!("{p:.1e} %"),
    }
}

/// Point `i` of columns.
pub(super) fn point(columns: &[Vec<f64>], i: usize) -> Vec<f64> {
    columns.iter().map(|column| column[i]).collect()
}

/// "x = 0.2, t = 0.5", to four digits.
pub(super) fn place(problem: &Problem, point: &[f64]) -> String {
    let pair = |(c, x): (&crate::problem::Coordinate, &f64)| format!("{} = {}", c.name, short(*x));
    problem.coordinates.iter().zip(point).map(pair).collect::<Vec<_>>().join(", ")
}

/// "(x, t) = (0, 0), (1, 0)", to four digits.
pub(super) fn places(problem: &Problem, points: &[Vec<f64>]) -> String {
    let tuple = |parts: Vec<String>| match parts.as_slice() {
        [one] => one.clone(),
        _ => format!("({})", parts.join(", ")),
    };
    let names = tuple(problem.coordinates.iter().map(|c| c.name.clone()).collect());
    let points = points.iter().map(|point| tuple(point.iter().map(|&x| short(x)).collect()));
    format!("{names} = {}", points.collect::<Vec<_>>().join(", "))
}

/// Four significant digits, without trailing zeros.
pub(super) fn short(x: f64) -> String {
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    rounded.to_string()
}
