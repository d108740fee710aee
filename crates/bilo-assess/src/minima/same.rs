//! Values of the unknowns that state the same equations: an angle and that angle and half a turn, two rates by each other's name.

use bilo_expr::{Expr, Input, Leaf, Scratch, Symbol, Tape};
use bilo_problem::diagnostic::Result;
use bilo_problem::{NET, Names, Problem};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Places, states and derivatives at which equations are compared.
const LOOKS: usize = 64;

/// Equations that differ by less are the same: minima are found to about as many digits.
const SAME: f64 = 1e-3;

/// A part of the way from one value to another at which nothing periodic is the same again.
const PART_OF_THE_WAY: f64 = 0.37;

/// The decades in which states and their derivatives are drawn.
const SIZES: std::ops::Range<f64> = -3.0..4.0;

/// Whether equations, conditions, forms and observed values do not depend on which of these values the unknowns have. Each of
/// the values that differ must be seen to matter by itself: formulas that are zero or cut off wherever one looks show nothing.
pub(super) fn state_the_same(problem: &Problem, a: &[f64], b: &[f64]) -> bool {
    let moved: Vec<usize> = (0..a.len()).filter(|&j| a[j] != b[j]).collect();
    // What is known beforehand of a number tells its values apart.
    if moved.iter().any(|&j| problem.unknowns[j].prior.is_some()) {
        return false;
    }
    let Ok(mut names) = opaque(problem) else { return false };
    let Ok(formulas) = formulas(problem, &mut names) else { return false };
    let at = |thetas: &[f64]| values(problem, &names, &formulas, thetas);
    let Some(at_a) = at(a) else { return false };
    let agrees = |thetas: &[f64]| at(thetas).is_some_and(|other| agree(&at_a, &other));
    let matters = |&j: &usize| {
        let mut between = a.to_vec();
        between[j] += PART_OF_THE_WAY * (b[j] - a[j]);
        !agrees(&between)
    };
    // What is the same to the digits that a minimum has need not matter.
    let apart = |j: &&usize| (a[**j] - b[**j]).abs() > SAME * a[**j].abs().max(b[**j].abs());
    agrees(b) && moved.iter().filter(apart).all(matters)
}

/// Whether formulas have the same values wherever both have any.
fn agree(a: &[Vec<f64>], b: &[Vec<f64>]) -> bool {
    let alike = |(a, b): (&f64, &f64)| {
        !(a.is_finite() && b.is_finite()) || (a - b).abs() <= SAME * a.abs().max(b.abs())
    };
    a.iter().zip(b).all(|(a, b)| a.iter().zip(b).all(alike))
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

/// The value of each formula at some random places of the domain, for random states; the same ones for any unknowns.
fn values(problem: &Problem, names: &Names, formulas: &[Expr], thetas: &[f64]) -> Option<Vec<Vec<f64>>> {
    let leaves = names.graph.leaves(formulas);
    let tape = Tape::compile(&names.graph, formulas, &leaves).ok()?;
    let mut random = Pcg64::seed_from_u64(0);
    let number_of =
        |symbols: &[Symbol], leaf: &Leaf| symbols.iter().position(|&symbol| *leaf == Leaf::Symbol(symbol));
    let column = |leaf: &Leaf| -> Vec<f64> {
        if let Some(unknown) = number_of(&names.eta, leaf) {
            return vec![thetas[unknown]; LOOKS];
        }
        if let Some(coordinate) = number_of(&names.coordinates, leaf) {
            let coordinate = &problem.coordinates[coordinate];
            return (0..LOOKS).map(|_| random.random_range(coordinate.lo..coordinate.hi)).collect();
        }
        (0..LOOKS).map(|_| 10.0_f64.powf(random.random_range(SIZES))).collect()
    };
    let columns: Vec<Vec<f64>> = leaves.iter().map(column).collect();
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

    /// Layers of a wall a millimetre thick, each of which must be looked into, and a rate that is zero to a computer at all
    /// temperatures that are drawn: where formulas show nothing of an unknown, nothing is said of it.
    #[test]
    fn what_is_not_seen_is_not_the_same() {
        let text = r#"
            name = "layer"
            [coordinates]
            x = [0.0, 1e-3]
            [unknown.k]
            count = 2
            guess = 1.0
            truth = 1.0
            [unknown.E]
            guess = 1.0
            truth = 1.0
            [equation.heat]
            holds = "d(pieces(k, x)*T_x, x) = exp(-1e9*E/T)"
            [condition.ends]
            at = { x = [0.0, 1e-3] }
            holds = "T = 0"
            [observation.o]
            value = "T"
            data = { synthetic = { grid = { x = 3 } } }
        "#;
        let read = Problem::from_toml("layer", text, Path::new(""), &Overrides::default());
        let problem = read.unwrap_or_else(|error| panic!("{error}"));
        let same = |other: [f64; 3]| state_the_same(&problem, &[1.0, 2.0, 3.0], &other);
        assert!(!same([2.0, 2.0, 3.0]) && !same([1.0, 1.0, 3.0]), "either layer");
        assert!(!same([1.0, 2.0, 6.0]), "a rate that is zero wherever one looks");
    }
}
