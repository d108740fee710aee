//! What the book says, held against the program.
//!
//! A chapter is one sitting in a folder of its own; its fenced blocks are taken in order, and so are those of the README:
//!
//! - `console`: every `$ bilo ..` is run, and what it prints is compared with what stands below it. Words must be the
//!   same, line breaks do not matter, `...` stands for what was left out. Numbers must agree within 2 %; below 1e-3 they
//!   are errors of rounding and discretisation, and need only be below 1e-3 too. Times, memory, and what a line itself
//!   calls "below the noise" are not compared.
//! - `console slow`: takes long, or depends on the machine. Not run; treated as `sh`.
//! - `sh`: the arguments of every `bilo ..` are parsed by the program (with `--help` behind them), and its settings are
//!   checked (`bilo check`) where the problem is one that is there.
//! - `toml` that begins with `name` is a problem and must pass `bilo check`; if it begins with `problem` it is a study,
//!   which must pass all that `bilo study` looks at before the first run. Other pieces must be TOML, as a whole or, if
//!   they are alternatives, line by line.
//! - `LANGUAGE file=NAME` is written into the folder. `toml in=NAME`: its lines stand in that file, comments aside.
//!   `toml change=NAME`: its lines replace those with the same key there. `toml ignore` is not looked at; the text says
//!   why.
//! - `rust` is an `{{#include}}` of an example, which cargo compiles.
//!
//! With `BILO_SAID=FILE` nothing is compared: what is shown and what the program says go there as lines of JSON.

use assert_cmd::Command;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A page of text.
struct Page {
    /// From the root of the repository.
    name: String,
    text: String,
}

/// A fenced block.
struct Block {
    language: String,
    /// What follows the language.
    marks: Vec<String>,
    text: String,
    /// Where it begins, for messages.
    place: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> Page {
    let text = fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    Page { name: name.to_owned(), text }
}

/// All files of the book with this ending.
fn in_book(ending: &str) -> BTreeSet<String> {
    let files = fs::read_dir(root().join("book/src")).expect("the book");
    let names = files.map(|file| file.expect("a file").file_name().into_string().expect("a plain name"));
    names.filter(|name| name.ends_with(ending)).collect()
}

fn chapters() -> Vec<Page> {
    in_book(".md").iter().map(|name| page(&format!("book/src/{name}"))).collect()
}

/// The book and what stands beside it.
fn all_pages() -> Vec<Page> {
    let others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"];
    chapters().into_iter().chain(others.map(page)).collect()
}

impl Page {
    /// Its lines, each with whether it is inside of a fenced block (fences included).
    fn lines(&self) -> impl Iterator<Item = (bool, &str)> {
        let mut inside = false;
        self.text.lines().map(move |line| {
            let fence = line.trim_start().starts_with("```");
            let fenced = inside || fence;
            inside ^= fence;
            (fenced, line)
        })
    }

    fn prose(&self) -> String {
        self.lines().filter(|(fenced, _)| !fenced).map(|(_, line)| format!("{line}\n")).collect()
    }

    fn blocks(&self) -> Vec<Block> {
        let (mut blocks, mut open): (Vec<Block>, bool) = (vec![], false);
        for (number, line) in self.text.lines().enumerate() {
            match (line.trim_start().strip_prefix("```"), open) {
                (Some(info), false) => {
                    let mut words = info.split([',', ' ']).map(str::to_owned);
                    let (language, marks) = (words.next().unwrap_or_default(), words.collect());
                    let place = format!("{}:{}", self.name, number + 1);
                    blocks.push(Block { language, marks, text: String::new(), place });
                    open = true;
                }
                (Some(_), true) => open = false,
                (None, true) => blocks.last_mut().expect("it is open").text += &format!("{line}\n"),
                (None, false) => {}
            }
        }
        blocks
    }

    /// The anchors of its headings, as mdBook and GitHub make them.
    fn anchors(&self) -> BTreeSet<String> {
        let mut seen = BTreeMap::<String, usize>::new();
        let prose = self.prose();
        let headings = prose.lines().filter(|line| line.starts_with('#'));
        let anchor = |heading: &str| {
            let id = anchor(heading.trim_start_matches('#').trim());
            let earlier = seen.entry(id.clone()).or_default();
            *earlier += 1;
            if *earlier > 1 { format!("{id}-{}", *earlier - 1) } else { id }
        };
        headings.map(anchor).collect()
    }

    /// The targets of its links and images, not of what only looks like one between backticks.
    fn targets(&self) -> Vec<String> {
        let prose = self.prose();
        let places = prose.match_indices("](").map(|(place, _)| prose.split_at(place + 2));
        let outside = places.filter(|(before, _)| before.matches('`').count().is_multiple_of(2));
        outside.filter_map(|(_, rest)| Some(rest.split_once(')')?.0.to_owned())).collect()
    }

    /// What stands between backticks.
    fn quoted(&self) -> Vec<String> {
        self.prose().split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }
}

/// Lower case, blanks as hyphens, other signs dropped.
fn anchor(heading: &str) -> String {
    let sign = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    heading.chars().filter_map(sign).collect()
}

#[test]
fn anchors_are_those_of_mdbook() {
    let text = "# `[unknown.NAME]`\n## The closing table\n## A `b`, c!\n```\n# no heading\n```\n## A b c\n";
    let page = Page { name: String::new(), text: text.to_owned() };
    let expected = ["a-b-c", "a-b-c-1", "the-closing-table", "unknownname"].map(str::to_owned);
    assert_eq!(page.anchors(), expected.into());
}

#[test]
fn every_chapter_is_in_the_summary() {
    let listed = page("book/src/SUMMARY.md").targets();
    let unique: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), unique.len(), "a chapter is listed twice");
    let mut files = in_book(".md");
    files.remove("SUMMARY.md");
    assert_eq!(unique, files);
}

#[test]
fn every_link_leads_somewhere() {
    for page in all_pages() {
        for target in page.targets() {
            if let Some(fault) = fault(&page, &target) {
                panic!("{}: the link `{target}` {fault}", page.name);
            }
        }
    }
}

/// What is wrong with a link.
fn fault(from: &Page, target: &str) -> Option<&'static str> {
    if target.starts_with("http") {
        return None;
    }
    let (file, wanted) = target.split_once('#').map_or((target, None), |(file, wanted)| (file, Some(wanted)));
    let folder = Path::new(&from.name).parent().expect("a file");
    let own = Path::new(&from.name);
    let path = if file.is_empty() { own.to_path_buf() } else { folder.join(file) };
    if !root().join(&path).exists() {
        return Some("leads to no file");
    }
    if from.name.starts_with("book/") && file.contains('/') {
        return Some("leaves the book");
    }
    let found = wanted.is_none_or(|wanted| page(&path.to_string_lossy()).anchors().contains(wanted));
    if found { None } else { Some("leads to no heading") }
}

#[test]
fn every_picture_is_shown() {
    let shown: BTreeSet<String> = chapters().iter().flat_map(Page::targets).collect();
    for picture in in_book(".png") {
        assert!(shown.contains(&picture), "{picture} is in no chapter");
    }
}

/// Paths in backticks, from the root of the repository.
#[test]
fn every_path_exists() {
    let tops = ["crates/", "problems/", "studies/", "bench/", "book/", "fuzz/"];
    for page in all_pages() {
        for quoted in page.quoted().iter().filter(|quoted| tops.iter().any(|top| quoted.starts_with(top))) {
            let pattern = quoted.contains([' ', '*']) || quoted.contains("NAME") || quoted.contains(".venv");
            let made = quoted.ends_with("results.json");
            assert!(pattern || made || root().join(quoted).exists(), "{}: `{quoted}`", page.name);
        }
    }
}

/// Types and constants that the chapter on extending names are in the sources.
#[test]
fn extending_names_what_is_there() {
    let mut sources = String::new();
    read_sources(&root().join("crates"), &mut sources);
    let words: BTreeSet<&str> = sources.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let named = page("book/src/extending.md").quoted();
    let is_name = |text: &&String| {
        text.starts_with(char::is_uppercase) && text.chars().all(|c| c.is_alphanumeric() || "_:".contains(c))
    };
    let names: Vec<&String> = named.iter().filter(is_name).collect();
    assert!(names.len() > 20, "{names:?}");
    for part in names.iter().flat_map(|name| name.split("::")) {
        assert!(words.contains(part), "there is no `{part}`");
    }
}

fn read_sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            read_sources(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            all.push_str(&fs::read_to_string(&path).expect("text"));
        }
    }
}

#[test]
fn rust_is_compiled() {
    for page in chapters() {
        for block in page.blocks().iter().filter(|block| block.language == "rust") {
            let inner =
                block.text.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
            let path = inner.unwrap_or_else(|| panic!("{}: not an example of a crate", block.place));
            assert!(path.contains("/examples/"), "{}", block.place);
            assert!(root().join("book/src").join(path).exists(), "{}", block.place);
        }
    }
}

#[test]
fn what_the_chapters_show_is_what_the_program_does() {
    let pages: Vec<Page> = chapters().into_iter().chain([page("README.md")]).collect();
    std::thread::scope(|scope| {
        for page in &pages {
            scope.spawn(|| Sitting { folder: tempfile::tempdir().expect("a folder") }.read(page));
        }
    });
}

/// A reader who tries everything, in a folder.
struct Sitting {
    folder: TempDir,
}

impl Sitting {
    fn read(&self, page: &Page) {
        for block in page.blocks() {
            let mark = block.marks.first().map_or("", String::as_str);
            match (block.language.as_str(), mark.split_once('=').unwrap_or((mark, ""))) {
                (_, ("file", name)) => self.write(name, &block.text),
                ("toml", ("in", name)) => self.contains(name, &block),
                ("toml", ("change", name)) => self.change(name, &block),
                ("toml", ("ignore", _)) => {}
                ("toml", ("", _)) => self.toml(&block),
                ("console", ("", _)) => self.console(&block),
                ("console", ("slow", _)) | ("sh", ("", _)) => self.commands(&block),
                (_, ("", _)) => {}
                _ => panic!("{}: unknown mark `{mark}`", block.place),
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("it can be written");
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// What the program says, and whether it ends well.
    fn run(&self, words: &[String]) -> (bool, String) {
        let mut command = Command::cargo_bin("bilo").expect("the program");
        // What other runs have left in the cache of this machine is not for the reader to see.
        command.current_dir(self.folder.path()).env("XDG_CACHE_HOME", self.path("cache"));
        let output = command.args(words).output().expect("it starts");
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).expect("text"))
    }

    /// The program must end well.
    fn accepts(&self, words: &[String], block: &Block) {
        let (well, said) = self.run(words);
        assert!(well, "{}: {words:?}: {said}", block.place);
    }

    fn console(&self, block: &Block) {
        for (command, shown) in sessions(&block.text) {
            let words = bilo(&command).unwrap_or_else(|| panic!("{}: {command}", block.place));
            let (well, real) = self.run(&words);
            assert_eq!(well, !shown.contains("error:"), "{}: {real}", block.place);
            if let Some(file) = std::env::var_os("BILO_SAID") {
                let said = serde_json::json!({ "place": block.place, "command": command, "shown": shown, "real": real });
                let mut file = fs::File::options().append(true).create(true).open(file).expect("a file");
                writeln!(file, "{said}").expect("it can be written");
                continue;
            }
            if let Err(fault) = agrees(&shown, &real) {
                panic!("{}: `{command}` {fault}\n{real}", block.place);
            }
        }
    }

    /// Commands that are not run.
    fn commands(&self, block: &Block) {
        let joined = block.text.replace("\\\n", " ");
        for line in joined.lines() {
            // Of a console's lines those of the program are none of ours.
            let command = if block.language == "sh" { Some(line) } else { line.strip_prefix("$ ") };
            let Some(words) = command.and_then(bilo) else { continue };
            self.accepts(&[&words[..], &["--help".to_owned()]].concat(), block);
            self.settings(&words, block);
        }
    }

    /// Whether the settings of a command are understood, where its problem is there.
    fn settings(&self, words: &[String], block: &Block) {
        let [command, file, options @ ..] = words else { return };
        let takes_problem = ["run", "check", "compare", "solve"].contains(&command.as_str());
        let shipped = root().join(format!("problems/{file}.toml")).exists();
        if !takes_problem || !(shipped || self.path(file).exists()) {
            return;
        }
        let mut check = vec!["check".to_owned(), file.clone()];
        for pair in options.windows(2).filter(|pair| ["--set", "--recipe"].contains(&pair[0].as_str())) {
            // Data files that the text only speaks of.
            if !pair[1].contains(".csv") {
                check.extend_from_slice(pair);
            }
        }
        self.accepts(&check, block);
    }

    fn contains(&self, name: &str, block: &Block) {
        let file = self.file(name);
        let lines: BTreeSet<&str> = file.lines().map(uncommented).collect();
        for line in block.text.lines() {
            assert!(lines.contains(uncommented(line)), "{}: `{line}` is not in {name}", block.place);
        }
    }

    fn change(&self, name: &str, block: &Block) {
        let key = |line: &str| line.split_once('=').map(|(key, _)| key.trim().to_owned());
        let mut lines: Vec<String> = self.file(name).lines().map(str::to_owned).collect();
        for new in block.text.lines() {
            let mut same = lines.iter_mut().filter(|line| key(line).is_some() && key(line) == key(new));
            let (Some(line), None) = (same.next(), same.next()) else {
                panic!("{}: {name} has not one line for `{new}`", block.place)
            };
            *line = new.to_owned();
        }
        self.write(name, &lines.join("\n"));
    }

    fn toml(&self, block: &Block) {
        if block.text.starts_with("name") {
            self.write("whole.toml", &block.text);
            self.accepts(&["check", "whole.toml"].map(str::to_owned), block);
        } else if block.text.starts_with("problem") {
            self.write("study.toml", &block.text);
            // Every case is read before the first run, and no machine has a hundred GPUs.
            let (_, said) = self.run(&["study", "study.toml", "--device", "cuda:99"].map(str::to_owned));
            assert!(said.contains("failed:"), "{}: {said}", block.place);
        } else {
            let parses = |text: &str| text.parse::<toml_edit::DocumentMut>().map(|_| ());
            let alternatives = !block.text.starts_with('[') && block.text.lines().all(|l| parses(l).is_ok());
            let whole = parses(&block.text);
            assert!(whole.is_ok() || alternatives, "{}: {}", block.place, whole.unwrap_err());
        }
    }
}

/// The commands of a console with what stands below each.
fn sessions(text: &str) -> Vec<(String, String)> {
    let mut sessions: Vec<(String, String)> = vec![];
    for line in text.lines() {
        match (line.strip_prefix("$ "), sessions.last_mut()) {
            (Some(command), _) => sessions.push((command.to_owned(), String::new())),
            (None, Some((_, shown))) => *shown += &format!("{line}\n"),
            (None, None) => panic!("a console begins with a command: {line}"),
        }
    }
    sessions
}

/// A line without its comment.
fn uncommented(line: &str) -> &str {
    line.split(" #").next().expect("there is a first part").trim()
}

/// The arguments of a call of the program.
fn bilo(line: &str) -> Option<Vec<String>> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for c in uncommented(line).chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => quote = Some(c),
            (' ', None) => words.push(String::new()),
            _ => words.last_mut().expect("there is one").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    (words.first()? == "bilo").then(|| words.split_off(1))
}

#[test]
fn words_of_commands() {
    let words = bilo("bilo run a  --set 'b={ c = \"d\" }'   # why").expect("a call");
    assert_eq!(words, ["run", "a", "--set", "b={ c = \"d\" }"]);
    assert_eq!(bilo("cargo build"), None);
}

/// A word of the program's output.
struct Word<'a> {
    text: &'a str,
    /// Whether it may be another number.
    free: bool,
}

/// Units of times and memory.
const UNITS: [&str; 6] = ["s", "ms", "min", "h", "MB", "GB"];

/// All words but times and memory.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut all: Vec<Word<'_>> = vec![];
    for line in text.lines() {
        let free = line.contains("below the noise");
        for text in line.split_whitespace() {
            let quantity = all.last().is_some_and(|last| bare(last.text).parse::<f64>().is_ok());
            if quantity && UNITS.contains(&bare(text)) {
                all.pop();
            } else {
                all.push(Word { text, free });
            }
        }
    }
    all
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| "(),:;".contains(c)).trim_end_matches('.')
}

/// Whether what is shown is what was said.
fn same(shown: &Word<'_>, real: &Word<'_>) -> bool {
    let numbers = (bare(shown.text).parse::<f64>(), bare(real.text).parse::<f64>());
    let (Ok(a), Ok(b)) = numbers else { return shown.text == real.text };
    const SMALL: f64 = 1e-3;
    let close = (a - b).abs() <= 0.02 * a.abs().max(b.abs());
    shown.free && real.free || close || (a.abs() < SMALL && b.abs() < SMALL)
}

/// Compares what a book shows with what the program said; `...` stands for anything.
fn agrees(shown: &str, real: &str) -> Result<(), String> {
    let (shown, real) = (words(shown), words(real));
    let pieces: Vec<&[Word<'_>]> = shown.split(|word| word.text == "...").collect();
    let mut from = 0;
    for (number, piece) in pieces.iter().enumerate() {
        let (first, last) = (number == 0, number + 1 == pieces.len());
        let mut starts = if first { 0..1 } else { from..real.len() + 1 };
        let fits = |start: &usize| {
            let rest = real.get(*start..).unwrap_or_default();
            let all = rest.len() >= piece.len() && piece.iter().zip(rest).all(|(a, b)| same(a, b));
            all && (!last || rest.len() == piece.len())
        };
        let Some(start) = starts.find(fits) else {
            let text: Vec<&str> = piece.iter().map(|word| word.text).collect();
            return Err(format!("does not say `{}`", text.join(" ")));
        };
        from = start + piece.len();
    }
    Ok(())
}

#[test]
fn comparison_sees_what_matters() {
    let real = "D  1.998  4.1e-7\n6 steps in 2.0 s (98 ms a step), 80 MB.\ncosine 0.3 (below the noise)\nend";
    for right in [
        real,
        "D 1.99 5.3e-9\n...\nend",
        "...\n6 steps in 1 min 9.0 s (1 s a step), 8 MB.\ncosine 0.9 (below the noise)\nend",
    ] {
        assert_eq!(agrees(right, real), Ok(()), "{right}");
    }
    for wrong in ["D 1.9 4.1e-7\n...", "D 1.998 0.01\n...", "...\n7 steps\n...", "D 1.998 4.1e-7", "...\nen"]
    {
        assert!(agrees(wrong, real).is_err(), "{wrong}");
    }
}
