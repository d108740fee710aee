//! What happens to one tile of points: network forward, tape, network back.

mod carrier;
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
use crate::program::{Feed, Frame, Moves, Slot};
use crate::scalar::Number;
use crate::sweep::{JetNetwork, Weights};
use bilo_expr::{Input, Scratch};
use bilo_linear::Simd;
use carrier::{Carrier, Room};

/// Bytes of workspace that a tile may take: about what stays in a core's second-level cache.
const TILE_BYTES: usize = 7 << 18;

/// Most points of a tile.
const MAX_POINTS: usize = 255;

/// The points of a program, ready for its networks.
pub(crate) struct Points<T> {
    carriers: Vec<Carrier<T>>,
    slots: Vec<Slot>,
    unknowns: usize,
    directions: usize,
    tile: usize,
    source: PointSource,
    /// Quadrature or averaging weights.
    quadrature: Column,
    /// By carrier and tile: the features of a dictionary that was reduced, which are few, and the same whatever its weights
    /// and the unknowns are.
    combined: Vec<Vec<Vec<T>>>,
}

/// Buffers for one tile.
pub(crate) struct TileRunner<T> {
    /// By carrier.
    rooms: Vec<Room<T>>,
    /// Slots, then the slots' tangents by direction: one column each.
    slots: Vec<T>,
    /// c_q, then v_qj: one column each.
    seeds: Vec<T>,
    first: Scratch<T>,
    second: Scratch<T>,
    /// The tile's columns as the source gives them; inputs of networks are made from these, so that
    /// a coordinate far from zero is scaled before it is rounded to T.
    given: Vec<Vec<f64>>,
    inputs: Scratch<f64>,
    /// The columns for the tapes. The last tile may be short: the last point fills it up.
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

impl<T: Number> Points<T> {
    pub(crate) fn new(
        frame: &Frame,
        directions: usize,
        source: PointSource,
        quadrature: Column,
        simd: Simd,
    ) -> Self {
        assert_eq!(source.width(), frame.columns, "one column per symbol");
        let carriers: Vec<Carrier<T>> =
            frame.carriers.iter().map(|carrier| Carrier::new(carrier, simd)).collect();
        let networks = || carriers.iter().map(|carrier| &carrier.network);
        let per_point: usize = networks().map(|network| network.numbers_per_point(directions)).sum();
        let square = networks().find_map(JetNetwork::square);
        let most = (TILE_BYTES / (per_point * size_of::<T>()).max(1)).min(MAX_POINTS);
        let fitting = convenient(most, square);
        // Threads get equal shares of a few tiles only if their number can be halved.
        let tiles = match source.len().div_ceil(fitting) {
            0 | 1 => 1,
            tiles => tiles.next_multiple_of(4),
        };
        let tile = above(source.len().div_ceil(tiles), square).min(fitting);
        Self {
            carriers,
            slots: frame.slots.clone(),
            unknowns: frame.unknowns,
            directions,
            tile,
            source,
            quadrature,
            combined: vec![],
        }
    }

    /// Evaluates once what is the same in all calls.
    pub(crate) fn combine(&mut self) {
        let mut runner = None;
        let of = |points: &Self, runner: &mut TileRunner<T>, number: usize, tile: usize| {
            let carrier = &points.carriers[number];
            let weights = carrier.network.weights(&vec![0.0; carrier.stretch().len()]);
            points.load(tile, runner);
            points.set_coordinates(number, &vec![T::default(); points.unknowns], runner);
            carrier.network.combined(&weights, &mut runner.rooms[number].work)
        };
        let each = |(number, carrier): (usize, &Carrier<T>)| {
            let stays = carrier.network.network().combined().is_some() && !carrier.idle;
            if !stays || !carrier.stays(self.source.width(), self.unknowns) {
                return vec![];
            }
            let runner = runner.get_or_insert_with(|| self.runner());
            (0..self.tiles()).map_while(|tile| of(self, runner, number, tile)).collect()
        };
        self.combined = self.carriers.iter().enumerate().map(each).collect();
    }

    /// Moves the program to other points, in tiles of the same size: buffers stay.
    pub(crate) fn move_to(&mut self, source: PointSource, quadrature: Column) {
        assert_eq!(source.width(), self.source.width(), "one column per symbol");
        self.source = source;
        self.quadrature = quadrature;
        self.combined.clear();
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
            rooms: self.carriers.iter().map(|carrier| carrier.room(n, self.directions)).collect(),
            slots: zeros(self.slots.len() * (1 + self.directions)),
            seeds: zeros(self.directions * (1 + self.unknowns)),
            first: Scratch::new(),
            second: Scratch::new(),
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
        for (number, carrier) in self.active() {
            if let Some(combined) = self.combined.get(number).and_then(|tiles| tiles.get(tile)) {
                carrier.network.forward_from(combined, &weights[number], &mut runner.rooms[number].work);
                continue;
            }
            self.set_coordinates(number, unknowns, runner);
            let work = &mut runner.rooms[number].work;
            let parameters: Vec<T> = carrier.parameters.iter().map(|&unknown| unknowns[unknown]).collect();
            carrier.network.set_parameters(work, &parameters);
            self.feed(number, unknowns, runner);
            carrier.network.forward(&weights[number], &mut runner.rooms[number].work);
        }
        self.read_slots(runner, 0);
    }

    /// Sets the coordinate inputs of a network at the loaded points.
    fn set_coordinates(&self, number: usize, unknowns: &[T], runner: &mut TileRunner<T>) {
        let columns = runner.given.iter().map(|column| Input::Column(column.as_slice()));
        let given: Vec<_> =
            columns.chain(unknowns.iter().map(|value| Input::Uniform(value.wide()))).collect();
        let work = &mut runner.rooms[number].work;
        self.carriers[number].set_coordinates(&given, self.tile, &mut runner.inputs, work);
    }

    /// Gives a network the jets of the functions among its parameters, which come from networks before it.
    fn feed(&self, number: usize, unknowns: &[T], runner: &mut TileRunner<T>) {
        let Carrier { network, feeds, .. } = &self.carriers[number];
        if feeds.is_empty() {
            return;
        }
        self.read_slots(runner, 0);
        let TileRunner { rooms, slots, columns, .. } = runner;
        let inputs = self.tape_inputs(slots, columns, unknowns);
        let room = &mut rooms[number];
        for (Feed { input, jets }, scratch) in feeds.iter().zip(&mut room.feeds) {
            jets.eval(&inputs, self.tile, scratch);
            for component in 0..jets.outputs().len() {
                let values = scratch.output(jets, component);
                network.set_parameter_jet(&mut room.work, component, *input, values);
            }
        }
    }

    /// The networks that something asks for.
    fn active(&self) -> impl DoubleEndedIterator<Item = (usize, &Carrier<T>)> {
        self.carriers.iter().enumerate().filter(|(_, carrier)| !carrier.idle)
    }

    /// Those of them that the lower level moves.
    fn moved(&self) -> impl Iterator<Item = (usize, &Carrier<T>)> {
        self.active().filter(|(_, carrier)| !carrier.given)
    }

    /// Evaluates the coefficients of the leading parts at the tile's points.
    fn set_leading(&self, unknowns: &[T], runner: &mut TileRunner<T>) {
        let inputs = self.tape_inputs(&[], &runner.columns, unknowns);
        for (carrier, room) in self.carriers.iter().zip(&mut runner.rooms) {
            carrier.set_leading(&inputs, self.tile, room);
        }
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
        self.carriers.iter().map(|carrier| carrier.weights(trained)).collect()
    }

    /// Copies the outputs' jets (group 0) or tangents (a direction from 1) into the slot columns.
    fn read_slots(&self, runner: &mut TileRunner<T>, group: usize) {
        let n = self.tile;
        let columns = runner.slots[group * self.slots.len() * n..].chunks_exact_mut(n);
        for (slot, column) in self.slots.iter().zip(columns) {
            let (network, work) = (&self.carriers[slot.network].network, &runner.rooms[slot.network].work);
            let values = network.read_output(work, group, slot.component, slot.output);
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
        for (number, carrier) in self.moved() {
            let slopes: Vec<&Weights<T>> = slopes.iter().map(|slope| &slope[number]).collect();
            carrier.network.forward_tangents(&weights[number], &slopes, &mut runner.rooms[number].work);
        }
        for direction in 1..=self.directions {
            self.read_slots(runner, direction);
        }
    }

    /// Writes the adjoints of all slots of a group from columns, of the networks that the lower level
    /// moves.
    fn seed<'a>(&self, rooms: &mut [Room<T>], group: usize, columns: impl Iterator<Item = &'a [T]>) {
        let moved = self.slots.iter().zip(columns).filter(|(slot, _)| !self.carriers[slot.network].given);
        for (slot, column) in moved {
            let (network, work) = (&self.carriers[slot.network].network, &mut rooms[slot.network].work);
            network.seed_output(work, group, slot.component, slot.output, column.iter().copied());
        }
    }

    /// Adds the adjoint of an unknown through the coefficients of all leading parts.
    fn add_leading_adjoint(&self, rooms: &[Room<T>], group: usize, unknown: usize, target: &mut [T]) {
        for (carrier, room) in self.carriers.iter().zip(rooms) {
            for (k, slope) in carrier.leading_slopes(&room.leading, unknown, self.unknowns) {
                let adjoint = carrier.network.coefficient_adjoint(&room.work, group, k);
                for ((target, &adjoint), &slope) in target.iter_mut().zip(adjoint).zip(slope) {
                    *target += adjoint * slope;
                }
            }
        }
    }

    /// Adjoint of an unknown at every point of the tile, through the inputs of all networks.
    fn add_unknown_adjoint(&self, rooms: &[Room<T>], group: usize, unknown: usize, target: &mut [T]) {
        for (number, Carrier { network, parameters, .. }) in self.active() {
            if let Some(input) = parameters.iter().position(|&parameter| parameter == unknown) {
                let adjoint = network.read_parameter_adjoint(&rooms[number].work, group, 0, input);
                target.iter_mut().zip(adjoint).for_each(|(target, value)| *target += value);
            }
        }
    }

    /// Adds the gradient of the weights that are moved.
    fn weight_gradient(&self, runner: &TileRunner<T>, tangents: bool, moves: Moves, gradient: &mut [T]) {
        for (number, carrier) in self.active().filter(|(_, carrier)| moves.moves(carrier.given)) {
            let gradient = carrier.own_mut(gradient);
            carrier.network.weight_gradient(&runner.rooms[number].work, tangents, gradient);
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
