//! Error bars of unknown functions.

use bilo::observer::Silent;
use bilo::outcome::Outcome;
use bilo::problem::{
    Coordinate, DataSpec, FunctionSpec, PointsSpec, Problem, RegulariserKind, Table, Unknown,
};
use bilo::reference::ReferenceSolver;
use bilo::theta::Theta;
use bilo::{Job, run};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

const CELLS: usize = 12;
const VALUES: usize = 40;
const SIGMA: f64 = 1e-2;
const WEIGHT: f64 = 0.3;

/// Where u is observed.
fn places() -> Vec<f64> {
    (0..VALUES).map(|i| (i as f64 + 0.5) / VALUES as f64).collect()
}

/// A source f of u'' + f = 0 from values of u with errors.
fn source(form: &str, guess: &str, kind: RegulariserKind, values: Vec<f64>) -> Problem {
    let table = Table { coordinates: vec![places()], values, sigma: Some(vec![SIGMA; VALUES]) };
    let f = FunctionSpec::new("f", ["x"], guess).form(form).nodes([CELLS + 1]).regularise(kind, WEIGHT);
    Problem::builder("source")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .unknown_function(f)
        .state("u", "net*x*(1-x)")
        .equation("balance", "u_xx + f", PointsSpec::grid([("x", 21)]))
        .observation("profile", "u", DataSpec::table(table))
        .set("classical.cells=60")
        .build()
        .expect("a valid problem")
}

fn adjoint(problem: &Problem) -> Outcome {
    run(problem, &Job { method: &bilo::method::Adjoint, ..Job::default() }, &mut Silent).expect("it runs")
}

fn field<'a>(outcome: &'a Outcome, name: &str) -> &'a [f64] {
    &outcome.fields.arrays.iter().find(|array| array.name == name).expect("a field").values
}

/// Values of u for a source, with errors.
fn observed(problem: &Problem, f: &[f64], random: &mut Pcg64) -> Vec<f64> {
    let reference = ReferenceSolver::new(problem).expect("it can be solved");
    let theta = Theta { eta: vec![], functions: vec![f.to_vec()] };
    let solution = reference.solve(&theta).expect("it is linear");
    let exact = solution.state(0, &[places()]);
    exact.iter().map(|u| u + SIGMA * normal(random)).collect()
}

fn normal(random: &mut Pcg64) -> f64 {
    StandardNormal.sample(random)
}

/// Sources are drawn as rough as the weight of the regulariser says, four and sixteen times as rough in the square, and errors
/// of the data with them: over many draws the squared errors of the estimates are those that the bands tell, although
/// these know the roughness from one draw each. Over 1000 draws the ratios are .87, .95 and .97 (where noise hides the
/// roughness it is told too large rather than too small); over 100 they scatter by a fifth.
#[test]
fn errors_are_as_large_as_the_bands_say() {
    for roughness in [1.0, 4.0, 16.0] {
        let mut random = Pcg64::seed_from_u64(7);
        let (mut errors, mut told) = (0.0, 0.0);
        for _ in 0..100 {
            // Increments whose mean square fits the weight: kappa² / P for each cell.
            let increment = (roughness / VALUES as f64 / (WEIGHT * CELLS as f64)).sqrt();
            let mut f = vec![normal(&mut random)];
            (0..CELLS).for_each(|i| f.push(f[i] + increment * normal(&mut random)));
            let empty = source("net", "0", RegulariserKind::H1, vec![0.0; VALUES]);
            let values = observed(&empty, &f, &mut random);
            let outcome = adjoint(&source("net", "0", RegulariserKind::H1, values));
            let (estimate, sd) = (field(&outcome, "f"), field(&outcome, "f_sd"));
            for (node, f) in f.iter().enumerate() {
                // The report's grid has 101 nodes; the nearest to a node of f is within half a percent of the domain.
                let place = (100.0 * node as f64 / CELLS as f64).round() as usize;
                errors += (estimate[place] - f).powi(2);
                told += sd[place].powi(2);
            }
        }
        let ratio = errors / told;
        assert!((0.7..1.4).contains(&ratio), "roughness {roughness}: {ratio}");
    }
}

/// What a form holds has no error, and where it holds it to makes no difference to the rest.
#[test]
fn held_values_have_no_band() {
    let values = |shift: f64| -> Vec<f64> {
        places().iter().map(|x| (shift + 4.0) * x * (1.0 - x) / 2.0 + SIGMA * (40.0 * x).sin()).collect()
    };
    let sd = |shift: f64| {
        let form = format!("{shift} + net*x*(1-x)");
        let problem = source(&form, &format!("{shift}"), RegulariserKind::H1, values(shift));
        field(&adjoint(&problem), "f_sd").to_vec()
    };
    let (low, high) = (sd(0.0), sd(5.0));
    assert_eq!([low[0], low[100], high[0], high[100]], [0.0; 4]);
    assert!(low[50] > 0.0);
    for (low, high) in low.iter().zip(&high) {
        assert!((low - high).abs() < 1e-4 * low.abs().max(1e-3), "{low} and {high}");
    }
}

/// Without a regulariser there are more variables than data determine; with one, a scalar beside the function has an error
/// bar that counts what the function may take from it.
#[test]
fn scalars_beside_functions_have_error_bars() {
    let problem = |regularised: bool| {
        let f = FunctionSpec::new("f", ["x"], "1").nodes([7]);
        let f = if regularised { f.regularise(RegulariserKind::H1, 1e-6) } else { f };
        Problem::builder("both")
            .coordinate(Coordinate::space("x", 0.0, 1.0))
            .unknown(Unknown::new("c", 1.0).truth(2.0).log())
            .unknown_function(f.truth("1 + x"))
            .state("u", "net*x*(1-x)")
            .equation("balance", "u_xx - c*u + 10*f", PointsSpec::grid([("x", 21)]))
            .observation("profile", "u", DataSpec::synthetic(PointsSpec::grid([("x", 30)]), 1e-3))
            .observation("level", "f", DataSpec::synthetic(PointsSpec::grid([("x", 5)]), 1e-2))
            .set("classical.cells=60")
            .build()
            .expect("a valid problem")
    };
    let open = adjoint(&problem(false));
    assert_eq!((open.unknowns.functions[0].relative_sd, open.unknowns.numbers[0].sd), (None, None));
    let found = adjoint(&problem(true));
    let (c, sd) = (&found.unknowns.numbers[0], found.unknowns.numbers[0].sd.expect("a standard deviation"));
    assert!(found.unknowns.functions[0].relative_sd.is_some_and(|sd| sd > 0.0 && sd < 0.1));
    assert!((c.estimate - 2.0).abs() < 4.0 * sd && sd < 1.0, "{} ± {sd}", c.estimate);
}
