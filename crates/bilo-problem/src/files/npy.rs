//! Arrays of numbers in NumPy's formats: `.npy`, one array, and `.npz`, a zip archive of them.
//!
//! The headers are read and written by hand: files come from anywhere, and a damaged one must give an
//! error, not an overflow.
//!
//! ```
//! use bilo_problem::npy::{Archive, Array, write_archive};
//! use std::io::Cursor;
//!
//! let mut file = Cursor::new(vec![]);
//! write_archive(&mut file, [("u", &[2, 2][..], &[1.0, 2.0, 3.0, 4.0][..])])?;
//! let mut archive = Archive::new(file.into_inner())?;
//! assert_eq!(archive.array("u")?, Some(Array { shape: vec![2, 2], data: vec![1.0, 2.0, 3.0, 4.0] }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Cursor, Read, Seek, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Data begin at a multiple of this in a file.
const ALIGNMENT: usize = 64;

/// Most bytes of an array in an archive, because a small archive may unpack to any size.
const MOST_BYTES: u64 = 1 << 28;

/// Why bytes are not an array or an archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NpyError(String);

type Result<T> = std::result::Result<T, NpyError>;

fn error<T>(why: impl Into<String>) -> Result<T> {
    Err(NpyError(why.into()))
}

/// An array of numbers in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its length along each axis.
    pub shape: Vec<usize>,
    /// The numbers, the last axis running fastest.
    pub data: Vec<f64>,
}

impl Array {
    /// Reads a `.npy` file of floats or integers.
    pub fn from_npy(bytes: &[u8]) -> Result<Array> {
        let (header, body) = split_header(bytes)?;
        let shape = shape(header)?;
        let kind = Kind::parse(quoted(header, "descr")?)?;
        let fortran = after(header, "fortran_order")?.starts_with("True");
        let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
        if count.and_then(|n| n.checked_mul(kind.size)) != Some(body.len()) {
            let found = body.len();
            return error(format!("shape {shape:?} does not fit the {found} bytes of its data"));
        }
        let data: Vec<f64> = body.chunks_exact(kind.size).map(|item| kind.number(item)).collect();
        let data = if fortran { to_c_order(&data, &shape) } else { data };
        Ok(Array { shape, data })
    }

    /// A column of a two-dimensional array.
    pub(crate) fn column(&self, number: usize) -> Vec<f64> {
        let width = self.shape.last().copied().unwrap_or(1).max(1);
        self.data.iter().skip(number).step_by(width).copied().collect()
    }
}

/// Writes a `.npy` file of version 1.0, little-endian `f64` in C order.
pub fn write_array(file: &mut impl Write, shape: &[usize], data: &[f64]) -> io::Result<()> {
    let lengths: String = shape.iter().map(|length| format!("{length}, ")).collect();
    // Python's tuples: (), (2,), (2, 3).
    let lengths = if shape.len() == 1 { lengths.trim_end() } else { lengths.trim_end_matches(", ") };
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({lengths}), }}");
    let before = MAGIC.len() + 4;
    let total = (before + header.len() + 1).next_multiple_of(ALIGNMENT);
    let length = total - before;
    let too_long = |_| io::Error::new(io::ErrorKind::InvalidInput, "too many axes for an array");
    file.write_all(MAGIC)?;
    file.write_all(&[1, 0])?;
    file.write_all(&u16::try_from(length).map_err(too_long)?.to_le_bytes())?;
    writeln!(file, "{header:width$}", width = length - 1)?;
    let bytes: Vec<u8> = data.iter().flat_map(|number| number.to_le_bytes()).collect();
    file.write_all(&bytes)
}

/// Writes a `.npz` archive of named arrays, each with its shape and its numbers.
pub fn write_archive<'a>(
    file: impl Write + Seek,
    arrays: impl IntoIterator<Item = (&'a str, &'a [usize], &'a [f64])>,
) -> io::Result<()> {
    // A fixed date: the same arrays give the same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    let mut zip = ZipWriter::new(file);
    for (name, shape, data) in arrays {
        zip.start_file(format!("{name}.npy"), options)?;
        write_array(&mut zip, shape, data)?;
    }
    zip.finish()?.flush()
}

/// A `.npz` archive in memory.
pub struct Archive(ZipArchive<Cursor<Vec<u8>>>);

impl Archive {
    /// Opens the content of a `.npz` file.
    pub fn new(bytes: Vec<u8>) -> Result<Archive> {
        let damaged = |_| NpyError("not a NumPy archive, or damaged".to_string());
        ZipArchive::new(Cursor::new(bytes)).map(Archive).map_err(damaged)
    }

    /// The names of its arrays, sorted.
    pub fn names(&self) -> Vec<String> {
        let files = self.0.file_names().filter_map(|name| name.ok());
        let mut names: Vec<String> =
            files.filter_map(|name| name.strip_suffix(".npy").map(str::to_string)).collect();
        names.sort();
        names
    }

    /// The array of that name, if there is one.
    pub fn array(&mut self, name: &str) -> Result<Option<Array>> {
        if !self.names().iter().any(|found| found == name) {
            return Ok(None);
        }
        let member = self.0.by_name(&format!("{name}.npy")).map_err(|why| NpyError(why.to_string()))?;
        let mut bytes = Vec::new();
        member.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|why| NpyError(why.to_string()))?;
        if bytes.len() as u64 > MOST_BYTES {
            return error(format!("larger than {} MB", MOST_BYTES >> 20));
        }
        Array::from_npy(&bytes).map(Some)
    }
}

fn split_header(bytes: &[u8]) -> Result<(&str, &[u8])> {
    let damaged = || NpyError("not a NumPy array, or damaged".to_string());
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let (major, rest) = (rest.first().ok_or_else(damaged)?, rest.get(2..).ok_or_else(damaged)?);
    // Version 1 has two bytes for the length of the header, later ones four.
    let width = if *major == 1 { 2 } else { 4 };
    let (length, rest) = rest.split_at_checked(width).ok_or_else(damaged)?;
    let length = length.iter().rev().fold(0usize, |n, b| (n << 8) | usize::from(*b));
    let (header, body) = rest.split_at_checked(length).ok_or_else(damaged)?;
    Ok((std::str::from_utf8(header).map_err(|_| damaged())?, body))
}

/// What follows `'key':` in the header.
fn after<'a>(header: &'a str, key: &str) -> Result<&'a str> {
    let quoted = format!("'{key}':");
    match header.find(&quoted) {
        Some(start) => Ok(header[start + quoted.len()..].trim_start()),
        None => error(format!("the array's header has no `{key}`")),
    }
}

fn quoted<'a>(header: &'a str, key: &str) -> Result<&'a str> {
    let text = after(header, key)?.strip_prefix('\'').and_then(|rest| rest.split_once('\''));
    match text {
        Some((inside, _)) => Ok(inside),
        None => error("structured arrays are not supported, save plain numbers"),
    }
}

fn shape(header: &str) -> Result<Vec<usize>> {
    let text = after(header, "shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let Some((inside, _)) = text else {
        return error("the array's header has no shape");
    };
    let items = inside.split(',').map(str::trim).filter(|item| !item.is_empty());
    let number = |item: &str| item.parse().map_err(|_| NpyError(format!("`{item}` is no dimension")));
    items.map(number).collect()
}

/// An item's type: little or big endian, signed, unsigned or float, and its bytes.
#[derive(Clone, Copy)]
struct Kind {
    big: bool,
    letter: char,
    size: usize,
}

impl Kind {
    fn parse(descr: &str) -> Result<Kind> {
        let unsupported =
            || NpyError(format!("arrays of type `{descr}` are not supported, save floats or integers"));
        let mut letters = descr.chars();
        let (order, letter) = (letters.next(), letters.next());
        let (Some(order), Some(letter)) = (order, letter) else {
            return Err(unsupported());
        };
        let size = letters.as_str().parse().map_err(|_| unsupported())?;
        match (letter, size) {
            ('f', 4 | 8) | ('i' | 'u', 1 | 2 | 4 | 8) => Ok(Kind { big: order == '>', letter, size }),
            _ => Err(unsupported()),
        }
    }

    fn number(self, item: &[u8]) -> f64 {
        let bits = |byte: &u8, n: u64| (n << 8) | u64::from(*byte);
        let raw = if self.big {
            item.iter().fold(0, |n, b| bits(b, n))
        } else {
            item.iter().rev().fold(0, |n, b| bits(b, n))
        };
        let unused = 64 - 8 * self.size as u32;
        match self.letter {
            'f' if self.size == 4 => f64::from(f32::from_bits(raw as u32)),
            'f' => f64::from_bits(raw),
            // Shifting up and down again copies the sign.
            'i' => (((raw << unused) as i64) >> unused) as f64,
            _ => raw as f64,
        }
    }
}

fn to_c_order(data: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut index = vec![0; shape.len()];
    let mut out = Vec::with_capacity(data.len());
    for _ in 0..data.len() {
        let place = index.iter().zip(shape).rev().fold(0, |n, (i, d)| n * d + i);
        out.push(data[place]);
        for (i, d) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *d {
                break;
            }
            *i = 0;
        }
    }
    out
}
