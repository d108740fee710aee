//! Whether the model fits the data.

use super::json::{Named, named, number};
use serde::{Deserialize, Serialize};

/// Whether the model fits the data, observation by observation and in all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Goodness {
    /// Each observation.
    #[serde(with = "named")]
    pub observations: Vec<ObservationFit>,
    /// Chi-square over all data whose errors are stated, if there are such.
    pub total: Option<ChiSquare>,
}

/// How well an observation is fitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObservationFit {
    /// The observation.
    #[serde(skip)]
    pub name: String,
    /// Chi-square, where the size of errors is stated.
    pub chi_square: Option<ChiSquare>,
    /// Tests of the residuals for anything but noise.
    pub tests: Vec<ResidualTest>,
    /// Residuals that normal errors do not explain, the largest first.
    pub outliers: Vec<Outlier>,
    /// Rows of the data, by number from 1, that repeat an earlier row to the last digit, more than rounding explains.
    pub repeated_rows: Vec<usize>,
    /// Whether the data have no noise: stated so, or residuals no larger than the error of the solver.
    pub noise_free: bool,
    /// Why the residuals were not tested, if they were not.
    pub untested: Option<String>,
}

/// A sum of squares that has a chi-square distribution if the model is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChiSquare {
    /// The sum.
    #[serde(deserialize_with = "number")]
    pub value: f64,
    /// Its degrees of freedom: data less what was fitted to them.
    #[serde(deserialize_with = "number")]
    pub freedom: f64,
    /// The probability of a sum as large as this or larger.
    #[serde(deserialize_with = "number")]
    pub p: f64,
}

/// A test of residuals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResidualTest {
    /// Which one.
    pub kind: TestKind,
    /// The coordinate along which neighbours were compared, if it was one.
    pub along: Option<String>,
    /// What was computed: in standard deviations from what noise makes, or chi-square.
    #[serde(deserialize_with = "number")]
    pub statistic: f64,
    /// The probability of a value as far out as this.
    #[serde(deserialize_with = "number")]
    pub p: f64,
    /// That probability with Holm's correction for the number of tests.
    #[serde(deserialize_with = "number")]
    pub adjusted_p: f64,
}

/// Tests of residuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestKind {
    /// Too few changes of sign along a coordinate (Wald and Wolfowitz).
    Runs,
    /// Neighbours along a coordinate are alike.
    LagOne,
    /// Neighbours in the plane or in space are alike (Moran's I).
    Neighbours,
    /// Skewness and kurtosis are not those of a normal distribution (D'Agostino and Pearson).
    Normality,
    /// Residuals differ more between places than at one place (F test of lack of fit).
    LackOfFit,
}

impl TestKind {
    /// What it found, to follow the words "the residuals".
    pub fn finding(self) -> &'static str {
        match self {
            TestKind::Runs => "keep their sign for too long",
            TestKind::LagOne => "resemble their neighbours",
            TestKind::Neighbours => "resemble their neighbours",
            TestKind::Normality => "are not normal",
            TestKind::LackOfFit => "differ more between places than where they are repeated",
        }
    }
}

/// A residual that normal errors do not explain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// The row of the data, from 1.
    pub row: usize,
    /// (data - value)/sigma.
    #[serde(deserialize_with = "number")]
    pub residual: f64,
}

impl Goodness {
    /// All tests of residuals.
    pub fn tests(&self) -> impl Iterator<Item = (&ObservationFit, &ResidualTest)> {
        self.observations.iter().flat_map(|fit| fit.tests.iter().map(move |test| (fit, test)))
    }
}

impl Named for ObservationFit {
    fn name(&self) -> &str {
        &self.name
    }

    fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}
