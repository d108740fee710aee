//! What must hold in an unknown function.

use super::Check;
use crate::diagnostic::Result;
use crate::function::{Lattice, Shape};
use crate::model::domain::Coordinate;
use crate::model::function::{FunctionBasis, RegulariserKind, UnknownFunction};
use crate::model::known::{FIELD, KnownFunction};
use crate::model::random_field::RandomField;
use crate::settings::GradientMode;

/// Most nodes of an unknown function.
const MOST_NODES: usize = 100_000;

impl Check<'_> {
    /// Its formulas are about its own arguments and have values, its form is about `net`.
    pub(crate) fn function(&self, function: &UnknownFunction) -> Result<()> {
        let path = |key: &str| format!("unknown.{}.{key}", function.name);
        if function.state().is_some() {
            self.of_state(function)?;
        }
        for &count in &function.nodes {
            self.count(&path("grid"), count, 2, MOST_NODES)?;
        }
        let all = function.nodes.iter().fold(1usize, |all, &count| all.saturating_mul(count));
        let message = || format!("there must be at most {MOST_NODES} nodes in all, found {all}");
        self.demand(all <= MOST_NODES, &path("grid"), message)?;
        let least = if function.basis == FunctionBasis::Splines { 4 } else { 1 };
        for &count in &function.modes {
            self.count(&path("modes"), count, least, 64)?;
        }
        self.known(function, "guess", &function.guess)?;
        if let Some(truth) = &function.truth {
            self.known(function, "truth", truth)?;
        }
        if let Some(threshold) = function.threshold {
            self.finite(&path("threshold"), threshold)?;
            let message = || format!("`threshold` needs the truth, `{}` has none", function.name);
            self.demand(function.truth.is_some(), &path("threshold"), message)?;
        }
        let moves = Shape::new(self.problem, function)?.values(&vec![0.5; all]).1;
        self.demand(moves.iter().any(|&slope| slope != 0.0), &path("form"), || {
            format!("the form of `{}` does not use the network, `net`", function.name)
        })?;
        self.positive(&path("scale"), function.scale)?;
        function.rate.map_or(Ok(()), |rate| self.positive(&path("rate"), rate))?;
        let Some(regulariser) = &function.regulariser else { return Ok(()) };
        self.not_negative(&path("regularise.weight"), regulariser.weight)?;
        match &regulariser.kind {
            RegulariserKind::Tv { smoothing } => self.positive(&path("regularise.smoothing"), *smoothing),
            RegulariserKind::L2 { reference: Some(reference) } => {
                self.known(function, "regularise.reference", reference)
            }
            RegulariserKind::Field(field) => {
                let key = |key: &str| path(&format!("prior.matern.{key}"));
                field.sd.map_or(Ok(()), |sd| self.positive(&key("sd"), sd))?;
                field.length.map_or(Ok(()), |length| self.positive(&key("length"), length))?;
                let smooth = [0.5, 1.5, 2.5].contains(&field.smoothness);
                self.demand(smooth, &key("smoothness"), || {
                    "the smoothness must be 0.5, 1.5 or 2.5".to_owned()
                })?;
                let both = field.sd.is_none() || field.length.is_some();
                self.demand(both, &key("length"), || {
                    "a length is estimated together with the `sd` only".to_owned()
                })
            }
            RegulariserKind::H1 | RegulariserKind::H2 | RegulariserKind::L2 { reference: None } => Ok(()),
        }
    }

    /// A known function of a function's arguments is finite at all nodes.
    fn known(&self, function: &UnknownFunction, key: &str, known: &KnownFunction) -> Result<()> {
        if let KnownFunction::Random { field, .. } = known {
            self.random_field(&format!("unknown.{}.{key}", function.name), field)?;
        }
        let values = function.on_nodes(self.problem, known)?;
        let Some(node) = values.iter().position(|value| !value.is_finite()) else { return Ok(()) };
        let columns = Lattice::new(function).columns();
        let place: Vec<String> = (function.of.iter().zip(columns))
            .map(|(argument, column)| format!("{} = {}", argument.axis.name, column[node]))
            .collect();
        let path = format!("unknown.{}.{key}", function.name);
        let message = format!("`{key}` of `{}` has no finite value at {}", function.name, place.join(", "));
        Err(self.error(&path, message).into())
    }

    /// The range of a function of a state goes upwards, and such functions have the exact gradient.
    fn of_state(&self, function: &UnknownFunction) -> Result<()> {
        let path = format!("unknown.{}.range", function.name);
        let Coordinate { name, lo, hi, .. } = &function.of[0].axis;
        self.finite(&path, *lo)?;
        self.finite(&path, *hi)?;
        let message = || format!("the range of `{name}` must go upwards, found [{lo:?}, {hi:?}]");
        self.demand(lo < hi, &path, message)?;
        // The report has one axis for each state.
        let others = self.problem.functions.iter().filter(|other| other.state() == function.state());
        if let Some(other) = others.into_iter().find(|other| other.of != function.of) {
            let Coordinate { lo, hi, .. } = &other.of[0].axis;
            let message =
                format!("`{}` is wanted for other values of `{name}`: [{lo:?}, {hi:?}]", other.name);
            return Err(self
                .error(&path, message)
                .help("give functions of one state the same `range`")
                .into());
        }
        if self.problem.training.gradient == GradientMode::Pointwise {
            let message = format!(
                "the pointwise gradient knows no functions of states, and `{}` is one",
                function.name
            );
            let error = self.error("train.gradient", message);
            return Err(error.help("write `gradient = \"exact\"`").into());
        }
        Ok(())
    }

    fn random_field(&self, path: &str, field: &RandomField) -> Result<()> {
        self.positive(&format!("{path}.random-field.sd"), field.sd)?;
        self.positive(&format!("{path}.random-field.length"), field.length)?;
        let coordinates = self.problem.coordinates.iter().map(|c| &c.name);
        let mut names = coordinates.chain(self.problem.constants.iter().map(|c| &c.name));
        self.demand(!names.any(|name| name == FIELD), path, || {
            format!("the name `{FIELD}` is taken: beside `random-field` it stands for the field")
        })
    }
}
