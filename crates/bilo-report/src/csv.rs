//! Tables for people and spreadsheets: `fields.csv`, a row per point of the grid, and `fit-NAME.csv`, a row per datum. Names
//! are words, so nothing needs quotes.

use bilo::outcome::{Field, Fields, Fit};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Columns are the coordinates, then the arrays; the last coordinate runs fastest.
pub fn write(fields: &Fields, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let axes = fields.axes.iter().map(|(name, _)| name.as_str());
    let names: Vec<&str> = axes.chain(fields.arrays.iter().map(|array| array.name.as_str())).collect();
    writeln!(file, "{}", names.join(","))?;
    let points: usize = fields.axes.iter().map(|(_, nodes)| nodes.len()).product();
    for point in 0..points {
        let (mut stride, mut place) = (points, vec![]);
        for (_, nodes) in &fields.axes {
            stride /= nodes.len();
            place.push(point / stride % nodes.len());
        }
        let axes = fields.axes.iter().zip(&place).map(|((_, nodes), &node)| nodes[node]);
        let value = |array: &Field| {
            let along = |number, &axis: &usize| number * fields.axes[axis].1.len() + place[axis];
            array.values[array.of.iter().fold(0, along)]
        };
        let cells: Vec<f64> = axes.chain(fields.arrays.iter().map(value)).collect();
        write_row(&mut file, &cells)?;
    }
    file.flush()
}

/// Columns are the coordinates, `data`, `sigma`, `network` and `classical`, as far as there are such.
pub fn write_fit(fit: &Fit, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let values = [
        ("data", &fit.data),
        ("sigma", &fit.sigma),
        ("network", &fit.network),
        ("classical", &fit.classical),
    ];
    let coordinates = fit.coordinates.iter().map(|(name, column)| (name.as_str(), column));
    let values = values.into_iter().filter_map(|(name, column)| Some((name, column.as_ref()?)));
    let (names, columns): (Vec<&str>, Vec<&Vec<f64>>) = coordinates.chain(values).unzip();
    writeln!(file, "{}", names.join(","))?;
    for row in 0..columns.first().map_or(0, |column| column.len()) {
        let cells: Vec<f64> = columns.iter().map(|column| column[row]).collect();
        write_row(&mut file, &cells)?;
    }
    file.flush()
}

fn write_row(file: &mut impl Write, cells: &[f64]) -> io::Result<()> {
    // `{:?}` is the shortest text that reads back as the same number.
    let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:?}")).collect();
    writeln!(file, "{}", cells.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn rows_go_through_the_last_coordinate_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fields.csv");
        write(&example::outcome().fields, &path).unwrap();
        let expected =
            "x,t,u_network\n0.0,0.0,0.0\n0.0,1.0,0.1\n0.5,0.0,1.0\n0.5,1.0,1.1\n1.0,0.0,2.0\n1.0,1.0,2.1\n";
        assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
    }

    #[test]
    fn a_fit_has_a_row_for_each_datum() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fit-ends.csv");
        write_fit(&example::outcome().misfits[0].fit, &path).unwrap();
        let expected = "x,t,data,network\n0.0,1.0,0.25,0.1\n1.0,1.0,2.0,2.1\n";
        assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
    }
}
