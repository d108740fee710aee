//! The two levels of the method, and what each may touch:
//!
//! ```text
//! lower level over the weights W:     { residual, residual gradient }   at fixed theta
//! upper level over the unknowns:      { data, regularisers }            at fixed W
//! ```
//!
//! Data never reach W, residuals never reach theta; so nothing has to be balanced. Unknown functions
//! are networks with weights V, which belong to the upper level. Both stand in one list, V before W;
//! each level's gradient is zero for the weights of the other.

mod fit;

pub use fit::Fit;

use crate::diagnostic::{Origin, Result};
use crate::finite::{HostProgram, require_finite};
use crate::function::{Lattice, network::columns};
use crate::given::GivenColumns;
use crate::likelihood::{Law, Part, Sites};
use crate::operator::{LocalOperator, Size, program_error, with_shifts};
use crate::problem::{
    KnownFunction, Names, PlaceWeights, Points, Problem, Regulariser, RegulariserKind, Renewal, Table,
    UnknownFunction,
};
use crate::seeds::{Purpose, seed_for};
use bilo_expr::{Expr, Unary};
use bilo_jet::{
    Column, DensityId, DensityProgram, Device, Frame, LocalFeatures, Operator, PointSource, ResidualId,
    ResidualProgram, ResidualWeights,
};

/// Fewer points than this are never thinned.
const FEW: usize = 100;

/// L_LO = Σ_e weight_e (L_res,e + w_rgrad L_rgrad,e).
pub struct Lower {
    pub(crate) blocks: Vec<Block>,
    names: Vec<String>,
    /// Unknowns of the device: scalars and shifts of functions.
    pub(crate) unknowns: usize,
}

/// Equations that share their points.
pub(crate) struct Block {
    pub(crate) id: ResidualId,
    /// The weight of each point in a mean over them.
    places: PlaceWeights,
    weights: ResidualWeights,
    /// The first of its equations, and the seed of its points.
    first: usize,
    seed: u64,
    given: GivenColumns,
    /// Where a dictionary whose features live in few places has its points.
    local: Option<(Frame, PointSource)>,
}

/// Points, and what each counts in a mean over them.
type Placed = (PointSource, PlaceWeights);

impl Lower {
    /// Loads every equation into the device; equations at the same points go together.
    pub fn new(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        seed: u64,
    ) -> Result<Self> {
        Self::thinned(problem, operator, device, 1.0, seed)
    }

    /// The same at every so many of the points, which need not be a whole number.
    pub(crate) fn thinned(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        stride: f64,
        seed: u64,
    ) -> Result<Self> {
        Self::at(problem, operator, device, seed, &|points, seed| {
            let drawn = thinned(points.drawn(problem, seed, 0)?, stride);
            let weights = PlaceWeights::Equal(drawn.len());
            Ok((drawn, weights))
        })
    }

    /// The same where polynomials of a dictionary need the points.
    pub(crate) fn clustered(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        size: &Size,
        seed: u64,
    ) -> Result<Self> {
        let modes = size.along(problem);
        Self::at(problem, operator, device, seed, &|points, seed| points.clustered(problem, &modes, seed))
    }

    fn at(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        seed: u64,
        place: &dyn Fn(&Points, u64) -> Result<Placed>,
    ) -> Result<Self> {
        let mut groups: Vec<(&Points, Vec<usize>)> = vec![];
        for (number, equation) in problem.equations.iter().enumerate() {
            match groups.iter_mut().find(|(points, _)| *points == &equation.points) {
                Some((_, members)) => members.push(number),
                None => groups.push((&equation.points, vec![number])),
            }
        }
        let unknowns = operator.operator.unknowns.len();
        let mut at_guess = LocalOperator::at_guess(problem)?;
        let mut lower = Self { blocks: vec![], names: vec![], unknowns };
        for (points, members) in groups {
            let mut residuals: Vec<Expr> = members.iter().map(|&e| operator.residuals[e]).collect();
            let there = operator.following(points)?;
            let origin = &problem.equations[members[0]].of_networks().origin;
            let given = GivenColumns::replace(&mut operator.names, &there, &mut residuals, origin)?;
            let graph = &mut operator.names.graph;
            let local = operator.is_local;
            let compile = if local { ResidualProgram::expanded } else { ResidualProgram::new };
            let program = compile(graph, &given.operator, &residuals)
                .map_err(|error| program_error(graph, &error, origin))?;
            let seed = seed_for(seed, Purpose::EquationPoints, members[0]);
            let (drawn, places) = place(points, seed)?;
            let equations: Vec<_> = members.iter().map(|&member| &problem.equations[member]).collect();
            let residuals: Vec<Expr> = members.iter().map(|&e| at_guess.residuals[e]).collect();
            let there = at_guess.following(points)?;
            let host = HostProgram::new(&mut at_guess.names, &there, &residuals, origin)?;
            require_finite(problem, &equations, &host, &drawn)?;
            let drawn = given.at(drawn);
            let local = local.then(|| (program.frame.clone(), drawn.clone()));
            let id = device.load_residual(program, drawn);
            let equation = members.iter().map(|&e| problem.equations[e].weight).collect();
            let weights = ResidualWeights { equation, gradient: problem.training.rgrad_weight };
            lower.blocks.push(Block { id, places, weights, first: members[0], seed, given, local });
            let name = |kind: &str, e: &usize| format!("{kind}.{}", problem.equations[*e].name);
            lower.names.extend(members.iter().map(|e| name("residual", e)));
            lower.names.extend(members.iter().map(|e| name("residual-gradient", e)));
        }
        Ok(lower)
    }

    /// Names of the terms.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Its residuals on the device, with the weights of their terms.
    pub(crate) fn terms(&self) -> Vec<(ResidualId, ResidualWeights)> {
        self.blocks.iter().map(|block| (block.id, block.weights.clone())).collect()
    }

    /// The steps until points are drawn anew, if they are.
    pub(crate) fn renewal(&self, problem: &Problem) -> Option<usize> {
        let every = |block: &Block| Some(problem.equations[block.first].points.renewal?.every);
        self.blocks.iter().filter_map(every).min()
    }

    /// Draws the points of a step, the steps of pre-training and training counted together from 1, where other
    /// points are asked for then.
    pub fn renew(&self, problem: &Problem, device: &mut dyn Device, step: usize) {
        for block in &self.blocks {
            let points = &problem.equations[block.first].points;
            let Some(Renewal { every, .. }) = points.renewal else { continue };
            // A draw of which `where` leaves nothing is none.
            if step > 1
                && (step - 1).is_multiple_of(every)
                && let Ok(drawn) = points.drawn(problem, block.seed, (step - 1) / every)
            {
                device.move_residual(block.id, block.given.at(drawn));
            }
        }
    }

    /// L_LO and its terms; adds its gradient with respect to W, at fixed theta.
    pub fn loss(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        mut gradient: Option<&mut [f64]>,
    ) -> (f64, Vec<f64>) {
        let (mut total, mut terms) = (0.0, vec![]);
        let unknowns = with_shifts(eta, self.unknowns);
        for block in &self.blocks {
            let loss = device.residual(block.id, weights, &unknowns, &block.weights, gradient.as_deref_mut());
            for (q, weight) in block.weights.equation.iter().enumerate() {
                total += weight * (loss.residual[q] + block.weights.gradient * loss.gradient[q]);
            }
            terms.extend(loss.residual);
            terms.extend(loss.gradient);
        }
        (total, terms)
    }
}

/// Every so many of the points; a condition at a few places keeps them all.
fn thinned(points: PointSource, stride: f64) -> PointSource {
    if stride <= 1.0 || points.len() < FEW {
        return points;
    }
    let mut number = 0.0;
    points.keep(|columns| {
        let kept = |_: &f64| {
            let before = (number / stride).floor();
            number += 1.0;
            (number / stride).floor() > before
        };
        columns[0].iter().map(kept).collect()
    })
}

impl Block {
    /// The features of a dictionary at its points, if they live in few places.
    pub(crate) fn features(&self, unknowns: &[f64]) -> Option<LocalFeatures> {
        let (frame, points) = self.local.as_ref()?;
        frame.local_features(points, unknowns)
    }

    /// √weight of every residual of each equation in L_LO.
    pub(crate) fn roots(&self) -> Vec<Vec<f64>> {
        let of = |weight: &f64| match &self.places {
            PlaceWeights::Equal(count) => vec![(weight / *count as f64).sqrt(); *count],
            PlaceWeights::Each(places) => places.iter().map(|place| (weight * place).sqrt()).collect(),
        };
        self.weights.equation.iter().map(of).collect()
    }
}

/// Σ_o weight_o L_data,o + Σ_f weight_f L_reg,f.
pub struct Upper {
    observations: Vec<Term>,
    regularisers: Vec<Term>,
    names: Vec<String>,
    unknowns: usize,
    /// Whether functions are unknown: only then the weights V are differentiated by.
    functions: bool,
}

/// A loss that is a sum of densities.
struct Term {
    parts: Vec<Loaded>,
    weight: f64,
    /// The observation whose places move with the unknowns: its number and its data.
    moving: Option<(usize, Table)>,
}

/// A density that a device has, and the columns of given fields that its points need.
struct Loaded {
    id: DensityId,
    given: GivenColumns,
}

/// The upper level's loss at some point.
#[derive(Clone, Debug, PartialEq)]
pub struct UpperLoss {
    /// The terms, without their weights.
    pub terms: Vec<f64>,
    /// The derivatives of their weighted sum by the variables eta, at fixed W.
    pub by_eta: Vec<f64>,
    /// The same by all weights: nonzero for V only.
    pub by_weights: Vec<f64>,
}

impl Upper {
    /// Loads every observation and every regulariser into the device.
    pub fn new(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        tables: Vec<Table>,
    ) -> Result<Self> {
        let mut upper = Self {
            observations: vec![],
            regularisers: vec![],
            names: vec![],
            unknowns: operator.operator.unknowns.len(),
            functions: !operator.functions.networks.is_empty(),
        };
        let guess = problem.thetas(&problem.eta_of_guess());
        for (number, (observation, table)) in problem.observations.iter().zip(tables).enumerate() {
            let sites = Sites::new(problem, observation, &table, &guess)?;
            let mut parts = vec![];
            for part in &sites.parts {
                let density = operator.density_of(&part.law, operator.observed[number])?;
                let (over_functions, origin) = (upper.functions, &observation.value.origin);
                let sum = Sum { density, operator: operator.with_data_columns(), over_functions, origin };
                let (points, weights) = part_source(&sites, part);
                parts.push(sum.load(&mut operator.names, device, points, weights)?);
            }
            let moving = observation.likelihood.moves_with_unknowns(problem).then_some((number, table));
            upper.observations.push(Term { parts, weight: observation.weight, moving });
            upper.names.push(format!("data.{}", observation.name));
        }
        for (number, function) in problem.functions.iter().enumerate() {
            let Some(regulariser) = &function.regulariser else { continue };
            let density = regulariser_density(operator, number, &regulariser.kind);
            let (over_functions, origin) = (upper.functions, &function.form.origin);
            let with_data = operator.for_function_with_data(number);
            let sum = Sum { density, operator: with_data, over_functions, origin };
            let table = on_nodes(problem, function, reference(function, regulariser))?;
            let parts = vec![sum.load_mean(&mut operator.names, device, table)?];
            upper.regularisers.push(Term { parts, weight: regulariser.weight, moving: None });
            upper.names.push(format!("regulariser.{}", function.name));
        }
        Ok(upper)
    }

    /// Names of the terms.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Its densities on the device, with the weights of their terms and these terms' numbers.
    pub(crate) fn parts(&self) -> Vec<(DensityId, f64, usize)> {
        let terms = self.observations.iter().chain(&self.regularisers).enumerate();
        terms
            .flat_map(|(number, term)| term.parts.iter().map(move |part| (part.id, term.weight, number)))
            .collect()
    }

    /// Whether places move with the unknowns, so that the host has to follow at every step.
    pub(crate) fn follows_unknowns(&self) -> bool {
        self.observations.iter().any(|term| term.moving.is_some())
    }

    /// Puts the places of integrals whose breaks move with the unknowns to where these are now. (The breaks
    /// move no value of the integral, so the gradient is that at fixed places.)
    pub fn move_places(&self, problem: &Problem, device: &mut dyn Device, eta: &[f64]) -> Result<()> {
        for Term { parts, moving, .. } in &self.observations {
            let Some((number, table)) = moving else { continue };
            let sites = Sites::new(problem, &problem.observations[*number], table, &problem.thetas(eta))?;
            for (Loaded { id, given }, part) in parts.iter().zip(&sites.parts) {
                let (points, weights) = part_source(&sites, part);
                device.move_density(*id, given.at(points), weights);
            }
        }
        Ok(())
    }

    /// The terms and the gradient of their weighted sum with respect to the unknowns, at fixed W.
    pub fn loss(&self, device: &mut dyn Device, weights: &[f64], eta: &[f64]) -> UpperLoss {
        self.sum(&[&self.observations, &self.regularisers], device, weights, eta)
    }

    /// The same without the regularisers.
    pub fn data_loss(&self, device: &mut dyn Device, weights: &[f64], eta: &[f64]) -> UpperLoss {
        self.sum(&[&self.observations], device, weights, eta)
    }

    fn sum(&self, lists: &[&Vec<Term>], device: &mut dyn Device, weights: &[f64], eta: &[f64]) -> UpperLoss {
        let unknowns = with_shifts(eta, self.unknowns);
        let moved = if self.functions { weights.len() } else { 0 };
        let mut loss =
            UpperLoss { terms: vec![], by_eta: vec![0.0; eta.len()], by_weights: vec![0.0; moved] };
        for term in lists.iter().copied().flatten() {
            let (mut sum, mut by_weights) = (0.0, vec![0.0; moved]);
            for part in &term.parts {
                let gradient = self.functions.then_some(&mut by_weights[..]);
                let (value, by_unknowns) = device.density(part.id, weights, &unknowns, gradient);
                sum += value;
                add_scaled(&mut loss.by_eta, term.weight, &by_unknowns);
            }
            loss.terms.push(sum);
            add_scaled(&mut loss.by_weights, term.weight, &by_weights);
        }
        loss
    }
}

fn add_scaled(sum: &mut [f64], factor: f64, terms: &[f64]) {
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += factor * term);
}

/// The nodes of an unknown function's grid with the values of a known function there (zero without one).
pub(crate) fn on_nodes(
    problem: &Problem,
    function: &UnknownFunction,
    known: Option<&KnownFunction>,
) -> Result<Table> {
    let lattice = Lattice::new(function);
    let nodes = lattice.columns();
    let nodes: Vec<&[f64]> = nodes.iter().map(|column| &column[..]).collect();
    let coordinates = columns(problem, function, &nodes);
    let values = match known {
        Some(known) => function.on_nodes(problem, known)?,
        None => vec![0.0; lattice.len()],
    };
    Ok(Table { coordinates, values, sigma: None })
}

/// What a regulariser keeps an unknown function near to, if it does.
pub(crate) fn reference<'a>(
    function: &'a UnknownFunction,
    regulariser: &'a Regulariser,
) -> Option<&'a KnownFunction> {
    match &regulariser.kind {
        RegulariserKind::L2 { reference } => Some(reference.as_ref().unwrap_or(&function.guess)),
        RegulariserKind::H1 | RegulariserKind::Tv { .. } => None,
    }
}

/// The density of a regulariser of an unknown function; a reference stands in the column of data.
fn regulariser_density(operator: &mut LocalOperator, number: usize, kind: &RegulariserKind) -> Expr {
    let f = operator.functions.values[number];
    if let RegulariserKind::L2 { .. } = kind {
        return gaussian_density(operator, f);
    }
    let graph = &mut operator.names.graph;
    let mut terms = vec![];
    for &argument in &operator.functions.arguments[number] {
        let slope = graph.diff(f, argument);
        let square = graph.mul(slope, slope);
        terms.push(match kind {
            RegulariserKind::Tv { smoothing } => {
                let (s, s_squared) = (graph.constant(*smoothing), graph.constant(smoothing * smoothing));
                let sum = graph.add(square, s_squared);
                let rounded = graph.unary(Unary::Sqrt, sum);
                graph.sub(rounded, s)
            }
            _ => square,
        });
    }
    graph.sum(&terms)
}

/// ((value - data)/sigma)².
fn gaussian_density(operator: &mut LocalOperator, value: Expr) -> Expr {
    operator.density_of(&Law::gaussian(), value).expect("a formula of this program")
}

impl LocalOperator {
    /// What a law makes of an expression, beside the columns of data and sigma.
    fn density_of(&mut self, law: &Law, value: Expr) -> Result<Expr> {
        let graph = &mut self.names.graph;
        let (data, sigma) = (graph.leaf(self.datum), graph.leaf(self.sigma));
        law.density(graph, value, data, sigma)
    }
}

/// The places of a part with their data and sigma, which is one where there is none, and their weights.
fn part_source(sites: &Sites, part: &Part) -> (PointSource, Column) {
    let places = sites.coordinates.iter().map(|column| column[part.places.clone()].to_vec());
    let stored = places.chain([part.data.clone()]).map(Column::stored);
    let sigma = part.sigma.clone().map_or_else(|| Column::uniform(1.0), Column::stored);
    let points = PointSource::new(stored.chain([sigma]).collect(), part.places.len());
    (points, Column::stored(part.weights.clone()))
}

/// A weighted sum of a density over points.
struct Sum<'a> {
    density: Expr,
    /// Its columns are those of the points, then data and sigma.
    operator: Operator,
    /// Whether it moves the weights V of unknown functions, or the weights W.
    over_functions: bool,
    origin: &'a Origin,
}

impl Sum<'_> {
    fn load(
        &self,
        names: &mut Names,
        device: &mut dyn Device,
        points: PointSource,
        weights: Column,
    ) -> Result<Loaded> {
        let make = if self.over_functions { DensityProgram::over_functions } else { DensityProgram::new };
        let mut density = [self.density];
        let given = GivenColumns::replace(names, &self.operator, &mut density, self.origin)?;
        let graph = &mut names.graph;
        let program = make(graph, &given.operator, density[0])
            .map_err(|error| program_error(graph, &error, self.origin))?;
        let id = device.load_density(program, given.at(points), weights);
        Ok(Loaded { id, given })
    }

    /// The mean over the rows of a table without sigma.
    fn load_mean(&self, names: &mut Names, device: &mut dyn Device, table: Table) -> Result<Loaded> {
        let count = table.values.len();
        let stored = table.coordinates.into_iter().chain([table.values]).map(Column::stored);
        let points = PointSource::new(stored.chain([Column::uniform(1.0)]).collect(), count);
        self.load(names, device, points, Column::uniform(1.0 / count as f64))
    }
}
