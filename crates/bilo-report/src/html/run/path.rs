//! The path of two unknowns in their plane, over lines of equal data loss.

use crate::files::DATA_LOSS;
use crate::html::figure::{Figures, Lines};
use crate::html::hues::{ESTIMATE, GUESS, TRUTH};
use crate::html::source::Source;
use crate::markup::{Html, html};
use crate::picture::contour::Polyline;
use crate::picture::landscape::Landscape;
use crate::picture::series::{Series, Shape};
use bilo::outcome::ScalarOutcome;
use std::f64::consts::TAU;

/// Half widths, in error bars of a number alone, of the regions that hold both unknowns with 68 and 95 %: roots of
/// chi-square with two degrees of freedom.
const RINGS: [f64; 2] = [1.515_172_733_5, 2.447_746_830_7];
/// Points of one.
const POINTS: usize = 96;

/// The first two unknowns.
pub(super) fn html(source: &Source, unknowns: &[String], figures: &mut Figures) -> Html {
    let [first, second, ..] = unknowns else { return Html::default() };
    let (Some(x), Some(y)) = (source.history.column(first), source.history.column(second)) else {
        return Html::default();
    };
    let both = source.scalar(first).zip(source.scalar(second));
    let point = |of: &dyn Fn(&ScalarOutcome) -> Option<f64>| {
        both.and_then(|(first, second)| Some([of(first)?, of(second)?]))
    };
    let dot = |point| vec![Shape::Dots(vec![point], 5.0)];
    // A history shows the state before each step: the estimate is one further.
    let extended = |values: &[f64], name: &str| -> Vec<f64> {
        values.iter().copied().chain(source.scalar(name).and_then(estimate)).collect()
    };
    let mut series = vec![Series::curve("path", ESTIMATE, &extended(x, first), &extended(y, second))];
    series.extend(point(&guess).map(|at| Series::new("guess", GUESS, dot(at))));
    series.extend(point(&estimate).map(|at| Series::new("estimate", ESTIMATE, dot(at))));
    series.extend(
        point(&|unknown| unknown.truth).map(|at| Series::new("truth", TRUTH, vec![Shape::Ring(at, 8.0)])),
    );
    let (contours, legend) = contours(source, [first, second]);
    let lines = Lines::new(format!("{second} against {first}"), [first, second], series);
    let lines = Lines { contours, half: true, ..lines };
    figures.lines(lines, html!("from the guess to the estimate.{}", legend))
}

fn guess(unknown: &ScalarOutcome) -> Option<f64> {
    Some(unknown.guess).filter(|guess| guess.is_finite())
}

fn estimate(unknown: &ScalarOutcome) -> Option<f64> {
    Some(unknown.estimate).filter(|estimate| estimate.is_finite())
}

/// Lines of equal data loss, and what they are: those of solutions all over the plane if there are such, else those of the
/// parabola at the estimate.
fn contours(source: &Source, names: [&str; 2]) -> (Vec<Polyline>, Html) {
    if let Some(landscape) = landscape(source, names) {
        return (landscape.contours(), Html::text(" Lines of equal data loss, by reference solutions."));
    }
    let legend = html!(
        " Regions that hold both unknowns with 68 and 95 %, by the curvature of the data loss at the estimate. \
         <code>bilo report --contours</code> solves for lines of equal loss in the whole plane."
    );
    rings(source, names).map(|rings| (rings, legend)).unwrap_or_default()
}

fn landscape(source: &Source, names: [&str; 2]) -> Option<Landscape> {
    let nodes = |name: &str| source.losses.get(name).map(|array| array.data.clone());
    Landscape::of_losses([nodes(names[0])?, nodes(names[1])?], &source.losses.get(DATA_LOSS)?.data)
}

/// Ellipses from the standard deviations and the correlation.
fn rings(source: &Source, names: [&str; 2]) -> Option<Vec<Polyline>> {
    let numbers = &source.outcome.unknowns.numbers;
    let places = names.map(|name| numbers.iter().position(|number| number.name == name));
    let places = [places[0]?, places[1]?];
    let [first, second] = places.map(|place| &numbers[place]);
    let of = |of: &dyn Fn(&ScalarOutcome) -> Option<f64>| Some([of(first)?, of(second)?]);
    let (centre, sd) = (of(&estimate)?, of(&|unknown| unknown.sd)?);
    let correlation = *source.outcome.correlations.get(places[0])?.get(places[1])?;
    let rest = (1.0 - correlation * correlation).sqrt();
    if !(rest > 0.0 && sd.iter().all(|sd| *sd > 0.0 && sd.is_finite())) {
        return None;
    }
    let ring = |radius: f64| {
        let point = |i: usize| {
            let (sin, cos) = (TAU * i as f64 / POINTS as f64).sin_cos();
            let up = correlation * cos + rest * sin;
            [centre[0] + radius * sd[0] * cos, centre[1] + radius * sd[1] * up]
        };
        Polyline { points: (0..POINTS).map(point).collect(), closed: true }
    };
    Some(RINGS.map(ring).to_vec())
}
