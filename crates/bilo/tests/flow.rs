//! Incompressible flow by the reference solver: a driven cavity of the literature, and a vortex that decays.

use bilo::problem::{Overrides, Problem};
use bilo::reference::ReferenceSolver;
use std::path::Path;

const CAVITY: &str = r#"
    name = "cavity"
    [coordinates]
    x = [0.0, 1.0]
    y = [0.0, 1.0]
    [unknown.nu]
    guess = 0.01
    truth = 0.01
    [equation.along]
    holds = "u*u_x + v*u_y = -p_x + nu*lap(u)"
    [equation.across]
    holds = "u*v_x + v*v_y = -p_y + nu*lap(v)"
    [equation.mass]
    holds = "u_x + v_y = 0"
    [condition.sides]
    at = { x = [0.0, 1.0] }
    holds = "u = 0"
    [condition.floor]
    at = { y = 0.0 }
    holds = "u = 0"
    [condition.lid]
    at = { y = 1.0 }
    holds = "u = 1"
    [condition.tight-sides]
    at = { x = [0.0, 1.0] }
    holds = "v = 0"
    [condition.tight-ends]
    at = { y = [0.0, 1.0] }
    holds = "v = 0"
    [observation.u]
    value = "u"
    data = { synthetic = { grid = { x = 5, y = 5 }, noise = 0.01 } }
"#;

const VORTEX: &str = r#"
    name = "vortex"
    [coordinates]
    x = { range = [0.0, 6.283185307179586], periodic = true }
    y = { range = [0.0, 6.283185307179586], periodic = true }
    t = { range = [0.0, 1.0], time = true }
    [unknown.nu]
    guess = 0.2
    truth = 0.2
    [equation.along]
    holds = "u_t + u*u_x + v*u_y = -p_x + nu*lap(u)"
    [equation.across]
    holds = "v_t + u*v_x + v*v_y = -p_y + nu*lap(v)"
    [equation.mass]
    holds = "u_x + v_y = 0"
    [condition.start-u]
    at = { t = 0.0 }
    holds = "u = sin(x)*cos(y)"
    [condition.start-v]
    at = { t = 0.0 }
    holds = "v = -cos(x)*sin(y)"
    [observation.u]
    value = "u"
    data = { synthetic = { grid = { x = 5, y = 5, t = 3 }, noise = 0.01 } }
"#;

/// A state at places, on a grid of so many cells and steps.
fn solved(text: &str, cells: usize, state: &str, places: &[Vec<f64>]) -> Vec<f64> {
    let set = [format!("classical.cells={cells}"), format!("classical.steps={cells}")];
    let overrides = Overrides::of(set.iter().map(String::as_str));
    let problem =
        Problem::from_toml("flow", text, Path::new("."), &overrides).unwrap_or_else(|e| panic!("{e}"));
    let number = problem.states.iter().position(|s| s.name == state).expect("a state of the flow");
    let reference = ReferenceSolver::new(&problem).unwrap_or_else(|error| panic!("{error}"));
    reference.solve(&problem.eta_of_guess()).unwrap().state(number, places)
}

/// The extremes of the velocities on the middle lines at a Reynolds number of 100 (Botella and Peyret, Computers & Fluids 27, 421,
/// 1998). At the lid's corners the velocity jumps, so that convergence is of first order: 2.5 % are left on 100 x 100 cells, and
/// less than 0.7 of what is left on half as many along each side.
#[test]
fn the_driven_cavity_is_that_of_the_literature() {
    let extremes =
        [("u", 0.5, 0.4581, -0.2140424), ("v", 0.2370, 0.5, 0.1795728), ("v", 0.8104, 0.5, -0.2538030)];
    for (state, x, y, expected) in extremes {
        let error = |cells: usize| (solved(CAVITY, cells, state, &[vec![x], vec![y]])[0] - expected).abs();
        let (coarse, fine) = (error(50), error(100));
        assert!(
            fine < 0.025 * expected.abs() && fine < 0.7 * coarse,
            "{state} at ({x}, {y}): {coarse:e}, {fine:e}"
        );
    }
}

/// Taylor and Green's vortex, u = sin x cos y exp(-2 nu t), whose pressure nothing fixes but the start of the coordinates.
#[test]
fn a_vortex_decays_as_it_should() {
    let places: Vec<Vec<f64>> =
        vec![vec![0.3, 2.0, 4.4, 5.9], vec![1.1, 0.4, 3.0, 5.0], vec![0.3, 0.7, 1.0, 0.5]];
    let at = |i: usize| (places[0][i], places[1][i], (-0.4 * places[2][i]).exp());
    let pressure =
        |x: f64, y: f64, decay: f64| ((2.0 * x).cos() + (2.0 * y).cos() - 2.0) / 4.0 * decay * decay;
    let exact = |state: &str, i: usize| {
        let (x, y, decay) = at(i);
        match state {
            "u" => x.sin() * y.cos() * decay,
            "v" => -x.cos() * y.sin() * decay,
            _ => pressure(x, y, decay),
        }
    };
    for state in ["u", "v", "p"] {
        let error = |cells: usize| {
            let found = solved(VORTEX, cells, state, &places);
            found.iter().enumerate().map(|(i, found)| (found - exact(state, i)).powi(2)).sum::<f64>().sqrt()
        };
        let order = (error(16) / error(32)).log2();
        assert!(order > 1.8, "{state} is of order {order}");
    }
}
