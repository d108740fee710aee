//! A network of a program with all that a tile needs to know of it, and its buffers.

use crate::program::{Carrier as Stated, Feed, LeadingProgram};
use crate::scalar::Number;
use crate::sweep::{JetNetwork, Weights, Workspace};
use bilo_expr::{Input, Scratch, Tape};
use bilo_linear::Simd;
use std::ops::Range;

/// A network that carries jets.
pub(crate) struct Carrier<T> {
    pub(super) network: JetNetwork<T>,
    /// Which unknowns its parameter inputs are.
    pub(super) parameters: Vec<usize>,
    /// The coefficients of its leading part.
    pub(super) leading: Option<LeadingProgram>,
    /// Where its weights begin among those of all networks.
    pub(super) offset: usize,
    /// Its coordinate inputs from the columns and the unknowns.
    inputs: Tape,
    /// The jets of its parameter inputs that are functions.
    pub(super) feeds: Vec<Feed>,
    /// Whether it stands for an unknown function.
    pub(super) given: bool,
    /// Whether nothing asks for it.
    pub(super) idle: bool,
}

/// Its buffers for one tile.
pub(crate) struct Room<T> {
    pub(super) work: Workspace<T>,
    /// Coefficients of its leading part.
    pub(super) leading: Scratch<T>,
    /// Jets of the functions that it is fed with.
    pub(super) feeds: Vec<Scratch<T>>,
}

impl<T: Number> Carrier<T> {
    pub(super) fn new(stated: &Stated, simd: Simd) -> Self {
        let moving = stated.leading.as_ref().is_some_and(|leading| leading.moving);
        let network = JetNetwork::new(stated.network.clone(), stated.plan.clone(), moving, simd);
        Self {
            network: network.fed(!stated.feeds.is_empty()),
            parameters: stated.parameters.clone(),
            leading: stated.leading.clone(),
            offset: stated.offset,
            inputs: stated.inputs.clone(),
            feeds: stated.feeds.clone(),
            given: stated.given,
            idle: stated.idle,
        }
    }

    /// Buffers for so many points and directions.
    pub(super) fn room(&self, points: usize, directions: usize) -> Room<T> {
        Room {
            work: self.network.workspace(points, directions),
            leading: Scratch::new(),
            feeds: self.feeds.iter().map(|_| Scratch::new()).collect(),
        }
    }

    /// Which of all weights are its own.
    pub(super) fn stretch(&self) -> Range<usize> {
        self.offset..self.offset + self.network.network().weights()
    }

    /// Its own part of something by weight.
    pub(super) fn own<'a, V>(&self, all: &'a [V]) -> &'a [V] {
        &all[self.stretch()]
    }

    /// Its own part of something by weight, to be written.
    pub(super) fn own_mut<'a, V>(&self, all: &'a mut [V]) -> &'a mut [V] {
        &mut all[self.stretch()]
    }

    /// Its weights among those of all networks, ready for the sweeps.
    pub(super) fn weights(&self, trained: &[f64]) -> Weights<T> {
        self.network.weights(self.own(trained))
    }

    /// Sets its coordinate inputs at so many points.
    pub(super) fn set_coordinates(
        &self,
        given: &[Input<'_, f64>],
        points: usize,
        scratch: &mut Scratch<f64>,
        work: &mut Workspace<T>,
    ) {
        self.inputs.eval(given, points, scratch);
        for input in 0..self.inputs.outputs().len() {
            let column = scratch.output(&self.inputs, input);
            self.network.set_coordinate(work, input, column.iter().map(|&value| T::cast(value)));
        }
    }

    /// Whether its coordinate inputs follow none of so many unknowns, which come after the columns.
    pub(super) fn stays(&self, columns: usize, unknowns: usize) -> bool {
        let follows = |input: usize, unknown: usize| self.inputs.depends_on(input, columns + unknown);
        (0..self.inputs.outputs().len()).all(|input| (0..unknowns).all(|unknown| !follows(input, unknown)))
    }

    /// Evaluates the coefficients of its leading part.
    pub(super) fn set_leading(&self, inputs: &[Input<'_, T>], points: usize, room: &mut Room<T>) {
        let Some(LeadingProgram { coefficients, .. }) = &self.leading else { return };
        coefficients.eval(inputs, points, &mut room.leading);
        for k in 0..self.network.plan().leading().len() {
            self.network.set_coefficient(&mut room.work, k, room.leading.output(coefficients, k));
        }
    }

    /// ∂c_k/∂η_j of every coefficient k of its leading part by one of so many unknowns, if any of them moves.
    pub(super) fn leading_slopes<'a>(
        &'a self,
        scratch: &'a Scratch<T>,
        unknown: usize,
        unknowns: usize,
    ) -> impl Iterator<Item = (usize, &'a [T])> {
        let moving = self.leading.as_ref().filter(|leading| leading.moving);
        moving.into_iter().flat_map(move |LeadingProgram { coefficients, .. }| {
            let count = self.network.plan().leading().len();
            (0..count).map(move |k| (k, scratch.output(coefficients, count + k * unknowns + unknown)))
        })
    }
}
