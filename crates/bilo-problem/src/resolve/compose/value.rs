//! Values of expressions before anything is known of the problem but its letters.

use crate::diagnostic::Origin;
use crate::evaluate::names::NET;
use crate::model::domain::{Constant, Coordinate};
use crate::model::formula::{Formula, evaluate};
use crate::written::Written;
use crate::written::function::FunctionSpec;

/// Steps along a coordinate by which kinks are looked for.
const STEPS: usize = 256;

/// Second differences below this part of the values are rounding.
const ROUNDING: f64 = 1e-12;

/// Names and what they stand for.
pub(super) struct Values<'a> {
    pub(super) coordinates: &'a [Coordinate],
    functions: &'a [FunctionSpec],
    /// Constants, and unknown numbers near their guesses but at values that agree with nothing by chance.
    numbers: Vec<Constant>,
    /// Given fields that have kinks or jumps.
    rough: Vec<&'a str>,
}

impl<'a> Values<'a> {
    pub(super) fn new(written: &'a Written) -> Values<'a> {
        let near = |(k, unknown): (usize, &crate::Unknown)| {
            let value = unknown.guess * (1.0 + 0.1 * fraction(k, 7)) + 0.01 * fraction(k, 8);
            Constant { name: unknown.name.clone(), value }
        };
        let unknowns = written.unknowns.iter().enumerate().map(near);
        let numbers = written.constants.iter().cloned().chain(unknowns).collect();
        let rough =
            written.given.iter().filter(|given| given.is_rough()).map(|given| &given.name[..]).collect();
        Values { coordinates: &written.coordinates, functions: &written.functions, numbers, rough }
    }

    /// Whether an expression depends on a coordinate; true if nothing is known of one of its names.
    pub(super) fn depends(&self, text: &str, coordinate: usize) -> bool {
        let Ok(formula) = Formula::parse(text, Origin::none()) else { return true };
        formula.ast.names().into_iter().any(|(name, _)| match self.function(name) {
            _ if name == self.coordinates[coordinate].name => true,
            Some(function) => function.of.contains(&self.coordinates[coordinate].name),
            None => !self.is_number(name) && !self.coordinates.iter().any(|c| c.name == name),
        })
    }

    /// An expression with a coordinate held; none where a function depends on that.
    pub(super) fn held(&self, text: &str, coordinate: usize, place: f64) -> Option<String> {
        if !self.depends(text, coordinate) {
            return Some(text.to_owned());
        }
        let formula = Formula::parse(text, Origin::none()).ok()?;
        let plain = |name: &str| self.is_number(name) || self.coordinates.iter().any(|c| c.name == name);
        let known = formula.ast.names().into_iter().all(|(name, _)| {
            plain(name)
                || self.function(name).is_some_and(|f| !f.of.contains(&self.coordinates[coordinate].name))
        });
        let replaced =
            formula.ast.with_name_replaced(&self.coordinates[coordinate].name, &format!("{place:?}"));
        replaced.filter(|_| known)
    }

    /// Whether an expression has no jumps and no kinks along any coordinate: its second differences fall by four when steps
    /// are halved, where they fall by two at a kink and not at all at a jump.
    pub(super) fn is_smooth(&self, text: &str) -> bool {
        let names = Formula::parse(text, Origin::none())
            .map(|formula| formula.ast.names().iter().any(|(name, _)| self.rough.contains(name)));
        if names.unwrap_or(false) {
            return false;
        }
        let suspect = ["min(", "max(", "abs(", "sign(", "if("].iter().any(|name| text.contains(name));
        !suspect
            || (0..self.coordinates.len()).all(|c| !self.depends(text, c) || self.is_smooth_along(text, c))
    }

    fn is_smooth_along(&self, text: &str, coordinate: usize) -> bool {
        let second_difference = |steps: usize| -> Option<[f64; 2]> {
            let value = |step: usize| {
                let part =
                    |c: usize| if c == coordinate { step as f64 / steps as f64 } else { fraction(c, 5) };
                let place = self.coordinates.iter().enumerate().map(|(c, axis)| axis.at_fraction(part(c)));
                self.at(text, &place.collect::<Vec<_>>())
            };
            let values: Vec<f64> = (0..=steps).map(value).collect::<Option<_>>()?;
            let seconds = values.windows(3).map(|three| (three[0] - 2.0 * three[1] + three[2]).abs());
            let size = values.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
            Some([seconds.fold(0.0, f64::max), size])
        };
        let (Some([coarse, size]), Some([fine, _])) =
            (second_difference(STEPS), second_difference(2 * STEPS))
        else {
            return true;
        };
        coarse <= ROUNDING * size || fine < coarse / 3.0
    }

    fn is_number(&self, name: &str) -> bool {
        self.numbers.iter().any(|number| number.name == name)
    }

    fn function(&self, name: &str) -> Option<&FunctionSpec> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The value at a place; unknown functions by what their forms hold there, and something else where these hold
    /// nothing. None if that cannot be said.
    pub(super) fn at(&self, text: &str, place: &[f64]) -> Option<f64> {
        let mut names = self.numbers.clone();
        let mut add = |name: &str, value: f64| names.push(Constant { name: name.to_owned(), value });
        self.coordinates.iter().zip(place).for_each(|(coordinate, &value)| add(&coordinate.name, value));
        for (number, function) in self.functions.iter().enumerate() {
            let own =
                place.iter().enumerate().filter(|(c, _)| function.of.contains(&self.coordinates[*c].name));
            let mixed: f64 = own.map(|(c, value)| value * (1.0 + c as f64)).sum();
            let net = 0.5 + fraction(number, 3) + 0.1 * (1.0 + mixed).sin();
            let mut within = names.clone();
            within.push(Constant { name: NET.to_owned(), value: net });
            let form = Formula::parse(function.form.as_deref().unwrap_or(NET), Origin::none()).ok()?;
            let value = evaluate(&form, &within).ok()?;
            names.push(Constant { name: function.name.clone(), value });
        }
        evaluate(&Formula::parse(text, Origin::none()).ok()?, &names).ok()
    }
}

/// Scattered numbers in [0, 1), the same at every run.
pub(super) fn fraction(number: usize, stream: usize) -> f64 {
    ((number + 1) as f64 * (0.618_034 + 0.123_457 * stream as f64)).fract()
}
