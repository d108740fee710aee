//! Bad input gives the right error: what is wrong, where, and what to write instead.

use crate::arrays;

use arrays::{Order, npy, npz};
use bilo::problem::{Overrides, Problem};
use proptest::prelude::*;
use std::path::Path;

/// The cases, as text to be read.
const CASES: &str = include_str!("data/bad_input.txt");

/// A case: what it changes in the base file and the error it must give.
#[derive(Default)]
struct Case {
    title: String,
    edits: Vec<(String, String)>,
    files: Vec<(String, String)>,
    overrides: Overrides,
    error: String,
}

fn base() -> &'static str {
    let (_, rest) = CASES.split_once("=== base\n").expect("the base file");
    rest.split_once("\n===").expect("its end").0
}

fn cases() -> Vec<Case> {
    CASES.split("\n=== ").skip(2).map(read_case).collect()
}

fn read_case(text: &str) -> Case {
    let mut sections = text.split("\n--- ");
    let title = sections.next().expect("a title").trim().to_string();
    let mut case = Case { title, ..Case::default() };
    for section in sections {
        let (head, body) = section.split_once('\n').expect("a line for the kind of section");
        let line = body.trim_end().to_string();
        match head.split_once(' ').unwrap_or((head, "")) {
            ("replace", _) => case.edits.push((line, String::new())),
            ("with", _) => case.edits.last_mut().expect("a text to replace").1 = line,
            ("file", name) => case.files.push((name.to_string(), format!("{body}\n"))),
            ("set", _) => case.overrides.set.push(line.into()),
            ("error", _) => case.error = line,
            (other, _) => panic!("unknown section {other} in {}", case.title),
        }
    }
    case
}

/// The error of a case, with the temporary folder's name taken out.
fn error_of(case: &Case) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in &case.files {
        std::fs::write(folder.path().join(name), text).expect("a data file");
    }
    let mut text = base().to_string();
    for (from, to) in &case.edits {
        assert!(text.contains(from), "{}: nothing to replace", case.title);
        text = text.replacen(from, to, 1);
    }
    let error = Problem::from_toml("front.toml", &text, folder.path(), &case.overrides);
    let error = error.expect_err(&case.title).to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn the_base_file_is_a_good_problem() {
    let problem = Problem::from_toml("front.toml", base(), Path::new("."), &Overrides::default());
    assert_eq!(problem.expect("no error").name, "front");
}

#[test]
fn every_bad_input_gives_its_error() {
    let cases = cases();
    assert!(cases.len() >= 80, "cases are missing");
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let found = error_of(case);
            (found != case.error).then(|| format!("=== {}\n{found}\n", case.title))
        })
        .collect();
    assert!(wrong.is_empty(), "these errors were found instead:\n{}", wrong.join("\n"));
}

/// The error for an observation of the base problem from a binary file; `more` follows its name.
fn error_of_binary(name: &str, bytes: &[u8], more: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(name), bytes).expect("a data file");
    let synthetic = "{ synthetic = { grid = { x = 51, t = 51 }, noise = 0.01 } }";
    let text = base().replace(synthetic, &format!("{{ file = \"{name}\"{more} }}"));
    let error = Problem::from_toml("front.toml", &text, folder.path(), &Overrides::default());
    error.expect_err(name).to_string()
}

fn floats(shape: &[usize], data: &[f64]) -> Vec<u8> {
    npy("<f8", Order::C, shape, data)
}

#[test]
fn bad_arrays_give_their_errors() {
    let truncated = {
        let mut bytes = floats(&[2, 3], &[0.5; 6]);
        bytes.truncate(bytes.len() - 3);
        bytes
    };
    let complex = {
        let text = String::from_utf8_lossy(&floats(&[1, 3], &[0.5; 3])).replace("<f8", "<c8");
        let mut bytes = vec![0x93];
        bytes.extend(text.trim_start_matches('\u{fffd}').bytes());
        bytes
    };
    let x: (&str, &[usize], &[f64]) = ("x", &[2], &[0.0, 1.0]);
    let t: (&str, &[usize], &[f64]) = ("t", &[3], &[0.0, 0.5, 1.0]);
    let cases: &[(&str, Vec<u8>, &[&str])] = &[
        (
            "a.npy",
            floats(&[6], &[0.5; 6]),
            &["a.npy has shape [6]", "columns `x`, `t`, `value` and, if given, `sigma`"],
        ),
        ("b.npy", floats(&[1, 5], &[0.5; 5]), &["b.npy has shape [1, 5]"]),
        ("c.npy", truncated, &["c.npy: shape [2, 3] does not fit the 45 bytes of its data"]),
        ("d.npy", complex, &["d.npy: arrays of type `<c8` are not supported"]),
        (
            "e.npy",
            floats(&[2, 3], &[0.5, 0.5, 1.0, 0.5, 1.5, 1.0]),
            &["row 2: t = 1.5 is outside the domain [0.0, 1.0]"],
        ),
        ("f.npy", floats(&[0, 3], &[0.0; 0]), &["f.npy has no rows"]),
        (
            "g.npz",
            npz(&[x, ("time", &[2], &[0.0, 1.0])]),
            &["there is no array `t` in g.npz", "found `time`, `x`"],
        ),
        ("h.npz", npz(&[x, t, ("value", &[2], &[0.0; 2])]), &["array `t` of h.npz has shape [3], not [2]"]),
        (
            "i.npz",
            npz(&[x, t, ("value", &[3, 2], &[0.0; 6])]),
            &["array `value` of i.npz has shape [3, 2], not [2, 3]"],
        ),
        (
            "j.npz",
            npz(&[x, t, ("value", &[2, 3], &[f64::NAN; 6])]),
            &["row 1: `value` must be finite, found NaN"],
        ),
    ];
    for (name, bytes, wanted) in cases {
        let error = error_of_binary(name, bytes, "");
        assert!(error.contains("--> front.toml:28:17"), "{error}");
        for text in *wanted {
            assert!(error.contains(text), "{text} is not in\n{error}");
        }
    }
}

#[test]
fn an_array_of_a_held_coordinate_is_an_error_at_the_entry() {
    let bytes = npz(&[("x", &[1], &[0.5]), ("t", &[1], &[0.5]), ("value", &[1, 1], &[1.0])]);
    let expected = "\
error: `x` is an array of k.npz
  --> front.toml:28:33
   |
28 | data = { file = \"k.npz\", at = { x = 0.5 } }
   |                                 ^
   |
   = help: leave it out of `at`, or drop the array";
    assert_eq!(error_of_binary("k.npz", &bytes, ", at = { x = 0.5 }"), expected);
}

/// Reads a text as a problem with the same text as its data; all that counts is that it returns.
fn read_anything(text: &str, data: &[u8], overrides: &[String]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["profile.csv", "profile.npy", "profile.npz"] {
        std::fs::write(folder.path().join(name), data).expect("a data file");
    }
    let overrides = Overrides::of(overrides.to_vec());
    if let Err(error) = Problem::from_toml("any.toml", text, folder.path(), &overrides) {
        assert!(error.to_string().starts_with("error: "), "{error}");
    }
}

/// The base problem with some of its bytes replaced.
fn mutated() -> impl Strategy<Value = String> {
    let snippet = prop_oneof![
        ".{0,8}",
        Just("{".to_string()),
        Just("\"".to_string()),
        Just("nan".to_string()),
        Just("-1".to_string()),
        Just("99999999999".to_string()),
        Just("grad(".to_string()),
        Just("é".to_string()),
        Just("\n[unknown.D]\n".to_string()),
    ];
    let edits = prop::collection::vec((0..base().len(), 0..12usize, snippet), 1..4);
    edits.prop_map(|edits| {
        let mut text = base().to_string();
        for (start, length, snippet) in edits {
            let start = text.floor_char_boundary(start);
            let end = text.ceil_char_boundary(start + length);
            text.replace_range(start..end, &snippet);
        }
        text
    })
}

/// An array file with some of its bytes replaced.
fn mutated_array(bytes: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec((0..bytes.len(), any::<u8>()), 0..6).prop_map(move |edits| {
        let mut bytes = bytes.clone();
        edits.into_iter().for_each(|(place, byte)| bytes[place] = byte);
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_makes_it_panic(text in ".{0,300}", argument in ".{0,40}") {
        read_anything(&text, b"", &[]);
        read_anything(base(), b"", &[argument]);
    }

    #[test]
    fn no_mutated_problem_makes_it_panic(text in mutated()) {
        read_anything(&text, b"", &[]);
    }

    #[test]
    fn no_data_makes_it_panic(
        text in "[x,tvalue0-9.\n \"é#-]{0,200}",
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        array in mutated_array(floats(&[2, 3], &[0.5; 6])),
        archive in mutated_array(npz(&[("x", &[1], &[0.5]), ("t", &[1], &[0.5]), ("value", &[1], &[0.5])])),
    ) {
        for data in [text.as_bytes(), &bytes, &array, &archive] {
            for extension in ["csv", "npy", "npz"] {
                let synthetic = "{ synthetic = { grid = { x = 51, t = 51 }, noise = 0.01 } }";
                let file = format!("{{ file = \"profile.{extension}\" }}");
                read_anything(&base().replace(synthetic, &file), data, &[]);
            }
        }
    }
}
