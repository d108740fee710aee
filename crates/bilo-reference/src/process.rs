//! Particles of a Poisson process: Lewis and Shedler's thinning.

use bilo_problem::diagnostic::Result;
use bilo_problem::{Problem, Quadrature};
use rand::RngExt;
use rand_distr::{Distribution, Poisson};
use rand_pcg::Pcg64;

/// How far above its values at the nodes the bound of the intensity is first put.
const ABOVE: f64 = 1.1;

/// Most particles that are proposed.
const MOST: f64 = 1e7;

/// An intensity at points, one column per coordinate.
pub(crate) type Intensity<'a> = dyn Fn(&[Vec<f64>]) -> Result<Vec<f64>> + 'a;

/// Places of particles, one column per coordinate of the problem: those of a process with an intensity that is
/// `snapshots` times the given one, over the coordinates of the quadrature, at each of the values where the
/// others are held. An error says why there are none to be had.
pub(crate) fn draw_particles(
    problem: &Problem,
    quadrature: &Quadrature,
    snapshots: f64,
    intensity: &Intensity<'_>,
    random: &mut Pcg64,
) -> Result<std::result::Result<Vec<Vec<f64>>, String>> {
    let thetas: Option<Vec<f64>> = problem.unknowns.iter().map(|unknown| unknown.truth).collect();
    let nodes = quadrature.nodes(problem, &thetas.unwrap_or_default())?;
    let values = intensity(&nodes.coordinates)?;
    if let Some(bad) = values.iter().find(|value| !(**value >= 0.0 && value.is_finite())) {
        return Ok(Err(format!("an intensity cannot be {bad:?}")));
    }
    let (volume, mut bound) = (
        nodes.weights.iter().sum::<f64>(),
        ABOVE * values.iter().fold(0.0_f64, |most, value| most.max(*value)),
    );
    loop {
        let expected = snapshots * volume * bound;
        if !(expected > 0.0 && expected <= MOST) {
            return Ok(Err(format!("about {expected:.1e} particles would have to be drawn")));
        }
        let count = Poisson::new(expected).expect("positive and finite").sample(random) as usize;
        let proposed = propose(problem, quadrature, count, random);
        let values = intensity(&proposed)?;
        let most = values.iter().fold(0.0_f64, |most, value| most.max(*value));
        if most > bound {
            // The bound was none; all over again with a better one.
            bound = ABOVE * most;
            continue;
        }
        let kept: Vec<bool> = values.iter().map(|value| random.random::<f64>() * bound < *value).collect();
        let keep = |column: &Vec<f64>| -> Vec<f64> {
            column.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(place, _)| *place).collect()
        };
        let particles: Vec<Vec<f64>> = proposed.iter().map(keep).collect();
        return Ok(if particles[0].is_empty() {
            Err("no particle was drawn".to_owned())
        } else {
            Ok(particles)
        });
    }
}

/// Uniform places; held coordinates at one of their values, each as likely.
fn propose(problem: &Problem, quadrature: &Quadrature, count: usize, random: &mut Pcg64) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::with_capacity(count); problem.coordinates.len()];
    for _ in 0..count {
        for (number, coordinate) in problem.coordinates.iter().enumerate() {
            let held = quadrature.at.iter().find(|(held, _)| *held == number);
            columns[number].push(match held {
                Some((_, values)) => values[random.random_range(0..values.len())],
                None => coordinate.at_fraction(random.random()),
            });
        }
    }
    columns
}
