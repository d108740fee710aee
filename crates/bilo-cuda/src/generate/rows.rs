//! The residuals at every point as rows of a problem of least squares: the rows, with the factors of their derivatives by
//! the weights, and sums of these derivatives.
//!
//! Where an affine map has the matrix W and the bias b, a residual has the derivative Σ_c λ_c (x_c, δ_c0)ᵀ by (W, b), a
//! sum over the components c of the plan; λ_c and (x_c, δ_c0) are its factors.

use super::code::Code;
use super::linearised::Linearised;
use super::network::NetworkCode;
use super::{Kernel, Packing, Room, Tile, pad, tape};
use bilo_jet::{Operation, Precision, ResidualProgram, Store};

/// The factors of an affine map in a list that has, for each point, so many numbers of one kind, then those of the next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapFactors {
    /// Which map it is.
    pub(crate) network: usize,
    pub(crate) node: usize,
    pub(crate) components: usize,
    /// Numbers by point before λ of the first residual; λ_c of each residual has `width` numbers by component.
    pub(crate) adjoints: usize,
    pub(crate) width: usize,
    /// Numbers by point before (x_c, δ_c0), which has `columns` numbers by component.
    pub(crate) inputs: usize,
    pub(crate) columns: usize,
}

impl Kernel {
    /// The kernel that writes rows: columns of r_q, then of dr_q/dη_j by q, to args[10]; if args[11] is not zero, also
    /// the factors to there, of which there are so many numbers by point. Those that fill rows up to a multiple of four
    /// are not written: they are taken for zero.
    pub(crate) fn rows(
        program: &ResidualProgram,
        packing: &Packing,
        precision: Precision,
        shape: (usize, usize),
    ) -> (Self, Vec<MapFactors>, usize) {
        let mut room = Room::default();
        let rows = Linearised::new(program, packing, precision, shape, &mut room);
        let (maps, numbers) = rows.maps();
        let kernel = rows.tile.kernel(0, &room, |code| rows.write_rows(code, &maps));
        (kernel, maps, numbers)
    }

    /// The kernel that adds up the rows' derivatives by the weights, each times one of the terms: columns by residual.
    pub(crate) fn pullback(
        program: &ResidualProgram,
        packing: &Packing,
        precision: Precision,
        shape: (usize, usize),
    ) -> Self {
        let mut room = Room::default();
        let tile = Tile::new(&program.frame, packing, precision, shape, 0, &mut room);
        tile.kernel(0, &room, |code| {
            tile.forward(code);
            code.each_point(tile.points, |code| seed(program, &tile, code));
            tile.moved().for_each(|network| network.reverse(code, 0..1, false));
            tile.moved().for_each(|network| network.gradient(code, false));
        })
    }
}

/// Σ_q term_q dr_q/d(slot), as adjoints of the outputs; zero at places that only fill up.
fn seed(program: &ResidualProgram, tile: &Tile<'_>, code: &mut Code) {
    let (count, slots) = (program.residuals, &tile.frame.slots);
    code.line(format!("const long long at = point_of(tile, {}, p, count);", tile.points));
    code.line(format!("const bool real_point = tile*{} + p < count;", tile.points));
    let values = tape::evaluate(code, &program.linearisation, "real", "t", &|i| tile.tape_input(i));
    for q in 0..count {
        code.line(format!("const real s{q} = real_point ? (real)terms[{q}*count + at] : (real)0;"));
    }
    for (number, &slot) in slots.iter().enumerate() {
        if !tile.networks[slot.network].carrier.given {
            let term = |q: usize| format!("s{q}*{}", values[count + q * slots.len() + number]);
            let terms: Vec<String> = (0..count).map(term).collect();
            code.line(format!("{} = {};", tile.slot_adjoint(slot, 0), terms.join(" + ")));
        }
    }
}

impl Linearised<'_> {
    /// The factors of all maps with something trained, and how many numbers they take by point.
    fn maps(&self) -> (Vec<MapFactors>, usize) {
        let (mut maps, mut taken) = (vec![], 0);
        for (number, network) in self.tile.networks.iter().enumerate() {
            if network.carrier.idle || network.carrier.given {
                continue;
            }
            let (nodes, components) = (network.carrier.network.nodes(), network.carrier.plan.len());
            for (node, map) in nodes.iter().enumerate() {
                let columns = columns(network, node).map(|(_, columns)| columns).sum::<usize>();
                if columns == 0 {
                    continue;
                }
                let (width, columns) = (pad(map.width), pad(columns));
                let adjoints = taken;
                let inputs = adjoints + self.program.residuals * components * width;
                taken = inputs + components * columns;
                maps.push(MapFactors { network: number, node, components, adjoints, width, inputs, columns });
            }
        }
        (maps, taken)
    }

    fn write_rows(&self, code: &mut Code, maps: &[MapFactors]) {
        let (tile, residuals) = (&self.tile, self.program.residuals);
        self.write(code);
        code.line("double* values = (double*)args[10];");
        code.line("real* factors = (real*)args[11];");
        code.block(format!("EACH(p, {})", tile.points), |code| {
            code.line(format!("const long long at = tile*{} + p;", tile.points));
            code.line("if (at >= count) continue;");
            for q in 0..residuals {
                code.line(format!("values[{q}*count + at] = {};", self.residual(q)));
                for unknown in 0..tile.frame.unknowns {
                    let column = residuals + q * tile.frame.unknowns + unknown;
                    code.line(format!("values[{column}*count + at] = {};", self.total_slope(q, unknown)));
                }
            }
        });
        code.block("if (factors)", |code| maps.iter().for_each(|map| self.write_factors(code, map)));
        code.barrier();
    }

    fn write_factors(&self, code: &mut Code, map: &MapFactors) {
        let (network, components) = (&self.tile.networks[map.network], map.components);
        let points = self.tile.points;
        for q in 0..self.program.residuals {
            let before = map.adjoints + q * components * map.width;
            let (start, stride) = network.adjoint_rows(map.node, 1 + q);
            code.line(format!(
                "write_rows<{points}, {components}, {}>(factors + {before}*count, {}, 0, work + {start}, {stride}, {components}, tile, count);",
                network.width(map.node),
                map.width
            ));
        }
        let mut column = 0;
        for (source, width) in columns(network, map.node) {
            let (from, stride, live) = match source {
                Some(source) => {
                    let (start, stride) = network.forward_rows(source);
                    (format!("work + {start}"), stride, network.live_jets(source))
                }
                None => ("(const real*)0".into(), 0, 1),
            };
            code.line(format!(
                "write_rows<{points}, {components}, {width}>(factors + {}*count, {}, {column}, {from}, {stride}, {live}, tile, count);",
                map.inputs, map.columns
            ));
            column += width;
        }
    }
}

/// What the trained numbers of an affine map are multiplied with: nodes and their widths, one column of ones for a bias.
fn columns<'b>(
    network: &'b NetworkCode<'_>,
    node: usize,
) -> impl Iterator<Item = (Option<usize>, usize)> + 'b {
    let operation = &network.carrier.network.nodes()[node].operation;
    let (sources, bias) = match operation {
        Operation::Affine { sources, bias } => (&sources[..], matches!(bias, Store::Trained(_))),
        _ => (&[][..], false),
    };
    let trained = sources.iter().filter(|source| matches!(source.matrix, Store::Trained(_)));
    let matrices = trained.map(|source| (Some(source.node), network.width(source.node)));
    matrices.chain(bias.then_some((None, 1)))
}
