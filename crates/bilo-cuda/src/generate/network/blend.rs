//! The gates of the modified MLP: u + g (v - u), a product of jets.

use super::NetworkCode;
use crate::generate::code::{Code, number};

impl NetworkCode<'_> {
    pub(super) fn blend_forward(&self, code: &mut Code, node: usize, sources: [usize; 3], group: usize) {
        let plane = self.plane(node);
        let [gate, u, v] = sources.map(|source| self.forward_at(source, 0));
        let [gate_g, u_g, v_g] = sources.map(|source| self.forward_at(source, group));
        let target = self.forward_at(node, group);
        code.block(format!("EACH(i, {plane})"), |code| {
            for alpha in 0..self.components() {
                let mut terms = vec![format!("work[{} + i]", u_g + alpha * plane)];
                for &(_, beta, gamma, k) in self.product_rule.iter().filter(|rule| rule.0 == alpha) {
                    let (b, c) = (beta * plane, gamma * plane);
                    let product = |gate: usize, u: usize, v: usize| {
                        format!(
                            "{}*work[{} + i]*(work[{} + i] - work[{} + i])",
                            number(k),
                            gate + b,
                            v + c,
                            u + c
                        )
                    };
                    terms.push(product(gate_g, u, v));
                    if group > 0 {
                        terms.push(product(gate, u_g, v_g));
                    }
                }
                code.line(format!("work[{} + i] = {};", target + alpha * plane, terms.join(" + ")));
            }
        });
        code.barrier();
    }

    pub(super) fn blend_reverse(
        &self,
        code: &mut Code,
        node: usize,
        sources: [usize; 3],
        group: usize,
        tangents: bool,
        written: &[bool],
    ) {
        let plane = self.plane(node);
        let adjoints = sources.map(|source| self.adjoint_at(source, group));
        code.block(format!("EACH(i, {plane})"), |code| {
            let mut sums = [const { Vec::<Vec<String>>::new() }; 3].map(|_| vec![vec![]; self.components()]);
            for (alpha, terms) in sums[1].iter_mut().enumerate() {
                terms.push(format!("work[{} + i]", self.adjoint_at(node, group) + alpha * plane));
            }
            for moved in 0..=if tangents { self.directions } else { 0 } {
                let from = if moved == 0 { group } else { moved };
                let [gate, u, v] = sources.map(|source| self.forward_at(source, moved));
                for &(alpha, beta, gamma, k) in &self.product_rule {
                    let at = self.adjoint_at(node, from) + alpha * plane;
                    let lambda = format!("{}*work[{at} + i]", number(k));
                    let (b, c) = (beta * plane, gamma * plane);
                    sums[0][beta].push(format!("{lambda}*(work[{} + i] - work[{} + i])", v + c, u + c));
                    sums[1][gamma].push(format!("-{lambda}*work[{} + i]", gate + b));
                    sums[2][gamma].push(format!("{lambda}*work[{} + i]", gate + b));
                }
            }
            for ((sums, adjoint), &source) in sums.iter().zip(adjoints).zip(&sources) {
                for (component, terms) in sums.iter().enumerate().filter(|(_, terms)| !terms.is_empty()) {
                    let sign = if written[source] { "+=" } else { "=" };
                    let to = adjoint + component * plane;
                    code.line(format!("work[{to} + i] {sign} {};", terms.join(" + ")));
                }
            }
        });
        code.barrier();
    }
}
