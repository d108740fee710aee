//! `bilo sample`: its files, chains that are killed, and truths from the prior.
#![cfg(unix)]

use crate::common::Place;
use crate::resume::{Draw, bilo, ended};
use serde_json::Value;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

const POISSON: &str = r#"name = "poisson"

[coordinates]
x = [0.0, 1.0]

[unknown.D]
guess = 1.0
truth = 2.0
prior = "gamma(4, 2)"

[equation.balance]
holds = "D*u_xx = -pi^2*sin(pi*x)"

[condition.ends]
at = { x = [0.0, 1.0] }
holds = "u = 0"

[observation.profile]
value = "u"
data = { synthetic = { grid = { x = 11 }, noise = 0.1 } }
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("poisson.toml", POISSON);
    place
}

fn json(place: &Place, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(place.join(file)).expect("the file")).expect("JSON")
}

#[test]
fn a_posterior_has_its_files() {
    let place = place();
    let said = place.bilo("sample poisson.toml --draws 150 --tuning 150 --chains 2").succeeds().stdout;
    assert!(said.contains("Posterior of poisson"), "{said}");
    assert!(said.contains("2 chains, 300 draws by"), "{said}");
    let folder = "runs/poisson-sample-0";
    let outcome = json(&place, &format!("{folder}/posterior.json"));
    let mean = outcome["unknowns"][0]["mean"].as_f64().expect("a mean");
    let text = fs::read_to_string(place.join(folder).join("draws.csv")).expect("draws");
    let draws: Vec<f64> = text
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(2).expect("D").parse().expect("a number"))
        .collect();
    assert_eq!(draws.len(), 300);
    assert!((draws.iter().sum::<f64>() / 300.0 - mean).abs() < 1e-12);
    for file in
        ["report.html", "outcome.json", "problem.toml", "predictive-profile.csv", "posterior.zarr/.zgroup"]
    {
        assert!(place.join(folder).join(file).exists(), "{file}");
    }
    let report = fs::read_to_string(place.join(folder).join("report.html")).expect("a report");
    for title in ["Posterior of D", "Chains of D", "Ranks of D", "profile: predicted along x"] {
        assert!(report.contains(title), "{title}");
    }
}

/// Kills at moments of all kinds: in the search, while chains are tuned, drawn, kept and judged.
#[test]
fn chains_that_are_killed_again_and_again_draw_what_others_draw() {
    let command = "sample poisson.toml --draws 1500 --tuning 500 --out run";
    let undisturbed = place();
    undisturbed.bilo(command).succeeds();
    let expected = fs::read(undisturbed.join("run/draws.csv")).expect("draws");
    let (place, mut draw, mut kills) = (place(), Draw(3), 0);
    while kills < 20 {
        let go_on = place.join("run/problem.toml").exists();
        let mut child = bilo(&place, if go_on { "sample --resume run" } else { command });
        sleep(Duration::from_millis(draw.below(1000)));
        // It may have ended by itself.
        if child.try_wait().expect("a child").is_some() {
            assert_eq!(ended(child), (true, String::new()));
            break;
        }
        child.kill().expect("a kill");
        child.wait().expect("an end");
        kills += 1;
    }
    assert!(kills > 4, "only {kills} kills before the end");
    if !place.join("run/posterior.json").exists() {
        place.bilo("sample --resume run").succeeds();
    }
    assert!(fs::read(place.join("run/draws.csv")).expect("draws") == expected, "other draws");
}

/// Truths from the prior are where their posteriors say, and what was ranked is not ranked again.
#[test]
fn truths_are_ranked_in_their_posteriors() {
    let place = place();
    let settings = "--chains 2 --draws 200 --tuning 100 --out run";
    place.bilo(&format!("sample poisson.toml --sbc 20 {settings}")).succeeds();
    let refused = place.bilo("sample --resume run").fails(1).stderr;
    assert!(refused.contains("has truths that were ranked") && refused.contains("--sbc N"), "{refused}");
    let said = place.bilo("sample --resume run --sbc 22").succeeds().stdout;
    assert!(said.contains("22 truths of poisson from the prior"), "{said}");
    let found = json(&place, "run/calibration.json");
    assert_eq!((found["truths"].as_u64(), found["failed"].as_u64()), (Some(22), Some(0)));
    assert_eq!(found["unknowns"][0]["within"], Value::Bool(true), "{found}");
    assert!(place.join("run/calibration.svg").exists());
    let all = place.bilo(&format!("sample poisson.toml --sbc 22 {settings}2 --json")).succeeds().stdout;
    assert_eq!(serde_json::from_str::<Value>(&all).expect("JSON"), found);
}

fn column(place: &Place, file: &str, name: &str) -> Vec<f64> {
    let text = fs::read_to_string(place.join(file)).expect("the file");
    let mut lines = text.lines();
    let number = lines.next().expect("names").split(',').position(|other| other == name).expect(name);
    lines.map(|row| row.split(',').nth(number).expect("a cell").parse().expect("a number")).collect()
}

/// u is sin(pi x)/D: what is predicted in the middle has the quantiles of 1/D.
#[test]
fn priors_predict_before_the_data() {
    let place = place();
    let said = place.bilo("sample poisson.toml --prior --draws 1000").succeeds().stdout;
    assert!(said.contains("Of the data profile, 100 % lie within the middle 95 %"), "{said}");
    let folder = "runs/poisson-prior-0";
    for file in ["prior.json", "prior.svg", "prior.zarr/prior_predictive/.zgroup", "problem.toml"] {
        assert!(place.join(folder).join(file).exists(), "{file}");
    }
    let mut drawn = column(&place, &format!("{folder}/draws.csv"), "D");
    // Quantiles of gamma(4, 2), whose distribution is 1 - exp(-2x)(1 + 2x + 2x² + 4x³/3); a part of 1000 draws has an sd of 0.016.
    let below = |x: f64| drawn.iter().filter(|d| **d < x).count() as f64 / 1000.0;
    for (quantile, part) in [(0.872_385, 0.1), (1.836_030, 0.5), (3.340_391, 0.9)] {
        assert!((below(quantile) - part).abs() < 4.0 * 0.016, "{quantile}: {}", below(quantile));
    }
    // Every fourth draw is one of the 250 that predict.
    drawn = drawn.into_iter().skip(3).step_by(4).collect();
    drawn.sort_by(f64::total_cmp);
    let median = 1.0 / (0.5 * (drawn[124] + drawn[125]));
    let file = format!("{folder}/predictive-profile.csv");
    let (x, medians) = (column(&place, &file, "x"), column(&place, &file, "value_median"));
    for (x, found) in x.iter().zip(medians) {
        let expected = (std::f64::consts::PI * x).sin() * median;
        // The second-order scheme on the default grid.
        assert!((found - expected).abs() < 1e-3, "{x}: {found} {expected}");
    }
    let again = place.bilo("sample poisson.toml --prior --draws 1000 --json --threads 1").succeeds().stdout;
    let same = |text: &str| {
        let mut found: Value = serde_json::from_str(text).expect("JSON");
        found["seconds"] = Value::Null;
        found
    };
    assert_eq!(same(&again), same(&json(&place, &format!("{folder}/prior.json")).to_string()));
}

#[test]
fn data_that_no_prior_expects_are_told() {
    let place = place();
    place.write("far.toml", &POISSON.replace("gamma(4, 2)", "normal(40, 1)"));
    let said = place.bilo("sample far.toml --prior --draws 200").succeeds().stdout;
    assert!(said.contains("lie beyond everything that was drawn"), "{said}");
}

#[test]
fn what_cannot_be_drawn_says_what_to_write() {
    let place = place();
    place.write("flat.toml", &POISSON.replace("prior = \"gamma(4, 2)\"\n", ""));
    let said = place.bilo("sample flat.toml --sbc 20").fails(1).stderr;
    assert!(said.contains("no values can be drawn for `D`") && said.contains("prior = "), "{said}");
    let said = place.bilo("sample flat.toml --prior").fails(1).stderr;
    assert!(said.contains("no values can be drawn for `D`") && said.contains("prior = "), "{said}");
    place.write("exact.toml", &POISSON.replace(", noise = 0.1", ""));
    let said = place.bilo("sample exact.toml").fails(1).stderr;
    assert!(said.contains("have no errors"), "{said}");
}
