//! The lower level: Σ |r_q|², Σ |dr_q/dη|², and the weight gradient of their weighted sum.

use super::code::Code;
use super::linearised::Linearised;
use super::network::NetworkCode;
use super::{Kernel, Packing, Room, tape};
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
        let lower = Lower(Linearised::new(program, packing, precision, shape, &mut room));
        let sums = 2 * program.residuals;
        lower.0.tile.kernel(sums, &room, |code| lower.write(code))
    }
}

/// The columns that hold r_q and dr_q/dη_j later hold c_q and v_qj.
struct Lower<'a>(Linearised<'a>);

impl Lower<'_> {
    fn write(&self, code: &mut Code) {
        let tile = &self.0.tile;
        self.0.write(code);
        code.each_point(tile.points, |code| self.losses_and_seeds(code));
        code.line("if (!differentiate) continue;");
        tile.moved().for_each(|network| network.tangents(code));
        code.each_point(tile.points, |code| self.second(code));
        tile.moved().for_each(|network| network.reverse(code, 0..1, true));
        tile.moved().for_each(|network| network.gradient(code, true));
    }

    /// Adds up the losses and turns r and dr/dη into c_q = 2 r_q and v_qj = 2 w dr_q/dη_j, along which unknowns and
    /// coefficients move.
    fn losses_and_seeds(&self, code: &mut Code) {
        let Linearised { program, tile, .. } = &self.0;
        let count = program.residuals;
        code.line(format!("const bool real_point = tile*{} + p < count;", tile.points));
        for q in 0..count {
            code.line(format!("const real weight{q} = real_point ? (real)(2*terms[{q}]) : (real)0;"));
            code.line(format!("const double r{q} = {};", self.0.residual(q)));
            code.line(format!("if (real_point) sum{q} += r{q}*r{q};"));
            code.line(format!("{} *= weight{q};", self.0.residual(q)));
            for unknown in 0..tile.frame.unknowns {
                let name = format!("v{q}_{unknown}");
                code.line(format!("real {name} = {};", self.0.total_slope(q, unknown)));
                code.line(format!("if (real_point) sum{} += (double){name}*{name};", count + q));
                code.line(format!("{name} *= weight{q}*(real)terms[{count}];"));
                code.line(format!("{} = {name};", self.0.explicit_slope(q, unknown)));
            }
            tile.moved().for_each(|network| self.directions(code, network, q));
        }
    }

    fn directions(&self, code: &mut Code, network: &NetworkCode<'_>, q: usize) {
        for (input, unknown) in network.carrier.parameters.iter().enumerate() {
            code.line(format!("{} = v{q}_{unknown};", network.input(1, 1 + q, 0, input)));
        }
        for k in 0..network.carrier.plan.leading().len() {
            let mut terms = vec![];
            for unknown in (0..self.0.tile.frame.unknowns).filter(|_| network.moving()) {
                terms.push(format!("v{q}_{unknown}*{}", self.0.coefficient_slope(network, k, unknown)));
            }
            let sum = if terms.is_empty() { "0".into() } else { terms.join(" + ") };
            code.line(format!("{} = {sum};", network.coefficient_tangent(1 + q, k)));
        }
    }

    /// The derivative of Σ_q (c_q r_q + D_{v_q} r_q) by the slots, as adjoints of the outputs.
    fn second(&self, code: &mut Code) {
        let Linearised { program, tile, columns } = &self.0;
        let slots = &tile.frame.slots;
        let (inputs, seeds) = (
            slots.len() + tile.frame.columns + tile.frame.unknowns,
            program.residuals * (1 + tile.frame.unknowns),
        );
        code.line(format!("const long long at = point_of(tile, {}, p, count);", tile.points));
        let input = |number: usize| match number {
            _ if number < inputs => tile.tape_input(number),
            _ if number < inputs + seeds => {
                format!("work[{} + p]", columns + (number - inputs) * tile.points)
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
