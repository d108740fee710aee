//! `fields.npz`: axes and arrays for `numpy.load`.

use bilo::outcome::Fields;
use npyz::WriterBuilder;
use npyz::npz::NpzWriter;
use npyz::zip::DateTime;
use npyz::zip::write::FileOptions;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

type Writer = NpzWriter<BufWriter<File>>;

/// Each axis under its coordinate's name, and every array in the shape of the axes.
pub(crate) fn write(fields: &Fields, path: &Path) -> io::Result<()> {
    let mut npz = NpzWriter::create(path)?;
    for (name, nodes) in &fields.axes {
        add(&mut npz, name, &[nodes.len() as u64], nodes)?;
    }
    let shape: Vec<u64> = fields.axes.iter().map(|(_, nodes)| nodes.len() as u64).collect();
    for array in &fields.arrays {
        add(&mut npz, &array.name, &shape, &array.values)?;
    }
    npz.zip_writer().finish()?;
    Ok(())
}

fn add(npz: &mut Writer, name: &str, shape: &[u64], values: &[f64]) -> io::Result<()> {
    // A fixed date: the same run gives the same bytes.
    let options = FileOptions::default().last_modified_time(DateTime::default());
    let mut array = npz.array(name, options)?.default_dtype().shape(shape).begin_nd()?;
    array.extend(values)?;
    array.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use npyz::npz::NpzArchive;

    fn read(archive: &mut NpzArchive<impl io::Read + io::Seek>, name: &str) -> (Vec<u64>, Vec<f64>) {
        let array = archive.by_name(name).unwrap().unwrap();
        (array.shape().to_vec(), array.into_vec().unwrap())
    }

    #[test]
    fn read_back_it_has_the_axes_and_the_arrays_in_their_shape() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fields.npz");
        write(&example::outcome().fields, &path).unwrap();
        let mut archive = NpzArchive::open(&path).unwrap();
        assert_eq!(read(&mut archive, "x"), (vec![3], vec![0.0, 0.5, 1.0]));
        assert_eq!(read(&mut archive, "t"), (vec![2], vec![0.0, 1.0]));
        assert_eq!(read(&mut archive, "u_network"), (vec![3, 2], vec![0.0, 0.1, 1.0, 1.1, 2.0, 2.1]));
    }
}
