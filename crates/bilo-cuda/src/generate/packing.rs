//! The numbers of all networks as the kernels want them: every matrix twice, transposed for the way forward and as it
//! is for the way back, with rows filled up to multiples of four.

use super::pad;
use bilo_jet::{Carrier, Frame, Operation, Store};

/// Where the numbers of a frame's networks lie in one list.
#[derive(PartialEq)]
pub(crate) struct Packing {
    /// By network and node: the affine map's matrices and bias.
    maps: Vec<Vec<Option<Map>>>,
    /// The list with what is frozen; trained numbers are zero.
    pub(crate) image: Vec<f64>,
    /// Trained weights and their places in the list.
    pub(crate) trained: Vec<(u32, u32)>,
}

/// Places of one affine map.
#[derive(PartialEq)]
pub(super) struct Map {
    /// By source: (transposed matrix, matrix).
    pub(super) matrices: Vec<(usize, usize)>,
    pub(super) bias: usize,
}

impl Packing {
    pub(crate) fn new(frame: &Frame) -> Self {
        let mut packing = Self { maps: vec![], image: vec![], trained: vec![] };
        for carrier in &frame.carriers {
            let nodes = carrier.network.nodes();
            let maps = nodes.iter().map(|node| match &node.operation {
                Operation::Affine { sources, bias } => {
                    let matrices = sources
                        .iter()
                        .map(|source| {
                            let columns = nodes[source.node].width;
                            let place = |transposed| (source.matrix, node.width, columns, transposed);
                            (packing.put(carrier, place(true)), packing.put(carrier, place(false)))
                        })
                        .collect();
                    let bias = packing.put(carrier, (*bias, 1, node.width, false));
                    Some(Map { matrices, bias })
                }
                _ => None,
            });
            let maps = maps.collect();
            packing.maps.push(maps);
        }
        packing
    }

    pub(super) fn map(&self, network: usize, node: usize) -> &Map {
        self.maps[network][node].as_ref().expect("an affine map")
    }

    /// Takes in a matrix of so many rows and columns, perhaps transposed, and says where it begins.
    fn put(
        &mut self,
        carrier: &Carrier,
        (store, rows, columns, transposed): (Store, usize, usize, bool),
    ) -> usize {
        let (down, stride) = if transposed { (columns, pad(rows)) } else { (rows, pad(columns)) };
        let start = self.image.len();
        self.image.resize(start + pad(down) * stride, 0.0);
        for entry in 0..rows * columns {
            let (row, column) = (entry / columns, entry % columns);
            let place = start + if transposed { column * stride + row } else { row * stride + column };
            match store {
                Store::Frozen(offset) => self.image[place] = carrier.network.frozen()[offset + entry],
                Store::Trained(offset) => {
                    self.trained.push(((carrier.offset + offset + entry) as u32, place as u32));
                }
            }
        }
        start
    }
}
