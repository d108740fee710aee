//! The data loss of one observation: where it is evaluated, and what is made of each value there.
//!
//! Every term is a sum Σ_i weight_i l(value_i, data_i, sigma_i) over places. In these units l is twice a
//! negative log-likelihood, and 1/2 its second derivative, expected over the data, the Fisher information.

use crate::diagnostic::{Origin, Result};
use crate::evaluate::sampling::Sampling;
use crate::{Constant, Data, Formula, Likelihood, Observation, Problem, Sigma, Table};
use bilo_expr::{Expr, Graph, Input, Leaf, Scope, Scratch, Tape, lower};
use std::ops::Range;

/// Probabilities nearer to 0 or 1 than this count as this near: their logarithm stays finite.
const CERTAIN: f64 = 1e-6;

/// A mean of counts, or a value whose logarithm is taken, counts as at least this.
const LEAST_MEAN: f64 = 1e-12;

/// Where an observation is evaluated, and what is made of each value.
#[derive(Clone, Debug)]
pub struct Sites {
    /// Where.
    pub sampling: Sampling,
    /// Neighbouring places that have one law.
    pub parts: Vec<Part>,
    /// The number of data: the loss is twice the negative log-likelihood over this number.
    pub count: f64,
    /// Whether the law says how large errors are.
    pub calibrated: bool,
}

/// Sampling with one law.
#[derive(Clone, Debug)]
pub struct Part {
    /// What is made of each value.
    pub law: Law,
    /// Which of the places.
    pub places: Range<usize>,
    /// The data there.
    pub data: Vec<f64>,
    /// Their standard deviations, one where there are none.
    pub sigma: Option<Vec<f64>>,
    /// The weight of each place.
    pub weights: Vec<f64>,
}

/// l(value, data, sigma), written in the language of problem files.
#[derive(Clone, Debug)]
pub struct Law {
    density: Formula,
    /// The expected second derivative by the value; none to take the second derivative as it is.
    information: Option<Formula>,
    /// Further names.
    numbers: Vec<Constant>,
}

/// What the data make of observed values.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Σ weight l.
    pub term: f64,
    /// Its derivatives by the values.
    pub by_values: Vec<f64>,
    /// Its expected second derivatives by the values.
    pub curvature: Vec<f64>,
}

impl Law {
    fn new(density: &str, information: &str, numbers: &[(&str, f64)]) -> Law {
        let parse = |text: &str| Formula::parse(text, Origin::none()).expect("a formula of this file");
        let constant = |(name, value): &(&str, f64)| Constant { name: (*name).to_owned(), value: *value };
        Law {
            density: parse(density),
            information: Some(parse(information)),
            numbers: numbers.iter().map(constant).collect(),
        }
    }

    /// Normal errors.
    pub fn gaussian() -> Law {
        Law::new("((value - data)/sigma)^2", "2/sigma^2", &[])
    }

    /// |value|, rounded within s of zero. Its curvature is that of the parabola that touches it and lies above
    /// it elsewhere.
    pub fn rounded(s: f64) -> Law {
        Law::new("sqrt(value^2 + s^2) - s", "1/sqrt(value^2 + s^2)", &[("s", s)])
    }

    /// A one with the probability `value`, else a zero.
    fn bernoulli() -> Law {
        let p = format!("min(max(value, {CERTAIN:?}), 1 - {CERTAIN:?})");
        let density = format!("-2*(data*log({p}) + (1 - data)*log(1 - {p}))");
        Law::new(&density, &format!("2/({p}*(1 - {p}))"), &[])
    }

    /// Counts, up to what does not depend on the value.
    fn poisson() -> Law {
        let mean = format!("max(value, {LEAST_MEAN:?})");
        Law::new(&format!("2*({mean} - data*log({mean}))"), &format!("2/{mean}"), &[])
    }

    /// Counts of variance value + value²/k.
    fn negative_binomial(dispersion: f64) -> Law {
        let mean = format!("max(value, {LEAST_MEAN:?})");
        let density = format!("-2*(data*log({mean}/({mean} + k)) - k*log(1 + {mean}/k))");
        Law::new(&density, &format!("2/({mean} + {mean}^2/k)"), &[("k", dispersion)])
    }

    /// Normal errors of logarithms.
    fn log_normal() -> Law {
        let mean = format!("max(value, {LEAST_MEAN:?})");
        Law::new(&format!("(log({mean}/data)/sigma)^2"), &format!("2/(sigma*{mean})^2"), &[])
    }

    /// Normal errors beyond limits of which nothing is known but that they are. The information is that of the mean of a
    /// censored normal distribution: 1/sigma² times 1 - Φ(z) + φ(z) (z + φ(z)/Φ(z)) for each limit, in place of 1.
    fn censored(below: Option<f64>, above: Option<f64>) -> Law {
        let share = |z: &str| format!("(0.5*(1 + erf({z}/sqrt(2))) + 1e-12)");
        // Far out by the asymptotic series, whose next term is 15/z⁶.
        let minus_log = |z: &str| {
            let (far, square) = (format!("max(-({z}), 1)"), format!("max(({z})^2, 1)"));
            let series = format!("1 - 1/{square} + 3/{square}^2");
            format!("if({z} < -5, ({z})^2/2 + log({far}*sqrt(2*pi)) - log({series}), -log({}))", share(z))
        };
        let bell = |z: &str| format!("(exp(-({z})^2/2)/sqrt(2*pi))");
        let mut density = "((value - data)/sigma)^2".to_owned();
        let mut seen = "1".to_owned();
        let limits = [
            (below, "lo", "((lo - value)/sigma)", "data <= lo"),
            (above, "hi", "((value - hi)/sigma)", "data >= hi"),
        ];
        let mut numbers = vec![];
        for (limit, name, z, beyond) in limits {
            let Some(limit) = limit else { continue };
            numbers.push((name, limit));
            density = format!("if({beyond}, 2*({}), {density})", minus_log(z));
            let (share, bell) = (share(z), bell(z));
            seen = format!("{seen} - {share} + {bell}*({z} + {bell}/{share})");
        }
        Law::new(&density, &format!("2/sigma^2*max({seen}, 0)"), &numbers)
    }

    /// Huber's loss. The information is that of the distribution of which it is the likelihood: the
    /// probability of an error below the threshold, per sigma².
    fn huber(threshold: f64) -> Law {
        let (core, tails) = ("sqrt(2*pi)*erf(k/sqrt(2))", "2*exp(-k^2/2)/k");
        let r = "abs((value - data)/sigma)";
        let density = format!("if({r} < k, {r}^2, 2*k*{r} - k^2)");
        Law::new(&density, &format!("2/sigma^2*{core}/({core} + {tails})"), &[("k", threshold)])
    }

    fn student(freedom: f64) -> Law {
        let density = "(nu + 1)*log(1 + ((value - data)/sigma)^2/nu)";
        Law::new(density, "2*(nu + 1)/((nu + 3)*sigma^2)", &[("nu", freedom)])
    }

    /// The expected number of particles. The information of the whole process is put here,
    /// ∫ (du/dtheta)²/u.
    fn expected_number() -> Law {
        Law::new("2*value", "2/value", &[])
    }

    /// A particle where the intensity is `value`.
    fn particle() -> Law {
        Law::new("-2*log(value)", "0", &[])
    }

    fn custom(problem: &Problem, density: &Formula) -> Law {
        Law { density: density.clone(), information: None, numbers: problem.constants.clone() }
    }

    /// l as an expression.
    pub fn density(&self, graph: &mut Graph, value: Expr, data: Expr, sigma: Expr) -> Result<Expr> {
        self.lower(graph, &self.density, [value, data, sigma])
    }

    fn lower(&self, graph: &mut Graph, formula: &Formula, [value, data, sigma]: [Expr; 3]) -> Result<Expr> {
        let mut scope = Scope::new();
        for constant in &self.numbers {
            let number = graph.constant(constant.value);
            scope.bind(&constant.name, number);
        }
        for (name, expression) in [("value", value), ("data", data), ("sigma", sigma)] {
            scope.bind(name, expression);
        }
        lower(&formula.ast, graph, &scope).map_err(|error| formula.error(error))
    }

    /// l, its derivative by the value, and its expected second derivative.
    fn tape(&self) -> Result<Tape> {
        let mut graph = Graph::new();
        let symbols = ["value", "data", "sigma"].map(|name| graph.symbol(name));
        let leaves = symbols.map(|symbol| graph.leaf(symbol));
        let density = self.lower(&mut graph, &self.density, leaves)?;
        let slope = graph.diff(density, symbols[0]);
        let curvature = match &self.information {
            Some(information) => self.lower(&mut graph, information, leaves)?,
            None => graph.diff(slope, symbols[0]),
        };
        let inputs = symbols.map(Leaf::Symbol);
        Ok(Tape::compile(&graph, &[density, slope, curvature], &inputs).expect("all names are given"))
    }
}

impl Sites {
    /// Where an observation with these data is evaluated, at some values of the unknowns: integrals may
    /// have breaks that move with them.
    pub fn new(problem: &Problem, observation: &Observation, table: &Table, thetas: &[f64]) -> Result<Sites> {
        let count = table.values.len();
        let uniform = vec![1.0 / count as f64; count];
        let (law, sigma, weights, calibrated) = match &observation.likelihood {
            Likelihood::Gaussian => {
                let known = table.sigma.is_some() && observation.sigma != Sigma::Estimated;
                (Law::gaussian(), table.sigma.clone(), uniform, known)
            }
            Likelihood::MeanSquare => (Law::gaussian(), None, uniform, false),
            Likelihood::RelativeL2 => {
                let size: f64 = table.values.iter().map(|value| value * value).sum();
                (Law::gaussian(), None, vec![1.0 / size; count], false)
            }
            Likelihood::Bernoulli => (Law::bernoulli(), None, uniform, true),
            Likelihood::Poisson => (Law::poisson(), None, uniform, true),
            Likelihood::NegativeBinomial { dispersion } => {
                (Law::negative_binomial(*dispersion), None, uniform, true)
            }
            Likelihood::LogNormal => {
                let known = table.sigma.is_some() && observation.sigma != Sigma::Estimated;
                (Law::log_normal(), table.sigma.clone(), uniform, known)
            }
            Likelihood::Censored { below, above } => {
                (Law::censored(*below, *above), observation.sigma(table, None), uniform, true)
            }
            Likelihood::Huber { threshold, sigma } => {
                (Law::huber(*threshold), observation.sigma(table, *sigma), uniform, true)
            }
            Likelihood::Student { freedom, sigma } => {
                (Law::student(*freedom), observation.sigma(table, *sigma), uniform, true)
            }
            Likelihood::Custom(density) => {
                (Law::custom(problem, density), table.sigma.clone(), uniform, true)
            }
            Likelihood::PoissonProcess { snapshots, quadrature } => {
                let nodes = quadrature.nodes(problem, thetas)?;
                return Ok(Sites::of_process(table, *snapshots, nodes));
            }
        };
        let part = Part { law, places: 0..count, data: table.values.clone(), sigma, weights };
        Ok(Sites {
            sampling: Sampling::new(problem, observation, table.coordinates.clone())?,
            parts: vec![part],
            count: count as f64,
            calibrated,
        })
    }

    /// (2/N) (M ∫ u - Σ log u(q)) over the N particles q of M snapshots.
    fn of_process(table: &Table, snapshots: f64, nodes: crate::Nodes) -> Sites {
        let (particles, integral) = (table.values.len(), nodes.weights.len());
        // Without a particle the expected number alone counts.
        let count = particles.max(1) as f64;
        let weights = nodes.weights.iter().map(|weight| snapshots * weight / count).collect();
        let expected = Part {
            law: Law::expected_number(),
            places: 0..integral,
            data: vec![0.0; integral],
            sigma: None,
            weights,
        };
        let seen = Part {
            law: Law::particle(),
            places: integral..integral + particles,
            data: table.values.clone(),
            sigma: None,
            weights: vec![1.0 / count; particles],
        };
        let both = nodes.coordinates.into_iter().zip(&table.coordinates);
        Sites {
            sampling: Sampling::local(both.map(|(nodes, own)| [&nodes[..], own].concat()).collect()),
            parts: vec![expected, seen],
            count,
            calibrated: true,
        }
    }

    /// The number of places.
    pub fn len(&self) -> usize {
        self.parts.last().map_or(0, |part| part.places.end)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The data at all places.
    pub fn data(&self) -> impl Iterator<Item = f64> {
        self.parts.iter().flat_map(|part| part.data.iter().copied())
    }

    /// What the data make of values at the places.
    pub fn terms(&self, values: &[f64]) -> Result<Judgement> {
        let mut found = Judgement { term: 0.0, by_values: vec![], curvature: vec![] };
        for part in &self.parts {
            let tape = part.law.tape()?;
            let sigma = part.sigma.as_deref().map_or(Input::Uniform(1.0), Input::Column);
            let inputs = [Input::Column(&values[part.places.clone()]), Input::Column(&part.data), sigma];
            let mut scratch = Scratch::new();
            tape.eval(&inputs, part.places.len(), &mut scratch);
            let weighted = |output: usize| {
                let densities = scratch.output(&tape, output).iter().zip(&part.weights);
                densities.map(|(density, weight)| density * weight)
            };
            found.term += weighted(0).sum::<f64>();
            found.by_values.extend(weighted(1));
            // Where a custom loss bends down the data say nothing that a minimum could use.
            found.curvature.extend(weighted(2).map(|curvature| curvature.max(0.0)));
        }
        Ok(found)
    }
}

impl Observation {
    /// The standard deviation that synthetic data are stated to have.
    pub fn stated_noise(&self) -> Option<f64> {
        match self.data {
            Data::Synthetic { noise, .. } if noise > 0.0 => Some(noise),
            _ => None,
        }
    }

    /// Whether the data are synthetic and have no errors at all.
    pub fn is_exact(&self) -> bool {
        matches!(self.data, Data::Synthetic { noise: 0.0, made: None, .. })
    }

    /// The size of errors for a robust likelihood: of the data, of the likelihood, or as stated.
    fn sigma(&self, table: &Table, sigma: Option<f64>) -> Option<Vec<f64>> {
        let uniform = sigma.or(self.stated_noise()).map(|sigma| vec![sigma; table.values.len()]);
        table.sigma.clone().or(uniform)
    }

    /// Why data cannot be those of the likelihood, if they cannot.
    pub fn data_fault(&self, table: &Table) -> Option<String> {
        let outside = |value: &&f64| !(0.0..=1.0).contains(*value);
        let no_count = |value: &&f64| **value < 0.0 || value.fract() != 0.0;
        match &self.likelihood {
            Likelihood::Poisson | Likelihood::NegativeBinomial { .. } => {
                table.values.iter().find(no_count).map(|value| {
                    let name = self.likelihood.name();
                    format!("data of a `{name}` likelihood must be counts, found {value:?}")
                })
            }
            Likelihood::LogNormal => {
                table.values.iter().find(|value| **value <= 0.0).map(|value| {
                    format!("data of a `lognormal` likelihood must be positive, found {value:?}")
                })
            }
            Likelihood::Bernoulli => table.values.iter().find(outside).map(|value| {
                format!("data of a `bernoulli` likelihood must be from 0 to 1, found {value:?}")
            }),
            Likelihood::RelativeL2 if table.values.iter().all(|&value| value == 0.0) => {
                Some("data of a `relative-l2` likelihood must not all be zero".to_owned())
            }
            _ => None,
        }
    }
}
