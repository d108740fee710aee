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
//!
//! A physics-informed network has [one loss](Joint) for all of them instead.

mod fit;
mod joint;
mod lower;
mod upper;

pub use fit::Fit;
pub use joint::Joint;
pub(crate) use lower::Block;
pub use lower::Lower;
pub use upper::Upper;

use crate::finite::{HostProgram, require_finite};
use crate::function_values::columns;
use crate::operator::{LocalOperator, program_error};
use bilo_expr::Expr;
use bilo_jet::{Column, DensityId, DensityProgram, Device, Moves, Operator, PointSource};
use bilo_problem::diagnostic::{Origin, Result};
use bilo_problem::function::Lattice;
use bilo_problem::given_columns::GivenColumns;
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::sites::{Law, Part, Sites};
use bilo_problem::{
    KnownFunction, Names, Points, Problem, Regulariser, RegulariserKind, Table, UnknownFunction,
};

/// Terms of a loss at some point, with the slopes of their weighted sum.
#[derive(Clone, Debug, PartialEq)]
pub struct LossSlopes {
    /// The terms, without their weights.
    pub terms: Vec<f64>,
    /// The derivatives of their weighted sum by the variables eta, at fixed weights.
    pub by_eta: Vec<f64>,
    /// The derivatives by all weights: nonzero for those that the loss moves; empty if it moves none.
    pub by_weights: Vec<f64>,
}

impl LossSlopes {
    fn zero(unknowns: usize, weights: usize) -> Self {
        Self { terms: vec![], by_eta: vec![0.0; unknowns], by_weights: vec![0.0; weights] }
    }
}

/// Equations that share their points.
pub(crate) struct Group {
    /// The equations, by number.
    members: Vec<usize>,
    /// The seed of the points.
    seed: u64,
}

impl Group {
    fn all(problem: &Problem, seed: u64) -> Vec<Group> {
        let mut groups: Vec<Group> = vec![];
        for (number, equation) in problem.equations.iter().enumerate() {
            match groups.iter_mut().find(|group| *group.points(problem) == equation.points) {
                Some(group) => group.members.push(number),
                None => {
                    let seed = seed_for(seed, Purpose::EquationPoints, number);
                    groups.push(Group { members: vec![number], seed });
                }
            }
        }
        groups
    }

    fn points<'a>(&self, problem: &'a Problem) -> &'a Points {
        &problem.equations[self.members[0]].points
    }

    fn origin<'a>(&self, problem: &'a Problem) -> &'a Origin {
        &problem.equations[self.members[0]].of_networks().origin
    }

    /// An error if a residual has no value at one of the points.
    fn require_finite(
        &self,
        problem: &Problem,
        at_guess: &mut LocalOperator,
        points: &PointSource,
    ) -> Result<()> {
        let equations: Vec<_> = self.members.iter().map(|&member| &problem.equations[member]).collect();
        let residuals: Vec<Expr> = self.members.iter().map(|&e| at_guess.residuals[e]).collect();
        let there = at_guess.following(self.points(problem))?;
        let host = HostProgram::new(&mut at_guess.names, &there, &residuals, self.origin(problem))?;
        require_finite(problem, &equations, &host, points)
    }

    /// The steps until points are drawn anew, if they are.
    fn renewal(&self, problem: &Problem) -> Option<usize> {
        Some(self.points(problem).renewal?.every)
    }

    /// The points to take in place of those at hand, if there are such.
    fn renewed(&self, problem: &Problem, when: When) -> Option<PointSource> {
        let every = self.renewal(problem)?;
        // A draw of which `where` leaves nothing is none.
        let draw = |number: usize| self.points(problem).drawn(problem, self.seed, number).ok();
        match when {
            When::At(step) => {
                let due = step > 1 && (step - 1).is_multiple_of(every);
                due.then(|| draw((step - 1) / every)).flatten()
            }
            When::UpTo(step) => (1..=step.saturating_sub(1) / every).rev().find_map(draw),
        }
    }
}

/// When points are drawn, in steps of pre-training and training counted together from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At a step, if other ones are asked for then.
    At(usize),
    /// At the last step up to this one for which others were.
    UpTo(usize),
}

/// A loss that is a sum of densities.
struct Term {
    parts: Vec<Loaded>,
    /// The observation whose places move with the unknowns: its number and its data.
    moving: Option<(usize, Table)>,
}

/// A density that a device has, and the columns of given fields that its points need.
struct Loaded {
    id: DensityId,
    given: GivenColumns,
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
        RegulariserKind::Field(_) => Some(&function.guess),
        RegulariserKind::H1 | RegulariserKind::H2 | RegulariserKind::Tv { .. } => None,
    }
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
    let places = sites.sampling.coordinates.iter().map(|column| column[part.places.clone()].to_vec());
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
    moves: Moves,
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
        let mut density = [self.density];
        let given = GivenColumns::replace(names, &self.operator, &mut density, self.origin)?;
        let graph = &mut names.graph;
        let program = DensityProgram::new(graph, &given.operator, density[0], self.moves)
            .map_err(|error| program_error(graph, &error, self.origin))?;
        let id = device.load_density(program, given.at(points), weights)?;
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
