//! How a problem is solved: tables of settings, whose keys are those of [`crate::settings`].

use super::kind::Kind::{Any, Count, Each, List, Number, Positive, Table, Word};
use super::kind::{Key, TableSchema, by_recipe, optional, required};
use crate::settings::{
    Classical, DeepOnetChoice, DictionaryChoice, Examples, FnoChoice, NetworkChoice, OperatorChoice, Recipe,
    SampleOptions, Settings, Training,
};
use crate::words::Words;

/// The sub-tables of a table of settings that hold under one recipe only.
const fn recipes(settings: &'static TableSchema, these: &'static str) -> [Key; 2] {
    [
        optional("paper", Table(settings), "none", UNDER_PAPER).said(these),
        optional("fast", Table(settings), "none", "what holds under the recipe `fast` only").said(these),
    ]
}

const THESE: &str = "table of these settings";
const BUT_RECIPE: &str = "table of these settings but `recipe`";
const UNDER_PAPER: &str =
    "what holds under the recipe `paper` only: [layers of settings](#layers-of-settings)";

/// `[operator]`.
pub(crate) static OPERATOR: TableSchema = TableSchema {
    name: "operator",
    title: "`[operator]`",
    parts: &[OperatorChoice::KEYS, DictionaryChoice::KEYS, &recipes(&OPERATOR_SETTINGS, THESE)],
};

/// `[operator.paper]` and `[operator.fast]`.
pub(crate) static OPERATOR_SETTINGS: TableSchema = TableSchema {
    name: "operator-settings",
    title: "`[operator]` under a recipe",
    parts: &[OperatorChoice::KEYS, DictionaryChoice::KEYS],
};

/// `[network]`.
pub(crate) static NETWORK: TableSchema = TableSchema {
    name: "network",
    title: "`[network]`",
    parts: &[NetworkChoice::KEYS, &recipes(&NETWORK_SETTINGS, THESE)],
};

/// `[network.paper]`, `[network.fast]` and the network of an unknown function.
pub(crate) static NETWORK_SETTINGS: TableSchema =
    TableSchema { name: "network-settings", title: "a network", parts: &[NetworkChoice::KEYS] };

/// `[train]`.
pub(crate) static TRAIN: TableSchema = TableSchema {
    name: "train",
    title: "`[train]`",
    parts: &[
        Training::KEYS,
        &[by_recipe(
            "recipe",
            Word(Recipe::NAMES),
            || [String::new(), String::new()],
            "the column of defaults to start from; default `\"fast\"`",
        )],
        &recipes(&TRAIN_SETTINGS, BUT_RECIPE),
    ],
};

/// `[train.paper]` and `[train.fast]`.
pub(crate) static TRAIN_SETTINGS: TableSchema =
    TableSchema { name: "train-settings", title: "`[train]` under a recipe", parts: &[Training::KEYS] };

/// `[classical]`.
pub(crate) static CLASSICAL: TableSchema =
    TableSchema { name: "classical", title: "`[classical]`", parts: &[Classical::KEYS] };

/// `[sample]`.
pub(crate) static SAMPLE: TableSchema =
    TableSchema { name: "sample", title: "`[sample]`", parts: &[SampleOptions::KEYS] };

/// `[deeponet]`.
pub(crate) static DEEPONET: TableSchema =
    TableSchema { name: "deeponet", title: "`[deeponet]`", parts: &[DeepOnetChoice::KEYS] };

/// `[fno]`.
pub(crate) static FNO: TableSchema = TableSchema { name: "fno", title: "`[fno]`", parts: &[FnoChoice::KEYS] };

/// `[audit]`.
pub(crate) static AUDIT: TableSchema = TableSchema {
    name: "audit",
    title: "`[audit]`",
    parts: &[&[optional(
        "near",
        List(&Each(&Number)),
        "none",
        "values of unknowns beside the guess, such as `[{ D = 1.5 }]`, where the local operator of the guess is \
         [held against the classical solution](audit.md#how-far-does-the-operator-reach)",
    )
    .said("list of tables of numbers, or of expressions for functions")]],
};

/// `[examples]`.
pub(crate) static EXAMPLES: TableSchema = TableSchema {
    name: "examples",
    title: "`[examples]`",
    parts: &[
        &[optional(
            "grid",
            Each(&Count(2, Some(100_000))),
            "101 for one coordinate, 51 each for several",
            "nodes where solutions are learned",
        )
        .said("table of counts by coordinate")],
        Examples::KEYS,
        &[required(
            "unknown",
            Each(&Any(&[Table(&SPAN), Table(&AROUND)])),
            "what is solved for, of every unknown",
        )
        .said("tables `[examples.unknown.NAME]`")],
    ],
};

/// The values of a number in examples.
pub(crate) static SPAN: TableSchema = TableSchema {
    name: "span",
    title: "a number in `examples.unknown`",
    parts: &[&[
        required("from", Number, "the first value"),
        required("to", Number, "none is beyond"),
        required("step", Positive, "the distance between two"),
    ]],
};

/// The values of a function in examples.
pub(crate) static AROUND: TableSchema = TableSchema {
    name: "around",
    title: "a function in `examples.unknown`",
    parts: &[&[
        required(
            "sd",
            Positive,
            "standard deviation of the random field around the guess, whose covariance is sd² exp(-r²/(2 length²))",
        ),
        required("length", Positive, "distance over which its values are correlated"),
    ]],
};
