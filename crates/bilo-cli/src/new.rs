//! `bilo new`: a commented problem file to start from.

use crate::args::NewTask;
use crate::failure::Failure;
use crate::output;
use bilo::problem::{Folder, Overrides, Problem};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;
use toml_edit::DocumentMut;

const TEMPLATE: &str = include_str!("template.toml");

pub(crate) fn new(task: &NewTask) -> Result<(), Failure> {
    let text = renamed(task.from.map_or(TEMPLATE, |shipped| shipped.text), &task.name)?;
    let files = task.from.map_or(&[][..], |shipped| shipped.files);
    check(&text, Folder::Program(files))?;
    let beside = task.out.parent().unwrap_or(Path::new(""));
    refuse_other_content(beside, files)?;
    write_new(&task.out, &text)?;
    for (name, content) in files {
        write_beside(&beside.join(name), content)?;
    }
    let out = task.out.display();
    output::say(&format!("{out} written; `bilo check {out}` shows how it is understood\n"))
}

/// The reader's own rule for names decides; nothing but the name is new in the file.
fn check(text: &str, folder: Folder<'_>) -> Result<(), Failure> {
    match Problem::from_toml("", text, folder, &Overrides::default()) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::new(error.headline())),
    }
}

fn renamed(toml: &str, name: &str) -> Result<String, Failure> {
    let mut document: DocumentMut =
        toml.parse().map_err(|error| Failure::new(format!("the starting file is not TOML: {error}")))?;
    document["name"] = toml_edit::value(name);
    Ok(document.to_string())
}

/// Never overwrites.
pub(crate) fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = File::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::new(format!("`{}` exists already", path.display()))
            .help("nothing was written; choose another file with --out"),
        _ => Failure::file("create", path)(error),
    })?;
    file.write_all(text.as_bytes()).map_err(Failure::file("write", path))
}

/// Data files that are there already must be the same.
fn refuse_other_content(folder: &Path, files: &[(&str, &[u8])]) -> Result<(), Failure> {
    for (name, content) in files {
        let path = folder.join(name);
        if path.exists() && fs::read(&path).map_err(Failure::file("read", &path))? != *content {
            let message = format!("`{}` exists already, with other content", path.display());
            return Err(Failure::new(message).help("nothing was written; choose another folder with --out"));
        }
    }
    Ok(())
}

fn write_beside(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let above = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(above).map_err(Failure::file("create the folder", above))?;
    fs::write(path, content).map_err(Failure::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn names_are_those_that_a_problem_file_may_have() {
        let fits = |name: &str| check(&renamed(TEMPLATE, name).unwrap(), Folder::Program(&[])).is_ok();
        for (name, fit) in
            [("heat-2", true), ("a_b", true), ("a.b", true), ("", false), ("../x", false), ("a b", false)]
        {
            assert_eq!(fits(name), fit, "{name}");
        }
    }
}
