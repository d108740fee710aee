//! Residuals on a tile with their first derivatives.

use super::code::Code;
use super::network::NetworkCode;
use super::{Packing, Room, Tile, tape};
use bilo_jet::{Precision, ResidualProgram};

/// Jets forward, and from every residual an adjoint back, in a group of its own.
pub(super) struct Linearised<'a> {
    pub(super) program: &'a ResidualProgram,
    pub(super) tile: Tile<'a>,
    /// Columns of r_q, then of dr_q/dη_j by q.
    pub(super) columns: usize,
}

impl<'a> Linearised<'a> {
    pub(super) fn new(
        program: &'a ResidualProgram,
        packing: &'a Packing,
        precision: Precision,
        shape: (usize, usize),
        room: &mut Room,
    ) -> Self {
        let tile = Tile::new(&program.frame, packing, precision, shape, program.residuals, room);
        let columns = room.take(program.residuals * (1 + program.frame.unknowns) * tile.points);
        Self { program, tile, columns }
    }

    /// r_q at point p.
    pub(super) fn residual(&self, q: usize) -> String {
        format!("work[{} + p]", self.columns + q * self.tile.points)
    }

    /// dr_q/dη_j at point p where the unknown stands in the residual itself.
    pub(super) fn explicit_slope(&self, q: usize, unknown: usize) -> String {
        let column = self.program.residuals + q * self.tile.frame.unknowns + unknown;
        format!("work[{} + p]", self.columns + column * self.tile.points)
    }

    /// All of dr_q/dη_j: also through inputs of networks, and through coefficients of leading parts.
    pub(super) fn total_slope(&self, q: usize, unknown: usize) -> String {
        let tile = &self.tile;
        let mut terms = vec![self.explicit_slope(q, unknown)];
        terms.extend(Tile::unknown_adjoint(tile.moved(), unknown, 1 + q));
        for network in tile.moved().filter(|network| network.moving()) {
            for k in 0..network.carrier.plan.leading().len() {
                let slope = self.coefficient_slope(network, k, unknown);
                terms.push(format!("{}*{slope}", network.coefficient_adjoint(1 + q, k)));
            }
        }
        terms.join(" + ")
    }

    /// ∂c_k/∂η_j at point p.
    pub(super) fn coefficient_slope(&self, network: &NetworkCode<'_>, k: usize, unknown: usize) -> String {
        let column = k * self.tile.frame.unknowns + unknown;
        format!("work[{} + p]", network.coefficient_slopes + column * self.tile.points)
    }

    pub(super) fn write(&self, code: &mut Code) {
        self.tile.forward(code);
        code.each_point(self.tile.points, |code| self.linearise(code));
        let groups = 1..1 + self.program.residuals;
        self.tile.moved().for_each(|network| network.reverse(code, groups.clone(), false));
    }

    /// r_q, its derivatives by the slots as adjoints of the outputs, and by unknowns where these stand themselves.
    fn linearise(&self, code: &mut Code) {
        let Self { program, tile, .. } = self;
        let (count, slots) = (program.residuals, &tile.frame.slots);
        code.line(format!("const long long at = point_of(tile, {}, p, count);", tile.points));
        let values = tape::evaluate(code, &program.linearisation, "real", "t", &|i| tile.tape_input(i));
        for q in 0..count {
            code.line(format!("{} = {};", self.residual(q), values[q]));
            for (number, &slot) in slots.iter().enumerate() {
                if !tile.networks[slot.network].carrier.given {
                    let by_slot = &values[count + q * slots.len() + number];
                    code.line(format!("{} = {by_slot};", tile.slot_adjoint(slot, 1 + q)));
                }
            }
            for unknown in 0..tile.frame.unknowns {
                let by_unknown = &values[count * (1 + slots.len()) + q * tile.frame.unknowns + unknown];
                code.line(format!("{} = {by_unknown};", self.explicit_slope(q, unknown)));
            }
        }
    }
}
