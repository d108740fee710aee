//! An outcome for tests.

use bilo::outcome::{
    At, Audit, Colour, Field, Fields, Fit, Goodness, Kind, MisfitOutcome, Near, NearState, Noise,
    NoiseSource, OperatorOutcome, Outcome, Reason, ReasonKind, ScalarOutcome, Seconds, SolvedBy,
    StateOutcome, Steps, Stop, Unknowns, Verdict,
};

/// Two unknowns, one of them with a truth and a unit; a loss that is not finite.
pub(crate) fn outcome() -> Outcome {
    let unknown = |name: &str, unit: Option<&str>, guess, estimate, truth| ScalarOutcome {
        name: name.into(),
        unit: unit.map(String::from),
        guess,
        estimate,
        truth,
        ..ScalarOutcome::default()
    };
    let known = ScalarOutcome {
        data_optimal: Some(2.01),
        sd: Some(0.04),
        sd_network: Some(0.05),
        interval_95: Some((1.94, 2.1)),
        ..unknown("k", Some("cm^2/s"), 1.0, 2.02, Some(2.0))
    };
    Outcome {
        format: 1,
        problem: "rod".into(),
        method: "bilo".into(),
        recipe: "fast".into(),
        seed: 7,
        device: "cpu".into(),
        precision: "f32".into(),
        stop: Stop::Steps,
        unknowns: Unknowns { numbers: vec![known, unknown("a", None, 0.1, 0.25, None)], functions: vec![] },
        derived: vec![],
        states: vec![StateOutcome {
            name: "u".into(),
            relative_l2_vs_classical: Some(1e-3),
            relative_l2_at_end: None,
        }],
        solved_by: SolvedBy::Network,
        operator: Some(OperatorOutcome { kind: Kind::Network, why: None, dictionary: None, work: None }),
        learned: None,
        losses: vec![("residual".into(), 1e-4), ("data".into(), f64::NAN)],
        misfits: vec![MisfitOutcome {
            name: "ends".into(),
            network: Some(2e-4),
            classical: Some(3e-4),
            dice_network: None,
            dice_classical: None,
            fit: Fit {
                coordinates: vec![("x".into(), vec![0.0, 1.0]), ("t".into(), vec![1.0, 1.0])],
                data: Some(vec![0.25, 2.0]),
                network: Some(vec![0.1, 2.1]),
                ..Fit::default()
            },
        }],
        verdict: Verdict {
            colour: Colour::Orange,
            reasons: vec![Reason {
                colour: Colour::Orange,
                kind: ReasonKind::Untested,
                sentence: "the fit of the data was not tested".into(),
                help: String::new(),
            }],
        },
        goodness: Goodness::default(),
        discretisation: None,
        weakest: String::new(),
        log_likelihood: None,
        log_evidence: None,
        starts: vec![],
        minima: vec![],
        expected_gain: None,
        fitted_unknowns: None,
        regularisation: vec![],
        remedy: String::new(),
        audit: vec![
            Audit { at: At::Guess, cosine: 0.995, relative_error: 0.02, below_noise: false },
            Audit { at: At::Estimate, cosine: -0.25, relative_error: 1.5, below_noise: true },
        ],
        near: vec![Near {
            at: "k = 1.5".into(),
            states: vec![NearState {
                name: "u".into(),
                relative_l2_vs_classical: 4e-3,
                relative_l2_of_guess: 0.12,
            }],
        }],
        correlations: vec![vec![1.0, -0.5], vec![-0.5, 1.0]],
        singular_values: vec![4.0, 0.5],
        noise: vec![Noise {
            observation: "ends".into(),
            source: NoiseSource::Stated,
            sd: Some(0.01),
            ..Noise::default()
        }],
        notes: vec![],
        warnings: vec![],
        steps: Steps { pretrain: 10, train: 20 },
        seconds: Seconds { total: 3.5, pretrain: 1.0, train: 2.0, per_step: 0.1 },
        fields: Fields {
            axes: vec![("x".into(), vec![0.0, 0.5, 1.0]), ("t".into(), vec![0.0, 1.0])],
            arrays: vec![Field {
                name: "u_network".into(),
                of: vec![0, 1],
                values: vec![0.0, 0.1, 1.0, 1.1, 2.0, 2.1],
            }],
        },
        peak_memory_bytes: Some(1 << 20),
        device_memory_bytes: None,
        diverged: None,
        drawings: vec![],
        classical_failure: None,
    }
}

/// What is written is what was written before, and is read as it was. `BILO_BLESS=1` writes it again, with keys that were
/// added.
#[test]
fn an_outcome_keeps_its_shape_and_is_read_back() {
    let (written, expected) = (outcome().to_json(), include_str!("example.json"));
    if std::env::var_os("BILO_BLESS").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/example.json");
        return std::fs::write(file, written).expect("a file to write");
    }
    assert_eq!(written, expected);
    let read = Outcome::from_json(expected).expect("what was written");
    assert_eq!(read.to_json(), expected);
    assert!(read.losses[1].1.is_nan(), "what is not finite is null");
}
