//! Searches where the first step goes too far, counted in solutions.

use super::*;

/// The squares of a curve of the only unknown, without data.
struct Curve {
    unknowns: Vec<Unknown>,
    value: fn(f64) -> f64,
    slope: fn(f64) -> f64,
    /// Where it was evaluated, in order.
    tried: Vec<f64>,
}

struct At {
    eta: Vec<f64>,
    value: f64,
    loss: LossTerms,
}

impl Evaluated for At {
    fn eta(&self) -> &[f64] {
        &self.eta
    }

    fn loss_terms(&self) -> &LossTerms {
        &self.loss
    }

    fn values(&self) -> Vec<Vec<f64>> {
        vec![vec![self.value]]
    }
}

impl Curve {
    fn at(&self, eta: &[f64]) -> At {
        let value = (self.value)(eta[0]);
        let loss = value * value;
        let terms = vec![loss];
        let loss = LossTerms {
            terms,
            by_values: vec![vec![2.0 * value]],
            roots: vec![1.0],
            loss,
            weights: vec![1.0],
            size: loss,
        };
        At { eta: eta.to_vec(), value, loss }
    }

    fn minimised(&mut self, from: f64) -> Optimum<At> {
        let start = self.at(&[from]);
        minimise(self, start, &mut |_| None).expect("nothing fails")
    }
}

impl ReducedProblem for Curve {
    type Evaluation = At;

    fn unknowns(&self) -> &[Unknown] {
        &self.unknowns
    }

    fn evaluate(&mut self, _near: &At, eta: &[f64]) -> Result<At> {
        self.tried.push(eta[0]);
        Ok(self.at(eta))
    }

    fn observed(&mut self, at: &At) -> Result<Vec<Sensitivities>> {
        Ok(vec![Sensitivities { values: vec![at.value], slopes: vec![vec![(self.slope)(at.eta[0])]] }])
    }
}

/// From 2 the parabola of atan² has its minimum at -3.5, farther from zero than where it began, and the next at more than 10.
#[test]
fn a_rejected_step_is_not_tried_again() {
    let unknowns = vec![Unknown::new("x", 2.0)];
    let mut curve = Curve { unknowns, value: f64::atan, slope: |x| 1.0 / (1.0 + x * x), tried: vec![] };
    let optimum = curve.minimised(2.0);
    assert!(optimum.stop == Stop::Converged && optimum.evaluation.eta()[0].abs() < 1e-6, "{:?}", curve.tried);
    let (first, second) = (curve.tried[0] - 2.0, curve.tried[1] - 2.0);
    let shorter = SHORTER * first..=SHORTER / FIRMER * first;
    assert!(first < -5.0 && shorter.contains(&second), "{:?}", curve.tried);
    // One step too many, three that stay as short as the one that went well, and five that double the digits.
    assert!(curve.tried.len() <= 9, "{:?}", curve.tried);
}

/// The unit of a number that is moved by its logarithm does not change when the search ends.
#[test]
fn logarithms_near_zero_end_as_others_do() {
    let solutions = |scale: f64| {
        let mut unknown = Unknown::new("k", 3.0);
        (unknown.transform, unknown.scale) = (Transform::Log, scale);
        let eta = unknown.eta_of(3.0);
        // Both are exp(eta) = 1 in the unit of the unknown, where eta is 0 and -7.
        let value = if scale == 1.0 { |x: f64| x.exp() - 1.0 } else { |x: f64| (x + 7.0).exp() - 1.0 };
        let slope = if scale == 1.0 { |x: f64| x.exp() } else { |x: f64| (x + 7.0).exp() };
        let mut curve = Curve { unknowns: vec![unknown], value, slope, tried: vec![] };
        let optimum = curve.minimised(eta);
        assert!(optimum.stop == Stop::Converged, "{:?}", curve.tried);
        curve.tried.len()
    };
    assert_eq!(solutions(1.0), solutions(7.0_f64.exp()));
}

/// A second search with a finer solver begins where the first has ended: at zero up to rounding, which has no digits to find.
#[test]
fn a_search_that_begins_at_zero_ends_at_once() {
    let unknowns = vec![Unknown::new("x", 1.0)];
    let mut curve = Curve { unknowns, value: |x| x, slope: |_| 1.0, tried: vec![] };
    let optimum = curve.minimised(1e-14);
    assert!(optimum.stop == Stop::Converged && curve.tried.is_empty(), "{:?}", curve.tried);
}
