//! From programs to CUDA C++: one kernel for each program, in which a block takes tile after tile through everything that
//! the CPU device does to one. All sizes are constants of the text, and tapes and nonlinearities straight-line code.

mod activation;
mod code;
mod density;
mod linearised;
mod network;
mod packing;
mod residual;
mod rows;
mod tape;

pub(crate) use packing::Packing;
pub(crate) use rows::MapFactors;

use bilo_jet::{Frame, Operation, Precision, Slot};
use bilo_optim::Adam;
use code::Code;
use network::NetworkCode;

/// Device functions that all kernels share.
const PRELUDE: &str = include_str!("generate/prelude.cu");

/// Products by tensor cores.
const TENSOR: &str = include_str!("generate/tensor.cu");

/// What the kernels that belong to no program do.
const COMMON: &str = include_str!("generate/common.cu");

/// The kernels of linear systems.
const DUAL: &str = include_str!("generate/dual.cu");

/// Shared memory that a block may have: what every card since 2017 grants.
const SHARED_BYTES: usize = 96 << 10;

/// Chunks of a product's factors that shared memory has room for.
const STAGES: usize = 2;

/// Numbers between rows in shared memory with which the lanes of a warp of tensor cores' products read from different banks: of
/// rows that they read along, and of rows that they read across.
const GAPS: [usize; 2] = [4, 8];

/// Most rows that a thread makes of a product, each of four columns.
const MOST_ROWS: usize = 8;

/// The place of a weight that has none.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Numbers after the end of a workspace that may be read, though nothing comes of them.
const SLACK: usize = 64;

/// A kernel and the memory that a block of it takes.
pub(crate) struct Kernel {
    /// Its text, with all that it needs.
    pub(crate) source: String,
    /// Points of a tile.
    pub(crate) points: usize,
    /// Numbers of a block's workspace.
    pub(crate) work: usize,
    /// Sums over the points.
    pub(crate) sums: usize,
    /// Bytes of shared memory of a block.
    pub(crate) shared: usize,
}

/// The next multiple of four.
pub(crate) fn pad(width: usize) -> usize {
    width.next_multiple_of(4)
}

/// Blocks on a multiprocessor at a time: while the threads of one wait for each other, those of the other work. In double
/// precision two would have too few registers.
pub(crate) fn blocks_each(precision: Precision) -> usize {
    match precision {
        Precision::F32 | Precision::Tf32 => 2,
        Precision::F64 => 1,
    }
}

/// Rows of a tile that a thread makes of a product. More mean more multiplications for every read of shared memory; but
/// with two blocks, what all of them work on would no longer stay near. Tensor cores multiply so fast that they wait for
/// the matrix, which more rows share.
pub(crate) fn rows_each(precision: Precision) -> usize {
    match precision {
        Precision::F32 => 6,
        Precision::Tf32 => 12,
        Precision::F64 => MOST_ROWS,
    }
}

/// Whether kernels can be made for the networks: those that are trained.
pub(crate) fn is_supported(frame: &Frame) -> bool {
    let nodes = frame.carriers.iter().flat_map(|carrier| carrier.network.nodes());
    nodes.into_iter().all(|node| !matches!(node.operation, Operation::Tensor(_)))
}

/// The workspace of a block while it is laid out.
#[derive(Default)]
struct Room {
    taken: usize,
}

impl Room {
    /// So many numbers, from a multiple of four on.
    fn take(&mut self, numbers: usize) -> usize {
        let start = self.taken;
        self.taken += pad(numbers);
        start
    }
}

/// Sizes of a kernel.
#[derive(Clone, Copy)]
struct Shape {
    /// Points of a tile.
    points: usize,
    /// Threads of a block.
    threads: usize,
    /// Directions along which tangents are carried.
    directions: usize,
    unknowns: usize,
    /// Whether tensor cores make the products that they can.
    tensor: bool,
}

/// What all kinds of kernels are made from.
struct Tile<'a> {
    frame: &'a Frame,
    networks: Vec<NetworkCode<'a>>,
    precision: Precision,
    points: usize,
    threads: usize,
}

impl<'a> Tile<'a> {
    fn new(
        frame: &'a Frame,
        packing: &'a Packing,
        precision: Precision,
        (points, threads): (usize, usize),
        directions: usize,
        room: &mut Room,
    ) -> Self {
        let tensor = precision == Precision::Tf32;
        let shape = Shape { points, threads, directions, unknowns: frame.unknowns, tensor };
        let networks = (frame.carriers.iter().enumerate())
            .map(|(number, carrier)| NetworkCode::new(carrier, number, packing, shape, room))
            .collect();
        let mut tile = Self { frame, networks, precision, points, threads };
        // Tensor cores take eight numbers at a time.
        let fits = tile.chunk() >= 8;
        tile.networks.iter_mut().for_each(|network| network.tensor &= fits);
        tile
    }

    /// Numbers of either factor of a product that come to shared memory at a time, along the sums.
    fn chunk(&self) -> usize {
        let fits = |chunk: &usize| STAGES * self.stage(*chunk) * bytes(self.precision) <= SHARED_BYTES;
        [32, 16, 8, 4].into_iter().find(fits).unwrap_or(4)
    }

    /// Numbers that come there with such a chunk.
    fn stage(&self, chunk: usize) -> usize {
        self.active().map(|network| network.stage(chunk)).max().unwrap_or(0).max(256)
    }

    /// The kernel that does this to every tile, with so many sums over the points.
    fn kernel(&self, sums: usize, room: &Room, write: impl FnOnce(&mut Code)) -> Kernel {
        let chunk = self.chunk();
        let stage = self.stage(chunk);
        let sizes = sizes(self.precision, self.threads, chunk, stage);
        let tensor = match self.networks.iter().any(|network| network.tensor) {
            true => format!("#define GAP_ALONG {}\n#define GAP_ACROSS {}\n{TENSOR}", GAPS[0], GAPS[1]),
            false => String::new(),
        };
        let text = kernel(self.frame, sums, (self.threads, blocks_each(self.precision)), write);
        Kernel {
            source: format!("{sizes}#define TILE_POINTS {}\n{PRELUDE}\n{tensor}\n{text}", self.points),
            points: self.points,
            work: pad(room.taken + SLACK),
            sums,
            shared: STAGES * stage * bytes(self.precision),
        }
    }

    /// The networks that something asks for.
    fn active(&self) -> impl DoubleEndedIterator<Item = &NetworkCode<'a>> {
        self.networks.iter().filter(|network| !network.carrier.idle)
    }

    /// Those of them that the lower level moves.
    fn moved(&self) -> impl Iterator<Item = &NetworkCode<'a>> {
        self.active().filter(|network| !network.carrier.given)
    }

    /// An input of every tape, at point p.
    fn tape_input(&self, number: usize) -> String {
        let Frame { slots, columns, .. } = self.frame;
        match number {
            _ if number < slots.len() => self.slot(slots[number], 0),
            _ if number < slots.len() + columns => format!("(real){}", column(number - slots.len())),
            _ => unknown(number - slots.len() - columns),
        }
    }

    /// A slot, or its tangent along a direction (from 1), at point p.
    fn slot(&self, slot: Slot, group: usize) -> String {
        self.networks[slot.network].output(group, slot.component, slot.output)
    }

    fn slot_adjoint(&self, slot: Slot, group: usize) -> String {
        self.networks[slot.network].output_adjoint(group, slot.component, slot.output)
    }

    /// Inputs, coefficients of leading parts, and the jets of all networks.
    fn forward(&self, code: &mut Code) {
        code.each_point(self.points, |code| self.load(code));
        for network in self.active() {
            if !network.carrier.feeds.is_empty() {
                code.each_point(self.points, |code| self.feed(code, network));
            }
            network.forward(code);
        }
    }

    fn load(&self, code: &mut Code) {
        code.line(format!("const long long at = point_of(tile, {}, p, count);", self.points));
        for (number, network) in self.networks.iter().enumerate().filter(|(_, n)| !n.carrier.idle) {
            let carrier = network.carrier;
            // Inputs in double precision, so that a coordinate far from zero is scaled before it is rounded.
            let input = |input: usize| match input < self.frame.columns {
                true => column(input),
                false => format!("(double){}", unknown(input - self.frame.columns)),
            };
            let inputs = tape::evaluate(code, &carrier.inputs, "double", &format!("n{number}_"), &input);
            for (place, value) in inputs.iter().enumerate() {
                code.line(format!("{} = (real){value};", network.input(0, 0, 0, place)));
                if let Some(component) = carrier.plan.successor(0, place) {
                    code.line(format!("{} = 1;", network.input(0, 0, component, place)));
                }
            }
            for (place, &parameter) in carrier.parameters.iter().enumerate() {
                code.line(format!("{} = {};", network.input(1, 0, 0, place), unknown(parameter)));
            }
            self.load_leading(code, number, network);
        }
    }

    /// c_k and ∂c_k/∂η_j; the leading part of a coordinate is the coefficient of its first derivative.
    fn load_leading(&self, code: &mut Code, number: usize, network: &NetworkCode<'_>) {
        let Some(leading) = &network.carrier.leading else { return };
        let plan = &network.carrier.plan;
        let component = plan.leading_component().expect("it has a leading part");
        let input = |input: usize| match input < self.frame.columns {
            true => format!("(real){}", column(input)),
            false => unknown(input - self.frame.columns),
        };
        let values = tape::evaluate(code, &leading.coefficients, "real", &format!("l{number}_"), &input);
        let (coefficients, slopes) = values.split_at(plan.leading().len());
        for (k, value) in coefficients.iter().enumerate() {
            code.line(format!("work[{} + p] = {value};", network.coefficients + k * self.points));
            let inputs = 0..network.carrier.network.coordinates();
            if let Some(input) = inputs.into_iter().find(|&input| plan.leading_slope(input) == Some(k)) {
                code.line(format!("{} = {value};", network.input(0, 0, component, input)));
            }
        }
        for (column, value) in slopes.iter().enumerate().filter(|_| leading.moving) {
            code.line(format!("work[{} + p] = {value};", network.coefficient_slopes + column * self.points));
        }
    }

    /// The jets of the functions among a network's parameters, which come from networks before it.
    fn feed(&self, code: &mut Code, network: &NetworkCode<'_>) {
        code.line(format!("const long long at = point_of(tile, {}, p, count);", self.points));
        for (number, feed) in network.carrier.feeds.iter().enumerate() {
            let values =
                tape::evaluate(code, &feed.jets, "real", &format!("f{number}_"), &|i| self.tape_input(i));
            for (component, value) in values.iter().enumerate() {
                code.line(format!("{} = {value};", network.input(1, 0, component, feed.input)));
            }
        }
    }

    /// The terms of an unknown's adjoint at point p that come through parameter inputs of networks.
    fn unknown_adjoint<'b>(
        networks: impl Iterator<Item = &'b NetworkCode<'a>>,
        unknown: usize,
        group: usize,
    ) -> Vec<String>
    where
        'a: 'b,
    {
        let reached = |network: &NetworkCode<'_>| {
            let input = network.carrier.parameters.iter().position(|&parameter| parameter == unknown)?;
            Some(network.parameter_adjoint(group, 0, input))
        };
        networks.filter_map(reached).collect()
    }
}

/// A column of the points at point p, in double precision.
fn column(number: usize) -> String {
    format!("columns[{number}*count + at]")
}

fn unknown(number: usize) -> String {
    format!("(real)unknowns[{number}]")
}

/// A whole kernel around what happens to a tile. Threads keep their own sums until the end; there they are added in order.
fn kernel(
    frame: &Frame,
    sums: usize,
    (threads, blocks): (usize, usize),
    tile: impl FnOnce(&mut Code),
) -> String {
    let mut code = Code::default();
    code.block(
        format!("extern \"C\" __global__ void __launch_bounds__({threads}, {blocks}) program(const word* args)"),
        |code| {
            code.line("const real* packed = (const real*)args[0];");
            code.line("const double* unknowns = (const double*)args[1];");
            code.line("const double* columns = (const double*)args[2];");
            code.line("const long long count = args[3];");
            code.line("const double* terms = (const double*)args[4];");
            code.line("real* work = (real*)args[5] + blockIdx.x*args[6];");
            code.line(format!("real* gradient = (real*)args[7] + (word)blockIdx.x*{};", pad(frame.weights)));
            code.line(format!(
                "double* sums = (double*)args[8] + (word)blockIdx.x*{};",
                sums * (1 + threads)
            ));
            code.line("const bool differentiate = args[9] != 0;");
            code.line("bool later = false;");
            // A block without a point, after a move to fewer of them, contributes nothing.
            code.line(format!(
                "if (differentiate && (long long)blockIdx.x*TILE_POINTS >= count) EACH(i, {}) gradient[i] = 0;",
                frame.weights
            ));
            (0..sums).for_each(|sum| code.line(format!("double sum{sum} = 0;")));
            code.barrier();
            code.block(
                "for (long long tile = blockIdx.x; tile*TILE_POINTS < count; tile += gridDim.x, later = true)",
                tile,
            );
            for sum in 0..sums {
                code.line(format!("sums[(1 + threadIdx.x)*{sums} + {sum}] = sum{sum};"));
            }
            code.barrier();
            code.block(format!("EACH(s, {sums})"), |code| {
                code.line("double total = 0;");
                code.line(format!(
                    "for (int t = 0; t < THREADS; t++) total += sums[(1 + t)*{sums} + s];"
                ));
                code.line("sums[s] = total;");
            });
        },
    );
    code.finish()
}

/// The text of the kernels that belong to no program.
pub(crate) fn common(precision: Precision, threads: usize) -> String {
    let adam = format!(
        "#define BETA1 {:e}\n#define BETA2 {:e}\n#define EPSILON {:e}\n",
        Adam::BETA1,
        Adam::BETA2,
        Adam::EPSILON
    );
    let sizes = sizes(precision, threads, 4, 256);
    format!("{sizes}{adam}#define NOWHERE {NOWHERE}u\n{PRELUDE}\n{COMMON}")
}

/// The text of the kernels of linear systems.
pub(crate) fn dual(precision: Precision, threads: usize) -> String {
    let sizes = sizes(precision, threads, 4, 256);
    format!("{sizes}{PRELUDE}\n#define SIDE {}\n{DUAL}", side(threads))
}

/// Rows and columns of a tile of which each thread makes 4 x 4 entries.
pub(crate) fn side(threads: usize) -> usize {
    4 * threads.isqrt()
}

/// What the prelude wants to know.
fn sizes(precision: Precision, threads: usize, chunk: usize, stage: usize) -> String {
    let (real, _) = real(precision);
    format!(
        "#define REAL {real}\n#define THREADS {threads}\n#define CHUNK {chunk}\n#define STAGES {STAGES}\n#define STAGE {stage}\n"
    )
}

/// Bytes of a number.
pub(crate) fn bytes(precision: Precision) -> usize {
    real(precision).1
}

/// The type of numbers and its bytes.
fn real(precision: Precision) -> (&'static str, usize) {
    match precision {
        Precision::F32 | Precision::Tf32 => ("float", 4),
        Precision::F64 => ("double", 8),
    }
}
