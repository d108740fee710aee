//! Arrays against files that NumPy wrote (`numpy.save`, `savez`, `savez_compressed` of version 2.4).

use bilo::npy::{Archive, Array, write_archive, write_array};
use std::io::Cursor;

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("data/numpy/", $name))
    };
}

/// Numbers that need every bit: a decimal fraction, the least above zero, one near the largest.
const U: [f64; 6] = [1.5, -2.0, 0.1, 1e300, 5e-324, 3.0];

fn array(shape: &[usize], data: &[f64]) -> Array {
    Array { shape: shape.to_vec(), data: data.to_vec() }
}

#[test]
fn arrays_of_numpy_are_read_whatever_their_order_and_type() {
    let u = array(&[2, 3], &U);
    assert_eq!(Array::from_npy(file!("plain.npy")).unwrap(), u);
    assert_eq!(Array::from_npy(file!("fortran.npy")).unwrap(), u);
    assert_eq!(Array::from_npy(file!("big.npy")).unwrap(), u);
    let whole = array(&[2, 3], &[1.0, -2.0, 3.0, 4.0, 5.0, -6.0]);
    assert_eq!(Array::from_npy(file!("whole.npy")).unwrap(), whole);
    assert_eq!(Array::from_npy(file!("scalar.npy")).unwrap(), array(&[], &[7.0]));
}

#[test]
fn archives_of_numpy_are_read_stored_and_compressed() {
    let mut stored = Archive::new(file!("stored.npz").to_vec()).unwrap();
    assert_eq!(stored.names(), ["u", "x"]);
    let mut compressed = Archive::new(file!("compressed.npz").to_vec()).unwrap();
    assert_eq!(compressed.names(), ["empty", "u", "x"]);
    for archive in [&mut stored, &mut compressed] {
        assert_eq!(archive.array("x").unwrap(), Some(array(&[2], &[0.25, 0.5])));
        assert_eq!(archive.array("u").unwrap(), Some(array(&[2, 3], &U)));
        assert_eq!(archive.array("v").unwrap(), None);
    }
    assert_eq!(compressed.array("empty").unwrap(), Some(array(&[0, 3], &[])));
}

#[test]
fn arrays_are_written_byte_for_byte_as_numpy_does() {
    let written = |shape: &[usize], data: &[f64]| {
        let mut bytes = vec![];
        write_array(&mut bytes, shape, data).unwrap();
        bytes
    };
    assert_eq!(written(&[2, 3], &U), file!("plain.npy"));
    assert_eq!(written(&[2], &[0.25, 0.5]), file!("line.npy"));
    assert_eq!(written(&[], &[7.0]), file!("scalar.npy"));
}

#[test]
fn a_written_archive_reads_back_and_has_the_same_bytes_each_time() {
    let write = || {
        let mut file = Cursor::new(vec![]);
        let (x, u) = (("x", &[2][..], &[0.25, 0.5][..]), ("u", &[2, 3][..], &U[..]));
        write_archive(&mut file, [x, u]).unwrap();
        file.into_inner()
    };
    assert_eq!(write(), write());
    let mut archive = Archive::new(write()).unwrap();
    assert_eq!(archive.array("x").unwrap(), Some(array(&[2], &[0.25, 0.5])));
    assert_eq!(archive.array("u").unwrap(), Some(array(&[2, 3], &U)));
}

#[test]
fn what_is_no_archive_is_an_error() {
    assert!(Archive::new(file!("plain.npy").to_vec()).is_err());
    assert!(Array::from_npy(file!("stored.npz")).is_err());
}
