//! A loss Σ weight · density with its gradients by the unknowns and the weights.

use super::code::Code;
use super::network::NetworkCode;
use super::{Kernel, Packing, Room, Tile, tape};
use bilo_jet::{DensityProgram, Precision};

impl Kernel {
    /// The kernel of a density program. Sums: the loss, then its derivative by each unknown.
    pub(crate) fn density(
        program: &DensityProgram,
        packing: &Packing,
        precision: Precision,
        shape: (usize, usize),
    ) -> Self {
        let mut room = Room::default();
        let tile = Tile::new(&program.frame, packing, precision, shape, 0, &mut room);
        let explicit = room.take(program.frame.unknowns * tile.points);
        let loss = Loss { program, tile, explicit };
        let sums = 1 + program.frame.unknowns;
        loss.tile.kernel(sums, &room, |code| loss.write(code))
    }
}

struct Loss<'a> {
    program: &'a DensityProgram,
    tile: Tile<'a>,
    /// Columns of the derivatives by unknowns where these stand themselves.
    explicit: usize,
}

impl Loss<'_> {
    fn explicit(&self, unknown: usize) -> String {
        format!("work[{} + p]", self.explicit + unknown * self.tile.points)
    }

    fn write(&self, code: &mut Code) {
        let Self { program, tile, .. } = self;
        tile.forward(code);
        code.each_point(tile.points, |code| self.value(code));
        // From the last to the first: what a network is fed with comes from those before it.
        for network in tile.active().rev().filter(|network| self.is_swept(network)) {
            network.reverse(code, 0..1, false);
            if program.moves.moves(true) && !network.carrier.feeds.is_empty() {
                code.each_point(tile.points, |code| self.feed_adjoint(code, network));
            }
        }
        code.each_point(tile.points, |code| {
            for unknown in 0..tile.frame.unknowns {
                let mut terms = vec![self.explicit(unknown)];
                let swept = tile.active().filter(|network| self.is_swept(network));
                terms.extend(Tile::unknown_adjoint(swept, unknown, 0));
                code.line(format!("sum{} += (double)({});", 1 + unknown, terms.join(" + ")));
            }
        });
        code.line("if (!differentiate) continue;");
        for network in tile.active().filter(|network| program.moves.moves(network.carrier.given)) {
            network.gradient(code, false);
        }
    }

    /// Whether adjoints are swept back through a network.
    fn is_swept(&self, network: &NetworkCode<'_>) -> bool {
        !network.carrier.given || self.program.moves.moves(true)
    }

    /// The density, its derivatives through moving inputs, and its adjoints by slots and unknowns.
    fn value(&self, code: &mut Code) {
        let Self { program, tile, .. } = self;
        let slots = &tile.frame.slots;
        code.line(format!("const long long at = point_of(tile, {}, p, count);", tile.points));
        // Where a tile is only filled up the weight is zero.
        code.line(format!("const double weight = tile*{} + p < count ? terms[at] : 0;", tile.points));
        let tape = &program.density;
        let values = tape::evaluate(code, tape, "real", "t", &|i| tile.tape_input(i));
        code.block("if (weight != 0)", |code| {
            code.line(format!("sum0 += (double){}*(double)(real)weight;", values[0]));
            for (output, unknown) in program.moving.iter().enumerate() {
                code.line(format!(
                    "sum{} += (double){}*(double)(real)weight;",
                    1 + unknown,
                    values[1 + output]
                ));
            }
        });
        let mut seeds = vec![None; values.len()];
        seeds[0] = Some("(real)weight".to_string());
        let adjoints = tape::adjoint(code, tape, "t", &seeds);
        let value = |input: usize| adjoints[input].clone().unwrap_or_else(|| "0".into());
        for (number, &slot) in slots.iter().enumerate() {
            code.line(format!("{} = {};", tile.slot_adjoint(slot, 0), value(number)));
        }
        for unknown in 0..tile.frame.unknowns {
            let input = slots.len() + tile.frame.columns + unknown;
            code.line(format!("{} = {};", self.explicit(unknown), value(input)));
        }
    }

    /// Adds what a network's adjoint owes to the slots behind the functions that it is fed with.
    fn feed_adjoint(&self, code: &mut Code, network: &NetworkCode<'_>) {
        let tile = &self.tile;
        code.line(format!("const long long at = point_of(tile, {}, p, count);", tile.points));
        for (number, feed) in network.carrier.feeds.iter().enumerate() {
            let prefix = format!("f{number}_");
            let values = tape::evaluate(code, &feed.jets, "real", &prefix, &|i| tile.tape_input(i));
            let seeds: Vec<_> = (0..values.len())
                .map(|component| Some(network.parameter_adjoint(0, component, feed.input)))
                .collect();
            let adjoints = tape::adjoint(code, &feed.jets, &prefix, &seeds);
            for (&slot, adjoint) in tile.frame.slots.iter().zip(adjoints) {
                if let Some(adjoint) = adjoint {
                    code.line(format!("{} += {adjoint};", tile.slot_adjoint(slot, 0)));
                }
            }
        }
    }
}
