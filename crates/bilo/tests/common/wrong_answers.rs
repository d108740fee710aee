//! Runs whose answer is wrong, or worth a look, and what a verdict has to say of each.
//!
//! Data come from one statement, the model is another. Each case names the reasons of which one must be given.

use bilo::data::observed_tables;
use bilo::monitor::Interrupt;
use bilo::outcome::ReasonKind::{self, *};
use bilo::problem::{Data, Overrides, Problem, Table};
use bilo::{Job, method};
use std::path::Path;

/// A run and the reasons of which its verdict must have one.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) problem: Problem,
    pub(crate) job: Job,
    pub(crate) expected: &'static [ReasonKind],
}

const CLASSICAL: &str = "[classical]\ncells = 100\nsteps = 100\n";

/// Diffusion with a further term, a right end and an observation.
fn heat(term: &str, form: &str, observation: &str) -> String {
    format!(
        "[coordinates]\nx = [0.0, 1.0]\nt = {{ range = [0.0, 1.0], time = true }}\n\
         [unknown.D]\nguess = 0.05\ntruth = 0.1\n\
         [state.u]\nform = \"{form}\"\n\
         [equation.heat]\nresidual = \"u_t - D*u_xx{term}\"\npoints = {{ grid = {{ x = 31, t = 31 }} }}\n\
         [observation.probes]\n{observation}\n{CLASSICAL}"
    )
}

const FORM: &str = "sin(pi*x) + 0.5*sin(3*pi*x) + net*x*(1-x)*t";
const PROBES: &str = "value = \"u\"\ndata = { synthetic = { grid = { x = 11, t = 11 }, noise = 0.01 } }";

/// An ordinary equation for u with u(0) = 1.
fn ode(unknowns: &str, residual: &str, data: &str) -> String {
    format!(
        "[coordinates]\nt = {{ range = [0.0, 4.0], time = true }}\n{unknowns}\
         [state.u]\nform = \"1 + net*t\"\n\
         [equation.law]\nresidual = \"{residual}\"\npoints = {{ grid = {{ t = 41 }} }}\n\
         [observation.samples]\nvalue = \"u\"\ndata = {{ synthetic = {{ {data} }} }}\n[classical]\ncells = 400\n"
    )
}

const RATE: &str = "[unknown.k]\nguess = 0.5\ntruth = 0.8\n";
const SAMPLES: &str = "grid = { t = 41 }, noise = 0.01";

/// A pendulum without friction, observed by its displacement.
fn oscillator(guess: f64, friction: &str) -> String {
    format!(
        "[coordinates]\nt = {{ range = [0.0, 10.0], time = true }}\n\
         [unknown.w]\nguess = {guess}\ntruth = 3.0\n\
         [state.u]\nform = \"1 + net*t\"\n[state.v]\nform = \"net*t\"\n\
         [equation.place]\nresidual = \"u_t - v\"\npoints = {{ grid = {{ t = 101 }} }}\n\
         [equation.force]\nresidual = \"v_t + w^2*u{friction}\"\npoints = {{ grid = {{ t = 101 }} }}\n\
         [observation.samples]\nvalue = \"u\"\n\
         data = {{ synthetic = {{ grid = {{ t = 101 }}, noise = 0.02 }} }}\n[classical]\ncells = 1000\n"
    )
}

pub(crate) fn read(text: &str, set: &[&str]) -> Problem {
    let text = &format!("name = \"case\"\n{text}");
    match Problem::from_toml("case", text, Path::new("."), &Overrides::of(set.iter().copied())) {
        Ok(problem) => problem,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// A statement with a name of its own.
#[allow(dead_code, reason = "of tests alone")]
pub(crate) fn read_named(text: &str) -> Problem {
    match Problem::from_toml("case", text, Path::new("."), &Overrides::default()) {
        Ok(problem) => problem,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// The model with the data of another statement.
pub(crate) fn with_data(truth: &str, model: &str, set: &[&str]) -> Problem {
    let tables = observed_tables(&read(truth, &[]), 1).expect("data");
    let mut problem = read(model, set);
    for (observation, table) in problem.observations.iter_mut().zip(tables) {
        observation.data = Data::Table(table);
    }
    problem
}

fn change(problem: &mut Problem, change: impl Fn(&mut Table)) {
    let Data::Table(table) = &mut problem.observations[0].data else { panic!("a table") };
    change(table);
}

fn with_sigma(mut problem: Problem, sigma: f64) -> Problem {
    change(&mut problem, |table| table.sigma = Some(vec![sigma; table.values.len()]));
    problem
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = vec![];
    let mut add = |name: &'static str, problem: Problem, expected: &'static [ReasonKind]| {
        cases.push(Case { name, problem, job: Job::default(), expected });
    };
    let plain = heat("", FORM, PROBES);
    let same = || with_data(&plain, &plain, &[]);
    // Another equation than the one that made the data.
    let pattern: &[ReasonKind] = &[Structure, Misfit];
    for (name, term) in [
        ("heat: growth is missing", " - 0.5*u"),
        ("heat: advection is missing", " + 0.4*u_x"),
        ("heat: a source is missing", " - 0.3*x"),
        ("heat: a source in time is missing", " - sin(3*t)"),
        ("heat: a reaction is missing", " - 2*u*(1-u)"),
        ("heat: steepening is missing", " + 0.5*u*u_x"),
    ] {
        add(name, with_data(&heat(term, FORM, PROBES), &plain, &[]), pattern);
    }
    // With less noise: a little decay looks much like a little more diffusion.
    let quiet = |term| heat(term, FORM, &PROBES.replace("0.01 }", "0.001 }"));
    add("heat: decay is missing", with_data(&quiet(" + 0.5*u"), &quiet(""), &[]), pattern);
    let uneven = plain.replace("D*u_xx", "D*(1 + 0.8*x)*u_xx - 0.8*D*u_x");
    add("heat: the diffusivity varies", with_data(&uneven, &plain, &[]), pattern);
    let growth = ode(RATE, "u_t - k*u*(1-u/3)", SAMPLES);
    add("growth: no limit", with_data(&growth, &ode(RATE, "u_t - k*u", SAMPLES), &[]), pattern);
    let square = ode(RATE, "u_t + k*u^2", SAMPLES);
    add("decay: first order for second", with_data(&square, &ode(RATE, "u_t + k*u", SAMPLES), &[]), pattern);
    let zero = ode(RATE, "u_t + k*0.2", SAMPLES);
    add("decay: first order for zeroth", with_data(&zero, &ode(RATE, "u_t + k*u", SAMPLES), &[]), pattern);
    let damped = with_data(&oscillator(2.9, " + 0.3*v"), &oscillator(2.9, ""), &[]);
    add("pendulum: no friction", damped, pattern);
    // Wrong conditions.
    for (name, form) in [
        ("heat: wrong value at an end", "sin(pi*x) + 0.5*sin(3*pi*x) + 0.2*x + net*x*(1-x)*t"),
        ("heat: wrong height at the start", "1.2*sin(pi*x) + 0.5*sin(3*pi*x) + net*x*(1-x)*t"),
        ("heat: wrong shape at the start", "sin(pi*x) + 0.3*sin(2*pi*x) + net*x*(1-x)*t"),
    ] {
        add(name, with_data(&plain, &heat("", form, PROBES), &[]), pattern);
    }
    // Wrong sigma.
    add("sigma ten times too small", with_sigma(same(), 0.001), &[Misfit]);
    add("sigma three times too small", with_sigma(same(), 0.0033), &[Misfit]);
    add("sigma ten times too large", with_sigma(same(), 0.1), &[TooGood]);
    add("sigma twice too large", with_sigma(same(), 0.02), &[TooGood]);
    let noisy = heat("", FORM, &PROBES.replace("0.01 }", "0.03 }"));
    add("noise three times as stated", with_sigma(with_data(&noisy, &plain, &[]), 0.01), &[Misfit]);
    // Outliers.
    for (name, rows, size) in [
        ("one outlier", &[40][..], 0.1),
        ("three outliers", &[10, 50, 90], 0.15),
        ("an outlier beyond measure", &[60], 10.0),
    ] {
        let mut problem = same();
        change(&mut problem, |table| rows.iter().for_each(|&row: &usize| table.values[row] += size));
        add(name, problem, &[Outliers, Structure]);
    }
    let mut known = with_sigma(same(), 0.01);
    change(&mut known, |table| table.values[30] -= 0.12);
    add("an outlier with known sigma", known, &[Outliers, Misfit]);
    // Wrong minima, with one start.
    for (name, guess) in [
        ("pendulum: half the frequency", 1.5),
        ("pendulum: twice the frequency", 6.0),
        ("pendulum: a little fast", 3.6),
    ] {
        let text = oscillator(guess, "");
        add(name, with_data(&text, &text, &["train.starts=1"]), &[Structure, Misfit, NotConverged]);
    }
    // Bounds that exclude the truth.
    let bounded = |bounds: &str| plain.replace("truth = 0.1", &format!("truth = 0.045\nbounds = {bounds}"));
    add("bound below the truth", with_data(&plain, &bounded("[0.01, 0.09]"), &[]), &[AtBound]);
    add(
        "bound above the truth",
        with_data(&plain, &bounded("[0.04, 0.0501]").replace("guess = 0.05", "guess = 0.045"), &[]),
        &[AtBound],
    );
    add("bound within the error bar", with_data(&plain, &bounded("[0.0, 0.1002]"), &[]), &[AtBound]);
    // Unknowns that the data do not see.
    let two = |unknowns: &str, residual: &str| ode(unknowns, residual, SAMPLES);
    let pair = "[unknown.a]\nguess = 1.0\ntruth = 0.8\n[unknown.b]\nguess = 1.0\ntruth = 1.0\n";
    for (name, residual) in [
        ("a product", "u_t + a*b*u"),
        ("a sum", "u_t + (a+b)/2*u"),
        ("a ratio", "u_t + a/b*u"),
        ("an unknown in no equation that counts", "u_t + a*u + 1e-14*b"),
    ] {
        let text = two(pair, residual);
        add(name, with_data(&text, &text, &[]), &[NotIdentified, HardlyIdentified]);
    }
    let flat = ode(
        "[unknown.k]\nguess = 1.0\ntruth = 30.0\n",
        "u_t + k*u - k*exp(-t)*0.9",
        "grid = { t = 8 }, noise = 0.1",
    );
    add(
        "a rate beyond what the data resolve",
        with_data(&flat, &flat, &[]),
        &[HardlyIdentified, NotIdentified, SolversDisagree, SeveralMinima],
    );
    // Answers that are not unique.
    let signless = ode("[unknown.k]\nguess = 0.5\ntruth = 0.8\n", "u_t + k^2*u", SAMPLES);
    add("a mirror image", with_data(&signless, &signless, &[]), &[SeveralMinima]);
    let phase = ode("[unknown.p]\nguess = 0.5\ntruth = 0.8\n", "u_t - cos(t + p)", SAMPLES);
    add("a phase", with_data(&phase, &phase, &[]), &[SeveralMinima]);
    let exchange = ode(
        "[unknown.a]\nguess = 0.3\ntruth = 0.4\n[unknown.b]\nguess = 2.0\ntruth = 1.5\n",
        "u_t + 0.5*a*exp(-a*t) + 0.5*b*exp(-b*t)",
        SAMPLES,
    );
    add("two rates in each other's place", with_data(&exchange, &exchange, &[]), &[SeveralMinima]);
    // Too few data.
    for (name, data) in
        [("two data", "grid = { t = 2 }, noise = 0.01"), ("four data", "grid = { t = 4 }, noise = 0.01")]
    {
        let text = ode(RATE, "u_t + k*u", data);
        add(name, with_data(&text, &text, &[]), &[Untested, NotIdentified, HardlyIdentified]);
    }
    // Rows twice.
    for (name, from, to) in [("twenty rows twice", 20, 40), ("all rows twice", 0, 121)] {
        let mut problem = same();
        change(&mut problem, |table| {
            table.values.extend_from_within(from..to);
            table.coordinates.iter_mut().for_each(|column| column.extend_from_within(from..to));
        });
        add(name, problem, &[RepeatedRows]);
    }
    for case in with_jobs(&plain) {
        cases.push(case);
    }
    cases
}

/// Cases that need another method or another end.
fn with_jobs(plain: &str) -> Vec<Case> {
    let exact = heat("", FORM, "value = \"u\"\ndata = { synthetic = { grid = { x = 11, t = 11 } } }");
    let exact = || with_sigma(with_data(&exact, plain, &[]), 1e-7);
    let job = |method: &'static dyn bilo::Method| Job { method, ..Job::default() };
    // The finest grid that the work allows is far coarser than such data ask for.
    let coarse = Case {
        name: "data finer than any grid",
        problem: exact(),
        job: job(&method::Adjoint),
        expected: &[Discretisation, Misfit, SolversDisagree],
    };
    let untrained = |name, set: &[&str]| {
        let network = ["operator.kind=network", "train.record-every=1"];
        let set: Vec<&str> = network.iter().chain(set).copied().collect();
        let problem = with_data(plain, plain, &set);
        Case { name, problem, job: Job::default(), expected: &[SolversDisagree, NoReference] }
    };
    let interrupt = Interrupt::default();
    interrupt.ask();
    vec![
        coarse,
        untrained("a network that was hardly trained", &["train.pretrain-steps=20", "train.train-steps=20"]),
        untrained("a network that never moved", &["train.pretrain-steps=300", "train.train-steps=1"]),
        Case {
            name: "a physics-informed network of few steps",
            problem: with_data(plain, plain, &["train.pretrain-steps=50", "train.train-steps=50"]),
            job: job(&method::Pinn),
            expected: &[SolversDisagree],
        },
        Case {
            name: "interrupted at once",
            problem: with_data(plain, plain, &[]),
            job: Job { interrupt, ..Job::default() },
            expected: &[Interrupted],
        },
        Case {
            name: "a time limit",
            problem: with_data(plain, plain, &["operator.kind=network", "train.time-limit=0.3"]),
            job: Job::default(),
            expected: &[Interrupted],
        },
    ]
}
