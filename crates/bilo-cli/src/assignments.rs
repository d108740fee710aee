//! Lists such as `D=2,rho=0.5` on the command line; errors point into them.

use crate::failure::Failure;
use bilo::diagnostic::{Diagnostic, Origin, Source, suggest};
use std::ops::Range;

/// The values of an option's argument, one per name in the order of `names`, none where nothing is
/// said. `parse` reads the value of a name, or says what it must be.
pub(crate) fn read<T: Clone>(
    option: &str,
    argument: &str,
    names: &[&str],
    parse: impl Fn(usize, &str) -> Result<T, &'static str>,
) -> Result<Vec<Option<T>>, Failure> {
    let source = Source::new(option, argument);
    let fail = |message: String, span: Range<usize>, help: Option<String>| {
        let diagnostic = Diagnostic { help, ..Diagnostic::new(message, Origin::new(&source, span)) };
        Failure::from(bilo::Error::from(diagnostic))
    };
    let mut values = vec![None; names.len()];
    let mut start = 0;
    for part in argument.split(',').filter(|_| !argument.is_empty()) {
        let end = start + part.len();
        let Some((name, text)) = part.split_once('=') else {
            let help = names.first().map(|name| format!("write `{name}=...`"));
            return Err(fail("a name and a value are needed".to_string(), start..end, help));
        };
        let at_name = start..start + name.len();
        let Some(number) = names.iter().position(|known| *known == name) else {
            let help = suggest(name, names.iter().copied());
            return Err(fail(format!("unknown name `{name}`"), at_name, Some(help)));
        };
        let value = parse(number, text).map_err(|wanted| {
            let message = format!("`{name}` must be {wanted}, found `{text}`");
            fail(message, at_name.end + 1..end, None)
        })?;
        if values[number].replace(value).is_some() {
            return Err(fail(format!("`{name}` is given twice"), at_name, None));
        }
        start = end + 1;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(argument: &str) -> Result<Vec<Option<usize>>, Failure> {
        read("--grid", argument, &["x", "time"], |_, text| text.parse().map_err(|_| "a count"))
    }

    #[test]
    fn values_come_in_the_order_of_the_names() {
        for (argument, values) in
            [("", [None, None]), ("time=3", [None, Some(3)]), ("time=3,x=2", [Some(2), Some(3)])]
        {
            assert_eq!(counts(argument).unwrap_or_else(|e| panic!("{}", e.render(false))), values);
        }
    }

    #[test]
    fn errors_point_at_the_spot() {
        for (argument, place, message) in [
            ("x=2,tim=3", "1:5", "unknown name `tim`"),
            ("x=2,tim=3", "1:5", "did you mean `time`?"),
            ("x=2,time=3.5", "1:10", "`time` must be a count, found `3.5`"),
            ("x=2,3", "1:5", "a name and a value are needed"),
            ("x=2,x=3", "1:5", "`x` is given twice"),
        ] {
            let text = counts(argument).unwrap_err().render(false);
            assert!(text.contains(message) && text.contains(&format!("--> --grid:{place}\n")), "{text}");
        }
    }
}
