//! SIGTERM in every phase of a run: it ends within two seconds, and what it has found is kept.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// From the signal to the end, and a little for a busy machine.
const MOST: Duration = Duration::from_millis(2500);

/// A run that is in a phase for long enough to be stopped in it.
struct Case {
    phase: &'static str,
    problem: &'static str,
    arguments: &'static [&'static str],
    /// What its history has once it is there; none if it is before the first step.
    reached: Option<&'static str>,
}

const CASES: [Case; 7] = [
    Case {
        phase: "pre-training",
        problem: "fisher-kpp",
        arguments: &["--recipe", "paper"],
        reached: Some("pretrain,100,"),
    },
    Case {
        phase: "training",
        problem: "fisher-kpp",
        arguments: &["--recipe", "paper", "--set", "train.pretrain-steps=20"],
        reached: Some("train,20,"),
    },
    Case {
        phase: "dictionary refinement",
        problem: "burgers-initial-2",
        arguments: &["--set", "operator.kind=dictionary", "--set", "operator.basis=splines"],
        reached: None,
    },
    Case {
        phase: "Gauss-Newton",
        problem: "glioblastoma",
        arguments: &["--method", "adjoint"],
        reached: Some("train,1,"),
    },
    Case {
        phase: "adjoint descent",
        problem: "darcy",
        arguments: &["--method", "adjoint"],
        reached: Some("train,1,"),
    },
    Case {
        phase: "neural operator training",
        problem: "fisher-kpp",
        arguments: &[
            "--method",
            "deeponet",
            "--set",
            "examples.unknown={ D = { from = 1, to = 3, step = 1 }, rho = { from = 1, to = 3, step = 1 } }",
            "--set",
            "deeponet.steps=1000000",
        ],
        reached: Some("pretrain,10,"),
    },
    Case {
        phase: "reference solve",
        problem: "glioblastoma",
        arguments: &["--method", "adjoint", "--set", "classical.cells=200", "--set", "classical.steps=2000"],
        reached: None,
    },
];

/// The outcome of a run that has been in the folder before.
const FORMER: &str = "{}";

fn terminate(child: &Child) {
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("a kill");
    assert!(sent.success());
}

/// Waits until the run is where it is to be stopped.
fn wait_for(case: &Case, child: &mut Child, out: &Path) {
    let start = Instant::now();
    let Some(mark) = case.reached else { return sleep(Duration::from_secs(3)) };
    while !std::fs::read_to_string(out.join("history.csv")).is_ok_and(|history| history.contains(mark)) {
        assert!(start.elapsed() < Duration::from_secs(120), "{}: it never comes to {mark}", case.phase);
        assert!(child.try_wait().expect("a child").is_none(), "{}: it ended by itself", case.phase);
        sleep(Duration::from_millis(20));
    }
}

fn stop(case: &Case) {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    std::fs::create_dir(&out).expect("a folder");
    std::fs::write(out.join("outcome.json"), FORMER).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilo"));
    command.current_dir(folder.path());
    command.args(["run", case.problem, "--quiet", "--threads", "1", "--out", "run"]).args(case.arguments);
    command.env("XDG_CACHE_HOME", folder.path());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program");
    wait_for(case, &mut child, &out);
    let asked = Instant::now();
    terminate(&child);
    let ended = child.wait_with_output().expect("it ends");
    let took = asked.elapsed();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(took < MOST, "{}: {took:?}; {said}", case.phase);
    let outcome = std::fs::read_to_string(out.join("outcome.json"));
    // Before the first step there is nothing to keep, and nothing is written over.
    let began = case.reached.is_some() || out.join("history.csv").is_file();
    match began {
        true => {
            let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}; {said}", case.phase));
            assert!(outcome.contains("\"stop\": \"interrupted\""), "{}: {outcome}", case.phase);
            assert!(out.join("problem.toml").is_file() && out.join("run.json").is_file());
        }
        false => assert_eq!(outcome.expect("that of the former run"), FORMER, "{}: {said}", case.phase),
    }
}

/// One after the other: two at a time would share the processor that each is measured on.
#[test]
fn a_run_ends_soon_after_it_is_asked_to_whatever_it_does() {
    CASES.iter().for_each(stop);
}
