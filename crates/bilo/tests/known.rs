//! Known functions that are no formulas: random fields, and values on grids.

use bilo::data::observed_tables;
use bilo::diagnostic::Origin;
use bilo::examine::examine;
use bilo::level::Upper;
use bilo::observer::{Control, Event, Observer};
use bilo::operator::LocalOperator;
use bilo::problem::{
    Coordinate, DataSpec, Formula, FunctionSpec, KnownFunction, KnownSpec, Overrides, PointsSpec, Problem,
    ProblemBuilder, RandomField, Regulariser, RegulariserKind,
};
use bilo::{Job, run};
use bilo_jet::cpu;
use std::path::Path;

const DARCY: &str = include_str!("../../../problems/darcy.toml");

fn read(text: &str, folder: &Path, set: &[&str]) -> Problem {
    Problem::from_toml("known.toml", text, folder, &Overrides::of(set.iter().copied()))
        .expect("a good problem")
}

/// -(k u')' = 1 with k of x.
fn rod(truth: impl Into<KnownSpec>) -> ProblemBuilder {
    without_state(truth).state("u", "net*x*(1-x)")
}

fn without_state(truth: impl Into<KnownSpec>) -> ProblemBuilder {
    Problem::builder("rod")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .unknown_function(FunctionSpec::new("k", ["x"], "1").truth(truth).nodes([11]))
        .equation("balance", "-div(k*grad(u)) - 1", PointsSpec::grid([("x", 11)]))
        .observation("all", "u", DataSpec::synthetic(PointsSpec::grid([("x", 21)]), 0.0))
        .set("classical.cells=40")
}

const ROD: &str = r#"
name = "rod"
[coordinates]
x = [0.0, 1.0]
[unknown.k]
of = ["x"]
guess = "1"
truth = { file = "k.csv" }
grid = { x = 11 }
[state.u]
form = "net*x*(1-x)"
[equation.balance]
residual = "-div(k*grad(u)) - 1"
points = { grid = { x = 11 } }
[observation.all]
data = { synthetic = { grid = { x = 21 } } }
[classical]
cells = 40
"#;

/// A kinked function by a formula, by values in Rust and by a file, rows in any order: the same data.
#[test]
fn a_grid_of_values_is_the_formula_that_it_samples() {
    let formula = rod("if(x < 0.25, 1 + 4*x, 2)").build().unwrap();
    let grid = rod(KnownSpec::Grid(vec![vec![0.0, 0.25, 1.0]], vec![1.0, 2.0, 2.0])).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.csv"), "value,x\n2,1.0\n1,0.0\n2,0.25\n").unwrap();
    let file = read(ROD, folder.path(), &[]);
    assert_eq!(grid, file);
    let [expected, found] = [&formula, &file].map(|problem| observed_tables(problem, 0).unwrap());
    for (a, b) in expected[0].values.iter().zip(&found[0].values) {
        assert!((a - b).abs() < 1e-14, "{a} and {b}");
    }
}

/// In a file and in Rust, with and without an expression of it.
#[test]
fn a_random_field_is_the_same_in_a_file_and_in_rust() {
    let field = RandomField { sd: 2.0, length: 0.3, seed: 7 };
    let set = "unknown.k.truth={ random-field = { sd = \"sqrt(4)\", length = 0.3, seed = 7 }, value = \"1 + exp(field)\" }";
    let of_field = rod(KnownSpec::Random(field, "1 + exp(field)".into())).build().unwrap();
    assert_eq!(read(ROD, Path::new("."), &[set]), of_field);
    let function = &of_field.functions[0];
    let truth = function.on_nodes(&of_field, function.truth.as_ref().unwrap()).unwrap();
    let plain = KnownFunction::Random { field, value: formula("field") };
    let plain = function.on_nodes(&of_field, &plain).unwrap();
    for (truth, plain) in truth.iter().zip(plain) {
        assert_eq!(*truth, 1.0 + plain.exp());
    }
}

fn formula(text: &str) -> Formula {
    Formula::parse(text, Origin::none()).unwrap()
}

#[test]
fn a_field_of_rust_must_have_a_length() {
    let field = RandomField { sd: 1.0, length: 0.0, seed: 1 };
    let error = rod(field).build().unwrap_err().to_string();
    assert!(
        error.contains("unknown.k.truth.random-field.length: `length` must be positive, found 0.0"),
        "{error}"
    );
    let error = rod(KnownSpec::Grid(vec![vec![0.0, 1.0]], vec![1.0])).build().unwrap_err().to_string();
    assert!(error.contains("unknown.k.truth: there are 2 nodes and 1 values"), "{error}");
}

/// What cannot be differentiated is not held against equations, and `bilo check` says so.
#[test]
fn a_stated_truth_of_states_is_not_checked_beside_a_field() {
    let field = RandomField { sd: 1.0, length: 0.2, seed: 1 };
    let problem = without_state(field).known_state("u", "net*x*(1-x)", "x*(1-x)/2");
    let found = examine(&problem.build().unwrap()).unwrap();
    let section = found.sections.iter().find(|(heading, _)| heading == "Stated truth").expect("a section");
    assert_eq!(section.1, ["not checked: the truth of `k` is no formula"]);
}

/// The regulariser of the operator, with a reference by a formula and by a grid.
#[test]
fn a_reference_on_a_grid_regularises_like_its_formula() {
    let terms = |reference: KnownFunction| {
        let mut problem = rod("1").build().unwrap();
        let kind = RegulariserKind::L2 { reference: Some(reference) };
        problem.functions[0].regulariser = Some(Regulariser::new(kind, 1.0));
        let mut device = cpu(problem.training.precision, Some(1));
        let mut operator = LocalOperator::new(&problem, 0).unwrap();
        let tables = observed_tables(&problem, 0).unwrap();
        let upper = Upper::new(&problem, &mut operator, device.as_mut(), tables).unwrap();
        upper.loss(device.as_mut(), &operator.initial_weights(0), &[]).expect("the CPU never fails").terms
    };
    let grid = rod(KnownSpec::Grid(vec![vec![0.0, 1.0]], vec![1.0, 3.0])).build().unwrap();
    let grid = terms(grid.functions[0].truth.clone().unwrap());
    let formula = terms(KnownFunction::Formula(formula("1 + 2*x")));
    assert!(grid[1] > 0.1 && (grid[1] - formula[1]).abs() < 1e-6 * grid[1], "{grid:?} and {formula:?}");
}

/// Stops after so many steps.
struct Few(usize);

impl Observer for Few {
    fn event(&mut self, event: &Event<'_>) -> Control {
        match event {
            Event::Step(record) if record.step >= self.0 => Control::Stop,
            _ => Control::Continue,
        }
    }
}

/// Two rocks told by the sign of a random field, on a coarse grid: from a guess that is half wrong to more
/// than 19 of 20 places in the right one, as the published methods have on 61 x 61 nodes.
#[test]
fn two_rocks_are_told_apart_from_the_pressure() {
    let set = [
        "unknown.A.grid={ x = 21, y = 21 }",
        "unknown.A.regularise={ kind = \"tv\", weight = 1e-10 }",
        "unknown.A.truth.random-field.length=0.2",
        "unknown.A.guess.random-field.length=0.2",
        "observation.pressure.data.synthetic.grid={ x = 21, y = 21 }",
        "classical.cells=20",
    ];
    let problem = read(DARCY, Path::new("."), &set);
    let job = Job { seed: 0, threads: Some(1), method: &bilo::method::Adjoint, ..Job::default() };
    let found = run(&problem, &job, &mut Few(150)).unwrap();
    let accuracy = found.unknowns.functions[0].classification_accuracy.unwrap();
    assert!(accuracy > 0.95, "{accuracy}");
}
