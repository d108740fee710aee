//! Solved examples: values of the unknowns, and what would be observed of each on a grid.
//!
//! They belong to the statement, not to a run: whatever the seed of the network or the noise, the examples are the same,
//! and are kept on disk under a name made of everything that they depend on.

use crate::cache::{Place, take, take_word};
use bilo_jet::PointSource;
use bilo_problem::diagnostic::{Error, Result};
use bilo_problem::function::{Lattice, Shape};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::theta::Theta;
use bilo_problem::{Examples, FieldAround, KnownFunction, Problem, RandomField, UnknownFunction};
use bilo_reference::solver::ReferenceSolver;
use faer::Mat;
use faer::linalg::solvers::{PartialPivLu, Solve};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// Examples that are solved before the observer is asked again.
const AT_A_TIME: usize = 32;

/// Share of a variance that is added on the diagonal: fields that are smooth have nearly singular covariances.
const JITTER: f64 = 1e-10;

/// Held while examples are solved: of several runs in one program the first solves them, and the others find them.
static SOLVING: Mutex<()> = Mutex::new(());

/// Values of the unknowns with what is observed of the solutions.
pub(super) struct Solved {
    /// Values of everything unknown, one list for each example.
    pub(super) thetas: Vec<Theta>,
    /// The nodes, one column for each coordinate.
    pub(super) points: Vec<Vec<f64>>,
    /// By observation, then by example, at the nodes.
    pub(super) observed: Vec<Vec<Vec<f32>>>,
    /// Examples that have no solution, and why the first has none.
    pub(super) failed: Option<(usize, String)>,
    /// Whether they were there from an earlier run.
    pub(super) cached: bool,
}

/// The examples of a problem: from the disk, or solved. `watch` hears how many are done and may end it.
pub(super) fn solved(
    problem: &Problem,
    examples: &Examples,
    reference: &ReferenceSolver,
    pool: &rayon::ThreadPool,
    watch: &mut dyn FnMut(usize) -> bool,
) -> Result<Solved> {
    problem.observations.iter().try_for_each(|o| o.require_local("learned operators"))?;
    // Examples are whole or not there at all, so whoever panicked with the lock has left nothing half done.
    let _alone = SOLVING.lock().unwrap_or_else(PoisonError::into_inner);
    let thetas = values(problem, examples)?;
    let axes = problem.coordinates.iter().zip(&examples.grid).map(|(c, &nodes)| c.axis(nodes)).collect();
    let nodes = PointSource::grid(axes);
    let points = nodes.columns(0..nodes.len());
    let place = Place::new("examples", key(problem, examples));
    let sizes = [problem.observations.len(), thetas.len(), points[0].len()];
    if let Some(found) = place.read().and_then(|bytes| rows(&bytes, sizes)) {
        return Ok(gathered(thetas, points, found, true));
    }
    let mut found = vec![];
    let one = |theta: &Theta| -> std::result::Result<Vec<Vec<f32>>, String> {
        let solution = reference.solve(theta).map_err(|error| error.to_string())?;
        let observe = |o: &bilo_problem::Observation| solution.observe(&o.value, &points);
        let observed = problem.observations.iter().map(observe).collect::<Result<Vec<_>>>();
        let observed = observed.map_err(|error| error.headline())?;
        match observed.iter().flatten().all(|value| value.is_finite()) {
            true => {
                Ok(observed.into_iter().map(|values| values.iter().map(|&v| v as f32).collect()).collect())
            }
            false => Err("an observed value is not finite".to_owned()),
        }
    };
    for chunk in thetas.chunks(AT_A_TIME) {
        found.extend(pool.install(|| chunk.par_iter().map(one).collect::<Vec<_>>()));
        if !watch(found.len()) {
            return Err(Error::interrupted());
        }
    }
    place.write(&bytes(&found));
    Ok(gathered(thetas, points, found, false))
}

/// What one example came to: by observation, or why there is nothing.
type Row = std::result::Result<Vec<Vec<f32>>, String>;

/// Without those that have no solution.
fn gathered(thetas: Vec<Theta>, points: Vec<Vec<f64>>, rows: Vec<Row>, cached: bool) -> Solved {
    let reasons: Vec<&String> = rows.iter().filter_map(|row| row.as_ref().err()).collect();
    let failed = reasons.first().map(|reason| (reasons.len(), (*reason).clone()));
    let mut solved = Solved { thetas: vec![], points, observed: vec![], failed, cached };
    for (theta, row) in thetas.into_iter().zip(rows) {
        let Ok(row) = row else { continue };
        solved.observed.resize(row.len(), vec![]);
        solved.thetas.push(theta);
        solved.observed.iter_mut().zip(row).for_each(|(all, values)| all.push(values));
    }
    solved
}

/// The unknowns of every example.
fn values(problem: &Problem, examples: &Examples) -> Result<Vec<Theta>> {
    let spans: Vec<Vec<f64>> = examples.scalars.iter().map(|span| span.values()).collect();
    let eta = |theta: &[f64]| -> Vec<f64> {
        problem.unknowns.iter().zip(theta).map(|(unknown, &theta)| unknown.eta_of(theta)).collect()
    };
    let Some(count) = examples.count else {
        let mut all: Vec<Vec<f64>> = vec![vec![]];
        for span in &spans {
            all = all.iter().flat_map(|start| span.iter().map(|&v| [&start[..], &[v]].concat())).collect();
        }
        return Ok(all.iter().map(|theta| Theta { eta: eta(theta), functions: vec![] }).collect());
    };
    let fields: Vec<Fields> = (problem.functions.iter().zip(&examples.functions))
        .map(|(function, around)| Fields::new(problem, function, *around))
        .collect::<Result<_>>()?;
    let example = |number: usize| {
        let seed =
            |which: usize| seed_for(examples.seed, Purpose::Example, number * (fields.len() + 1) + which);
        let mut random = Pcg64::seed_from_u64(seed(0));
        let theta: Vec<f64> = spans.iter().map(|span| span[random.random_range(0..span.len())]).collect();
        let functions = fields.iter().enumerate().map(|(f, fields)| fields.draw(seed(1 + f))).collect();
        Theta { eta: eta(&theta), functions }
    };
    Ok((0..count).map(example).collect())
}

/// Random functions around a guess that have its values where the form holds them.
struct Fields {
    guess: Vec<f64>,
    columns: Vec<Vec<f64>>,
    around: FieldAround,
    /// Nodes whose values are held.
    held: Vec<usize>,
    /// The weights of the held nodes' values in the best guess of each node's.
    gain: Mat<f64>,
}

impl Fields {
    fn new(problem: &Problem, function: &UnknownFunction, around: FieldAround) -> Result<Self> {
        let guess = function.on_nodes(problem, &function.guess)?;
        let columns = Lattice::new(function).columns();
        let held = held(problem, function)?;
        let covariance = |i: usize, j: usize| {
            let square: f64 = columns.iter().map(|column| (column[i] - column[j]).powi(2)).sum();
            (-square / (2.0 * around.length * around.length)).exp()
        };
        let among = Mat::from_fn(held.len(), held.len(), |i, j| {
            covariance(held[i], held[j]) + if i == j { JITTER } else { 0.0 }
        });
        let across = Mat::from_fn(held.len(), guess.len(), |i, j| covariance(held[i], j));
        let gain = match held.is_empty() {
            true => across,
            false => PartialPivLu::new(among.as_ref()).solve(across),
        };
        Ok(Self { guess, columns, around, held, gain })
    }

    /// A field as if drawn under the condition that it vanishes at the held nodes: a free draw less its best guess from
    /// its values there (Matheron's rule).
    fn draw(&self, seed: u64) -> Vec<f64> {
        let FieldAround { sd, length } = self.around;
        let columns: Vec<&[f64]> = self.columns.iter().map(|column| &column[..]).collect();
        let field = RandomField { sd, length, seed }.draw(columns.len()).at(&columns);
        let held = |node: usize| -> f64 {
            self.held.iter().enumerate().map(|(i, &place)| self.gain[(i, node)] * field[place]).sum()
        };
        (0..field.len()).map(|node| self.guess[node] + field[node] - held(node)).collect()
    }
}

/// The nodes where a function's form does not move with `net`.
pub(super) fn held(problem: &Problem, function: &UnknownFunction) -> Result<Vec<usize>> {
    let nodes = Lattice::new(function).len();
    let slopes = Shape::new(problem, function)?.values(&vec![0.5; nodes]).1;
    Ok((0..nodes).filter(|&node| slopes[node] == 0.0).collect())
}

/// Everything that the examples depend on.
pub(super) fn key(problem: &Problem, examples: &Examples) -> String {
    let mut key = format!("{examples:?}\n");
    let Problem { coordinates, constants, classical, given, .. } = problem;
    let flux = classical.flux.as_ref().map(|flux| &flux.text);
    let scheme = (&classical.cells, classical.steps, classical.scheme, flux);
    let _ = writeln!(key, "{coordinates:?}\n{constants:?}\n{scheme:?}\n{given:?}");
    for unknown in &problem.unknowns {
        let _ = writeln!(key, "{} {} {:?}", unknown.name, unknown.scale, unknown.transform);
    }
    for function in &problem.functions {
        let guess = match &function.guess {
            KnownFunction::Grid { grid, .. } => format!("{grid:?}"),
            other => other.describe(),
        };
        let _ = writeln!(key, "{} {:?} {} {guess}", function.name, function.nodes, function.form.text);
        let _ = writeln!(key, "{:?}", function.argument_names());
    }
    let states = problem.states.iter().map(|state| (&state.name, &state.form.text));
    let equations = problem.equations.iter().map(|e| (&e.name, &e.residual.text));
    let observed = problem.observations.iter().map(|o| (&o.name, &o.value.text));
    for (name, text) in states.chain(equations).chain(observed) {
        let _ = writeln!(key, "{name}: {text}");
    }
    for equation in &problem.equations {
        let _ = writeln!(key, "{:?}", equation.points.at);
    }
    key
}

/// For each example 1 and its values, or 0 and a reason with its length.
fn bytes(rows: &[Row]) -> Vec<u8> {
    let mut bytes = vec![];
    for row in rows {
        match row {
            Ok(row) => {
                bytes.push(1);
                bytes.extend(row.iter().flatten().flat_map(|value| value.to_le_bytes()));
            }
            Err(reason) => {
                bytes.push(0);
                bytes.extend((reason.len() as u64).to_le_bytes());
                bytes.extend(reason.as_bytes());
            }
        }
    }
    bytes
}

/// The other way, if the bytes are those of so many observations, examples and nodes.
fn rows(bytes: &[u8], [observations, examples, nodes]: [usize; 3]) -> Option<Vec<Row>> {
    let rest = &mut &bytes[..];
    let number = |four: &[u8]| f32::from_le_bytes(four.try_into().expect("four bytes"));
    let mut rows = vec![];
    for _ in 0..examples {
        if take(rest, 1)? == [0] {
            let count = usize::try_from(take_word(rest)?).ok()?;
            rows.push(Err(String::from_utf8(take(rest, count)?.to_vec()).ok()?));
            continue;
        }
        let row =
            (0..observations).map(|_| Some(take(rest, 4 * nodes)?.chunks_exact(4).map(number).collect()));
        rows.push(Ok(row.collect::<Option<_>>()?));
    }
    rest.is_empty().then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_problem::Overrides;

    fn poisson() -> (Problem, Examples) {
        let text = include_str!("../../../../../problems/poisson-variable.toml");
        let set = vec!["examples.count=400".to_owned()];
        let overrides = Overrides::of(set);
        let problem = Problem::from_toml("poisson", text, std::path::Path::new("."), &overrides)
            .expect("a shipped problem");
        let examples = problem.learning.examples.clone().expect("it has examples");
        (problem, examples)
    }

    /// D = 1 at both ends. In the middle, 1/2 from both and with length l, the conditioned variance is
    /// sd² (1 - 2 e²/(1 + q)) with e = exp(-1/(8 l²)) and q = exp(-1/(2 l²)); over 400 draws a variance is within four of
    /// its standard errors, sqrt(2/400) of it each.
    #[test]
    fn drawn_functions_have_the_held_values_and_the_conditioned_variance() {
        let (problem, examples) = poisson();
        let FieldAround { sd, length } = examples.functions[0];
        let drawn = values(&problem, &examples).unwrap();
        assert_eq!(drawn.len(), 400);
        let at = |node: usize| drawn.iter().map(move |theta| theta.functions[0][node]);
        assert!(at(0).chain(at(100)).all(|value| (value - 1.0).abs() < 1e-6));
        let (e, q) = ((-1.0 / (8.0 * length * length)).exp(), (-1.0 / (2.0 * length * length)).exp());
        let expected = sd * sd * (1.0 - 2.0 * e * e / (1.0 + q));
        let found = at(50).map(|value| (value - 1.0).powi(2)).sum::<f64>() / 400.0;
        assert!((found / expected - 1.0).abs() < 4.0 * (2.0_f64 / 400.0).sqrt(), "{found} {expected}");
        assert_eq!(values(&problem, &examples).unwrap(), drawn);
    }

    #[test]
    fn rows_are_read_as_written_and_only_whole() {
        let all: Vec<Row> = vec![Ok(vec![vec![1.0, 2.0], vec![3.0, 4.0]]), Err("no solution".to_owned())];
        let written = bytes(&all);
        assert_eq!(rows(&written, [2, 2, 2]), Some(all));
        for sizes in [[2, 3, 2], [1, 2, 2], [2, 1, 2]] {
            assert_eq!(rows(&written, sizes), None);
        }
        for cut in 0..written.len() {
            assert_eq!(rows(&written[..cut], [2, 2, 2]), None, "cut at {cut}");
        }
    }

    #[test]
    fn keys_know_the_problem_and_not_the_training() {
        let (problem, examples) = poisson();
        let mut other = problem.clone();
        other.training.rate = 0.5;
        assert_eq!(key(&problem, &examples), key(&other, &examples));
        other.classical.cells = vec![7];
        assert_ne!(key(&problem, &examples), key(&other, &examples));
        assert_ne!(key(&problem, &examples), key(&problem, &Examples { seed: 9, ..examples.clone() }));
    }
}
