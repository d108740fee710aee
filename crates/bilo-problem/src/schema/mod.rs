//! The tables and keys of a problem file, as data.
//!
//! This is the only list of them. The readers take the keys that they permit from here, the tables of the book's
//! chapter on the problem file are made from it, and so is the JSON Schema for editors.
//!
//! ```
//! use bilo::problem::schema::{Kind, PROBLEM};
//!
//! let train = PROBLEM.keys().find(|key| key.name == "train").unwrap();
//! let Kind::Table(train) = &train.kind else { panic!("a table") };
//! assert!(train.names().contains(&"time-limit"));
//! ```

mod data;
mod settings;
mod statement;

pub(crate) use data::*;
pub(crate) use settings::*;
pub(crate) use statement::*;

use Kind::{Any, Each, Number, Pair, Table, Text};

/// A table of the problem file.
#[derive(Debug, PartialEq)]
pub struct TableSchema {
    /// A name without blanks, different from those of other tables.
    pub name: &'static str,
    /// What it is, to follow the words "key of".
    pub title: &'static str,
    /// Its keys; tables that have some keys in common share parts.
    pub parts: &'static [&'static [Key]],
}

/// A key of a table.
#[derive(Debug, PartialEq)]
pub struct Key {
    /// As it is written in the file.
    pub name: &'static str,
    /// What may stand there.
    pub kind: Kind,
    /// The same in words, where those of the kind do not tell enough.
    words: Option<&'static str>,
    /// What holds without the key.
    pub fallback: Fallback,
    /// What it says, in a line of Markdown.
    pub meaning: &'static str,
}

/// What may stand behind a key.
#[derive(Debug, PartialEq)]
pub enum Kind {
    /// Any string.
    Text,
    /// A string with an expression.
    Expression,
    /// A number, or a string with an expression.
    Number,
    /// A number above zero, or a string with an expression.
    Positive,
    /// A number from zero on, or a string with an expression.
    NotNegative,
    /// A whole number, at least the first and at most the second.
    Count(usize, Option<usize>),
    /// `true` or `false`.
    Boolean,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list of two numbers.
    Pair,
    /// A list.
    List(&'static Kind),
    /// A table with names of the problem as keys.
    Each(&'static Kind),
    /// A table of its own.
    Table(&'static TableSchema),
    /// One of several.
    Any(&'static [Kind]),
}

/// What holds where a key is not stated, in Markdown.
#[derive(Debug, PartialEq)]
pub enum Fallback {
    /// The key must be there.
    Required,
    /// A default.
    Is(&'static str),
    /// The defaults of the recipes `fast` and `paper`.
    ByRecipe(&'static str, &'static str),
}

impl TableSchema {
    /// All its keys, in the order in which errors list them.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.parts.iter().flat_map(|part| part.iter())
    }

    /// The names of its keys.
    pub fn names(&self) -> Vec<&'static str> {
        self.keys().map(|key| key.name).collect()
    }

    fn gather(&'static self, found: &mut Vec<&'static TableSchema>) {
        if !found.iter().any(|table| table.name == self.name) {
            found.push(self);
            self.keys().for_each(|key| key.kind.gather(found));
        }
    }
}

impl Key {
    /// What may stand there, in words.
    pub fn words(&self) -> String {
        self.words.map_or_else(|| self.kind.words(), str::to_owned)
    }

    const fn said(self, words: &'static str) -> Key {
        Key { words: Some(words), ..self }
    }
}

impl Kind {
    fn words(&self) -> String {
        match self {
            Kind::Text => "string".to_owned(),
            Kind::Expression => "expression".to_owned(),
            Kind::Number => "number".to_owned(),
            Kind::Positive => "number > 0".to_owned(),
            Kind::NotNegative => "number ≥ 0".to_owned(),
            Kind::Count(0, None) => "count".to_owned(),
            Kind::Count(0, Some(most)) => format!("count ≤ {most}"),
            Kind::Count(least, None) => format!("count ≥ {least}"),
            Kind::Count(least, Some(most)) => format!("count, {least} to {most}"),
            Kind::Boolean => "boolean".to_owned(),
            Kind::Word(words) => {
                words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
            }
            Kind::Pair => "two numbers".to_owned(),
            Kind::List(item) => format!("list, each {}", item.words()),
            Kind::Each(value) => format!("table, each {}", value.words()),
            Kind::Table(_) => "table".to_owned(),
            Kind::Any(kinds) => kinds.iter().map(Kind::words).collect::<Vec<_>>().join(", or "),
        }
    }

    fn gather(&'static self, found: &mut Vec<&'static TableSchema>) {
        match self {
            Kind::Table(table) => table.gather(found),
            Kind::List(inner) | Kind::Each(inner) => inner.gather(found),
            Kind::Any(kinds) => kinds.iter().for_each(|kind| kind.gather(found)),
            _ => {}
        }
    }
}

/// Every table of a problem file, the file itself first.
pub fn tables() -> Vec<&'static TableSchema> {
    let mut found = vec![];
    PROBLEM.gather(&mut found);
    found
}

const fn required(name: &'static str, kind: Kind, meaning: &'static str) -> Key {
    Key { name, kind, words: None, fallback: Fallback::Required, meaning }
}

const fn optional(name: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Key {
    Key { name, kind, words: None, fallback: Fallback::Is(default), meaning }
}

/// With the defaults of the recipes `fast` and `paper`.
const fn by_recipe(
    name: &'static str,
    kind: Kind,
    defaults: [&'static str; 2],
    meaning: &'static str,
) -> Key {
    let [fast, paper] = defaults;
    Key { name, kind, words: None, fallback: Fallback::ByRecipe(fast, paper), meaning }
}

/// The file itself.
pub static PROBLEM: TableSchema = TableSchema {
    name: "problem",
    title: "the file",
    parts: &[&[
        required("name", Text, "names the run folder: letters, digits, `-`, `_`, `.`"),
        optional("about", Text, "empty", "one line for people"),
        required("coordinates", Each(&Any(&[Pair, Table(&COORDINATE)])), "[the domain](#coordinates)")
            .said("table `[coordinates]`"),
        optional("constants", Each(&Number), "none", "[named numbers](#constants)")
            .said("table `[constants]`"),
        optional(
            "given",
            Each(&Any(&[Table(&IMAGE), Table(&DIFFUSE)])),
            "none",
            "[known functions from images](#given)",
        )
        .said("table `[given]`"),
        required(
            "unknown",
            Each(&Any(&[Table(&UNKNOWN), Table(&FUNCTION)])),
            "[what is to be found](#unknownname)",
        )
        .said("tables `[unknown.NAME]`"),
        optional(
            "input",
            Each(&Table(&INPUT)),
            "none",
            "[what networks see beside the coordinates](#inputname)",
        )
        .said("tables `[input.NAME]`"),
        required("state", Each(&Table(&STATE)), "[what the equations are about](#statename)")
            .said("tables `[state.NAME]`"),
        required("equation", Each(&Table(&EQUATION)), "[what must vanish](#equationname)")
            .said("tables `[equation.NAME]`"),
        required("observation", Each(&Table(&OBSERVATION)), "[the data](#observationname)")
            .said("tables `[observation.NAME]`"),
        optional("picture", Each(&Table(&PICTURE)), "none", "[what is drawn of the result](#picturename)")
            .said("tables `[picture.NAME]`"),
        optional("operator", Table(&OPERATOR), "its defaults", "[what stands for the solution](#operator)")
            .said("table `[operator]`"),
        optional("network", Table(&NETWORK), "its defaults", "[the network](#network)")
            .said("table `[network]`"),
        optional("train", Table(&TRAIN), "its defaults", "[how to train](#train)").said("table `[train]`"),
        optional(
            "classical",
            Table(&CLASSICAL),
            "its defaults",
            "[how the reference solver solves](#classical)",
        )
        .said("table `[classical]`"),
        optional(
            "audit",
            Table(&AUDIT),
            "none",
            "[where else the operator is held against the reference solver](#audit)",
        )
        .said("table `[audit]`"),
        optional("examples", Table(&EXAMPLES), "none", "[what neural operators learn from](#examples)")
            .said("table `[examples]`"),
        optional("deeponet", Table(&DEEPONET), "its defaults", "[the DeepONet](#deeponet-and-fno)")
            .said("table `[deeponet]`"),
        optional("fno", Table(&FNO), "its defaults", "[the Fourier neural operator](#deeponet-and-fno)")
            .said("table `[fno]`"),
    ]],
};
