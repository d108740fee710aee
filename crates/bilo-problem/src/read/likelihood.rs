//! The key `likelihood` of an observation.

use crate::diagnostic::{Diagnostic, Result};
use crate::model::domain::Coordinate;
use crate::model::formula::Formula;
use crate::model::likelihood::{Likelihood, LikelihoodName, Quadrature, RobustLoss};
use crate::read::points::coordinate_number;
use crate::schema;
use crate::tree::reader::{Reader, choice, count, formula, numbers, table};
use crate::tree::{Entry, Node, Value};
use crate::words::Words;

/// Nodes along each coordinate where none are stated: fewer where there are more of them.
fn default_nodes(coordinates: &[Coordinate]) -> usize {
    match coordinates.iter().filter(|coordinate| !coordinate.time).count() {
        ..=1 => 200,
        2 => 64,
        _ => 32,
    }
}

/// Reads `likelihood`: a word, or a table with a `kind`, or `{ custom = ".." }`.
pub(super) fn read_likelihood(reader: &Reader<'_>, coordinates: &[Coordinate]) -> Result<Likelihood> {
    let Some(node) = reader.get("likelihood") else { return Ok(Likelihood::Gaussian) };
    let path = reader.path("likelihood");
    if let Value::Text(_) = node.value {
        return simple(node, coordinates);
    }
    let inner = Reader::of(node, &path, reader.constants(), &schema::LIKELIHOOD.names())?;
    if let Some(node) = inner.get("custom") {
        let density = formula(node, "custom")?;
        only(&inner, &["custom"])?;
        return Ok(Likelihood::Custom(density));
    }
    match simple(inner.require("kind", "\"gaussian\"")?, coordinates)? {
        Likelihood::Huber { .. } | Likelihood::Student { .. } => robust(&inner),
        Likelihood::NegativeBinomial { .. } => {
            only(&inner, &["kind", "dispersion"])?;
            let stated = !inner.is_estimate("dispersion");
            let dispersion = stated.then(|| inner.number("dispersion")).transpose()?.flatten();
            Ok(Likelihood::NegativeBinomial { dispersion })
        }
        Likelihood::Binomial { .. } => {
            only(&inner, &["kind", "trials"])?;
            Ok(Likelihood::Binomial { trials: inner.number("trials")? })
        }
        Likelihood::Censored { .. } => {
            only(&inner, &["kind", "below", "above"])?;
            Ok(Likelihood::Censored { below: inner.number("below")?, above: inner.number("above")? })
        }
        Likelihood::PoissonProcess { .. } => process(&inner, coordinates),
        plain => only(&inner, &["kind"]).map(|()| plain),
    }
}

/// A likelihood by its name alone.
fn simple(node: &Node, coordinates: &[Coordinate]) -> Result<Likelihood> {
    let named = LikelihoodName::ALL.iter().map(|(word, name)| (*word, Some(*name)));
    let choices: Vec<(&str, Option<LikelihoodName>)> = named.chain([("custom", None)]).collect();
    let Some(name) = choice(node, "likelihood", &choices)? else {
        let help = "write `likelihood = { custom = \"abs(value - data)\" }`, to be minimised over the data";
        let message = "the likelihood `custom` needs its expression";
        return Err(Diagnostic::new(message, node.origin.clone()).help(help).into());
    };
    Ok(match name {
        LikelihoodName::Gaussian => Likelihood::Gaussian,
        LikelihoodName::MeanSquare => Likelihood::MeanSquare,
        LikelihoodName::RelativeL2 => Likelihood::RelativeL2,
        LikelihoodName::Bernoulli => Likelihood::Bernoulli,
        LikelihoodName::Robust | LikelihoodName::Huber => {
            Likelihood::Huber { threshold: Likelihood::HUBER, sigma: None }
        }
        LikelihoodName::Student => Likelihood::Student { freedom: Likelihood::FREEDOM, sigma: None },
        LikelihoodName::Poisson => Likelihood::Poisson,
        LikelihoodName::NegativeBinomial => Likelihood::NegativeBinomial { dispersion: None },
        LikelihoodName::Binomial => Likelihood::Binomial { trials: None },
        LikelihoodName::LogNormal => Likelihood::LogNormal,
        // Its limits are in a table.
        LikelihoodName::Censored => Likelihood::Censored { below: None, above: None },
        LikelihoodName::PoissonProcess => Likelihood::PoissonProcess {
            snapshots: 1.0,
            quadrature: Quadrature::over_space(coordinates, default_nodes(coordinates)),
        },
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
    let student =
        reader.get("kind").is_some_and(|node| matches!(&node.value, Value::Text(kind) if kind == "student"));
    if student || reader.word("loss")? == Some(RobustLoss::Student) {
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

fn entries<'a>(reader: &Reader<'a>, key: &str) -> Result<&'a [Entry]> {
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
