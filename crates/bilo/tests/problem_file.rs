//! Good input means what it says: files, builder, points, data, settings, names.

use crate::arrays;

use arrays::{Order, npy, npz};
use bilo::problem::{
    Coordinate, Data, DataSpec, Layout, Levels, Names, Overrides, PointsSpec, Problem, Recipe, Schedule,
    Table, Transform, Unknown,
};
use bilo_expr::{Expr, Input, Leaf, Scratch, Tape};
use std::f64::consts::PI;
use std::path::Path;

const FRONT: &str = r#"
name  = "front"
about = "Diffusion and growth"
[coordinates]
x = [0.0, 1.0]
t = { range = [0.0, "2*z"], time = true }
[constants]
z = 0.5
w = "sin(pi*z)"
[unknown.D]
guess = 1.0
truth = "4*z"
bounds = [0.0, 100]
unit = "mm"
[unknown.rho]
guess = 1
truth = 2.0
scale = 10.0
transform = "log"
rate = 0.1
[state.u]
form = "0.5*sin(pi*x)^2 + net*x*(1-x)*t"
truth = "0.5*sin(pi*x)^2 + D*t"
[equation.front]
residual = "u_t - 0.01*D*u_xx - rho*u*(w-u)"
points = { grid = { t = 5, x = 3 }, where = "x != z" }
[equation.ends]
residual = "u"
points = { random = 10, at = { x = [0.0, "2*z"] } }
weight = 2.0
[observation.profile]
data = { synthetic = { sobol = 16, noise = 0.01 } }
weight = 3.0
[network]
width = 32
[train]
levels = "alternating"
lower-tolerance = 1e-5
[classical]
cells = 100
"#;

fn read(text: &str) -> Problem {
    read_with(text, Path::new("."), &[])
}

fn read_with(text: &str, folder: &Path, set: &[&str]) -> Problem {
    let overrides = Overrides::of(set.iter().copied());
    Problem::from_toml("front.toml", text, folder, &overrides).unwrap_or_else(|e| panic!("{e}"))
}

fn builder() -> bilo::problem::ProblemBuilder {
    Problem::builder("front")
        .about("Diffusion and growth")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .constant("z", 0.5)
        .constant("w", 1.0)
        .unknown(Unknown::new("D", 1.0).truth(2.0).bounds(0.0, 100.0).unit("mm"))
        .unknown(Unknown::new("rho", 1.0).truth(2.0).scale(10.0).log().rate(0.1))
        .known_state("u", "0.5*sin(pi*x)^2 + net*x*(1-x)*t", "0.5*sin(pi*x)^2 + D*t")
        .equation(
            "front",
            "u_t - 0.01*D*u_xx - rho*u*(w-u)",
            PointsSpec::grid([("x", 3), ("t", 5)]).keep("x != z"),
        )
        .weighted_equation("ends", "u", PointsSpec::random(10).hold("x", [0.0, 1.0]), 2.0)
        .weighted_observation("profile", "u", DataSpec::synthetic(PointsSpec::sobol(16), 0.01), 3.0)
        .set("network.width=32")
        .set("train.levels=alternating")
        .set("train.lower-tolerance=1e-5")
        .set("classical.cells=100")
}

#[test]
fn file_and_builder_state_the_same_problem() {
    let built = builder().build().expect("a good problem");
    assert_eq!(read(FRONT), built);
    assert_ne!(read(&FRONT.replace("weight = 2.0", "weight = 2.5")), built);
}

#[test]
fn builder_errors_name_the_part_at_fault() {
    let error = builder().state("v", "1 + nett").build().unwrap_err().to_string();
    assert!(error.contains("--> state.v.form:1:5") && error.contains("did you mean `net`?"), "{error}");
    let error = builder().unknown(Unknown::new("k", -1.0).log()).build().unwrap_err().to_string();
    assert!(error.starts_with("error: unknown.k.guess: `guess` must be positive"), "{error}");
    let twice = PointsSpec::grid([("x", 3), ("t", 3), ("x", 4)]);
    let error = builder().equation("more", "u", twice).build().unwrap_err().to_string();
    assert!(error.starts_with("error: equation.more.points: `x` occurs twice in `grid`"), "{error}");
    let table = Table { coordinates: vec![vec![0.5], vec![0.5]], values: vec![1.0, 2.0], sigma: None };
    let error = builder().observation("more", "u", DataSpec::table(table)).build().unwrap_err().to_string();
    assert!(error.contains("there are 1 points and 2 values"), "{error}");
}

#[test]
fn a_problem_file_finds_its_data_beside_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = FRONT.replace("{ synthetic = { sobol = 16, noise = 0.01 } }", "{ file = \"d.csv\" }");
    std::fs::write(folder.path().join("d.csv"), "x,t,value\n0.5,0.5,1.0\n").expect("a data file");
    std::fs::write(folder.path().join("p.toml"), text).expect("a problem file");
    let problem = Problem::from_file(&folder.path().join("p.toml"), &Overrides::default());
    let table = Table { coordinates: vec![vec![0.5], vec![0.5]], values: vec![1.0], sigma: None };
    assert_eq!(problem.expect("a good problem").observations[0].data, Data::Table(table));
    let error = Problem::from_file(&folder.path().join("q.toml"), &Overrides::default()).unwrap_err();
    assert!(error.to_string().contains("q.toml: No such file"), "{error}");
}

// Points

fn columns(points: &str, seed: u64) -> Vec<Vec<f64>> {
    let text = FRONT.replace("{ grid = { t = 5, x = 3 }, where = \"x != z\" }", points);
    let problem = read(&text);
    problem.equations[0].points.columns(&problem, seed).expect("points")
}

#[test]
fn a_grid_is_in_row_major_order_of_the_coordinates() {
    let found = columns("{ grid = { t = 3, x = 2 } }", 0);
    assert_eq!(found, [[0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [0.0, 0.5, 1.0, 0.0, 0.5, 1.0]]);
}

#[test]
fn held_coordinates_join_the_grid() {
    let found = columns("{ grid = { x = 2 }, at = { t = [0.25, \"z\"] } }", 0);
    assert_eq!(found, [[0.0, 0.0, 1.0, 1.0], [0.25, 0.5, 0.25, 0.5]]);
    let found = columns("{ at = { t = 1.0, x = \"z/2\" } }", 0);
    assert_eq!(found, [[0.25], [1.0]]);
}

#[test]
fn where_leaves_points_out() {
    let found = columns("{ grid = { x = 3, t = 2 }, where = \"x != z and t > 0\" }", 0);
    assert_eq!(found, [[0.0, 1.0], [1.0, 1.0]]);
    // More points than fit one tile of the evaluation: 101*101 less the diagonal.
    let found = columns("{ grid = { x = 101, t = 101 }, where = \"x != t\" }", 0);
    assert_eq!(found[0].len(), 101 * 100);
    assert!(found[0].iter().zip(&found[1]).all(|(x, t)| x != t));
}

#[test]
fn a_periodic_grid_leaves_its_upper_end_out() {
    assert_eq!(Coordinate::space("x", 0.0, 2.0).periodic().axis(4), [0.0, 0.5, 1.0, 1.5]);
    assert_eq!(Coordinate::space("x", 0.0, 2.0).axis(5), [0.0, 0.5, 1.0, 1.5, 2.0]);
    assert_eq!(Coordinate::space("x", 0.1, 0.7).axis(8)[7], 0.7);
}

#[test]
fn random_points_are_uniform_and_belong_to_their_seed() {
    let found = columns("{ random = 4000 }", 7);
    assert_eq!(found, columns("{ random = 4000 }", 7));
    assert_ne!(found, columns("{ random = 4000 }", 8));
    for column in &found {
        assert!(column.iter().all(|v| (0.0..=1.0).contains(v)));
        // Standard error of the mean: sqrt(1/12/4000) = 0.0046; five of them.
        let mean = column.iter().sum::<f64>() / 4000.0;
        assert!((mean - 0.5).abs() < 0.023, "{mean}");
    }
}

#[test]
fn held_values_repeat_the_random_points() {
    let found = columns("{ random = 3, at = { x = [0.0, 1.0] } }", 1);
    assert_eq!(found[0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(found[1][..3], found[1][3..]);
}

#[test]
fn sobol_points_fall_one_into_each_stratum() {
    // The first 2^k points of a scrambled Sobol sequence have one point in each of 2^k equal
    // intervals of every coordinate; random points would almost surely not.
    let found = columns("{ sobol = 64 }", 3);
    assert_ne!(found, columns("{ sobol = 64 }", 4));
    for column in &found {
        let mut strata: Vec<usize> = column.iter().map(|v| (v * 64.0) as usize).collect();
        strata.sort_unstable();
        assert_eq!(strata, (0..64).collect::<Vec<_>>());
    }
}

#[test]
fn points_come_from_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let csv = "# by hand\n\"t\", extra, \"x\"\n0.25,left,0\n\n1.0,right,1.0000000001\n";
    std::fs::write(folder.path().join("p.csv"), csv).expect("a data file");
    let grid = "{ grid = { t = 5, x = 3 }, where = \"x != z\" }";
    let problem = read_with(&FRONT.replace(grid, "{ file = \"p.csv\" }"), folder.path(), &[]);
    // Rounding beyond the end of the domain is taken back.
    assert_eq!(problem.equations[0].points.layout, Layout::List(vec![vec![0.0, 1.0], vec![0.25, 1.0]]));
}

// Data

fn table_of(file: &str, bytes: &[u8], more: &str) -> Table {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(file), bytes).expect("a data file");
    let data = format!("{{ file = \"{file}\"{more} }}");
    let text = FRONT.replace("{ synthetic = { sobol = 16, noise = 0.01 } }", &data);
    match read_with(&text, folder.path(), &[]).observations.remove(0).data {
        Data::Table(table) => table,
        other => panic!("{other:?}"),
    }
}

fn expected() -> Table {
    Table {
        coordinates: vec![vec![0.0, 0.0, 1.0, 1.0], vec![0.25, 0.5, 0.25, 0.5]],
        values: vec![1.0, 2.0, 3.0, 4.0],
        sigma: Some(vec![0.5, 0.5, 0.5, 1.5]),
    }
}

#[test]
fn every_format_gives_the_same_table() {
    let csv = "\u{feff}x,t,value,sigma\r\n0,0.25,1,0.5\r\n0,0.5,2,0.5\r\n1,0.25,3,0.5\r\n1,0.5,4,1.5\r\n";
    assert_eq!(table_of("a.csv", csv.as_bytes(), ""), expected());

    let rows = [0., 0.25, 1., 0.5, 0., 0.5, 2., 0.5, 1., 0.25, 3., 0.5, 1., 0.5, 4., 1.5];
    let rows32 = rows.map(|v| v as f32);
    let transposed: Vec<f64> = (0..16).map(|i| rows[4 * (i % 4) + i / 4]).collect();
    let (c, fortran) = (Order::C, Order::Fortran);
    assert_eq!(table_of("a.npy", &npy("<f8", c, &[4, 4], &rows), ""), expected());
    assert_eq!(table_of("a.npy", &npy(">f8", c, &[4, 4], &rows), ""), expected());
    assert_eq!(table_of("a.npy", &npy("<f4", c, &[4, 4], &rows32), ""), expected());
    assert_eq!(table_of("a.npy", &npy("<f8", fortran, &[4, 4], &transposed), ""), expected());

    let flat = npz(&[
        ("x", &[4], &[0., 0., 1., 1.]),
        ("t", &[4], &[0.25, 0.5, 0.25, 0.5]),
        ("value", &[4], &[1., 2., 3., 4.]),
        ("sigma", &[4], &[0.5, 0.5, 0.5, 1.5]),
    ]);
    assert_eq!(table_of("a.npz", &flat, ""), expected());
    let tensor = npz(&[
        ("x", &[2], &[0., 1.]),
        ("t", &[2], &[0.25, 0.5]),
        ("value", &[2, 2], &[1., 2., 3., 4.]),
        ("sigma", &[2, 2], &[0.5, 0.5, 0.5, 1.5]),
    ]);
    assert_eq!(table_of("a.npz", &tensor, ""), expected());
}

#[test]
fn integers_of_every_kind_are_numbers() {
    let c = Order::C;
    let expected = Table { coordinates: vec![vec![1.0], vec![0.0]], values: vec![-3.0], sigma: None };
    assert_eq!(table_of("a.npy", &npy("<i4", c, &[1, 3], &[1i32, 0, -3]), ""), expected);
    assert_eq!(table_of("a.npy", &npy(">i2", c, &[1, 3], &[1i16, 0, -3]), ""), expected);
    assert_eq!(table_of("a.npy", &npy("|i1", c, &[1, 3], &[1i8, 0, -3]), ""), expected);
    assert_eq!(table_of("a.npy", &npy("<i8", c, &[1, 3], &[1i64, 0, -3]), ""), expected);
    let unsigned = table_of("a.npy", &npy("|u1", c, &[1, 3], &[1u8, 0, 253]), "");
    assert_eq!(unsigned.values, [253.0]);
}

#[test]
fn a_held_coordinate_completes_a_file() {
    let table = table_of("a.csv", b"value,x\n2,0.5\n3,1\n", ", at = { t = \"z\" }");
    let expected =
        Table { coordinates: vec![vec![0.5, 1.0], vec![0.5; 2]], values: vec![2.0, 3.0], sigma: None };
    assert_eq!(table, expected);
    let array = npz(&[("x", &[2], &[0.5, 1.0]), ("value", &[2], &[2.0, 3.0])]);
    assert_eq!(table_of("a.npz", &array, ", at = { t = 0.5 }"), expected);
}

// Settings

#[test]
fn recipes_have_the_defaults_of_the_paper_and_of_few_cores() {
    let (network, training) = Recipe::Paper.defaults();
    assert_eq!((network.width, network.layers), (128, 2));
    assert_eq!((training.pretrain_steps, training.train_steps), (10_000, 50_000));
    assert_eq!((training.rate, training.theta_rate, training.rgrad_weight), (1e-3, 1e-3, 0.1));
    assert_eq!((training.schedule, training.levels), (Schedule::Constant, Levels::Simultaneous));
    let (_, training) = Recipe::Fast.defaults();
    assert_eq!(training.recipe, Recipe::Fast);
    assert_eq!(training.schedule, Schedule::Cosine);
}

#[test]
fn a_recipes_own_table_applies_under_that_recipe_only() {
    let more = "rate = 0.5\n[train.paper]\nrate = 0.25\n[network.paper]\nwidth = 16\n[classical]";
    let text = FRONT.replace("[classical]", more);
    let fast = read(&text);
    assert_eq!((fast.training.rate, fast.network.width), (0.5, 32));
    let overrides = Overrides { recipe: Some("paper".to_string()), set: vec![] };
    let paper = Problem::from_toml("p", &text, Path::new("."), &overrides).expect("a good problem");
    assert_eq!(paper.training.recipe, Recipe::Paper);
    assert_eq!((paper.training.rate, paper.network.width), (0.25, 16));
    assert_eq!(paper.training.train_steps, 50_000);
}

#[test]
fn overrides_win_over_everything() {
    let text = FRONT.replace("[classical]", "rate = 0.5\n[train.paper]\nrate = 0.25\n[classical]");
    let set = |set: &[&str]| read_with(&text, Path::new("."), set);
    let problem = set(&["train.recipe=paper", "train.rate=0.125", "network.width = 8"]);
    assert_eq!((problem.training.rate, problem.network.width), (0.125, 8));
    assert_eq!(set(&["train.recipe=paper", "train.paper.rate=0.0625"]).training.rate, 0.0625);
    assert_eq!(set(&["unknown.D.guess=pi/4"]).unknowns[0].guess, PI / 4.0);
    assert_eq!(set(&["unknown.D.bounds=[0, 2]"]).unknowns[0].bounds, Some((0.0, 2.0)));
    assert_eq!(set(&["constants.z=0.25"]).coordinates[1].hi, 0.5);
    let problem = set(&["equation.front.points={ random = 9 }"]);
    assert_eq!(problem.equations[0].points.layout, Layout::Random(9));
    assert_eq!(problem.equations[0].points.filter, None);
}

#[test]
fn every_setting_of_network_and_training_is_read() {
    let network = "[network]\nwidth = 8\nlayers = 3\nactivation = \"sin\"\nresidual = true\nmodified = true\n\
        separate = true\nfourier = { features = 4, scale = 2.0 }\n";
    let train = "[train]\nrecipe = \"paper\"\nprecision = \"f64\"\noptimiser = \"lbfgs\"\nschedule = \"cosine\"\n\
        pretrain-steps = 1\ntrain-steps = 2\nrate = 3\ntheta-rate = 4\nrgrad-weight = 5\ndata-weight = 6\nlower-steps = 7\ninverse-steps = 8\npretrain-on-solution = false\n\
        settle-tolerance = 6\nsettle-steps = 7\nstarts = 10\ntime-limit = 8\nrecord-every = 9\nlevels = \"alternating\"\n\
        max-lower-steps = 10\nlower-tolerance = 11\ntheta-optimiser = \"soap\"\n";
    let (start, rest) = FRONT.split_once("[network]").expect("settings");
    let (_, end) = rest.split_once("[classical]").expect("settings");
    let problem = read(&format!("{start}{network}{train}[classical]{end}"));
    let n = &problem.network;
    assert_eq!((n.width, n.layers, n.activation), (8, 3, bilo_jet::Activation::Sin));
    assert_eq!((n.residual, n.modified, n.separate, n.fourier), (true, true, true, Some((4, 2.0))));
    let expected = bilo::problem::Training {
        recipe: Recipe::Paper,
        precision: bilo_jet::Precision::F64,
        levels: Levels::Alternating,
        lower_tolerance: 11.0,
        max_lower_steps: 10,
        optimiser: bilo::problem::WeightOptimiser::Lbfgs,
        theta_optimiser: bilo::problem::ThetaOptimiser::Soap,
        schedule: Schedule::Cosine,
        pretrain_steps: 1,
        train_steps: 2,
        rate: 3.0,
        theta_rate: 4.0,
        rgrad_weight: 5.0,
        data_weight: 6.0,
        lower_steps: 7,
        inverse_steps: 8,
        gradient: bilo::problem::GradientMode::Pointwise,
        pretrain_on_solution: false,
        settle_tolerance: 6.0,
        settle_steps: 7,
        starts: Some(10),
        time_limit: Some(8.0),
        record_every: 9,
    };
    assert_eq!(problem.training, expected);
}

// Names

fn evaluate(names: &Names, expr: Expr, inputs: &[(Leaf, f64)]) -> f64 {
    let leaves: Vec<Leaf> = inputs.iter().map(|(leaf, _)| leaf.clone()).collect();
    let values: Vec<Input<'_, f64>> = inputs.iter().map(|(_, value)| Input::Uniform(*value)).collect();
    let tape = Tape::compile(&names.graph, &[expr], &leaves).expect("all inputs");
    let mut scratch = Scratch::new();
    tape.eval(&values, 1, &mut scratch);
    scratch.output(&tape, 0)[0]
}

#[test]
fn unknowns_stand_for_their_transformed_variables() {
    let problem = read(FRONT);
    let names = Names::new(&problem).expect("a checked problem");
    for (i, unknown) in problem.unknowns.iter().enumerate() {
        let eta = unknown.eta_of(1.7);
        let found = evaluate(&names, names.theta[i], &[(Leaf::Symbol(names.eta[i]), eta)]);
        // Two roundings of each of exp, log and the scaling.
        assert!((found - 1.7).abs() < 1e-14, "{found}");
        assert!((unknown.theta_of(eta) - 1.7).abs() < 1e-14);
        assert_eq!(names.graph.symbol_name(names.eta[i]), unknown.name);
    }
    assert_eq!(problem.unknowns[0].eta_of(1.7), 1.7);
    assert_eq!(problem.unknowns[1].transform, Transform::Log);
    assert!((problem.unknowns[1].eta_of(1.7) - 0.17f64.ln()).abs() < 1e-15);
}

#[test]
fn a_residual_is_an_expression_of_the_states_derivatives() {
    let problem = read(FRONT);
    let mut names = Names::new(&problem).expect("a checked problem");
    let u = names.bind_states_opaque(&problem)[0];
    let residual = names.lower(&problem.equations[0].residual).expect("a residual");
    let index = |x: usize, t: usize| {
        let mut index = bilo_expr::MultiIndex::zero(2);
        (0..x).for_each(|_| index = index.plus(0));
        (0..t).for_each(|_| index = index.plus(1));
        Leaf::Derivative(u, index)
    };
    let inputs = [
        (index(0, 0), 0.25),
        (index(0, 1), 3.0),
        (index(2, 0), 5.0),
        (Leaf::Symbol(names.eta[0]), 2.0),
        (Leaf::Symbol(names.eta[1]), 0.1f64.ln()),
    ];
    // u_t - 0.01*D*u_xx - rho*u*(w-u) with D = 2, rho = 10*exp(log(0.1)) = 1, w = sin(pi/2) = 1.
    let expected = 3.0 - 0.01 * 2.0 * 5.0 - 0.25 * 0.75;
    assert!((evaluate(&names, residual, &inputs) - expected).abs() < 1e-14);
}

#[test]
fn space_is_every_coordinate_but_time() {
    let problem = read(&FRONT.replace("0.01*D*u_xx", "div(0.01*D*grad(u))"));
    let mut names = Names::new(&problem).expect("a checked problem");
    names.bind_states_opaque(&problem);
    let by_div = names.lower(&problem.equations[0].residual).expect("a residual");
    let by_hand = names.lower(&read(FRONT).equations[0].residual).expect("a residual");
    let difference = names.graph.sub(by_div, by_hand);
    assert_eq!(names.graph.as_constant(difference), Some(0.0));
}

#[test]
fn colour_is_only_there_when_asked_for() {
    let error = read_error(&FRONT.replace("guess = 1.0", "gues = 1.0"));
    assert_eq!(error.kind(), bilo::diagnostic::ErrorKind::Input);
    let diagnostic = error.diagnostic();
    assert!(!diagnostic.render(false).contains('\u{1b}'));
    assert!(diagnostic.render(true).contains('\u{1b}'));
}

fn read_error(text: &str) -> bilo::diagnostic::Error {
    Problem::from_toml("front.toml", text, Path::new("."), &Overrides::default()).expect_err("an error")
}
