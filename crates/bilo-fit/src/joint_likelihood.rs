//! How the data of all observations count together.
//!
//! Each observation has a term t, a mean over its n data. Where the errors' standard deviations are known, t is the mean of
//! (r/sigma)², or 2/n times a negative log-likelihood, and all terms together are n t/N, with N the number of all data: twice
//! the negative log-likelihood per datum. Where a standard deviation s is not known it is estimated with the unknowns:
//! s² = t at the minimum of n log t, the concentrated likelihood, in place of n t.
//!
//! The minimum does not change if the sum is multiplied by a number, or mapped by an increasing function, but the meaning
//! of a regulariser's weight does. So where no datum states its sigma the loss is a mean square in the units of the data:
//! for one observation the mean of its squares, for several that are weighed against each other their weighted geometric
//! mean, which has the minimum of Σ n log t. Beside priors the loss is always 2/N times a negative log-likelihood.

use bilo_problem::diagnostic::{Diagnostic, Result};
use bilo_problem::{Data, Likelihood, Observation, Problem, Sigma, Table};

/// An observation with fewer data than this beyond the number of unknowns may be interpolated, and tells nothing of its
/// own noise.
const FEWEST: usize = 5;

/// A mean square smaller than this part of the data's own is no noise, but what solvers leave.
const ROUNDING: f64 = 1e-12;

/// Where the size of an observation's errors is known from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Errors {
    /// Its likelihood has it: a column or a number `sigma`, or a law that knows it, or finds it with the values.
    Stated,
    /// The noise of synthetic data.
    Made(f64),
    /// Nobody knows it.
    Estimated,
    /// There are none: synthetic data without noise.
    Exact,
    /// The loss is no likelihood.
    NoLikelihood,
}

impl Errors {
    /// Those of an observation with its data.
    pub fn of(observation: &Observation, table: &Table) -> Errors {
        match (&observation.likelihood, &observation.data) {
            (Likelihood::MeanSquare | Likelihood::RelativeL2, _) => Errors::NoLikelihood,
            (normal, _) if normal.is_normal() && observation.sigma == Sigma::Estimated => Errors::Estimated,
            (normal, _) if normal.is_normal() && table.sigma.is_some() => Errors::Stated,
            (normal, Data::Synthetic { noise, .. }) if normal.is_normal() && *noise > 0.0 => {
                Errors::Made(*noise)
            }
            (normal, _) if normal.is_normal() && observation.is_exact() => Errors::Exact,
            (normal, _) if normal.is_normal() => Errors::Estimated,
            _ => Errors::Stated,
        }
    }
}

/// The data loss as a function of the terms of all observations.
#[derive(Clone, Debug, PartialEq)]
pub struct JointLikelihood {
    /// What multiplies the term of each observation whose noise is not estimated; zero for the others.
    fixed: Vec<f64>,
    /// Observations that share an unknown noise level.
    groups: Vec<NoiseGroup>,
    /// What the geometric mean of the groups' mean squares is multiplied by; none if other data count beside them.
    mean_square: Option<f64>,
    /// The number of all data that have a likelihood.
    total: f64,
    /// What the log-likelihood is made of, for each observation whose noise is not estimated.
    logarithms: Vec<Logarithm>,
}

/// Minus the log-likelihood of an observation: `factor` times its term, or times the logarithm of that, and a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Logarithm {
    factor: f64,
    constant: f64,
    /// The mean square below which there is no noise, where the logarithm is taken.
    of_logarithm: Option<f64>,
}

/// Observations of which one noise level is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseGroup {
    /// The observations, by number.
    pub members: Vec<usize>,
    /// The size of each one's errors beside the others', as a variance.
    pub variances: Vec<f64>,
    /// The share of each in the mean square.
    shares: Vec<f64>,
    /// The part of all data, by number and weight.
    part: f64,
    /// The mean square below which there is no noise.
    least: f64,
    /// Number of the data, by weight.
    weighted: f64,
    /// What does not depend on the noise level in minus the log-likelihood.
    constant: f64,
}

impl JointLikelihood {
    /// How the data of a problem count together.
    pub fn new(problem: &Problem, tables: &[Table]) -> JointLikelihood {
        let priors = problem.has_priors();
        let errors: Vec<Errors> =
            problem.observations.iter().zip(tables).map(|(o, table)| Errors::of(o, table)).collect();
        let count = |o: usize| tables[o].values.len().max(1) as f64;
        let weight = |o: usize| problem.observations[o].weight;
        let likelihoods: Vec<usize> = (0..errors.len())
            .filter(|&o| !matches!(errors[o], Errors::NoLikelihood | Errors::Exact))
            .collect();
        let total: f64 = likelihoods.iter().map(|&o| count(o)).sum();
        let made = |o: &usize| matches!(errors[*o], Errors::Made(_));
        let precision = |o: usize| match errors[o] {
            Errors::Made(noise) => noise.powi(-2),
            _ => 1.0,
        };
        // Where all noise is that of synthetic data the loss stays a mean square.
        let unit = match likelihoods.iter().all(made) && !priors {
            true => likelihoods.iter().map(|&o| count(o) * precision(o)).sum(),
            false => total,
        };
        let fixed = |o: usize| match errors[o] {
            Errors::NoLikelihood | Errors::Exact => weight(o),
            Errors::Stated | Errors::Made(_) => weight(o) * (count(o) * precision(o) / unit),
            Errors::Estimated => 0.0,
        };
        let estimated: Vec<usize> = (0..errors.len()).filter(|&o| errors[o] == Errors::Estimated).collect();
        let alone = estimated.len() == likelihoods.len() && !priors;
        let weighted: f64 = estimated.iter().map(|&o| weight(o) * count(o)).sum();
        let groups = grouped(problem, tables, &estimated);
        let groups = groups.into_iter().map(|members| NoiseGroup::new(problem, tables, members, total));
        JointLikelihood {
            fixed: (0..errors.len()).map(fixed).collect(),
            groups: groups.collect(),
            mean_square: (alone && !estimated.is_empty()).then_some(weighted / total),
            total,
            logarithms: (0..errors.len())
                .map(|o| Logarithm::new(&problem.observations[o], &tables[o], errors[o]))
                .collect(),
        }
    }

    /// Minus the log-likelihood of all data, its constants included as far as the laws of errors have any; with noise levels
    /// that are not known at their best.
    pub fn negative_log_likelihood(&self, terms: &[f64]) -> f64 {
        let each = self.logarithms.iter().zip(terms);
        let fixed: f64 = each
            .map(|(of, term)| match of.of_logarithm {
                Some(least) => of.factor * (term + least).ln() + of.constant,
                None => of.factor * term + of.constant,
            })
            .sum();
        let group = |group: &NoiseGroup| {
            let square = group.mean_square(terms);
            group.weighted / 2.0 * ((std::f64::consts::TAU * square).ln() + 1.0) + group.constant
        };
        fixed + self.groups.iter().map(group).sum::<f64>()
    }

    /// The derivatives of minus the log-likelihood by the terms.
    pub fn negative_log_likelihood_slopes(&self, terms: &[f64]) -> Vec<f64> {
        let each = self.logarithms.iter().zip(terms);
        let mut slopes: Vec<f64> = each
            .map(|(of, term)| of.of_logarithm.map_or(of.factor, |least| of.factor / (term + least)))
            .collect();
        for group in &self.groups {
            let factor = group.weighted / 2.0 / group.mean_square(terms);
            group.members.iter().zip(&group.shares).for_each(|(&o, share)| slopes[o] = factor * share);
        }
        slopes
    }

    /// The number of all data that have a likelihood.
    pub fn count(&self) -> f64 {
        self.total
    }

    /// The loss.
    pub fn loss(&self, terms: &[f64]) -> f64 {
        let fixed: f64 = self.fixed.iter().zip(terms).map(|(factor, term)| factor * term).sum();
        let logarithms = || self.groups.iter().map(|group| group.part * group.mean_square(terms).ln());
        let parts: f64 = self.groups.iter().map(|group| group.part).sum();
        fixed
            + match (self.mean_square, &self.groups[..]) {
                (Some(weight), [only]) => weight * only.sum(terms),
                (Some(weight), _) => weight * (logarithms().sum::<f64>() / parts).exp(),
                (None, _) => logarithms().sum(),
            }
    }

    /// Its derivatives by the terms.
    pub fn slopes(&self, terms: &[f64]) -> Vec<f64> {
        let mut slopes = self.fixed.clone();
        let parts: f64 = self.groups.iter().map(|group| group.part).sum();
        let all = if self.is_linear() { 0.0 } else { self.loss(terms) - self.fixed_part(terms) };
        for group in &self.groups {
            let factor = match (self.mean_square, self.groups.len()) {
                (Some(weight), 1) => weight,
                (Some(_), _) => all * group.part / parts / group.mean_square(terms),
                (None, _) => group.part / group.mean_square(terms),
            };
            group.members.iter().zip(&group.shares).for_each(|(&o, share)| slopes[o] = factor * share);
        }
        slopes
    }

    fn fixed_part(&self, terms: &[f64]) -> f64 {
        self.fixed.iter().zip(terms).map(|(factor, term)| factor * term).sum()
    }

    /// Whether its slopes are the same everywhere.
    pub fn is_linear(&self) -> bool {
        self.groups.is_empty() || (self.groups.len() == 1 && self.mean_square.is_some())
    }

    /// The observations whose noise levels are estimated, together where they have one level.
    pub fn groups(&self) -> &[NoiseGroup] {
        &self.groups
    }

    /// An error if a prior meets a loss that is no likelihood, or if an unknown noise level would have to be estimated from too few data beside others whose errors are stated:
    /// the fit could follow them exactly, and call their noise zero.
    pub fn require_enough(&self, problem: &Problem, tables: &[Table]) -> Result<()> {
        let enough = problem.unknowns.len() + FEWEST;
        let count = |group: &NoiseGroup| group.members.iter().map(|&o| tables[o].values.len()).sum::<usize>();
        let priors = problem.has_priors();
        let no_scale =
            |o: &Observation| matches!(o.likelihood, Likelihood::MeanSquare | Likelihood::RelativeL2);
        if let Some(observation) = problem.observations.iter().find(|o| priors && no_scale(o)) {
            let message = format!(
                "a prior cannot be weighed against `{}`, which says nothing of the size of errors",
                observation.likelihood.name()
            );
            let help = "write `likelihood = \"gaussian\"`, with or without a `sigma`";
            return Err(Diagnostic::new(message, observation.value.origin.clone()).help(help).into());
        }
        let beside = self.mean_square.is_none() && !priors;
        let few = self.groups.iter().find(|group| beside && count(group) < enough);
        let Some(group) = few else { return Ok(()) };
        let observation = &problem.observations[group.members[0]];
        let (name, count) = (&observation.name, count(group));
        let message = format!(
            "`{name}` has {count} data, too few to estimate their noise beside data with a stated one"
        );
        let help = format!("write `sigma = ...` in [observation.{name}]");
        Err(Diagnostic::new(message, observation.value.origin.clone()).help(help).into())
    }

    /// A sentence where several observations had to share an unknown noise level.
    pub fn pooled(&self, problem: &Problem) -> Option<String> {
        let group = self.groups.iter().find(|group| group.members.len() > 1)?;
        let names: Vec<&str> = group.members.iter().map(|&o| &problem.observations[o].name[..]).collect();
        Some(format!(
            "too few data to estimate the noise of each of {} alone: one noise level was estimated for all of them; state \
             `sigma` where you know it",
            names.join(", ")
        ))
    }
}

impl Logarithm {
    fn new(observation: &Observation, table: &Table, errors: Errors) -> Logarithm {
        let count = observation.weight * table.values.len().max(1) as f64;
        let normal = count / 2.0 * std::f64::consts::TAU.ln() + of_logarithms(observation, table);
        let known = |noise: f64| Logarithm {
            factor: count / 2.0 / (noise * noise),
            constant: normal + count * noise.ln(),
            of_logarithm: None,
        };
        let made = observation.stated_noise().filter(|_| observation.likelihood == Likelihood::MeanSquare);
        match (errors, made) {
            (Errors::Stated, _) => Logarithm {
                factor: count / 2.0,
                constant: normalisers(observation, table),
                of_logarithm: None,
            },
            (Errors::Made(noise), _) | (Errors::NoLikelihood, Some(noise)) => known(noise),
            // In a group.
            (Errors::Estimated, _) => Logarithm { factor: 0.0, constant: 0.0, of_logarithm: None },
            (Errors::Exact | Errors::NoLikelihood, _) => Logarithm {
                factor: count / 2.0,
                constant: normal + count / 2.0,
                of_logarithm: Some(least(&table.values)),
            },
        }
    }
}

/// What the densities of all data are multiplied by, as minus the logarithm. Where the law's number is found with the values,
/// the term of the observation has it.
fn normalisers(observation: &Observation, table: &Table) -> f64 {
    if observation.has_free_scale(table) {
        return 0.0;
    }
    let scale = observation.stated_scale(table);
    let scale = |i: usize| scale.as_ref().map_or(1.0, |scale| scale[i]);
    let data = table.values.iter().enumerate();
    observation.weight
        * data.map(|(i, &datum)| observation.likelihood.normaliser(datum, scale(i))).sum::<f64>()
}

/// Errors of logarithms have a density in the data themselves that is 1/data times as large.
fn of_logarithms(observation: &Observation, table: &Table) -> f64 {
    match observation.likelihood {
        Likelihood::LogNormal => {
            observation.weight * table.values.iter().map(|value| value.ln()).sum::<f64>()
        }
        _ => 0.0,
    }
}

/// The mean square of values below which there is no noise in them.
fn least(values: &[f64]) -> f64 {
    let square = values.iter().map(|value| value * value).sum::<f64>() / values.len().max(1) as f64;
    (ROUNDING * square).max(f64::MIN_POSITIVE)
}

impl NoiseGroup {
    fn new(problem: &Problem, tables: &[Table], members: Vec<usize>, total: f64) -> NoiseGroup {
        let first = &problem.observations[members[0]].value;
        let alike = members.iter().all(|&o| problem.observations[o].value.text == first.text);
        let spread = |&o: &usize| if alike { 1.0 } else { spread(&tables[o].values) };
        let variances: Vec<f64> = members.iter().map(spread).collect();
        let counts: Vec<f64> = members
            .iter()
            .map(|&o| problem.observations[o].weight * tables[o].values.len().max(1) as f64)
            .collect();
        let weighted: f64 = counts.iter().sum();
        let shares: Vec<f64> = counts
            .iter()
            .zip(&variances)
            .map(|(count, variance)| if weighted > 0.0 { count / weighted / variance } else { 0.0 })
            .collect();
        let least = members.iter().zip(&shares).map(|(&o, share)| share * least(&tables[o].values)).sum();
        let constant = |(k, &o): (usize, &usize)| {
            let sigma = tables[o].sigma.as_deref().unwrap_or_default();
            let relative: f64 = sigma.iter().map(|sigma| sigma.ln()).sum();
            let observation = &problem.observations[o];
            counts[k] / 2.0 * variances[k].ln()
                + observation.weight * relative
                + of_logarithms(observation, &tables[o])
        };
        let constant = members.iter().enumerate().map(constant).sum();
        NoiseGroup { members, variances, shares, part: weighted / total, least, weighted, constant }
    }

    /// Number of its data, by weight.
    pub fn count(&self) -> f64 {
        self.weighted
    }

    fn sum(&self, terms: &[f64]) -> f64 {
        self.members.iter().zip(&self.shares).map(|(&o, share)| share * terms[o]).sum()
    }

    /// The mean square of its errors, where observations have these terms.
    pub fn mean_square(&self, terms: &[f64]) -> f64 {
        self.sum(terms) + self.least
    }
}

/// Observations whose noise levels are estimated: each by itself, or all together where one of them could be interpolated.
fn grouped(problem: &Problem, tables: &[Table], estimated: &[usize]) -> Vec<Vec<usize>> {
    let enough = problem.unknowns.len() + FEWEST;
    let few = |o: &usize| tables[*o].values.len() < enough || !problem.functions.is_empty();
    match estimated {
        [] => vec![],
        _ if estimated.len() > 1 && estimated.iter().any(few) => vec![estimated.to_vec()],
        _ => estimated.iter().map(|&o| vec![o]).collect(),
    }
}

/// The variance of values about their mean, or their mean square if they are all alike; one if they are zero.
fn spread(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = |about: f64| values.iter().map(|value| (value - about).powi(2)).sum::<f64>() / count;
    [square(mean), square(0.0)].into_iter().find(|square| *square > 0.0).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_problem::{Coordinate, DataSpec, PointsSpec, Unknown};

    /// Observations of u with so many data, sigma and weight each.
    fn problem(observations: &[(usize, Sigma, f64)]) -> (Problem, Vec<Table>) {
        let mut builder = Problem::builder("decay")
            .coordinate(Coordinate::time("t", 0.0, 1.0))
            .unknown(Unknown::new("k", 1.0))
            .state("u", "1 + net*t")
            .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 11)]));
        let mut tables = vec![];
        for (number, &(count, sigma, weight)) in observations.iter().enumerate() {
            let values: Vec<f64> = (0..count).map(|i| f64::from(i as u32)).collect();
            let table = Table { coordinates: vec![vec![0.5; count]], values, sigma: None };
            let (name, value) = (format!("o{number}"), format!("{}*u", number + 1));
            builder =
                builder.weighted_observation(&name, &value, DataSpec::table(table), weight).sigma(sigma);
        }
        let problem = builder.build().expect("a valid problem");
        for observation in &problem.observations {
            let Data::Table(table) = &observation.data else { panic!("a table") };
            tables.push(table.clone());
        }
        (problem, tables)
    }

    fn joint(observations: &[(usize, Sigma, f64)]) -> JointLikelihood {
        let (problem, tables) = problem(observations);
        JointLikelihood::new(&problem, &tables)
    }

    #[test]
    fn one_observation_is_its_mean_square_to_the_last_bit() {
        for sigma in [Sigma::OfData, Sigma::Estimated, Sigma::Known(0.3)] {
            for weight in [1.0, 3.0] {
                let one = joint(&[(20, sigma, weight)]);
                assert_eq!((one.loss(&[0.1]), one.slopes(&[0.1])), (weight * 0.1, vec![weight]));
                assert!(one.is_linear());
            }
        }
    }

    #[test]
    fn known_errors_make_chi_square_per_datum() {
        let both = joint(&[(30, Sigma::Known(0.1), 1.0), (10, Sigma::Known(0.2), 1.0)]);
        assert_eq!(both.slopes(&[1.0, 1.0]), vec![0.75, 0.25]);
        assert_eq!(both.loss(&[2.0, 4.0]), 0.75 * 2.0 + 0.25 * 4.0);
    }

    /// The minimum of the geometric mean is that of Σ n log t: the slopes are n/t up to a factor.
    #[test]
    fn unknown_errors_weigh_by_what_is_left_of_them() {
        let both = joint(&[(30, Sigma::OfData, 1.0), (10, Sigma::OfData, 1.0)]);
        let terms = [4.0, 0.25];
        let slopes = both.slopes(&terms);
        assert!((slopes[0] / slopes[1] - (30.0 / 4.0) / (10.0 / 0.25)).abs() < 1e-9);
        assert!((both.loss(&terms) - (0.75 * 4.0_f64.ln() + 0.25 * 0.25_f64.ln()).exp()).abs() < 1e-9);
        assert!(!both.is_linear());
    }

    #[test]
    fn slopes_are_derivatives() {
        let mixed =
            joint(&[(30, Sigma::OfData, 2.0), (12, Sigma::Known(0.5), 1.0), (10, Sigma::Estimated, 1.0)]);
        let pair = joint(&[(30, Sigma::OfData, 2.0), (10, Sigma::Estimated, 1.0)]);
        for (joint, count) in [(mixed, 3), (pair, 2)] {
            let terms: Vec<f64> = [0.3, 1.1, 0.02][..count].to_vec();
            for (o, slope) in joint.slopes(&terms).into_iter().enumerate() {
                let at = |step: f64| {
                    let mut moved = terms.clone();
                    moved[o] += step;
                    joint.loss(&moved)
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - difference).abs() < 1e-6 * slope.abs(), "{slope} {difference}");
            }
        }
    }

    /// By hand: n/2 log(2 pi s²) + n/2 with s² the mean square, and Σ ½ (r/sigma)² + log sigma + ½ log 2 pi.
    #[test]
    fn log_likelihoods_have_their_constants() {
        let tau = std::f64::consts::TAU;
        let estimated = joint(&[(20, Sigma::OfData, 1.0)]).negative_log_likelihood(&[0.3]);
        assert!((estimated - 10.0 * ((tau * 0.3).ln() + 1.0)).abs() < 1e-6, "{estimated}");
        let known = joint(&[(20, Sigma::Known(0.5), 1.0)]).negative_log_likelihood(&[1.2]);
        assert!((known - (10.0 * 1.2 + 20.0 * 0.5_f64.ln() + 10.0 * tau.ln())).abs() < 1e-12, "{known}");
    }

    #[test]
    fn slopes_of_the_likelihood_are_derivatives() {
        let observations =
            [(30, Sigma::OfData, 2.0), (12, Sigma::Known(0.5), 1.0), (10, Sigma::Estimated, 1.0)];
        for count in [1, 3] {
            let joint = joint(&observations[..count]);
            let terms: Vec<f64> = [0.3, 1.1, 0.02][..count].to_vec();
            for (o, slope) in joint.negative_log_likelihood_slopes(&terms).into_iter().enumerate() {
                let at = |step: f64| {
                    let mut moved = terms.clone();
                    moved[o] += step;
                    joint.negative_log_likelihood(&moved)
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - difference).abs() < 1e-6 * slope.abs(), "{slope} {difference}");
            }
        }
    }

    #[test]
    fn few_data_beside_others_need_a_sigma() {
        let few = [(30, Sigma::Known(0.1), 1.0), (4, Sigma::OfData, 1.0)];
        let (problem, tables) = problem(&few);
        let error = JointLikelihood::new(&problem, &tables).require_enough(&problem, &tables).unwrap_err();
        assert!(error.to_string().contains("`o1` has 4 data, too few"), "{error}");
    }

    #[test]
    fn few_data_share_a_noise_level() {
        let (problem, tables) = problem(&[(30, Sigma::OfData, 1.0), (4, Sigma::OfData, 1.0)]);
        let both = JointLikelihood::new(&problem, &tables);
        assert!(both.is_linear() && both.groups().len() == 1);
        let sentence = both.pooled(&problem).expect("one level for both");
        assert!(sentence.contains("each of o0, o1 alone"), "{sentence}");
    }
}
