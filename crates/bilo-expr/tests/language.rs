//! What texts mean, and what is said about texts that mean nothing.

use bilo_expr::{Expr, ExprError, Graph, RESERVED, Scope, lower, parse};

/// Coordinates x, y, t, parameters rho and D, a state u(x, y, t), and an unknown that looks like a derivative.
fn setting() -> (Graph, Scope) {
    let mut graph = Graph::new();
    let mut scope = Scope::new();
    let coordinates = ["x", "y", "t"].map(|name| graph.symbol(name));
    let inputs = coordinates.map(|s| graph.leaf(s)).to_vec();
    for ((name, s), &leaf) in ["x", "y", "t"].iter().zip(coordinates).zip(&inputs) {
        scope.bind(name, leaf);
        scope.variable(name, s);
    }
    scope.space(coordinates[..2].to_vec());
    for name in ["D", "rho", "u_wt"] {
        let symbol = graph.symbol(name);
        let leaf = graph.leaf(symbol);
        scope.bind(name, leaf);
    }
    let u = graph.function("u", inputs);
    let u = graph.value(u);
    scope.bind("u", u);
    (graph, scope)
}

fn read(text: &str) -> Result<(Graph, Expr), ExprError> {
    let (mut graph, scope) = setting();
    let e = lower(&parse(text)?, &mut graph, &scope)?;
    Ok((graph, e))
}

fn shown(text: &str) -> String {
    let (graph, e) = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    graph.display(e).to_string()
}

#[test]
fn numbers_and_precedence() {
    let table = [
        ("1", 1.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e-3", 1e-3),
        ("2.5E+2", 250.0),
        ("1 + 2*3", 7.0),
        ("(1 + 2)*3", 9.0),
        ("7 - 2 - 1", 4.0),
        ("8/4/2", 1.0),
        ("8/4*2", 4.0),
        ("-2^2", -4.0),
        ("(-2)^2", 4.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("2^-2^2", 0.0625),
        ("2^-1*4", 2.0),
        ("-2*3", -6.0),
        ("2*-3", -6.0),
        ("1 - -1", 2.0),
        ("+3", 3.0),
        ("1 < 2", 1.0),
        ("1 + 1 < 2", 0.0),
        ("2 <= 2", 1.0),
        ("2 > 2", 0.0),
        ("2 >= 2", 1.0),
        ("2 == 2", 1.0),
        ("2 != 2", 0.0),
        ("not 1 == 2", 1.0),
        ("not 0 and 0", 0.0),
        ("1 or 0 and 0", 1.0),
        ("5 and 7", 1.0),
        ("0 or 7", 1.0),
        ("(1 < 2) + (2 < 1)", 1.0),
        ("if(2 > 1, 10, 20)", 10.0),
        ("if(0, 10, 20)", 20.0),
        ("min(3, 1, 2)", 1.0),
        ("max(3, 1, 2, 5)", 5.0),
        ("cos(pi)", -1.0),
        ("log(e)", 1.0),
        ("log10(1000)", 3.0),
        ("e^2", std::f64::consts::E.powi(2)),
        ("abs(-3)*sign(-2)", -3.0),
        ("sigmoid(0)", 0.5),
        ("softplus(0)", std::f64::consts::LN_2),
        ("sigmoid(1000) + sigmoid(-1000)", 1.0),
        ("softplus(1000)", 1000.0),
        ("softplus(-1000)", 0.0),
        // Abramowitz & Stegun, table 7.1.
        ("erf(1)", 0.842_700_792_949_715),
        ("sqrt(16)", 4.0),
        ("asin(1)*2 - acos(-1)", 0.0),
        ("atan(1)*4 - pi", 0.0),
        ("cosh(1)^2 - sinh(1)^2", 1.0),
        ("tan(pi/4)", 1.0),
        // Abramowitz & Stegun, section 4.6: logarithms.
        ("asinh(-3) + log(3 + sqrt(10))", 0.0),
        ("acosh(3) - log(3 + sqrt(8))", 0.0),
        ("atanh(0.5) - 0.5*log(3)", 0.0),
        ("1e12*(asinh(1e-12) + atanh(-1e-12))", 0.0),
        ("exp(1) - e", 0.0),
    ];
    for (text, expected) in table {
        let (graph, e) = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let value = graph.as_constant(e).expect("a number");
        assert!((value - expected).abs() < 1e-15 * 16.0, "{text} = {value}");
    }
}

#[test]
fn expressions_are_shown_simplified_with_few_parentheses() {
    let table = [
        ("u_t - 0.01*D*u_xx", "u_t - 0.01*D*u_xx"),
        ("u_t - 0.01*D*u_xx - rho*u*(1-u)", "u_t - 0.01*D*u_xx - rho*u*(1 - u)"),
        ("x + 0", "x"),
        ("0*x + 1*y", "y"),
        ("x^0 + x^1", "1 + x"),
        ("x - x", "0"),
        ("--x", "x"),
        ("x*x", "x^2"),
        ("x^2.5", "x^2.5"),
        ("x^0.5", "sqrt(x)"),
        ("x/1 + 0/y", "x"),
        ("y*x + x*y", "2*x*y"),
        ("x - (y - t)", "x - (y - t)"),
        ("x - -2*y", "x + 2*y"),
        ("x + -2*y", "x - 2*y"),
        ("-(x - y)", "y - x"),
        ("(-x)^2", "(-x)^2"),
        ("-x^2", "-x^2"),
        ("-2*x", "-2*x"),
        ("(x^y)^t", "(x^y)^t"),
        ("x^y^t", "x^y^t"),
        ("x^-2", "x^-2"),
        ("x/(y*t)", "x/(y*t)"),
        ("x/y/t", "x/y/t"),
        ("(x + y)*t", "t*(x + y)"),
        ("2*pi*1e-9", "6.283185307179586e-9"),
        ("pi*x", "pi*x"),
        ("(x < y)*t", "t*(x < y)"),
        ("if(x <= 0.5 and y > 0, 1, x)", "if((x <= 0.5)*(y > 0), 1, x)"),
        ("not x == y", "(x == y) == 0"),
        ("min(x, max(y, 1))", "min(x, max(1, y))"),
    ];
    for (text, expected) in table {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn derivatives_can_be_written_as_names_and_as_calls() {
    let table = [
        ("u_xy", "u_xy"),
        ("u_yx", "u_xy"),
        ("d(u, x, x)", "u_xx"),
        ("d(d(u, t), x)", "u_xt"),
        ("d(u*x, x)", "u + x*u_x"),
        ("lap(u)", "u_xx + u_yy"),
        ("div(grad(u))", "u_xx + u_yy"),
        ("dot(grad(u), grad(u))", "u_x^2 + u_y^2"),
        ("div(D*grad(u))", "D*u_xx + D*u_yy"),
        ("div(-grad(u)/D + grad(u)*2 - grad(x))", "2*u_xx - u_xx/D + 2*u_yy - u_yy/D"),
        // The exact name wins over a derivative.
        ("u_wt", "u_wt"),
    ];
    for (text, expected) in table {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn a_suffix_is_split_with_backtracking_longest_first() {
    let mut graph = Graph::new();
    let mut scope = Scope::new();
    let symbols = ["x", "xx", "xt", "ty"].map(|name| graph.symbol(name));
    let inputs = symbols.map(|s| graph.leaf(s)).to_vec();
    for (name, s) in ["x", "xx", "xt", "ty"].iter().zip(symbols) {
        scope.variable(name, s);
    }
    let u = graph.function("u", inputs);
    let u = graph.value(u);
    scope.bind("u", u);
    // `xty`: after the longest first step `xt` the rest `y` cannot be read, so `x` and `ty` it is.
    for (name, by) in [("u_xt", "d(u, xt)"), ("u_xty", "d(u, x, ty)"), ("u_xxt", "d(u, x, xt)")] {
        let [a, b] = [name, by].map(|text| lower(&parse(text).unwrap(), &mut graph, &scope).unwrap());
        assert_eq!(a, b, "{name}");
    }
    // Without memory of failures this would take as many steps as the 100th Fibonacci number.
    let hopeless = format!("u_{}q", "x".repeat(100));
    assert!(lower(&parse(&hopeless).unwrap(), &mut graph, &scope).is_err());
}

#[test]
fn the_longest_base_in_scope_is_differentiated() {
    assert_eq!(shown("u_wt_x"), "0");
    assert_eq!(shown("u_x"), "u_x");
}

#[test]
fn mistakes_are_pointed_at_and_explained() {
    // text, what the span covers, message, help
    let table: &[(&str, &str, &str, &str)] = &[
        ("2x", "2x", "an operator is missing", "write `2*x`"),
        ("2 x", "2 x", "an operator is missing", "write `2*x`"),
        ("2e", "2e", "an operator is missing", "write `2*e`"),
        ("1 + 2(x)", "2(", "an operator is missing", "write `2*(...)`"),
        ("(x)(y)", "(x)(", "an operator is missing", "write `(x)*(...)`"),
        ("(x*y)_x", "(x*y)_x", "an operator is missing", "for a derivative write `d(x*y, x)`"),
        ("(f(x))_xx", "(f(x))_xx", "an operator is missing", "for a derivative write `d(f(x), x, x)`"),
        (
            "u''",
            "'",
            "`'` is not part of the language",
            "write `u_t` for the derivative of u by t, `u_tt` for the second",
        ),
        ("sin(x) y", "sin(x) y", "an operator is missing", "write `sin(x)*y`"),
        ("x**2", "**", "`**` is not part of the language", "write `^`"),
        ("x = 1", "=", "`=` is not part of the language", "write `==` to compare"),
        ("x && y", "&&", "`&&` is not part of the language", "write `and`"),
        ("!x", "!", "`!` is not part of the language", "write `not`"),
        ("x − y", "−", "`−` is not part of the language", "write `-`"),
        ("x ; y", ";", "`;` is not part of the language", ""),
        ("x + é", "é", "`é` is not part of the language", ""),
        ("1e999", "1e999", "this number is too large", ""),
        ("", "", "the expression is empty", ""),
        ("x +", "", "the expression ends where a value should follow", ""),
        ("x + * y", "*", "expected a value, found `*`", ""),
        ("(x + y", "(", "this `(` is never closed", "add a `)`"),
        ("x + y)", ")", "this `)` closes nothing", ""),
        ("x, y", ",", "expected an operator or the end, found `,`", ""),
        ("0 < x < 1", "<", "comparisons cannot be chained", "join two comparisons with `and`"),
        ("rh0*x", "rh0", "unknown name `rh0`", "did you mean `rho`?"),
        ("x + q", "q", "unknown name `q`", "the names known here are `D`, `rho`, `t`, `u`, `u_wt`, `x`, `y`"),
        ("u_zzz", "u_zzz", "unknown name `u_zzz`", "`u` can be differentiated by `t`, `x`, `y`"),
        ("sin + 1", "sin", "`sin` is a function", "write `sin(...)`"),
        ("sni(x)", "sni", "unknown function `sni`", "did you mean `sin`?"),
        ("Heaviside(x)", "Heaviside", "unknown function `Heaviside`", "write `if(x > 0, 1, 0)`"),
        ("erfc(x)", "erfc", "unknown function `erfc`", "write `1 - erf(x)`"),
        ("ln(x)", "ln", "unknown function `ln`", "did you mean `log`?"),
        ("u(1-u)", "u", "`u` is not a function", "write `u*(...)`"),
        ("sin(x, y)", "sin(x, y)", "`sin` takes one argument, not 2", ""),
        ("if(x, y)", "if(x, y)", "`if` takes three arguments: condition, then, else, not 2", ""),
        ("max(x)", "max(x)", "`max` takes two or more arguments, not 1", ""),
        (
            "d(u)",
            ")",
            "expected a `,` and a variable, found `)`",
            "write `d(u, x)` for the derivative of u by x",
        ),
        (
            "d(u, 2)",
            "2",
            "expected the name of a variable, found `2`",
            "write `d(u, x)` for the derivative of u by x",
        ),
        (
            "d(u, rho)",
            "rho",
            "`rho` is not a variable to differentiate by",
            "the variables are `t`, `x`, `y`",
        ),
        (
            "grad(u)",
            "grad(u)",
            "the result must be a number, and this is a vector",
            "write `div(grad(u))` or `dot(grad(u), ...)`",
        ),
        (
            "1 + grad(u)*grad(u)",
            "grad(u)*grad(u)",
            "two vectors cannot be multiplied with `*`",
            "write `dot(grad(u), grad(u))`",
        ),
        (
            "grad(u)^2",
            "grad(u)^2",
            "a power needs numbers, not vectors",
            "for the squared length write `dot(grad(u), grad(u))`",
        ),
        (
            "grad(u) + 1",
            "grad(u) + 1",
            "a vector and a number cannot be added or subtracted",
            "take `div(...)` or `dot(..., ...)` of the vector first",
        ),
        ("1/grad(u)", "1/grad(u)", "nothing can be divided by a vector", "divide by a number"),
        (
            "grad(u) < 1",
            "grad(u) < 1",
            "only numbers can be compared, not vectors",
            "take `dot(..., ...)` of the vector first",
        ),
        (
            "sin(grad(u))",
            "grad(u)",
            "the argument of `sin` must be a number, and this is a vector",
            "write `div(grad(u))` or `dot(grad(u), ...)`",
        ),
        ("div(u)", "u", "`div` needs a vector, and this is a number", "`grad(u)` would be a vector"),
        ("u_xxxxxxxxxxxxxxxxx", "u_xxxxxxxxxxxxxxxxx", "derivatives beyond order 16 are not supported", ""),
    ];
    for &(text, spot, message, help) in table {
        let error = read(text).map(|_| ()).expect_err(text);
        assert_eq!(error.message, message, "{text}");
        assert_eq!(&text[error.span.start..error.span.end], spot, "{text}");
        assert_eq!(error.help.unwrap_or_default(), help, "{text}");
    }
}

#[test]
fn spans_point_at_the_right_occurrence() {
    let error = read("x + y*rh0").map(|_| ()).unwrap_err();
    assert_eq!((error.span.start, error.span.end), (6, 9));
    assert_eq!(error.to_string(), "unknown name `rh0`; did you mean `rho`?");
}

#[test]
fn without_space_there_is_no_gradient() {
    let (mut graph, mut scope) = setting();
    scope.space(Vec::new());
    let error = lower(&parse("lap(u)").unwrap(), &mut graph, &scope).unwrap_err();
    assert_eq!(error.message, "there are no space coordinates here");
}

#[test]
fn names_are_listed_as_written_without_functions_and_constants() {
    let ast = parse("d(u_x*v, t) + sin(pi*x)*u").unwrap();
    let names: Vec<_> = ast.names().into_iter().map(|(name, span)| (name, span.start)).collect();
    assert_eq!(names, [("u_x", 2), ("v", 6), ("t", 9), ("x", 21), ("u", 24)]);
}

#[test]
fn constants_keep_their_meaning_whatever_is_bound() {
    let (mut graph, mut scope) = setting();
    let one = graph.constant(1.0);
    scope.bind("pi", one);
    let e = lower(&parse("pi").unwrap(), &mut graph, &scope).unwrap();
    assert_eq!(graph.as_constant(e), Some(std::f64::consts::PI));
    assert!(RESERVED.contains(&"pi") && RESERVED.contains(&"grad") && !RESERVED.contains(&"u"));
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    let n = 100_000;
    let texts = [
        format!("{}x{}", "(".repeat(n), ")".repeat(n)),
        format!("{}x", "-".repeat(n)),
        format!("{}x", "not ".repeat(n)),
        format!("x{}", "^x".repeat(n)),
        format!("{}x{}", "sin(".repeat(n), ")".repeat(n)),
        "if(".repeat(n),
    ];
    for text in texts {
        let error = parse(&text).unwrap_err();
        assert_eq!(error.message, "nested more than 256 levels deep");
    }
    assert!(parse(&format!("{}x{}", "(".repeat(200), ")".repeat(200))).is_ok());
}

#[test]
fn long_chains_are_read_whole() {
    let n = 100_000;
    let (graph, e) = read(&format!("x{}", " + sin(y)*x".repeat(n))).unwrap();
    assert_eq!(graph.leaves(&[e]).len(), 2);
    assert!(graph.display(e).to_string().ends_with("..."));
    assert!(read(&format!("x{}", "*t".repeat(n))).is_ok());
}

#[test]
fn derivatives_that_grow_without_bound_are_refused() {
    let factors: Vec<String> = (1..40).map(|k| format!("sin({k}*x*exp(x*y))")).collect();
    let text = format!("d({}, {})", factors.join("*"), ["x"; 40].join(", "));
    let error = read(&text).map(|_| ()).unwrap_err();
    assert_eq!(error.message, "this becomes too large when differentiated");
}
