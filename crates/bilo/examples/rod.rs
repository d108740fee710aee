//! A problem stated in Rust, solved with an observer: the example of the book.
#![allow(clippy::print_stdout, reason = "an example prints")]

use bilo::observer::{Control, Event, Observer};
use bilo::problem::{Coordinate, DataSpec, PointsSpec, Problem, Table, Unknown};
use bilo::{Job, run};

/// Prints the unknowns at every step.
struct Watch;

impl Observer for Watch {
    fn event(&mut self, event: &Event<'_>) -> Control {
        if let Event::Step(record) = event {
            println!("{} {}: {:?}", record.phase.name(), record.step, record.unknowns);
        }
        Control::Continue
    }
}

fn main() -> Result<(), bilo::Error> {
    // u = sin(pi x)/D with D = 2, measured at three places.
    let data =
        Table { coordinates: vec![vec![0.25, 0.5, 0.75]], values: vec![0.3536, 0.5, 0.3536], sigma: None };
    let problem = Problem::builder("rod")
        .about("Diffusion constant of a steady profile")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .unknown(Unknown::new("D", 1.0).bounds(0.1, 10.0))
        .state("u", "net*x*(1-x)")
        .equation("balance", "D*u_xx + pi^2*sin(pi*x)", PointsSpec::grid([("x", 51)]))
        .observation("profile", "u", DataSpec::table(data))
        .build()?;

    let outcome = run(&problem, &Job { seed: 1, ..Job::default() }, &mut Watch)?;
    for unknown in &outcome.unknowns.numbers {
        println!("{} = {:.4}", unknown.name, unknown.estimate);
    }
    println!("stopped: {}", outcome.stop.name());
    println!("against classical: {:?}", outcome.states[0].relative_l2_vs_classical);
    Ok(())
}
