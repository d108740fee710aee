//! The settings that a run writes out are those that it had.

use bilo_problem::{Overrides, Problem, in_force};
use std::path::Path;

const STATEMENT: &str = r#"
    name = "decay"
    about = "Rate of decay"
    [coordinates]
    t = { range = [0.0, 1.0], time = true }
    [unknown.k]
    guess = 1.0
    truth = 2.0
    [state.u]
    form = "1 + net*t"
    [equation.decay]
    residual = "u_t + k*u"
    points = { grid = { t = 11 } }
    [observation.amount]
    value = "u"
    data = { synthetic = { grid = { t = 11 }, noise = 0.0 } }
"#;

fn read(text: &str, set: &[&str]) -> Problem {
    let overrides = Overrides::of(set.iter().copied());
    Problem::from_toml("decay.toml", text, Path::new(""), &overrides)
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn read_back_they_are_the_same_settings() {
    let unusual = [
        "train.levels=alternating",
        "train.lower-tolerance=1e-7",
        "train.max-lower-steps=7",
        "train.precision=f64",
        "train.schedule=constant",
        "train.time-limit=60.0",
        "train.rate=0.0123",
        "network.activation=sin",
        "network.fourier={ features = 16, scale = 2.0 }",
        "network.residual=true",
        "classical.cells=100",
    ];
    let dictionary =
        ["operator.kind=dictionary", "operator.modes={ t = 9 }", "operator.enrich=['exp(-k*t)']"];
    let ridges = ["operator.basis=tanh", "operator.features=77", "operator.scale=2.5"];
    let recipes = [&["train.recipe=fast"][..], &["train.recipe=paper"]];
    for set in [recipes[0], recipes[1], &unusual, &dictionary, &ridges] {
        let problem = read(STATEMENT, set);
        let again = read(&format!("{STATEMENT}\n{}", in_force(&problem)), &[]);
        assert_eq!(again, problem, "{set:?}");
    }
}

#[test]
fn the_reference_solvers_cells_scheme_and_flux_are_read_back() {
    let plane = STATEMENT.replace("[coordinates]", "[coordinates]\n x = [0.0, 1.0]\n y = [0.0, 1.0]");
    let line = STATEMENT.replace("[coordinates]", "[coordinates]\n x = [0.0, 1.0]");
    let scattered = |text: &str| text.replace("{ grid = { t = 11 }", "{ random = 11");
    let law = "equation.decay.residual='u_t + k*u*u_x'";
    for (text, set) in [
        (scattered(&plane), &["classical.cells={ x = 30, y = 20 }", "classical.scheme=central"][..]),
        (scattered(&line), &[law, "classical.flux='k*u^2/2'"]),
    ] {
        let problem = read(&text, set);
        let stated = format!("{text}\n{}", in_force(&problem));
        let equation = set.iter().copied().filter(|set| set.starts_with("equation"));
        assert_eq!(read(&stated, &equation.collect::<Vec<_>>()), problem);
    }
}
