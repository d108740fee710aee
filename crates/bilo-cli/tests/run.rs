//! Whole runs of a tiny problem, by default or with a network trained for a few steps.

use crate::common;

use common::{DECAY, Place};
use serde_json::Value;

/// A heat equation in two dimensions and time, with a picture whose contour is a circle of radius 0.7 around the origin.
const DISC: &str = include_str!("../../bilo/tests/data/disc.toml");

/// What makes a run train a network, for a few steps.
const NETWORK: &str = "--set operator.kind=network";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Everything but what may differ from run to run.
fn reproducible(outcome: &str) -> Value {
    let mut value = json(outcome);
    let object = value.as_object_mut().expect("an object");
    assert!(object.remove("seconds").is_some() && object.remove("peak_memory_bytes").is_some());
    value
}

#[test]
fn json_has_the_promised_shape_and_nothing_else_is_printed() {
    let place = Place::with_decay();
    let said = place.bilo("run decay.toml --json --seed 3").succeeds();
    assert_eq!(said.stderr, "");
    assert_eq!(said.stdout, place.read("runs/decay-3/outcome.json"));
    let outcome = json(&said.stdout);
    let expected = [
        "format",
        "problem",
        "method",
        "recipe",
        "seed",
        "device",
        "precision",
        "stop",
        "verdict",
        "unknowns",
        "derived",
        "states",
        "solved_by",
        "operator",
        "learned",
        "losses",
        "data_misfit",
        "goodness",
        "discretisation",
        "audit",
        "near",
        "correlations",
        "singular_values",
        "weakest",
        "log_likelihood",
        "log_evidence",
        "starts",
        "minima",
        "noise",
        "expected_gain",
        "fitted_unknowns",
        "regularisation",
        "remedy",
        "notes",
        "warnings",
        "steps",
        "seconds",
        "peak_memory_bytes",
        "device_memory_bytes",
        "classical_failure",
        "diverged",
    ];
    assert_eq!(keys(&outcome), expected);
    assert_eq!(outcome["problem"], "decay");
    assert_eq!(outcome["method"], "automatic");
    assert_eq!(outcome["recipe"], "fast");
    assert_eq!(outcome["seed"], 3);
    assert_eq!(outcome["stop"], "converged");
    assert_eq!(outcome["precision"], "f64");
    assert_eq!(keys(&outcome["unknowns"]), ["k"]);
    let k = &outcome["unknowns"]["k"];
    let expected = [
        "kind",
        "unit",
        "guess",
        "estimate",
        "truth",
        "relative_error",
        "data_optimal",
        "sd",
        "sd_network",
        "sd_ratio",
        "interval_68",
        "interval_95",
        "bounds",
        "positive",
    ];
    assert_eq!(keys(k), expected);
    assert_eq!((&k["kind"], &k["guess"], &k["truth"]), (&"scalar".into(), &1.0.into(), &2.0.into()));
    let (estimate, error) = (k["estimate"].as_f64().unwrap(), k["relative_error"].as_f64().unwrap());
    // Both are printed to the last digit, so only the rounding of this very expression is left.
    assert!((error - (estimate - 2.0).abs() / 2.0).abs() < 1e-15);
    assert_eq!(keys(&outcome["states"]["u"]), ["relative_l2_vs_classical", "relative_l2_at_end"]);
    let operator = &outcome["operator"];
    let expected = ["kind", "why", "basis", "modes", "features", "residual", "change", "work"];
    assert_eq!(keys(operator), expected);
    assert_eq!((&operator["kind"], &operator["basis"]), (&"dictionary".into(), &"chebyshev".into()));
    assert!(operator["why"].is_null());
    assert_eq!(operator["modes"]["t"], operator["features"]);
    assert_eq!(keys(&operator["work"]), ["lower_steps", "jacobians", "factorisations"]);
    assert_eq!(outcome["steps"]["pretrain"], 0);
    assert!(outcome["steps"]["train"].as_u64().is_some_and(|steps| (1..=10).contains(&steps)), "{outcome}");
    assert!(outcome["classical_failure"].is_null() && outcome["diverged"].is_null());
    assert_eq!(keys(&outcome["seconds"]), ["total", "pretrain", "train", "per_step"]);
}

/// The same keys, and what a network has to say.
#[test]
fn json_of_a_network_has_the_same_shape() {
    let place = Place::with_decay();
    let network = json(&place.bilo(&format!("run decay.toml --json {NETWORK}")).succeeds().stdout);
    let dictionary = json(&place.bilo("run decay.toml --json").succeeds().stdout);
    assert_eq!(keys(&network), keys(&dictionary));
    assert_eq!((&network["stop"], &network["precision"]), (&"steps".into(), &"f32".into()));
    assert_eq!(network["operator"], serde_json::json!({ "kind": "network", "why": null }));
    assert_eq!(network["steps"], serde_json::json!({ "pretrain": 20, "train": 30 }));
}

/// The data are exact for k = 2: what is left is the error of 20 cells, of second order.
#[test]
fn the_adjoint_method_writes_the_same_files_into_a_folder_of_its_own() {
    let place = Place::with_decay();
    let outcome = json(&place.bilo("run decay.toml --json --method adjoint").succeeds().stdout);
    let bilo = json(&place.bilo("run decay.toml --json").succeeds().stdout);
    assert_eq!(keys(&outcome), keys(&bilo));
    assert_eq!(keys(&outcome["unknowns"]["k"]), keys(&bilo["unknowns"]["k"]));
    assert_eq!(outcome["method"], "adjoint");
    assert_eq!(outcome["device"], "classical solver, implicit Runge-Kutta steps, 20 of time");
    assert_eq!((&outcome["precision"], &outcome["stop"]), (&"f64".into(), &"converged".into()));
    let k = &outcome["unknowns"]["k"];
    assert!((k["estimate"].as_f64().unwrap() - 2.0).abs() < 0.01, "{k}");
    assert_eq!(k["estimate"], k["data_optimal"]);
    assert!(outcome["states"]["u"]["relative_l2_vs_classical"].is_null() && k["sd_network"].is_null());
    // BiLO's run ends at the same optimum, each on the grid that its error bars ask for, and knows both gradients.
    let optimum = bilo["unknowns"]["k"]["data_optimal"].as_f64().unwrap();
    assert!((optimum / k["estimate"].as_f64().unwrap() - 1.0).abs() < 1e-4, "{optimum}");
    assert_eq!((&bilo["audit"][0]["at"], &bilo["audit"][1]["at"]), (&"guess".into(), &"estimate".into()));
    assert!(outcome["operator"].is_null() && bilo["operator"].is_object());
    let kept = json(&place.read("runs/decay-adjoint-0/run.json"));
    assert_eq!((&kept["method"], &kept["seed"]), (&"adjoint".into(), &0.into()));
    assert!(
        place
            .read("runs/decay-adjoint-0/history.csv")
            .starts_with("phase,step,seconds,data.amount,k\ntrain,1,")
    );
}

#[test]
fn without_a_truth_it_is_null() {
    let place = Place::with_decay();
    place.write("decay.toml", &DECAY.replace("truth = 2.0\n", ""));
    let outcome = json(&place.bilo("run decay.toml --json").succeeds().stdout);
    let k = &outcome["unknowns"]["k"];
    assert!(k["truth"].is_null() && k["relative_error"].is_null() && k["estimate"].is_f64(), "{k}");
}

/// The seed draws a network's first weights. Of a dictionary for data from a file nothing is random.
#[test]
fn the_number_of_threads_changes_nothing_and_the_seed_something() {
    let place = Place::with_decay();
    let run = |arguments: &str| {
        reproducible(&place.bilo(&format!("run decay.toml --json {arguments}")).succeeds().stdout)
    };
    let fields = |name: &str| std::fs::read(place.join(name).join("fields.npz")).unwrap();
    for kind in ["network", "dictionary"] {
        let run = |arguments: &str| run(&format!("--set operator.kind={kind} {arguments}"));
        let one = run("--threads 1 --out one");
        assert_eq!(run("--threads 2 --out two"), one);
        assert!(fields("one") == fields("two"), "the fields of the {kind} differ");
        let other = run("--seed 1 --out other");
        assert_eq!(other["unknowns"] == one["unknowns"], kind == "dictionary");
    }
}

#[test]
fn the_table_tells_the_result_and_where_the_files_are() {
    let place = Place::with_decay();
    let said = place.bilo("run decay.toml --quiet --out results").succeeds();
    assert_eq!(said.stderr, "");
    let first: Vec<&str> = said.stdout.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(
        first,
        [
            "unknown",
            "guess",
            "estimate",
            "±",
            "95",
            "%",
            "interval",
            "data-optimal",
            "truth",
            "relative",
            "error"
        ]
    );
    for part in [
        "k [1/s]",
        "Dictionary of 27 chebyshev features (27 in t): residual ",
        "u: dictionary and classical solution at the estimate differ by ",
        " by the dictionary, ",
        "Stopped: converged",
        " iterations in ",
        "Files in results:",
    ] {
        assert!(said.stdout.contains(part), "no `{part}` in\n{}", said.stdout);
    }
    for name in ["problem.toml", "history.csv", "fields.npz", "outcome.json"] {
        assert!(place.join("results").join(name).is_file(), "{name}");
    }
    let said = place.bilo(&format!("run decay.toml --quiet --out results {NETWORK}")).succeeds();
    for part in [
        "k [1/s]",
        "u: network and classical solution at the estimate differ by ",
        " by the network, ",
        "Stopped: all steps were taken.",
        "Files in results:",
    ] {
        assert!(said.stdout.contains(part), "no `{part}` in\n{}", said.stdout);
    }
    assert!(!said.stdout.contains("ictionary"), "{}", said.stdout);
}

#[test]
fn the_history_has_the_kept_steps_and_starts_at_the_guess() {
    let place = Place::with_decay();
    place.bilo(&format!("run decay.toml --json --out out {NETWORK}")).succeeds();
    let history = place.read("out/history.csv");
    let mut lines = history.lines();
    let header = lines.next().unwrap();
    assert!(header.starts_with("phase,step,seconds,") && header.ends_with(",k"), "{header}");
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let steps: Vec<(&str, &str)> = rows.iter().map(|row| (row[0], row[1])).collect();
    let phase = |name: &'static str, steps: &[&'static str]| {
        steps.iter().map(|step| (name, *step)).collect::<Vec<_>>()
    };
    let expected = [phase("pretrain", &["1", "10", "20"]), phase("train", &["1", "10", "20", "30"])].concat();
    assert_eq!(steps, expected);
    let columns = header.split(',').count();
    assert!(rows.iter().all(|row| row.len() == columns), "{history}");
    assert_eq!(rows[3][columns - 1], "1.0", "training starts at the guess");
}

/// Few iterations, and all of them are kept, whatever `record-every` says of training.
#[test]
fn the_history_of_a_dictionary_has_every_iteration_from_the_guess_on() {
    let place = Place::with_decay();
    let outcome = json(&place.bilo("run decay.toml --json --out out").succeeds().stdout);
    let history = place.read("out/history.csv");
    let mut lines = history.lines();
    assert_eq!(lines.next(), Some("phase,step,seconds,residual,residual-gradient,data.amount,k"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row[..2], ["train", &(number + 1).to_string()], "{history}");
    }
    assert_eq!(outcome["steps"]["train"], rows.len());
    assert_eq!(rows[0][6], "1.0", "it starts at the guess");
}

#[test]
fn the_kept_problem_file_runs_again_to_the_same_outcome_wherever_it_lies() {
    let place = Place::with_decay();
    let arguments =
        "--recipe paper --set train.pretrain-steps=15 --set train.train-steps=25 --set train.optimiser=adam";
    place.bilo(&format!("run decay.toml --json --seed 5 --out first {arguments}")).succeeds();
    let kept = place.read("first/problem.toml");
    assert!(kept.contains("# measured") && kept.contains("train-steps = 25"), "{kept}");
    // Moved away from its data, which are then changed.
    std::fs::rename(place.join("first"), place.join("moved")).unwrap();
    place.write("amount.csv", "t,value\n0.5,1.0\n");
    place.bilo("run moved/problem.toml --json --seed 5 --out second").succeeds();
    let [first, second] =
        ["moved", "second"].map(|name| reproducible(&place.read(&format!("{name}/outcome.json"))));
    assert_eq!(first, second);
    assert_eq!((&first["recipe"], &first["steps"]["train"]), (&"paper".into(), &25.into()));
}

/// Images of a shipped problem lie beside its file in the run folder, which runs again to the same outcome.
#[test]
fn images_are_kept_with_a_run() {
    let place = Place::new();
    let few = "--set train.pretrain-steps=1 --set train.train-steps=1 --set equation.growth.points.random=50 \
               --set classical.cells=20 --set classical.steps=5 --json";
    let first = place.bilo(&format!("run glioblastoma {few} --out first")).succeeds();
    assert!(
        place.join("first/data/wm/wm.nii.gz").is_file() && place.join("first/data/gm/gm.nii.gz").is_file()
    );
    let again = place.bilo("run first/problem.toml --json --out second").succeeds();
    assert_eq!(reproducible(&first.stdout), reproducible(&again.stdout));
}

#[test]
fn a_run_can_be_repeated_in_its_own_folder() {
    let place = Place::with_decay();
    let first = reproducible(&place.bilo("run decay.toml --json --out out").succeeds().stdout);
    let second = reproducible(&place.bilo("run out/problem.toml --json --out out").succeeds().stdout);
    assert_eq!(first, second);
    let kept = place.read("out/problem.toml");
    assert_eq!(kept.matches("In force, defaults included").count(), 1, "{kept}");
}

#[test]
fn a_folder_that_is_no_former_run_is_left_alone() {
    let place = Place::with_decay();
    std::fs::create_dir(place.join("mine")).unwrap();
    place.write("mine/problem.toml", "precious");
    let said = place.bilo("run decay.toml --out mine").fails(1);
    assert!(
        said.stderr.starts_with("error: `mine` exists and is not the folder of a former run"),
        "{}",
        said.stderr
    );
    assert_eq!(place.read("mine/problem.toml"), "precious");
    assert_eq!(std::fs::read_dir(place.join("mine")).unwrap().count(), 1);
}

/// Growth to infinity at t = 1/2: a good problem file, but no data can be made at the truth.
fn blow_up() -> String {
    let synthetic = "{ synthetic = { grid = { t = 11 }, noise = 0.0 } }";
    DECAY.replace("u_t + k*u", "u_t - k*u^2").replace("{ file = \"amount.csv\" }", synthetic)
}

fn files(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<(String, Vec<u8>)> = entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn an_error_before_training_leaves_a_former_run_as_it_was_and_makes_no_folder() {
    let place = Place::with_decay();
    place.bilo("run decay.toml --json --out out").succeeds();
    let before = files(&place.join("out"));
    place.write("blow-up.toml", &blow_up());
    let said = place.bilo("run blow-up.toml --json --out out").fails(1);
    assert!(said.stderr.starts_with("error: "), "{}", said.stderr);
    assert_eq!(files(&place.join("out")), before);
    place.bilo("run blow-up.toml --json --out new").fails(1);
    assert!(!place.join("new").exists());
}

#[test]
fn data_of_a_replaced_run_are_removed() {
    let place = Place::with_decay();
    place.bilo("run decay.toml --json --out out").succeeds();
    assert!(place.join("out/data/amount/amount.csv").is_file());
    std::fs::rename(place.join("amount.csv"), place.join("other.csv")).unwrap();
    place.write("decay.toml", &DECAY.replace("amount.csv", "other.csv"));
    place.bilo("run decay.toml --json --out out").succeeds();
    assert!(place.join("out/data/amount/other.csv").is_file());
    assert!(!place.join("out/data/amount/amount.csv").exists());
}

#[test]
fn the_last_step_is_in_the_history_of_a_run_that_ends_early() {
    let place = Place::with_decay();
    let limits =
        "--set train.time-limit=0.3 --set train.train-steps=100000000 --set train.settle-tolerance=0";
    let arguments =
        format!("run decay.toml --json --out out --set train.record-every=1000000 {limits} {NETWORK}");
    let outcome = json(&place.bilo(&arguments).succeeds().stdout);
    assert_eq!(outcome["stop"], "time-limit");
    let history = place.read("out/history.csv");
    let last: Vec<&str> = history.lines().last().unwrap().split(',').collect();
    // A busy machine may not have come to the end of pre-training.
    let phase = if outcome["steps"]["train"] == 0 { "pretrain" } else { "train" };
    assert_eq!(last[..2], [phase, &outcome["steps"][phase].to_string()]);
}

#[test]
fn divergence_writes_the_files_and_fails() {
    let place = Place::with_decay();
    let said =
        place.bilo(&format!("run decay.toml --json --out out --set train.rate=1e30 {NETWORK}")).fails(1);
    let outcome = json(&said.stdout);
    assert_eq!(outcome["stop"], "diverged");
    assert_eq!(outcome["diverged"]["last_good_step"], outcome["steps"]["pretrain"]);
    assert!(outcome["diverged"]["reason"].is_string(), "{outcome}");
    assert!(said.stderr.starts_with("error: pre-training diverged"), "{}", said.stderr);
    assert!(said.stderr.contains("train.rate"), "{}", said.stderr);
    assert_eq!(place.read("out/outcome.json"), said.stdout);
    assert!(place.join("out/history.csv").is_file() && place.join("out/fields.npz").is_file());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_run_and_keeps_the_results() {
    use std::process::{Command, Stdio};
    let place = Place::with_decay();
    let mut child = Command::new(env!("CARGO_BIN_EXE_bilo"))
        .args(["run", "decay.toml", "--json", "--out", "out", "--set", "operator.kind=network"])
        .args(["--set", "train.train-steps=100000000", "--set", "train.settle-tolerance=0"])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Wait until it trains, however long that takes.
    let trains =
        || std::fs::read_to_string(place.join("out/history.csv")).is_ok_and(|text| text.contains("\ntrain,"));
    while !trains() {
        assert!(child.try_wait().unwrap().is_none(), "ended before it trained");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let outcome = json(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(outcome["stop"], "interrupted");
    assert_eq!(outcome, json(&place.read("out/outcome.json")));
}

/// Peak memory of a short run of a front with collocation points on a grid of n x n, less a part of it.
fn peak(n: usize, more: &str) -> Option<f64> {
    let small = "network.width=8 network.layers=1 classical.cells=50 classical.steps=50 train.pretrain-steps=1 \
                 train.train-steps=1";
    let grid = format!("equation.front.points.grid.x={n} equation.front.points.grid.t={n}");
    let set: String =
        format!("{small} {grid} {more}").split_whitespace().map(|one| format!(" --set {one}")).collect();
    let said = Place::new().bilo(&format!("run fisher-kpp --json --threads 1{set}")).succeeds();
    json(&said.stdout)["peak_memory_bytes"].as_f64()
}

/// From 10 thousand points to half a million. One number per point in single precision would take 1.9 MB;
/// half of that is room for the allocator.
#[test]
fn collocation_points_on_a_grid_take_no_memory() {
    let network = "train.recipe=fast train.precision=f64 operator.kind=network";
    // A dictionary chooses its own points.
    for recipe in ["train.recipe=paper", network] {
        let (Some(few), Some(many)) = (peak(101, recipe), peak(701, recipe)) else { continue };
        assert!(many - few < 1e6, "{recipe}: {few} bytes for 101x101 points, {many} bytes for 701x701");
    }
}

/// A function of a state is reported over an axis of its own, under the state's name.
#[test]
fn a_function_of_a_state_is_reported_over_its_values() {
    let place = Place::new();
    let coarse = "--set classical.cells=20 --set classical.steps=10 --set unknown.k.grid.u=6";
    let said = place.bilo(&format!("run conductivity --method adjoint {coarse} --json")).succeeds();
    let k = &json(&said.stdout)["unknowns"]["k"];
    let expected = [
        "kind",
        "of",
        "relative_l2_error",
        "relative_l2_error_of_guess",
        "relative_sd",
        "classification_accuracy",
        "range",
        "gradient",
    ];
    assert_eq!(keys(k), expected);
    assert!(k["relative_sd"].as_f64().is_some_and(|sd| sd > 0.0), "{k}");
    assert_eq!((&k["kind"], &k["of"][0], &k["gradient"]), (&"function".into(), &"u".into(), &"exact".into()));
    let bytes = std::fs::read(place.join("runs/conductivity-adjoint-0/fields.npz")).unwrap();
    let mut fields = bilo::npy::Archive::new(bytes).unwrap();
    let mut shape = |name: &str| fields.array(name).unwrap().expect("an array").shape;
    assert_eq!(["u", "k", "k_truth"].map(&mut shape), [[101], [101], [101]]);
    assert_eq!(shape("u_classical"), [101, 101]);
}

/// The numbers of a text, in order.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').filter_map(|n| n.parse().ok()).collect()
}

/// Lengths are equal along both axes, and y is the longer one: 3 units are the height of the frame.
#[test]
fn the_contour_is_a_circle_in_a_file_that_is_listed() {
    let place = Place::new();
    place.write("disc.toml", DISC);
    let said = place.bilo("run disc.toml --quiet --method adjoint --out out").succeeds();
    assert!(said.stdout.contains("problem.toml, run.json, front.svg\n"), "{}", said.stdout);
    let svg = place.read("out/front.svg");
    for text in ["u_x at t = 0.5, reference solution", "contours at t = 0.5", "front &lt;&amp;&gt;: data"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
    assert!(svg.contains(": reference solution</text>") && !svg.contains(": network</text>"));
    // Those of the field, of its bar and of the contours.
    let frames: Vec<&str> = svg.lines().filter(|line| line.starts_with("<rect x=")).collect();
    let [left, top, _, height] = numbers(frames[2])[..4] else { panic!("{frames:?}") };
    let (unit, middle) = (height / 3.0, [left + height / 3.0, top + height * 2.0 / 3.0]);
    let broken = |line: &&str| line.contains("Z\" ") && line.contains("stroke-dasharray");
    let circle = svg.lines().find(broken).expect("a closed line in dashes");
    let points = numbers(circle.split('"').nth(1).expect("its points"));
    assert!(points.len() > 200, "{circle}");
    for point in points.chunks_exact(2) {
        let radius = (point[0] - middle[0]).hypot(point[1] - middle[1]) / unit;
        // Nodes are 3/160 apart, and pixels are written to thousandths.
        assert!((radius - 0.7).abs() < 3e-4, "{radius}");
    }
}

#[test]
fn a_run_of_both_levels_draws_both_solutions() {
    let place = Place::new();
    place.write("disc.toml", DISC);
    place.bilo(&format!("run disc.toml --quiet --out out {NETWORK}")).succeeds();
    let svg = place.read("out/front.svg");
    for text in [
        ": data</text>",
        ": network</text>",
        ": reference solution</text>",
        ">u_x at t = 0.5, network</text>",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
}

#[test]
fn pictures_of_a_former_run_go_with_it() {
    let place = Place::new();
    place.write("disc.toml", &DISC.replace("[picture.front]", "[picture.old-front]"));
    place.bilo("run disc.toml --quiet --method adjoint --out out").succeeds();
    place.write("out/mine.svg", "mine");
    assert!(place.join("out/old-front.svg").exists());
    place.write("disc.toml", DISC);
    place.bilo("run disc.toml --quiet --method adjoint --out out").succeeds();
    assert!(place.join("out/front.svg").exists() && place.join("out/mine.svg").exists());
    assert!(!place.join("out/old-front.svg").exists());
}
