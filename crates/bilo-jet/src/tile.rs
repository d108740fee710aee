//! What happens to one tile of points: network forward, tape, network back.

mod density;
mod field;
mod linear;
mod piece;
mod pullback;
mod residual;

pub(crate) use density::DensityTask;
pub(crate) use field::FieldTask;
pub(crate) use linear::{LinearPart, LinearTask};
pub(crate) use piece::Piece;
pub(crate) use pullback::PullbackTask;
pub(crate) use residual::ResidualTask;

use crate::points::{Column, PointSource};
use crate::program::{Feed, Frame, LeadingProgram, Moves, Slot};
use crate::scalar::Scalar;
use crate::simd::Simd;
use crate::sweep::{JetNetwork, Weights, Workspace};
use bilo_expr::{Input, Scratch, Tape};

/// Bytes of workspace that a tile may take: about what stays in a core's second-level cache.
const TILE_BYTES: usize = 7 << 18;

/// Most points of a tile.
const MAX_POINTS: usize = 255;

/// The points of a program, ready for its networks.
pub(crate) struct Points<T> {
    networks: Vec<JetNetwork<T>>,
    parameters: Vec<Vec<usize>>,
    leading: Vec<Option<LeadingProgram>>,
    offsets: Vec<usize>,
    slots: Vec<Slot>,
    unknowns: usize,
    directions: usize,
    tile: usize,
    /// Coordinate inputs of each network from the columns and the unknowns.
    inputs: Vec<Tape>,
    /// The jets of each network's parameter inputs that are functions.
    feeds: Vec<Vec<Feed>>,
    /// Whether each network stands for an unknown function.
    given: Vec<bool>,
    /// Whether nothing asks for a network.
    idle: Vec<bool>,
    source: PointSource,
    /// Quadrature or averaging weights.
    quadrature: Column,
}

/// Buffers for one tile.
pub(crate) struct TileRunner<T> {
    work: Vec<Workspace<T>>,
    /// Slots, then the slots' tangents by direction: one column each.
    slots: Vec<T>,
    /// c_q, then v_qj: one column each.
    seeds: Vec<T>,
    first: Scratch<T>,
    second: Scratch<T>,
    /// Coefficients of each network's leading part.
    leading: Vec<Scratch<T>>,
    /// Jets of the functions that each network is fed with.
    feeds: Vec<Vec<Scratch<T>>>,
    /// The tile's columns as the source gives them; inputs of networks are made from these, so that
    /// a coordinate far from zero is scaled before it is rounded to T.
    given: Vec<Vec<f64>>,
    inputs: Scratch<f64>,
    /// The same columns for the tapes. The last tile may be short: the last point fills it up.
    columns: Vec<Vec<T>>,
}

/// A computation over tiles.
pub(crate) trait Task<T>: Sync {
    /// What it evaluates.
    type Program;
    /// Number of sums over the points.
    fn sums(&self) -> usize;
    /// Adds the tile's share to the sums and the weight gradient.
    fn run(
        &self,
        program: &Self::Program,
        points: &Points<T>,
        tile: usize,
        runner: &mut TileRunner<T>,
        sums: &mut [f64],
        gradient: &mut [T],
    );
}

impl<T: Scalar> Points<T> {
    pub(crate) fn new(
        frame: &Frame,
        directions: usize,
        source: PointSource,
        quadrature: Column,
        simd: Simd,
    ) -> Self {
        assert_eq!(source.width(), frame.columns, "one column per symbol");
        let networks: Vec<JetNetwork<T>> = frame
            .carriers
            .iter()
            .map(|carrier| {
                let moving = carrier.leading.as_ref().is_some_and(|leading| leading.moving);
                JetNetwork::new(carrier.network.clone(), carrier.plan.clone(), moving, simd)
                    .fed(!carrier.feeds.is_empty())
            })
            .collect();
        let per_point: usize = networks.iter().map(|network| network.numbers_per_point(directions)).sum();
        let square = networks.iter().find_map(JetNetwork::square);
        let most = (TILE_BYTES / (per_point * size_of::<T>()).max(1)).min(MAX_POINTS);
        let fitting = convenient(most, square);
        // Threads get equal shares of a few tiles only if their number can be halved.
        let tiles = match source.len().div_ceil(fitting) {
            0 | 1 => 1,
            tiles => tiles.next_multiple_of(4),
        };
        let tile = above(source.len().div_ceil(tiles), square).min(fitting);
        Self {
            networks,
            parameters: frame.carriers.iter().map(|carrier| carrier.parameters.clone()).collect(),
            leading: frame.carriers.iter().map(|carrier| carrier.leading.clone()).collect(),
            offsets: frame.carriers.iter().map(|carrier| carrier.offset).collect(),
            slots: frame.slots.clone(),
            unknowns: frame.unknowns,
            directions,
            tile,
            inputs: frame.carriers.iter().map(|carrier| carrier.inputs.clone()).collect(),
            feeds: frame.carriers.iter().map(|carrier| carrier.feeds.clone()).collect(),
            given: frame.carriers.iter().map(|carrier| carrier.given).collect(),
            idle: frame.carriers.iter().map(|carrier| carrier.idle).collect(),
            source,
            quadrature,
        }
    }

    /// The same program at other points, in tiles of the same size: buffers stay.
    pub(crate) fn move_to(&mut self, source: PointSource, quadrature: Column) {
        assert_eq!(source.width(), self.source.width(), "one column per symbol");
        self.source = source;
        self.quadrature = quadrature;
    }

    pub(crate) fn len(&self) -> usize {
        self.source.len()
    }

    pub(crate) fn tiles(&self) -> usize {
        self.len().div_ceil(self.tile)
    }

    /// Most points of a tile.
    pub(crate) fn tile(&self) -> usize {
        self.tile
    }

    pub(crate) fn runner(&self) -> TileRunner<T> {
        let n = self.tile;
        let zeros = |columns: usize| vec![T::default(); columns * n];
        TileRunner {
            work: self.networks.iter().map(|network| network.workspace(n, self.directions)).collect(),
            slots: zeros(self.slots.len() * (1 + self.directions)),
            seeds: zeros(self.directions * (1 + self.unknowns)),
            first: Scratch::new(),
            second: Scratch::new(),
            leading: self.networks.iter().map(|_| Scratch::new()).collect(),
            feeds: self.feeds.iter().map(|feeds| feeds.iter().map(|_| Scratch::new()).collect()).collect(),
            given: vec![vec![0.0; n]; self.source.width()],
            inputs: Scratch::new(),
            columns: vec![zeros(1); self.source.width()],
        }
    }

    /// First point of a tile and how many of its places are real points.
    fn range(&self, tile: usize) -> (usize, usize) {
        let start = tile * self.tile;
        (start, self.tile.min(self.len() - start))
    }

    /// Quadrature weights of a tile; zero where it is only filled up.
    fn quadrature_weights(&self, tile: usize) -> Vec<T> {
        let (start, real) = self.range(tile);
        let mut weights = vec![0.0; self.tile];
        self.quadrature.write(start, &mut weights[..real]);
        weights.into_iter().map(T::cast).collect()
    }

    /// Loads the tile's points and parameters and sweeps the jets forward; fills the slots.
    fn forward(&self, tile: usize, weights: &[Weights<T>], unknowns: &[T], runner: &mut TileRunner<T>) {
        self.load(tile, runner);
        self.set_leading(unknowns, runner);
        for (number, network) in self.active() {
            let work = &mut runner.work[number];
            let tape = &self.inputs[number];
            let columns = runner.given.iter().map(|column| Input::Column(column.as_slice()));
            let given: Vec<_> =
                columns.chain(unknowns.iter().map(|value| Input::Uniform(value.wide()))).collect();
            tape.eval(&given, self.tile, &mut runner.inputs);
            for input in 0..tape.outputs().len() {
                let column = runner.inputs.output(tape, input);
                network.set_coordinate(work, input, column.iter().map(|&value| T::cast(value)));
            }
            let parameters: Vec<T> =
                self.parameters[number].iter().map(|&unknown| unknowns[unknown]).collect();
            network.set_parameters(work, &parameters);
            self.feed(number, unknowns, runner);
            network.forward(&weights[number], &mut runner.work[number]);
        }
        self.read_slots(runner, 0);
    }

    /// Gives a network the jets of the functions among its parameters, which come from networks before it.
    fn feed(&self, number: usize, unknowns: &[T], runner: &mut TileRunner<T>) {
        if self.feeds[number].is_empty() {
            return;
        }
        self.read_slots(runner, 0);
        let TileRunner { work, slots, columns, feeds, .. } = runner;
        let inputs = self.tape_inputs(slots, columns, unknowns);
        for (Feed { input, jets }, scratch) in self.feeds[number].iter().zip(&mut feeds[number]) {
            jets.eval(&inputs, self.tile, scratch);
            for component in 0..jets.outputs().len() {
                let values = scratch.output(jets, component);
                self.networks[number].set_parameter_jet(&mut work[number], component, *input, values);
            }
        }
    }

    /// The networks that something asks for.
    fn active(&self) -> impl DoubleEndedIterator<Item = (usize, &JetNetwork<T>)> {
        self.networks.iter().enumerate().filter(|(number, _)| !self.idle[*number])
    }

    /// Those of them that the lower level moves.
    fn moved(&self) -> impl Iterator<Item = (usize, &JetNetwork<T>)> {
        self.active().filter(|(number, _)| !self.given[*number])
    }

    /// Evaluates the coefficients of the leading parts at the tile's points.
    fn set_leading(&self, unknowns: &[T], runner: &mut TileRunner<T>) {
        let inputs = self.tape_inputs(&[], &runner.columns, unknowns);
        for (number, network) in self.networks.iter().enumerate() {
            let Some(LeadingProgram { coefficients, .. }) = &self.leading[number] else { continue };
            let scratch = &mut runner.leading[number];
            coefficients.eval(&inputs, self.tile, scratch);
            for k in 0..network.plan().leading().len() {
                network.set_coefficient(&mut runner.work[number], k, scratch.output(coefficients, k));
            }
        }
    }

    /// ∂c_k/∂η_j of every coefficient k of a network's leading part, if any of them moves.
    fn leading_slopes<'a>(
        &'a self,
        scratch: &'a [Scratch<T>],
        network: usize,
        unknown: usize,
    ) -> impl Iterator<Item = (usize, &'a [T])> {
        let moving = self.leading[network].as_ref().filter(|leading| leading.moving);
        moving.into_iter().flat_map(move |LeadingProgram { coefficients, .. }| {
            let count = self.networks[network].plan().leading().len();
            (0..count)
                .map(move |k| (k, scratch[network].output(coefficients, count + k * self.unknowns + unknown)))
        })
    }

    /// Asks the source for the tile's columns.
    fn load(&self, tile: usize, runner: &mut TileRunner<T>) {
        let (start, _) = self.range(tile);
        for (number, (given, column)) in runner.given.iter_mut().zip(&mut runner.columns).enumerate() {
            self.source.write(number, start, given);
            column.iter_mut().zip(given).for_each(|(value, &mut given)| *value = T::cast(given));
        }
    }

    /// The weights of every network, ready for the sweeps.
    pub(crate) fn weights(&self, trained: &[f64]) -> Vec<Weights<T>> {
        let each = self.networks.iter().zip(&self.offsets);
        each.map(|(network, &offset)| network.weights(&trained[offset..offset + network.network().weights()]))
            .collect()
    }

    /// Copies the outputs' jets (group 0) or tangents (a direction from 1) into the slot columns.
    fn read_slots(&self, runner: &mut TileRunner<T>, group: usize) {
        let n = self.tile;
        let columns = runner.slots[group * self.slots.len() * n..].chunks_exact_mut(n);
        for (slot, column) in self.slots.iter().zip(columns) {
            let values = self.networks[slot.network].read_output(
                &runner.work[slot.network],
                group,
                slot.component,
                slot.output,
            );
            column.iter_mut().zip(values).for_each(|(target, value)| *target = value);
        }
    }

    /// Sweeps the tangents forward along directions already set; fills their slots. `slopes` tell how the
    /// weights move along each direction, if they do.
    fn forward_tangents(
        &self,
        weights: &[Weights<T>],
        slopes: &[Vec<Weights<T>>],
        runner: &mut TileRunner<T>,
    ) {
        for (number, network) in self.moved() {
            let slopes: Vec<&Weights<T>> = slopes.iter().map(|slope| &slope[number]).collect();
            network.forward_tangents(&weights[number], &slopes, &mut runner.work[number]);
        }
        for direction in 1..=self.directions {
            self.read_slots(runner, direction);
        }
    }

    /// Writes the adjoints of all slots of a group from columns, of the networks that the lower level
    /// moves.
    fn seed<'a>(&self, work: &mut [Workspace<T>], group: usize, columns: impl Iterator<Item = &'a [T]>) {
        let moved = self.slots.iter().zip(columns).filter(|(slot, _)| !self.given[slot.network]);
        for (slot, column) in moved {
            let network = &self.networks[slot.network];
            network.seed_output(
                &mut work[slot.network],
                group,
                slot.component,
                slot.output,
                column.iter().copied(),
            );
        }
    }

    /// Adds the adjoint of an unknown through the coefficients of all leading parts.
    fn add_leading_adjoint(
        &self,
        work: &[Workspace<T>],
        scratch: &[Scratch<T>],
        group: usize,
        unknown: usize,
        target: &mut [T],
    ) {
        for (number, network) in self.networks.iter().enumerate() {
            for (k, slope) in self.leading_slopes(scratch, number, unknown) {
                let adjoint = network.coefficient_adjoint(&work[number], group, k);
                for ((target, &adjoint), &slope) in target.iter_mut().zip(adjoint).zip(slope) {
                    *target += adjoint * slope;
                }
            }
        }
    }

    /// Adjoint of an unknown at every point of the tile, through the inputs of all networks.
    fn add_unknown_adjoint(&self, work: &[Workspace<T>], group: usize, unknown: usize, target: &mut [T]) {
        for (number, network) in self.active() {
            if let Some(input) = self.parameters[number].iter().position(|&parameter| parameter == unknown) {
                let adjoint = network.read_parameter_adjoint(&work[number], group, 0, input);
                target.iter_mut().zip(adjoint).for_each(|(target, value)| *target += value);
            }
        }
    }

    /// Adds the gradient of the weights that are moved.
    fn weight_gradient(&self, runner: &TileRunner<T>, tangents: bool, moves: Moves, gradient: &mut [T]) {
        for (number, network) in self.active().filter(|(number, _)| moves.moves(self.given[*number])) {
            let offset = self.offsets[number];
            let gradient = &mut gradient[offset..offset + network.network().weights()];
            network.weight_gradient(&runner.work[number], tangents, gradient);
        }
    }

    /// Inputs that every tape begins with: slots, columns, unknowns.
    fn tape_inputs<'a>(&self, slots: &'a [T], columns: &'a [Vec<T>], unknowns: &'a [T]) -> Vec<Input<'a, T>> {
        let slots = slots.chunks_exact(self.tile).take(self.slots.len());
        let columns = columns.iter().map(Vec::as_slice);
        slots
            .chain(columns)
            .map(Input::Column)
            .chain(unknowns.iter().map(|&value| Input::Uniform(value)))
            .collect()
    }
}

/// Points of a tile up to a number (at least 3) that products are fastest with.
///
/// Where they are made of squares, whole ones whatever the number of components. Else they are fastest in multiples
/// of 6 rows, which an even number of components makes of an odd multiple of 3; and being odd keeps the planes of a
/// jet, a power of two of bytes per point, from falling onto the same places of the nearest cache.
fn convenient(most: usize, square: Option<usize>) -> usize {
    match square {
        Some(side) if most >= side => most / side * side,
        _ => most.saturating_sub(3) / 6 * 6 + 3,
    }
}

/// The least of these from a number on.
fn above(least: usize, square: Option<usize>) -> usize {
    match square {
        Some(side) if least > side / 2 => least.next_multiple_of(side),
        _ => convenient(least + 5, square),
    }
}
