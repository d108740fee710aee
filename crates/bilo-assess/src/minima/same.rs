//! Values of the unknowns that state the same equations: an angle and that angle and half a turn, two rates by each other's name.

use bilo_expr::{Expr, Input, Leaf, Scratch, Tape};
use bilo_problem::diagnostic::Result;
use bilo_problem::{NET, Names, Problem};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Places, states and derivatives at which equations are compared.
const LOOKS: usize = 16;

/// Equations that differ by less are the same: minima are found to about as many digits.
const SAME: f64 = 1e-3;

/// Whether equations, conditions, forms and observed values do not depend on which of these values the unknowns have.
pub(super) fn state_the_same(problem: &Problem, a: &[f64], b: &[f64]) -> bool {
    // What is known beforehand of a number does.
    let moved = |j: &usize| a[*j] != b[*j];
    if (0..a.len()).filter(moved).any(|j| problem.unknowns[j].prior.is_some()) {
        return false;
    }
    let mut names = match opaque(problem) {
        Ok(names) => names,
        Err(_) => return false,
    };
    let Ok(formulas) = formulas(problem, &mut names) else { return false };
    let at = |thetas: &[f64]| values(&names, &formulas, thetas);
    let (Some(at_a), Some(at_b)) = (at(a), at(b)) else { return false };
    at_a.iter().zip(&at_b).all(|(at_a, at_b)| {
        let pairs = || at_a.iter().zip(at_b).filter(|(a, b)| a.is_finite() && b.is_finite());
        let size = pairs().fold(0.0_f64, |size, (a, b)| size.max(a.abs()).max(b.abs()));
        pairs().next().is_some() && pairs().all(|(a, b)| (a - b).abs() <= SAME * size)
    })
}

/// Names of the problem with its unknowns as they are stated, whatever is moved.
fn opaque(problem: &Problem) -> Result<Names> {
    let stated = problem.with_unknowns_as_stated();
    let mut names = Names::new(&stated)?;
    names.bind_states_opaque(&stated);
    let slots = names.coordinates.iter().map(|&c| names.graph.leaf(c)).collect();
    let net = names.graph.function(NET, slots);
    let net = names.graph.value(net);
    names.scope.bind(NET, net);
    Ok(names)
}

fn formulas(problem: &Problem, names: &mut Names) -> Result<Vec<Expr>> {
    let equations = problem.equations.iter().map(|equation| &equation.residual);
    let conditions = problem.conditions.iter().map(|condition| &condition.holds);
    let forms = problem.states.iter().map(|state| &state.form);
    let stated: Vec<_> = equations.chain(conditions).chain(forms).collect();
    let mut all = stated.into_iter().map(|formula| names.lower(formula)).collect::<Result<Vec<_>>>()?;
    all.extend(names.moving(problem)?);
    for observation in &problem.observations {
        all.extend(names.lower_terms(observation)?);
    }
    Ok(all)
}

/// The value of each formula at some random places, for random states; the same ones for any unknowns.
fn values(names: &Names, formulas: &[Expr], thetas: &[f64]) -> Option<Vec<Vec<f64>>> {
    let leaves = names.graph.leaves(formulas);
    let tape = Tape::compile(&names.graph, formulas, &leaves).ok()?;
    let mut random = Pcg64::seed_from_u64(0);
    let unknown = |leaf: &Leaf| names.eta.iter().position(|&eta| *leaf == Leaf::Symbol(eta));
    let columns: Vec<Vec<f64>> = leaves
        .iter()
        .map(|leaf| {
            let drawn: Vec<f64> = (0..LOOKS).map(|_| random.random_range(0.5..1.5)).collect();
            unknown(leaf).map_or(drawn, |number| vec![thetas[number]; LOOKS])
        })
        .collect();
    let inputs: Vec<Input<'_, f64>> = columns.iter().map(|column| Input::Column(column)).collect();
    let mut scratch = Scratch::new();
    tape.eval(&inputs, LOOKS, &mut scratch);
    Some((0..formulas.len()).map(|formula| scratch.output(&tape, formula).to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_problem::Overrides;
    use std::path::Path;

    /// A plate with two diffusivities along directions turned by an angle, heated at an unknown place.
    fn plate() -> Problem {
        let text = r#"
            name = "plate"
            [coordinates]
            x = [0.0, 1.0]
            y = [0.0, 1.0]
            t = { range = [0.0, 1.0], time = true }
            [unknown.a]
            guess = 1.0
            truth = 1.0
            [unknown.b]
            guess = 2.0
            truth = 1.0
            [unknown.phi]
            guess = 0.3
            truth = 1.0
            [unknown.x0]
            guess = 0.4
            truth = 1.0
            [equation.heat]
            holds = "u_t = (a*cos(phi)^2 + b*sin(phi)^2)*u_xx + 2*(a - b)*sin(phi)*cos(phi)*u_xy + (a*sin(phi)^2 + b*cos(phi)^2)*u_yy + exp(-(x - x0)^2)"
            [condition.start]
            at = { t = 0.0 }
            holds = "u = 0"
            [condition.frame]
            at = { x = [0.0, 1.0] }
            holds = "u = 0"
            [condition.sides]
            at = { y = [0.0, 1.0] }
            holds = "u = 0"
            [observation.o]
            value = "u"
            data = { synthetic = { grid = { x = 3, y = 3, t = 3 } } }
        "#;
        let read = Problem::from_toml("plate", text, Path::new(""), &Overrides::default());
        read.unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn half_turns_and_exchanged_names_state_the_same() {
        use std::f64::consts::{FRAC_PI_2, PI};
        let problem = plate();
        let best = [1.0, 2.0, 0.3, 0.4];
        let same = |other: [f64; 4]| state_the_same(&problem, &best, &other);
        assert!(same([1.0, 2.0, 0.3 + PI, 0.4]) && same([1.0, 2.0, 0.3 - PI, 0.4]));
        assert!(same([2.0, 1.0, 0.3 + FRAC_PI_2, 0.4]), "each by the name of the other, a quarter turn on");
        assert!(!same([2.0, 1.0, 0.3, 0.4]), "exchanged alone");
        assert!(!same([1.0, 2.0, -0.3, 0.4]), "turned to the other side");
        assert!(!same([1.0, 2.0, 0.3, 0.6]), "a mirror image of the place may fit, but is another answer");
    }
}
