//! What is known of an unknown number before the data: densities in the unknown as it is stated, with the parameters of Stan.

use rand::{Rng, RngExt};
use rand_distr::{Beta, Cauchy, Distribution, Exp1, Gamma, StandardNormal, StandardUniform};
use std::fmt;

/// A prior density of an unknown number, up to its normalisation within the number's bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prior {
    /// Normal, by mean and standard deviation.
    Normal(f64, f64),
    /// The logarithm is normal, by mean and standard deviation of the logarithm.
    LogNormal(f64, f64),
    /// Uniform between two values.
    Uniform(f64, f64),
    /// Half of a normal density about zero, by its standard deviation.
    HalfNormal(f64),
    /// Half of a Cauchy density about zero, by its scale.
    HalfCauchy(f64),
    /// Gamma, by shape and rate.
    Gamma(f64, f64),
    /// Beta, by both shapes.
    Beta(f64, f64),
    /// The inverse has a gamma density; by shape and scale.
    InverseGamma(f64, f64),
    /// Exponential, by its rate.
    Exponential(f64),
}

/// Minus the logarithm of a density, with its derivatives by the number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriorAt {
    /// The value, without the normalisation.
    pub value: f64,
    /// The derivative.
    pub slope: f64,
    /// The second derivative.
    pub curvature: f64,
}

impl Prior {
    /// The names in problem files, with the number of parameters of each.
    pub(crate) const NAMES: [(&'static str, usize); 9] = [
        ("normal", 2),
        ("lognormal", 2),
        ("uniform", 2),
        ("half-normal", 1),
        ("half-cauchy", 1),
        ("gamma", 2),
        ("beta", 2),
        ("inverse-gamma", 2),
        ("exponential", 1),
    ];

    /// The prior of a name with its parameters; what is wrong with these if they are no density's.
    pub(crate) fn named(name: &str, parameters: &[f64]) -> Result<Prior, String> {
        let positive = |which: &str, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(value),
            false => Err(format!("the {which} of `{name}` must be above zero, found {value:?}")),
        };
        match (name, parameters) {
            ("normal", &[mean, sd]) => Ok(Prior::Normal(mean, positive("standard deviation", sd)?)),
            ("lognormal", &[mu, sigma]) => Ok(Prior::LogNormal(mu, positive("standard deviation", sigma)?)),
            ("uniform", &[lo, hi]) if lo < hi => Ok(Prior::Uniform(lo, hi)),
            ("uniform", _) => Err("the range of `uniform` must go upwards".to_owned()),
            ("half-normal", &[sd]) => Ok(Prior::HalfNormal(positive("standard deviation", sd)?)),
            ("half-cauchy", &[scale]) => Ok(Prior::HalfCauchy(positive("scale", scale)?)),
            ("gamma", &[shape, rate]) => Ok(Prior::Gamma(positive("shape", shape)?, positive("rate", rate)?)),
            ("beta", &[a, b]) => Ok(Prior::Beta(positive("first shape", a)?, positive("second shape", b)?)),
            ("inverse-gamma", &[shape, scale]) => {
                Ok(Prior::InverseGamma(positive("shape", shape)?, positive("scale", scale)?))
            }
            ("exponential", &[rate]) => Ok(Prior::Exponential(positive("rate", rate)?)),
            _ => Err(format!("`{name}` has another number of parameters")),
        }
    }

    /// Where the density is not zero.
    pub fn support(&self) -> (f64, f64) {
        match *self {
            Prior::Normal(..) => (f64::NEG_INFINITY, f64::INFINITY),
            Prior::Uniform(lo, hi) => (lo, hi),
            Prior::Beta(..) => (0.0, 1.0),
            _ => (0.0, f64::INFINITY),
        }
    }

    /// Minus the logarithm of the density at a value; infinite outside its support.
    pub fn at(&self, x: f64) -> PriorAt {
        let (lo, hi) = self.support();
        if !(lo..=hi).contains(&x) {
            return PriorAt { value: f64::INFINITY, slope: 0.0, curvature: 0.0 };
        }
        let (value, slope, curvature) = match *self {
            Prior::Normal(mean, sd) => quadratic(x - mean, sd),
            Prior::HalfNormal(sd) => quadratic(x, sd),
            Prior::Uniform(..) => (0.0, 0.0, 0.0),
            Prior::LogNormal(mu, sigma) => {
                let (l, v) = (x.ln() - mu, sigma * sigma);
                (x.ln() + l * l / (2.0 * v), (1.0 + l / v) / x, (1.0 / v - 1.0 - l / v) / (x * x))
            }
            Prior::HalfCauchy(s) => {
                let d = s * s + x * x;
                ((d / (s * s)).ln(), 2.0 * x / d, 2.0 * (s * s - x * x) / (d * d))
            }
            Prior::Gamma(shape, rate) => {
                let a = shape - 1.0;
                (rate * x - a * x.ln(), rate - a / x, a / (x * x))
            }
            Prior::InverseGamma(shape, scale) => {
                let a = shape + 1.0;
                (scale / x + a * x.ln(), a / x - scale / (x * x), 2.0 * scale / x.powi(3) - a / (x * x))
            }
            Prior::Beta(a, b) => {
                let (p, q, y) = (a - 1.0, b - 1.0, 1.0 - x);
                (-p * x.ln() - q * y.ln(), q / y - p / x, p / (x * x) + q / (y * y))
            }
            Prior::Exponential(rate) => (rate * x, rate, 0.0),
        };
        PriorAt { value, slope, curvature }
    }
}

impl Distribution<f64> for Prior {
    fn sample<R: Rng + ?Sized>(&self, random: &mut R) -> f64 {
        const SOUND: &str = "the parameters were checked";
        match *self {
            Prior::Normal(mean, sd) => mean + sd * random.sample::<f64, _>(StandardNormal),
            Prior::LogNormal(mu, sigma) => (mu + sigma * random.sample::<f64, _>(StandardNormal)).exp(),
            Prior::Uniform(lo, hi) => lo + (hi - lo) * random.sample::<f64, _>(StandardUniform),
            Prior::HalfNormal(sd) => sd * random.sample::<f64, _>(StandardNormal).abs(),
            Prior::HalfCauchy(scale) => Cauchy::new(0.0, scale).expect(SOUND).sample(random).abs(),
            // By shape and scale there.
            Prior::Gamma(shape, rate) => Gamma::new(shape, rate.recip()).expect(SOUND).sample(random),
            Prior::InverseGamma(shape, scale) => {
                Gamma::new(shape, scale.recip()).expect(SOUND).sample(random).recip()
            }
            Prior::Beta(a, b) => Beta::new(a, b).expect(SOUND).sample(random),
            Prior::Exponential(rate) => random.sample::<f64, _>(Exp1) / rate,
        }
    }
}

/// As in a problem file.
impl fmt::Display for Prior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Prior::Normal(mean, sd) => write!(f, "normal({mean}, {sd})"),
            Prior::LogNormal(mu, sigma) => write!(f, "lognormal({mu}, {sigma})"),
            Prior::Uniform(lo, hi) => write!(f, "uniform({lo}, {hi})"),
            Prior::HalfNormal(sd) => write!(f, "half-normal({sd})"),
            Prior::HalfCauchy(scale) => write!(f, "half-cauchy({scale})"),
            Prior::Gamma(shape, rate) => write!(f, "gamma({shape}, {rate})"),
            Prior::Beta(a, b) => write!(f, "beta({a}, {b})"),
            Prior::InverseGamma(shape, scale) => write!(f, "inverse-gamma({shape}, {scale})"),
            Prior::Exponential(rate) => write!(f, "exponential({rate})"),
        }
    }
}

/// Of a normal density, at a distance from its mean.
fn quadratic(distance: f64, sd: f64) -> (f64, f64, f64) {
    let v = sd * sd;
    (distance * distance / (2.0 * v), distance / v, 1.0 / v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    const ALL: [Prior; 9] = [
        Prior::Normal(1.0, 0.5),
        Prior::LogNormal(-0.3, 0.7),
        Prior::Uniform(-1.0, 4.0),
        Prior::HalfNormal(2.0),
        Prior::HalfCauchy(0.5),
        Prior::Gamma(2.5, 3.0),
        Prior::Beta(2.0, 3.5),
        Prior::InverseGamma(3.0, 1.5),
        Prior::Exponential(0.7),
    ];

    /// What is shown is what a problem file has.
    #[test]
    fn names_are_those_of_the_file() {
        for prior in ALL {
            let text = prior.to_string();
            let (name, rest) = text.split_once('(').unwrap();
            let parameters: Vec<f64> =
                rest.trim_end_matches(')').split(", ").map(|number| number.parse().unwrap()).collect();
            assert_eq!(Prior::named(name, &parameters), Ok(prior));
        }
        assert!(
            Prior::named("gamma", &[0.0, 1.0]).unwrap_err().contains("shape of `gamma` must be above zero")
        );
    }

    #[test]
    fn slopes_and_curvatures_are_derivatives() {
        for prior in ALL {
            for x in [0.2, 0.4, 0.8] {
                let h = 1e-4;
                let [below, at, above] = [x - h, x, x + h].map(|x| prior.at(x));
                let slope = (above.value - below.value) / (2.0 * h);
                let curvature = (above.value - 2.0 * at.value + below.value) / (h * h);
                assert!((at.slope - slope).abs() < 1e-5 * (1.0 + slope.abs()), "{prior:?} at {x}");
                assert!(
                    (at.curvature - curvature).abs() < 1e-4 * (1.0 + curvature.abs()),
                    "{prior:?} at {x}"
                );
            }
        }
    }

    /// Of 20,000 draws each a part falls below a value that differs from the density's integral up to there by at most four
    /// binomial standard deviations, 0.014.
    #[test]
    fn draws_have_the_density() {
        const COUNT: usize = 20_000;
        let mut random = rand_pcg::Pcg64::seed_from_u64(5);
        for prior in ALL {
            let draws: Vec<f64> = (0..COUNT).map(|_| prior.sample(&mut random)).collect();
            // Tails are integrated over in the coordinate x = s/(1 - |s|).
            let mass = |to: f64| -> f64 {
                let node = |i: usize| (f64::from(i as u32) + 0.5) / 50_000.0 - 1.0;
                let term = |s: f64| {
                    let x = s / (1.0 - s.abs());
                    if x < to { (-prior.at(x).value).exp() / (1.0 - s.abs()).powi(2) } else { 0.0 }
                };
                (0..100_000).map(|i| term(node(i))).sum()
            };
            for x in [0.2, 0.5, 1.0] {
                let below = draws.iter().filter(|draw| **draw < x).count() as f64 / COUNT as f64;
                let part = mass(x) / mass(f64::INFINITY);
                assert!((below - part).abs() < 0.014, "{prior:?} below {x}: {below}, {part}");
            }
        }
    }

    /// Modes by the textbook: exp(mu - sigma²), (shape - 1)/rate, (a - 1)/(a + b - 2), scale/(shape + 1).
    #[test]
    fn densities_are_largest_at_their_modes() {
        for (prior, mode) in [
            (Prior::LogNormal(-0.3, 0.7), (-0.3_f64 - 0.49).exp()),
            (Prior::Gamma(2.5, 3.0), 0.5),
            (Prior::Beta(2.0, 3.5), 1.0 / 3.5),
            (Prior::InverseGamma(3.0, 1.5), 0.375),
        ] {
            assert!(prior.at(mode).slope.abs() < 1e-12, "{prior:?}");
        }
        assert_eq!(Prior::Gamma(2.5, 3.0).at(-0.1).value, f64::INFINITY);
    }
}
