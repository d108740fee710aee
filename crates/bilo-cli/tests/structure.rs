//! The order of the modules: no crate has an import cycle between them, except between parent and child.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module by its path inside a crate; the crate itself is the empty one.
type Module = Vec<String>;

/// What is read off the sources of a crate.
#[derive(Default)]
struct Sources {
    /// Paths that each module names.
    uses: BTreeMap<Module, Vec<Vec<String>>>,
    /// Names that a module gives on, and where they come from.
    exports: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

impl Sources {
    fn read(source: &Path) -> Sources {
        let mut sources = Sources::default();
        sources.folder(source, &[]);
        sources
    }

    fn folder(&mut self, folder: &Path, module: &[String]) {
        for entry in fs::read_dir(folder).expect("a folder of sources").flatten() {
            let path = entry.path();
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let inner = |name: String| [module, &[name]].concat();
            if path.is_dir() {
                self.folder(&path, &inner(stem));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let own =
                    if ["lib", "main", "mod"].contains(&&*stem) { module.to_vec() } else { inner(stem) };
                self.file(own, &fs::read_to_string(&path).expect("a text"));
            }
        }
    }

    fn file(&mut self, module: Module, text: &str) {
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
        let code: String = lines.collect::<Vec<_>>().join("\n");
        // Tests may look wherever they like.
        let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let (uses, exports) =
            (self.uses.entry(module.clone()).or_default(), self.exports.entry(module).or_default());
        for statement in code.split(';') {
            let Some((before, tree)) = statement.rsplit_once("use ") else { continue };
            let before = before.rsplit('\n').next().unwrap_or_default().trim();
            if !before.is_empty() && !before.starts_with("pub") {
                continue;
            }
            for path in paths(tree) {
                if let (true, Some(name)) = (before.starts_with("pub"), path.last()) {
                    exports.insert(name.clone(), path.clone());
                }
                uses.push(path);
            }
        }
        for start in ["crate::", "super::"] {
            uses.extend(code.match_indices(start).map(|(at, _)| inline(&code[at..])));
        }
    }

    /// A path from the root of the crate, if it leads into it.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let supers = path.iter().take_while(|part| *part == "super").count();
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            "super" => Some([&module[..module.len().checked_sub(supers)?], &path[supers..]].concat()),
            first => {
                let child = [&module[..], &[first.to_owned()]].concat();
                self.uses.contains_key(&child).then(|| [module, path].concat())
            }
        }
    }

    /// The module that a path comes from, names that are given on followed to their source.
    fn resolve(&self, path: &[String], depth: usize) -> Module {
        let mut module = vec![];
        for (at, part) in path.iter().enumerate() {
            let inner = [&module[..], std::slice::from_ref(part)].concat();
            if self.uses.contains_key(&inner) {
                module = inner;
                continue;
            }
            let given_on = self.exports.get(&module).and_then(|names| names.get(part));
            return match given_on.and_then(|source| self.absolute(&module, source)) {
                Some(source) if depth < 12 => {
                    self.resolve(&[&source[..], &path[at + 1..]].concat(), depth + 1)
                }
                _ => module,
            };
        }
        module
    }

    /// The modules that each module needs, parents and children left out.
    fn needs(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let of = |(module, uses): (&Module, &Vec<Vec<String>>)| {
            let found = uses.iter().filter_map(|path| self.absolute(module, path));
            let found = found.map(|path| self.resolve(&path, 0));
            let found = found.filter(|other| !other.starts_with(module) && !module.starts_with(other));
            (module.clone(), found.collect())
        };
        self.uses.iter().map(of).collect()
    }
}

/// The paths of the tree after `use`.
fn paths(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((before, inner)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        let parts = path.split("::").map(|part| part.trim().to_owned());
        return vec![parts.filter(|part| part != "self" && part != "*").collect()];
    };
    let before: Vec<String> =
        before.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    let inner = inner.strip_suffix('}').unwrap_or(inner);
    branches(inner)
        .iter()
        .flat_map(|branch| paths(branch))
        .map(|path| [&before[..], &path].concat())
        .collect()
}

/// What stands between the commas outside of braces.
fn branches(list: &str) -> Vec<String> {
    let (mut depth, mut found) = (0, vec![String::new()]);
    for letter in list.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match letter {
            ',' if depth == 0 => found.push(String::new()),
            _ => found.last_mut().expect("there is one").push(letter),
        }
    }
    found.retain(|branch| !branch.trim().is_empty());
    found
}

/// A path as it stands inside a line.
fn inline(text: &str) -> Vec<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
    text[..end].split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A cycle, if there is one: every module needs the next, the last one the first.
fn cycle(needs: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    let mut done = BTreeSet::new();
    needs.keys().find_map(|module| walk(needs, module, &mut vec![], &mut done))
}

fn walk(
    needs: &BTreeMap<Module, BTreeSet<Module>>,
    module: &Module,
    way: &mut Vec<Module>,
    done: &mut BTreeSet<Module>,
) -> Option<Vec<Module>> {
    if let Some(start) = way.iter().position(|before| before == module) {
        return Some(way[start..].to_vec());
    }
    if done.contains(module) {
        return None;
    }
    way.push(module.clone());
    let found = needs.get(module).into_iter().flatten().find_map(|next| walk(needs, next, way, done));
    way.pop();
    done.insert(module.clone());
    found
}

#[test]
fn modules_of_a_crate_have_an_order() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in fs::read_dir(crates).expect("the crates").flatten() {
        if let Some(cycle) = cycle(&Sources::read(&folder.path().join("src")).needs()) {
            let names: Vec<String> = cycle.iter().map(|module| module.join("::")).collect();
            panic!("import cycle in {}: {} -> {}", folder.path().display(), names.join(" -> "), names[0]);
        }
    }
}

/// Through a name that the root gives on, and through a list in braces.
#[test]
fn a_cycle_is_seen() {
    let mut sources = Sources::default();
    sources.file(vec![], "mod a;\nmod b;\nmod c;\npub use b::Thing;\n");
    sources.file(vec!["a".into()], "use crate::{Thing, c};\n");
    sources.file(vec!["b".into()], "//! use crate::a in words only\npub struct Thing;\n");
    sources.file(vec!["c".into()], "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n");
    assert_eq!(cycle(&sources.needs()), None);
    sources.file(vec!["b".into()], "pub(crate) use super::{\n    a::Other,\n};\n");
    let [a, b] = ["a", "b"].map(|name| vec![name.to_owned()]);
    assert_eq!(cycle(&sources.needs()), Some(vec![a, b]));
}
