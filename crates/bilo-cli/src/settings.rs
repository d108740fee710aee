//! The settings in force in a run, defaults included, in the letters of a problem file.

use bilo::problem::{Classical, DictionaryChoice, Levels, NetworkChoice, OperatorChoice, Problem, Training};
use std::fmt::{Debug, Write};

/// `[operator]`, `[network]`, `[train]` and `[classical]` with every key.
pub(crate) fn in_force(problem: &Problem) -> String {
    let mut text = operator(problem);
    text += &network(&problem.network);
    text += &train(&problem.training);
    text += &classical(problem);
    text
}

fn classical(problem: &Problem) -> String {
    let Classical { cells, steps, scheme, flux } = &problem.classical;
    let space = problem.coordinates.iter().filter(|coordinate| !coordinate.time);
    let each: Vec<String> = space.zip(cells).map(|(c, cells)| format!("{} = {cells}", c.name)).collect();
    let cells = match cells.as_slice() {
        [cells] => cells.to_string(),
        _ => format!("{{ {} }}", each.join(", ")),
    };
    let mut text = format!("[classical]\ncells = {cells}\nsteps = {steps}\nscheme = {}\n", word(scheme));
    if let Some(flux) = flux {
        let _ = writeln!(text, "flux = {:?}", flux.text);
    }
    text
}

fn operator(problem: &Problem) -> String {
    let OperatorChoice { kind, dictionary } = &problem.operator;
    let DictionaryChoice { basis, modes, features, scale, enrich } = dictionary;
    let mut text = format!("[operator]\nkind = {}\nbasis = {}\n", word(kind), word(basis));
    if basis.is_tensor() {
        let names = problem.coordinates.iter().map(|c| &c.name).chain(problem.inputs.iter().map(|i| &i.name));
        let stated = names.zip(modes).filter_map(|(name, modes)| Some(format!("{name} = {}", (*modes)?)));
        let _ = writeln!(text, "modes = {{ {} }}", stated.collect::<Vec<_>>().join(", "));
    } else {
        let _ = writeln!(text, "scale = {scale:?}");
        if let Some(features) = features {
            let _ = writeln!(text, "features = {features}");
        }
    }
    if !enrich.is_empty() {
        let texts: Vec<String> = enrich.iter().map(|formula| format!("{:?}", formula.text)).collect();
        let _ = writeln!(text, "enrich = [{}]", texts.join(", "));
    }
    text
}

fn network(choice: &NetworkChoice) -> String {
    let NetworkChoice { width, layers, activation, fourier, residual, modified, separate } = choice;
    let mut text =
        format!("[network]\nwidth = {width}\nlayers = {layers}\nactivation = {}\n", word(activation));
    if let Some((features, scale)) = fourier {
        let _ = writeln!(text, "fourier = {{ features = {features}, scale = {scale:?} }}");
    }
    let _ = write!(text, "residual = {residual}\nmodified = {modified}\nseparate = {separate}\n");
    text
}

fn train(training: &Training) -> String {
    let mut lines = vec![
        format!("recipe = {}", word(&training.recipe)),
        format!("precision = {}", word(&training.precision)),
    ];
    match training.levels {
        Levels::Simultaneous => lines.push("levels = \"simultaneous\"".to_string()),
        Levels::Alternating { tolerance, max_lower } => lines.extend([
            "levels = \"alternating\"".to_string(),
            format!("lower-tolerance = {tolerance:?}"),
            format!("max-lower-steps = {max_lower}"),
        ]),
    }
    lines.extend([
        format!("optimiser = {}", word(&training.optimiser)),
        format!("theta-optimiser = {}", word(&training.theta_optimiser)),
        format!("schedule = {}", word(&training.schedule)),
        format!("pretrain-steps = {}", training.pretrain_steps),
        format!("train-steps = {}", training.train_steps),
        format!("rate = {:?}", training.rate),
        format!("theta-rate = {:?}", training.theta_rate),
        format!("rgrad-weight = {:?}", training.rgrad_weight),
        format!("data-weight = {:?}", training.data_weight),
        format!("lower-steps = {}", training.lower_steps),
        format!("inverse-steps = {}", training.inverse_steps),
        format!("gradient = \"{}\"", training.gradient.name()),
        format!("pretrain-on-solution = {}", training.pretrain_on_solution),
        format!("settle-tolerance = {:?}", training.settle_tolerance),
        format!("settle-steps = {}", training.settle_steps),
        format!("record-every = {}", training.record_every),
    ]);
    lines.extend(training.time_limit.map(|seconds| format!("time-limit = {seconds:?}")));
    format!("[train]\n{}\n", lines.join("\n"))
}

/// The choices of a problem file are the variants' names in small letters.
fn word(choice: &impl Debug) -> String {
    format!("{:?}", format!("{choice:?}").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo::problem::Overrides;
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
        let overrides = Overrides { recipe: None, set: set.iter().map(|s| s.to_string()).collect() };
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
    fn the_twins_cells_scheme_and_flux_are_read_back() {
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
}
