//! The tables and keys of a problem file, as data.
//!
//! This is the only list of them. The readers take the keys that they permit from here, the tables of the book's
//! chapter on the problem file are made from it, and so is the JSON Schema for editors.
//!
//! ```
//! use bilo_problem::schema::{Kind, PROBLEM};
//!
//! let train = PROBLEM.keys().find(|key| key.name == "train").unwrap();
//! let Kind::Table(train) = &train.kind else { panic!("a table") };
//! assert!(train.names().contains(&"time-limit"));
//! ```

mod data;
mod experiment;
pub(crate) mod kind;
mod settings;
mod statement;

pub(crate) use data::*;
pub(crate) use experiment::EXPERIMENT;
pub use kind::{Fallback, Key, Kind, TableSchema};
pub(crate) use settings::*;
pub(crate) use statement::*;

use Kind::{Any, Each, Expression, Number, Pair, Table, Text};
use kind::{optional, required};

/// Every table of a problem file, the file itself first.
pub fn tables() -> Vec<&'static TableSchema> {
    let mut found = vec![];
    PROBLEM.gather(&mut found);
    found
}

/// The file itself.
pub static PROBLEM: TableSchema = TableSchema {
    name: "problem",
    title: "the file",
    parts: &[&[
        required("name", Text, "names the run folder: letters, digits, `-`, `_`, `.`"),
        optional("about", Text, "empty", "one line for people"),
        required("coordinates", Each(&Any(&[Pair, Table(&COORDINATE)])), "[the domain](#coordinates)")
            .said("table `[coordinates]`"),
        optional("constants", Each(&Any(&[Number, Table(&CONSTANT)])), "none", "[named numbers](#constants)")
            .said("table `[constants]`"),
        optional(
            "given",
            Each(&Any(&[Table(&IMAGE), Table(&DIFFUSE)])),
            "none",
            "[known functions from images and tables](#given)",
        )
        .said("table `[given]`"),
        required(
            "unknown",
            Each(&Any(&[Table(&UNKNOWN), Table(&FUNCTION)])),
            "[what is to be found](#unknownname)",
        )
        .said("tables `[unknown.NAME]`"),
        optional("define", Each(&Expression), "none", "[names for expressions](#define)")
            .said("table `[define]`"),
        optional(
            "derived",
            Each(&Expression),
            "none",
            "[what follows from the unknowns](#derived), expressions of them and of constants",
        )
        .said("table `[derived]`"),
        optional(
            "input",
            Each(&Table(&INPUT)),
            "none",
            "[what networks see beside the coordinates](#inputname)",
        )
        .said("tables `[input.NAME]`"),
        optional(
            "state",
            Each(&Table(&STATE)),
            "what the equations differentiate",
            "[what the equations are about](#statename)",
        )
        .said("tables `[state.NAME]`"),
        required("equation", Each(&Table(&EQUATION)), "[what holds everywhere](#equationname)")
            .said("tables `[equation.NAME]`"),
        optional(
            "condition",
            Each(&Table(&CONDITION)),
            "none",
            "[what holds at the start, on the boundary or at a place](#conditionname)",
        )
        .said("tables `[condition.NAME]`"),
        required("observation", Each(&Table(&OBSERVATION)), "[the data](#observationname)")
            .said("tables `[observation.NAME]`"),
        optional(
            "experiment",
            Each(&Table(&EXPERIMENT)),
            "none",
            "[what differs between several experiments](#experimentname)",
        )
        .said("tables `[experiment.NAME]`"),
        optional("picture", Each(&Table(&PICTURE)), "none", "[what is drawn of the result](#picturename)")
            .said("tables `[picture.NAME]`"),
        optional("operator", Table(&OPERATOR), "its defaults", "[what stands for the solution](#operator)")
            .said("table `[operator]`"),
        optional("network", Table(&NETWORK), "its defaults", "[the network](#network)")
            .said("table `[network]`"),
        optional("train", Table(&TRAIN), "its defaults", "[how to train](#train)").said("table `[train]`"),
        optional(
            "classical",
            Table(&CLASSICAL),
            "its defaults",
            "[how the reference solver solves](#classical)",
        )
        .said("table `[classical]`"),
        optional("sample", Table(&SAMPLE), "its defaults", "[how posteriors are sampled](#sample)")
            .said("table `[sample]`"),
        optional(
            "audit",
            Table(&AUDIT),
            "none",
            "[where else the operator is held against the reference solver](#audit)",
        )
        .said("table `[audit]`"),
        optional("examples", Table(&EXAMPLES), "none", "[what neural operators learn from](#examples)")
            .said("table `[examples]`"),
        optional("deeponet", Table(&DEEPONET), "its defaults", "[the DeepONet](#deeponet-and-fno)")
            .said("table `[deeponet]`"),
        optional("fno", Table(&FNO), "its defaults", "[the Fourier neural operator](#deeponet-and-fno)")
            .said("table `[fno]`"),
    ]],
};

/// The tables of settings: how a problem is solved, and what is made of it beside.
pub(crate) const SETTINGS: [&str; 9] =
    ["operator", "network", "train", "classical", "sample", "audit", "examples", "deeponet", "fno"];
