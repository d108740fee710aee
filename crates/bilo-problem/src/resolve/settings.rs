//! The tables of settings, in layers: the defaults of a recipe, what a table says, and what its sub-table for that
//! recipe says.

use crate::diagnostic::{Diagnostic, Result};
use crate::schema::{self, TableSchema};
use crate::settings::{
    Classical, Context, DeepOnetChoice, FnoChoice, GradientMode, NetworkChoice, OperatorChoice, OperatorKind,
    Recipe, SampleOptions, Settings, Training, idle, read_over,
};
use crate::tree::reader::{Reader, choice, table};
use crate::tree::{Node, Table};
use crate::words::Words;

/// All settings, resolved.
pub(crate) struct Chosen {
    pub(crate) operator: OperatorChoice,
    pub(crate) network: NetworkChoice,
    pub(crate) training: Training,
    pub(crate) classical: Classical,
    pub(crate) sampling: SampleOptions,
    pub(crate) deeponet: DeepOnetChoice,
    pub(crate) fno: FnoChoice,
}

/// Reads the settings; sub-tables of recipes are put in their place or left out. With functions of states the
/// gradient is the exact one, unless stated.
pub(crate) fn read(tree: &mut Table, context: &Context<'_>, of_state: bool) -> Result<Chosen> {
    let recipe = read_recipe(tree)?;
    let mut layers = Layers { tree, context, recipe };
    let mut training = Training::of(recipe);
    if of_state {
        training.gradient = GradientMode::Exact;
    }
    layers.read("train", [&schema::TRAIN, &schema::TRAIN_SETTINGS], &mut training, read_over)?;
    let mut network = NetworkChoice::of(recipe);
    layers.read("network", [&schema::NETWORK, &schema::NETWORK_SETTINGS], &mut network, read_over)?;
    let mut operator = OperatorChoice::of(recipe).completed(context.coordinates.len(), context.inputs.len());
    layers.read("operator", [&schema::OPERATOR, &schema::OPERATOR_SETTINGS], &mut operator, read_operator)?;
    let pointwise = layers.states("train", "gradient") && training.gradient == GradientMode::Pointwise;
    if pointwise && !layers.states("operator", "kind") && operator.kind == OperatorKind::Automatic {
        // Only networks have that gradient.
        operator.kind = OperatorKind::Network;
    }
    let mut chosen = Chosen {
        operator,
        network,
        training,
        classical: Classical::over(context.coordinates),
        sampling: SampleOptions::of(recipe),
        deeponet: DeepOnetChoice::of(recipe),
        fno: FnoChoice::of(recipe),
    };
    layers.read_plain("classical", &schema::CLASSICAL, &mut chosen.classical)?;
    layers.read_plain("sample", &schema::SAMPLE, &mut chosen.sampling)?;
    layers.read_plain("deeponet", &schema::DEEPONET, &mut chosen.deeponet)?;
    layers.read_plain("fno", &schema::FNO, &mut chosen.fno)?;
    Ok(chosen)
}

/// The recipe that a problem states, or the fast one.
pub(crate) fn read_recipe(tree: &Table) -> Result<Recipe> {
    match sub_table(tree, "train", "recipe")? {
        Some(node) => choice(node, "recipe", Recipe::ALL),
        None => Ok(Recipe::Fast),
    }
}

/// A key of a top-level table, if it is stated.
fn sub_table<'a>(tree: &'a Table, name: &str, sub: &str) -> Result<Option<&'a Node>> {
    match tree.get(name) {
        Some(node) => Ok(table(node, name)?.get(sub)),
        None => Ok(None),
    }
}

struct Layers<'a> {
    tree: &'a mut Table,
    context: &'a Context<'a>,
    recipe: Recipe,
}

impl Layers<'_> {
    fn states(&self, table: &str, key: &str) -> bool {
        matches!(sub_table(self.tree, table, key), Ok(Some(_)))
    }

    /// Reads a table that has sub-tables for recipes.
    fn read<T: Clone>(
        &mut self,
        name: &str,
        [whole, under_recipe]: [&TableSchema; 2],
        settings: &mut T,
        read: impl Fn(&Reader<'_>, &Context<'_>, &mut T) -> Result<()>,
    ) -> Result<()> {
        // The other recipe's sub-table is read too, so that its mistakes do not lie in wait.
        for recipe in Recipe::NAMES {
            if let Some(node) = sub_table(self.tree, name, recipe)? {
                let path = format!("{name}.{recipe}");
                let reader = Reader::of(node, &path, self.context.constants, &under_recipe.names())?;
                read(&reader, self.context, &mut settings.clone())?;
            }
        }
        self.tree.choose(name, Recipe::NAMES, self.recipe.name());
        let Some(node) = self.tree.get(name) else { return Ok(()) };
        read(&Reader::of(node, name, self.context.constants, &whole.names())?, self.context, settings)
    }

    fn read_plain<T: Settings>(&self, name: &str, schema: &TableSchema, settings: &mut T) -> Result<()> {
        let Some(node) = self.tree.get(name) else { return Ok(()) };
        let reader = Reader::of(node, name, self.context.constants, &schema.names())?;
        read_over(&reader, self.context, settings)
    }
}

/// What says nothing about the basis is refused.
fn read_operator(reader: &Reader<'_>, context: &Context<'_>, operator: &mut OperatorChoice) -> Result<()> {
    read_over(reader, context, operator)?;
    let dictionary = &mut operator.dictionary;
    read_over(reader, context, dictionary)?;
    let Some((key, node)) = idle(reader, dictionary) else { return Ok(()) };
    let message = format!("`{key}` says nothing about the basis `{}`", dictionary.basis.name());
    let help = "`modes` belongs to `chebyshev` and `splines`, `features` and `scale` to `tanh` and `sine`";
    Err(Diagnostic::new(message, node.origin.clone()).help(help).into())
}
