//! How data speak of an observed quantity: what a problem file says under `likelihood`.

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::evaluate::points::place_at;
use crate::model::{Coordinate, Formula, Problem};
use crate::read::points::coordinate_number;
use crate::schema;
use crate::tree::reader::{Reader, choice, count, formula, numbers, table};
use crate::tree::{Node, Value};

/// How data speak of the observed quantity: what is added up over the data, in units in which the sum is
/// twice the negative logarithm of a likelihood, up to a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Likelihood {
    /// Independent normal errors: ((value - data)/sigma)², with sigma one where there is none.
    Gaussian,
    /// Σ (value - data)² / Σ data²: for images and segmentations, whatever their size.
    RelativeL2,
    /// The data are zeros and ones (or shares), the value the probability of a one.
    Bernoulli,
    /// Normal errors with outliers, by Huber's loss: squares up to a threshold, straight lines beyond.
    Huber {
        /// In units of sigma.
        threshold: f64,
        /// The standard deviation of data that have none of their own.
        sigma: Option<f64>,
    },
    /// Errors with Student's distribution: far outliers hardly count.
    Student {
        /// Degrees of freedom.
        freedom: f64,
        /// The scale of data that have none of their own.
        sigma: Option<f64>,
    },
    /// The data are places of particles, a Poisson process whose intensity is the value.
    PoissonProcess {
        /// Snapshots that were taken: the particles of all of them are together in the data.
        snapshots: f64,
        /// How the intensity is integrated.
        quadrature: Quadrature,
    },
    /// An expression of `value`, `data`, `sigma` and constants, for one datum.
    Custom(Formula),
}

impl Likelihood {
    /// Huber's threshold of 95 % efficiency where errors are normal.
    pub const HUBER: f64 = 1.345;

    /// Degrees of freedom of Student's distribution, where none are stated.
    pub const FREEDOM: f64 = 4.0;

    /// The name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Likelihood::Gaussian => "gaussian",
            Likelihood::RelativeL2 => "relative-l2",
            Likelihood::Bernoulli => "bernoulli",
            Likelihood::Huber { .. } | Likelihood::Student { .. } => "robust",
            Likelihood::PoissonProcess { .. } => "poisson-process",
            Likelihood::Custom(_) => "custom",
        }
    }

    /// An expression of `value`, `data`, `sigma` and constants, to be minimised.
    pub fn custom(density: &str) -> Result<Likelihood> {
        Ok(Likelihood::Custom(Formula::parse(density, Origin::text("likelihood.custom", density))?))
    }

    /// Whether the places where it is evaluated move with unknowns.
    pub fn moves_with_unknowns(&self, problem: &Problem) -> bool {
        let Likelihood::PoissonProcess { quadrature, .. } = self else { return false };
        let named = |place: &Formula| {
            let names = place.ast.names();
            names.into_iter().any(|(name, _)| problem.unknowns.iter().any(|unknown| unknown.name == name))
        };
        quadrature.breaks.iter().any(|(_, place)| named(place))
    }

    /// The size of a term in which what is left to gain is measured: that of squares is the term itself,
    /// while a log-likelihood per datum is known up to a constant, and one is much.
    pub fn size(&self, term: f64) -> f64 {
        match self {
            Likelihood::Gaussian | Likelihood::RelativeL2 => term,
            _ => 1.0,
        }
    }

    /// Whether the data tell for every point whether it belongs to a set.
    pub fn is_segmentation(&self) -> bool {
        matches!(self, Likelihood::RelativeL2 | Likelihood::Bernoulli)
    }
}

/// A rule for integrals over some coordinates, by Gauss's formula with two nodes in every cell, which is
/// exact for cubic polynomials. No node lies at an end or a break.
#[derive(Clone, Debug, PartialEq)]
pub struct Quadrature {
    /// Coordinates (by number) and their numbers of nodes.
    pub nodes: Vec<(usize, usize)>,
    /// Places along a coordinate where what is integrated has a kink or a jump, expressions of constants
    /// and unknowns: cells end there.
    pub breaks: Vec<(usize, Formula)>,
    /// The other coordinates, held at values over which is summed.
    pub at: Vec<(usize, Vec<f64>)>,
}

/// Nodes of a quadrature and their weights.
pub struct Nodes {
    /// One column per coordinate of the problem.
    pub coordinates: Vec<Vec<f64>>,
    /// Their sum is the volume.
    pub weights: Vec<f64>,
}

impl Quadrature {
    /// Over all coordinates but the time, with so many nodes along each; the time held at its end.
    pub fn over_space(coordinates: &[Coordinate], nodes: usize) -> Quadrature {
        let numbered = || coordinates.iter().enumerate();
        Quadrature {
            nodes: numbered().filter(|(_, c)| !c.time).map(|(number, _)| (number, nodes)).collect(),
            breaks: vec![],
            at: numbered().filter(|(_, c)| c.time).map(|(number, c)| (number, vec![c.hi])).collect(),
        }
    }

    /// The nodes at some values of the unknowns.
    pub fn nodes(&self, problem: &Problem, thetas: &[f64]) -> Result<Nodes> {
        let mut nodes = Nodes { coordinates: vec![], weights: vec![1.0] };
        for number in 0..problem.coordinates.len() {
            let axis = match self.at.iter().find(|(held, _)| *held == number) {
                Some((_, values)) => values.iter().map(|&value| (value, 1.0)).collect(),
                None => self.axis(number, problem, thetas)?,
            };
            nodes.extend(&axis);
        }
        Ok(nodes)
    }

    /// Nodes and weights along one coordinate.
    fn axis(&self, number: usize, problem: &Problem, thetas: &[f64]) -> Result<Vec<(f64, f64)>> {
        let coordinate = &problem.coordinates[number];
        let mut ends = vec![coordinate.lo, coordinate.hi];
        for (_, place) in self.breaks.iter().filter(|(along, _)| *along == number) {
            let place = place_at(place, &problem.constants, &problem.unknowns, thetas)?;
            if coordinate.lo < place && place < coordinate.hi {
                ends.push(place);
            }
        }
        ends.sort_by(f64::total_cmp);
        let wanted = self.nodes.iter().find(|(along, _)| *along == number).map_or(2, |(_, nodes)| *nodes);
        let cell = 2.0 * (coordinate.hi - coordinate.lo) / wanted as f64;
        let mut axis = vec![];
        for piece in ends.windows(2) {
            // As many cells as the piece is long, not one too many by rounding.
            let cells = ((piece[1] - piece[0]) / cell - 1e-9).ceil().max(1.0);
            let half = (piece[1] - piece[0]) / cells / 2.0;
            for number in 0..cells as usize {
                let centre = piece[0] + half * (2 * number + 1) as f64;
                axis.extend([-1.0, 1.0].map(|side| (centre + side * half / f64::sqrt(3.0), half)));
            }
        }
        Ok(axis)
    }
}

impl Nodes {
    /// Every node so far with every one of an axis, the latter running fastest.
    fn extend(&mut self, axis: &[(f64, f64)]) {
        for column in &mut self.coordinates {
            *column = column.iter().flat_map(|&x| std::iter::repeat_n(x, axis.len())).collect();
        }
        self.coordinates.push(self.weights.iter().flat_map(|_| axis.iter().map(|(x, _)| *x)).collect());
        self.weights = self.weights.iter().flat_map(|w| axis.iter().map(move |(_, a)| w * a)).collect();
    }
}

/// Nodes along each coordinate where none are stated: fewer where there are more of them.
fn default_nodes(coordinates: &[Coordinate]) -> usize {
    match coordinates.iter().filter(|coordinate| !coordinate.time).count() {
        ..=1 => 200,
        2 => 64,
        _ => 32,
    }
}

/// Reads `likelihood`: a word, or a table with a `kind`, or `{ custom = ".." }`.
pub(crate) fn read_likelihood(reader: &Reader<'_>, coordinates: &[Coordinate]) -> Result<Likelihood> {
    let Some(node) = reader.get("likelihood") else { return Ok(Likelihood::Gaussian) };
    let path = reader.path("likelihood");
    if let Value::Text(_) = node.value {
        return simple(node, coordinates);
    }
    let inner = Reader::of(node, &path, reader.constants(), &schema::LIKELIHOOD.names())?;
    if let Some(density) = inner.formula("custom")? {
        only(&inner, &["custom"])?;
        return Ok(Likelihood::Custom(density));
    }
    match simple(inner.require("kind", "\"gaussian\"")?, coordinates)? {
        Likelihood::Huber { .. } => robust(&inner),
        Likelihood::PoissonProcess { .. } => process(&inner, coordinates),
        plain => only(&inner, &["kind"]).map(|()| plain),
    }
}

/// A likelihood by its name alone.
fn simple(node: &Node, coordinates: &[Coordinate]) -> Result<Likelihood> {
    let process = Likelihood::PoissonProcess {
        snapshots: 1.0,
        quadrature: Quadrature::over_space(coordinates, default_nodes(coordinates)),
    };
    let all = [
        Likelihood::Gaussian,
        Likelihood::RelativeL2,
        Likelihood::Bernoulli,
        Likelihood::Huber { threshold: Likelihood::HUBER, sigma: None },
        process,
    ];
    let mut names: Vec<(&str, usize)> = all.iter().enumerate().map(|(i, l)| (l.name(), i)).collect();
    names.push(("custom", all.len()));
    let found = choice(node, "likelihood", &names)?;
    all.get(found).cloned().ok_or_else(|| {
        let help = "write `likelihood = { custom = \"abs(value - data)\" }`, to be minimised over the data";
        let message = "the likelihood `custom` needs its expression";
        Diagnostic::new(message, node.origin.clone()).help(help).into()
    })
}

/// Refuses keys that do not belong to this kind.
fn only(reader: &Reader<'_>, known: &[&str]) -> Result<()> {
    let mut keys = schema::LIKELIHOOD.names().into_iter();
    let found = keys.find(|key| !known.contains(key) && reader.get(key).is_some());
    found.map_or(Ok(()), |key| {
        let node = reader.get(key).expect("found above");
        Err(Diagnostic::new(format!("`{key}` does not belong to this likelihood"), node.origin.clone())
            .into())
    })
}

fn robust(reader: &Reader<'_>) -> Result<Likelihood> {
    let sigma = reader.number("sigma")?;
    let student = reader.choice("loss", &[("huber", false), ("student", true)])?.unwrap_or(false);
    if student {
        only(reader, &["kind", "loss", "freedom", "sigma"])?;
        let freedom = reader.number("freedom")?.unwrap_or(Likelihood::FREEDOM);
        return Ok(Likelihood::Student { freedom, sigma });
    }
    only(reader, &["kind", "loss", "threshold", "sigma"])?;
    Ok(Likelihood::Huber { threshold: reader.number("threshold")?.unwrap_or(Likelihood::HUBER), sigma })
}

fn process(reader: &Reader<'_>, coordinates: &[Coordinate]) -> Result<Likelihood> {
    only(reader, &["kind", "snapshots", "quadrature"])?;
    let mut quadrature = Quadrature::over_space(coordinates, default_nodes(coordinates));
    if let Some(node) = reader.get("quadrature") {
        let path = reader.path("quadrature");
        let inner = Reader::of(node, &path, reader.constants(), &schema::QUADRATURE.names())?;
        read_quadrature(&inner, coordinates, &mut quadrature)?;
    }
    Ok(Likelihood::PoissonProcess { snapshots: reader.number("snapshots")?.unwrap_or(1.0), quadrature })
}

/// Puts what is stated in place of the defaults.
fn read_quadrature(
    reader: &Reader<'_>,
    coordinates: &[Coordinate],
    quadrature: &mut Quadrature,
) -> Result<()> {
    for entry in entries(reader, "at")? {
        let number = coordinate_number(entry, coordinates)?;
        let values = numbers(&entry.node, &entry.key, reader.constants())?;
        for &value in &values {
            if let Some(why) = coordinates[number].excludes(value) {
                return Err(Diagnostic::new(why, entry.node.origin.clone()).into());
            }
        }
        quadrature.nodes.retain(|(along, _)| *along != number);
        quadrature.at.retain(|(held, _)| *held != number);
        quadrature.at.push((number, values));
    }
    for entry in entries(reader, "grid")? {
        let number = coordinate_number(entry, coordinates)?;
        quadrature.at.retain(|(held, _)| *held != number);
        quadrature.nodes.retain(|(along, _)| *along != number);
        quadrature.nodes.push((number, count(&entry.node, &entry.key)?));
    }
    quadrature.breaks = read_breaks(reader, coordinates, quadrature)?;
    Ok(())
}

fn entries<'a>(reader: &Reader<'a>, key: &str) -> Result<&'a [crate::tree::Entry]> {
    reader.get(key).map_or(Ok(&[]), |node| Ok(&table(node, key)?.entries[..]))
}

/// `["z"]` along the only coordinate, or `{ x = ["z"] }`.
fn read_breaks(
    reader: &Reader<'_>,
    coordinates: &[Coordinate],
    quadrature: &Quadrature,
) -> Result<Vec<(usize, Formula)>> {
    let Some(node) = reader.get("breaks") else { return Ok(vec![]) };
    if let Value::Table(along) = &node.value {
        let mut breaks = vec![];
        for entry in &along.entries {
            let number = coordinate_number(entry, coordinates)?;
            breaks.extend(places(&entry.node)?.into_iter().map(|place| (number, place)));
        }
        return Ok(breaks);
    }
    let [(number, _)] = quadrature.nodes[..] else {
        let message = "`breaks` must say along which coordinate";
        let help = format!("write `breaks = {{ {} = [..] }}`", coordinates[0].name);
        return Err(Diagnostic::new(message, node.origin.clone()).help(help).into());
    };
    Ok(places(node)?.into_iter().map(|place| (number, place)).collect())
}

/// Numbers or expressions, in a list or alone.
fn places(node: &Node) -> Result<Vec<Formula>> {
    let place = |node: &Node| match &node.value {
        Value::Integer(i) => Formula::parse(&i.to_string(), node.origin.clone()),
        Value::Float(f) => Formula::parse(&format!("{f:?}"), node.origin.clone()),
        _ => formula(node, "breaks"),
    };
    match &node.value {
        Value::List(items) => items.iter().map(place).collect(),
        _ => Ok(vec![place(node)?]),
    }
}
