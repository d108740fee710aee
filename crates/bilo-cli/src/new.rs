//! `bilo new`: a commented problem file to start from.

use crate::args::NewTask;
use crate::failure::Failure;
use crate::output;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use toml_edit::DocumentMut;

const TEMPLATE: &str = include_str!("template.toml");

pub(crate) fn new(task: &NewTask) -> Result<(), Failure> {
    if !is_plain(&task.name) {
        let failure = Failure::new(format!("`{}` cannot be the name of a problem", task.name));
        return Err(failure.help("use letters, digits, `-` and `_`"));
    }
    let text = renamed(task.from.map_or(TEMPLATE, |shipped| shipped.text), &task.name)?;
    write_new(&task.out, &text)?;
    let out = task.out.display();
    output::say(&format!("{out} written; `bilo check {out}` shows how it is understood\n"))
}

/// The name also becomes a file and a folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn renamed(toml: &str, name: &str) -> Result<String, Failure> {
    let mut document: DocumentMut =
        toml.parse().map_err(|error| Failure::new(format!("the starting file is not TOML: {error}")))?;
    document["name"] = toml_edit::value(name);
    Ok(document.to_string())
}

/// Never overwrites.
fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = File::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::new(format!("`{}` exists already", path.display()))
            .help("nothing was written; choose another file with --out"),
        _ => Failure::file("create", path)(error),
    })?;
    file.write_all(text.as_bytes()).map_err(Failure::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo::problem::{Overrides, Problem};

    #[test]
    fn the_template_is_a_valid_problem_of_the_given_name() {
        let text = renamed(TEMPLATE, "my-problem").unwrap();
        let problem = Problem::from_toml("template.toml", &text, Path::new(""), &Overrides::default())
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(problem.name, "my-problem");
    }

    #[test]
    fn renaming_keeps_the_rest_of_the_file() {
        let text = renamed("# top\nname = \"old\"\n# below\nabout = \"same\" # beside\n", "new").unwrap();
        assert_eq!(text, "# top\nname = \"new\"\n# below\nabout = \"same\" # beside\n");
    }

    #[test]
    fn names_that_are_paths_are_refused() {
        for (name, plain) in [("heat-2", true), ("a_b", true), ("", false), ("../x", false), ("a b", false)] {
            assert_eq!(is_plain(name), plain, "{name}");
        }
    }
}
