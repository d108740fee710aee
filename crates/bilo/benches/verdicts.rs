//! Whether verdicts are right: a table of answers that are wrong, each with the reason that must be given, and runs of
//! shipped problems whose answers are right, over many draws of the noise.
//!
//! ```text
//! cargo bench --bench verdicts [-- --only TEXT] [--seeds N]
//! ```
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../tests/common/right_answers.rs"]
mod right_answers;
#[path = "../tests/common/wrong_answers.rs"]
mod wrong_answers;

use bilo::observer::Silent;
use bilo::outcome::{Colour, Outcome};
use bilo::run;

/// Draws of the noise of each problem.
const SEEDS: u64 = 20;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    let only = option("--only").unwrap_or_default();
    let seeds = option("--seeds").and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS);
    wrong(&only);
    right(&only, seeds);
}

fn wrong(only: &str) {
    println!("| wrong answer | verdict | reasons |\n|---|---|---|");
    let (mut count, mut missed) = (0, vec![]);
    for case in wrong_answers::cases().into_iter().filter(|case| case.name.contains(only)) {
        let outcome = run(&case.problem, &case.job, &mut Silent).expect("it runs");
        count += 1;
        let found = outcome.verdict.reasons.iter().any(|reason| case.expected.contains(&reason.kind));
        if outcome.verdict.colour == Colour::Green || !found {
            missed.push(case.name);
        }
        println!("| {} | {} | {} |", case.name, outcome.verdict.colour.name(), reasons(&outcome));
    }
    println!("\n{} of {count} have their reason; not: {missed:?}\n", count - missed.len());
}

fn right(only: &str, seeds: u64) {
    println!("| right answer | runs | not green | reasons |\n|---|---|---|---|");
    let (mut runs, mut alarms) = (0, 0);
    for (name, problem) in right_answers::problems().into_iter().filter(|(name, _)| name.contains(only)) {
        let outcomes = (0..seeds).map(|seed| right_answers::outcome(&problem, seed));
        let alarmed: Vec<Outcome> = outcomes.filter(|o| o.verdict.colour != Colour::Green).collect();
        let said: Vec<String> = alarmed.iter().map(reasons).collect();
        println!("| {name} | {seeds} | {} | {} |", alarmed.len(), said.join("; "));
        runs += seeds;
        alarms += alarmed.len();
    }
    println!("\n{alarms} false alarms in {runs} runs");
}

fn reasons(outcome: &Outcome) -> String {
    let each = outcome.verdict.reasons.iter();
    each.map(|reason| format!("{}: {}", reason.colour.name(), reason.sentence)).collect::<Vec<_>>().join("; ")
}
