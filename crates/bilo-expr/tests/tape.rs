//! Tapes as data, and the memory they run in.

use bilo_expr::{Expr, Graph, Input, Instruction, Leaf, Scope, Scratch, Symbol, Tape, lower, parse};

fn setting() -> (Graph, Scope, [Symbol; 3]) {
    let mut graph = Graph::new();
    let mut scope = Scope::new();
    let symbols = ["x", "y", "k"].map(|name| {
        let symbol = graph.symbol(name);
        let leaf = graph.leaf(symbol);
        scope.bind(name, leaf);
        symbol
    });
    (graph, scope, symbols)
}

fn compile(texts: &[&str]) -> Tape {
    let (mut graph, scope, symbols) = setting();
    let outputs: Vec<Expr> =
        texts.iter().map(|text| lower(&parse(text).unwrap(), &mut graph, &scope).unwrap()).collect();
    Tape::compile(&graph, &outputs, &symbols.map(Leaf::Symbol)).unwrap()
}

#[test]
fn a_leaf_outside_the_inputs_is_named() {
    let (mut graph, scope, [x, y, _]) = setting();
    let e = lower(&parse("x*y").unwrap(), &mut graph, &scope).unwrap();
    let missing = Tape::compile(&graph, &[e], &[Leaf::Symbol(x)]).unwrap_err();
    assert_eq!(missing, Leaf::Symbol(y));
}

#[test]
fn common_parts_are_compiled_once() {
    let tape = compile(&["sin(x*y) + 1", "sin(y*x)*k"]);
    let sines = tape.code().iter().filter(|i| matches!(i, Instruction::Unary(..))).count();
    assert_eq!(sines, 1);
    // Three inputs, one constant, product, sine, sum, product.
    assert_eq!(tape.len(), 8);
    assert!(!tape.is_empty());
    for (k, instruction) in tape.code().iter().enumerate() {
        assert!(instruction.operands().all(|operand| operand < k));
    }
}

#[test]
fn dependence_is_known_per_output_and_input() {
    let tape = compile(&["exp(sin(x*y))", "sin(k)", "2", "x"]);
    let table: Vec<Vec<bool>> =
        (0..4).map(|output| (0..3).map(|input| tape.depends_on(output, input)).collect()).collect();
    assert_eq!(table[0], [true, true, false]);
    assert_eq!(table[1], [false, false, true]);
    assert_eq!(table[2], [false, false, false]);
    assert_eq!(table[3], [true, false, false]);
}

#[test]
fn outputs_may_be_inputs_constants_and_repeated() {
    let tape = compile(&["x", "3", "x", "x + y"]);
    let mut scratch = Scratch::new();
    let x = [1.0, 2.0];
    tape.eval(&[Input::Column(&x), Input::Uniform(10.0), Input::Uniform(0.0)], 2, &mut scratch);
    assert_eq!(scratch.output(&tape, 0), [1.0, 2.0]);
    assert_eq!(scratch.output(&tape, 1), [3.0, 3.0]);
    assert_eq!(scratch.output(&tape, 2), [1.0, 2.0]);
    assert_eq!(scratch.output(&tape, 3), [11.0, 12.0]);
    let seeds = [1.0, 10.0, 100.0, 1000.0].map(Input::Uniform);
    tape.adjoint(&seeds, &mut scratch);
    assert_eq!(scratch.input_adjoint(&tape, 0), [1101.0, 1101.0]);
    assert_eq!(scratch.input_adjoint(&tape, 1), [1000.0, 1000.0]);
    assert_eq!(scratch.input_adjoint(&tape, 2), [0.0, 0.0]);
}

#[test]
fn seeds_may_differ_from_point_to_point() {
    let tape = compile(&["x^2*k"]);
    let mut scratch = Scratch::new();
    let x = [1.0, 2.0, 3.0];
    tape.eval(&[Input::Column(&x), Input::Uniform(0.0), Input::Uniform(5.0)], 3, &mut scratch);
    tape.adjoint(&[Input::Column(&[1.0, 0.0, -1.0])], &mut scratch);
    assert_eq!(scratch.input_adjoint(&tape, 0), [10.0, 0.0, -30.0]);
    assert_eq!(scratch.input_adjoint(&tape, 2), [1.0, 0.0, -9.0]);
}

#[test]
fn one_scratch_serves_many_tapes_and_sizes() {
    let tapes = [compile(&["x + 2", "3*y"]), compile(&["5 - x*7"]), compile(&["x + 2", "4*y"])];
    let expected: [fn(f64, f64) -> f64; 3] = [|x, _| x + 2.0, |x, _| 5.0 - x * 7.0, |x, _| x + 2.0];
    let mut scratch = Scratch::new();
    for (n, which) in [(4, 0), (4, 1), (4, 0), (7, 0), (2, 2), (4, 2), (0, 1), (7, 1), (7, 2)] {
        let x: Vec<f64> = (0..n).map(f64::from).collect();
        let inputs = [Input::Column(&x[..]), Input::Uniform(1.5), Input::Uniform(0.0)];
        tapes[which].eval(&inputs, x.len(), &mut scratch);
        let exact: Vec<f64> = x.iter().map(|&x| expected[which](x, 1.5)).collect();
        assert_eq!(scratch.output(&tapes[which], 0), exact, "tape {which} at {n} points");
    }
    assert_eq!(scratch.output(&tapes[2], 1), [6.0; 7]);
}

/// What is the same at all points is computed at one, to the same bits as at all of them; and a place that was uniform is
/// not so for the columns of the next evaluation.
#[test]
fn what_is_uniform_is_computed_once_to_the_same_bits() {
    let tape = compile(&["exp(y)*x + sin(y*k)^3", "if(k > 1, y^k, tanh(y))", "k^5 - 1/y"]);
    let (x, y, k) = ([0.3, -1.7, 2.9], 0.731, 1.37);
    let mut scratch = Scratch::new();
    let outputs = |scratch: &Scratch<f64>| -> Vec<Vec<f64>> {
        (0..3).map(|output| scratch.output(&tape, output).to_vec()).collect()
    };
    tape.eval(&[Input::Column(&x), Input::Uniform(y), Input::Uniform(k)], 3, &mut scratch);
    let uniform = outputs(&scratch);
    tape.eval(&[Input::Column(&x), Input::Column(&[y; 3]), Input::Column(&[k; 3])], 3, &mut scratch);
    assert_eq!(uniform, outputs(&scratch));
    let other = [y, 2.0 * y, 3.0 * y];
    tape.eval(&[Input::Uniform(x[0]), Input::Column(&other), Input::Uniform(k)], 3, &mut scratch);
    let exact = other.map(|y: f64| y.exp() * x[0] + (y * k).sin() * (y * k).sin() * (y * k).sin());
    assert_eq!(scratch.output(&tape, 0), exact);
}

#[test]
fn single_precision_is_computed_in_single_precision() {
    let tape = compile(&["(x + 1) - 1"]);
    let mut scratch = Scratch::new();
    let inputs = [1e-9_f32, 0.0, 0.0].map(Input::Uniform);
    tape.eval(&inputs, 1, &mut scratch);
    assert_eq!(scratch.output(&tape, 0), [0.0]);
}

#[test]
fn not_a_number_is_passed_on_by_minimum_and_maximum() {
    let tape = compile(&["min(x, y)", "max(x, y)", "min(y, x)", "max(y, x)", "sign(x)"]);
    let mut scratch = Scratch::new();
    tape.eval(&[f64::NAN, 1.0, 0.0].map(Input::Uniform), 1, &mut scratch);
    for output in 0..5 {
        assert!(scratch.output(&tape, output)[0].is_nan(), "output {output}");
    }
}
