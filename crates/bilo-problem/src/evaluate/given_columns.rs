//! Given fields in expressions: what evaluates an expression itself is handed their values at its points,
//! and a device gets these as further columns. Networks know nothing of given fields.

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::{GivenField, Names, Problem};
use bilo_expr::{Expr, Leaf, MultiIndex};
use bilo_jet::{Operator, PointSource};
use std::collections::BTreeMap;

/// The derivatives of given fields in expressions; an error if the splines do not have one of them.
pub fn leaves(names: &mut Names, expressions: &[Expr], origin: &Origin) -> Result<Vec<Leaf>> {
    let mut leaves = names.graph.leaves(expressions);
    leaves.retain(|leaf| matches!(leaf, Leaf::Derivative(f, _) if names.given_field(*f).is_some()));
    for leaf in &leaves {
        if let Some(error) = not_smooth(names, leaf, origin) {
            return Err(error.into());
        }
    }
    Ok(leaves)
}

fn not_smooth(names: &mut Names, leaf: &Leaf, origin: &Origin) -> Option<Diagnostic> {
    let Leaf::Derivative(function, index) = leaf else { return None };
    let field = names.given_field(*function)?.clone();
    let (name, chosen) = (&field.name, field.spline.interpolation());
    if index.as_slice().iter().all(|&order| order <= chosen.smoothness()) {
        return None;
    }
    let derivative = names.graph.derivative(*function, index.clone());
    let shown = names.graph.display(derivative).to_string();
    let (message, help) = match chosen.smoothness() {
        0 => (
            format!(
                "this needs `{shown}`, and the given field `{name}`, `interpolation = \"{}\"`, has no slope",
                chosen.name()
            ),
            format!("write `interpolation = \"cubic\"` or `\"smooth\"` for `{name}` in [given]"),
        ),
        most => (
            format!("this needs `{shown}`, and splines have {most} derivatives along a coordinate"),
            format!("take fewer derivatives of `{name}`"),
        ),
    };
    Some(Diagnostic::new(message, origin.clone()).help(help))
}

/// A leaf at points given by one column per coordinate, if it is one of a given field.
pub fn sample(names: &Names, leaf: &Leaf, columns: &[Vec<f64>]) -> Option<Vec<f64>> {
    let Leaf::Derivative(function, index) = leaf else { return None };
    Some(names.given_field(*function)?.at(columns, index.as_slice()))
}

/// The given fields, by number, in forms of states and in equations: all that a solver must know of. States and
/// `net` are bound in the names.
pub fn in_pde(problem: &Problem, names: &mut Names) -> Result<Vec<usize>> {
    let forms = problem.states.iter().map(|state| &state.form);
    let formulas = forms.chain(problem.equations.iter().map(|equation| &equation.residual));
    let all = formulas.map(|formula| names.lower(formula)).collect::<Result<Vec<_>>>()?;
    let leaves = names.graph.leaves(&all);
    let occurs = |number: &usize| {
        let function = names.given[*number].function;
        leaves.iter().any(|leaf| matches!(leaf, Leaf::Derivative(f, _) if *f == function))
    };
    Ok((0..names.given.len()).filter(occurs).collect())
}

/// What given fields add to a program: symbols in place of their leaves, and a column for each symbol.
pub struct GivenColumns {
    /// The operator with the symbols among its columns, at their end.
    pub operator: Operator,
    fields: Vec<(GivenField, MultiIndex)>,
}

impl GivenColumns {
    /// Puts symbols in place of given fields and their derivatives in expressions that a program of the
    /// operator is to be made of.
    pub fn replace(
        names: &mut Names,
        operator: &Operator,
        expressions: &mut [Expr],
        origin: &Origin,
    ) -> Result<Self> {
        let mut columns = Self { operator: operator.clone(), fields: vec![] };
        let mut map = BTreeMap::new();
        for leaf in leaves(names, expressions, origin)? {
            let Leaf::Derivative(function, index) = &leaf else { continue };
            let Some(field) = names.given_field(*function).cloned() else { continue };
            let symbol = names.graph.symbol(&field.name);
            columns.operator.columns.push(symbol);
            columns.fields.push((field, index.clone()));
            map.insert(leaf, names.graph.leaf(symbol));
        }
        for expression in expressions.iter_mut().filter(|_| !map.is_empty()) {
            *expression = names.graph.substitute(*expression, &map);
        }
        Ok(columns)
    }

    /// Points, whose first columns are the coordinates, with the columns of the given fields at their end.
    pub fn at(&self, points: PointSource) -> PointSource {
        self.fields.iter().fold(points, |points, (field, index)| {
            points.with_function(&field.of, |own| {
                let own: Vec<&[f64]> = own.iter().map(|column| &column[..]).collect();
                field.spline.at(&own, index.as_slice())
            })
        })
    }
}
