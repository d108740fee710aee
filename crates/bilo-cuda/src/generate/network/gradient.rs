//! The weight gradient of a tile, once the adjoints are swept back.

use super::product::by_tensor_cores;
use super::{NetworkCode, NodeRoom};
use crate::generate::code::Code;
use bilo_jet::{Operation, Store};

impl NetworkCode<'_> {
    /// Adds what the tile contributes to the block's weight gradient; that of the first tile is written over what was there.
    pub(in crate::generate) fn gradient(&self, code: &mut Code, tangents: bool) {
        for (node, map) in self.carrier.network.nodes().iter().enumerate() {
            let Operation::Affine { sources, bias } = &map.operation else { continue };
            for source in sources {
                if let Store::Trained(offset) = source.matrix {
                    self.matrix_gradient(code, node, source.node, offset, tangents);
                }
            }
            if let Store::Trained(offset) = bias {
                let NodeRoom { width, stride, .. } = self.nodes[node];
                code.line(format!(
                    "sum_rows<{}>(gradient + {}, {width}, work + {}, {stride}, later);",
                    self.points,
                    self.carrier.offset + offset,
                    self.adjoint_at(node, 0),
                ));
            }
        }
        code.barrier();
    }

    /// adjointᵀ · source over all live rows.
    fn matrix_gradient(&self, code: &mut Code, node: usize, source: usize, offset: usize, tangents: bool) {
        let (to, from) = (&self.nodes[node], &self.nodes[source]);
        // Quads of a thread's block along either side.
        let side = if to.width >= 64 && from.width >= 64 { 2 } else { 1 };
        let place = self.carrier.offset + offset;
        let whole = place.is_multiple_of(4) && from.width.is_multiple_of(4);
        let mut add = |first: usize, rows: usize, later: &str| {
            let (left, right) = (to.adjoint + first * to.stride, from.forward + first * from.stride);
            if from.stride == 4 {
                return code.line(format!(
                    "narrow_outer<{}, {rows}>(gradient + {place}, {}, {c}, {c}, 1, work + {left}, work + {right}, {later});",
                    to.stride,
                    to.width,
                    c = from.width,
                ));
            }
            if to.stride == 4 {
                return code.line(format!(
                    "narrow_outer<{}, {rows}>(gradient + {place}, {c}, 1, {}, {c}, work + {right}, work + {left}, {later});",
                    from.stride,
                    to.width,
                    c = from.width,
                ));
            }
            if self.tensor && by_tensor_cores([to.stride, from.stride]) {
                return code.line(format!(
                    "tensor_outer<{}, {}, {rows}>(gradient + {place}, {}, {}, work + {left}, work + {right}, {later});",
                    to.stride, from.stride, to.width, from.width,
                ));
            }
            code.line(format!(
                "outer<{side}, {}, {}, {rows}, {whole}>(gradient + {place}, {}, {}, work + {left}, work + {right}, {later});",
                to.stride / 4,
                from.stride / 4,
                to.width,
                from.width,
            ));
        };
        let (components, points) = (self.components(), self.points);
        let groups = if tangents { 1 + self.directions } else { 1 };
        let (jets, moving) = self.live(source);
        if jets == components && (moving == components || groups == 1) {
            return add(0, groups * components * points, "later");
        }
        add(0, jets * points, "later");
        for group in (1..groups).filter(|_| moving > 0) {
            add(group * components * points, moving * points, "true");
        }
    }
}
