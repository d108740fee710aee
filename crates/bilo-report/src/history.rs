//! `history.csv`, read back.

use crate::number::duration;

/// The steps of a run, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The last step before each phase, and the phase's name; the first phase is at 0.
    pub phases: Vec<(f64, String)>,
    /// Steps counted through all phases.
    pub steps: Vec<f64>,
    /// Losses and unknowns by the names of their columns.
    pub columns: Vec<(String, Vec<f64>)>,
    /// The last row.
    pub last: Option<Place>,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The phase.
    pub phase: String,
    /// The step in that phase.
    pub step: f64,
    /// Since the beginning.
    pub seconds: f64,
}

impl History {
    /// At most about so many rows, the last among them. A row that is being written, or that was cut off when its run was
    /// killed, is left out.
    pub fn parse(text: &str, most_rows: usize) -> History {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut rows = whole.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = rows.next().unwrap_or_default();
        // Phase, step and seconds come first.
        let columns = names.iter().skip(3).map(|name| (name.to_string(), vec![])).collect();
        let mut history = History { columns, ..History::default() };
        let fits =
            |row: &Vec<&str>| row.len() == names.len() && row.len() >= 3 && row[1].parse::<f64>().is_ok();
        let rows: Vec<Vec<&str>> = rows.filter(fits).collect();
        let every = rows.len().div_ceil(most_rows).max(1);
        for (number, row) in rows.iter().enumerate() {
            let through = history.count(row);
            if number % every == 0 || number + 1 == rows.len() {
                history.push(through, &row[3..]);
            }
        }
        history
    }

    /// The step of a row through all phases.
    fn count(&mut self, row: &[&str]) -> f64 {
        let through = |history: &History| {
            let before = history.phases.last().map_or(0.0, |(before, _)| *before);
            history.last.as_ref().map_or(0.0, |last| before + last.step)
        };
        if self.phases.last().is_none_or(|(_, phase)| phase != row[0]) {
            let before = through(self);
            self.phases.push((before, row[0].to_owned()));
        }
        let [step, seconds] = [row[1], row[2]].map(number);
        self.last = Some(Place { phase: row[0].to_owned(), step, seconds });
        through(self)
    }

    fn push(&mut self, step: f64, cells: &[&str]) {
        self.steps.push(step);
        for ((_, column), cell) in self.columns.iter_mut().zip(cells) {
            column.push(number(cell));
        }
    }

    /// How far it is, in words.
    pub fn place(&self) -> String {
        match &self.last {
            Some(Place { phase, step, seconds }) => format!("{phase}, step {step}, {}", duration(*seconds)),
            None => "no step yet".to_owned(),
        }
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(other, _)| other == name).map(|(_, values)| values.as_slice())
    }

    /// Two unknowns in the steps of training.
    pub fn way(&self, names: [&str; 2]) -> Vec<[f64; 2]> {
        let begun = self.phases.iter().find(|(_, phase)| phase == "train");
        let (Some((begun, _)), [Some(x), Some(y)]) = (begun, names.map(|name| self.column(name))) else {
            return vec![];
        };
        let rows = self.steps.iter().zip(x).zip(y).filter(|((step, _), _)| *step > begun);
        rows.map(|((_, x), y)| [*x, *y]).collect()
    }
}

/// Losses have a point in their names, which unknowns cannot have; or are all residuals together, or a lesson.
pub fn is_loss(name: &str) -> bool {
    name.contains('.') || ["residual", "residual-gradient", "learning"].contains(&name)
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "phase,step,seconds,residual,D\npretrain,1,0.1,0.5,1\npretrain,10,0.2,0.4,1\ntrain,1,0.3,NaN,1\n\
                        train,5,0.4,0.2,1.5\ntrain,6,0.5,0.1,1.";

    #[test]
    fn phases_follow_each_other_and_half_a_line_is_no_row() {
        let history = History::parse(TEXT, 100);
        assert_eq!(history.steps, [1.0, 10.0, 11.0, 15.0]);
        assert_eq!(history.phases, [(0.0, "pretrain".to_owned()), (10.0, "train".to_owned())]);
        assert_eq!(history.column("D"), Some(&[1.0, 1.0, 1.0, 1.5][..]));
        assert!(history.column("residual").unwrap()[2].is_nan());
        assert_eq!(history.last, Some(Place { phase: "train".into(), step: 5.0, seconds: 0.4 }));
        assert_eq!(History::parse("", 100), History::default());
    }

    #[test]
    fn long_histories_are_thinned_but_keep_their_end() {
        let rows: String = (1..=10_000).map(|step| format!("train,{step},0,{step}\n")).collect();
        let history = History::parse(&format!("phase,step,seconds,data\n{rows}"), 1500);
        assert!(history.steps.len() <= 1501);
        assert_eq!(history.steps.last(), Some(&10_000.0));
    }

    #[test]
    fn a_way_is_that_of_training() {
        let history = History::parse(
            "phase,step,seconds,data.u,D,rho\npretrain,1,0.1,NaN,1.0,1.0\n\
                                      train,1,0.2,0.5,1.0,1.0\ntrain,2,0.3,0.4,1.5,1.25\n",
            100,
        );
        assert_eq!(history.way(["D", "rho"]), [[1.0, 1.0], [1.5, 1.25]]);
        assert!(history.way(["D", "mu"]).is_empty());
        assert!(History::default().way(["D", "rho"]).is_empty());
    }
}
