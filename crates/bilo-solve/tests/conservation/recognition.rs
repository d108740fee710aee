//! Conservation laws found in residuals, and stated fluxes compared with them.

use bilo_expr::{Input, Leaf, Scratch, Tape};
use bilo_solve::conservation::{ConservationError, Flux, Mesh};

use super::{Names, Text};

fn flux_of(residual: &str) -> Option<String> {
    let mut names = Names::new(&["a", "b"]);
    let candidate = names.candidate(residual);
    candidate.recognise(&mut names.graph).map(|flux| match flux {
        Flux::Formula(e) => names.graph.display(e).to_string(),
        Flux::Speed(e) => format!("integral of {}", names.graph.display(e)),
    })
}

/// The recognised flux at a = 0.7, b = 1.3.
fn flux_at(residual: &str, u: f64) -> f64 {
    let mut names = Names::new(&["a", "b"]);
    let candidate = names.candidate(residual);
    let Some(Flux::Formula(flux)) = candidate.recognise(&mut names.graph) else {
        panic!("{residual} has a polynomial speed");
    };
    let mut inputs = vec![names.read("u")];
    inputs.extend(names.parameters.clone().into_iter().map(|p| names.graph.leaf(p)));
    let leaves: Vec<Leaf> = inputs.iter().map(|&e| names.graph.as_leaf(e).unwrap().clone()).collect();
    let tape = Tape::compile(&names.graph, &[flux], &leaves).unwrap();
    let mut scratch = Scratch::new();
    tape.eval(&[u, 0.7, 1.3].map(Input::Uniform), 1, &mut scratch);
    scratch.output(&tape, 0)[0]
}

#[test]
fn polynomial_speeds_are_integrated_in_closed_form() {
    let (a, b) = (0.7_f64, 1.3_f64);
    for u in [-1.4_f64, 0.0, 0.3, 2.0] {
        let cases = [
            ("u_t + a*u*u_x", a * u.powi(2) / 2.0),
            ("u_t + d(a*u^2/2, x)", a * u.powi(2) / 2.0),
            ("2*u_t + b*u_x", b * u / 2.0),
            ("a*(u_t + b*u^3*u_x)", b * u.powi(4) / 4.0),
            ("-u_t - a*(1 - 2*u/b)*u_x", a * (u - u.powi(2) / b)),
            (
                "u_t + (exp(a) + u*(1-u)^2)*u_x",
                a.exp() * u + u.powi(2) / 2.0 - 2.0 * u.powi(3) / 3.0 + u.powi(4) / 4.0,
            ),
        ];
        for (residual, expected) in cases {
            let found = flux_at(residual, u);
            assert!(
                (found - expected).abs() < 1e-13 * (1.0 + expected.abs()),
                "{residual}: {found} {expected}"
            );
        }
    }
}

#[test]
fn other_speeds_are_left_to_quadrature() {
    assert_eq!(flux_of("u_t + sin(u)*u_x").as_deref(), Some("integral of sin(u)"));
    // Piecewise polynomials have vanishing derivatives, but are no polynomials.
    for speed in ["abs(u)", "if(u < 0.5, 1, 2)", "max(u, a)", "u/(1 + u^2)", "u^40"] {
        let found = flux_of(&format!("u_t + {speed}*u_x")).unwrap();
        assert!(found.starts_with("integral of"), "{speed}: {found}");
    }
}

#[test]
fn what_is_not_a_conservation_law_is_not_recognised() {
    for residual in [
        "u_t - a*u_xx",
        "u_t + a*u*u_x - b*u_xx",
        "u_t + a*u*u_x - u",
        "u_t + x*u*u_x",
        "u_t + sin(t)*u_x",
        "u_t + u_x^2",
        "u_t*u_x",
        "u_t^2 + u_x",
        "u_t",
        "u_x + u",
        "u_tt + u_x",
        "u_t + d(x*u, x)",
        "0",
    ] {
        assert_eq!(flux_of(residual), None, "{residual}");
    }
}

#[test]
fn a_stated_flux_must_have_the_speed_as_its_slope() {
    let verdict = |residual: &str, flux: &str| {
        let mut names = Names::new(&["a", "b"]);
        let candidate = names.candidate(residual);
        let flux = names.read(flux);
        candidate.confirm(&mut names.graph, flux)
    };
    let residual = "u_t + a*u*u_x";
    assert_eq!(verdict(residual, "a*u^2/2"), Ok(()));
    assert_eq!(verdict(residual, "7*b + 0.5*a*u*u"), Ok(()));
    assert_eq!(verdict("u_t + abs(u)*u_x", "u*abs(u)/2"), Ok(()));
    assert_eq!(verdict("u_t + log(u)*u_x", "u*log(u) - u"), Ok(()));
    for wrong in ["a*u^2", "b*u^2/2", "u^2/2", "a*u^2/2 + 1e-3*u", "a*abs(u)*u/2"] {
        let error = verdict(residual, wrong).expect_err(wrong);
        assert!(matches!(error, ConservationError::FluxMismatch { .. }), "{error}");
        assert!(error.to_string().contains("does not belong to the residual"));
    }
    assert_eq!(verdict("u_t - a*u_xx", "a*u"), Err(ConservationError::NotConservative));
}

#[test]
fn a_speed_with_a_kink_must_be_stated_as_a_flux() {
    let kinked = Text {
        flux: "abs(u - 0.31)",
        is_speed: true,
        initial: Some("x"),
        parameters: &[],
        ..Text::default()
    };
    let inputs = bilo_solve::conservation::Inputs::default();
    let godunov = kinked.godunov();
    let error = godunov.solve(&inputs, Mesh::new(20, 1)).expect_err("not smooth");
    assert!(matches!(error, ConservationError::RoughSpeed { .. }), "{error}");
    let stated = Text { flux: "(u - 0.31)*abs(u - 0.31)/2", is_speed: false, ..kinked };
    assert!(stated.godunov().solve(&inputs, Mesh::new(20, 1)).is_ok());
}
