//! `bilo study`: many runs and one table.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const STUDY: &str = r#"
problem = "bpn-toy"
method  = ["bilo", "adjoint"]
seeds   = [0, 1]

[vary]
unknown.th0.guess = [1.0, 0.7]
"#;

fn bilo() -> Command {
    Command::cargo_bin("bilo").expect("the program")
}

fn folder(study: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("toy.toml"), study).unwrap();
    folder
}

/// What it prints and its exit code.
fn study(folder: &Path, more: &[&str]) -> (String, bool) {
    let output = bilo().current_dir(folder).args(["study", "toy.toml"]).args(more).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (text, output.status.success())
}

fn written(folder: &Path) -> Vec<std::time::SystemTime> {
    let mut runs: Vec<_> =
        fs::read_dir(folder.join("runs/toy")).unwrap().map(|e| e.unwrap().path()).collect();
    runs.sort();
    let outcomes = runs.iter().map(|run| run.join("outcome.json")).filter(|file| file.is_file());
    outcomes.map(|file| fs::metadata(file).unwrap().modified().unwrap()).collect()
}

#[test]
fn every_combination_is_run_and_none_twice() {
    let folder = folder(STUDY);
    let (text, success) = study(folder.path(), &[]);
    assert!(success, "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("method   guess"), "{text}");
    assert_eq!(lines[1..5].iter().filter(|line| line.starts_with("bilo")).count(), 2, "{text}");
    assert_eq!(lines[1..5].iter().filter(|line| line.starts_with("adjoint")).count(), 2, "{text}");
    let before = written(folder.path());
    assert_eq!(before.len(), 8);
    let rows = fs::read_to_string(folder.path().join("runs/toy/runs.csv")).unwrap();
    assert_eq!(rows.lines().count(), 9, "{rows}");
    assert!(rows.starts_with("method,unknown.th0.guess,seed,stop,"), "{rows}");
    let summary = fs::read_to_string(folder.path().join("runs/toy/study.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["cases"].as_array().unwrap().len(), 4);
    assert_eq!(summary["cases"][0]["figures"]["th0 error"]["runs"], 2);
    let bars = fs::read_to_string(folder.path().join("runs/toy/bars.svg")).unwrap();
    assert!(bars.contains(">th0 error</text>") && bars.contains(">adjoint</text>"), "{bars}");
    let ways = fs::read_to_string(folder.path().join("runs/toy/trajectories.svg")).unwrap();
    assert!(ways.contains(">guess = 0.7</text>") && ways.contains("<circle "), "{ways}");
    // All are there: nothing is run again, and the same is said.
    assert_eq!(study(folder.path(), &[]), (text, true));
    assert_eq!(written(folder.path()), before);
}

/// A folder whose run was another one, or did not end, is filled again; the others stay.
#[test]
fn only_what_is_missing_or_changed_is_run() {
    let folder = folder(STUDY);
    study(folder.path(), &[]);
    let before = written(folder.path());
    let run = folder.path().join("runs/toy/bilo-guess=1.0-seed=1");
    let outcome = fs::read_to_string(run.join("outcome.json")).unwrap();
    let interrupted = outcome.replace("\"stop\": \"converged\"", "\"stop\": \"interrupted\"");
    assert_ne!(outcome, interrupted);
    fs::write(run.join("outcome.json"), interrupted).unwrap();
    let other = folder.path().join("runs/toy/adjoint-guess=0.7-seed=0");
    let problem = fs::read_to_string(other.join("problem.toml")).unwrap();
    fs::write(other.join("problem.toml"), problem + "# changed\n").unwrap();
    let (text, success) = study(folder.path(), &["--jobs", "1", "--json"]);
    assert!(success && serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    let changed = before.iter().zip(written(folder.path())).filter(|(before, after)| *before != after);
    assert_eq!(changed.count(), 2);
}

/// A method may have settings of its own: other methods have no such row, and a dash in its column.
#[test]
fn methods_have_settings_of_their_own() {
    let pinn =
        "{ name = \"pinn\", set = { train.train-steps = 30 }, vary = { train.data-weight = [1.0, 100.0] } }";
    let text =
        STUDY.replace("\"bilo\"", pinn).replace("[vary]\nunknown.th0.guess = [1.0, 0.7]", "contours = true");
    let folder = folder(&text);
    let (text, success) = study(folder.path(), &[]);
    assert!(success, "{text}");
    let rows: Vec<Vec<&str>> = text.lines().take(4).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..2], ["method", "data-weight"], "{text}");
    assert_eq!(
        [&rows[1][..2], &rows[2][..2], &rows[3][..2]],
        [["pinn", "1.0"], ["pinn", "100.0"], ["adjoint", "-"]]
    );
    let ways = fs::read_to_string(folder.path().join("runs/toy/trajectories.svg")).unwrap();
    assert!(ways.contains(">pinn, data-weight 100.0</text>") && ways.contains("class=\"contour\""), "{ways}");
}

/// Killed at any moment and started again, a study comes to the same, to the bit, as if nothing had happened.
#[test]
fn a_killed_study_goes_on() {
    let text =
        STUDY.replace("adjoint", "pinn") + "[set]\noperator.kind = \"network\"\ntrain.train-steps = 40\n";
    let lasting = ["table.txt", "study.json", "bars.svg", "trajectories.svg"];
    let results = |folder: &Path| {
        lasting
            .map(|name| fs::read_to_string(folder.join("runs/toy").join(name)).expect("a file of the study"))
    };
    let undisturbed = folder(&text);
    let (said, success) = study(undisturbed.path(), &[]);
    assert!(success, "{said}");
    let killed = folder(&text);
    // A hundred kills; most come while networks are trained, with a checkpoint at every step.
    for kill in 0..100 {
        let milliseconds = 5 + 37 * kill % 61;
        let program = assert_cmd::cargo::cargo_bin!("bilo");
        let mut child = std::process::Command::new(program)
            .current_dir(killed.path())
            .args(["study", "toy.toml", "--checkpoint-every", "0"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (said, success) = study(killed.path(), &[]);
    assert!(success, "{said}");
    assert_eq!(results(killed.path()), results(undisturbed.path()));
}

/// Runs that fail are rows of the table, with the reason. No machine has a hundred GPUs.
#[test]
fn failures_are_told_and_the_others_go_on() {
    let text = STUDY.to_owned() + "[set]\noperator.kind = \"network\"\ntrain.train-steps = 20\n";
    let folder = folder(&text);
    let output = bilo()
        .current_dir(folder.path())
        .args(["study", "toy.toml", "--device", "cuda:99"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("2 runs of bilo, 1.0 failed: "), "{text}");
    assert!(text.lines().any(|line| line.starts_with("adjoint  1.0") && !line.contains("-  -")), "{text}");
}

#[test]
fn mistakes_are_shown_where_they_are() {
    for (wrong, right, told) in [
        ("metod", "method", "toy.toml:3:1"),
        ("\"magic\"", "\"adjoint\"", "there is no method `magic`"),
        ("seeds   = 3", "seeds   = [0, 1]", "`seeds` is a list of whole numbers"),
        ("= 1.0", "= [1.0, 0.7]", "needs a list of values"),
        ("th7", "th0", "did you mean `th0`?"),
        ("unknown.th7.guess", "unknown.th0.guess", "toy.toml:7:13"),
        ("train.rte = [1.0, 0.7]", "unknown.th0.guess = [1.0, 0.7]", "toy.toml:7:7"),
        ("train.rate = [1.0, -0.7]", "unknown.th0.guess = [1.0, 0.7]", "toy.toml:7:20"),
        ("\"bpn-tox\"", "\"bpn-toy\"", "bpn-toy"),
        ("{ name = \"pinn\", very = 1 }", "\"adjoint\"", "unknown key `very` of a method"),
        ("{ set = { train.rate = 1 } }", "\"adjoint\"", "a method as a table needs its `name`"),
        ("contours = 1\nseeds   = [0, 1]", "seeds   = [0, 1]", "`contours` is true or false"),
    ] {
        let folder = folder(&STUDY.replace(right, wrong));
        let (text, success) = study(folder.path(), &[]);
        assert!(!success && text.starts_with("error: ") && text.contains(told), "{wrong}: {text}");
        assert!(!folder.path().join("runs").exists(), "{wrong}");
    }
}

/// One table of three methods; what BiLO takes is what the others have.
#[test]
fn three_methods_are_compared_in_the_time_that_they_have() {
    let folder = tempfile::tempdir().unwrap();
    let output = bilo()
        .current_dir(folder.path())
        .args(["compare", "poisson-scalar", "--seconds", "1.5"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let methods: Vec<&str> = text.lines().skip(1).take(3).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(methods, ["bilo", "pinn", "adjoint"], "{text}");
    for (method, said) in
        [("bilo", "is "), ("adjoint", "is "), ("pinn", "was stopped by the time limit after ")]
    {
        assert!(text.contains(&format!("\n{method} {said}")), "{text}");
    }
    let read = |method: &str| -> Value {
        let file = format!("runs/poisson-scalar-compare/{method}-seed=0/outcome.json");
        serde_json::from_str(&fs::read_to_string(folder.path().join(file)).unwrap()).unwrap()
    };
    assert_eq!(
        (read("bilo")["stop"].as_str(), read("pinn")["stop"].as_str()),
        (Some("converged"), Some("time-limit"))
    );
    let ways = folder.path().join("runs/poisson-scalar-compare/bars.svg");
    assert!(fs::read_to_string(ways).unwrap().contains(">adjoint</text>"));
    let wrong = bilo().args(["compare", "poisson-scalar", "--seconds", "0"]).output().unwrap();
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("`--seconds` must be a positive number"));
}
