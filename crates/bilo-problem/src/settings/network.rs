//! `[network]`: the network behind the local operator, or behind an unknown function.

use crate::diagnostic::Result;
use crate::schema::kind::Kind::{Boolean, Count, Positive, Table, Word};
use crate::schema::kind::{TableSchema, optional, required};
use crate::settings::table::settings;
use crate::settings::value::{Context, Stated, Value, counted, in_range};
use crate::tree::reader::Reader;
use crate::words::{Words, words};
use bilo_jet::Activation;

settings! {
    /// Shape of the network.
    #[derive(Clone, Debug, PartialEq)]
    pub struct NetworkChoice {
        "width" width: usize = 48, paper 128;
            Count(1, Some(16384)), "neurons of every hidden layer";
        "layers" layers: usize = 2;
            Count(1, Some(256)), "square hidden layers after the first (embedding) one";
        "activation" activation: Activation = Activation::Tanh;
            Word(Activation::NAMES), "the nonlinearity";
        "fourier" fourier: Option<(usize, f64)> = None;
            Table(&FOURIER), "frozen random Fourier features in front", said "`{ features = 64, scale = 1.0 }`";
        "residual" residual: bool = true, paper false;
            Boolean, "adds the input of each square layer to its output";
        "modified" modified: bool = false;
            Boolean, "modified MLP: every square layer blends two gates computed from the input";
        "separate" separate: bool = false;
            Boolean, "one network for each state instead of one with several outputs";
    }
}

words!(Activation { "tanh" => Tanh, "sin" => Sin, "softplus" => Softplus, "swish" => Swish });

/// `fourier` of a network.
static FOURIER: TableSchema = TableSchema {
    name: "fourier",
    title: "`fourier`",
    parts: &[&[
        required("features", Count(1, Some(16384)), "how many frequencies"),
        optional("scale", Positive, "`1`", "their standard deviation"),
    ]],
};

/// Random Fourier features: their number, and the standard deviation of their frequencies.
impl Value for (usize, f64) {
    fn parse(stated: &Stated<'_>) -> Result<(usize, f64)> {
        let reader = Reader::of(stated.node, stated.path, stated.context.constants, &FOURIER.names())?;
        let features = counted(reader.require("features", "64")?, "features", &Count(1, Some(16384)))?;
        let Some(scale) = reader.number("scale")? else { return Ok((features, 1.0)) };
        in_range(reader.require("scale", "1.0")?, "scale", &Positive, scale)?;
        Ok((features, scale))
    }

    fn write(&self, _: &Context<'_>) -> Option<String> {
        let (features, scale) = self;
        Some(format!("{{ features = {features}, scale = {scale:?} }}"))
    }
}
