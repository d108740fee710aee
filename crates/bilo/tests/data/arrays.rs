//! NumPy files, put together byte by byte; files that NumPy itself wrote are in `numpy/`.

use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Which axis runs fastest: the last or the first.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    C,
    #[allow(dead_code, reason = "not every test needs it")]
    Fortran,
}

/// A number in the order of bytes that a file wants.
pub(crate) trait Number: Copy {
    fn bytes(self, big: bool) -> Vec<u8>;
}

macro_rules! number {
    ($($kind:ty),*) => {$(
        impl Number for $kind {
            fn bytes(self, big: bool) -> Vec<u8> {
                if big { self.to_be_bytes().to_vec() } else { self.to_le_bytes().to_vec() }
            }
        }
    )*};
}

number!(f64, f32, i64, i32, i16, i8, u8);

/// A file of one array; `dtype` must be the type of the data, with `>` for big endian.
pub(crate) fn npy<T: Number>(dtype: &str, order: Order, shape: &[usize], data: &[T]) -> Vec<u8> {
    let fortran = if order == Order::Fortran { "True" } else { "False" };
    let lengths: String = shape.iter().map(|length| format!("{length},")).collect();
    let header = format!("{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': ({lengths}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(data.iter().flat_map(|number| number.bytes(dtype.starts_with('>'))));
    bytes
}

/// An archive of named arrays.
pub(crate) fn npz(arrays: &[(&str, &[usize], &[f64])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, shape, data) in arrays {
        archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).expect("a member");
        archive.write_all(&npy("<f8", Order::C, shape, data)).expect("data");
    }
    archive.finish().expect("an end").into_inner()
}
