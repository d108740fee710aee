//! Several experiments with one set of unknowns.

use bilo::observer::Silent;
use bilo::outcome::{Colour, Outcome, ReasonKind};
use bilo::problem::{Overrides, Problem};
use bilo::reference::ReferenceSolver;
use bilo::{Job, run};
use std::path::Path;

fn read(text: &str) -> Problem {
    Problem::from_toml("case", text, Path::new("."), &Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn solved(problem: &Problem, seed: u64) -> Outcome {
    run(problem, &Job { seed, ..Job::default() }, &mut Silent).unwrap()
}

/// Decay from a known dose, which differs between experiments.
const DECAY: &str = r#"
name = "decay"
[coordinates]
t = { range = [0.0, 2.0], time = true }
[unknown.k]
guess = 1.5
truth = 1.0
[unknown.c]
guess = 0.1
truth = 0.2
signed = true
[equation.decay]
holds = "u_t = -k*u"
[condition.start]
at = { t = 0 }
holds = "u = dose"
[observation.samples]
value = "u + c"
data = { synthetic = { grid = { t = 9 }, noise = 0.02 } }
"#;

fn decay(doses: &[f64]) -> Problem {
    let each = doses.iter().enumerate();
    let each = each.map(|(n, dose)| format!("[experiment.e{n}]\nconstants = {{ dose = {dose:?} }}\n"));
    read(&(DECAY.to_owned() + &each.collect::<String>()))
}

#[test]
fn names_and_values_are_those_of_each() {
    let text = format!(
        "{DECAY}[derived]\nlife = \"log(2)/k\"\nhalf = \"dose*k/2\"\n[experiment.low]\nconstants = {{ dose = 1 }}\n\
         unknown = {{ c = {{ truth = 0.4 }} }}\n[experiment.high]\nconstants = {{ dose = 3 }}\n\
         condition = {{ start = {{ holds = \"u = 2*dose\" }} }}\n"
    );
    let problem = read(&text);
    let names = |names: Vec<&String>| names.into_iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    assert_eq!(names(problem.states.iter().map(|s| &s.name).collect()), "u@low u@high");
    assert_eq!(names(problem.unknowns.iter().map(|u| &u.name).collect()), "k c c@low");
    assert_eq!(
        names(problem.equations.iter().map(|e| &e.residual.text).collect()),
        "u@low_t = -k*u@low u@high_t = -k*u@high"
    );
    assert_eq!(
        names(problem.observations.iter().map(|o| &o.value.text).collect()),
        "u@low + c@low u@high + c"
    );
    assert_eq!(names(problem.derived.iter().map(|d| &d.name).collect()), "life half@low half@high");
    assert_eq!(
        names(problem.states.iter().map(|s| &s.form.text).collect()),
        "dose@low + net*t/2.0 2*dose@high + net*t/2.0"
    );
    let own = problem.unknowns.iter().find(|unknown| unknown.name == "c@low").unwrap();
    assert_eq!((own.guess, own.truth), (0.1, Some(0.4)));
    // Solved each by itself, from its own start.
    let solver = ReferenceSolver::new(&problem).unwrap();
    let solution = solver.solve_truth(&problem).unwrap().unwrap().unwrap();
    for (state, start) in [1.0, 6.0].into_iter().enumerate() {
        let end = solution.state(state, &[vec![2.0]])[0];
        assert!((end - start * (-2.0_f64).exp()).abs() < 1e-5, "{end}");
    }
}

/// One problem with two states that somebody renamed by hand.
#[test]
fn the_answer_is_that_of_one_problem_with_all_states() {
    let by_hand = DECAY
        .replace("holds = \"u_t = -k*u\"", "holds = \"u_t = -k*u\"\n[equation.other]\nholds = \"v_t = -k*v\"")
        .replace(
            "holds = \"u = dose\"",
            "holds = \"u = 1\"\n[condition.two]\nat = { t = 0 }\nholds = \"v = 3\"",
        );
    let by_hand = format!(
        "{by_hand}[observation.two]\nvalue = \"v + c\"\ndata = {{ synthetic = {{ grid = {{ t = 9 }}, noise = 0.02 }} }}\n"
    );
    let (ours, theirs) = (solved(&decay(&[1.0, 3.0]), 0), solved(&read(&by_hand), 0));
    for (a, b) in ours.unknowns.numbers.iter().zip(&theirs.unknowns.numbers) {
        assert!((a.estimate - b.estimate).abs() < 1e-6 * a.sd.unwrap(), "{a:?} {b:?}");
        assert!((a.sd.unwrap() / b.sd.unwrap() - 1.0).abs() < 1e-6, "{a:?} {b:?}");
    }
}

#[test]
fn threads_do_not_show() {
    let problem = decay(&[1.0, 2.0, 3.0]);
    let [one, three] = [1, 3].map(|threads| {
        run(&problem, &Job { threads: Some(threads), ..Job::default() }, &mut Silent).unwrap()
    });
    for (a, b) in one.unknowns.numbers.iter().zip(&three.unknowns.numbers) {
        assert_eq!(
            (a.estimate.to_bits(), a.sd.map(f64::to_bits)),
            (b.estimate.to_bits(), b.sd.map(f64::to_bits))
        );
    }
}

/// Root mean square of what the estimates of k are off by, and the mean of their error bars.
fn scatter(doses: &[f64], draws: u64) -> (f64, f64) {
    let mut problem = decay(doses);
    // There is one minimum.
    problem.training.starts = Some(1);
    let (mut square, mut bars) = (0.0, 0.0);
    for seed in 0..draws {
        let outcome = solved(&problem, seed);
        let k = &outcome.unknowns.numbers[0];
        square += (k.estimate - 1.0).powi(2) / draws as f64;
        bars += k.sd.unwrap() / draws as f64;
    }
    (square.sqrt(), bars)
}

#[test]
fn together_they_are_as_much_better_as_the_error_bars_say() {
    let (alone, bar) = scatter(&[1.0], 200);
    let (together, bars) = scatter(&[1.0, 2.0, 3.0], 200);
    // The standard deviation of 200 draws is known to 5 %; three times that, for each.
    for (scatter, bar) in [(alone, bar), (together, bars)] {
        assert!((scatter / bar - 1.0).abs() < 0.15, "{scatter} {bar}");
    }
    let (found, said) = (alone / together, bar / bars);
    assert!((found / said - 1.0).abs() < 0.21, "better by {found}, error bars by {said}");
    assert!(said > 2.0, "{said}");
}

/// Absorption and elimination of a drug can change places: both answers fit exactly alike.
#[test]
fn a_second_answer_is_found_and_named() {
    let text = std::fs::read_to_string("../../problems/dose-escalation.toml").unwrap();
    let told = solved(&read(&text), 0);
    assert_eq!(told.verdict.colour, Colour::Green, "{:?}", told.verdict);
    let free = text.lines().filter(|line| !line.starts_with("bounds")).collect::<Vec<_>>().join("\n");
    let free = free.replace("guess  = 40.0", "guess  = 10.0");
    let outcome = solved(&read(&free), 0);
    let reason = &outcome.verdict.reasons[0];
    assert_eq!(
        (reason.colour, reason.kind),
        (Colour::Orange, ReasonKind::SeveralMinima),
        "{:?}",
        outcome.verdict
    );
    let [ka, cl, v] = [0, 1, 2].map(|n| outcome.unknowns.numbers[n].estimate);
    let other = &outcome.minima[0].unknowns;
    for ((_, found), exact) in other.iter().zip([cl / v, cl, cl / ka]) {
        // On a coarser grid.
        assert!((found / exact - 1.0).abs() < 1e-2, "{other:?}");
    }
}

/// What separates columns separates nothing between quotes; one alone is an inch.
const NOTED: &str = "hours;T;note\n0,5;1,5;\"warm; wet\"\n1;0,9;3\" pipe\n";

/// What all experiments say of their files stands in the shared observation; a list of what holds is a condition for each, and an
/// experiment's own condition takes the place of the whole list.
#[test]
fn lists_and_layouts_are_shared() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("warm.csv"), NOTED).unwrap();
    std::fs::write(folder.path().join("cold.csv"), "hours;conc\n0,5;2,5\n").unwrap();
    let text = r#"
        name = "chain"
        [coordinates]
        t = { range = [0.0, 2.0], time = true }
        [unknown.k]
        guess = 1.5
        [equation.decay]
        holds = ["u_t = -k*u", "v_t = k*u - v"]
        [condition.start]
        at = { t = 0 }
        holds = ["u = 2", "v = 0"]
        [observation.samples]
        value = "u"
        sigma = 0.1
        data = { columns = { t = "hours", value = "T" }, decimal = "," }
        [experiment.warm]
        observation = { samples = { data = { file = "warm.csv" } } }
        [experiment.cold]
        observation = { samples = { data = { file = "cold.csv", columns = { value = "conc" } } } }
        condition = { start = { holds = ["u = 3", "v = 1"] } }
    "#;
    let problem = Problem::from_toml("case", text, folder.path(), &Overrides::default()).unwrap();
    let forms: Vec<&str> = problem.states.iter().map(|state| state.form.text.as_str()).collect();
    assert_eq!(forms, ["2 + net*t/2.0", "net*t/2.0", "3 + net*t/2.0", "1 + net*t/2.0"]);
    let equations: Vec<&str> = problem.equations.iter().map(|equation| equation.name.as_str()).collect();
    assert_eq!(equations, ["decay-1@warm", "decay-2@warm", "decay-1@cold", "decay-2@cold"]);
    let tables = bilo::data::observed_tables(&problem, 0).unwrap();
    assert_eq!((&tables[0].values[..], &tables[1].values[..]), (&[1.5, 0.9][..], &[2.5][..]));
}
