//! The declared keys of the problem file are those of the book's chapter, and their words those of the readers.

use crate::arrays;

use bilo::problem::schema::{Key, Kind, TableSchema, tables};
use bilo::problem::{Overrides, Problem};

const CHAPTER: &str = "../../book/src/problem-file.md";

/// The beginning of a generated table, which goes on with the name of what it lists.
const BEGIN: &str = "<!-- keys: ";
const END: &str = "<!-- end -->";

/// Tables in the order of a chapter. Keys that stand in one are named only in the next that has them too.
#[derive(Default)]
struct Chapter {
    listed: Vec<(&'static [Key], &'static str)>,
}

impl Chapter {
    /// The chapter with all its tables made anew.
    fn renewed(&mut self, text: &str) -> String {
        let mut pieces = text.split(BEGIN);
        let mut renewed = pieces.next().expect("a beginning").to_owned();
        for piece in pieces {
            let (name, rest) = piece.split_once(" -->\n").expect("a name");
            let (_, rest) = rest.split_once(END).unwrap_or_else(|| panic!("no `{END}` after `{name}`"));
            let all = tables();
            let table = all.iter().find(|table| table.name == name);
            let table = self.markdown(table.unwrap_or_else(|| panic!("the chapter asks for `{name}`")));
            renewed += &format!("{BEGIN}{name} -->\n{table}\n{END}{rest}");
        }
        renewed
    }

    fn markdown(&mut self, table: &TableSchema) -> String {
        let by_recipe = table.keys().any(|key| key.defaults().is_some_and(|[fast, paper]| fast != paper));
        let defaults = if by_recipe { "`fast` | `paper`" } else { "default" };
        let rule = if by_recipe { "|---|---|---|---|---|" } else { "|---|---|---|---|" };
        let mut text = format!("| key of {} | type | {defaults} | meaning |\n{rule}\n", table.title);
        for part in table.parts {
            match self.listed.iter().find(|(listed, _)| same(listed, part)) {
                Some((_, title)) => text += &format!("| {} | | | as for {title} |\n", names(part)),
                None => part.iter().for_each(|key| text += &row(key, by_recipe)),
            }
            self.listed.push((part, table.title));
        }
        text
    }
}

/// Whether two parts have the same keys.
fn same(one: &[Key], other: &[Key]) -> bool {
    let table = |key: &Key| match &key.kind {
        Kind::Table(table) => Some(table.name),
        _ => None,
    };
    let keys = |part: &[Key]| part.iter().map(|key| (key.name, key.meaning, table(key))).collect::<Vec<_>>();
    keys(one) == keys(other)
}

fn names(keys: &[Key]) -> String {
    keys.iter().map(|key| format!("`{}`", key.name)).collect::<Vec<_>>().join(", ")
}

fn row(key: &Key, by_recipe: bool) -> String {
    let default = match key.defaults() {
        None => "required".to_owned(),
        Some([fast, paper]) if by_recipe => format!("{fast} | {paper}"),
        Some([default, _]) => default,
    };
    format!("| `{}` | {} | {default} | {} |\n", key.name, key.words(), key.meaning)
}

/// `BILO_BLESS=1 cargo test -p bilo --test schema` writes the tables into the chapter.
#[test]
fn the_chapter_on_the_problem_file_lists_every_key() {
    let text = std::fs::read_to_string(CHAPTER).expect("the chapter");
    let mut chapter = Chapter::default();
    let renewed = chapter.renewed(&text);
    for table in tables() {
        let listed = |part: &&[Key]| chapter.listed.iter().any(|(listed, _)| same(listed, part));
        let (name, mark) = (table.name, format!("{BEGIN}{} -->", table.name));
        assert!(
            table.parts.iter().all(listed),
            "the table `{name}` is not in {CHAPTER}: add `{mark}` and `{END}`"
        );
    }
    if std::env::var_os("BILO_BLESS").is_some() {
        std::fs::write(CHAPTER, &renewed).expect("a chapter to write");
    } else if let Some((old, new)) = text.lines().zip(renewed.lines()).find(|(old, new)| old != new) {
        panic!(
            "{CHAPTER} does not say what the schema says:\n- {old}\n+ {new}\n\
             `BILO_BLESS=1 cargo test -p bilo --test schema` renews its tables"
        );
    } else {
        assert_eq!(text, renewed);
    }
}

#[test]
fn tables_and_keys_have_one_name_each() {
    let all = tables();
    for (number, table) in all.iter().enumerate() {
        assert!(all[..number].iter().all(|other| other.name != table.name), "{}", table.name);
        let names = table.names();
        let twice = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name));
        assert!(twice.is_none(), "{}: {twice:?}", table.name);
    }
}

/// A problem with a table of each kind that has words to choose from.
const FRONT: &str = r#"
name = "front"
[coordinates]
x = [0.0, 1.0]
t = { range = [0.0, 1.0], time = true }
[given]
image = { file = "image.npz", of = ["x"] }
[unknown.D]
guess = 1.0
truth = 2.0
[unknown.f]
of = ["x"]
guess = "1"
truth = "1 + x"
regularise = { kind = "h1", weight = 1e-3 }
[state.u]
form = "net*x*(1-x)*t"
[equation.front]
residual = "u_t - D*u_xx - f*image"
points = { grid = { t = 5, x = 3 } }
[observation.profile]
data = { synthetic = { sobol = 16, noise = 0.01 } }
likelihood = { kind = "robust" }
[observation.measured]
data = { file = "data.csv" }
"#;

/// Where a table stands in that problem.
const PLACES: [(&str, &str); 11] = [
    ("image", "given.image"),
    ("unknown", "unknown.D"),
    ("function", "unknown.f"),
    ("regularise", "unknown.f.regularise"),
    ("likelihood", "observation.profile.likelihood"),
    ("data", "observation.measured.data"),
    ("operator", "operator"),
    ("network", "network"),
    ("train", "train"),
    ("classical", "classical"),
    ("sample", "sample"),
];

/// The words that an error tells to choose from.
fn choices(setting: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = arrays::npz(&[("image", &[4], &[0.0, 1.0, 1.0, 0.0])]);
    std::fs::write(folder.path().join("image.npz"), image).expect("an image");
    std::fs::write(folder.path().join("data.csv"), "x,t,value\n0.5,0.5,1\n").expect("data");
    let read = |set: Vec<String>| Problem::from_toml("front.toml", FRONT, folder.path(), &Overrides::of(set));
    read(vec![]).expect("a good problem");
    let error = read(vec![setting.to_owned()]).expect_err(setting).to_string();
    let (_, words) = error.split_once("choose from ").unwrap_or_else(|| panic!("{setting}: {error}"));
    words.lines().next().expect("words").split(", ").map(|word| word.trim_matches('`').to_owned()).collect()
}

#[test]
fn the_words_of_the_schema_are_those_of_the_readers() {
    let of_words = |table: &&'static TableSchema| {
        table.parts.iter().any(|part| part.iter().any(|key| matches!(key.kind, Kind::Word(_))))
    };
    let all = tables();
    for table in all.iter().copied().filter(|table| of_words(table) && !table.name.ends_with("-settings")) {
        let place = PLACES.iter().find(|(name, _)| *name == table.name);
        let (_, place) = place.unwrap_or_else(|| panic!("say where `{}` stands", table.name));
        for key in table.keys() {
            let Kind::Word(words) = &key.kind else { continue };
            let mut declared: Vec<&str> = words.to_vec();
            let mut read = choices(&format!("{place}.{}=none-of-them", key.name));
            // A word alone, which needs its expression.
            read.retain(|word| (table.name, &word[..]) != ("likelihood", "custom"));
            declared.sort_unstable();
            read.sort_unstable();
            assert_eq!(declared, read, "{place}.{}", key.name);
        }
    }
}
