//! NumPy files, written by a library whose own reader of arrays is not used.

use npyz::{Order, WriterBuilder};
use std::io::Cursor;

/// A file of one array.
pub(crate) fn npy<T: npyz::Serialize + Copy>(
    dtype: &str,
    order: Order,
    shape: &[u64],
    data: &[T],
) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let dtype = npyz::DType::Plain(dtype.parse().expect("a type"));
    let options = npyz::WriteOptions::new().dtype(dtype).shape(shape).order(order);
    let mut writer = options.writer(&mut bytes).begin_nd().expect("a header");
    writer.extend(data.iter().copied()).expect("data");
    writer.finish().expect("an end");
    bytes.into_inner()
}

/// An archive of named arrays.
pub(crate) fn npz(arrays: &[(&str, &[u64], &[f64])]) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut archive = npyz::npz::NpzWriter::new(&mut bytes);
    for (name, shape, data) in arrays {
        let member = archive.array(name, Default::default()).expect("a member");
        let mut writer = member.default_dtype().shape(shape).begin_nd().expect("a header");
        writer.extend(data.iter().copied()).expect("data");
        writer.finish().expect("an end");
    }
    drop(archive);
    bytes.into_inner()
}
