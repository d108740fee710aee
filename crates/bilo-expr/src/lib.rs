//! The expression language of `bilo`: the way from text such as `u_t - 0.01*D*u_xx - rho*u*(1-u)` to numbers and
//! derivatives at many points at once.
//!
//! [`parse`] turns text into an [`Ast`]; [`lower`] looks its names up in a [`Scope`] and writes it into a [`Graph`], taking
//! derivatives and expanding `grad`, `div`, `lap` and `dot` on the way; [`Tape::compile`] flattens expressions into
//! instructions; [`Tape::eval`] runs them over columns of points and [`Tape::adjoint`] runs them backwards.
//!
//! ```
//! use bilo_expr::{Graph, Input, Leaf, Scope, Scratch, Tape, lower, parse};
//!
//! // A state u(x, t) about which nothing is known yet, and a parameter D.
//! let mut graph = Graph::new();
//! let (x, t, d) = (graph.symbol("x"), graph.symbol("t"), graph.symbol("D"));
//! let inputs = vec![graph.leaf(x), graph.leaf(t)];
//! let u = graph.function("u", inputs);
//!
//! // What the names in a text mean.
//! let mut scope = Scope::new();
//! let (u, d_leaf) = (graph.value(u), graph.leaf(d));
//! scope.bind("u", u);
//! scope.bind("D", d_leaf);
//! scope.variable("x", x);
//! scope.variable("t", t);
//! scope.space(vec![x]);
//!
//! let residual = lower(&parse("u_t - div(0.01*D*grad(u))").unwrap(), &mut graph, &scope).unwrap();
//! assert_eq!(graph.display(residual).to_string(), "u_t - 0.01*D*u_xx");
//!
//! // A mistake is shown where it is, with what to write instead.
//! let error = lower(&parse("u_t - E*u_xx").unwrap(), &mut graph, &scope).unwrap_err();
//! assert_eq!((error.span.start, error.span.end), (6, 7));
//! assert_eq!(error.message, "unknown name `E`");
//!
//! // At two points, with u_t and u_xx given per point and D the same everywhere.
//! let leaves = graph.leaves(&[residual]);
//! let tape = Tape::compile(&graph, &[residual], &leaves).unwrap();
//! let (u_t, u_xx) = ([1.0, 2.0], [100.0, 0.0]);
//! let given: Vec<Input<f64>> = leaves
//!     .iter()
//!     .map(|leaf| match leaf {
//!         Leaf::Symbol(_) => Input::Uniform(3.0),
//!         Leaf::Derivative(_, index) if index.as_slice() == [0, 1] => Input::Column(&u_t),
//!         Leaf::Derivative(..) => Input::Column(&u_xx),
//!     })
//!     .collect();
//! let mut scratch = Scratch::new();
//! tape.eval(&given, 2, &mut scratch);
//! assert_eq!(scratch.output(&tape, 0), [1.0 - 3.0, 2.0]);
//!
//! // The derivative by every input, here by D: -0.01*u_xx.
//! tape.adjoint(&[Input::Uniform(1.0)], &mut scratch);
//! let by_d = leaves.iter().position(|leaf| *leaf == Leaf::Symbol(d)).unwrap();
//! assert_eq!(scratch.input_adjoint(&tape, by_d), [-1.0, 0.0]);
//! ```
//!
//! # The language
//!
//! | | |
//! |---|---|
//! | numbers | `1`, `.5`, `1e-3`; the constants `pi` and `e` |
//! | operators, loosest first | `or`, `and`, `not`, `< <= > >= == !=`, `+ -`, `* /`, sign, `^` (to the right: `2^3^2 = 2^9`, `-x^2 = -(x^2)`) |
//! | truth | comparisons give 1 or 0; any number other than 0 is true |
//! | functions | `if(c, a, b)`, `min` and `max` of two or more, `sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt abs sign sigmoid softplus erf` |
//! | derivatives | `u_t`, `u_xx`, `u_xy`, `d(u*v, x, x)`: total derivatives by the variables of the scope |
//! | space | `grad(a)`, `div(v)`, `lap(a)`, `dot(v, w)`; vectors come from `grad` and can be added, subtracted, and multiplied or divided by numbers |
//! | functionals | `mean(a, x)`, `integral(a, t = [0, 60], x)`, `u(x = 0.4)`: parsed, and left to who observes |

mod adjoint;
mod ast;
mod diff;
mod display;
mod error;
mod eval;
mod factor;
mod fold;
mod functions;
mod graph;
mod lexer;
mod lower;
mod ops;
mod parser;
mod scope;
mod tape;
pub mod typeset;

pub use ast::{Ast, AstKind, AstNode, Functional, FunctionalKind, NodeId, Operator, Over, Range};
pub use error::{ExprError, Span};
pub use eval::Real;
pub use eval::{Input, Scratch};
pub use functions::RESERVED;
pub use graph::{Expr, Function, Graph, Leaf, MultiIndex, Symbol};
pub use lower::lower;
pub use ops::{Binary, Comparison, Unary};
pub use parser::{parse, parse_equation};
pub use scope::Scope;
pub use tape::{Instruction, Tape};
