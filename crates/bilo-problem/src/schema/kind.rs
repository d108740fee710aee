//! What tables and keys of a problem file are made of.

/// A table of the problem file.
#[derive(Debug)]
pub struct TableSchema {
    /// A name without blanks, different from those of other tables.
    pub name: &'static str,
    /// What it is, to follow the words "key of".
    pub title: &'static str,
    /// Its keys; tables that have some keys in common share parts.
    pub parts: &'static [&'static [Key]],
}

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// As it is written in the file.
    pub name: &'static str,
    /// What may stand there.
    pub kind: Kind,
    /// What may stand there in words, where those of the kind do not tell enough.
    pub(crate) words: Option<&'static str>,
    /// What holds without the key.
    pub fallback: Fallback,
    /// What it says, in a line of Markdown.
    pub meaning: &'static str,
}

/// What may stand behind a key.
#[derive(Debug)]
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

/// What holds where a key is not stated.
#[derive(Debug)]
pub enum Fallback {
    /// The key must be there.
    Required,
    /// A default, in Markdown.
    Is(&'static str),
    /// The defaults of the recipes `fast` and `paper`, in Markdown: asked of the settings themselves.
    OfRecipes(fn() -> [String; 2]),
}

/// A number or a list of numbers.
pub(crate) const ONE_OR_MORE: Kind = Kind::Any(&[Kind::Number, Kind::List(&Kind::Number)]);

impl TableSchema {
    /// All its keys, in the order in which errors list them.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.parts.iter().flat_map(|part| part.iter())
    }

    /// The names of its keys.
    pub fn names(&self) -> Vec<&'static str> {
        self.keys().map(|key| key.name).collect()
    }

    pub(super) fn gather(&'static self, found: &mut Vec<&'static TableSchema>) {
        if !found.iter().any(|table| table.name == self.name) {
            found.push(self);
            self.keys().for_each(|key| key.kind.gather(found));
        }
    }
}

impl Key {
    /// What holds without the key under the recipes `fast` and `paper`, in Markdown; none if it must be there.
    pub fn defaults(&self) -> Option<[String; 2]> {
        match self.fallback {
            Fallback::Required => None,
            Fallback::Is(default) => Some([default.to_owned(), default.to_owned()]),
            Fallback::OfRecipes(defaults) => Some(defaults()),
        }
    }

    /// What may stand there, in words.
    pub fn words(&self) -> String {
        self.words.map_or_else(|| self.kind.words(), str::to_owned)
    }

    pub(crate) const fn said(self, words: &'static str) -> Key {
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

/// A key that must be there.
pub(crate) const fn required(name: &'static str, kind: Kind, meaning: &'static str) -> Key {
    Key { name, kind, words: None, fallback: Fallback::Required, meaning }
}

/// A key with a default, in Markdown.
pub(crate) const fn optional(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    meaning: &'static str,
) -> Key {
    Key { name, kind, words: None, fallback: Fallback::Is(default), meaning }
}

/// A key with the defaults of the recipes `fast` and `paper`.
pub(crate) const fn by_recipe(
    name: &'static str,
    kind: Kind,
    defaults: fn() -> [String; 2],
    meaning: &'static str,
) -> Key {
    Key { name, kind, words: None, fallback: Fallback::OfRecipes(defaults), meaning }
}
