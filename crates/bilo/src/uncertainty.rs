//! How well the data determine the unknowns: standard deviations from the derivatives of the observed
//! values, and combinations of unknowns that the data do not see.

use crate::misfit::DataLoss;
use crate::problem::Data;
use crate::twin::WithSlopes;
use faer::Mat;

/// Smallest singular value, relative to the largest, below which unknowns count as inseparable.
const SEPARABLE: f64 = 1e-4;

/// Where the size of an observation's noise is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseSource {
    /// The column `sigma` of its data.
    Sigma,
    /// The noise that its synthetic data are stated to have.
    Stated,
    /// What the solution leaves of the data.
    Residuals,
}

impl NoiseSource {
    /// The name in `outcome.json`.
    pub fn name(self) -> &'static str {
        match self {
            NoiseSource::Sigma => "sigma",
            NoiseSource::Stated => "stated",
            NoiseSource::Residuals => "residuals",
        }
    }
}

/// The noise of an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// The observation.
    pub observation: String,
    /// Where its size is known from.
    pub source: NoiseSource,
    /// Its standard deviation, the root mean square where it differs from value to value.
    pub sd: f64,
}

/// The noise of all data.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseLevels {
    /// By observation.
    pub observations: Vec<Noise>,
    /// The standard deviation of each value, over all observations.
    pub by_value: Vec<f64>,
}

impl NoiseLevels {
    /// Known from the data or stated; else what a solution with these values leaves of the data.
    pub fn new(data: &DataLoss<'_>, values: &[Vec<f64>]) -> Self {
        // What the fit of the unknowns took out of the residuals, spread over all values.
        let (count, fitted) = (values.iter().flatten().count(), data.problem().unknowns.len());
        let freedom = count.saturating_sub(fitted) as f64 / count as f64;
        let mut levels = Self { observations: vec![], by_value: vec![] };
        for ((observation, table), values) in
            data.problem().observations.iter().zip(data.tables()).zip(values)
        {
            let count = values.len() as f64;
            let (source, sd) = match (&table.sigma, &observation.data) {
                (Some(sigma), _) => {
                    let square: f64 = sigma.iter().map(|sigma| sigma * sigma).sum();
                    (NoiseSource::Sigma, (square / count).sqrt())
                }
                (None, Data::Synthetic { noise, .. }) if *noise > 0.0 => (NoiseSource::Stated, *noise),
                (None, _) => {
                    let square: f64 = values.iter().zip(&table.values).map(|(a, b)| (a - b).powi(2)).sum();
                    (NoiseSource::Residuals, (square / (freedom * count)).sqrt())
                }
            };
            levels.observations.push(Noise { observation: observation.name.clone(), source, sd });
            levels.by_value.extend(table.sigma.clone().unwrap_or_else(|| vec![sd; values.len()]));
        }
        levels
    }
}

/// What the data say of the unknowns near some theta.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertainty {
    /// Standard deviation of each unknown's estimate.
    pub sd: Vec<f64>,
    /// Singular values of the sensitivities d value / d relative change of an unknown, largest first.
    pub singular_values: Vec<f64>,
    /// A sentence where unknowns cannot be told apart.
    pub warning: Option<String>,
}

impl Uncertainty {
    /// From observed values and their derivatives by eta, at eta, by any solver; none if they are not
    /// finite.
    ///
    /// To first order the minimiser of the loss moves by A⁺ (√w ε) with A the derivatives of the
    /// residuals √w (value - data) and ε the noise of the data. Where the weights w are as 1/sigma²
    /// its standard deviations are the Cramér-Rao bound.
    pub fn new(
        data: &DataLoss<'_>,
        noise: &NoiseLevels,
        observed: &[WithSlopes],
        eta: &[f64],
    ) -> Option<Self> {
        let unknowns = data.problem().unknowns.iter().zip(eta);
        let units: Vec<f64> = unknowns
            .clone()
            .map(|(unknown, &eta)| unit(unknown.theta_of(eta).abs().max(unknown.guess.abs())))
            .collect();
        let by_eta: Vec<f64> = unknowns.map(|(unknown, &eta)| unknown.theta_slope(eta)).collect();
        let relative = |columns: Vec<Vec<f64>>| -> Vec<Vec<f64>> {
            let factor = |j: usize| units[j] / by_eta[j];
            let scaled = columns.into_iter().enumerate();
            scaled.map(|(j, column)| column.iter().map(|slope| slope * factor(j)).collect()).collect()
        };
        let plain = Spectrum::new(&relative(data.slopes(observed)))?;
        let weighted = Spectrum::new(&relative(data.jacobian(observed)))?;
        let spread: Vec<f64> =
            noise.by_value.iter().zip(data.root_weights()).map(|(sd, root)| sd * root).collect();
        let relative_sd = weighted.deviations(|i| spread.get(i).copied().unwrap_or(0.0));
        let names: Vec<&str> = data.problem().unknowns.iter().map(|unknown| unknown.name.as_str()).collect();
        Some(Self {
            sd: relative_sd.iter().zip(&units).map(|(sd, unit)| sd * unit).collect(),
            warning: plain.warning(&names),
            singular_values: plain.singular_values,
        })
    }
}

/// The size that relative changes of an unknown are relative to.
fn unit(size: f64) -> f64 {
    if size == 0.0 { 1.0 } else { size }
}

/// The singular value decomposition of sensitivities.
pub(crate) struct Spectrum {
    /// Largest first.
    pub(crate) singular_values: Vec<f64>,
    /// The direction of the smallest singular value.
    pub(crate) weakest: Vec<f64>,
    left: Mat<f64>,
    right: Mat<f64>,
}

impl Spectrum {
    /// From one column per unknown; none if they are not finite.
    pub(crate) fn new(columns: &[Vec<f64>]) -> Option<Self> {
        if columns.iter().flatten().any(|slope| !slope.is_finite()) {
            return None;
        }
        // Fewer values than unknowns: rows of zeros do not change what the data see.
        let rows = columns.first().map_or(0, Vec::len).max(columns.len());
        let matrix = Mat::from_fn(rows, columns.len(), |i, j| columns[j].get(i).copied().unwrap_or(0.0));
        let svd = matrix.thin_svd().ok()?;
        let (values, right, last) = (svd.S().column_vector(), svd.V(), columns.len().checked_sub(1)?);
        Some(Self {
            singular_values: (0..columns.len()).map(|k| values[k]).collect(),
            weakest: (0..columns.len()).map(|j| right[(j, last)]).collect(),
            left: svd.U().to_owned(),
            right: right.to_owned(),
        })
    }

    /// Standard deviations of the unknowns if value i has noise of this standard deviation: the lengths
    /// of the rows of the pseudo-inverse with its columns scaled by the noise.
    pub(crate) fn deviations(&self, noise: impl Fn(usize) -> f64) -> Vec<f64> {
        let count = self.singular_values.len();
        let entry = |j: usize, i: usize| -> f64 {
            (0..count).map(|k| self.right[(j, k)] * self.left[(i, k)] / self.singular_values[k]).sum()
        };
        let square = |j: usize| (0..self.left.nrows()).map(|i| (entry(j, i) * noise(i)).powi(2)).sum::<f64>();
        (0..count).map(|j| square(j).sqrt()).collect()
    }

    /// A sentence if some combination of the unknowns leaves no trace in the data.
    pub(crate) fn warning(&self, names: &[&str]) -> Option<String> {
        let (first, last) = (self.singular_values.first()?, self.singular_values.last()?);
        if *last > SEPARABLE * first {
            return None;
        }
        let parts: Vec<String> = (names.iter().zip(&self.weakest))
            .filter(|(_, share)| share.abs() > 0.1)
            .map(|(name, share)| format!("{share:+.2} {name}"))
            .collect();
        Some(format!("the data hardly see the combination {} of relative changes", parts.join(" ")))
    }
}
