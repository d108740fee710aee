//! Several experiments in one file: what each changes, put over what all share.

use crate::diagnostic::{Diagnostic, Result};
use crate::read::vectors;
use crate::schema;
use crate::tree::reader::{Reader, table};
use crate::tree::{Entry, Node, Table, Value, join};

/// An experiment as a file of its own.
pub(crate) struct Experiment {
    pub(crate) name: String,
    pub(crate) tree: Table,
    /// The unknown numbers that it has for itself.
    pub(crate) own: Vec<String>,
}

/// The experiments of a file, each with everything that it shares with others; none if there are none.
pub(crate) fn split(tree: &Table) -> Result<Option<Vec<Experiment>>> {
    let Some(node) = tree.get("experiment") else { return Ok(None) };
    let mut shared = tree.clone();
    shared.take("experiment");
    let entries = &table(node, "experiment")?.entries;
    if entries.is_empty() {
        return Err(Diagnostic::new("there is no experiment here", node.origin.clone()).into());
    }
    refuse_shared_files(&shared, entries)?;
    entries.iter().map(|entry| read(entry, &shared)).collect::<Result<_>>().map(Some)
}

fn read(entry: &Entry, shared: &Table) -> Result<Experiment> {
    let name = entry.key.clone();
    if !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        let message = format!("`{name}` cannot name an experiment");
        let error = Diagnostic::new(message, entry.key_origin.clone());
        return Err(error.help("take letters and digits alone").into());
    }
    let path = join("experiment", &name);
    Reader::of(&entry.node, &path, &[], &schema::EXPERIMENT.names())?;
    let mut tree = shared.clone();
    let mut own = vec![];
    for part in &table(&entry.node, &path)?.entries {
        let entries = &table(&part.node, &join(&path, &part.key))?.entries;
        if part.key == "observation" {
            tree.keep_observations(&entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>());
        }
        tree.lay_over(part);
        if part.key == "unknown" {
            own = own_unknowns(entries, &tree)?;
        }
    }
    if table(&entry.node, &path)?.get("observation").is_none() {
        tree.keep_observations(&[]);
    }
    Ok(Experiment { name, tree, own })
}

/// The names of an experiment's own unknowns, of each number of a vector.
fn own_unknowns(entries: &[Entry], tree: &Table) -> Result<Vec<String>> {
    let Some(Value::Table(unknowns)) = tree.get("unknown").map(|node| &node.value) else { return Ok(vec![]) };
    let is_own = |unknown: &&Entry| entries.iter().any(|entry| entry.key == unknown.key);
    let names = unknowns.entries.iter().filter(is_own).map(vectors::names_of);
    Ok(names.collect::<Result<Vec<_>>>()?.concat())
}

impl Table {
    /// Puts the entries of an experiment's table over those of the shared one, key by key.
    fn lay_over(&mut self, part: &Entry) {
        let Value::Table(over) = &part.node.value else { return };
        if self.get(&part.key).is_none() {
            let mut empty = part.clone();
            empty.node.value = Value::Table(Table::default());
            self.entries.push(empty);
        }
        let Some(Value::Table(own)) = self.value_mut(&part.key) else { return };
        for entry in &over.entries {
            match (own.value_mut(&entry.key), &entry.node.value) {
                (Some(Value::Table(inner)), Value::Table(new)) => {
                    new.entries.iter().for_each(|e| inner.put_data(e))
                }
                // A number in place of one with a unit has that unit.
                (Some(Value::Table(inner)), _) if part.key == "constants" => {
                    let mut value = entry.clone();
                    value.key = "value".to_owned();
                    inner.put(&value);
                }
                _ => own.put(entry),
            }
        }
    }

    fn value_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node.value)
    }

    /// An entry in place of that of its key.
    fn put(&mut self, entry: &Entry) {
        match self.entries.iter_mut().find(|own| own.key == entry.key) {
            Some(own) => *own = entry.clone(),
            None => self.entries.push(entry.clone()),
        }
    }

    /// An entry in place of that of its key; what is said of data beside that of all experiments.
    fn put_data(&mut self, entry: &Entry) {
        match (self.value_mut(&entry.key), &entry.node.value) {
            (Some(Value::Table(shared)), Value::Table(own))
                if entry.key == "data" && shared.get("synthetic").is_none() =>
            {
                own.entries.iter().for_each(|entry| shared.put_within(entry));
            }
            _ => self.put(entry),
        }
    }

    /// An entry in place of that of its key, tables into tables.
    fn put_within(&mut self, entry: &Entry) {
        match (self.value_mut(&entry.key), &entry.node.value) {
            (Some(Value::Table(shared)), Value::Table(own)) => {
                own.entries.iter().for_each(|entry| shared.put_within(entry));
            }
            _ => self.put(entry),
        }
    }

    /// An experiment has the observations that it names, and those whose data are made.
    fn keep_observations(&mut self, named: &[&str]) {
        let Some(Value::Table(observations)) = self.value_mut("observation") else { return };
        observations.entries.retain(|entry| named.contains(&entry.key.as_str()) || has(entry, "synthetic"));
    }
}

/// `data` of an observation.
fn data(observation: &Entry) -> Option<&Node> {
    let Value::Table(observation) = &observation.node.value else { return None };
    observation.get("data")
}

/// Whether `data` of an observation have a key.
fn has(observation: &Entry, key: &str) -> bool {
    let Some(Value::Table(data)) = data(observation).map(|node| &node.value) else { return false };
    data.get(key).is_some()
}

/// Data of a file that all experiments share would be counted once for each: each says which rows are its own.
fn refuse_shared_files(shared: &Table, experiments: &[Entry]) -> Result<()> {
    let Some(Value::Table(observations)) = shared.get("observation").map(|node| &node.value) else {
        return Ok(());
    };
    for entry in &observations.entries {
        let Some(data) = data(entry).filter(|_| has(entry, "file")) else { continue };
        let own: Vec<&Entry> = experiments.iter().filter_map(|own| observation_of(own, &entry.key)).collect();
        if !own.is_empty() && own.iter().all(|own| has(own, "file") || has(own, "rows")) {
            continue;
        }
        let message = "beside experiments, data belong to one of them";
        let help = format!(
            "write them in the experiment: `observation = {{ {} = {{ data = {{ file = \"..\" }} }} }}`, or which `rows` of the \
             file are its own",
            entry.key
        );
        return Err(Diagnostic::new(message, data.origin.clone()).help(help).into());
    }
    Ok(())
}

/// What an experiment says of an observation.
fn observation_of<'a>(experiment: &'a Entry, name: &str) -> Option<&'a Entry> {
    let Value::Table(experiment) = &experiment.node.value else { return None };
    let Value::Table(observations) = &experiment.get("observation")?.value else { return None };
    observations.entries.iter().find(|entry| entry.key == name)
}
