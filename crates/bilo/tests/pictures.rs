//! What the pictures of a problem show. The problem's solution is known: u = x^2 + y^2 + 4 k t.

use bilo::observer::Silent;
use bilo::outcome::Outcome;
use bilo::outcome::{Drawing, Line, Whose};
use bilo::problem::{Overrides, Problem};
use bilo::{Job, Method, run};
use std::path::Path;

const DISC: &str = include_str!("data/disc.toml");

fn outcome(text: &str, method: &'static dyn Method) -> Outcome {
    let problem = Problem::from_toml("disc.toml", text, Path::new("."), &Overrides::default());
    let job = Job { method, ..Job::default() };
    run(&problem.expect("a good problem"), &job, &mut Silent).expect("it runs")
}

/// The largest difference of values on a grid from a function.
fn largest_error([x, y]: &[Vec<f64>; 2], values: &[f64], exact: impl Fn(f64, f64) -> f64) -> f64 {
    assert_eq!(values.len(), x.len() * y.len());
    let nodes = x.iter().flat_map(|&x| y.iter().map(move |&y| (x, y)));
    nodes.zip(values).map(|((x, y), value)| (value - exact(x, y)).abs()).fold(0.0, f64::max)
}

fn of(drawing: &Drawing, contour: usize, whose: Whose) -> &Line {
    let mut lines = drawing.lines.iter().filter(|line| (line.contour, line.whose) == (contour, whose));
    lines.next().expect("a line")
}

/// Differences of second order are exact for this solution, and so is the search to 1e-7 of the unknowns.
#[test]
fn the_classical_solution_is_drawn_with_the_level_at_the_estimate() {
    let outcome = outcome(DISC, &bilo::method::Adjoint);
    assert_eq!(outcome.warnings, [""; 0]);
    let [drawing] = &outcome.drawings[..] else { panic!("{:?}", outcome.drawings) };
    assert_eq!((drawing.name.as_str(), &drawing.names), ("front", &["x".to_string(), "y".to_string()]));
    assert_eq!(drawing.at, [("t".to_string(), 0.5)]);
    assert!(drawing.to_scale);
    for (axis, ends) in drawing.axes.iter().zip([(-1.0, 1.0), (-1.0, 2.0)]) {
        assert_eq!((axis.len(), axis[0], axis[160]), (161, ends.0, ends.1));
    }
    let background = drawing.background.as_ref().expect("a background");
    assert!(largest_error(&drawing.axes, background, |x, y| x * y) < 1e-15);
    let field = drawing.field.as_ref().expect("a field");
    assert_eq!((field.name.as_str(), field.whose), ("u_x", Whose::Classical));
    assert!(largest_error(&drawing.axes, &field.values, |x, _| 2.0 * x) < 1e-5);
    let kinds: Vec<_> =
        drawing.lines.iter().map(|line| (line.contour, line.name.as_str(), line.whose)).collect();
    let (first, second) = ("front <&>", "u = 1.25");
    assert_eq!(kinds, [(0, first, Whose::Data), (0, first, Whose::Classical), (1, second, Whose::Classical)]);
    let front = of(drawing, 0, Whose::Classical);
    assert_eq!(front.level, outcome.unknowns.numbers[1].estimate);
    // On the circle of radius 0.7 around the origin u is c.
    assert!((front.level - 1.49).abs() < 1e-6, "{}", front.level);
    let error = largest_error(&front.axes, &front.values, |x, y| x * x + y * y + 1.0);
    assert!(error < 1e-6, "{error:.1e}");
    assert_eq!(of(drawing, 1, Whose::Classical).level, 1.25);
}

/// Data at two times: those at the time of the picture, on their own grid. Without noise they are the solver's.
#[test]
fn data_are_drawn_on_their_own_grid() {
    let outcome = outcome(DISC, &bilo::method::Adjoint);
    let data = of(&outcome.drawings[0], 0, Whose::Data);
    assert_eq!((data.axes[0].len(), data.axes[1].len(), data.level), (31, 46, 0.5));
    let sigmoid = |x: f64, y: f64| 1.0 / (1.0 + (-40.0 * (1.49 - (x * x + y * y + 1.0))).exp());
    let error = largest_error(&data.axes, &data.values, sigmoid);
    assert!(error < 1e-6, "{error:.1e}");
}

/// The field is that of `fields`, which has every fourth of the picture's nodes; sums in single precision.
#[test]
fn the_network_is_drawn_beside_the_classical_solution() {
    let text = DISC.replace("at = { t = 0.5 }\n", "").replace("\"u_x\"", "\"u\"");
    let text = text + "\n[operator]\nkind = \"network\"\n";
    let outcome = outcome(&text, &bilo::method::Bilo);
    let drawing = &outcome.drawings[0];
    assert_eq!(drawing.at, [("t".to_string(), 1.0)], "the end, if nothing else is said");
    let whose: Vec<Whose> = drawing.lines.iter().map(|line| line.whose).collect();
    let both = [Whose::Network, Whose::Classical];
    assert_eq!(whose, [&[Whose::Data], &both[..], &both[..]].concat());
    let field = drawing.field.as_ref().expect("a field");
    assert_eq!(field.whose, Whose::Network);
    assert_eq!(field.values, of(drawing, 1, Whose::Network).values);
    let network = outcome.fields.arrays.iter().find(|array| array.name == "u_network").expect("a field");
    let nodes = 41;
    for (i, j) in (0..nodes).flat_map(|i| (0..nodes).map(move |j| (i, j))) {
        let there = network.values[(i * nodes + j) * nodes + nodes - 1];
        let here = field.values[4 * i * 161 + 4 * j];
        assert!((here - there).abs() < 1e-5, "({i}, {j}): {here}, {there}");
    }
    assert_ne!(field.values, of(drawing, 1, Whose::Classical).values);
}

/// x upwards and t to the right; nothing is a length there.
#[test]
fn time_may_be_an_axis() {
    let axes = "axes = [\"t\", \"x\"]\nat = { y = 1.0 }";
    let text = DISC.replace("at = { t = 0.5 }\nbackground", &format!("{axes}\nbackground"));
    let outcome = outcome(&text.replace(", data = \"inside\"", ""), &bilo::method::Adjoint);
    let drawing = &outcome.drawings[0];
    assert_eq!(drawing.names, ["t".to_string(), "x".to_string()]);
    assert!(!drawing.to_scale);
    let line = of(drawing, 0, Whose::Classical);
    let error = largest_error(&line.axes, &line.values, |t, x| x * x + 1.0 + 2.0 * t);
    assert!(error < 1e-6, "{error:.1e}");
}

/// The run has its result; the picture lacks a line, and the reason is told.
#[test]
fn data_without_a_grid_are_left_out_with_a_warning() {
    let grid = "{ grid = { x = 31, y = 46 }, at = { t = [0.5, 1.0] } }";
    let cases = [
        ("{ random = 50, at = { t = 0.5 } }", "a grid of 50 x 50 nodes has 2500 rows, found 50"),
        ("{ grid = { x = 31, y = 46 }, at = { t = 1.0 } }", "there are none at the place of the picture"),
        ("{ grid = { x = 31 }, at = { y = 0.0, t = 0.5 } }", "they are on a line"),
    ];
    for (points, why) in cases {
        let outcome = outcome(&DISC.replace(grid, points), &bilo::method::Adjoint);
        let expected = format!("picture `front`: no contour of the data of `front <&>`: {why}");
        assert!(outcome.warnings.contains(&expected), "{:?}", outcome.warnings);
        assert_eq!(outcome.drawings[0].lines.len(), 2);
    }
}
