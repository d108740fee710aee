//! The bytes of a checkpoint.

use super::Kept;
use bilo::checkpoint::Checkpoint;
use bilo::observer::Phase;
use flate2::Crc;
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// What is written; what is read may be older.
const VERSION: u64 = 1;

/// The entry of the metadata.
const ENTRY: &str = "bilo";

const FOREIGN: &str = "it is no checkpoint of bilo";

/// Which run a checkpoint is of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Owner {
    /// CRC-32 of the problem and its data.
    pub(crate) problem: u32,
    pub(crate) method: &'static str,
    pub(crate) seed: u64,
}

/// The file of a checkpoint.
pub(super) fn encode(kept: &Kept, owner: &Owner) -> Result<Vec<u8>, String> {
    let Kept { checkpoint, history } = kept;
    let about = json!({
        "version": VERSION,
        "program": env!("CARGO_PKG_VERSION"),
        "problem": owner.problem,
        "method": owner.method,
        "seed": owner.seed,
        "phase": checkpoint.phase.name(),
        "step": checkpoint.step,
        "seconds": checkpoint.seconds,
        "why": checkpoint.why,
        "history": history,
    })
    .to_string();
    let bytes = |values: &Vec<f64>| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let mut arrays: Vec<(&str, Vec<u8>)> =
        checkpoint.arrays.iter().map(|(name, values)| (name.as_str(), bytes(values))).collect();
    arrays.sort();
    let entry =
        format!("{:08x} {about}", checksum(&about, arrays.iter().map(|(name, data)| (*name, &data[..]))));
    let mut views = vec![];
    for (name, data) in &arrays {
        let view = TensorView::new(Dtype::F64, vec![data.len() / 8], data);
        views.push((*name, view.map_err(|error| error.to_string())?));
    }
    let metadata = HashMap::from([(ENTRY.to_owned(), entry)]);
    serialize(views, Some(metadata)).map_err(|error| error.to_string())
}

/// The checkpoint of a file, or what is wrong with it.
pub(super) fn decode(bytes: &[u8], owner: &Owner) -> Result<Kept, String> {
    let damaged = |error: safetensors::SafeTensorError| format!("it is damaged, or {FOREIGN}: {error}");
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
    let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
    let entry = header.metadata().as_ref().and_then(|metadata| metadata.get(ENTRY)).ok_or(FOREIGN)?;
    let (sum, text) = entry.split_once(' ').ok_or(FOREIGN)?;
    let about: Value = serde_json::from_str(text).map_err(|_| FOREIGN)?;
    let version = about["version"].as_u64().ok_or(FOREIGN)?;
    if version > VERSION {
        let program = about["program"].as_str().unwrap_or("a later one");
        return Err(format!(
            "it is of a newer format, by bilo {program}; this program knows it up to {VERSION}"
        ));
    }
    let mut arrays = tensors.tensors();
    arrays.sort_by(|a, b| a.0.cmp(&b.0));
    let found = checksum(text, arrays.iter().map(|(name, view)| (name.as_str(), view.data())));
    if u32::from_str_radix(sum, 16) != Ok(found) {
        return Err("it is damaged: its checksum is not that of its content".to_owned());
    }
    let theirs = (about["problem"].as_u64(), about["method"].as_str(), about["seed"].as_u64());
    if theirs != (Some(u64::from(owner.problem)), Some(owner.method), Some(owner.seed)) {
        return Err("it is of another problem, method or seed, or of other data".to_owned());
    }
    let arrays = arrays.iter().map(|(name, view)| Ok((name.clone(), numbers(view)?)));
    let checkpoint = Checkpoint {
        phase: [Phase::Pretrain, Phase::Train]
            .into_iter()
            .find(|phase| about["phase"] == phase.name())
            .ok_or(FOREIGN)?,
        step: about["step"].as_u64().ok_or(FOREIGN)? as usize,
        seconds: about["seconds"].as_f64().ok_or(FOREIGN)?,
        why: about["why"].as_str().map(str::to_owned),
        arrays: arrays.collect::<Result<_, String>>()?,
    };
    Ok(Kept { checkpoint, history: about["history"].as_u64().ok_or(FOREIGN)? })
}

fn numbers(view: &TensorView<'_>) -> Result<Vec<f64>, String> {
    if view.dtype() != Dtype::F64 {
        return Err(FOREIGN.to_owned());
    }
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    Ok(view.data().chunks_exact(8).map(number).collect())
}

/// CRC-32 of the text and of the arrays with their names, in this order.
fn checksum<'a>(text: &str, arrays: impl Iterator<Item = (&'a str, &'a [u8])>) -> u32 {
    let mut crc = Crc::new();
    crc.update(text.as_bytes());
    for (name, data) in arrays {
        crc.update(name.as_bytes());
        crc.update(data);
    }
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner() -> Owner {
        Owner { problem: 7, method: "bilo", seed: 3 }
    }

    fn kept() -> Kept {
        let arrays = vec![
            ("weights".to_owned(), vec![1.0, -0.0, f64::NAN, 1e-310]),
            ("eta".to_owned(), vec![]),
            ("losses".to_owned(), vec![0.1]),
        ];
        let why = Some("a kink".to_owned());
        let checkpoint = Checkpoint { phase: Phase::Train, step: 12, seconds: 1.25, why, arrays };
        Kept { checkpoint, history: 345 }
    }

    #[test]
    fn what_is_written_is_read_to_the_last_bit() {
        let bytes = encode(&kept(), &owner()).unwrap();
        assert_eq!(bytes, encode(&kept(), &owner()).unwrap(), "the same bytes for the same state");
        let found = decode(&bytes, &owner()).unwrap();
        let Checkpoint { phase, step, seconds, why, mut arrays } = found.checkpoint;
        assert_eq!((phase, step, seconds, found.history), (Phase::Train, 12, 1.25, 345));
        assert_eq!(why.as_deref(), Some("a kink"));
        let mut expected = kept().checkpoint.arrays;
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        arrays.sort_by(|a, b| a.0.cmp(&b.0));
        for ((name, ours), (theirs, values)) in expected.iter().zip(&arrays) {
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!((name, bits(ours)), (theirs, bits(values)));
        }
    }

    /// Every byte that changes, every end that is missing: an error and no panic. What is left of the header's blanks
    /// carries nothing.
    #[test]
    fn no_damage_goes_unnoticed() {
        let bytes = encode(&kept(), &owner()).unwrap();
        let same = |kept: &Kept| format!("{kept:?}");
        for place in 0..bytes.len() {
            for flip in [1, 0x80] {
                let mut damaged = bytes.clone();
                damaged[place] ^= flip;
                if let Ok(found) = decode(&damaged, &owner()) {
                    assert_eq!(same(&found), same(&decode(&bytes, &owner()).unwrap()), "byte {place}");
                }
            }
            assert!(decode(&bytes[..place], &owner()).is_err(), "{place} bytes");
        }
    }

    /// Many random edits: a few thousand, or as many as `BILO_FUZZ_CASES` says.
    #[test]
    fn no_edits_make_it_panic() {
        let good = encode(&kept(), &owner()).unwrap();
        let cases =
            std::env::var("BILO_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
        let mut state = 1_u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % limit
        };
        for _ in 0..cases {
            let mut bytes = good.clone();
            for _ in 0..=below(5) {
                let place = below(bytes.len());
                match below(4) {
                    0 => bytes[place] = below(256) as u8,
                    1 => bytes.truncate(place + 1),
                    2 => drop(bytes.splice(place..place, [b"99999999999"[below(11)]].repeat(below(20)))),
                    _ => drop(bytes.drain(place / 2..place)),
                }
                bytes.push(0);
            }
            let _ = decode(&bytes, &owner());
        }
    }

    #[test]
    fn foreign_and_newer_ones_are_told_apart() {
        let bytes = encode(&kept(), &owner()).unwrap();
        for other in [
            Owner { seed: 4, ..owner() },
            Owner { problem: 8, ..owner() },
            Owner { method: "pinn", ..owner() },
        ] {
            let why = decode(&bytes, &other).unwrap_err();
            assert_eq!(why, "it is of another problem, method or seed, or of other data");
        }
        let newer = String::from_utf8_lossy(&bytes).replace("\\\"version\\\":1", "\\\"version\\\":9");
        assert!(decode(newer.as_bytes(), &owner()).is_err());
        let none = serialize(Vec::<(String, TensorView<'_>)>::new(), None).unwrap();
        assert_eq!(decode(&none, &owner()).unwrap_err(), FOREIGN);
        assert!(
            decode(b"no such thing", &owner())
                .unwrap_err()
                .starts_with("it is damaged, or it is no checkpoint")
        );
        let text = json!({ "version": VERSION + 1, "program": "9.0.0" }).to_string();
        let metadata = HashMap::from([(ENTRY.to_owned(), format!("{:08x} {text}", 0))]);
        let newer = serialize(Vec::<(String, TensorView<'_>)>::new(), Some(metadata)).unwrap();
        let why = decode(&newer, &owner()).unwrap_err();
        assert_eq!(why, "it is of a newer format, by bilo 9.0.0; this program knows it up to 1");
    }
}
