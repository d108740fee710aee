//! What must hold of observations: their data and their likelihoods.

use crate::diagnostic::Result;
use crate::evaluate::sampling::Sampling;
use crate::model::Problem;
use crate::model::likelihood::{Likelihood, Quadrature};
use crate::model::observation::{Data, Observation, Sigma, Table};
use crate::resolve::check::Check;
use crate::sites::Sites;

impl Check<'_> {
    pub(crate) fn observation(&self, observation: &Observation) -> Result<()> {
        let path = format!("observation.{}", observation.name);
        self.not_negative(&format!("{path}.weight"), observation.weight)?;
        self.likelihood(observation, &format!("{path}.likelihood"))?;
        self.sigma(observation, &format!("{path}.sigma"))?;
        let synthetic = format!("{path}.data.synthetic");
        match &observation.data {
            Data::Table(table) => {
                self.table(&path, table)?;
                Sampling::new(self.problem, observation, table.coordinates.clone())?;
                let fault = observation.data_fault(table);
                fault.map_or(Ok(()), |fault| Err(self.error(&format!("{path}.data"), fault).into()))
            }
            Data::Drawn => self.truths(&synthetic, "synthetic data need"),
            Data::Synthetic { points, noise, made } => {
                self.stays(&synthetic, points)?;
                self.not_negative(&format!("{synthetic}.noise"), *noise)?;
                if let Some((sd, length)) = made.as_ref().and_then(|made| made.field) {
                    self.not_negative(&format!("{synthetic}.field.sd"), sd)?;
                    self.positive(&format!("{synthetic}.field.length"), length)?;
                }
                self.truths(&synthetic, "synthetic data need")
            }
        }
    }

    fn likelihood(&self, observation: &Observation, path: &str) -> Result<()> {
        let process = matches!(observation.likelihood, Likelihood::PoissonProcess { .. });
        self.demand(process || observation.data != Data::Drawn, path, || {
            "particles have the likelihood `poisson-process`".to_owned()
        })?;
        let positive = |key: &str, value: f64| self.positive(&format!("{path}.{key}"), value);
        let noise = observation.stated_noise();
        // The scale of data can be estimated, but not where they have no errors.
        let needs_sigma = |sigma: Option<f64>| {
            let exact = matches!(&observation.data, Data::Synthetic { .. });
            sigma.map_or(Ok(()), |sigma| positive("sigma", sigma))?;
            self.demand(!exact || sigma.or(noise).is_some(), path, || {
                "synthetic data of this likelihood need their `noise`".to_owned()
            })
        };
        match &observation.likelihood {
            Likelihood::Huber { threshold, sigma } => {
                positive("threshold", *threshold)?;
                needs_sigma(*sigma)
            }
            Likelihood::Student { freedom, sigma } => {
                positive("freedom", *freedom)?;
                needs_sigma(*sigma)
            }
            Likelihood::PoissonProcess { snapshots, quadrature } => {
                positive("snapshots", *snapshots)?;
                for (number, nodes) in &quadrature.nodes {
                    let name = &self.problem.coordinates[*number].name;
                    self.count(&format!("{path}.quadrature.grid.{name}"), *nodes, 2, 1_000_000)?;
                }
                self.places(quadrature)
            }
            Likelihood::Custom(density) => {
                Sites::new(self.problem, observation, &Table::one_datum(self.problem), &[])?.terms(&[0.5])?;
                let used = density.ast.names().iter().any(|(name, _)| *name == "value");
                self.demand(used, path, || "the expression does not depend on `value`".to_owned())
            }
            Likelihood::Bernoulli if noise.is_some() => {
                let message =
                    "synthetic data of a `bernoulli` likelihood are zeros and ones, without `noise`";
                Err(self.error(path, message.to_owned()).into())
            }
            Likelihood::Poisson | Likelihood::NegativeBinomial { .. } | Likelihood::Binomial { .. }
                if noise.is_some() =>
            {
                let message = "synthetic counts are drawn from their distribution, without `noise`";
                Err(self.error(path, message.to_owned()).into())
            }
            Likelihood::NegativeBinomial { dispersion: Some(dispersion) } => {
                positive("dispersion", *dispersion)
            }
            Likelihood::NegativeBinomial { dispersion: None } => {
                let drawn = matches!(observation.data, Data::Synthetic { .. });
                self.demand(!drawn, path, || "synthetic counts need their `dispersion`".to_owned())
            }
            Likelihood::Binomial { trials } => {
                let column = matches!(&observation.data, Data::Table(table) if table.sigma.is_some());
                trials.map_or(Ok(()), |trials| positive("trials", trials))?;
                self.demand(column || trials.is_some(), path, || {
                    "the likelihood `binomial` needs its `trials`: a number here, or a column of the data"
                        .to_owned()
                })
            }
            Likelihood::Censored { below, above } => {
                let fine = below.zip(*above).is_none_or(|(lo, hi)| lo < hi);
                self.demand(fine, path, || "the limit `below` must be less than `above`".to_owned())?;
                needs_sigma(None)
            }
            Likelihood::Poisson
            | Likelihood::LogNormal
            | Likelihood::Gaussian
            | Likelihood::MeanSquare
            | Likelihood::RelativeL2
            | Likelihood::Bernoulli => Ok(()),
        }
    }

    fn sigma(&self, observation: &Observation, path: &str) -> Result<()> {
        let likelihood = &observation.likelihood;
        let belongs = match observation.sigma {
            Sigma::OfData => return Ok(()),
            Sigma::Known(sigma) => {
                self.positive(path, sigma)?;
                matches!(
                    likelihood,
                    Likelihood::Gaussian
                        | Likelihood::LogNormal
                        | Likelihood::Censored { .. }
                        | Likelihood::Huber { .. }
                        | Likelihood::Student { .. }
                        | Likelihood::Custom(_)
                )
            }
            Sigma::Estimated => matches!(
                likelihood,
                Likelihood::Gaussian
                    | Likelihood::LogNormal
                    | Likelihood::Censored { .. }
                    | Likelihood::Huber { .. }
                    | Likelihood::Student { .. }
            ),
        };
        self.demand(belongs, path, || {
            format!("`sigma` as stated does not belong to the likelihood `{}`", likelihood.name())
        })
    }

    /// Breaks of an integral are expressions of constants and unknowns.
    fn places(&self, quadrature: &Quadrature) -> Result<()> {
        let guess = self.problem.unknowns.iter().map(|unknown| unknown.guess).collect::<Vec<_>>();
        quadrature.nodes(self.problem, &guess).map(drop)
    }
}

impl Table {
    /// One value in the middle of the domain, for trying a formula.
    fn one_datum(problem: &Problem) -> Table {
        let coordinates = problem.coordinates.iter().map(|c| vec![0.5 * (c.lo + c.hi)]).collect();
        Table { coordinates, values: vec![0.25], sigma: None }
    }
}
