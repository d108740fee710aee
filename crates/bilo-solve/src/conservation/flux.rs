//! The flux function as a curve over the range of the data: its values, its
//! slopes, and where it rises and falls.

use std::collections::BTreeMap;

use bilo_expr::{Expr, Function, Graph, Leaf, MultiIndex, Scratch, Symbol};

use super::error::ConservationError;
use super::formula::{Formula, Place, check_finite};
use super::law::{ConservationLaw, Flux};

/// The range of the data is searched for extrema in so many parts. What
/// is missed, a wiggle inside one part without any sign in the curvature at its
/// ends, is too small to matter.
const PARTS: usize = 512;

/// Halvings of one part: down to rounding.
const HALVINGS: usize = 60;

/// Gauss-Legendre points and weights of degree 15 on [-1, 1], the positive half.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_3),
];

/// Panels of the quadrature.
const PANELS: usize = 4;

/// The slope of an integrated flux must be the speed to this part of the largest speed.
const QUADRATURE_TOLERANCE: f64 = 1e-9;

const PLACE: Place =
    Place { name: "the flux", allowed: "only the value of the state and the parameters may be used" };

/// The flux compiled. Formulas of the state; the last parameter of each is where
/// a numerical integral starts.
#[derive(Debug)]
pub(super) struct FluxFormulas {
    /// f
    value: Formula,
    /// f, f_u, and f by each parameter.
    slopes: Formula,
    /// f_u, f_uu
    shape: Formula,
    /// The speed that f was integrated from.
    speed: Option<Formula>,
}

impl FluxFormulas {
    pub(super) fn new(law: &mut ConservationLaw) -> Result<FluxFormulas, ConservationError> {
        let graph = &mut law.graph;
        let slots = graph.function_inputs(law.state).len();
        let u = Leaf::Derivative(law.state, MultiIndex::zero(slots));
        let start = graph.symbol("start of the integral");
        let (f, speed) = match law.flux {
            Flux::Formula(f) => (graph.expand_definitions(f), None),
            Flux::Speed(c) => {
                let c = graph.expand_definitions(c);
                (integral(graph, c, law.state, start), Some(c))
            }
        };
        let f_u = graph.partial(f, &u);
        let f_uu = graph.partial(f_u, &u);
        let mut slopes = vec![f, f_u];
        slopes.extend(law.parameters.iter().map(|&p| graph.partial(f, &Leaf::Symbol(p))));
        let mut given = law.parameters.clone();
        given.push(start);
        let mut compile = |outputs: &[Expr]| Formula::new(graph, outputs, u.clone(), &given, PLACE);
        Ok(FluxFormulas {
            value: compile(&[f])?,
            slopes: compile(&slopes)?,
            shape: compile(&[f_u, f_uu])?,
            speed: speed.map(|c| compile(&[c])).transpose()?,
        })
    }
}

/// The integral of `c` from `start` to the state, as a composite Gauss rule
/// written out. Being an expression it has exact derivatives, and its constant
/// of integration is without effect.
fn integral(graph: &mut Graph, c: Expr, state: Function, start: Symbol) -> Expr {
    let u = graph.value(state);
    let start = graph.leaf(start);
    let distance = graph.sub(u, start);
    let leaf = graph.as_leaf(u).cloned().expect("the value of a function is a leaf");
    let mut sum = graph.constant(0.0);
    for panel in 0..PANELS {
        for (point, weight) in GAUSS.into_iter().flat_map(|(point, w)| [(-point, w), (point, w)]) {
            let fraction = graph.constant((panel as f64 + 0.5 * (1.0 + point)) / PANELS as f64);
            let ahead = graph.mul(fraction, distance);
            let place = graph.add(start, ahead);
            let value = graph.substitute(c, &BTreeMap::from([(leaf.clone(), place)]));
            let weight = graph.constant(0.5 * weight / PANELS as f64);
            let term = graph.mul(weight, value);
            sum = graph.add(sum, term);
        }
    }
    graph.mul(distance, sum)
}

/// The flux at given parameters over the range of the data. Between its
/// critical points it only rises or only falls.
#[derive(Debug)]
pub(super) struct Curve<'a> {
    formulas: &'a FluxFormulas,
    given: Vec<f64>,
    /// Lowest and highest state of the data.
    pub(super) range: (f64, f64),
    /// Where the slope changes its sign, ascending.
    pub(super) critical: Vec<f64>,
    /// Whether the flux rises on each piece between the critical points.
    rises: Vec<bool>,
    /// Largest |f_u| over the range.
    pub(super) fastest: f64,
}

impl Curve<'_> {
    pub(super) fn new<'a>(
        formulas: &'a FluxFormulas,
        parameters: &[f64],
        range: (f64, f64),
    ) -> Result<Curve<'a>, ConservationError> {
        let mut given = parameters.to_vec();
        given.push(range.0);
        let mut curve = Curve { formulas, given, range, critical: vec![], rises: vec![], fastest: 0.0 };
        // The slope is monotone between the inflections.
        let parts = curve.parts();
        let [slope, curvature] = curve.shape(&parts);
        check_finite("the flux", "u", &parts, &formulas.value.columns(&parts, &curve.given)[0])?;
        check_finite("the slope of the flux", "u", &parts, &slope)?;
        curve.check_integral(&parts, &slope)?;
        let mut knots = parts.clone();
        knots.extend(curve.crossings(&parts, &curvature, 1));
        knots.sort_by(f64::total_cmp);
        let [slope, _] = curve.shape(&knots);
        curve.fastest = slope.iter().fold(0.0, |fastest, s| s.abs().max(fastest));
        curve.critical = curve.crossings(&knots, &slope, 0);
        curve.rises = curve.monotonicity(&knots, &slope);
        Ok(curve)
    }

    /// Flux at each state.
    pub(super) fn flux<'s>(&self, states: &[f64], scratch: &'s mut Scratch<f64>) -> &'s [f64] {
        self.formulas.value.eval(states, &self.given, scratch);
        self.formulas.value.output(0, scratch)
    }

    /// Flux, its slope and its derivative by each parameter at each state.
    pub(super) fn slopes<'s>(&self, states: &[f64], scratch: &'s mut Scratch<f64>) -> Slopes<'s> {
        let formula = &self.formulas.slopes;
        formula.eval(states, &self.given, scratch);
        let parameters = self.given.len() - 1;
        Slopes {
            flux: formula.output(0, scratch),
            by_state: formula.output(1, scratch),
            by_parameter: (0..parameters).map(|p| formula.output(2 + p, scratch)).collect(),
        }
    }

    /// The piece of the curve a state lies on.
    pub(super) fn piece(&self, u: f64) -> usize {
        self.critical.partition_point(|&c| c < u)
    }

    /// Whether the flux rises on a piece.
    pub(super) fn rises(&self, piece: usize) -> bool {
        self.rises[piece]
    }

    fn parts(&self) -> Vec<f64> {
        let (lo, hi) = self.range;
        let at = |i: usize| i as f64 / PARTS as f64;
        (0..=PARTS).map(|i| lo * (1.0 - at(i)) + hi * at(i)).collect()
    }

    fn shape(&self, states: &[f64]) -> [Vec<f64>; 2] {
        let mut columns = self.formulas.shape.columns(states, &self.given).into_iter();
        std::array::from_fn(|_| columns.next().expect("slope and curvature"))
    }

    /// Where the slope (`order` 0) or the curvature (1), known at the knots,
    /// changes its sign: by halving; of a stretch of zeros the first.
    fn crossings(&self, knots: &[f64], values: &[f64], order: usize) -> Vec<f64> {
        let mut found = Vec::new();
        let mut brackets = Vec::new();
        for (u, v) in knots.windows(2).zip(values.windows(2)) {
            if v[0] != 0.0 && v[1] == 0.0 {
                found.push(u[1]);
            } else if v[0].min(v[1]) < 0.0 && v[0].max(v[1]) > 0.0 {
                brackets.push((u[0], u[1], v[0]));
            }
        }
        for _ in 0..HALVINGS {
            let middles: Vec<f64> = brackets.iter().map(|(a, b, _)| 0.5 * (a + b)).collect();
            let at_middles = &self.shape(&middles)[order];
            for ((bracket, middle), value) in brackets.iter_mut().zip(&middles).zip(at_middles) {
                let same_side = *value != 0.0 && (*value > 0.0) == (bracket.2 > 0.0);
                *(if same_side { &mut bracket.0 } else { &mut bracket.1 }) = *middle;
            }
        }
        found.extend(brackets.iter().map(|(_, b, _)| *b));
        found.sort_by(f64::total_cmp);
        found
    }

    /// The sign of the steepest slope on each piece.
    fn monotonicity(&self, knots: &[f64], slope: &[f64]) -> Vec<bool> {
        let mut steepest = vec![0.0_f64; self.critical.len() + 1];
        for (&u, &s) in knots.iter().zip(slope) {
            let so_far = &mut steepest[self.piece(u)];
            if s.abs() > so_far.abs() {
                *so_far = s;
            }
        }
        steepest.iter().map(|&s| s >= 0.0).collect()
    }

    fn check_integral(&self, states: &[f64], slope: &[f64]) -> Result<(), ConservationError> {
        let Some(speed) = &self.formulas.speed else {
            return Ok(());
        };
        let speed = &speed.columns(states, &self.given)[0];
        let tolerance = QUADRATURE_TOLERANCE * speed.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
        let rough = (0..states.len()).find(|&i| (slope[i] - speed[i]).abs() > tolerance);
        rough.map_or(Ok(()), |i| Err(ConservationError::RoughSpeed { u: states[i] }))
    }
}

/// Values and derivatives of the flux at some states.
pub(super) struct Slopes<'s> {
    pub(super) flux: &'s [f64],
    pub(super) by_state: &'s [f64],
    pub(super) by_parameter: Vec<&'s [f64]>,
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use bilo_expr::{Scope, lower, parse};

    use super::super::law::{Ends, Initial};
    use super::*;
    use crate::statement::Axis;

    fn formulas(flux: &str) -> FluxFormulas {
        let mut graph = Graph::new();
        let [x, t] = ["x", "t"].map(|name| graph.symbol(name));
        let inputs = vec![graph.leaf(x), graph.leaf(t)];
        let state = graph.function("u", inputs);
        let mut scope = Scope::new();
        scope.bind("u", graph.value(state));
        let ast = parse(flux).expect("the test's text is right");
        let flux = Flux::Formula(lower(&ast, &mut graph, &scope).expect("the test's text is right"));
        let [space, time] = [x, t].map(|symbol| Axis::new(symbol, 0.0, 1.0));
        let (parameters, ends, initial) = (vec![], Ends::Periodic, Initial::Nodal);
        let mut law = ConservationLaw { graph, space, time, state, parameters, flux, ends, initial };
        FluxFormulas::new(&mut law).expect("the flux compiles")
    }

    fn check(flux: &str, range: (f64, f64), critical: &[f64], rises_first: bool, fastest: f64) {
        let formulas = formulas(flux);
        let curve = Curve::new(&formulas, &[], range).expect("the flux is finite");
        assert_eq!(curve.critical.len(), critical.len(), "{flux}: {:?}", curve.critical);
        for (found, exact) in curve.critical.iter().zip(critical) {
            assert!((found - exact).abs() < 1e-9, "{flux}: {found} {exact}");
        }
        assert_eq!(curve.rises(0), rises_first, "{flux}");
        assert!((curve.fastest - fastest).abs() < 1e-6, "{flux}: {}", curve.fastest);
    }

    #[test]
    fn critical_points_largest_speed_and_monotone_pieces_are_found() {
        check("u^2/2", (-1.0, 3.0), &[0.0], false, 3.0);
        check("u^2/2", (1.0, 3.0), &[], true, 3.0);
        check("u^3", (-1.0, 1.7), &[], true, 8.67);
        check("sin(u)", (0.1, 6.0), &[FRAC_PI_2, 3.0 * FRAC_PI_2], true, 1.0);
        // The largest speed is inside, at the inflection.
        check("u^2/(u^2 + 0.5*(1-u)^2)", (0.2, 0.9), &[], true, 2.080_793_275_8);
        // Two extrema closer together than the parts that are searched.
        let close = "u^3/3 - 0.60001*u^2/2 + 0.3*0.30001*u";
        check(close, (0.0, 1.0), &[0.3, 0.300_01], true, 0.489_993);
    }

    #[test]
    fn ranges_of_one_state_and_level_fluxes_are_no_trouble() {
        check("3*u", (2.0, 2.0), &[], true, 3.0);
        check("-u", (0.5, 0.5 + 1e-15), &[], false, 1.0);
        check("7", (-1.0, 1.0), &[], true, 0.0);
        // Level between 1 and 2.
        check("-max(0, u - 2)^2 - max(0, 1 - u)^2", (0.0, 4.0), &[1.0], true, 4.0);
    }
}
