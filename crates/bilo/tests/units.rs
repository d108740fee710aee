//! The same problem in other units has the same answer in those units: everything is brought to unit size.

use bilo::observer::Silent;
use bilo::problem::{Overrides, Problem};
use bilo::{Job, run};
use std::f64::consts::PI;
use std::fmt::Write;

/// Lengths, times and values of the solution in some units.
#[derive(Clone, Copy)]
struct Units {
    length: f64,
    time: f64,
    value: f64,
}

/// A problem with its data, and what its unknowns are multiplied by.
struct Case {
    name: &'static str,
    statement: String,
    data: String,
    factors: Vec<f64>,
}

/// Five per cent of errors that every unit has alike.
fn error(row: usize) -> f64 {
    0.05 * (37.0 * row as f64).sin()
}

/// u_t = D u_xx - k u between ends at zero: two sines that decay.
fn rod(units: Units) -> Case {
    let Units { length, time, value } = units;
    let (d, k) = (0.04, 0.3);
    let mut data = "x,t,value\n".to_owned();
    for row in 0..80 {
        let (x, t) = ((row % 8) as f64 / 9.0 + 0.1, (row / 8) as f64 / 10.0 + 0.1);
        let mode = |n: f64| (-(d * (n * PI).powi(2) + k) * t).exp() * (n * PI * x).sin();
        let u = mode(1.0) + 0.5 * mode(3.0) + error(row);
        let _ = writeln!(data, "{:e},{:e},{:e}", x * length, t * time, u * value);
    }
    let statement = format!(
        "[coordinates]\nx = [0.0, {length:e}]\nt = {{ range = [0.0, {end:e}], time = true }}\n\
         [constants]\nL = {length:e}\nU = {value:e}\n\
         [unknown.D]\nguess = {:e}\n[unknown.k]\nguess = {:e}\n\
         [equation.heat]\nholds = \"u_t = D*u_xx - k*u\"\n\
         [condition.start]\nat = {{ t = 0.0 }}\nholds = \"u = U*(sin(pi*x/L) + 0.5*sin(3*pi*x/L))\"\n\
         [condition.ends]\nat = {{ x = [0.0, {length:e}] }}\nholds = \"u = 0\"\n\
         [observation.probe]\nvalue = \"u\"\ndata = {{ file = \"data.csv\" }}\n",
        0.1 * length * length / time,
        0.1 / time,
        end = 1.2 * time,
    );
    Case { name: "rod", statement, data, factors: vec![length * length / time, 1.0 / time] }
}

/// Growth to a capacity.
fn growth(units: Units) -> Case {
    let Units { time, value, .. } = units;
    let (r, capacity, first) = (1.3, 4.0, 0.2);
    let mut data = "t,value\n".to_owned();
    for row in 0..40 {
        let t = row as f64 / 8.0 + 0.1;
        let n = capacity / (1.0 + (capacity / first - 1.0) * (-r * t).exp()) + error(row);
        let _ = writeln!(data, "{:e},{:e}", t * time, n * value);
    }
    let statement = format!(
        "[coordinates]\nt = {{ range = [0.0, {:e}], time = true }}\n\
         [unknown.r]\nguess = {:e}\n[unknown.K]\nguess = {:e}\n\
         [equation.growth]\nholds = \"n_t = r*n*(1 - n/K)\"\n\
         [condition.start]\nat = {{ t = 0.0 }}\nholds = \"n = {:e}\"\n\
         [observation.count]\nvalue = \"n\"\ndata = {{ file = \"data.csv\" }}\n",
        5.2 * time,
        1.0 / time,
        6.0 * value,
        first * value,
    );
    Case { name: "growth", statement, data, factors: vec![1.0 / time, value] }
}

/// A steady plate with losses and two sources.
fn plate(units: Units) -> Case {
    let Units { length, time, value } = units;
    let (d, c) = (0.3, 4.0);
    let mode = |n: f64, m: f64, x: f64, y: f64| (n * PI * x).sin() * (m * PI * y).sin();
    let mut data = "x,y,value\n".to_owned();
    for row in 0..49 {
        let (x, y) = ((row % 7) as f64 / 8.0 + 0.125, (row / 7) as f64 / 8.0 + 0.125);
        let u = mode(1.0, 1.0, x, y) + 0.4 * mode(2.0, 3.0, x, y) + error(row);
        let _ = writeln!(data, "{:e},{:e},{:e}", x * length, y * length, u * value);
    }
    let heat = |n: f64, m: f64| d * PI * PI * (n * n + m * m) + c;
    let statement = format!(
        "[coordinates]\nx = [0.0, {length:e}]\ny = [0.0, {length:e}]\n\
         [constants]\nL = {length:e}\nQ1 = {:e}\nQ2 = {:e}\n\
         [unknown.D]\nguess = {:e}\n[unknown.c]\nguess = {:e}\n\
         [equation.balance]\nholds = \"-D*(u_xx + u_yy) + c*u = Q1*sin(pi*x/L)*sin(pi*y/L) + Q2*sin(2*pi*x/L)*sin(3*pi*y/L)\"\n\
         [condition.sides]\nat = {{ x = [0.0, {length:e}] }}\nholds = \"u = 0\"\n\
         [condition.ends]\nat = {{ y = [0.0, {length:e}] }}\nholds = \"u = 0\"\n\
         [observation.probe]\nvalue = \"u\"\ndata = {{ file = \"data.csv\" }}\n",
        heat(1.0, 1.0) * value / time,
        0.4 * heat(2.0, 3.0) * value / time,
        0.5 * length * length / time,
        2.0 / time,
    );
    Case { name: "plate", statement, data, factors: vec![length * length / time, 1.0 / time] }
}

/// The estimates in units of one.
fn estimates(case: &Case) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("data.csv"), &case.data).expect("written");
    // For time: a grid whose error is small beside those errors.
    let text = format!("name = \"{}\"\n{}[classical]\ncells = 48\nsteps = 200\n", case.name, case.statement);
    let problem =
        Problem::from_toml("units", &text, folder.path(), &Overrides::default()).expect("a valid problem");
    let outcome = run(&problem, &Job::default(), &mut Silent).expect("it runs");
    let found = outcome.unknowns.numbers.iter().zip(&case.factors);
    found.map(|(number, factor)| number.estimate / factor).collect()
}

/// Nanometres and decades, megametres and microseconds: the estimates are the same to 1e-6, which is less than a thousandth of
/// their error bars.
#[test]
fn absurd_units_change_nothing() {
    let plain = Units { length: 1.0, time: 1.0, value: 1.0 };
    let absurd =
        [Units { length: 3e-9, time: 7e8, value: 4e5 }, Units { length: 2e6, time: 1e-6, value: 1e-8 }];
    for make in [rod, growth, plate] {
        let expected = estimates(&make(plain));
        for units in absurd {
            let case = make(units);
            for (found, expected) in estimates(&case).iter().zip(&expected) {
                assert!((found / expected - 1.0).abs() < 1e-6, "{}: {found}, not {expected}", case.name);
            }
        }
    }
}
