//! The noise of the data: stated, or what a solution leaves of them.

pub use crate::outcome::{Noise, NoiseSource};
use bilo_fit::data_loss::{DataLoss, LossTerms};
use bilo_fit::joint_likelihood::{Errors, JointLikelihood};
use bilo_fit::sensitivities::{Sensitivities, columns};
use bilo_fit::spectrum::LeastSquares;
use bilo_problem::diagnostic::Result;
use bilo_problem::sites::{Scale, Sites};
use bilo_problem::{Likelihood, Observation, Problem};

/// Fewer effective data than this beyond what was fitted to them tell no noise level.
const FEWEST: f64 = 0.5;

/// The noise of all data.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseLevels {
    /// By observation.
    pub observations: Vec<Noise>,
    /// What multiplies the derivatives of each observed value, over all observations, when their minimiser
    /// is found.
    pub(crate) roots: Vec<f64>,
    /// The standard deviations of what the minimiser then sees of each value's error.
    pub(crate) spread: Vec<f64>,
}

/// How many unknowns each observation determines: the sum of its leverages, the diagonal of the hat matrix. All together
/// determine as many as there are unknowns, if they see all of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// How much of each value's own error its fit takes up, by observation.
    pub leverages: Vec<Vec<f64>>,
}

impl Fitted {
    /// By the derivatives of the observed values, weighted as the loss curves; the unknown numbers shared out evenly where
    /// these are not known.
    pub fn new(data: &DataLoss<'_>, terms: &LossTerms, slopes: Option<&[Sensitivities]>) -> Fitted {
        let counts: Vec<usize> = terms.by_values.iter().map(Vec::len).collect();
        let leverages = slopes.map(columns).filter(|columns| !columns.is_empty());
        let leverages = leverages.and_then(|columns| LeastSquares::new(&columns, &terms.roots));
        let Some(leverages) = leverages.map(|fit| fit.leverages()) else {
            return Fitted::of_scalars(data.problem(), &counts);
        };
        Fitted::split(&leverages, &counts)
    }

    /// Leverages of all values, so many for each observation.
    pub(crate) fn split(leverages: &[f64], counts: &[usize]) -> Fitted {
        let mut rest = leverages;
        let mut own = |&count: &usize| {
            let (own, others) = rest.split_at(count.min(rest.len()));
            rest = others;
            own.to_vec()
        };
        Fitted { leverages: counts.iter().map(&mut own).collect() }
    }

    /// The unknown numbers, shared out evenly.
    fn of_scalars(problem: &Problem, counts: &[usize]) -> Fitted {
        let share = problem.unknowns.len() as f64 / counts.iter().sum::<usize>().max(1) as f64;
        Fitted { leverages: counts.iter().map(|&count| vec![share; count]).collect() }
    }

    /// How many unknowns an observation determines.
    pub fn of(&self, observation: usize) -> f64 {
        self.leverages[observation].iter().sum()
    }
}

impl NoiseLevels {
    /// Known from the data, the likelihood or stated; else what a solution with these values leaves of the data after so
    /// many unknowns were fitted to each observation.
    pub fn new(
        data: &DataLoss<'_>,
        sites: &[Sites],
        values: &[Vec<f64>],
        fitted: &Fitted,
        eta: &[f64],
    ) -> Result<Self> {
        let (problem, mut terms) = (data.problem(), data.terms(sites, values)?);
        data.add_priors(&mut terms, eta)?;
        let joint = data.joint();
        let mut observations: Vec<Noise> = vec![];
        for (o, observation) in problem.observations.iter().enumerate() {
            let errors = Errors::of(observation, &data.tables()[o]);
            observations.push(stated(observation, errors, &sites[o]));
            let freedom = (sites[o].count - fitted.of(o)).max(0.0);
            (observations[o].count, observations[o].freedom) = (data.tables()[o].values.len(), freedom);
            if let Some(scale) = sites[o].scale(&values[o])? {
                observations[o].found(scale, widening(&sites[o], fitted.of(o)));
            }
        }
        estimate(&mut observations, problem, &joint, sites, values, fitted);
        let mut spread = vec![];
        let mut place = 0;
        for (o, sites) in sites.iter().enumerate() {
            let roots = &terms.roots[place..place + terms.by_values[o].len()];
            place += roots.len();
            let of_values = sites.parts.last().and_then(|part| part.sigma.as_deref());
            // Errors of logarithms are relative to the value.
            let size = |i: usize| match problem.observations[o].likelihood {
                Likelihood::LogNormal => values[o][i].abs(),
                _ => 1.0,
            };
            let relative = |i: usize| size(i) * of_values.map_or(1.0, |sigma| sigma[i]);
            match (sites.calibrated, observations[o].sd) {
                // A loss that is 2/N times a negative log-likelihood: its gradient varies as it curves.
                (true, _) => {
                    let spread_of_one =
                        widening(sites, fitted.of(o)) * (terms.weights[o] / sites.count).sqrt();
                    spread.extend(vec![spread_of_one; roots.len()]);
                }
                // Without noise all that can be said is how errors of one size would show.
                (false, Some(0.0)) => spread.extend_from_slice(roots),
                (false, Some(scale)) => {
                    spread.extend(roots.iter().enumerate().map(|(i, root)| scale * relative(i) * root));
                }
                (false, None) => spread.extend(vec![f64::NAN; roots.len()]),
            }
        }
        // The logarithm of a prior varies as it curves, as that of a likelihood does.
        let count = joint.count().max(1.0);
        spread.resize(terms.roots.len(), count.sqrt().recip());
        Ok(Self { observations, roots: terms.roots, spread })
    }

    /// The standard deviations of what the minimiser sees of each value's error.
    pub(crate) fn spread(&self) -> &[f64] {
        &self.spread
    }
}

/// How much wider the scale of errors is than where the likelihood of the data is largest, since some of their freedom is taken
/// up by the unknowns: as for normal errors. One where the scale is known, or is none of errors.
fn widening(sites: &Sites, fitted: f64) -> f64 {
    let of_errors = |free: &Likelihood| !matches!(free, Likelihood::NegativeBinomial { .. });
    match sites.parts.iter().any(|part| part.free.as_ref().is_some_and(of_errors)) {
        true => (sites.count / (sites.count - fitted).max(FEWEST)).sqrt(),
        false => 1.0,
    }
}

impl Noise {
    /// Puts the number of the law that was found.
    fn found(&mut self, scale: Scale, widening: f64) {
        let found = (Some(widening * scale.value), Some(widening * scale.error));
        match self.source {
            NoiseSource::Likelihood => (self.dispersion, self.dispersion_error) = found,
            _ => (self.sd, self.sd_error) = found,
        }
    }
}

/// What is known of an observation's noise before anything is estimated.
fn stated(observation: &Observation, errors: Errors, sites: &Sites) -> Noise {
    let made = observation.stated_noise();
    let name = || observation.name.clone();
    if let Likelihood::NegativeBinomial { dispersion } = observation.likelihood {
        return Noise {
            observation: name(),
            source: NoiseSource::Likelihood,
            dispersion,
            ..Noise::default()
        };
    }
    if let Likelihood::Binomial { .. } = observation.likelihood {
        return Noise { observation: name(), source: NoiseSource::Likelihood, ..Noise::default() };
    }
    if sites.parts.iter().any(|part| part.free.is_some()) {
        return Noise { observation: name(), source: NoiseSource::Residuals, ..Noise::default() };
    }
    let sigma = sites.parts.iter().find_map(|part| part.sigma.as_ref());
    let mean_square =
        |sigma: &Vec<f64>| sigma.iter().map(|sigma| sigma * sigma).sum::<f64>() / sigma.len().max(1) as f64;
    let (source, sd) = match (errors, sigma) {
        (Errors::Stated, Some(sigma)) => (NoiseSource::Sigma, Some(mean_square(sigma).sqrt())),
        (Errors::Stated, None) => (NoiseSource::Likelihood, None),
        (Errors::Exact, _) => (NoiseSource::None, Some(0.0)),
        (Errors::NoLikelihood, _) if observation.is_exact() => (NoiseSource::None, Some(0.0)),
        (Errors::Made(noise), _) => (NoiseSource::Stated, Some(noise)),
        (Errors::NoLikelihood, _) if made.is_some() => (NoiseSource::Stated, made),
        (Errors::Estimated | Errors::NoLikelihood, _) => (NoiseSource::Residuals, None),
    };
    Noise { observation: name(), source, sd, ..Noise::default() }
}

/// The noise levels that nobody stated: s² = Σ r²/(n - p), over all observations that share one.
fn estimate(
    observations: &mut [Noise],
    problem: &Problem,
    joint: &JointLikelihood,
    sites: &[Sites],
    values: &[Vec<f64>],
    fitted: &Fitted,
) {
    let grouped: Vec<usize> = joint.groups().iter().flat_map(|group| group.members.clone()).collect();
    let alone = (0..observations.len()).filter(|o| !grouped.contains(o)).map(|o| (vec![o], vec![1.0]));
    let groups = joint.groups().iter().map(|group| (group.members.clone(), group.variances.clone()));
    for (members, variances) in groups.chain(alone.collect::<Vec<_>>()) {
        let found =
            |o: &usize| observations[*o].source != NoiseSource::Residuals || observations[*o].sd.is_some();
        if members.iter().any(found) {
            continue;
        }
        let (mut squares, mut freedom) = (0.0, 0.0);
        for (&o, variance) in members.iter().zip(&variances) {
            let Some(part) = sites[o].parts.last() else { continue };
            let sigma = |i: usize| part.sigma.as_ref().map_or(1.0, |sigma| sigma[i]);
            let likelihood = &problem.observations[o].likelihood;
            let residuals = values[o].iter().zip(&part.data).enumerate();
            let residual =
                |(i, (&value, &data)): (usize, (&f64, &f64))| likelihood.residual(value, data, sigma(i));
            squares += residuals.filter_map(residual).map(|r| r * r).sum::<f64>() / variance;
            freedom += part.data.len() as f64 - fitted.of(o);
        }
        for (&o, variance) in members.iter().zip(&variances) {
            let noise = &mut observations[o];
            if freedom >= FEWEST {
                let sd = (squares / freedom * variance).sqrt();
                // Of a mean of squares with so many degrees of freedom.
                (noise.sd, noise.sd_error) = (Some(sd), Some(sd / (2.0 * freedom).sqrt()));
            }
            noise.freedom = freedom.max(0.0);
        }
    }
}
