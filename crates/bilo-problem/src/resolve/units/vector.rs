//! Units as vectors of exponents, and how they are written.

use std::collections::BTreeMap;

/// The logarithm of the number that multiplies base units.
pub(super) const SCALE: &str = "";

/// Exponents nearer to each other than this are equal.
pub(super) const ROUNDING: f64 = 1e-6;

/// A name, a number, and exponents of base units.
type Definition = (&'static str, f64, &'static [(&'static str, f64)]);

/// Units that take prefixes.
const UNITS: &[Definition] = &[
    ("m", 1.0, &[("m", 1.0)]),
    ("g", 1e-3, &[("kg", 1.0)]),
    ("s", 1.0, &[("s", 1.0)]),
    ("A", 1.0, &[("A", 1.0)]),
    ("K", 1.0, &[("K", 1.0)]),
    ("mol", 1.0, &[("mol", 1.0)]),
    ("cd", 1.0, &[("cd", 1.0)]),
    ("N", 1.0, &[("kg", 1.0), ("m", 1.0), ("s", -2.0)]),
    ("Pa", 1.0, &[("kg", 1.0), ("m", -1.0), ("s", -2.0)]),
    ("bar", 1e5, &[("kg", 1.0), ("m", -1.0), ("s", -2.0)]),
    ("J", 1.0, &[("kg", 1.0), ("m", 2.0), ("s", -2.0)]),
    ("eV", 1.602_176_634e-19, &[("kg", 1.0), ("m", 2.0), ("s", -2.0)]),
    ("W", 1.0, &[("kg", 1.0), ("m", 2.0), ("s", -3.0)]),
    ("C", 1.0, &[("A", 1.0), ("s", 1.0)]),
    ("V", 1.0, &[("kg", 1.0), ("m", 2.0), ("s", -3.0), ("A", -1.0)]),
    ("ohm", 1.0, &[("kg", 1.0), ("m", 2.0), ("s", -3.0), ("A", -2.0)]),
    ("Ω", 1.0, &[("kg", 1.0), ("m", 2.0), ("s", -3.0), ("A", -2.0)]),
    ("Ohm", 1.0, &[("kg", 1.0), ("m", 2.0), ("s", -3.0), ("A", -2.0)]),
    ("S", 1.0, &[("kg", -1.0), ("m", -2.0), ("s", 3.0), ("A", 2.0)]),
    ("F", 1.0, &[("kg", -1.0), ("m", -2.0), ("s", 4.0), ("A", 2.0)]),
    ("H", 1.0, &[("kg", 1.0), ("m", 2.0), ("s", -2.0), ("A", -2.0)]),
    ("T", 1.0, &[("kg", 1.0), ("s", -2.0), ("A", -1.0)]),
    ("Hz", 1.0, &[("s", -1.0)]),
    ("Bq", 1.0, &[("s", -1.0)]),
    ("L", 1e-3, &[("m", 3.0)]),
    ("l", 1e-3, &[("m", 3.0)]),
    ("M", 1e3, &[("mol", 1.0), ("m", -3.0)]),
    ("D", 9.869_233e-13, &[("m", 2.0)]),
];

/// Units that take no prefix.
const WHOLE: &[Definition] = &[
    ("1", 1.0, &[]),
    ("rad", 1.0, &[]),
    ("deg", 0.017_453_292_519_943_295, &[]),
    ("%", 1e-2, &[]),
    ("degC", 1.0, &[("K", 1.0)]),
    ("°C", 1.0, &[("K", 1.0)]),
    ("degF", 5.0 / 9.0, &[("K", 1.0)]),
    ("min", 60.0, &[("s", 1.0)]),
    ("h", 3600.0, &[("s", 1.0)]),
    ("hr", 3600.0, &[("s", 1.0)]),
    ("hour", 3600.0, &[("s", 1.0)]),
    ("hours", 3600.0, &[("s", 1.0)]),
    ("d", 86400.0, &[("s", 1.0)]),
    ("day", 86400.0, &[("s", 1.0)]),
    ("days", 86400.0, &[("s", 1.0)]),
    ("week", 604_800.0, &[("s", 1.0)]),
    ("weeks", 604_800.0, &[("s", 1.0)]),
    ("yr", 31_557_600.0, &[("s", 1.0)]),
    ("year", 31_557_600.0, &[("s", 1.0)]),
    ("years", 31_557_600.0, &[("s", 1.0)]),
    ("atm", 101_325.0, &[("kg", 1.0), ("m", -1.0), ("s", -2.0)]),
];

const PREFIXES: &[(&str, f64)] = &[
    ("f", 1e-15),
    ("p", 1e-12),
    ("n", 1e-9),
    ("u", 1e-6),
    ("µ", 1e-6),
    ("μ", 1e-6),
    ("m", 1e-3),
    ("c", 1e-2),
    ("d", 1e-1),
    ("h", 1e2),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
];

/// A sum of exponents: of base units, of the scale, and of names whose unit is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Vector(pub(super) BTreeMap<Key, f64>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Base(String),
    /// The unit of a name.
    Open(String),
}

impl Vector {
    pub(super) fn open(name: &str) -> Vector {
        Vector(BTreeMap::from([(Key::Open(name.to_owned()), 1.0)]))
    }

    pub(super) fn plus(mut self, factor: f64, other: &Vector) -> Vector {
        for (key, exponent) in &other.0 {
            *self.0.entry(key.clone()).or_default() += factor * exponent;
        }
        self.0.retain(|_, exponent| exponent.abs() > ROUNDING);
        self
    }

    pub(super) fn times(&self, factor: f64) -> Vector {
        Vector::default().plus(factor, self)
    }

    /// One that is not known yet.
    pub(super) fn first_open(&self) -> Option<(&String, f64)> {
        self.0.iter().find_map(|(key, exponent)| match key {
            Key::Open(name) => Some((name, *exponent)),
            Key::Base(_) => None,
        })
    }

    /// `m^2/s`, with a number where that is not one.
    pub(super) fn in_words(&self) -> String {
        let (mut above, mut below) = (vec![], vec![]);
        for (key, &exponent) in &self.0 {
            let name = match key {
                Key::Base(name) if name == SCALE => continue,
                Key::Base(name) => name.clone(),
                Key::Open(name) => format!("[{name}]"),
            };
            let size = exponent.abs();
            let power = if (size - 1.0).abs() < ROUNDING { name } else { format!("{name}^{}", shown(size)) };
            if exponent > 0.0 { above.push(power) } else { below.push(power) }
        }
        let scale = self.0.get(&Key::Base(SCALE.to_owned())).copied().unwrap_or(0.0);
        if scale.abs() > ROUNDING {
            above.insert(0, shown(scale.exp()));
        }
        let above = if above.is_empty() { "1".to_owned() } else { above.join(" ") };
        below.iter().fold(above, |text, unit| format!("{text}/{unit}"))
    }
}

/// A factor between units, which is exact: `1e-6`, not `1.00000e-6`.
pub(super) fn shown(number: f64) -> String {
    let text = crate::text::digits(number, 6);
    match text.split_once('e') {
        Some((digits, exponent)) => {
            format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        None => text,
    }
}

/// The vector of a unit such as `W/(m^2 K)`; the part that cannot be read if it is none.
pub(super) fn parse(text: &str) -> std::result::Result<Vector, String> {
    let (mut unit, mut sign, mut rest) = (Vector::default(), 1.0, text.trim());
    // Everything within parentheses after a stroke is below it.
    let mut outside: Vec<f64> = vec![];
    let mut next_sign = 1.0;
    while let Some(first) = rest.chars().next() {
        match first {
            ' ' | '*' | '·' | '.' => rest = &rest[first.len_utf8()..],
            '/' => (next_sign, rest) = (-1.0, &rest[1..]),
            '(' => {
                outside.push(sign);
                sign *= next_sign;
                (next_sign, rest) = (1.0, &rest[1..]);
            }
            ')' => {
                sign = outside.pop().ok_or_else(|| rest.to_owned())?;
                rest = &rest[1..];
            }
            _ => {
                let end = rest.find([' ', '*', '·', '/', '(', ')']).unwrap_or(rest.len());
                let (name, exponent) = power(&rest[..end])?;
                unit = unit.plus(sign * next_sign * exponent, &named(name));
                (next_sign, rest) = (1.0, &rest[end..]);
            }
        }
    }
    if outside.is_empty() { Ok(unit) } else { Err(text.to_owned()) }
}

/// `m^2`, `s-1` or `m²` as a name and an exponent.
fn power(word: &str) -> std::result::Result<(&str, f64), String> {
    let fault = || word.to_owned();
    if let Some((name, exponent)) = word.split_once('^') {
        return Ok((name, exponent.parse().map_err(|_| fault())?));
    }
    for (sign, exponent) in [("²", 2.0), ("³", 3.0), ("⁻¹", -1.0)] {
        if let Some(name) = word.strip_suffix(sign) {
            return Ok((name, exponent));
        }
    }
    let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '-');
    let name = &word[..word.len() - digits.len()];
    match digits.parse::<f64>() {
        Ok(exponent) if !name.is_empty() => Ok((name, exponent)),
        _ if word == "1" || digits.is_empty() => Ok((word, 1.0)),
        _ => Err(fault()),
    }
}

/// A unit by its name; one that nobody knows, such as `cells`, is a base unit.
fn named(name: &str) -> Vector {
    let vector = |factor: f64, of: &[(&str, f64)]| {
        let bases = of.iter().map(|(base, exponent)| (Key::Base((*base).to_owned()), *exponent));
        Vector(bases.chain([(Key::Base(SCALE.to_owned()), factor.ln())]).collect())
            .plus(0.0, &Vector::default())
    };
    if let Some((_, factor, of)) = WHOLE.iter().chain(UNITS).find(|(known, ..)| *known == name) {
        return vector(*factor, of);
    }
    for (prefix, larger) in PREFIXES {
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        if let Some((_, factor, of)) = UNITS.iter().find(|(known, ..)| *known == rest) {
            return vector(larger * factor, of);
        }
    }
    vector(1.0, &[(name, 1.0)])
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn units_are_read_as_people_write_them() {
        let same = |texts: &[&str]| {
            let units: Vec<_> = texts.iter().map(|text| parse(text).unwrap()).collect();
            for (unit, text) in units.iter().zip(texts) {
                let difference = unit.clone().plus(-1.0, &units[0]);
                assert!(difference.0.is_empty(), "{text}: {difference:?}");
            }
        };
        same(&["W/(m^2 K)", "W/m^2/K", "W m^-2 K-1", "kg/s^3/K", "kW/(km m K)", "W/(m²*K)"]);
        same(&["1/h", "h^-1", "1/hour"]);
        same(&["mg/L", "g/m^3", "ug/mL"]);
        same(&["N", "kg m/s^2", "J/m", "Pa m^2"]);
        for wrong in ["m^^2", "m^two", "(m", "m)"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
