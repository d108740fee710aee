//! `report.html`: what is in it, what cannot get out of it, and what a browser makes of it.

use crate::browser as browsing;
use crate::common;

use browsing::browser;
use common::{DECAY, Place};
use std::path::Path;

/// A problem in space and time that the classical solver alone solves in an instant.
const FRONT: &str = "run fisher-kpp --method adjoint --quiet --out front --set classical.cells=20 \
                     --set classical.steps=20";

#[test]
fn a_run_has_a_page_with_its_numbers_and_bilo_report_writes_the_same() {
    let place = Place::with_decay();
    place.bilo("run decay.toml --quiet --out out").succeeds();
    let page = place.read("out/report.html");
    let parts = [
        estimate(&place, "out", "k"),
        "Rate of decay".into(),
        "<small>1/s</small>".into(),
        "<mfrac><mrow><mo>∂</mo><mi>u</mi></mrow><mrow><mo>∂</mo><mi>t</mi></mrow></mfrac>".into(),
        "fit against data".into(),
        "amount.csv".into(),
    ];
    for part in parts {
        assert!(page.contains(&part), "{part}");
    }
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(
        place.bilo("report out").succeeds().stdout,
        format!("Wrote {}\n", Path::new("out/report.html").display())
    );
    assert_eq!(place.read("out/report.html"), page);
    std::fs::remove_file(place.join("out/fields.npz")).unwrap();
    place.bilo("report out").succeeds();
    assert!(
        place.bilo("report .").fails(1).stderr.contains("neither the folder of a run nor that of a study")
    );
}

/// Equations that hold, conditions with their places, definitions and derived quantities: all that was stated.
#[test]
fn a_textbook_statement_is_shown_whole() {
    let place = Place::new();
    let textbook = r#"
        name = "cooling"
        [coordinates]
        t = { range = [0.0, 1.0], unit = "h", time = true }
        [define]
        loss = "k*T"
        [unknown.k]
        guess = 1.0
        truth = 2.0
        [equation.balance]
        holds = "T_t = -loss"
        [condition.start]
        at = { t = 0.0 }
        holds = "T = 1"
        [observation.probe]
        value = "T"
        data = { synthetic = { grid = { t = 9 }, noise = 0.01 } }
        [derived]
        halving = "log(2)/k"
    "#;
    place.write("cooling.toml", textbook);
    place.bilo("run cooling.toml --quiet --out out").succeeds();
    let page = place.read("out/report.html");
    let rate = "<mfrac><mrow><mo>∂</mo><mi>T</mi></mrow><mrow><mo>∂</mo><mi>t</mi></mrow></mfrac>";
    for part in [
        "from 0 to 1 h",
        "<h3>Definitions</h3>",
        "<mi>loss</mi><mo>=</mo><mi>k</mi><mo>&#x2062;</mo><mi>T</mi>",
        "<h3>Equations</h3>",
        &format!("{rate}<mo>=</mo><mo>−</mo><mi>loss</mi>"),
        "<h3>Conditions</h3>",
        "<mi>T</mi><mo>=</mo><mn>1</mn></math><small>at <math><mi>t</mi></math> = 0</small>",
        "<h3>Derived</h3>",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn text_of_the_problem_file_cannot_become_code() {
    let place = Place::with_decay();
    let hostile = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>";
    let problem = DECAY.replace("Rate of decay", hostile);
    place.write("hostile.toml", &format!("# {hostile}\n{problem}"));
    place.bilo("run hostile.toml --quiet --out out --set train.train-steps=5").succeeds();
    let page = place.read("out/report.html");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    for live in ["<script>alert", "<!--", "<img src=x"] {
        assert!(!page.contains(live), "{live}");
    }
    assert_eq!(page.matches("</script>").count(), 2, "of the data and of the code");
}

#[test]
fn a_study_has_a_page_that_leads_to_its_runs() {
    let place = Place::with_decay();
    let study = "problem = \"decay.toml\"\nmethod = \"adjoint\"\nseeds = [0, 1]\n";
    place.write("two.toml", study);
    place.bilo("study two.toml --quiet --out out").succeeds();
    let page = place.read("out/report.html");
    assert!(page.contains("seed=0/report.html\">"), "{page}");
    assert!(page.contains("data:image/svg+xml;base64,"));
    let runs: Vec<_> =
        std::fs::read_dir(place.join("out")).unwrap().flatten().map(|entry| entry.path()).collect();
    let pages = runs.iter().filter(|run| run.join("report.html").is_file()).count();
    assert_eq!(pages, 2);
}

/// The estimate of an unknown as a page shows it.
fn estimate(place: &Place, folder: &str, name: &str) -> String {
    let outcome: serde_json::Value =
        serde_json::from_str(&place.read(&format!("{folder}/outcome.json"))).unwrap();
    let value = outcome["unknowns"][name]["estimate"].as_f64().unwrap();
    format!("<td><b>{}</b></td>", bilo_report::number::significant(value))
}

/// What the browser shows of a file.
fn shown(page: &Path, fragment: &str) -> Option<(String, String)> {
    browser(&format!("file://{}{fragment}", page.display()))
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn a_browser_draws_it_without_complaint_and_a_time_changes_the_picture() {
    let place = Place::new();
    place.bilo(FRONT).succeeds();
    let page = place.join("front/report.html");
    let Some((early, complaints)) = shown(&page, "#t=0.2") else {
        eprintln!("SKIPPED: no chromium here, so nobody looked at the page");
        return;
    };
    assert!(!complaints.contains("CONSOLE"), "{complaints}");
    let (late, _) = shown(&page, "#t=0.8").unwrap();
    let profile = |dom: &str| -> String {
        let figures: Vec<&str> = dom.split("<figure").collect();
        let moving = figures.iter().skip(1).find(|figure| figure.contains("type=\"range\""));
        let moving = moving.unwrap_or_else(|| panic!("no slider: {dom}"));
        let end = moving.find("</svg>").unwrap();
        moving[moving.find("<svg").unwrap()..end].to_owned()
    };
    assert!(early.contains("t = 0.2") && late.contains("t = 0.8"));
    assert_ne!(profile(&early), profile(&late));
    assert!(early.contains("data:image/png;base64,"), "maps are drawn");
    assert!(early.contains(&estimate(&place, "front", "D")));
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn a_function_has_its_band() {
    let place = Place::new();
    place.bilo("run reaction-coefficient-8 --method adjoint --quiet --out rod").succeeds();
    let page = place.join("rod/report.html");
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("the band is the 95 % interval"), "{text}");
    let Some((dom, complaints)) = shown(&page, "") else {
        eprintln!("SKIPPED: no chromium here, so nobody looked at the page");
        return;
    };
    assert!(!complaints.contains("CONSOLE"), "{complaints}");
    assert!(dom.contains("class=\"band\""), "{dom}");
}
