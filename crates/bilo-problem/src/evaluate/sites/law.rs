//! What is made of one value beside its datum.

use crate::diagnostic::{Origin, Result};
use crate::{Constant, Formula, Problem};
use bilo_expr::{Expr, Graph, Leaf, Scope, Tape, lower};

/// Probabilities nearer to 0 or 1 than this count as this near: their logarithm stays finite.
const CERTAIN: f64 = 1e-6;

/// A mean of counts, or a value whose logarithm is taken, counts as at least this.
const LEAST_MEAN: f64 = 1e-12;

/// l(value, data, sigma), written in the language of problem files; sigma is the number that the law has, a standard deviation
/// or another.
#[derive(Clone, Debug)]
pub struct Law {
    density: Formula,
    /// The expected second derivative by the value; none to take the second derivative as it is.
    information: Option<Formula>,
    /// Further names.
    numbers: Vec<Constant>,
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
    pub(super) fn bernoulli() -> Law {
        let p = format!("min(max(value, {CERTAIN:?}), 1 - {CERTAIN:?})");
        let density = format!("-2*(data*log({p}) + (1 - data)*log(1 - {p}))");
        Law::new(&density, &format!("2/({p}*(1 - {p}))"), &[])
    }

    /// Counts, up to what does not depend on the value.
    pub(super) fn poisson() -> Law {
        let mean = format!("max(value, {LEAST_MEAN:?})");
        Law::new(&format!("2*({mean} - data*log({mean}))"), &format!("2/{mean}"), &[])
    }

    /// Counts of variance value + value²/sigma.
    pub(super) fn negative_binomial() -> Law {
        let mean = format!("max(value, {LEAST_MEAN:?})");
        let density = format!("-2*(data*log({mean}/({mean} + sigma)) - sigma*log(1 + {mean}/sigma))");
        Law::new(&density, &format!("2/({mean} + {mean}^2/sigma)"), &[])
    }

    /// So many of `sigma` trials, up to what does not depend on the value.
    pub(super) fn binomial() -> Law {
        let p = format!("min(max(value, {CERTAIN:?}), 1 - {CERTAIN:?})");
        let density = format!("-2*(data*log({p}) + (sigma - data)*log(1 - {p}))");
        Law::new(&density, &format!("2*sigma/({p}*(1 - {p}))"), &[])
    }

    /// Normal errors of logarithms.
    pub(super) fn log_normal() -> Law {
        let mean = format!("max(value, {LEAST_MEAN:?})");
        Law::new(&format!("(log({mean}/data)/sigma)^2"), &format!("2/(sigma*{mean})^2"), &[])
    }

    /// Normal errors beyond limits of which nothing is known but that they are. The information is that of the mean of a
    /// censored normal distribution: 1/sigma² times 1 - Φ(z) + φ(z) (z + φ(z)/Φ(z)) for each limit, in place of 1.
    pub(super) fn censored(below: Option<f64>, above: Option<f64>) -> Law {
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
    pub(super) fn huber(threshold: f64) -> Law {
        let (core, tails) = ("sqrt(2*pi)*erf(k/sqrt(2))", "2*exp(-k^2/2)/k");
        let r = "abs((value - data)/sigma)";
        let density = format!("if({r} < k, {r}^2, 2*k*{r} - k^2)");
        Law::new(&density, &format!("2/sigma^2*{core}/({core} + {tails})"), &[("k", threshold)])
    }

    pub(super) fn student(freedom: f64) -> Law {
        let density = "(nu + 1)*log(1 + ((value - data)/sigma)^2/nu)";
        Law::new(density, "2*(nu + 1)/((nu + 3)*sigma^2)", &[("nu", freedom)])
    }

    /// The expected number of particles. The information of the whole process is put here,
    /// ∫ (du/dtheta)²/u.
    pub(super) fn expected_number() -> Law {
        Law::new("2*value", "2/value", &[])
    }

    /// A particle where the intensity is `value`.
    pub(super) fn particle() -> Law {
        Law::new("-2*log(value)", "0", &[])
    }

    pub(super) fn custom(problem: &Problem, density: &Formula) -> Law {
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
    pub(super) fn tape(&self) -> Result<Tape> {
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
