//! Guesses from which a search that enforces the equation ends elsewhere: solutions out of step with the data, layers thinner
//! than a cell.

use bilo::observer::Silent;
use bilo::outcome::{Colour, Outcome};
use bilo::problem::{Overrides, Problem};
use bilo::{Job, run};
use std::path::Path;

/// Every number is within three and a half error bars of its truth, as 99.8 % of answers are where there are three.
fn assert_near_truth(outcome: &Outcome) {
    for unknown in &outcome.unknowns.numbers {
        let (sd, truth) = (unknown.sd.expect("noisy data"), unknown.truth.expect("stated"));
        let off = (unknown.estimate - truth) / sd;
        assert!(off.abs() < 3.5, "from {}: {} is {off} sd off", unknown.guess, unknown.name);
    }
}

/// FitzHugh and Nagumo's neuron, known for its rugged data loss (Ramsay, Hooker, Campbell and Cao, J. R. Stat. Soc. B 69, 741,
/// 2007), with the truth, the times and the noise of that paper.
fn neuron([a, b, c]: [f64; 3]) -> Problem {
    let text = format!(
        r#"
name = "neuron"
[coordinates]
t = {{ range = [0.0, 20.0], time = true }}
[unknown.a]
guess = {a:?}
truth = 0.2
[unknown.b]
guess = {b:?}
truth = 0.2
[unknown.c]
guess = {c:?}
truth = 3.0
[equation.v]
holds = "v_t = c*(v - v^3/3 + r)"
[equation.r]
holds = "r_t = -(v - a + b*r)/c"
[condition.v]
at    = {{ t = 0.0 }}
holds = "v = -1"
[condition.r]
at    = {{ t = 0.0 }}
holds = "r = 1"
[observation.v]
value = "v"
data  = {{ synthetic = {{ grid = {{ t = 80 }}, noise = 0.2 }} }}
[observation.r]
value = "r"
data  = {{ synthetic = {{ grid = {{ t = 80 }}, noise = 0.2 }} }}
"#
    );
    Problem::from_toml("neuron", &text, Path::new("."), &Overrides::default()).expect("a valid problem")
}

/// From guesses at which searches that enforce the equation from the start end elsewhere.
#[test]
fn a_neuron_is_found_from_afar() {
    for guess in [[0.5, 0.5, 5.0], [2.0, 2.0, 6.0], [0.1, 0.1, 0.5]] {
        let outcome = run(&neuron(guess), &Job::default(), &mut Silent).unwrap();
        assert_near_truth(&outcome);
        assert_eq!(outcome.verdict.colour, Colour::Green, "from {guess:?}: {:?}", outcome.verdict.reasons);
    }
}

/// A boundary layer of width 0.012 from guesses two decades thicker and thinner; in the latter the layer is thinner than a cell of
/// the grid, where differences oscillate and the search from the guess ends nowhere.
#[test]
fn a_boundary_layer_is_found_from_two_decades_away() {
    for (eps, decay) in [(1.0, 100.0), (1e-4, 100.0)] {
        let text = format!(
            r#"
name = "layer"
[coordinates]
x = [0.0, 1.0]
[unknown.eps]
guess = {eps:?}
truth = 0.012
[unknown.K]
guess = {decay:?}
truth = 1.7
[equation.balance]
holds = "-eps*u_xx + u_x + K*u = 1"
[condition.ends]
at    = {{ x = [0.0, 1.0] }}
holds = "u = 0"
[observation.probes]
value = "u"
data  = {{ synthetic = {{ grid = {{ x = 101 }}, noise = 0.004 }} }}
"#
        );
        let problem =
            Problem::from_toml("layer", &text, Path::new("."), &Overrides::default()).expect("valid");
        let outcome = run(&problem, &Job::default(), &mut Silent).unwrap();
        assert_near_truth(&outcome);
    }
}
