//! Where searches for the unknown numbers may start beside the guess.

use crate::model::{Coordinate, Problem, Transform, Unknown};
use bilo_expr::{AstKind, Operator};

/// Without bounds, starts are up to this factor from the guess ..
const FACTOR: f64 = 30.0;

/// .. or, for numbers that may change their sign, up to so many times its size.
const SIZES: f64 = 4.0;

/// After so many starts, which are spread widely, more are nearer to the guess, up to this factor.
const SPREAD: usize = 8;
const NEAR: f64 = 4.0;

/// Bounds whose ratio is larger than this are filled evenly in the logarithm.
const WIDE: f64 = 30.0;

impl Problem {
    /// So many values of the unknown numbers, spread evenly over their bounds, over the coordinate that they are a place on, or
    /// around the guess: the points of Sobol's sequence after the first.
    pub fn starts(&self, count: usize) -> Vec<Vec<f64>> {
        let dimensions = sobol_burley::NUM_DIMENSIONS;
        let share = |start: usize, unknown: usize| {
            f64::from(sobol_burley::sample(start as u32, unknown as u32 % dimensions, 0))
        };
        let start = |start: usize| {
            let unknowns = self.unknowns.iter().enumerate();
            let value = |(number, unknown): (usize, &Unknown)| match self.line_of(unknown) {
                Some(line) if unknown.bounds.is_none() => line.at_fraction(share(start, number)),
                _ => unknown.start(start, share(start, number)),
            };
            unknowns.map(value).collect()
        };
        (0..count).map(start).collect()
    }

    /// The coordinate that an unknown is a place on: it is taken off the coordinate in some equation, as in `x - x0`.
    fn line_of(&self, unknown: &Unknown) -> Option<&Coordinate> {
        let differences = self.equations.iter().flat_map(|equation| {
            let ast = &equation.residual.ast;
            let name = |id: usize| match &ast.nodes()[id].kind {
                AstKind::Name(name) => Some(name.as_str()),
                _ => None,
            };
            ast.nodes().iter().filter_map(move |node| match node.kind {
                AstKind::Binary(Operator::Sub, a, b) => name(a).zip(name(b)),
                _ => None,
            })
        });
        let mut others = differences.filter_map(|(a, b)| match unknown.name.as_str() {
            name if name == b => Some(a),
            name if name == a => Some(b),
            _ => None,
        });
        others.find_map(|other| self.coordinates.iter().find(|coordinate| coordinate.name == other))
    }
}

impl Unknown {
    /// The value of a share of its range; every other start of a number that may change its sign lies on a line.
    fn start(&self, number: usize, share: f64) -> f64 {
        let geometric = |lo: f64, hi: f64| lo * (hi / lo).powf(share);
        let size = if self.guess == 0.0 { self.scale } else { self.guess.abs() };
        match self.bounds {
            Some((lo, hi)) if lo.is_finite() && hi.is_finite() => match lo > 0.0 && hi > WIDE * lo {
                true => geometric(lo, hi),
                false => lo + share * (hi - lo),
            },
            bounds => {
                let free = self.transform == Transform::Identity && !self.is_positive();
                let factor = if number < SPREAD { FACTOR } else { NEAR };
                let value = match free && ((number % 2 == 1 && number < SPREAD) || self.guess == 0.0) {
                    true => self.guess + SIZES * size * (2.0 * share - 1.0),
                    false => self.guess.signum() * geometric(size / factor, size * factor),
                };
                let (lo, hi) = bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                value.clamp(lo, hi)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_fill_bounds_and_surround_guesses() {
        let bounded = Unknown::new("a", 1.0).bounds(-2.0, 6.0);
        let wide = Unknown::new("b", 1.0).bounds(1e-3, 1e3);
        assert_eq!((bounded.start(0, 0.25), wide.start(0, 0.5)), (0.0, 1.0));
        let (free, positive) = (Unknown::new("c", -2.0), Unknown::new("d", 2.0).log());
        assert_eq!((free.start(1, 0.0), free.start(1, 1.0)), (-10.0, 6.0));
        assert!((free.start(0, 0.5) + 2.0).abs() < 1e-12);
        for number in 0..2 {
            assert!((positive.start(number, 1.0) - 60.0).abs() < 1e-9);
        }
        assert_eq!(Unknown::new("e", 0.0).start(0, 1.0), 4.0);
    }

    /// A source may be anywhere, whatever its guess is.
    #[test]
    fn places_are_spread_over_their_coordinate() {
        let text = r#"
            name = "source"
            [coordinates]
            x = [2.0, 5.0]
            [unknown.x0]
            guess = 2.1
            truth = 3.0
            [unknown.I]
            guess = 1.0
            truth = 1.0
            [equation.field]
            holds = "u_xx = -I*exp(-(x - x0)^2)"
            [condition.ends]
            at = { x = [2.0, 5.0] }
            holds = "u = 0"
            [observation.u]
            value = "u"
            data = { synthetic = { grid = { x = 5 } } }
        "#;
        let problem = crate::Problem::from_toml(
            "source",
            text,
            std::path::Path::new("."),
            &crate::Overrides::default(),
        );
        let starts = problem.unwrap_or_else(|error| panic!("{error}")).starts(8);
        let places: Vec<f64> = starts.iter().map(|start| start[0]).collect();
        let (least, most) = places.iter().fold((9.0_f64, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
        assert!((2.0..2.6).contains(&least) && (4.4..5.0).contains(&most), "{places:?}");
    }
}
