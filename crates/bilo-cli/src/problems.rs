//! The problems that come with the program.

use crate::failure::Failure;
use crate::output;
use bilo::problem::{Folder, Overrides, Problem};
pub(crate) use bilo_problems::{GALLERY, SHIPPED, Shipped};
use std::fmt::Write;

/// Where the data files of a problem are.
pub(crate) fn folder(shipped: &Shipped) -> Folder<'static> {
    Folder::Program(shipped.files)
}

fn all() -> impl Iterator<Item = &'static Shipped> {
    SHIPPED.iter().chain(GALLERY)
}

/// The one of that name, if there is one.
pub(crate) fn find(name: &str) -> Option<&'static Shipped> {
    all().find(|shipped| shipped.name == name)
}

/// The one of that name, or an error that says which there are.
pub(crate) fn named(name: &str) -> Result<&'static Shipped, Failure> {
    find(name).ok_or_else(|| {
        Failure::new(format!("no problem `{name}` comes with the program")).help(suggestion(name))
    })
}

/// What a name that is not there may have meant.
pub(crate) fn suggestion(name: &str) -> String {
    let likeness = |shipped: &&Shipped| strsim::jaro_winkler(shipped.name, name);
    match all().max_by(|a, b| likeness(a).total_cmp(&likeness(b))) {
        Some(nearest) if likeness(&nearest) > 0.8 => format!("did you mean `{}`?", nearest.name),
        _ => "`bilo list` shows the problems that come with the program".to_string(),
    }
}

/// Prints names and what they are about.
pub(crate) fn list(problems: &[Shipped]) -> Result<(), Failure> {
    let width = problems.iter().map(|shipped| shipped.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for shipped in problems {
        let (name, overrides) = (shipped.name, Overrides::default());
        let problem = Problem::from_toml(name, shipped.text, folder(shipped), &overrides)?;
        let _ = writeln!(text, "{name:width$}  {}", problem.about);
    }
    output::say(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_problem_is_valid_under_both_recipes_and_knows_its_name() {
        for shipped in SHIPPED {
            for recipe in ["paper", "fast"] {
                let overrides = Overrides { recipe: Some(recipe.to_string()), set: vec![] };
                let problem = Problem::from_toml(shipped.name, shipped.text, folder(shipped), &overrides)
                    .unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(problem.name, shipped.name);
                assert_ne!(problem.about, "");
            }
        }
    }

    #[test]
    fn every_problem_of_the_gallery_is_valid_and_says_what_it_is_about() {
        for shipped in GALLERY {
            let problem =
                Problem::from_toml(shipped.name, shipped.text, folder(shipped), &Overrides::default())
                    .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(format!("gallery/{}", problem.name), shipped.name);
            assert_ne!(problem.about, "");
        }
    }

    #[test]
    fn a_slip_in_a_name_is_recognised() {
        assert_eq!(suggestion("fisher-kp"), "did you mean `fisher-kpp`?");
        assert!(suggestion("zzz").contains("bilo list"));
    }
}
