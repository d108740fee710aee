//! Data against what was fitted to them, where a state itself was observed and the data are a file of the folder.

use super::block::Axis;
use super::figure::{Figures, Lines, Ordinates, Series};
use super::source::{Source, string};
use super::text::scientific;
use crate::escape::escaped;
use bilo::npy::Array;
use std::fs;
use std::path::Path;
use toml_edit::Item;

/// Most points of a scatter.
const MOST_POINTS: usize = 2000;
/// Bars of a histogram.
const BARS: usize = 21;

/// Observed values and the fitted ones at the same places.
struct Fit {
    data: Vec<f64>,
    fitted: Vec<f64>,
}

/// A scatter and a histogram for each observation that can be compared.
pub(super) fn figures(source: &Source, folder: &Path, figures: &mut Figures) -> String {
    let mut html = String::new();
    for (name, observation) in source.entries("observation") {
        if let Some(fit) = Fit::of(source, folder, observation).filter(|fit| !fit.data.is_empty()) {
            html += &fit.html(name, figures);
        }
    }
    html
}

impl Fit {
    fn of(source: &Source, folder: &Path, observation: &Item) -> Option<Fit> {
        let states = source.names("state");
        let state = match string(observation, "value") {
            Some(value) => states.iter().find(|state| *state == value.trim())?,
            None => states.first()?,
        };
        let data = observation.as_table_like()?.get("data")?;
        let file = string(data, "file").filter(|file| file.starts_with("data/") && file.ends_with(".csv"))?;
        if file.split('/').any(|part| part == "..") {
            return None;
        }
        let columns = Columns::parse(&fs::read_to_string(folder.join(file)).ok()?)?;
        let solved = source.arrays.get(&format!("{state}_network"));
        let field = solved.or_else(|| source.arrays.get(&format!("{state}_classical")))?;
        let axes = super::run::axes_of(source, &source.names("coordinates"))?;
        let places: Option<Vec<Place>> = axes.iter().map(|axis| Place::of(axis, &columns, data)).collect();
        let places = places?;
        let at = |row: usize| places.iter().map(|place| place.at(row)).collect::<Vec<f64>>();
        let values = columns.column("value")?;
        let fitted =
            (0..values.len()).map(|row| interpolated(field, &axes, &at(row))).collect::<Option<_>>()?;
        Some(Fit { data: values.to_vec(), fitted })
    }

    fn html(&self, name: &str, figures: &mut Figures) -> String {
        let every = self.data.len().div_ceil(MOST_POINTS);
        let thin = |values: &[f64]| values.iter().step_by(every).copied().collect::<Vec<f64>>();
        let ends = self.data.iter().chain(&self.fitted);
        let (lo, hi) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        let points = Series {
            name: "observed".into(),
            colour: 1,
            dashed: false,
            points: true,
            x: thin(&self.data),
            y: Ordinates::Fixed(thin(&self.fitted)),
        };
        let scatter = Lines {
            title: format!("{name}: fit against data"),
            names: ["data".into(), "fit".into()],
            series: vec![Series::curve("equal", 0, &[lo, hi], vec![lo, hi]).dashed(), points],
            ..Lines::default()
        };
        let shown = self.data.len().div_ceil(every);
        let caption = match self.data.len() {
            all if all == shown => format!("{all} values."),
            all => format!("{shown} of {all} values."),
        };
        let scatter = figures.lines(scatter, &caption);
        format!(
            "<h3>{}</h3>\n<div class=\"pair\">\n{scatter}{}</div>\n",
            escaped(name),
            self.histogram(name, figures)
        )
    }

    fn histogram(&self, name: &str, figures: &mut Figures) -> String {
        let residuals: Vec<f64> = self.data.iter().zip(&self.fitted).map(|(data, fit)| data - fit).collect();
        let most = residuals.iter().fold(f64::MIN_POSITIVE, |most, r| most.max(r.abs()));
        let mut counts = vec![0.0; BARS];
        for residual in &residuals {
            let share = (residual / most + 1.0) / 2.0;
            counts[((share * BARS as f64) as usize).min(BARS - 1)] += 1.0;
        }
        let centres: Vec<f64> =
            (0..BARS).map(|bar| most * ((2 * bar + 1) as f64 / BARS as f64 - 1.0)).collect();
        let mean_square = residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64;
        let lines = Lines {
            title: format!("{name}: data − fit"),
            names: ["data − fit".into(), "count".into()],
            series: vec![Series::curve("count", 1, &centres, counts)],
            bars: true,
            ..Lines::default()
        };
        figures.lines(lines, &format!("root mean square {}.", scientific(mean_square.sqrt(), 2)))
    }
}

/// Where a row lies along one coordinate.
enum Place {
    Column(Vec<f64>),
    Held(f64),
}

impl Place {
    fn of(axis: &Axis, columns: &Columns, data: &Item) -> Option<Place> {
        if let Some(column) = columns.column(&axis.name) {
            return Some(Place::Column(column.to_vec()));
        }
        let held = data.as_table_like()?.get("at")?.as_table_like()?.get(&axis.name)?;
        held.as_float().or(held.as_integer().map(|value| value as f64)).map(Place::Held)
    }

    fn at(&self, row: usize) -> f64 {
        match self {
            Place::Column(values) => values[row],
            Place::Held(value) => *value,
        }
    }
}

/// A table of numbers in CSV.
struct Columns(Vec<(String, Vec<f64>)>);

impl Columns {
    /// None if a cell is no number: the run would not have taken it either.
    fn parse(text: &str) -> Option<Columns> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let clean = |cell: &str| cell.trim().trim_matches('"').trim().to_owned();
        let mut columns: Vec<(String, Vec<f64>)> =
            lines.next()?.split(',').map(|name| (clean(name), vec![])).collect();
        for line in lines {
            let mut cells = line.split(',');
            for (_, column) in &mut columns {
                column.push(clean(cells.next()?).parse().ok()?);
            }
        }
        Some(Columns(columns))
    }

    fn column(&self, name: &str) -> Option<&[f64]> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, values)| values.as_slice())
    }
}

/// The value of a field between its nodes, linear in each coordinate; none where shapes disagree.
fn interpolated(field: &Array, axes: &[Axis], at: &[f64]) -> Option<f64> {
    if field.shape.len() != axes.len()
        || axes.iter().zip(&field.shape).any(|(a, n)| a.nodes.len() != *n || *n < 2)
    {
        return None;
    }
    // The corners of the cell around the place, each with its weight.
    let mut corners = vec![(0_usize, 1.0)];
    for (axis, &at) in axes.iter().zip(at) {
        let nodes = &axis.nodes;
        let cell = nodes.partition_point(|node| *node <= at).clamp(1, nodes.len() - 1) - 1;
        let share = ((at - nodes[cell]) / (nodes[cell + 1] - nodes[cell])).clamp(0.0, 1.0);
        let next = |&(place, weight): &(usize, f64)| {
            let first = place * nodes.len() + cell;
            [(first, weight * (1.0 - share)), (first + 1, weight * share)]
        };
        corners = corners.iter().flat_map(next).collect();
    }
    Some(
        corners
            .into_iter()
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(place, weight)| weight * field.data[place])
            .sum(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolation_is_exact_for_products_of_lines() {
        let axis = |name: &str, nodes: &[f64]| Axis { name: name.into(), nodes: nodes.to_vec() };
        let axes = [axis("x", &[0.0, 1.0, 2.0]), axis("t", &[0.0, 2.0])];
        let field = Array { shape: vec![3, 2], data: vec![0.0, 2.0, 1.0, 5.0, 2.0, 8.0] };
        // u = x + t + x t
        assert_eq!(interpolated(&field, &axes, &[0.5, 1.0]), Some(2.0));
        assert_eq!(interpolated(&field, &axes, &[2.0, 2.0]), Some(8.0));
        assert_eq!(interpolated(&field, &axes[..1], &[0.5]), None);
    }

    #[test]
    fn columns_have_names_and_numbers() {
        let columns = Columns::parse("# data\nx, \"value\"\n0.5,1e-3\n\n1,2\n").unwrap();
        assert_eq!(columns.column("value"), Some(&[1e-3, 2.0][..]));
        assert!(Columns::parse("x,value\n1\n").is_none() && Columns::parse("x\na\n").is_none());
    }
}
