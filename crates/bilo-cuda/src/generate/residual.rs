//! The lower level: Σ |r_q|², Σ |dr_q/dη|², and the weight gradient of their weighted sum.

use super::code::Code;
use super::network::NetworkCode;
use super::{Kernel, Packing, Room, Tile, tape};
use bilo_jet::{Precision, ResidualProgram};

impl Kernel {
    /// The kernel of a residual program. Sums: Σ r_q² by q, then Σ |dr_q/dη|².
    pub(crate) fn residual(
        program: &ResidualProgram,
        packing: &Packing,
        precision: Precision,
        shape: (usize, usize),
    ) -> Self {
        let mut room = Room::default();
        let tile = Tile::new(&program.frame, packing, shape, program.residuals, &mut room);
        let columns = program.residuals * (1 + program.frame.unknowns);
        let seeds = room.take(columns * tile.points);
        let lower = Lower { program, tile, seeds };
        let sums = 2 * program.residuals;
        lower.tile.kernel(precision, sums, &room, |code| lower.write(code))
    }
}

struct Lower<'a> {
    program: &'a ResidualProgram,
    tile: Tile<'a>,
    /// Columns of r_q, then of dr_q/dη_j by q; later c_q and v_qj.
    seeds: usize,
}

impl Lower<'_> {
    fn residual(&self, q: usize) -> String {
        format!("work[{} + p]", self.seeds + q * self.tile.points)
    }

    fn slope(&self, q: usize, unknown: usize) -> String {
        let column = self.program.residuals + q * self.tile.frame.unknowns + unknown;
        format!("work[{} + p]", self.seeds + column * self.tile.points)
    }

    fn write(&self, code: &mut Code) {
        let (tile, directions) = (&self.tile, self.program.residuals);
        tile.forward(code);
        code.each_point(tile.points, |code| self.linearise(code));
        tile.moved().for_each(|network| network.reverse(code, 1..1 + directions, false));
        code.each_point(tile.points, |code| self.losses_and_seeds(code));
        code.line("if (!differentiate) continue;");
        tile.moved().for_each(|network| network.tangents(code));
        code.each_point(tile.points, |code| self.second(code));
        tile.moved().for_each(|network| network.reverse(code, 0..1, true));
        tile.moved().for_each(|network| network.gradient(code, true));
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
                code.line(format!("{} = {by_unknown};", self.slope(q, unknown)));
            }
        }
    }

    /// Adds up the losses and turns r and dr/dη into c_q = 2 r_q and v_qj = 2 w dr_q/dη_j, along which unknowns and
    /// coefficients move.
    fn losses_and_seeds(&self, code: &mut Code) {
        let (tile, count) = (&self.tile, self.program.residuals);
        code.line(format!("const bool real_point = tile*{} + p < count;", tile.points));
        for q in 0..count {
            code.line(format!("const real weight{q} = real_point ? (real)(2*terms[{q}]) : (real)0;"));
            code.line(format!("const double r{q} = {};", self.residual(q)));
            code.line(format!("if (real_point) sum{q} += r{q}*r{q};"));
            code.line(format!("{} *= weight{q};", self.residual(q)));
            for unknown in 0..tile.frame.unknowns {
                let mut terms = vec![self.slope(q, unknown)];
                terms.extend(Tile::unknown_adjoint(tile.moved(), unknown, 1 + q));
                for network in tile.moved().filter(|network| network.moving()) {
                    for k in 0..network.carrier.plan.leading().len() {
                        let slope = self.coefficient_slope(network, k, unknown);
                        terms.push(format!("{}*{slope}", network.coefficient_adjoint(1 + q, k)));
                    }
                }
                let name = format!("v{q}_{unknown}");
                code.line(format!("real {name} = {};", terms.join(" + ")));
                code.line(format!("if (real_point) sum{} += (double){name}*{name};", count + q));
                code.line(format!("{name} *= weight{q}*(real)terms[{count}];"));
                code.line(format!("{} = {name};", self.slope(q, unknown)));
            }
            tile.moved().for_each(|network| self.directions(code, network, q));
        }
    }

    fn coefficient_slope(&self, network: &NetworkCode<'_>, k: usize, unknown: usize) -> String {
        let column = k * self.tile.frame.unknowns + unknown;
        format!("work[{} + p]", network.coefficient_slopes + column * self.tile.points)
    }

    fn directions(&self, code: &mut Code, network: &NetworkCode<'_>, q: usize) {
        for (input, unknown) in network.carrier.parameters.iter().enumerate() {
            code.line(format!("{} = v{q}_{unknown};", network.input(1, 1 + q, 0, input)));
        }
        for k in 0..network.carrier.plan.leading().len() {
            let mut terms = vec![];
            for unknown in (0..self.tile.frame.unknowns).filter(|_| network.moving()) {
                terms.push(format!("v{q}_{unknown}*{}", self.coefficient_slope(network, k, unknown)));
            }
            let sum = if terms.is_empty() { "0".into() } else { terms.join(" + ") };
            code.line(format!("{} = {sum};", network.coefficient_tangent(1 + q, k)));
        }
    }

    /// The derivative of Σ_q (c_q r_q + D_{v_q} r_q) by the slots, as adjoints of the outputs.
    fn second(&self, code: &mut Code) {
        let Self { program, tile, .. } = self;
        let slots = &tile.frame.slots;
        let (inputs, seeds) = (
            slots.len() + tile.frame.columns + tile.frame.unknowns,
            program.residuals * (1 + tile.frame.unknowns),
        );
        code.line(format!("const long long at = point_of(tile, {}, p, count);", tile.points));
        let input = |number: usize| match number {
            _ if number < inputs => tile.tape_input(number),
            _ if number < inputs + seeds => {
                format!("work[{} + p]", self.seeds + (number - inputs) * tile.points)
            }
            _ => {
                let tangent = number - inputs - seeds;
                tile.slot(slots[tangent % slots.len()], 1 + tangent / slots.len())
            }
        };
        let values = tape::evaluate(code, &program.second, "real", "t", &input);
        for (&slot, value) in slots.iter().zip(values) {
            if !tile.networks[slot.network].carrier.given {
                code.line(format!("{} = {value};", tile.slot_adjoint(slot, 0)));
            }
        }
    }
}
