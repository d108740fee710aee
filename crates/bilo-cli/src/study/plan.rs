//! A study file: which runs there are.

use crate::failure::Failure;
use crate::statement::Statement;
use bilo::Method;
use bilo::diagnostic::{Diagnostic, Origin, Source};
use bilo::problem::Overrides;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use toml_edit::{Document, Item, TableLike, Value};

const KEYS: [&str; 7] = ["name", "problem", "method", "recipe", "seeds", "set", "vary"];

/// More runs than this are a slip.
const MOST_RUNS: usize = 10_000;

/// All runs of a study, those that differ by their seeds only one after the other.
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
    pub(crate) seeds: Vec<u64>,
}

/// A problem, a method and settings.
pub(crate) struct Case {
    pub(crate) statement: Arc<Statement>,
    pub(crate) method: Method,
    pub(crate) overrides: Overrides,
    /// What tells it from others: key and value as text, in the order of the file.
    pub(crate) varied: Vec<(String, String)>,
}

/// A key of the file that has several values, with the texts of these.
type Axis = (String, Vec<String>);

/// A file that is being read.
struct Reader {
    source: Arc<Source>,
    document: Document<String>,
}

impl Plan {
    /// Reads a study file; files of problems are found relative to it.
    pub(crate) fn read(file: &Path) -> Result<Plan, Failure> {
        let text = fs::read_to_string(file).map_err(Failure::file("read", file))?;
        let source = Source::new(file.display().to_string(), &text);
        let document = Document::parse(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            at(&source, Some(span), error.message().to_owned(), "this is not TOML")
        })?;
        let reader = Reader { source, document };
        reader.refuse_unknown_keys()?;
        let name = reader.name(file)?;
        let (problems, methods) = (reader.problems(file)?, reader.methods()?);
        let recipes = reader.texts("recipe")?;
        let fixed: Vec<String> =
            reader.settings("set")?.into_iter().map(|(key, value, _)| format!("{key}={value}")).collect();
        let axes = reader.axes()?;
        let seeds = reader.seeds()?;
        let count = axes.iter().map(|(_, values)| values.len()).product::<usize>();
        let count = count * problems.len() * methods.len() * recipes.len().max(1) * seeds.len();
        if count > MOST_RUNS {
            let message = format!("the study has {count} runs, more than {MOST_RUNS}");
            return Err(Failure::new(message).help("vary fewer keys, or split it into several studies"));
        }
        let recipes: Vec<Option<String>> =
            if recipes.is_empty() { vec![None] } else { recipes.into_iter().map(Some).collect() };
        let mut cases = vec![];
        for (problem, statement) in &problems {
            for &method in &methods {
                for recipe in &recipes {
                    for settings in combinations(&axes) {
                        let mut varied = vec![];
                        if problems.len() > 1 {
                            varied.push(("problem".to_owned(), problem.clone()));
                        }
                        if methods.len() > 1 {
                            varied.push(("method".to_owned(), method.name().to_owned()));
                        }
                        if let (Some(recipe), true) = (recipe, recipes.len() > 1) {
                            varied.push(("recipe".to_owned(), recipe.clone()));
                        }
                        varied.extend(settings.iter().cloned());
                        let own = settings.iter().map(|(key, value)| format!("{key}={value}"));
                        let set = fixed.iter().cloned().chain(own).collect();
                        let overrides = Overrides { recipe: recipe.clone(), set };
                        cases.push(Case { statement: Arc::clone(statement), method, overrides, varied });
                    }
                }
            }
        }
        Ok(Plan { name, cases, seeds })
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

    fn problems(&self, file: &Path) -> Result<Vec<(String, Arc<Statement>)>, Failure> {
        let names = self.texts("problem")?;
        if names.is_empty() {
            let help = "write `problem = \"fisher-kpp\"` (see `bilo list`), or name a file";
            return Err(at(&self.source, Some(0..0), "a study needs a `problem`".to_owned(), help));
        }
        let beside = |name: &String| {
            let path = file.parent().unwrap_or(Path::new("")).join(name);
            let found =
                if path.is_file() { Statement::find(&path) } else { Statement::find(Path::new(name)) };
            Ok((name.clone(), Arc::new(found?)))
        };
        names.iter().map(beside).collect()
    }

    fn methods(&self) -> Result<Vec<Method>, Failure> {
        let names = self.texts("method")?;
        let parse = |name: &String| {
            name.parse().map_err(|_| {
                let item = self.get("method").expect("it was read");
                let help = format!("methods are {}", Method::names().join(", "));
                self.wrong(item, format!("there is no method `{name}`"), &help)
            })
        };
        if names.is_empty() { Ok(vec![Method::Bilo]) } else { names.iter().map(parse).collect() }
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

    /// The settings of a table: dotted keys, values as text, and where they stand.
    fn settings(&self, key: &str) -> Result<Vec<(String, String, &Item)>, Failure> {
        let Some(item) = self.get(key) else { return Ok(vec![]) };
        let Some(table) = item.as_table_like() else {
            let help = format!("write `[{key}]` and below it lines such as `train.rate = 0.01`");
            return Err(self.wrong(item, format!("`{key}` is a table of settings"), &help));
        };
        let mut found = vec![];
        flatten("", table, &mut found);
        Ok(found.into_iter().map(|(key, item)| (key, text(item), item)).collect())
    }

    fn axes(&self) -> Result<Vec<Axis>, Failure> {
        let axis = |(key, _, item): (String, String, &Item)| {
            let values = item.as_array().filter(|list| !list.is_empty());
            let Some(values) = values else {
                let message = format!("`{key}` is to be varied, so it needs a list of values");
                return Err(self.wrong(item, message, "what is the same in all runs belongs to `[set]`"));
            };
            Ok((key, values.iter().map(|value| value.to_string().trim().to_owned()).collect()))
        };
        self.settings("vary")?.into_iter().map(axis).collect()
    }
}

/// Dotted keys with their values; a table that is written in braces is a value.
fn flatten<'a>(prefix: &str, table: &'a dyn TableLike, found: &mut Vec<(String, &'a Item)>) {
    for (key, item) in table.iter() {
        let path = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        match item.as_table() {
            Some(inner) => flatten(&path, inner, found),
            None => found.push((path, item)),
        }
    }
}

fn text(item: &Item) -> String {
    item.as_value().map_or(String::new(), |value| value.to_string().trim().to_owned())
}

/// One value of each axis, the last running fastest.
fn combinations(axes: &[Axis]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![vec![]];
    for (key, values) in axes {
        let with = |before: &Vec<(String, String)>| {
            let one = |value: &String| [before.clone(), vec![(key.clone(), value.clone())]].concat();
            values.iter().map(one).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

fn at(source: &Arc<Source>, span: Option<Range<usize>>, message: String, help: &str) -> Failure {
    let origin = span.map_or_else(Origin::none, |span| Origin::new(source, span));
    Failure::from(bilo::Error::from(Diagnostic::new(message, origin).help(help)))
}
