//! Event files of TensorBoard: records of scalars, each a Protocol Buffers message with two checksums around it.
//!
//! Written by hand: two messages of three fields each are all that is needed of TensorFlow's schema.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// A file of events.
pub struct EventFile(File);

impl EventFile {
    /// A new file; TensorBoard takes files with `tfevents` in their names.
    pub fn create(path: &Path, wall_time: f64) -> io::Result<Self> {
        let mut file = EventFile(File::create_new(path)?);
        let mut event = double(1, wall_time);
        event.extend(bytes(3, b"brain.Event:2"));
        file.record(&event)?;
        Ok(file)
    }

    /// Scalars of one step, with their tags.
    pub fn scalars(&mut self, wall_time: f64, step: usize, scalars: &[(String, f64)]) -> io::Result<()> {
        let mut summary = vec![];
        for (tag, value) in scalars {
            let mut entry = bytes(1, tag.as_bytes());
            entry.extend(float(2, *value as f32));
            summary.extend(bytes(1, &entry));
        }
        let mut event = double(1, wall_time);
        event.extend(key(2, 0));
        event.extend(varint(step as u64));
        event.extend(bytes(5, &summary));
        self.record(&event)
    }

    /// In one piece, so that a program that is killed leaves whole records.
    fn record(&mut self, data: &[u8]) -> io::Result<()> {
        let length = (data.len() as u64).to_le_bytes();
        let parts = [&length[..], &masked(&length).to_le_bytes(), data, &masked(data).to_le_bytes()];
        self.0.write_all(&parts.concat())
    }
}

/// The head of a field: its number and how it is written.
fn key(field: u64, kind: u64) -> Vec<u8> {
    varint(field << 3 | kind)
}

fn double(field: u64, value: f64) -> Vec<u8> {
    [key(field, 1), value.to_le_bytes().to_vec()].concat()
}

fn float(field: u64, value: f32) -> Vec<u8> {
    [key(field, 5), value.to_le_bytes().to_vec()].concat()
}

fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [key(field, 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// Seven bits at a time, the lowest first.
fn varint(mut value: u64) -> Vec<u8> {
    let mut found = vec![];
    while value >= 0x80 {
        found.push(value as u8 | 0x80);
        value >>= 7;
    }
    found.push(value as u8);
    found
}

/// The checksum of a record: one that has checksums in it would otherwise have a bad one.
fn masked(data: &[u8]) -> u32 {
    crc32c(data).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Castagnoli's cyclic redundancy check.
fn crc32c(data: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
    !data.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of RFC 3720 for 32 zeros, and the usual one for nine digits.
    #[test]
    fn the_checksum_is_castagnolis() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn integers_have_seven_bits_in_a_byte() {
        assert_eq!(varint(1), [1]);
        assert_eq!(varint(300), [0xac, 0x02]);
    }

    #[test]
    fn a_file_has_its_version_and_then_its_scalars() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events");
        let mut file = EventFile::create(&path, 1.5).unwrap();
        file.scalars(2.5, 300, &[("loss/data".into(), 0.25)]).unwrap();
        let found = std::fs::read(&path).unwrap();
        let length = |at: usize| u64::from_le_bytes(found[at..at + 8].try_into().unwrap()) as usize;
        let first = &found[12..12 + length(0)];
        assert_eq!(first, [&[0x09][..], &1.5_f64.to_le_bytes(), &[0x1a, 13], b"brain.Event:2"].concat());
        let begin = 16 + length(0);
        assert_eq!(found.len(), begin + 16 + length(begin));
        let second = &found[begin + 12..found.len() - 4];
        let value = [&[0x0a, 9][..], b"loss/data", &[0x15], &0.25_f32.to_le_bytes()].concat();
        let summary = [&[0x0a, 16][..], &value].concat();
        let expected =
            [&[0x09][..], &2.5_f64.to_le_bytes(), &[0x10, 0xac, 0x02, 0x2a, 18], &summary].concat();
        assert_eq!(second, expected);
        assert!(EventFile::create(&path, 1.5).is_err(), "an old file is not written over");
    }
}
