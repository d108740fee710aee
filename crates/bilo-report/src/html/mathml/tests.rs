use super::*;

fn names() -> Names {
    let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    Names { declared: list(&["u", "D", "rho", "u_wt", "x", "t"]), variables: list(&["x", "t", "phi"]) }
}

fn check(text: &str, expected: &str) {
    let math = typeset(text, &names()).expect("a formula");
    assert_eq!(markup(&math).as_str(), expected, "{text}");
}

#[test]
fn derivatives_are_fractions() {
    check("u_t", "<mfrac><mrow><mo>∂</mo><mi>u</mi></mrow><mrow><mo>∂</mo><mi>t</mi></mrow></mfrac>");
    check(
        "u_xx",
        "<mfrac><mrow><msup><mo>∂</mo><mn>2</mn></msup><mi>u</mi></mrow>\
         <mrow><mo>∂</mo><msup><mi>x</mi><mn>2</mn></msup></mrow></mfrac>",
    );
    check("u_phi", "<mfrac><mrow><mo>∂</mo><mi>u</mi></mrow><mrow><mo>∂</mo><mi>φ</mi></mrow></mfrac>");
    let mixed = "<mfrac><mrow><msup><mo>∂</mo><mn>2</mn></msup></mrow>\
                 <mrow><mo>∂</mo><mi>x</mi><mo>∂</mo><mi>t</mi></mrow></mfrac><mi>u</mi>";
    check("d(u, x, t)", mixed);
}

#[test]
fn names_are_what_they_are_declared_to_be() {
    check("u_wt", "<msub><mi>u</mi><mi mathvariant=\"normal\">wt</mi></msub>");
    check("X0", "<msub><mi>X</mi><mn>0</mn></msub>");
    check("rhobar", "<mover><mi>ρ</mi><mo>¯</mo></mover>");
    check("net", "<mi>𝒩</mi>");
}

#[test]
fn products_show_a_point_only_where_it_is_needed() {
    check("0.01*D*u", "<mn>0.01</mn><mo>&#x2062;</mo><mi>D</mi><mo>&#x2062;</mo><mi>u</mi>");
    check("D*2", "<mi>D</mi><mo>⋅</mo><mn>2</mn>");
    check("-2*D", "<mo>−</mo><mn>2</mn><mo>&#x2062;</mo><mi>D</mi>");
    check("even*D", "<mi>even</mi><mo>⋅</mo><mi>D</mi>");
    check(
        "D*(1-u)",
        "<mi>D</mi><mo>&#x2062;</mo><mrow><mo>(</mo><mn>1</mn><mo>−</mo><mi>u</mi><mo>)</mo></mrow>",
    );
    check(
        "2*sin(x)",
        "<mn>2</mn><mspace width=\"0.17em\"/><mi>sin</mi><mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow>",
    );
}

#[test]
fn fractions_powers_and_roots() {
    check("u/(1-x)", "<mfrac><mrow><mi>u</mi></mrow><mrow><mn>1</mn><mo>−</mo><mi>x</mi></mrow></mfrac>");
    check("x^2", "<msup><mrow><mi>x</mi></mrow><mrow><mn>2</mn></mrow></msup>");
    check(
        "-(x+t)^2",
        "<mo>−</mo><msup><mrow><mrow><mo>(</mo><mi>x</mi><mo>+</mo><mi>t</mi><mo>)</mo></mrow></mrow>\
         <mrow><mn>2</mn></mrow></msup>",
    );
    check(
        "sin(pi*x)^2",
        "<msup><mi>sin</mi><mrow><mn>2</mn></mrow></msup>\
         <mrow><mo>(</mo><mi>π</mi><mo>&#x2062;</mo><mi>x</mi><mo>)</mo></mrow>",
    );
    check("sqrt(D)", "<msqrt><mi>D</mi></msqrt>");
    check("1e-9", "<msup><mn>10</mn><mn>−9</mn></msup>");
    check("a-(b-c)", "<mi>a</mi><mo>−</mo><mrow><mo>(</mo><mi>b</mi><mo>−</mo><mi>c</mi><mo>)</mo></mrow>");
}

#[test]
fn space_and_cases() {
    check(
        "div(D*grad(u))",
        "<mo>∇</mo><mo>⋅</mo><mrow><mo>(</mo><mi>D</mi><mo>&#x2062;</mo><mo>∇</mo><mi>u</mi><mo>)</mo></mrow>",
    );
    check("lap(u)", "<mo>Δ</mo><mi>u</mi>");
    check(
        "if(x < 1, 2, 3)",
        "<mrow><mo>{</mo><mtable columnalign=\"left\">\
         <mtr><mtd><mrow><mn>2</mn></mrow></mtd><mtd><mrow><mtext>if\u{a0}</mtext><mi>x</mi><mo>&lt;</mo><mn>1</mn></mrow></mtd></mtr>\
         <mtr><mtd><mrow><mn>3</mn></mrow></mtd><mtd><mrow><mtext>else</mtext></mrow></mtd></mtr></mtable></mrow>",
    );
}

#[test]
fn what_is_no_formula_stays_text() {
    assert_eq!(formula("</math><script>", &names()).as_str(), "<code>&lt;/math&gt;&lt;script&gt;</code>");
    assert_eq!(formula("u = 1 +", &names()).as_str(), "<code>u = 1 +</code>");
}

#[test]
fn long_sums_need_no_deep_recursion() {
    let text = vec!["x"; 20_000].join("+");
    let math = typeset(&text, &names()).expect("a formula");
    assert!(markup(&math).as_str().len() < 1_000_000);
}
