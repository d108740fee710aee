//! Runs that are killed or stopped go on, and come to what they would have come to.
#![cfg(unix)]

use crate::common;
use crate::results as compared;

use common::Place;
use compared::{require_same, results};
use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const FOLDER: &str = "runs/decay-0";

/// A network that takes a second or so, with points that are drawn anew.
const RUN: &str = "run decay.toml --set operator.kind=network --set train.pretrain-steps=700 --set train.train-steps=1500 \
                   --set equation.decay.points={random=11,resample=5}";

/// Longer than any test.
const LONG: &str = "--set train.train-steps=200000 --set train.settle-tolerance=0";

/// `bilo` with these arguments, separated by blanks, while the test goes on.
pub(crate) fn bilo(place: &Place, arguments: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("bilo"))
        .current_dir(place.path())
        .args(arguments.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Whether it went well, and what it complained of.
pub(crate) fn ended(child: Child) -> (bool, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

/// Waits, but not for ever.
fn until(mut done: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if done() {
            return;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("it did not come to that within half a minute");
}

/// Numbers below a limit, the same in every run of the tests.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }
}

/// A hundred kills, each at another moment: while it reads, pre-trains, trains, writes a checkpoint or its results.
#[test]
fn a_run_that_is_killed_again_and_again_ends_as_one_that_is_not() {
    let undisturbed = Place::with_decay();
    undisturbed.bilo(RUN).succeeds();
    let expected = results(&undisturbed.join(FOLDER));
    let (mut kills, mut draw) = (0, Draw(1));
    while kills < 100 {
        let place = Place::with_decay();
        let mut go_on = false;
        loop {
            let command = if go_on { format!("run --resume {FOLDER}") } else { RUN.to_owned() };
            let every = ["0", "0.01"][draw.below(2) as usize];
            let mut child = bilo(&place, &format!("{command} --checkpoint-every {every}"));
            sleep(Duration::from_millis(draw.below(250)));
            // It may have ended by itself.
            if child.try_wait().unwrap().is_some() {
                assert_eq!(ended(child), (true, String::new()));
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            // Before there is a problem file there is no run.
            go_on = place.join(FOLDER).join("problem.toml").exists();
            if place.join(FOLDER).join("outcome.json").exists() {
                // Killed when all was done but for removing them.
                for name in ["checkpoint.safetensors", "checkpoint-earlier.safetensors"] {
                    let _ = fs::remove_file(place.join(FOLDER).join(name));
                }
                break;
            }
        }
        require_same(&results(&place.join(FOLDER)), &expected);
    }
}

/// SIGTERM and Ctrl-C leave results and a checkpoint; going on replaces the results by those of the whole run.
#[test]
fn a_run_that_is_stopped_says_what_it_has_and_goes_on() {
    for signal in ["-TERM", "-INT"] {
        let place = Place::with_decay();
        let child = bilo(&place, &format!("{RUN} {LONG}"));
        let history = place.join(FOLDER).join("history.csv");
        until(|| fs::read_to_string(&history).is_ok_and(|text| text.contains("\ntrain,")));
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert_eq!(ended(child), (true, String::new()));
        let outcome: Value = serde_json::from_str(&place.read(&format!("{FOLDER}/outcome.json"))).unwrap();
        assert_eq!(outcome["stop"], "interrupted");
        assert!(place.join(FOLDER).join("checkpoint.safetensors").exists());
        let steps = outcome["steps"]["train"].as_u64().unwrap();
        // The rest of so many steps would take minutes: see that it goes on and no more.
        let child = bilo(&place, &format!("run --resume {FOLDER}"));
        let later = format!("\ntrain,{},", steps / 10 * 10 + 20);
        until(|| fs::read_to_string(&history).is_ok_and(|text| text.contains(&later)));
        let pid = child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        assert_eq!(ended(child), (true, String::new()));
    }
}

#[test]
fn what_cannot_go_on_says_why() {
    let place = Place::with_decay();
    let resume = |path: &str| place.bilo(&format!("run --resume {path}")).fails(1).stderr;
    assert!(resume("nowhere").contains("`nowhere` is not the folder of a run"));
    let said = place.bilo(RUN).succeeds().stdout;
    assert!(said.contains("Stopped: all steps were taken."), "{said}");
    assert!(resume(FOLDER).contains(&format!("the run in `{FOLDER}` has come to its end (steps)")));

    // One that was stopped, with two checkpoints.
    let mut child = bilo(&place, &format!("{RUN} {LONG} --checkpoint-every 0"));
    until(|| place.join(FOLDER).join("checkpoint-earlier.safetensors").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let file = place.join(FOLDER).join("checkpoint.safetensors");
    let earlier = place.join(FOLDER).join("checkpoint-earlier.safetensors");
    if !file.exists() {
        fs::copy(&earlier, &file).unwrap();
    }
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 9]).unwrap();
    let told = resume(FOLDER);
    assert!(told.contains("it is damaged, or it is no checkpoint of bilo"), "{told}");
    assert!(told.contains(&format!("bilo run --resume {FOLDER}/checkpoint-earlier.safetensors")), "{told}");
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&file, damaged).unwrap();
    assert!(resume(FOLDER).contains("its checksum is not that of its content"));
    fs::write(&file, &whole).unwrap();
    let problem = place.read(&format!("{FOLDER}/problem.toml"));
    place.write(&format!("{FOLDER}/problem.toml"), &problem.replace("guess = 1.0", "guess = 1.1"));
    assert!(resume(FOLDER).contains("it is of another problem, method or seed, or of other data"));
    place.write(&format!("{FOLDER}/problem.toml"), &problem);

    // The one before it does, and nobody else may meanwhile.
    let child = bilo(&place, &format!("run --resume {FOLDER}/checkpoint-earlier.safetensors"));
    sleep(Duration::from_millis(300));
    let text = place.bilo(RUN).fails(1).stderr;
    assert!(text.contains(&format!("another run is writing into `{FOLDER}`")), "{text}");
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert_eq!(ended(child), (true, String::new()));
}

/// A checkpoint that cannot be written is told of, and the run comes to its end all the same.
#[test]
fn a_checkpoint_that_cannot_be_written_ends_no_run() {
    let place = Place::with_decay();
    let child = bilo(&place, &format!("{RUN} {LONG}"));
    until(|| place.join(FOLDER).join("problem.toml").exists());
    // Something else has the name; a full disk is no different.
    fs::create_dir(place.join(FOLDER).join("checkpoint.part")).unwrap();
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let (success, told) = ended(child);
    assert!(
        success && told.starts_with(&format!("error: cannot write `{FOLDER}/checkpoint.part`")),
        "{told}"
    );
    let outcome: Value = serde_json::from_str(&place.read(&format!("{FOLDER}/outcome.json"))).unwrap();
    assert_eq!(outcome["stop"], "interrupted");
}
