//! Shipped problems with noise, whose answers are right: their verdicts should be green.

use bilo::observer::Silent;
use bilo::outcome::Outcome;
use bilo::problem::{Overrides, Problem};
use bilo::{Job, run};
use std::path::Path;

/// Settings that make the problems quick, and the noise of each.
const PROBLEMS: [(&str, &str, &[&str]); 10] = [
    ("fisher-kpp, noise 0.01", "fisher-kpp", &["observation.profile.data.synthetic.noise=0.01"]),
    (
        "fisher-kpp, 11x11 data",
        "fisher-kpp",
        &["observation.profile.data.synthetic={ grid = { x = 11, t = 11 }, noise = 0.02 }"],
    ),
    ("fisher-kpp, no noise", "fisher-kpp", &[]),
    ("poisson-scalar, noise 0.01", "poisson-scalar", &["observation.profile.data.synthetic.noise=0.01"]),
    (
        "advection-diffusion, noise 0.02",
        "advection-diffusion",
        &["observation.profile.data.synthetic.noise=0.02"],
    ),
    ("two-species, noise 0.005", "two-species", &["observation.product.data.synthetic.noise=0.005"]),
    ("two-species, no noise", "two-species", &[]),
    ("point-process-10", "point-process-10", &["operator.kind=dictionary"]),
    ("poisson-variable, weight 3e-5", "poisson-variable", &["unknown.D.regularise.weight=3e-5"]),
    ("conductivity", "conductivity", &[]),
];

/// The problems by name.
pub(crate) fn problems() -> Vec<(&'static str, Problem)> {
    let read = |(name, file, set): &(&'static str, &str, &[&str])| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
        let text = std::fs::read_to_string(folder.join(format!("{file}.toml"))).expect("a shipped problem");
        let coarse = ["classical.cells=200", "classical.steps=200"];
        let plane = text.contains("\ny = [") || text.contains("\ny ");
        let set = set.iter().chain(coarse.iter().filter(|_| !plane)).copied().collect::<Vec<&str>>();
        let problem = Problem::from_toml(file, &text, folder.as_path(), &Overrides::of(set));
        (*name, problem.unwrap_or_else(|error| panic!("{file}: {error}")))
    };
    PROBLEMS.iter().map(read).collect()
}

/// A run of the method that it takes by default.
pub(crate) fn outcome(problem: &Problem, seed: u64) -> Outcome {
    run(problem, &Job { seed, ..Job::default() }, &mut Silent).expect("it runs")
}
