//! The JSON Schema for editors is about the files that the program reads.

use crate::common;

use common::Place;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::fs;
use std::path::Path;
use toml_edit::{DocumentMut, Item};

fn schema() -> Value {
    serde_json::from_str(&Place::new().bilo("schema").succeeds().stdout).expect("JSON")
}

/// What the schema finds wrong with a problem file, as `path: fault`.
fn faults_of(schema: &Value, text: &str) -> Vec<String> {
    let file: DocumentMut = text.parse().expect("TOML");
    faults(schema, schema, &json_of(file.as_item()), "")
}

fn json_of(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return table.iter().map(|(key, item)| (key.to_owned(), json_of(item))).collect::<Map<_, _>>().into();
    }
    let Some(value) = item.as_value() else { panic!("no problem file has {item:?}") };
    match value {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) => json!(number.value()),
        toml_edit::Value::Boolean(boolean) => json!(boolean.value()),
        toml_edit::Value::Array(list) => list.iter().map(|value| json_of(&value.clone().into())).collect(),
        other => panic!("no problem file has {other:?}"),
    }
}

/// The part of JSON Schema that is in use; another keyword is a panic.
fn faults(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut found = vec![];
    for (keyword, said) in schema.as_object().expect("a schema") {
        let size = || value.as_array().map_or(0, Vec::len) as u64;
        let holds = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => true,
            "properties" | "additionalProperties" => true, // with the type
            "type" => {
                found.extend(within(root, schema, value, path));
                has_type(value, said.as_str().expect("a type"))
            }
            "$ref" => {
                let place = said.as_str().and_then(|place| place.strip_prefix('#')).expect("a place here");
                found.extend(faults(root, root.pointer(place).expect("a definition"), value, path));
                true
            }
            "anyOf" => {
                let ways = said.as_array().expect("several").iter();
                let nearest = ways.map(|way| faults(root, way, value, path)).min_by_key(|way| distance(way));
                found.extend(nearest.expect("one at least"));
                true
            }
            "enum" => said.as_array().expect("words").contains(value),
            "minimum" => value.as_f64() >= said.as_f64(),
            "maximum" => value.as_f64() <= said.as_f64(),
            "exclusiveMinimum" => value.as_f64() > said.as_f64(),
            "minItems" => Some(size()) >= said.as_u64(),
            "maxItems" => Some(size()) <= said.as_u64(),
            "items" => {
                let items = value.as_array().into_iter().flatten();
                found.extend(items.flat_map(|item| faults(root, said, item, path)));
                true
            }
            "required" => {
                let mut keys = said.as_array().expect("keys").iter();
                keys.all(|key| value.get(key.as_str().expect("a key")).is_some())
            }
            other => panic!("the keyword {other} is new"),
        };
        if !holds {
            found.push(format!("{path}: {keyword} {said}"));
        }
    }
    found
}

/// How far a value is from what it was held against: many faults, or ones that are not deep inside.
fn distance(faults: &[String]) -> (usize, Reverse<usize>) {
    let depth = |fault: &String| fault.split(':').next().map_or(0, |path| path.matches('.').count());
    (faults.len(), Reverse(faults.iter().map(depth).max().unwrap_or(0)))
}

fn has_type(value: &Value, wanted: &str) -> bool {
    match wanted {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    }
}

/// What is wrong with the entries of a table.
fn within(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let entries = value.as_object().into_iter().flatten();
    let of_entry = |(key, value): (&String, &Value)| {
        let path = format!("{path}.{key}");
        match schema
            .pointer("/properties")
            .and_then(|own| own.get(key))
            .or(schema.get("additionalProperties"))
        {
            Some(Value::Bool(false)) => vec![format!("{path}: unknown")],
            Some(schema) => faults(root, schema, value, &path),
            None => vec![],
        }
    };
    entries.flat_map(of_entry).collect()
}

#[test]
fn every_shipped_problem_and_the_template_fit_the_schema() {
    let schema = schema();
    let shipped = fs::read_dir("../../problems").expect("the folder of problems");
    let files = shipped.map(|file| file.expect("a file").path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    assert!(files.len() >= 15, "{files:?}");
    for path in files.iter().map(AsRef::as_ref).chain([Path::new("src/template.toml")]) {
        let faults = faults_of(&schema, &fs::read_to_string(path).expect("a text"));
        assert!(faults.is_empty(), "{}: {faults:#?}", path.display());
    }
}

/// What the schema refuses, the program refuses too.
#[test]
fn slips_do_not_fit_the_schema() {
    let (schema, place) = (schema(), Place::with_decay());
    let more = "\n[network.fast]\nwidth = 16\n[unknown.f]\nof = [\"t\"]\nguess = { file = \"f.csv\" }\n";
    let whole = place.read("decay.toml").replace("u_t + k*u", "u_t + f*k*u") + more;
    place.write("f.csv", "t,value\n0,1\n1,1\n");
    place.write("decay.toml", &whole);
    place.bilo("check decay.toml").succeeds();
    assert_eq!(faults_of(&schema, &whole), Vec::<String>::new());
    let activations = r#"["tanh","sin","softplus","swish"]"#;
    let slips = [
        ("about =", "abut =", ".abut: unknown"),
        ("time = true", "tim = true", ".coordinates.t.tim: unknown"),
        ("guess = 1.0", "guess = 1.0\ngues = 1.0", ".unknown.k.gues: unknown"),
        ("grid = { t = 11 }", "gird = { t = 11 }", ".equation.decay.points.gird: unknown"),
        ("grid = { t = 11 }", "grid = { t = 1 }", ".equation.decay.points.grid.t: minimum 2"),
        ("record-every = 10", "record-every = 1.5", ".train.record-every: type \"integer\""),
        ("width = 16", "fast = 16", ".network.fast.fast: unknown"),
        ("{ file = \"f.csv\" }", "{ fil = \"f.csv\" }", ".unknown.f.guess.fil: unknown"),
        ("guess = 1.0\n", "", ".unknown.k: required [\"guess\"]"),
        ("layers = 1", "activation = \"relu\"", &format!(".network.activation: enum {activations}")),
    ];
    for (right, wrong, fault) in slips {
        assert!(whole.contains(right), "{right}");
        let text = whole.replacen(right, wrong, 1);
        let found = faults_of(&schema, &text);
        assert!(found.iter().any(|found| found == fault), "{wrong}: {found:#?}");
        place.write("decay.toml", &text);
        let said = place.bilo("check decay.toml").fails(1);
        assert!(said.stderr.starts_with("error: "), "{}", said.stderr);
    }
}
