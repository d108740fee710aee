//! `fields.npz`: axes and arrays for `numpy.load`.

use bilo::npy;
use bilo::outcome::Fields;
use std::fs;
use std::io::{self, Cursor};
use std::path::Path;

/// Each axis under its coordinate's name, and every array in the shape of its axes.
pub fn write(fields: &Fields, path: &Path) -> io::Result<()> {
    let shape: Vec<usize> = fields.axes.iter().map(|(_, nodes)| nodes.len()).collect();
    let axes = fields.axes.iter().zip(shape.chunks(1));
    let axes = axes.map(|((name, nodes), length)| (name.as_str(), length, nodes.as_slice()));
    let shapes: Vec<Vec<usize>> =
        fields.arrays.iter().map(|array| array.of.iter().map(|&axis| shape[axis]).collect()).collect();
    let arrays = fields.arrays.iter().zip(&shapes);
    let arrays =
        arrays.map(|(array, shape)| (array.name.as_str(), shape.as_slice(), array.values.as_slice()));
    // In memory first: an archive that a full disk cuts off could not even be closed.
    let mut archive = Cursor::new(vec![]);
    npy::write_archive(&mut archive, axes.chain(arrays))?;
    fs::write(path, archive.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use bilo::npy::{Archive, Array};

    #[test]
    fn read_back_it_has_the_axes_and_the_arrays_in_their_shape() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fields.npz");
        write(&example::outcome().fields, &path).unwrap();
        let mut archive = Archive::new(std::fs::read(&path).unwrap()).unwrap();
        let array = |shape: &[usize], data: &[f64]| Array { shape: shape.to_vec(), data: data.to_vec() };
        assert_eq!(archive.names(), ["t", "u_network", "x"]);
        assert_eq!(archive.array("x").unwrap(), Some(array(&[3], &[0.0, 0.5, 1.0])));
        assert_eq!(archive.array("t").unwrap(), Some(array(&[2], &[0.0, 1.0])));
        let u = array(&[3, 2], &[0.0, 0.1, 1.0, 1.1, 2.0, 2.1]);
        assert_eq!(archive.array("u_network").unwrap(), Some(u));
    }
}
