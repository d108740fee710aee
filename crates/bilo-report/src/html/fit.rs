//! Data against what was fitted to them.

use super::figure::{Figures, Lines};
use super::hues::{ESTIMATE, REFERENCE, TRUTH};
use super::source::Source;
use super::text::scientific;
use crate::files::{fit_file, is_plain};
use crate::markup::{Html, html};
use crate::number::extent;
use crate::picture::series::{Series, Shape};
use std::fs;
use std::path::Path;

/// Most points of a scatter.
const MOST_POINTS: usize = 2000;
/// Bars of a histogram.
const BARS: usize = 21;

/// Observed values and the fitted ones at the same places.
struct Fit {
    /// The coordinate along which the places lie, if it is one alone.
    along: Option<(String, Vec<f64>)>,
    data: Vec<f64>,
    fitted: Vec<f64>,
    /// By the reference solver, if something else was fitted.
    classical: Option<Vec<f64>>,
}

/// A section for each observation that has values.
pub(super) fn figures(source: &Source, folder: &Path, figures: &mut Figures) -> Html {
    let mut html = Html::default();
    for name in source.names("observation").into_iter().filter(|name| is_plain(name)) {
        let text = fs::read_to_string(folder.join(fit_file(&name))).unwrap_or_default();
        let columns = Columns::parse(&text);
        if let Some(fit) = columns.and_then(|columns| Fit::of(columns, &source.names("coordinates"))) {
            html += fit.html(&name, figures);
        }
    }
    html
}

impl Fit {
    fn of(columns: Columns, coordinates: &[String]) -> Option<Fit> {
        let column = |name: &str| columns.column(name).map(<[f64]>::to_vec);
        let (data, network, classical) = (column("data")?, column("network"), column("classical"));
        let along = columns.along(coordinates);
        let (fitted, classical) = match network {
            Some(network) => (network, classical),
            None => (classical?, None),
        };
        (!data.is_empty()).then_some(Fit { along, data, fitted, classical })
    }

    fn html(&self, name: &str, figures: &mut Figures) -> Html {
        let profile = self.along.as_ref().map(|along| self.profile(name, along, figures)).unwrap_or_default();
        let scatter = self.scatter(name, figures);
        let histogram = self.histogram(name, figures);
        html!("<h3>{}</h3>\n{}<div class=\"pair\">\n{}{}</div>\n", name, profile, scatter, histogram)
    }

    /// Data and fit along the one coordinate that there is.
    fn profile(&self, name: &str, (along, places): &(String, Vec<f64>), figures: &mut Figures) -> Html {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
        let every = order.len().div_ceil(MOST_POINTS);
        let thin = |values: &[f64]| order.iter().step_by(every).map(|&row| values[row]).collect::<Vec<f64>>();
        let x = thin(places);
        let data = Series::scatter("data", TRUTH, &x, &thin(&self.data));
        let mut series = vec![data, Series::curve("fit", ESTIMATE, &x, &thin(&self.fitted))];
        if let Some(classical) = &self.classical {
            series.push(Series::curve("reference solution", REFERENCE, &x, &thin(classical)).dashed());
        }
        figures.lines(Lines::new(format!("{name} along {along}"), [along, "value"], series), "")
    }

    fn scatter(&self, name: &str, figures: &mut Figures) -> Html {
        let every = self.data.len().div_ceil(MOST_POINTS);
        let thin = |values: &[f64]| values.iter().step_by(every).copied().collect::<Vec<f64>>();
        let (lo, hi) = extent(self.data.iter().chain(&self.fitted).copied()).unwrap_or_default();
        let points = Series::scatter("observed", ESTIMATE, &thin(&self.data), &thin(&self.fitted));
        let series = vec![Series::curve("equal", REFERENCE, &[lo, hi], &[lo, hi]).dashed(), points];
        let scatter = Lines::new(format!("{name}: fit against data"), ["data", "fit"], series);
        let thinned = match every {
            1 => String::new(),
            2 => "; every second value is shown".into(),
            every => format!("; one value in {every} is shown"),
        };
        figures.lines(Lines { half: true, ..scatter }, format!("{} values{thinned}.", self.data.len()))
    }

    fn histogram(&self, name: &str, figures: &mut Figures) -> Html {
        let residuals: Vec<f64> = self.data.iter().zip(&self.fitted).map(|(data, fit)| data - fit).collect();
        let most = residuals.iter().fold(f64::MIN_POSITIVE, |most, r| most.max(r.abs()));
        let mut counts = vec![0.0; BARS];
        for residual in &residuals {
            let share = (residual / most + 1.0) / 2.0;
            counts[((share * BARS as f64) as usize).min(BARS - 1)] += 1.0;
        }
        let side = |bar: f64| most * (2.0 * bar / BARS as f64 - 1.0);
        let bar = |(i, count): (usize, f64)| [[side(i as f64 + 0.02), 0.0], [side(i as f64 + 0.98), count]];
        let bars = Shape::Bars(counts.into_iter().enumerate().map(bar).collect());
        let mean_square = residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64;
        let series = vec![Series::new("count", ESTIMATE, vec![bars])];
        let lines = Lines::new(format!("{name}: data − fit"), ["data − fit", "count"], series);
        figures.lines(
            Lines { half: true, ..lines },
            html!("root mean square {}.", scientific(mean_square.sqrt(), 2)),
        )
    }
}

/// A table of numbers that the program wrote.
pub(super) struct Columns(Vec<(String, Vec<f64>)>);

impl Columns {
    /// None if a cell is no number: then somebody else wrote it.
    pub(super) fn parse(text: &str) -> Option<Columns> {
        let mut lines = text.lines();
        let names = lines.next()?.split(',');
        let mut columns: Vec<(String, Vec<f64>)> = names.map(|name| (name.to_owned(), vec![])).collect();
        for line in lines {
            let mut cells = line.split(',');
            for (_, column) in &mut columns {
                column.push(cells.next()?.parse().ok()?);
            }
        }
        Some(Columns(columns))
    }

    /// The coordinate along which rows lie, if it is one alone.
    pub(super) fn along(&self, coordinates: &[String]) -> Option<(String, Vec<f64>)> {
        let varies = |name: &&String| {
            self.column(name).is_some_and(|column| column.iter().any(|value| *value != column[0]))
        };
        let along: Vec<&String> = coordinates.iter().filter(varies).collect();
        match along[..] {
            [alone] => Some((alone.clone(), self.column(alone)?.to_vec())),
            _ => None,
        }
    }

    pub(super) fn column(&self, name: &str) -> Option<&[f64]> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, values)| values.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(text: &str) -> Option<Fit> {
        Fit::of(Columns::parse(text)?, &["x".to_owned(), "t".to_owned()])
    }

    #[test]
    fn places_lie_along_the_one_coordinate_that_varies() {
        let found = fit("x,t,data,network,classical\n1.0,1.0,2.0,2.1,2.2\n0.0,1.0,0.5,0.6,0.7\n").unwrap();
        assert_eq!(found.along, Some(("x".to_owned(), vec![1.0, 0.0])));
        assert_eq!((found.data, found.fitted), (vec![2.0, 0.5], vec![2.1, 0.6]));
        assert_eq!(found.classical, Some(vec![2.2, 0.7]));
        let found = fit("x,t,data,classical\n1.0,1.0,2.0,2.1\n0.0,0.0,0.5,0.6\n").unwrap();
        assert_eq!((found.along, found.fitted, found.classical), (None, vec![2.1, 0.6], None));
    }

    #[test]
    fn particles_and_foreign_files_have_no_fit() {
        assert!(fit("x,t,network\n1.0,1.0,2.0\n").is_none());
        assert!(fit("x,t,data,network\n").is_none());
        assert!(Columns::parse("x,data\n1\n").is_none() && Columns::parse("x\na\n").is_none());
    }
}
