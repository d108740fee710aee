//! Writes that fail: nothing is taken for whole that is not, and the next run is as good as if nothing had happened.
#![cfg(unix)]

use crate::common;
use crate::results as compared;

use common::Place;
use compared::{require_same, results};
use std::process::Command;

const RUN: &str = "run decay.toml --quiet --tensorboard --checkpoint-every 0.05 --set operator.kind=network \
                   --set train.record-every=1 --set train.pretrain-steps=60 --set train.train-steps=120";

/// `bilo` on a disk on which no file can be longer than so many blocks: whether it went well, and what it complained of.
fn limited(place: &Place, blocks: u32, arguments: &str) -> (bool, String) {
    // Without the trap the first write beyond ends the program, as no full disk would.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_bilo")]).args(arguments.split_whitespace());
    let output = command.current_dir(place.path()).output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

/// What lasts of a run's folder; names of event files have the time in them.
fn lasting(place: &Place) -> Vec<(String, Vec<u8>)> {
    let mut files = results(&place.join("runs/decay-0"));
    files.retain(|(name, _)| !name.starts_with("events."));
    files
}

#[test]
fn on_a_full_disk_a_run_says_so_and_leaves_nothing_half_written() {
    let place = Place::with_decay();
    let said = place.bilo(RUN).succeeds().stdout;
    assert!(said.contains("Files in runs/decay-0"), "{said}");
    let whole = lasting(&place);
    let (mut failed, mut went_well) = (0, 0);
    for blocks in [0, 1, 2, 4, 8, 12, 16, 24, 32, 64, 128, 256, 1024] {
        let (success, told) = limited(&place, blocks, RUN);
        assert!(!told.contains("panicked"), "{told}");
        if success {
            went_well += 1;
            require_same(&lasting(&place), &whole);
            continue;
        }
        failed += 1;
        assert!(told.starts_with("error: ") && told.contains("cannot write"), "{blocks}: {told}");
        assert!(told.contains("File too large"), "{blocks}: {told}");
        // An outcome is whole, or it is not there.
        let outcome =
            |files: &[(String, Vec<u8>)]| files.iter().find(|(name, _)| name == "outcome.json").cloned();
        let left = outcome(&lasting(&place));
        assert!(left.is_none() || left == outcome(&whole), "{blocks}");
        place.bilo(RUN).succeeds();
        require_same(&lasting(&place), &whole);
    }
    assert!(failed > 3 && went_well > 1, "{failed} {went_well}");
}

#[test]
fn a_study_on_a_full_disk_goes_on_when_there_is_room() {
    let place = Place::with_decay();
    place.write("two.toml", "problem = \"decay.toml\"\nmethod = [\"bilo\", \"adjoint\"]\nseeds = [0, 1]\n");
    let tables =
        |place: &Place| ["table.txt", "study.json"].map(|name| place.read(&format!("runs/two/{name}")));
    place.bilo("study two.toml --quiet --out runs/two").succeeds();
    let whole = tables(&place);
    std::fs::remove_dir_all(place.join("runs/two")).unwrap();
    for blocks in [0, 1, 2, 4, 8, 16, 64] {
        let (_, told) = limited(&place, blocks, "study two.toml --quiet --out runs/two");
        assert!(!told.contains("panicked"), "{told}");
    }
    place.bilo("study two.toml --quiet --out runs/two").succeeds();
    assert_eq!(tables(&place), whole);
}

#[test]
fn a_folder_that_cannot_be_made_is_told_before_hours_of_training() {
    let place = Place::with_decay();
    place.write("taken", "a file");
    let told = place.bilo("run decay.toml --out taken/run").fails(1).stderr;
    assert!(told.contains("cannot create the folder `taken/run`"), "{told}");
    assert_eq!(place.read("taken"), "a file");
}
