//! Tables of numbers in text, separated by commas, semicolons or tabs: whichever the first line has.
//!
//! Split by hand rather than by a library, because an error must point at the cell: each cell keeps
//! its bytes in the file.

use crate::diagnostic::{Diagnostic, Origin, Result, Source, list};
use crate::written::data::FileLayout;
use std::ops::Range;
use std::sync::Arc;

/// The columns asked for, and where each row was written.
pub(crate) struct Csv {
    pub(crate) columns: Vec<Option<Vec<f64>>>,
    /// Names of all columns of the file.
    pub(crate) names: Vec<String>,
    source: Arc<Source>,
    /// What was written as `<0.15`: the column, the row, and on which side of the number the value is.
    pub(crate) limits: Vec<(usize, usize, Side)>,
    /// Bytes of the cells of each column asked for, by row.
    cells: Vec<Vec<Range<usize>>>,
    separator: char,
    skip_missing: bool,
    decimal_comma: bool,
    /// The rows to take: the place of a column, and what may stand there.
    rows: Vec<(usize, Vec<String>)>,
}

/// On which side of a limit a value is that nobody could measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Below,
    Above,
}

/// Most different words of a column that an error tells.
const MOST_TOLD: usize = 12;

/// What stands for a number that is missing, beside nothing.
const MISSING: [&str; 7] = ["na", "n/a", "nan", "null", "none", "-", "?"];

impl Csv {
    /// Reads the columns `required` and, where there are any, `optional`, in this order.
    pub(crate) fn read(
        source: Arc<Source>,
        required: &[&str],
        optional: &[&str],
        layout: &FileLayout,
    ) -> Result<Csv> {
        let mut lines = lines(&source.text);
        let Some(header) = lines.next() else {
            let start = Origin::new(&source, 0..0);
            let error = Diagnostic::new("the file is empty", start);
            let help = format!("begin it with a line of column names: {}", list(required.iter().copied()));
            return Err(error.help(help).into());
        };
        let separator = separator(&source.text[header.clone()]);
        let names = cells(&source.text, header.clone(), separator);
        let mut found = Vec::new();
        for wanted in required {
            let missing = || missing_column(&source, header.clone(), &names, wanted);
            found.push(Some(find(&source, &names, wanted)?.ok_or_else(missing)?));
        }
        for wanted in optional {
            found.push(find(&source, &names, wanted)?);
        }
        let mut rows = vec![];
        for (column, allowed) in &layout.rows {
            let place = find(&source, &names, column)?;
            let place = place.ok_or_else(|| missing_column(&source, header.clone(), &names, column))?;
            rows.push((place, allowed.clone()));
        }
        let all = names.iter().map(|name| source.text[name.clone()].to_string()).collect();
        let mut csv = Csv {
            columns: vec![],
            names: all,
            source: Arc::clone(&source),
            limits: vec![],
            cells: vec![],
            separator,
            skip_missing: layout.skip_missing,
            decimal_comma: layout.decimal_comma,
            rows,
        };
        csv.columns = found.iter().map(|f| f.map(|_| Vec::new())).collect();
        csv.cells = vec![Vec::new(); found.len()];
        let mut says: Vec<Vec<String>> = vec![vec![]; csv.rows.len()];
        for line in lines {
            csv.row(line, &found, names.len(), &mut says)?;
        }
        let none = csv.columns.iter().flatten().all(Vec::is_empty);
        if let (true, Some((column, _)), Some(says)) = (none, layout.rows.first(), says.first()) {
            let error = Diagnostic::new("no row is one of those in `rows`", Origin::new(&csv.source, header));
            let found = list(says.iter().map(String::as_str));
            return Err(error.label(format!("`{column}` says {found}")).into());
        }
        Ok(csv)
    }

    /// Takes a row if it is one of those that are wanted; what those say that are not is kept.
    fn row(
        &mut self,
        line: Range<usize>,
        found: &[Option<usize>],
        width: usize,
        says: &mut [Vec<String>],
    ) -> Result<()> {
        let row = cells(&self.source.text, line.clone(), self.separator);
        if row.len() != width {
            let message = format!("this row has {} values, the header {width} names", row.len());
            return Err(Diagnostic::new(message, Origin::new(&self.source, line)).into());
        }
        let mut wanted = true;
        for ((place, allowed), says) in self.rows.iter().zip(says) {
            let cell = &self.source.text[row[*place].clone()];
            if !allowed.iter().any(|allowed| self.says(cell, allowed)) {
                wanted = false;
                if says.len() < MOST_TOLD && !says.iter().any(|said| said == cell) {
                    says.push(cell.to_owned());
                }
            }
        }
        if !wanted {
            return Ok(());
        }
        let is_missing = |place: &usize| {
            let text = self.source.text[row[*place].clone()].to_ascii_lowercase();
            text.is_empty() || MISSING.contains(&text.as_str())
        };
        if self.skip_missing && found.iter().flatten().any(is_missing) {
            return Ok(());
        }
        for (wanted, place) in found.iter().enumerate() {
            let Some(place) = place else { continue };
            let cell = row[*place].clone();
            let (value, side) = self.number(cell.clone(), line.clone())?;
            let column = self.columns[wanted].get_or_insert_default();
            self.limits.extend(side.map(|side| (wanted, column.len(), side)));
            column.push(value);
            self.cells[wanted].push(cell);
        }
        Ok(())
    }

    /// A number, or one beside which a value is.
    fn number(&self, cell: Range<usize>, line: Range<usize>) -> Result<(f64, Option<Side>)> {
        let text = &self.source.text[cell.clone()];
        let (side, digits) = match text.strip_prefix('<') {
            Some(limit) => (Some(Side::Below), limit),
            None => text.strip_prefix('>').map_or((None, text), |limit| (Some(Side::Above), limit)),
        };
        let digits = digits.trim_start();
        let parsed = if self.decimal_comma { digits.replace(',', ".").parse() } else { digits.parse() };
        let missing = text.is_empty() || MISSING.contains(&text.to_ascii_lowercase().as_str());
        let parsed = parsed.ok().filter(|_| !missing);
        parsed.map(|number| (number, side)).ok_or_else(|| {
            let (message, place) = match text.is_empty() {
                true => ("a number is missing in this row".to_owned(), line),
                false => (format!("`{text}` is not a number"), cell),
            };
            let error = Diagnostic::new(message, Origin::new(&self.source, place));
            match missing {
                true => error.help("write `missing = \"skip\"` in `data` to leave such rows out").into(),
                false if text.contains(',') => error.help("write `decimal = \",\"` in `data`").into(),
                false => error.into(),
            }
        })
    }

    /// Whether a cell says something: in the same letters, or as the same number.
    fn says(&self, cell: &str, wanted: &str) -> bool {
        let decimal = if self.decimal_comma { cell.replace(',', ".") } else { cell.to_owned() };
        let numbers = decimal.parse::<f64>().ok().zip(wanted.parse::<f64>().ok());
        cell == wanted || numbers.is_some_and(|(found, wanted)| found == wanted)
    }

    /// Where a number was written.
    pub(crate) fn place(&self, column: usize, row: usize) -> Origin {
        let cell = self.cells.get(column).and_then(|rows| rows.get(row));
        cell.map_or(Origin::none(), |cell| Origin::new(&self.source, cell.clone()))
    }
}

/// Lines that say something: blank ones and comments are left out.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        // Some programs begin a file with a byte order mark.
        // A tab at an end has a cell beside it.
        let range = trimmed(line, start, |c| (c.is_whitespace() && c != '\t') || c == '\u{feff}');
        start += line.len();
        let content = &text[range.clone()];
        (!content.trim().is_empty() && !content.starts_with('#')).then_some(range)
    })
}

/// What separates the names of columns.
fn separator(header: &str) -> char {
    [';', '\t'].into_iter().find(|&separator| header.contains(separator)).unwrap_or(',')
}

/// The cells of a line, without the spaces and quotes around them; between quotes nothing separates, unless one is alone, as that
/// of an inch.
fn cells(text: &str, line: Range<usize>, separator: char) -> Vec<Range<usize>> {
    let in_pairs = text[line.clone()].matches('"').count().is_multiple_of(2);
    let mut quoted = false;
    let separates = |c: char| {
        quoted ^= in_pairs && c == '"';
        c == separator && !quoted
    };
    let mut start = line.start;
    let cell = |part: &str| {
        let range = trimmed(part, start, |c| c.is_whitespace() || c == '"');
        start += part.len() + 1;
        range
    };
    text[line].split(separates).map(cell).collect()
}

/// The bytes of a text that begins at `start`, without what is around its middle.
fn trimmed(text: &str, start: usize, around: impl Fn(char) -> bool) -> Range<usize> {
    let front = text.trim_start_matches(&around);
    let start = start + text.len() - front.len();
    start..start + front.trim_end_matches(&around).len()
}

fn find(source: &Arc<Source>, names: &[Range<usize>], wanted: &str) -> Result<Option<usize>> {
    let mut places = (0..names.len()).filter(|&i| &source.text[names[i].clone()] == wanted);
    let first = places.next();
    if let Some(second) = places.next() {
        let message = format!("the column `{wanted}` occurs twice");
        return Err(Diagnostic::new(message, Origin::new(source, names[second].clone())).into());
    }
    Ok(first)
}

fn missing_column(
    source: &Arc<Source>,
    header: Range<usize>,
    names: &[Range<usize>],
    wanted: &str,
) -> Diagnostic {
    let found = list(names.iter().map(|name| &source.text[name.clone()]));
    Diagnostic::new(format!("there is no column `{wanted}`"), Origin::new(source, header))
        .label(format!("found {found}"))
}
