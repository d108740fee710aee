//! Every way to fail says what is wrong and what to do.

use bilo_solve::conservation::{ConservationError, Inputs, Levels, Mesh};

use super::Text;

const SINE: Text<'static> = Text {
    space: (0.0, 1.0),
    end: 1.0,
    parameters: &["a"],
    flux: super::BURGERS,
    is_speed: false,
    ends: None,
    initial: Some("sin(2*pi*x)"),
};

fn failure(text: Text<'_>, parameters: &[f64], mesh: Mesh) -> ConservationError {
    let inputs = Inputs { parameters: parameters.to_vec(), initial: vec![] };
    text.godunov().solve(&inputs, mesh).expect_err("it cannot be solved")
}

#[test]
fn names_without_a_value_are_told() {
    for (text, leaf, place) in [
        (Text { flux: "x*u", ..SINE }, "x", "the flux"),
        (Text { flux: "u*u_x", ..SINE }, "u_x", "the flux"),
        (Text { initial: Some("t"), ..SINE }, "t", "the initial value"),
        (Text { ends: Some(["u", "out"]), ..SINE }, "u", "the value at an end"),
    ] {
        match text.refusal() {
            ConservationError::UnknownLeaf { leaf: found, place: at, .. } => {
                assert_eq!((&*found, at), (leaf, place))
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn ranges_and_meshes_are_checked() {
    let reversed = Text { space: (1.0, 0.0), ..SINE };
    assert!(matches!(reversed.refusal(), ConservationError::EmptyAxis { name, .. } if name == "x"));
    let no_time = Text { end: 0.0, ..SINE };
    assert!(matches!(no_time.refusal(), ConservationError::EmptyAxis { name, .. } if name == "t"));
    let refused = |mesh| failure(SINE, &[1.0], mesh);
    assert_eq!(refused(Mesh::new(3, 1)), ConservationError::TooCoarse { cells: 3, needed: 4 });
    assert_eq!(refused(Mesh::new(10, 0)), ConservationError::NoLevels);
    for cfl in [0.0, 1.1] {
        assert_eq!(refused(Mesh { cfl, ..Mesh::new(10, 1) }), ConservationError::Courant { cfl });
    }
}

#[test]
fn numbers_that_are_not_finite_are_located() {
    let mesh = Mesh::new(10, 1);
    let start = failure(Text { initial: Some("log(x - 0.25)"), ..SINE }, &[1.0], mesh);
    assert!(
        matches!(start, ConservationError::NonFinite { what: "the initial value", at: 0.0, .. }),
        "{start}"
    );
    let flux = failure(Text { flux: "a/u", ..SINE }, &[1.0], mesh);
    assert!(matches!(flux, ConservationError::NonFinite { variable: "u", at: 0.0, .. }), "{flux}");
    let end = failure(Text { ends: Some(["1/t", "out"]), ..SINE }, &[1.0], mesh);
    assert!(matches!(end, ConservationError::NonFinite { variable: "t", at: 0.0, .. }), "{end}");
    let parameter = failure(SINE, &[f64::NAN], mesh);
    assert!(matches!(parameter, ConservationError::NonFinite { what: "the flux", .. }), "{parameter}");
}

#[test]
fn hopeless_numbers_of_steps_are_refused() {
    let fast = failure(SINE, &[1e12], Mesh::new(10, 1));
    assert!(matches!(fast, ConservationError::TooManySteps { .. }), "{fast}");
    // A pole that is only met by fine steps.
    let pole = Text { ends: Some(["1/abs(t - 1/pi)", "out"]), flux: "a*u^3", ..SINE };
    let error = failure(pole, &[1.0], Mesh { levels: Levels::EveryStep, ..Mesh::new(10, 1) });
    assert!(matches!(error, ConservationError::TooManySteps { .. }), "{error}");
}

#[test]
fn parameters_and_nodal_values_are_counted() {
    let error = failure(SINE, &[], Mesh::new(10, 1));
    assert_eq!(error.to_string(), "0 parameter values given where 1 are needed");
    let nodal = Text { initial: None, ends: Some(["out", "out"]), ..SINE };
    let error = failure(nodal, &[1.0], Mesh::new(10, 1));
    assert_eq!(error.to_string(), "0 nodal initial values given where 11 are needed");
}
