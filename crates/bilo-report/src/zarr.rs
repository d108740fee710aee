//! Stores of Zarr, version 2 and uncompressed: what `xarray.open_zarr` and `arviz.from_zarr` open.
//!
//! Written by hand: a store is a folder with a little JSON beside plain numbers, and only arrays in groups are needed here.
//! A dimension has its coordinate in an array of its own name, which is what xarray goes by.
//!
//! ```
//! use bilo_report::zarr::{Store, Values};
//!
//! # fn main() -> std::io::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("chains.zarr");
//! let mut store = Store::create(&path)?;
//! store.group("posterior", &[("sampler", "NUTS".into())])?;
//! store.array("posterior", "chain", &[("chain", 2)], &Values::Integers(&[0, 1]))?;
//! let draws = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
//! store.array("posterior", "D", &[("chain", 2), ("draw", 3)], &Values::Floats(&draws))?;
//! store.finish()?;
//! assert!(path.join("posterior/D/1.0").exists(), "the second chain");
//! # Ok(())
//! # }
//! ```

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

const GROUP: &str = ".zgroup";
const ARRAY: &str = ".zarray";
const ATTRIBUTES: &str = ".zattrs";
const INDEX: &str = ".zmetadata";

/// Arrays whose first dimension this is have a file for each chain.
const CHAIN: &str = "chain";

/// A store that is being written: a folder with groups of arrays.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Every description so far, for the index at the end.
    descriptions: Map<String, Value>,
    /// How long the dimensions are, by group and name.
    lengths: BTreeMap<(String, String), usize>,
}

/// What is in an array: the last dimension changes fastest.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Numbers, NaN where there is none.
    Floats(&'a [f64]),
    /// Whole numbers.
    Integers(&'a [i64]),
    /// Truths.
    Booleans(&'a [bool]),
    /// Texts, each in the room of the longest.
    Words(&'a [String]),
}

impl Store {
    /// A store without groups, in a folder that is new, empty or a former store, whose files are removed.
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        clear(path)?;
        let mut store = Store { folder: path.to_owned(), descriptions: Map::new(), lengths: BTreeMap::new() };
        store.describe(GROUP.into(), json!({ "zarr_format": 2 }))?;
        Ok(store)
    }

    /// A group without arrays. ArviZ has names for what it knows: `posterior`, `sample_stats`, `observed_data`.
    pub fn group(&mut self, name: &str, attributes: &[(&str, Value)]) -> io::Result<()> {
        check_name(name)?;
        let attributes = attributes.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        self.describe(format!("{name}/{GROUP}"), json!({ "zarr_format": 2 }))?;
        self.describe(format!("{name}/{ATTRIBUTES}"), Value::Object(attributes.collect()))
    }

    /// An array of a group, with the names and lengths of its dimensions.
    ///
    /// It is in one file, or in one for each chain if the first of several dimensions is called `chain`.
    pub fn array(
        &mut self,
        group: &str,
        name: &str,
        dimensions: &[(&str, usize)],
        values: &Values<'_>,
    ) -> io::Result<()> {
        self.check(group, name, dimensions, values)?;
        let names: Vec<&str> = dimensions.iter().map(|(name, _)| *name).collect();
        let shape: Vec<usize> = dimensions.iter().map(|(_, length)| *length).collect();
        let chunk = chunk(dimensions);
        let about = json!({
            "chunks": chunk,
            "compressor": null,
            "dtype": values.kind(),
            "fill_value": values.fill(),
            "filters": null,
            "order": "C",
            "shape": shape,
            "zarr_format": 2,
        });
        let place = format!("{group}/{name}");
        self.describe(format!("{place}/{ARRAY}"), about)?;
        self.describe(format!("{place}/{ATTRIBUTES}"), json!({ "_ARRAY_DIMENSIONS": names }))?;
        self.write(&place, &chunk, values)
    }

    /// Adds the index of all that was written, by which readers open a store at once: only then is it whole.
    pub fn finish(self) -> io::Result<()> {
        let index = json!({ "metadata": self.descriptions, "zarr_consolidated_format": 1 });
        fs::write(self.folder.join(INDEX), serde_json::to_vec_pretty(&index)?)
    }

    /// Writes one of the small files of JSON and its folder.
    fn describe(&mut self, place: String, about: Value) -> io::Result<()> {
        if self.descriptions.contains_key(&place) {
            return Err(refused(format!("`{place}` is in the store already")));
        }
        let path = self.folder.join(&place);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, serde_json::to_vec_pretty(&about)?)?;
        self.descriptions.insert(place, about);
        Ok(())
    }

    /// The values in their files, which are called after the place of the chunk among the others.
    fn write(&self, place: &str, chunk: &[usize], values: &Values<'_>) -> io::Result<()> {
        let folder = self.folder.join(place);
        let size: usize = chunk.iter().product();
        for number in 0..values.len() / size {
            let name = format!("{number}{}", ".0".repeat(chunk.len().saturating_sub(1)));
            fs::write(folder.join(name), values.bytes(number * size..(number + 1) * size))?;
        }
        Ok(())
    }

    /// Refuses what would leave a store that cannot be read, or not as it was meant.
    fn check(
        &mut self,
        group: &str,
        name: &str,
        dimensions: &[(&str, usize)],
        values: &Values<'_>,
    ) -> io::Result<()> {
        check_name(name)?;
        if !self.descriptions.contains_key(&format!("{group}/{GROUP}")) {
            return Err(refused(format!("`{group}` must be a group before `{name}` can be in it")));
        }
        let (room, found) = (dimensions.iter().map(|(_, length)| length).product::<usize>(), values.len());
        if room != found {
            return Err(refused(format!("`{name}` has room for {room} values, not {found}")));
        }
        // NumPy takes zeros at the end of a text for the padding.
        if matches!(values, Values::Words(words) if words.iter().any(|word| word.ends_with('\0'))) {
            return Err(refused(format!(
                "a text of `{name}` ends with a NUL character, which would be lost"
            )));
        }
        for (dimension, length) in dimensions {
            let known = self.lengths.entry((group.to_owned(), (*dimension).to_owned())).or_insert(*length);
            if known != length {
                let message =
                    format!("`{dimension}` of `{group}/{name}` is {length} long, but {known} before");
                return Err(refused(message));
            }
        }
        Ok(())
    }
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Values::Floats(values) => values.len(),
            Values::Integers(values) => values.len(),
            Values::Booleans(values) => values.len(),
            Values::Words(values) => values.len(),
        }
    }

    /// What NumPy calls the type: order of bytes, kind and size, for texts in characters.
    fn kind(&self) -> String {
        match self {
            Values::Floats(_) => "<f8".into(),
            Values::Integers(_) => "<i8".into(),
            Values::Booleans(_) => "|b1".into(),
            Values::Words(words) => format!("<U{}", width(words)),
        }
    }

    /// What stands for no value. Only floats have one: xarray turns integers that equal it into floating-point NaN.
    fn fill(&self) -> Value {
        match self {
            Values::Floats(_) => json!("NaN"),
            _ => Value::Null,
        }
    }

    fn bytes(&self, range: Range<usize>) -> Vec<u8> {
        match self {
            Values::Floats(values) => values[range].iter().flat_map(|value| value.to_le_bytes()).collect(),
            Values::Integers(values) => values[range].iter().flat_map(|value| value.to_le_bytes()).collect(),
            Values::Booleans(values) => values[range].iter().map(|value| u8::from(*value)).collect(),
            Values::Words(words) => {
                let width = width(words);
                words[range].iter().flat_map(|word| padded(word, width)).collect()
            }
        }
    }
}

/// Characters of the longest text, and one for texts without any: NumPy knows no narrower type.
fn width(words: &[String]) -> usize {
    words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(1)
}

/// Four bytes for each character, zeros after the last.
fn padded(word: &str, width: usize) -> impl Iterator<Item = u8> {
    let characters = word.chars().map(u32::from).chain(std::iter::repeat(0));
    characters.take(width).flat_map(u32::to_le_bytes)
}

/// The shape of what is in one file. Zarr wants it positive, also where there are no values.
fn chunk(dimensions: &[(&str, usize)]) -> Vec<usize> {
    let mut chunk: Vec<usize> = dimensions.iter().map(|(_, length)| *length.max(&1)).collect();
    if let [(CHAIN, _), _, ..] = dimensions {
        chunk[0] = 1;
    }
    chunk
}

/// A name must be that of a folder here, and none of the store's own files, all of which begin with a dot.
fn check_name(name: &str) -> io::Result<()> {
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
        let message = format!("`{name}` cannot be a name in a store: it must not be empty, begin with a dot");
        return Err(refused(message + " or have a slash, a backslash or a NUL character in it"));
    }
    Ok(())
}

/// Empties a folder, if what is in it is a store.
fn clear(folder: &Path) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    if !entries.is_empty() && !entries.iter().any(|entry| entry.file_name() == GROUP) {
        let message = format!("{} has files of something else in it: choose a new folder", folder.display());
        return Err(io::Error::new(ErrorKind::AlreadyExists, message));
    }
    // The index goes first, so that what is half removed is not opened as if it were whole, and the mark of a store
    // stays, so that a program that is killed here can be started again.
    entries.retain(|entry| entry.file_name() != GROUP);
    entries.sort_by_key(|entry| entry.file_name() != INDEX);
    for entry in entries {
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

fn refused(message: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const NUMBERS: [f64; 6] = [0.0, 1.0, -2.0, 0.5, f64::NAN, 3.0];

    fn json(path: &Path) -> Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    /// A store with a group `g`.
    fn store() -> (TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::create(&folder.path().join("s")).unwrap();
        store.group("g", &[("made", "here".into())]).unwrap();
        (folder, store)
    }

    fn files(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The descriptions are those of the specification, and the numbers are written as IEEE 754 says.
    #[test]
    fn two_chains_of_three_draws_are_two_files() {
        let (folder, mut store) = store();
        store.array("g", "a", &[("chain", 2), ("draw", 3)], &Values::Floats(&NUMBERS)).unwrap();
        store.finish().unwrap();
        let path = folder.path().join("s");
        assert_eq!(files(&path), [".zgroup", ".zmetadata", "g"]);
        assert_eq!(files(&path.join("g")), [".zattrs", ".zgroup", "a"]);
        assert_eq!(files(&path.join("g/a")), [".zarray", ".zattrs", "0.0", "1.0"]);
        let first = b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0";
        let second = b"\0\0\0\0\0\0\xe0\x3f\0\0\0\0\0\0\xf8\x7f\0\0\0\0\0\0\x08\x40";
        assert_eq!(fs::read(path.join("g/a/0.0")).unwrap(), first);
        assert_eq!(fs::read(path.join("g/a/1.0")).unwrap(), second);
        let array = json!({
            "zarr_format": 2, "shape": [2, 3], "chunks": [1, 3], "dtype": "<f8", "order": "C",
            "fill_value": "NaN", "compressor": null, "filters": null,
        });
        let dimensions = json!({ "_ARRAY_DIMENSIONS": ["chain", "draw"] });
        assert_eq!(json(&path.join("g/a/.zarray")), array);
        assert_eq!(json(&path.join("g/a/.zattrs")), dimensions);
        assert_eq!(json(&path.join("g/.zattrs")), json!({ "made": "here" }));
        let group = json!({ "zarr_format": 2 });
        assert_eq!(json(&path.join(".zgroup")), group);
        assert_eq!(json(&path.join("g/.zgroup")), group);
        let metadata = json!({
            ".zgroup": group, "g/.zgroup": group, "g/.zattrs": { "made": "here" },
            "g/a/.zarray": array, "g/a/.zattrs": dimensions,
        });
        let index = json!({ "zarr_consolidated_format": 1, "metadata": metadata });
        assert_eq!(json(&path.join(".zmetadata")), index);
    }

    #[test]
    fn other_values_have_their_types_and_are_in_one_file() {
        let (folder, mut store) = store();
        let words = ["aβ".to_owned(), String::new()];
        store.array("g", "i", &[("chain", 2)], &Values::Integers(&[1, -2])).unwrap();
        store.array("g", "b", &[("x", 2), ("y", 1)], &Values::Booleans(&[true, false])).unwrap();
        store.array("g", "w", &[("x", 2)], &Values::Words(&words)).unwrap();
        store.array("g", "s", &[], &Values::Integers(&[3])).unwrap();
        let [i, b, w, s] = ["i", "b", "w", "s"].map(|name| folder.path().join("s/g").join(name));
        let minus_two = [254, 255, 255, 255, 255, 255, 255, 255];
        assert_eq!(fs::read(i.join("0")).unwrap(), [[1, 0, 0, 0, 0, 0, 0, 0], minus_two].concat());
        assert_eq!(fs::read(b.join("0.0")).unwrap(), [1, 0]);
        assert_eq!(fs::read(w.join("0")).unwrap(), b"a\0\0\0\xb2\x03\0\0\0\0\0\0\0\0\0\0");
        assert_eq!(fs::read(s.join("0")).unwrap(), [3, 0, 0, 0, 0, 0, 0, 0]);
        for (path, kind, chunks) in
            [(i, "<i8", json!([2])), (b, "|b1", json!([2, 1])), (w, "<U2", json!([2])), (s, "<i8", json!([]))]
        {
            let about = json(&path.join(".zarray"));
            assert_eq!(
                (&about["dtype"], &about["chunks"], &about["shape"]),
                (&json!(kind), &chunks, &chunks)
            );
            assert_eq!(about["fill_value"], Value::Null);
        }
    }

    #[test]
    fn without_values_there_are_no_files_of_values() {
        let (folder, mut store) = store();
        store.array("g", "a", &[("chain", 2), ("none", 0)], &Values::Floats(&[])).unwrap();
        store.array("g", "w", &[("none", 0)], &Values::Words(&[])).unwrap();
        let [a, w] = ["a", "w"].map(|name| folder.path().join("s/g").join(name));
        assert_eq!(files(&a), [".zarray", ".zattrs"]);
        assert_eq!(files(&w), [".zarray", ".zattrs"]);
        let (a, w) = (json(&a.join(".zarray")), json(&w.join(".zarray")));
        assert_eq!((&a["shape"], &a["chunks"]), (&json!([2, 0]), &json!([1, 1])));
        assert_eq!((&w["shape"], &w["chunks"], &w["dtype"]), (&json!([0]), &json!([1]), &json!("<U1")));
    }

    #[test]
    fn what_could_not_be_read_is_refused() {
        let (_folder, mut store) = store();
        let ones = [1.0; 3];
        let floats = Values::Floats(&ones);
        store.array("g", "a", &[("x", 3)], &floats).unwrap();
        let ended = ["a\0".to_owned()];
        let mut told = |group: &str, name: &str, dimensions: &[(&str, usize)], values: &Values<'_>| {
            let error = store.array(group, name, dimensions, values).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            error.to_string()
        };
        assert_eq!(told("g", "b", &[("y", 2)], &floats), "`b` has room for 2 values, not 3");
        assert_eq!(told("h", "b", &[("y", 3)], &floats), "`h` must be a group before `b` can be in it");
        assert_eq!(told("g", "a", &[("x", 3)], &floats), "`g/a/.zarray` is in the store already");
        let other = told("g", "b", &[("y", 1), ("x", 1)], &Values::Integers(&[0]));
        assert_eq!(other, "`x` of `g/b` is 1 long, but 3 before");
        let lost = "a text of `b` ends with a NUL character, which would be lost";
        assert_eq!(told("g", "b", &[("z", 1)], &Values::Words(&ended)), lost);
        for name in ["", ".", "..", ".zattrs", "a/b", "a\\b"] {
            assert!(told("g", name, &[("x", 3)], &floats).contains("cannot be a name in a store"));
            assert!(store_error(name).contains("cannot be a name in a store"));
        }
    }

    fn store_error(name: &str) -> String {
        store().1.group(name, &[]).unwrap_err().to_string()
    }

    #[test]
    fn a_former_store_makes_room_and_nothing_else_does() {
        let (folder, mut former) = store();
        former.array("g", "a", &[("x", 1)], &Values::Integers(&[1])).unwrap();
        former.finish().unwrap();
        let path = folder.path().join("s");
        Store::create(&path).unwrap();
        assert_eq!(files(&path), [".zgroup"]);
        let other = folder.path().join("other");
        fs::create_dir(&other).unwrap();
        Store::create(&other).unwrap();
        fs::remove_file(other.join(".zgroup")).unwrap();
        fs::write(other.join("thesis.tex"), "").unwrap();
        let error = Store::create(&other).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(error.to_string().ends_with("other has files of something else in it: choose a new folder"));
        assert_eq!(files(&other), ["thesis.tex"]);
        assert!(Store::create(&other.join("thesis.tex")).is_err(), "a file");
    }
}
