//! Products taken apart.

use crate::graph::{Expr, Graph, Node};
use crate::ops::{Binary, Unary};

impl Graph {
    /// An expression as a product of two: of its factors for which `apart` holds, and of the others. Equal sets of
    /// factors give the same first one, in whatever order they stand.
    pub fn split_product(&mut self, e: Expr, apart: &dyn Fn(&Graph, Expr) -> bool) -> (Expr, Expr) {
        let (mut above, mut below) = (vec![], vec![]);
        let mut rest = self.constant(1.0);
        self.take_factors(e, apart, (&mut above, &mut below), &mut rest);
        let mut product = |mut factors: Vec<Expr>| {
            factors.sort_unstable();
            let one = self.constant(1.0);
            factors.into_iter().fold(one, |product, factor| self.mul(product, factor))
        };
        let (above, below) = (product(above), product(below));
        (self.div(above, below), rest)
    }

    /// Adds the factors that go apart to those above and below the line, and multiplies the others into the rest.
    fn take_factors(
        &mut self,
        e: Expr,
        apart: &dyn Fn(&Graph, Expr) -> bool,
        (above, below): (&mut Vec<Expr>, &mut Vec<Expr>),
        rest: &mut Expr,
    ) {
        match self.node(e) {
            _ if !apart(self, e) => *rest = self.mul(*rest, e),
            Node::Binary(Binary::Mul, a, b) => {
                self.take_factors(a, apart, (above, below), rest);
                self.take_factors(b, apart, (above, below), rest);
            }
            Node::Binary(Binary::Div, a, b) => {
                self.take_factors(a, apart, (above, below), rest);
                let mut divisor = self.constant(1.0);
                self.take_factors(b, apart, (below, above), &mut divisor);
                *rest = self.div(*rest, divisor);
            }
            Node::Unary(Unary::Neg, a) => {
                self.take_factors(a, apart, (above, below), rest);
                *rest = self.neg(*rest);
            }
            _ => above.push(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Leaf, Scope, lower, parse};

    /// The two factors of an expression of x and of u, which goes apart, as text.
    fn split(graph: &mut Graph, scope: &Scope, text: &str) -> [String; 2] {
        let e = lower(&parse(text).expect("it parses"), graph, scope).expect("known names");
        let has_u = |graph: &Graph, e| {
            graph
                .leaves(&[e])
                .iter()
                .any(|leaf| matches!(leaf, Leaf::Symbol(s) if graph.symbol_name(*s) == "u"))
        };
        let (apart, rest) = graph.split_product(e, &has_u);
        [apart, rest].map(|e| graph.display(e).to_string())
    }

    #[test]
    fn factors_are_sorted_out() {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        for name in ["x", "u"] {
            let symbol = graph.symbol(name);
            let leaf = graph.leaf(symbol);
            scope.bind(name, leaf);
        }
        assert_eq!(split(&mut graph, &scope, "x*(1 + x)"), ["1", "x*(1 + x)"]);
        assert_eq!(split(&mut graph, &scope, "3*u*x"), ["u", "3*x"]);
        assert_eq!(split(&mut graph, &scope, "-(x*u)/(2*x + 1)"), ["u", "-x/(1 + 2*x)"]);
        let one_way = split(&mut graph, &scope, "(1 - u)*x*u");
        assert_eq!(one_way[1], "x");
        assert_eq!(one_way[0], split(&mut graph, &scope, "u*(x + 2)*(1 - u)")[0]);
        assert_eq!(split(&mut graph, &scope, "x/(u*(1 + x))"), ["1/u", "x/(1 + x)"]);
        assert_eq!(split(&mut graph, &scope, "u + x"), ["x + u", "1"]);
    }
}
