//! Arrays of NumPy's `.npy` format as plain numbers.
//!
//! The header is read by hand: files come from anywhere, and a damaged one must give an error, not
//! an overflow.

/// An array of numbers in C order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) data: Vec<f64>,
}

type Result<T> = std::result::Result<T, String>;

impl Array {
    /// Reads a `.npy` file.
    pub(super) fn parse(bytes: &[u8]) -> Result<Array> {
        let (header, body) = split_header(bytes)?;
        let shape = shape(header)?;
        let kind = Kind::parse(quoted(header, "descr")?)?;
        let fortran = after(header, "fortran_order")?.starts_with("True");
        let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
        let size = count.and_then(|n| n.checked_mul(kind.size));
        match (count, size) {
            (Some(_), Some(size)) if size == body.len() => {}
            _ => {
                let found = body.len();
                return Err(format!("shape {shape:?} does not fit the {found} bytes of its data"));
            }
        }
        let data: Vec<f64> = body.chunks_exact(kind.size).map(|item| kind.number(item)).collect();
        let data = if fortran { to_c_order(&data, &shape) } else { data };
        Ok(Array { shape, data })
    }

    /// A column of a two-dimensional array.
    pub(super) fn column(&self, number: usize) -> Vec<f64> {
        let width = self.shape.last().copied().unwrap_or(1).max(1);
        self.data.iter().skip(number).step_by(width).copied().collect()
    }
}

fn split_header(bytes: &[u8]) -> Result<(&str, &[u8])> {
    let damaged = || "not a NumPy array, or damaged".to_string();
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or_else(damaged)?;
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
    let start = header.find(&quoted).ok_or_else(|| format!("the array's header has no `{key}`"))?;
    Ok(header[start + quoted.len()..].trim_start())
}

fn quoted<'a>(header: &'a str, key: &str) -> Result<&'a str> {
    let text = after(header, key)?.strip_prefix('\'').and_then(|rest| rest.split_once('\''));
    match text {
        Some((inside, _)) => Ok(inside),
        None => Err("structured arrays are not supported, save plain numbers".to_string()),
    }
}

fn shape(header: &str) -> Result<Vec<usize>> {
    let text = after(header, "shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let (inside, _) = text.ok_or("the array's header has no shape")?;
    let items = inside.split(',').map(str::trim).filter(|item| !item.is_empty());
    let number = |item: &str| item.parse().map_err(|_| format!("`{item}` is no dimension"));
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
        let unsupported = || format!("arrays of type `{descr}` are not supported, save floats or integers");
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
