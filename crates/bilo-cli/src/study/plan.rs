//! A study file: which runs there are.

use crate::failure::Failure;
use crate::statement::Statement;
use bilo::diagnostic::{Diagnostic, Origin, Source};
use bilo::problem::{Assignment, Overrides};
use bilo::{Job, Method, method};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use toml_edit::{Document, Item, Key, TableLike, Value};

const KEYS: [&str; 8] = ["name", "problem", "method", "recipe", "seeds", "set", "vary", "contours"];

/// More runs than this are a slip.
const MOST_RUNS: usize = 10_000;

/// All runs of a study, those that differ by their seeds only one after the other.
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
    pub(crate) seeds: Vec<u64>,
    /// Whether trajectories are drawn over contours of the data loss.
    pub(crate) contours: bool,
}

/// A problem, a method and settings.
pub(crate) struct Case {
    pub(crate) statement: Arc<Statement>,
    pub(crate) method: &'static dyn Method,
    pub(crate) overrides: Overrides,
    /// What tells it from others: key and value as text, in the order of the file.
    pub(crate) varied: Vec<(String, String)>,
}

/// A method with settings of its own.
struct Way {
    method: &'static dyn Method,
    /// What it is called in the table.
    label: String,
    fixed: Vec<Assignment>,
    axes: Vec<Axis>,
}

/// A key of the file that has several values: the setting for each of these.
type Axis = Vec<Setting>;

/// A key with a value, and where both stand in the file.
#[derive(Clone)]
struct Setting {
    key: String,
    value: String,
    assignment: Assignment,
}

/// A dotted key with its value, and where the key stands.
type Stated<'a> = (String, Option<Range<usize>>, &'a Item);

/// A file that is being read.
struct Reader {
    source: Arc<Source>,
    document: Document<String>,
}

impl Plan {
    /// Reads a study file; files of problems are found relative to it.
    pub(crate) fn read(file: &Path, outside: bool) -> Result<Plan, Failure> {
        let text = fs::read_to_string(file).map_err(Failure::file("read", file))?;
        let source = Source::new(file.display().to_string(), &text);
        let document = Document::parse(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            at(&source, Some(span), error.message().to_owned(), "this is not TOML")
        })?;
        let reader = Reader { source, document };
        reader.refuse_unknown_keys()?;
        let name = reader.name(file)?;
        let (problems, ways) = (reader.problems(file, outside)?, reader.ways()?);
        let recipes = reader.texts("recipe")?;
        let (fixed, axes) = (reader.fixed(reader.get("set"))?, reader.axes(reader.get("vary"))?);
        let seeds = reader.seeds()?;
        let size = |axes: &[Axis]| axes.iter().map(Vec::len).product::<usize>();
        let of_ways: usize = ways.iter().map(|way| size(&way.axes)).sum();
        let count = size(&axes) * problems.len() * of_ways * recipes.len().max(1) * seeds.len();
        if count > MOST_RUNS {
            let message = format!("the study has {count} runs, more than {MOST_RUNS}");
            return Err(Failure::new(message).help("vary fewer keys, or split it into several studies"));
        }
        let recipes: Vec<Option<String>> =
            if recipes.is_empty() { vec![None] } else { recipes.into_iter().map(Some).collect() };
        let several = ways.iter().any(|way| way.label != ways[0].label);
        let mut cases = vec![];
        for (problem, statement) in &problems {
            for Way { method, label, fixed: own, axes: own_axes } in &ways {
                for recipe in &recipes {
                    for settings in combinations(&[&axes[..], own_axes].concat()) {
                        let mut varied = vec![];
                        if problems.len() > 1 {
                            varied.push(("problem".to_owned(), problem.clone()));
                        }
                        if several {
                            varied.push(("method".to_owned(), label.clone()));
                        }
                        if let (Some(recipe), true) = (recipe, recipes.len() > 1) {
                            varied.push(("recipe".to_owned(), recipe.clone()));
                        }
                        varied.extend(settings.iter().map(|s| (s.key.clone(), s.value.clone())));
                        let varying = settings.into_iter().map(|setting| setting.assignment);
                        let set = fixed.iter().chain(own).cloned().chain(varying).collect();
                        let overrides = Overrides { recipe: recipe.clone(), set };
                        let statement = Arc::clone(statement);
                        cases.push(Case { statement, method: *method, overrides, varied });
                    }
                }
            }
        }
        let contours = reader.contours()?;
        Ok(Plan { name, cases, seeds, contours })
    }

    /// What cases differ by, in the order of the file.
    pub(crate) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = vec![];
        for (key, _) in self.cases.iter().flat_map(|case| &case.varied) {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        keys
    }
}

/// The last word of a key.
pub(crate) fn short(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

impl Case {
    /// Its value of a key, if it has one.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.varied.iter().find(|(other, _)| other == key).map(|(_, value)| &value[..])
    }
}

impl Reader {
    fn get(&self, key: &str) -> Option<&Item> {
        self.document.get(key)
    }

    fn wrong(&self, item: &Item, message: String, help: &str) -> Failure {
        at(&self.source, item.span(), message, help)
    }

    fn refuse_unknown_keys(&self) -> Result<(), Failure> {
        for (key, item) in self.document.iter() {
            if !KEYS.contains(&key) {
                let span = self.document.key(key).and_then(|key| key.span()).or(item.span());
                let help = format!("a study has the keys {}", KEYS.map(|key| format!("`{key}`")).join(", "));
                return Err(at(&self.source, span, format!("unknown key `{key}`"), &help));
            }
        }
        Ok(())
    }

    /// What is stated, or what the file is called.
    fn name(&self, file: &Path) -> Result<String, Failure> {
        let stem = || file.file_stem().and_then(|stem| stem.to_str()).unwrap_or("study").to_owned();
        let Some(item) = self.get("name") else { return Ok(stem()) };
        let name = item.as_str().unwrap_or_default();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
            let help = "results go into a folder of this name: letters, digits, `-` and `_`";
            return Err(self.wrong(item, "the name of a study is a word".to_owned(), help));
        }
        Ok(name.to_owned())
    }

    /// One text or a list of them; none if the key is not there.
    fn texts(&self, key: &str) -> Result<Vec<String>, Failure> {
        let Some(item) = self.get(key) else { return Ok(vec![]) };
        let wrong = || {
            let message = format!("`{key}` is a string or a list of strings");
            self.wrong(item, message, &format!("such as `{key} = \"...\"`"))
        };
        match item.as_value() {
            Some(Value::String(text)) => Ok(vec![text.value().clone()]),
            Some(Value::Array(list)) if !list.is_empty() => {
                list.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
            }
            _ => Err(wrong()),
        }
    }

    fn problems(&self, file: &Path, outside: bool) -> Result<Vec<(String, Arc<Statement>)>, Failure> {
        let names = self.texts("problem")?;
        if names.is_empty() {
            let help = "write `problem = \"fisher-kpp\"` (see `bilo list`), or name a file";
            return Err(at(&self.source, Some(0..0), "a study needs a `problem`".to_owned(), help));
        }
        let beside = |name: &String| {
            let path = file.parent().unwrap_or(Path::new("")).join(name);
            let found = Statement::find(if path.is_file() { &path } else { Path::new(name) }, outside);
            Ok((name.clone(), Arc::new(found?)))
        };
        names.iter().map(beside).collect()
    }

    /// Methods by name, or as tables with settings of their own.
    fn ways(&self) -> Result<Vec<Way>, Failure> {
        let Some(item) = self.get("method") else { return Ok(vec![Way::plain(Job::default().method)]) };
        match item.as_value() {
            Some(Value::Array(list)) if !list.is_empty() => {
                list.iter().map(|value| self.way(&Item::Value(value.clone()), value.span())).collect()
            }
            _ => Ok(vec![self.way(item, item.span())?]),
        }
    }

    fn way(&self, item: &Item, span: Option<Range<usize>>) -> Result<Way, Failure> {
        let wrong = |message: &str, help: &str| at(&self.source, span.clone(), message.to_owned(), help);
        let method = |name: &str| {
            let help = format!("methods are {}", method::names().join(", "));
            method::named(name).map_err(|_| wrong(&format!("there is no method `{name}`"), &help))
        };
        if let Some(name) = item.as_str() {
            return Ok(Way::plain(method(name)?));
        }
        let example = "such as `\"bilo\"` or `{ name = \"pinn\", vary = { train.data-weight = [1, 10] } }`";
        let Some(table) = item.as_table_like() else {
            return Err(wrong("`method` is the name of a method, a table, or a list of these", example));
        };
        if let Some((key, _)) = table.iter().find(|(key, _)| !["name", "label", "set", "vary"].contains(key))
        {
            return Err(wrong(
                &format!("unknown key `{key}` of a method"),
                "it has `name`, `label`, `set` and `vary`",
            ));
        }
        let name = table.get("name").and_then(Item::as_str);
        let name = name.ok_or_else(|| wrong("a method as a table needs its `name`", example))?;
        let (fixed, axes) = (self.fixed(table.get("set"))?, self.axes(table.get("vary"))?);
        let label = match table.get("label") {
            None => name,
            Some(label) => label.as_str().ok_or_else(|| wrong("`label` is a string", example))?,
        };
        Ok(Way { method: method(name)?, label: label.to_owned(), fixed, axes })
    }

    fn contours(&self) -> Result<bool, Failure> {
        let Some(item) = self.get("contours") else { return Ok(false) };
        let wrong = || self.wrong(item, "`contours` is true or false".to_owned(), "write `contours = true`");
        item.as_bool().ok_or_else(wrong)
    }

    fn seeds(&self) -> Result<Vec<u64>, Failure> {
        let Some(item) = self.get("seeds") else { return Ok(vec![0]) };
        let list = item.as_array().filter(|list| !list.is_empty());
        let seed = |value: &Value| value.as_integer().and_then(|seed| u64::try_from(seed).ok());
        let seeds = list.and_then(|list| list.iter().map(seed).collect::<Option<Vec<u64>>>());
        seeds.ok_or_else(|| {
            let message = "`seeds` is a list of whole numbers from 0 on".to_owned();
            self.wrong(item, message, "such as `seeds = [0, 1, 2, 3, 4]`")
        })
    }

    /// The settings of a table: dotted keys with their values.
    fn settings<'a>(&self, item: Option<&'a Item>) -> Result<Vec<Stated<'a>>, Failure> {
        let Some(item) = item else { return Ok(vec![]) };
        let Some(table) = item.as_table_like() else {
            let help = "such as `[set]`, and below it lines as `train.rate = 0.01`";
            return Err(self.wrong(item, "`set` and `vary` are tables of settings".to_owned(), help));
        };
        let mut found = vec![];
        flatten("", table, &mut found);
        Ok(found)
    }

    /// Settings of all runs, as `--set` takes them.
    fn fixed(&self, item: Option<&Item>) -> Result<Vec<Assignment>, Failure> {
        let one =
            |(key, at_key, item): Stated<'_>| self.setting(&key, at_key, text(item), item.span()).assignment;
        Ok(self.settings(item)?.into_iter().map(one).collect())
    }

    /// A setting whose errors point at the line of this file.
    fn setting(
        &self,
        key: &str,
        at_key: Option<Range<usize>>,
        value: String,
        at_value: Option<Range<usize>>,
    ) -> Setting {
        let origin =
            |span: Option<Range<usize>>| span.map_or(Origin::none(), |span| Origin::new(&self.source, span));
        let assignment = Assignment::written_at(format!("{key}={value}"), origin(at_key), origin(at_value));
        Setting { key: key.to_owned(), value, assignment }
    }

    fn axes(&self, item: Option<&Item>) -> Result<Vec<Axis>, Failure> {
        let axis = |(key, at_key, item): Stated<'_>| {
            let values = item.as_array().filter(|list| !list.is_empty());
            let Some(values) = values else {
                let message = format!("`{key}` is to be varied, so it needs a list of values");
                return Err(self.wrong(item, message, "what is the same in all runs belongs to `[set]`"));
            };
            let text = |value: &Value| value.to_string().trim().to_owned();
            Ok(values
                .iter()
                .map(|value| self.setting(&key, at_key.clone(), text(value), value.span()))
                .collect())
        };
        self.settings(item)?.into_iter().map(axis).collect()
    }
}

impl Way {
    fn plain(method: &'static dyn Method) -> Way {
        Way { method, label: method.name().to_owned(), fixed: vec![], axes: vec![] }
    }
}

/// Dotted keys with their values; a table that is written in braces is a value.
fn flatten<'a>(prefix: &str, table: &'a dyn TableLike, found: &mut Vec<Stated<'a>>) {
    for (key, item) in table.iter() {
        let path = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        match (item.as_table(), item.as_inline_table()) {
            (Some(inner), _) => flatten(&path, inner, found),
            (_, Some(inner)) if inner.is_dotted() => flatten(&path, inner, found),
            _ => found.push((path, table.key(key).and_then(Key::span), item)),
        }
    }
}

fn text(item: &Item) -> String {
    item.as_value().map_or(String::new(), |value| value.to_string().trim().to_owned())
}

/// One value of each axis, the last running fastest.
fn combinations(axes: &[Axis]) -> Vec<Vec<Setting>> {
    let mut all = vec![vec![]];
    for axis in axes {
        let with = |before: &Vec<Setting>| {
            let one = |setting: &Setting| [before.clone(), vec![setting.clone()]].concat();
            axis.iter().map(one).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

fn at(source: &Arc<Source>, span: Option<Range<usize>>, message: String, help: &str) -> Failure {
    let origin = span.map_or_else(Origin::none, |span| Origin::new(source, span));
    Failure::from(bilo::Error::from(Diagnostic::new(message, origin).help(help)))
}
