//! Forms that hold values on faces of a box, whatever the network does.
//!
//! u = E + net M, where M vanishes on the faces and E has their values: E is extended by one coordinate after the other,
//! E + Σ w_k (b_k - E on face k), with weights that are linear in the coordinate and one on their face, and in time by
//! E + g - E(start). What was held before stays so if values agree where faces meet; where they do not, the later ones are
//! left to equations, the start last. So are values with kinks and jumps: second derivatives of formulas know nothing of
//! them, and a form with a kink would solve equations that its limit does not.

use super::condition::{Face, FixedValue};
use super::value::{Values, fraction};
use crate::evaluate::names::NET;

/// Scattered places at which values are compared.
const TRIALS: usize = 16;

/// Values that differ by less than this part of their size agree.
const ROUNDING: f64 = 1e-9;

/// Values below this are told to the form.
const TINY: f64 = 1e-3;

/// The form of a state with these values, and those that it holds.
pub(super) fn holding(values: &[FixedValue], names: &Values<'_>) -> (String, Vec<FixedValue>) {
    let smooth = values.iter().filter(|value| names.is_smooth(&value.value));
    let values: Vec<FixedValue> = smooth.cloned().collect();
    let mut form = Extension { names, text: "0".to_owned(), held: vec![] };
    let space = (0..names.coordinates.len()).filter(|&c| !names.coordinates[c].time);
    for coordinate in space {
        let own = values.iter().filter(|value| value.face.coordinate == coordinate);
        form.add_faces(&once(own.cloned().collect()));
    }
    let at_start = values.iter().filter(|value| names.coordinates[value.face.coordinate].time);
    let (rates, starts): (Vec<FixedValue>, Vec<FixedValue>) = at_start.cloned().partition(|value| value.rate);
    if let [start] = &once(starts)[..] {
        form.add_start(start, once(rates).first());
    }
    form.finish()
}

/// Of several values on one face none can be chosen.
fn once(values: Vec<FixedValue>) -> Vec<FixedValue> {
    let alone = |value: &FixedValue| values.iter().filter(|other| other.face == value.face).count() == 1;
    values.iter().filter(|value| alone(value)).cloned().collect()
}

struct Extension<'a> {
    names: &'a Values<'a>,
    /// E.
    text: String,
    held: Vec<FixedValue>,
}

impl Extension<'_> {
    fn add_faces(&mut self, faces: &[FixedValue]) {
        let Some(text) = self.extended(faces) else { return };
        self.accept(text, faces);
    }

    /// E + Σ w_k (b_k - E on face k).
    fn extended(&self, faces: &[FixedValue]) -> Option<String> {
        let first = faces.first()?;
        if faces.iter().all(|face| face.value == first.value) && self.text == "0" {
            return Some(first.value.clone());
        }
        let mut terms = vec![];
        for value in faces {
            let place = self.place(value.face);
            let there = self.names.held(&self.text, value.face.coordinate, place)?;
            let rest = match (&self.text[..], &value.value[..]) {
                ("0", b) => b.to_owned(),
                (_, "0") => format!("-{}", factor(&there)),
                (_, b) => format!("{b} - {}", factor(&there)),
            };
            if is_zero(&rest) || self.vanishes(&rest) {
                continue;
            }
            let weight = match (faces.len(), value.face.upper) {
                (1, _) => String::new(),
                (_, true) => format!("*{}", self.unit(value.face.coordinate)),
                (_, false) => format!("*(1 - {})", self.unit(value.face.coordinate)),
            };
            terms.push(format!("{}{weight}", factor(&rest)));
        }
        let text = match &self.text[..] {
            "0" if terms.is_empty() => "0".to_owned(),
            "0" => terms.join(" + "),
            before => [&[before.to_owned()], &terms[..]].concat().join(" + "),
        };
        Some(text)
    }

    /// E + g - E(start), and (t - start) (v - E_t) beside it: where E does not depend on time, g + (t - start) v.
    fn add_start(&mut self, start: &FixedValue, rate: Option<&FixedValue>) {
        let (coordinate, place) = (start.face.coordinate, self.place(start.face));
        let still = !self.names.depends(&self.text, coordinate);
        let text = match still {
            true => Some(start.value.clone()),
            false => self
                .names
                .held(&self.text, coordinate, place)
                .map(|there| format!("{} + {} - {}", self.text, factor(&start.value), factor(&there))),
        };
        let Some(text) = text else { return };
        if !self.accept(text, std::slice::from_ref(start)) {
            return;
        }
        if let Some(rate) = rate.filter(|_| still) {
            let time = &self.names.coordinates[coordinate].name;
            let since = if place == 0.0 { time.clone() } else { format!("({time} - {place:?})") };
            let text = match is_zero(&rate.value) {
                true => self.text.clone(),
                false => format!("{} + {}*{since}", self.text, factor(&rate.value)),
            };
            self.accept(text, std::slice::from_ref(rate));
        }
    }

    /// Takes another E with what it holds in addition, if everything else is still held.
    fn accept(&mut self, text: String, added: &[FixedValue]) -> bool {
        let all: Vec<FixedValue> = self.held.iter().chain(added).cloned().collect();
        let meets =
            |value: &FixedValue| all.iter().any(|other| other.face.coordinate != value.face.coordinate);
        let fine =
            all.iter().filter(|value| !value.rate && meets(value)).all(|value| self.agrees(&text, value));
        if fine {
            (self.text, self.held) = (text, all);
        }
        fine
    }

    fn agrees(&self, text: &str, value: &FixedValue) -> bool {
        (0..TRIALS).all(|trial| {
            let mut place: Vec<f64> = (self.names.coordinates.iter().enumerate())
                .map(|(c, coordinate)| coordinate.at_fraction(self.scattered(trial, c)))
                .collect();
            place[value.face.coordinate] = self.place(value.face);
            match (self.names.at(text, &place), self.names.at(&value.value, &place)) {
                (Some(a), Some(b)) => (a - b).abs() <= ROUNDING * (1.0 + a.abs().max(b.abs())),
                _ => false,
            }
        })
    }

    /// Whether an expression is zero wherever it is tried.
    fn vanishes(&self, text: &str) -> bool {
        (0..TRIALS).all(|trial| {
            let place: Vec<f64> = (self.names.coordinates.iter().enumerate())
                .map(|(c, coordinate)| coordinate.at_fraction(fraction(trial, c)))
                .collect();
            self.names.at(text, &place).is_some_and(|value| value.abs() <= f64::EPSILON)
        })
    }

    /// Half of the trials at ends, where faces meet.
    fn scattered(&self, trial: usize, coordinate: usize) -> f64 {
        let inside = fraction(trial, coordinate);
        if trial.is_multiple_of(2) { inside } else { f64::from(u8::from(inside > 0.5)) }
    }

    fn place(&self, face: Face) -> f64 {
        let coordinate = &self.names.coordinates[face.coordinate];
        if face.upper { coordinate.hi } else { coordinate.lo }
    }

    /// A coordinate scaled to [0, 1].
    fn unit(&self, coordinate: usize) -> String {
        let c = &self.names.coordinates[coordinate];
        let above = if c.lo == 0.0 { c.name.clone() } else { format!("({} - {})", c.name, number(c.lo)) };
        if c.hi - c.lo == 1.0 { above } else { format!("{above}/{}", number(c.hi - c.lo)) }
    }

    fn finish(self) -> (String, Vec<FixedValue>) {
        let factors: Vec<String> = self
            .held
            .iter()
            .map(|value| match value.face.upper {
                true => format!("(1 - {})", self.unit(value.face.coordinate)),
                false => self.unit(value.face.coordinate),
            })
            .collect();
        let moved = [&self.size()[..], &[NET.to_owned()], &factors[..]].concat().join("*");
        let text = if is_zero(&self.text) { moved } else { format!("{} + {moved}", self.text) };
        (text, self.held)
    }
}

impl Extension<'_> {
    /// What makes `net` a number of size one where values are tiny: a first try of one would be far from any solution.
    fn size(&self) -> Vec<String> {
        let value = |trial: usize| {
            let place: Vec<f64> = (self.names.coordinates.iter().enumerate())
                .map(|(c, coordinate)| coordinate.at_fraction(fraction(trial, c)))
                .collect();
            self.names.at(&self.text, &place).map_or(0.0, f64::abs)
        };
        let largest = (0..TRIALS).map(value).filter(|value| value.is_finite()).fold(0.0, f64::max);
        let tiny = largest > 0.0 && largest < TINY;
        if tiny { vec![format!("{:e}", 10.0_f64.powf(largest.log10().round()))] } else { vec![] }
    }
}

fn number(value: f64) -> String {
    if value < 0.0 { format!("({value:?})") } else { format!("{value:?}") }
}

/// A text that can be multiplied.
fn factor(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if text.chars().all(plain) { text.to_owned() } else { format!("({text})") }
}

fn is_zero(text: &str) -> bool {
    text.parse() == Ok(0.0)
}
