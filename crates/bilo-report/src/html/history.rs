//! `history.csv`, read back.

/// Most rows that a page keeps: more than there are pixels.
const MOST_ROWS: usize = 1500;

/// The steps of a run, one after the other.
#[derive(Debug, Default, PartialEq)]
pub(super) struct History {
    /// The last step before each phase but the first, and the phase's name; the first phase is at 0.
    pub(super) phases: Vec<(f64, String)>,
    /// Steps counted through all phases.
    pub(super) steps: Vec<f64>,
    /// Losses and unknowns by the names of their columns.
    pub(super) columns: Vec<(String, Vec<f64>)>,
}

impl History {
    /// Lines that cannot be read are left out: a killed run may leave half of one.
    pub(super) fn parse(text: &str) -> History {
        let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = rows.next().unwrap_or_default();
        // Phase, step and seconds come first.
        let columns = names.iter().skip(3).map(|name| (name.to_string(), vec![])).collect();
        let mut history = History { columns, ..History::default() };
        let rows: Vec<Vec<&str>> = rows.filter(|row| row.len() == names.len() && row.len() >= 3).collect();
        let every = rows.len().div_ceil(MOST_ROWS).max(1);
        let (mut before, mut last) = (0.0, 0.0);
        for (number, row) in rows.iter().enumerate() {
            let Ok(step) = row[1].parse::<f64>() else { continue };
            if history.phases.last().is_none_or(|(_, phase)| phase != row[0]) {
                before = last;
                history.phases.push((before, row[0].to_owned()));
            }
            last = before + step;
            if number % every == 0 || number + 1 == rows.len() {
                history.push(last, &row[3..]);
            }
        }
        history
    }

    fn push(&mut self, step: f64, cells: &[&str]) {
        self.steps.push(step);
        for ((_, column), cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell.parse().unwrap_or(f64::NAN));
        }
    }

    /// A column by its name.
    pub(super) fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(other, _)| other == name).map(|(_, values)| values.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other_and_half_a_line_is_no_row() {
        let text = "phase,step,seconds,residual,D\npretrain,1,0.1,0.5,1\npretrain,10,0.2,0.4,1\ntrain,1,0.3,NaN,1\n\
                    train,5,0.4,0.2,1.5\ntrain,6";
        let history = History::parse(text);
        assert_eq!(history.steps, [1.0, 10.0, 11.0, 15.0]);
        assert_eq!(history.phases, [(0.0, "pretrain".to_owned()), (10.0, "train".to_owned())]);
        assert_eq!(history.column("D"), Some(&[1.0, 1.0, 1.0, 1.5][..]));
        assert!(history.column("residual").unwrap()[2].is_nan());
        assert_eq!(History::parse(""), History::default());
    }

    #[test]
    fn long_histories_are_thinned_but_keep_their_end() {
        let rows: String = (1..=10_000).map(|step| format!("train,{step},0,{step}\n")).collect();
        let history = History::parse(&format!("phase,step,seconds,data\n{rows}"));
        assert!(history.steps.len() <= MOST_ROWS + 1);
        assert_eq!(history.steps.last(), Some(&10_000.0));
    }
}
