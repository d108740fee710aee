//! Places where initial values, boundary values and equations disagree, whatever the network does.

use bilo_expr::{Expr, Leaf};
use bilo_jet::PointSource;
use bilo_operator::finite::{HostProgram, probes};
use bilo_operator::operator::LocalOperator;
use bilo_problem::diagnostic::{Origin, Result};
use bilo_problem::text::{count, digits, place, places, point};
use bilo_problem::{Coordinate, Equation, Layout, Names, Points, Problem};

/// Points that a message shows.
const SHOWN: usize = 4;

/// Values of a coordinate that is looked at from end to end.
const LOOKS: usize = 5;

/// Slopes below this share of the largest are rounding.
const NO_SLOPE: f64 = 1e-12;

/// Residuals below this share of the largest are rounding.
const NO_RESIDUAL: f64 = 1e-9;

/// What the points of an equation hold.
pub(super) enum Corners {
    /// The residual can vanish everywhere.
    None,
    /// It cannot at some points of the equation: a warning.
    Inside(String),
    /// It cannot at some points of the domain that are left out, rightly: a line.
    LeftOut(String),
}

/// Looks for points where the network has no influence on an equation's residual, which does not vanish.
pub(super) fn corners(
    problem: &Problem,
    equation: &Equation,
    host: &HostProgram,
    points: &PointSource,
) -> Result<Corners> {
    if let Some(stuck) = Stuck::find(problem, host, points) {
        return Ok(Corners::Inside(stuck.warning(problem, equation)));
    }
    let layout = match (&equation.points.layout, &equation.points.filter) {
        (Layout::Grid(_), None) => return Ok(Corners::None),
        (Layout::Grid(counts), Some(_)) => Layout::Grid(counts.clone()),
        _ => Layout::Grid((0..problem.coordinates.len()).map(|c| (c, LOOKS)).collect()),
    };
    let around = Points { layout, filter: None, ..equation.points.clone() }.source(problem, 0)?;
    let left_out = Stuck::find(problem, host, &around);
    let why = if equation.points.filter.is_some() { "left out, rightly" } else { "not among them, rightly" };
    let line = |stuck: Stuck| Corners::LeftOut(format!("{why}: {}", stuck.line(problem)));
    Ok(left_out.map_or(Corners::None, line))
}

/// Points where the residual does not depend on the network and yet does not vanish.
struct Stuck {
    points: Vec<Vec<f64>>,
    count: usize,
    all: usize,
    largest: f64,
    mean_square: f64,
}

impl Stuck {
    /// Looks at all points twice: for the largest residual and slope, then for what is small beside them.
    fn find(problem: &Problem, host: &HostProgram, points: &PointSource) -> Option<Self> {
        let largest_of = |values: &[f64], start: f64| {
            values.iter().filter(|v| v.is_finite()).fold(start, |m, v| m.max(v.abs()))
        };
        let (mut scale, mut slope) = (0.0_f64, 0.0_f64);
        for (_, probe) in probes(problem, host, points) {
            scale = largest_of(probe.residual(0), scale);
            slope = probe.slots().fold(slope, |m, slot| largest_of(probe.slope(0, slot), m));
        }
        let mut stuck = Self { points: vec![], count: 0, all: points.len(), largest: 0.0, mean_square: 0.0 };
        for (columns, probe) in probes(problem, host, points) {
            for (i, residual) in probe.residual(0).iter().enumerate() {
                let free = probe.slots().all(|slot| probe.slope(0, slot)[i].abs() <= NO_SLOPE * slope);
                if free && residual.is_finite() && residual.abs() > NO_RESIDUAL * scale {
                    stuck.add(point(&columns, i), *residual);
                }
            }
        }
        stuck.mean_square /= stuck.all as f64;
        (stuck.count > 0).then_some(stuck)
    }

    fn add(&mut self, point: Vec<f64>, residual: f64) {
        if self.points.len() < SHOWN {
            self.points.push(point);
        }
        if residual.abs() > self.largest.abs() {
            self.largest = residual;
        }
        self.count += 1;
        self.mean_square += residual * residual;
    }

    fn places(&self, problem: &Problem) -> String {
        let more = if self.count > self.points.len() { ", ..." } else { "" };
        format!("{}{more}", places(problem, &self.points))
    }

    fn warning(&self, problem: &Problem, equation: &Equation) -> String {
        let why = if equation.points.at.is_empty() {
            "the initial and boundary values that the form holds disagree there with each other or with the equation"
        } else {
            "the form holds other values there than this condition asks for"
        };
        let residual = digits(self.largest, 3);
        format!(
            "at {} of the {} of equation `{}`, {}, the residual is {residual} for every network: {why}. The mean \
             square over the equation's points cannot fall below {:.2e} (at the guess). Leave these points out with \
             `where`, or change the values.",
            self.count,
            count(self.all, "point"),
            equation.name,
            self.places(problem),
            self.mean_square
        )
    }

    fn line(&self, problem: &Problem) -> String {
        format!(
            "{}, where conditions and equation disagree: the residual is {}",
            self.places(problem),
            digits(self.largest, 3)
        )
    }
}

/// Pairs of conditions that ask for different values where they meet.
pub(super) fn contradictions(problem: &Problem, operator: &mut LocalOperator) -> Result<Vec<String>> {
    let conditions: Vec<usize> =
        (0..problem.equations.len()).filter(|&e| !problem.equations[e].points.at.is_empty()).collect();
    let mut warnings = vec![];
    for (number, &first) in conditions.iter().enumerate() {
        for &second in &conditions[number + 1..] {
            warnings.extend(contradiction(problem, operator, [first, second])?);
        }
    }
    Ok(warnings)
}

/// Two conditions contradict each other where they are the same multiple of the network and its
/// derivatives, but not the same number. Conditions that are not linear are not looked at.
fn contradiction(
    problem: &Problem,
    operator: &mut LocalOperator,
    pair: [usize; 2],
) -> Result<Option<String>> {
    let equations = pair.map(|e| &problem.equations[e]);
    let residuals = pair.map(|e| operator.residuals[e]);
    let Some(points) = meeting_points(problem, equations) else { return Ok(None) };
    if !residuals.iter().all(|&residual| is_linear(&mut operator.names, residual)) {
        return Ok(None);
    }
    let Ok(host) = HostProgram::new(&mut operator.names, &operator.operator, &residuals, &Origin::none())
    else {
        return Ok(None);
    };
    let slots = host.program.frame.slots.len();
    let mut worst: Option<(f64, Vec<f64>)> = None;
    for (columns, probe) in probes(problem, &host, &points) {
        let dot = |q: usize, p: usize, i: usize| -> f64 {
            (0..slots).map(|slot| probe.slope(q, slot)[i] * probe.slope(p, slot)[i]).sum()
        };
        for i in 0..columns[0].len() {
            let (a, b, ab) = (dot(0, 0, i), dot(1, 1, i), dot(0, 1, i));
            let parallel = a > 0.0 && b > 0.0 && (a * b - ab * ab).abs() <= NO_SLOPE * a * b;
            let (first, second) = (probe.residual(0)[i], probe.residual(1)[i]);
            let gap = (second - ab / a * first).abs();
            let apart = gap > NO_RESIDUAL * (second.abs() + (ab / a * first).abs());
            if parallel && apart && worst.as_ref().is_none_or(|(largest, _)| gap > *largest) {
                worst = Some((gap, point(&columns, i)));
            }
        }
    }
    Ok(worst.map(|(gap, at)| {
        format!(
            "equations `{}` and `{}` contradict each other where they meet: at {} they ask for values that differ by \
             {}, and no network can satisfy both. Change one of the values, or leave the place out of one of them \
             with `where`.",
            equations[0].name,
            equations[1].name,
            place(problem, &at),
            digits(gap, 3)
        )
    }))
}

/// Places that both equations hold, at some values of the coordinates that neither holds.
fn meeting_points(problem: &Problem, equations: [&Equation; 2]) -> Option<PointSource> {
    let axis = |(number, coordinate): (usize, &Coordinate)| {
        let held =
            equations.map(|e| e.points.at.iter().find(|(c, _)| *c == number).map(|(_, values)| values));
        match held {
            [None, None] => coordinate.axis(LOOKS),
            [Some(values), None] | [None, Some(values)] => values.clone(),
            [Some(first), Some(second)] => first.iter().filter(|v| second.contains(v)).copied().collect(),
        }
    };
    let axes: Vec<Vec<f64>> = problem.coordinates.iter().enumerate().map(axis).collect();
    if axes.iter().any(Vec::is_empty) {
        return None;
    }
    let mut points = PointSource::grid(axes);
    for equation in equations.iter().filter(|equation| equation.points.filter.is_some()) {
        let layout = Layout::List(points.columns(0..points.len()));
        // An error says that `where` leaves none.
        let kept =
            Points { filter: equation.points.filter.clone(), ..Points::laid_out(layout) }.source(problem, 0);
        points = kept.ok()?;
    }
    Some(points)
}

fn is_linear(names: &mut Names, residual: Expr) -> bool {
    let network = |names: &Names, e: Expr| {
        let mut leaves = names.graph.leaves(&[e]);
        leaves.retain(|leaf| matches!(leaf, Leaf::Derivative(f, _) if names.given_field(*f).is_none()));
        leaves
    };
    network(names, residual).iter().all(|leaf| {
        let slope = names.graph.partial(residual, leaf);
        network(names, slope).is_empty()
    })
}
