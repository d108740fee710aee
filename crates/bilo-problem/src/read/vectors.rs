//! Vectors of unknown numbers: `count = 8` in `[unknown.k]` makes `k_1` to `k_8`, and `pieces(k, x)` is one of them on each
//! piece of a coordinate.

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::read::expressions::{self, keys};
use crate::read::{read_constants, read_coordinates};
use crate::text::count as count_of;
use crate::tree::places::content;
use crate::tree::reader::{count, wrong_type};
use crate::tree::{Entry, Node, Table, Value};
use bilo_expr::{Ast, AstKind, NodeId, Span, parse, parse_equation};

/// Most numbers of a vector, which are unknowns of their own.
const MOST: usize = 1024;

/// Keys that may have a value for each number.
const EACH: [&str; 2] = ["guess", "truth"];

/// Puts `k_1`, `k_2` in the place of an unknown `k` with a `count`, and writes out `pieces` of such.
pub(super) fn write_out(tree: &mut Table) -> Result<()> {
    let before = keys(tree, "unknown");
    expand(tree)?;
    write_out_pieces(tree)?;
    let after = keys(tree, "unknown");
    let vectors = before.into_iter().filter(|name| !after.contains(name)).collect::<Vec<_>>();
    expressions::each(tree, |node| refuse_whole_vectors(node, &vectors))
}

/// A vector is no number: an expression has its numbers, or pieces of it.
fn refuse_whole_vectors(node: &Node, vectors: &[String]) -> Result<()> {
    let Value::Text(text) = &node.value else { return Ok(()) };
    let Ok(ast) = parse(text).or_else(|_| parse_equation(text)) else { return Ok(()) };
    let Some((name, span)) = ast.names().into_iter().find(|(name, _)| vectors.iter().any(|v| v == name))
    else {
        return Ok(());
    };
    let place = content(&node.origin, text);
    let place = if place.slice() == Some(text) { place.part(span.start..span.end) } else { place };
    let error = Diagnostic::new(format!("`{name}` is a vector of numbers"), place);
    Err(error
        .help(format!("write one of them, such as `{}`, or `pieces({name}, x)`", self::name(name, &[1])))
        .into())
}

fn expand(tree: &mut Table) -> Result<()> {
    let taken = ["coordinates", "constants", "unknown", "given", "input", "state"]
        .map(|kind| keys(tree, kind))
        .concat();
    let Some(entry) = tree.entries.iter_mut().find(|entry| entry.key == "unknown") else { return Ok(()) };
    let Value::Table(unknowns) = &mut entry.node.value else { return Ok(()) };
    let mut all = vec![];
    for entry in &unknowns.entries {
        let Some(shape) = shape(entry)? else {
            all.push(entry.clone());
            continue;
        };
        let numbers = numbers(entry, &shape)?;
        if let Some(number) = numbers.iter().find(|number| taken.contains(&number.key)) {
            let message = format!("`{}` of this vector has the name of something else", number.key);
            let error = Diagnostic::new(message, entry.key_origin.clone());
            return Err(error.help("choose another name").into());
        }
        all.extend(numbers);
    }
    unknowns.entries = all;
    Ok(())
}

/// [`expand`] where `name` is not an unknown of the file, but a number of one of its vectors.
pub(super) fn expand_for(tree: &mut Table, name: &str) -> Result<()> {
    let Some(Value::Table(unknowns)) = tree.get("unknown").map(|node| &node.value) else { return Ok(()) };
    if unknowns.get(name).is_some() {
        return Ok(());
    }
    for entry in &unknowns.entries {
        if names_of(entry)?.iter().any(|number| number == name) {
            return expand(tree);
        }
    }
    Ok(())
}

/// The names of the unknowns of an entry: its own, or those of a vector's numbers.
pub(super) fn names_of(entry: &Entry) -> Result<Vec<String>> {
    Ok(match shape(entry)? {
        Some(shape) => indices(&shape).iter().map(|index| name(&entry.key, index)).collect(),
        None => vec![entry.key.clone()],
    })
}

/// How many numbers an unknown has along each axis; none if it is no vector.
fn shape(entry: &Entry) -> Result<Option<Vec<usize>>> {
    let Value::Table(table) = &entry.node.value else { return Ok(None) };
    let Some(node) = table.get("count") else { return Ok(None) };
    if table.get("of").is_some() {
        let error =
            Diagnostic::new("`count` makes a vector of numbers, `of` a function", node.origin.clone());
        return Err(error.help("keep one of them").into());
    }
    let shape = match &node.value {
        Value::Integer(_) => vec![count(node, "count")?],
        Value::List(items) => items.iter().map(|item| count(item, "count")).collect::<Result<_>>()?,
        _ => return Err(wrong_type(node, "count", "a whole number, or a list of them")),
    };
    if shape.is_empty() || shape.iter().product::<usize>() == 0 || shape.iter().product::<usize>() > MOST {
        let message = format!("a vector has from 1 to {MOST} numbers");
        return Err(Diagnostic::new(message, node.origin.clone()).into());
    }
    Ok(Some(shape))
}

/// All indices from one on, the last one first.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let longer = |before: Vec<Vec<usize>>, count: &usize| {
        let next = |index: Vec<usize>| (1..=*count).map(move |i| [&index[..], &[i]].concat());
        before.into_iter().flat_map(next).collect()
    };
    shape.iter().fold(vec![vec![]], longer)
}

fn name(vector: &str, index: &[usize]) -> String {
    index.iter().fold(vector.to_owned(), |name, i| format!("{name}_{i}"))
}

/// The numbers of a vector as unknowns of their own.
fn numbers(entry: &Entry, shape: &[usize]) -> Result<Vec<Entry>> {
    let number = |index: Vec<usize>| {
        let mut number = entry.clone();
        number.key = name(&entry.key, &index);
        if let Value::Table(table) = &mut number.node.value {
            table.take("count");
            for entry in table.entries.iter_mut().filter(|entry| EACH.contains(&&entry.key[..])) {
                entry.node = own_value(&entry.node, &entry.key, shape, &index)?;
            }
        }
        Ok(number)
    };
    indices(shape).into_iter().map(number).collect()
}

/// What is said for all numbers, or the one of a list with a value for each.
fn own_value(node: &Node, key: &str, shape: &[usize], index: &[usize]) -> Result<Node> {
    let (Value::List(items), [count, inner @ ..]) = (&node.value, shape) else { return Ok(node.clone()) };
    if items.len() != *count {
        let message = format!("`{key}` has {} values for {count} numbers", items.len());
        let error = Diagnostic::new(message, node.origin.clone());
        return Err(error.help("write one value for all, or one for each").into());
    }
    own_value(&items[index[0] - 1], key, inner, &index[1..])
}

/// Writes out `pieces(k, x)` in all expressions, as `if`s of `k_1`, `k_2`, ..
fn write_out_pieces(tree: &mut Table) -> Result<()> {
    let mut needed = false;
    expressions::each(tree, |node| {
        needed |= matches!(&node.value, Value::Text(text) if text.contains("pieces"));
        Ok(())
    })?;
    if !needed {
        return Ok(());
    }
    let unknowns = keys(tree, "unknown");
    let constants = read_constants(tree)?;
    let axes = read_coordinates(tree, &constants)?.into_iter().map(|c| (c.name, c.lo, c.hi)).collect();
    let pieces = Pieces { unknowns, axes };
    expressions::each(tree, |node| {
        let Value::Text(text) = &mut node.value else { return Ok(()) };
        // Each writes out the first one; those inside of definitions stand beside each other, not in each other.
        while let Some(written_out) = pieces.first_written_out(text, &node.origin)? {
            *text = written_out;
        }
        Ok(())
    })
}

/// What `pieces` may name: unknowns, and coordinates with their ranges.
struct Pieces {
    unknowns: Vec<String>,
    axes: Vec<(String, f64, f64)>,
}

impl Pieces {
    /// A text with the first `pieces(..)` written out; none if there is none, or if it cannot be parsed.
    fn first_written_out(&self, text: &str, origin: &Origin) -> Result<Option<String>> {
        // One equals sign makes an equation; those of comparisons are pairs.
        let Ok(ast) = parse(text).or_else(|_| parse_equation(text)) else { return Ok(None) };
        let call = ast.nodes().iter().find_map(|node| match &node.kind {
            AstKind::Call(function, operands) if function == "pieces" => Some((node.span, operands)),
            _ => None,
        });
        let Some((span, operands)) = call else { return Ok(None) };
        let value = self.value(&ast, operands).map_err(|(message, help)| {
            let place = content(origin, text);
            let place = if place.slice() == Some(text) { place.part(span.start..span.end) } else { place };
            Diagnostic::new(message, place).help(help)
        })?;
        let Span { start, end } = span;
        Ok(Some(format!("{}({value}){}", &text[..start], &text[end..])))
    }

    /// `if`s for the operands of one call; or what is wrong with them, and what to write.
    fn value(&self, ast: &Ast, operands: &[NodeId]) -> std::result::Result<String, (String, String)> {
        let usage = "write `pieces(k, x)` for equal pieces of the range of x, `pieces(k, x, 0.2, 0.5)` for three that end at these places".to_owned();
        let [vector, rest @ ..] = operands else { return Err(("`pieces` needs a vector".to_owned(), usage)) };
        let vector = ast.source(*vector);
        let axis = |operand: &NodeId| self.axes.iter().find(|(name, ..)| name == ast.source(*operand));
        let axes: Vec<_> = rest.iter().map_while(axis).collect();
        let ends: Vec<String> = rest[axes.len()..].iter().map(|end| ast.source(*end).to_owned()).collect();
        if axes.is_empty() {
            return Err(("`pieces` needs a coordinate behind the vector".to_owned(), usage));
        }
        let counts = self.counts(vector, axes.len());
        if counts.is_empty() {
            return Err(self.no_vector(vector, axes.len()));
        }
        if !ends.is_empty() && axes.len() > 1 {
            return Err((
                "pieces along several coordinates are equal: no places are stated".to_owned(),
                usage,
            ));
        }
        if !ends.is_empty() && ends.len() + 1 != counts[0] {
            let (pieces, ends) = (counts[0], ends.len());
            let message = format!("{pieces} pieces have {} places between them, found {ends}", pieces - 1);
            return Err((message, usage));
        }
        Ok(self.nested(vector, &axes, &counts, &ends))
    }

    /// What is wrong with a vector that has no numbers along so many coordinates, and what to write.
    fn no_vector(&self, vector: &str, axes: usize) -> (String, String) {
        if let Some(own) = (1..=3).find(|axes| !self.counts(vector, *axes).is_empty()) {
            let message =
                format!("`{vector}` has numbers along {}, found {axes}", count_of(own, "coordinate"));
            return (message, "name as many coordinates as `count` has numbers".to_owned());
        }
        let count = if axes == 1 { "8".to_owned() } else { format!("{:?}", vec![4; axes]) };
        let help = format!("`count = {count}` in `[unknown.{vector}]` makes such a vector");
        (format!("`{vector}` is no vector: there is no unknown `{}`", name(vector, &vec![1; axes])), help)
    }

    /// How many numbers `k_1`, `k_2`, .. or `k_1_1`, .. there are along each axis; empty if there are none.
    fn counts(&self, vector: &str, axes: usize) -> Vec<usize> {
        let along = |axis: usize| {
            let exists = |i: &usize| {
                let mut index = vec![1; axes];
                index[axis] = *i;
                self.unknowns.contains(&name(vector, &index))
            };
            (1..).take_while(exists).count()
        };
        (0..axes).map(along).filter(|count| *count > 0).collect()
    }

    fn nested(
        &self,
        vector: &str,
        axes: &[&(String, f64, f64)],
        counts: &[usize],
        ends: &[String],
    ) -> String {
        let (Some((coordinate, lo, hi)), Some(&count)) = (axes.first(), counts.first()) else {
            return vector.to_owned();
        };
        let inner = |i: usize| self.nested(&name(vector, &[i + 1]), &axes[1..], &counts[1..], &[]);
        let values: Vec<String> = (0..count).map(inner).collect();
        let equal = |i: usize| format!("{:?}", lo + (hi - lo) * i as f64 / count as f64);
        let ends = if ends.is_empty() { (1..count).map(equal).collect() } else { ends.to_vec() };
        chosen(coordinate, &values, &ends)
    }
}

/// The value of each piece, found by halving, so that expressions are not as deep as there are pieces.
fn chosen(coordinate: &str, values: &[String], ends: &[String]) -> String {
    let half = values.len() / 2;
    if half == 0 {
        return values[0].clone();
    }
    let (below, above) = (
        chosen(coordinate, &values[..half], &ends[..half - 1]),
        chosen(coordinate, &values[half..], &ends[half..]),
    );
    format!("if({coordinate} < {}, {below}, {above})", ends[half - 1])
}
