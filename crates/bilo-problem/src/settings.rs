//! The tables `[network]` and `[train]`.

use crate::diagnostic::Result;
use crate::model::{
    Constant, GradientMode, Levels, NetworkChoice, Recipe, Schedule, ThetaOptimiser, Training,
    WeightOptimiser,
};
use crate::schema;
use crate::tree::reader::{Reader, choice, table};
use crate::tree::{Node, Table};
use bilo_jet::{Activation, Precision};

/// Sub-tables that apply under that recipe only.
pub(crate) const RECIPES: [&str; 2] = ["paper", "fast"];

/// Defaults of alternating levels: the bound of the paper's reference trajectories.
const LOWER_TOLERANCE: f64 = 1e-4;
const MAX_LOWER_STEPS: usize = 1000;

/// Reads `[network]` and `[train]`, each over the recipe's defaults and under the recipe's own
/// sub-table.
pub(crate) fn read(tree: &mut Table, constants: &[Constant]) -> Result<(NetworkChoice, Training)> {
    let recipe = read_recipe(tree)?;
    let (mut network, mut training) = recipe.defaults();
    // The other recipe's sub-tables are read too, so that their mistakes do not lie in wait.
    for name in RECIPES {
        if let Some(node) = sub_table(tree, "network", name)? {
            let path = format!("network.{name}");
            let reader = Reader::of(node, &path, constants, &schema::NETWORK_SETTINGS.names())?;
            read_network(&reader, &mut network.clone())?;
        }
        if let Some(node) = sub_table(tree, "train", name)? {
            let path = format!("train.{name}");
            let reader = Reader::of(node, &path, constants, &schema::TRAIN_SETTINGS.names())?;
            read_training(&reader, &mut training.clone())?;
        }
    }
    tree.choose("network", &RECIPES, recipe.name());
    tree.choose("train", &RECIPES, recipe.name());
    if let Some(node) = tree.get("network") {
        let reader = Reader::of(node, "network", constants, &schema::NETWORK.names())?;
        read_network(&reader, &mut network)?;
    }
    if let Some(node) = tree.get("train") {
        let reader = Reader::of(node, "train", constants, &schema::TRAIN.names())?;
        read_training(&reader, &mut training)?;
    }
    Ok((network, training))
}

/// A key of a top-level table, if it is stated.
pub(crate) fn sub_table<'a>(tree: &'a Table, name: &str, sub: &str) -> Result<Option<&'a Node>> {
    match tree.get(name) {
        Some(node) => Ok(table(node, name)?.get(sub)),
        None => Ok(None),
    }
}

fn read_recipe(tree: &Table) -> Result<Recipe> {
    match sub_table(tree, "train", "recipe")? {
        Some(node) => choice(node, "recipe", &Recipe::ALL),
        None => Ok(Recipe::Fast),
    }
}

fn set<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

pub(crate) fn read_network(reader: &Reader<'_>, network: &mut NetworkChoice) -> Result<()> {
    let activations = [
        ("tanh", Activation::Tanh),
        ("sin", Activation::Sin),
        ("softplus", Activation::Softplus),
        ("swish", Activation::Swish),
    ];
    set(&mut network.width, reader.count("width")?);
    set(&mut network.layers, reader.count("layers")?);
    set(&mut network.activation, reader.choice("activation", &activations)?);
    set(&mut network.residual, reader.boolean("residual")?);
    set(&mut network.modified, reader.boolean("modified")?);
    set(&mut network.separate, reader.boolean("separate")?);
    if let Some(node) = reader.get("fourier") {
        let path = reader.path("fourier");
        let fourier = Reader::of(node, &path, reader.constants(), &schema::FOURIER.names())?;
        let features = fourier.count("features")?.ok_or_else(|| fourier.missing("features", "64"))?;
        network.fourier = Some((features, fourier.number("scale")?.unwrap_or(1.0)));
    }
    Ok(())
}

fn read_training(reader: &Reader<'_>, training: &mut Training) -> Result<()> {
    let precisions = [("f32", Precision::F32), ("tf32", Precision::Tf32), ("f64", Precision::F64)];
    let optimisers = [
        ("adam", WeightOptimiser::Adam),
        ("soap", WeightOptimiser::Soap),
        ("lbfgs", WeightOptimiser::Lbfgs),
        ("lm", WeightOptimiser::Lm),
    ];
    let theta_optimisers = [("adam", ThetaOptimiser::Adam), ("soap", ThetaOptimiser::Soap)];
    let schedules = [("constant", Schedule::Constant), ("cosine", Schedule::Cosine)];
    let gradients = [GradientMode::Pointwise, GradientMode::Exact].map(|mode| (mode.name(), mode));
    set(&mut training.gradient, reader.choice("gradient", &gradients)?);
    set(&mut training.precision, reader.choice("precision", &precisions)?);
    set(&mut training.levels, read_levels(reader)?);
    set(&mut training.optimiser, reader.choice("optimiser", &optimisers)?);
    set(&mut training.theta_optimiser, reader.choice("theta-optimiser", &theta_optimisers)?);
    set(&mut training.schedule, reader.choice("schedule", &schedules)?);
    set(&mut training.pretrain_steps, reader.count("pretrain-steps")?);
    set(&mut training.train_steps, reader.count("train-steps")?);
    set(&mut training.rate, reader.number("rate")?);
    set(&mut training.theta_rate, reader.number("theta-rate")?);
    set(&mut training.rgrad_weight, reader.number("rgrad-weight")?);
    set(&mut training.data_weight, reader.number("data-weight")?);
    set(&mut training.lower_steps, reader.count("lower-steps")?);
    set(&mut training.inverse_steps, reader.count("inverse-steps")?);
    set(&mut training.pretrain_on_solution, reader.boolean("pretrain-on-solution")?);
    set(&mut training.settle_tolerance, reader.number("settle-tolerance")?);
    set(&mut training.settle_steps, reader.count("settle-steps")?);
    set(&mut training.time_limit, reader.number("time-limit")?.map(Some));
    set(&mut training.record_every, reader.count("record-every")?);
    Ok(())
}

fn read_levels(reader: &Reader<'_>) -> Result<Option<Levels>> {
    let alternating = Levels::Alternating {
        tolerance: reader.number("lower-tolerance")?.unwrap_or(LOWER_TOLERANCE),
        max_lower: reader.count("max-lower-steps")?.unwrap_or(MAX_LOWER_STEPS),
    };
    reader.choice("levels", &[("simultaneous", Levels::Simultaneous), ("alternating", alternating)])
}
