//! Any text is parsed, lowered, differentiated, shown, compiled and evaluated, or refused with a span inside the text.
//!
//! `cargo +nightly fuzz run parse`

#![no_main]

use bilo_expr::{ExprError, Graph, Input, Scope, Scratch, Symbol, Tape, lower, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (mut graph, scope, x) = setting();
    let lowered = parse(text).and_then(|ast| lower(&ast, &mut graph, &scope));
    match lowered {
        Err(ExprError { span, .. }) => assert!(text.get(span.start..span.end).is_some()),
        Ok(e) => {
            let slope = graph.diff(e, x);
            let _ = graph.display(slope).to_string();
            let leaves = graph.leaves(&[e, slope]);
            let tape = Tape::compile(&graph, &[e, slope], &leaves).expect("all leaves are inputs");
            let mut scratch = Scratch::new();
            tape.eval(&vec![Input::Uniform(0.5); leaves.len()], 1, &mut scratch);
            tape.adjoint(&[Input::Uniform(1.0); 2], &mut scratch);
        }
    }
});

/// Coordinates x and t, a parameter D, a state u(x, t).
fn setting() -> (Graph, Scope, Symbol) {
    let mut graph = Graph::new();
    let mut scope = Scope::new();
    let symbols = ["x", "t", "D"].map(|name| {
        let symbol = graph.symbol(name);
        let leaf = graph.leaf(symbol);
        scope.bind(name, leaf);
        scope.variable(name, symbol);
        symbol
    });
    let inputs = vec![graph.leaf(symbols[0]), graph.leaf(symbols[1])];
    let u = graph.function("u", inputs);
    let u = graph.value(u);
    scope.bind("u", u);
    scope.space(symbols[..1].to_vec());
    (graph, scope, symbols[0])
}
