//! `bilo check`: the problem as understood.

use crate::failure::Failure;
use crate::output;
use crate::statement::Statement;
use bilo::Examination;
use bilo::problem::Overrides;
use std::fmt::Write;
use std::io;

pub(crate) fn check(statement: &Statement, overrides: &Overrides) -> Result<(), Failure> {
    let problem = statement.problem(overrides)?;
    let examination = bilo::examine(&problem)?;
    output::say(&render(&examination, output::colour(&io::stdout())))
}

/// An examination as text, with terminal colours if asked. Warnings come last and on the same stream: they are part of what was
/// asked for.
pub fn render(examination: &Examination, colour: bool) -> String {
    let (bold, yellow, plain) =
        if colour { ("\x1b[1m", "\x1b[1;33m", "\x1b[0m") } else { Default::default() };
    let mut text = String::new();
    for (heading, lines) in &examination.sections {
        let _ = writeln!(text, "{bold}{heading}{plain}");
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
        text.push('\n');
    }
    for warning in &examination.warnings {
        let _ = writeln!(text, "{yellow}warning{plain}{bold}: {warning}{plain}");
    }
    let verdict = match examination.warnings.len() {
        0 => "no warnings".to_string(),
        1 => "1 warning".to_string(),
        count => format!("{count} warnings"),
    };
    let _ = writeln!(text, "{verdict}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_come_first_and_warnings_are_counted() {
        let examination = Examination {
            sections: vec![("Unknowns".into(), vec!["D from 1".into(), "rho from 2".into()])],
            warnings: vec!["the data cannot tell D from rho".into()],
        };
        let expected =
            "Unknowns\n  D from 1\n  rho from 2\n\nwarning: the data cannot tell D from rho\n1 warning\n";
        assert_eq!(render(&examination, false), expected);
    }
}
