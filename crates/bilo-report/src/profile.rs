//! `profile.json`, and the table of profile likelihoods for people.

use crate::columns::aligned;
use crate::files::PROFILE;
use crate::number::significant;
use bilo::outcome::{Flat, ProfileOutcome};
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// The profiles of a run's folder; none if nobody asked for them.
pub fn read(folder: &Path) -> Vec<ProfileOutcome> {
    let text = fs::read_to_string(folder.join(PROFILE)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// The text of `profile.json`.
pub fn json(profiles: &[ProfileOutcome]) -> String {
    serde_json::to_string_pretty(profiles).expect("plain data") + "\n"
}

/// Writes them into a run's folder.
pub fn write(profiles: &[ProfileOutcome], folder: &Path) -> io::Result<()> {
    fs::write(folder.join(PROFILE), json(profiles))
}

/// A line for each unknown, and what is to be said of sides that have no end.
pub fn table(profiles: &[ProfileOutcome]) -> String {
    let interval = |(lo, hi): (Option<f64>, Option<f64>)| {
        let end = |end: Option<f64>| end.map_or("-".to_owned(), significant);
        format!("[{}, {}]", end(lo), end(hi))
    };
    let heading = ["unknown", "best fit", "68 % interval", "95 % interval"].map(str::to_owned);
    let rows = profiles.iter().map(|profile| {
        let unit = profile.unit.as_ref().map(|unit| format!(" [{unit}]")).unwrap_or_default();
        [
            format!("{}{unit}", profile.name),
            significant(profile.estimate),
            interval(profile.interval_68),
            interval(profile.interval_95),
        ]
    });
    let rows: Vec<[String; 4]> = std::iter::once(heading).chain(rows).collect();
    let mut text = aligned(&rows);
    profiles.iter().flat_map(flat_sides).for_each(|sentence| {
        let _ = writeln!(text, "{sentence}.");
    });
    text
}

/// A sentence for each side that the data do not limit.
pub fn flat_sides(profile: &ProfileOutcome) -> Vec<String> {
    let sentence = |(side, flat): (&str, Option<Flat>)| {
        let name = &profile.name;
        Some(match flat? {
            Flat::Practically => {
                format!("These data do not limit {name} {side} (practically not identified)")
            }
            Flat::Structurally => {
                format!(
                    "No data of this kind limit {name} {side}: other unknowns make up for any value (structurally not identified)"
                )
            }
        })
    };
    [("from below", profile.below), ("from above", profile.above)].into_iter().filter_map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_side_has_no_end_and_a_sentence() {
        let profile = ProfileOutcome {
            name: "D".into(),
            unit: Some("m^2/s".into()),
            estimate: 0.25,
            interval_68: (Some(0.125), Some(0.5)),
            interval_95: (Some(0.0625), None),
            threshold: 3.84,
            below: None,
            above: Some(Flat::Practically),
            points: vec![],
        };
        let expected = "\
unknown    best fit  68 % interval  95 % interval
D [m^2/s]      0.25   [0.125, 0.5]    [0.0625, -]
These data do not limit D from above (practically not identified).
";
        assert_eq!(table(&[profile]), expected);
    }
}
