//! What a problem is about: coordinates, given fields, unknowns, inputs, states and equations.

use super::kind::Kind::{
    self, Any, Boolean, Count, Each, Expression, List, NotNegative, Number, Pair, Positive, Table, Text, Word,
};
use super::kind::{ONE_OR_MORE, TableSchema, optional, required};
use super::{EQUATION_POINTS, NETWORK_SETTINGS};
use crate::grid::spline::Interpolation;
use crate::model::function::{FunctionBasis, RegulariserName};
use crate::model::unknown::Transform;
use crate::words::Words;
use crate::written::data::{Decimal, Missing};

/// The long form of `coordinates.NAME`.
pub(crate) static COORDINATE: TableSchema = TableSchema {
    name: "coordinate",
    title: "a coordinate",
    parts: &[&[
        required("range", Pair, "lower and upper end, the lower one first"),
        optional("time", Boolean, "`false`", "the time; at most one, and not periodic"),
        optional(
            "periodic",
            Boolean,
            "`false`",
            "the two ends are the same point: the network sees sine and cosine, grids leave the upper end out",
        ),
        optional("unit", Text, "none", "[checked](#units) in equations, and told"),
    ]],
};

/// A constant with a unit.
pub(crate) static CONSTANT: TableSchema = TableSchema {
    name: "constant",
    title: "a constant",
    parts: &[&[
        required("value", Number, "the number"),
        required("unit", Text, "[checked](#units) in equations"),
    ]],
};

/// A field of `[given]` from a file.
pub(crate) static IMAGE: TableSchema = TableSchema {
    name: "image",
    title: "an image",
    parts: &[&[
        required(
            "file",
            Text,
            "`.npy`, `.npz`, `.nii`, `.nii.gz` or `.csv`, relative to the problem file; at most 512^3 values",
        ),
        optional("array", Text, "the field's name", "the array of an `.npz`"),
        optional(
            "of",
            List(&Text),
            "all of space, in their order",
            "the coordinate of each axis of the image; axes of one value are dropped",
        )
        .said("list of coordinates"),
        optional("origin", ONE_OR_MORE, "see below", "the first node along each axis")
            .said("numbers, one per axis"),
        optional("spacing", ONE_OR_MORE, "see below", "the distance of neighbours along each axis")
            .said("numbers, one per axis"),
        optional("range", Pair, "none", "a value outside is an error, after scaling"),
        optional("scale", Number, "`1`", "multiplies the values"),
        optional(
            "interpolation",
            Word(Interpolation::NAMES),
            "`\"cubic\"`, of a `.csv` `\"linear\"`",
            "what is between the nodes",
        ),
        optional(
            "columns",
            Each(&Text),
            "the names of the coordinates and of the field",
            "of a `.csv`: what its columns are called, such as `{ t = \"time\", value = \"T_degC\" }`",
        )
        .said("table of names"),
        optional(
            "missing",
            Word(Missing::NAMES),
            "`\"error\"`",
            "of a `.csv`: whether rows without a number are left out",
        ),
        optional("decimal", Word(Decimal::NAMES), "`\".\"`", "of a `.csv`: what stands before decimals"),
    ]],
};

/// A field of `[given]` that is a diffuse domain.
pub(crate) static DIFFUSE: TableSchema = TableSchema {
    name: "diffuse",
    title: "a diffuse domain",
    parts: &[&[
        required(
            "diffuse",
            Expression,
            "where the domain is: a condition of other given fields (from files, on one grid) and constants",
        ),
        required(
            "width",
            Positive,
            "a length in units of the coordinates, at least two cells, over which the domain fades",
        ),
        optional("floor", NotNegative, "`1e-3`", "what is left far outside").said("number in [0, 1)"),
    ]],
};

/// How many numbers a vector has, along each of its axes.
const COUNTS: Kind = Any(&[Count(1, Some(1024)), List(&Count(1, Some(1024)))]);

/// `[unknown.NAME]` of a number.
pub(crate) static UNKNOWN: TableSchema = TableSchema {
    name: "unknown",
    title: "an unknown number",
    parts: &[&[
        required("guess", ONE_OR_MORE, "where the search starts").said("number; of a vector also a list"),
        optional(
            "truth",
            ONE_OR_MORE,
            "none",
            "the true value: needed for synthetic data, scores the result",
        )
        .said("number; of a vector also a list"),
        optional("count", COUNTS, "none", "makes a [vector](#vectors) of so many numbers")
            .said("count, or a list of counts"),
        optional("bounds", Pair, "none", "values it may not leave; guess and truth lie inside"),
        optional(
            "prior",
            Text,
            "none",
            "what is known of it before the data, a density of the number as stated: `normal(mean, sd)`, `lognormal(mu, sigma)` (of the logarithm), \
             `uniform(lo, hi)`, `half-normal(sd)`, `half-cauchy(scale)`, `gamma(shape, rate)`, `beta(a, b)`, \
             `inverse-gamma(shape, scale)`, `exponential(rate)`",
        ),
        optional("fixed", Boolean, "`false`", "it is known: the value is its guess, in synthetic data too"),
        optional(
            "scale",
            Positive,
            "the power of ten near the guess if equations are stated by `holds`, else `1`",
            "typical size: the method moves `NAME/scale`",
        ),
        optional(
            "transform",
            Word(Transform::NAMES),
            "`\"log\"` where only positive values make sense and equations are stated by `holds`, else `\"identity\"`",
            "what is moved: the number, or its logarithm, which keeps it positive",
        ),
        optional(
            "signed",
            Boolean,
            "`false`",
            "considers both signs of a factor of the highest derivative, of what something is divided by, or of a number of which only the square matters",
        ),
        optional(
            "rate",
            Positive,
            "`theta-rate` of `[train]`",
            "its own learning rate, in units of what is moved",
        ),
        optional("unit", Text, "none", "[checked](#units) in equations, and told"),
    ]],
};

/// `[unknown.NAME]` with `of`.
pub(crate) static FUNCTION: TableSchema = TableSchema {
    name: "function",
    title: "an unknown function",
    parts: &[&[
        required("of", List(&Text), "what it depends on").said("list of coordinates, or of one state"),
        optional(
            "range",
            Pair,
            "required for a function of a state",
            "the values of the state for which the function is wanted; outside them it is constant",
        ),
        optional(
            "form",
            Expression,
            "`\"net\"`",
            "what holds whatever `net` is: values at an end, a sign, a range; monotonic in `net`",
        )
        .said("expression of `net` and its arguments"),
        required("guess", KNOWN, "where the search starts").said("[known function](#known-functions)"),
        optional("truth", KNOWN, "none", "the true function: needed for synthetic data, scores the result")
            .said("known function"),
        optional(
            "threshold",
            Number,
            "none",
            "divides the domain in two classes: the share of it where estimate and truth are on the same side \
             is reported; needs a `truth`",
        ),
        optional(
            "grid",
            Each(&Count(2, Some(100_000))),
            "`101`; `41` for each of several",
            "where its values are held by the method `adjoint`, and where regularisers are taken",
        )
        .said("a count from 2 for each of its arguments"),
        optional(
            "basis",
            Word(FunctionBasis::NAMES),
            "`\"chebyshev\"`",
            "what `net` is a sum of under `gradient = \"exact\"`: products of Chebyshev polynomials, or of \
             cubic splines on equal cells for functions that are rough",
        ),
        optional(
            "modes",
            Each(&Count(1, Some(64))),
            "`12`; `6` for each of several",
            "how many of these along each argument; of splines three more than cells",
        )
        .said("a count, 1 to 64, for each of its arguments"),
        optional(
            "regularise",
            Table(&REGULARISE),
            "none",
            "adds `weight` times a mean over the domain to the upper-level loss",
        )
        .said("`{ kind, weight }`"),
        optional(
            "prior",
            Table(&FUNCTION_PRIOR),
            "none",
            "what is known of it before the data, in place of `regularise`: a Gaussian random field about the guess",
        )
        .said("`{ matern = { sd, length, smoothness } }`"),
        optional(
            "network",
            Table(&NETWORK_SETTINGS),
            "half as wide as that of the states",
            "the network behind `net` under `gradient = \"pointwise\"`",
        )
        .said("as [`[network]`](#network)"),
        optional("scale", Positive, "`1`", "typical size: networks of the states see `NAME/scale`"),
        optional("rate", Positive, "`theta-rate` of `[train]`", "learning rate of what is moved"),
        optional("unit", Text, "none", "[checked](#units) in equations, and told"),
    ]],
};

/// A function that is stated: an expression, or one of the ways of [`KNOWN_FUNCTION`].
const KNOWN: Kind = Any(&[Number, Table(&KNOWN_FUNCTION)]);

/// `prior` of an unknown function.
pub(crate) static FUNCTION_PRIOR: TableSchema = TableSchema {
    name: "function-prior",
    title: "`prior` of a function",
    parts: &[&[
        required("matern", Table(&MATERN), "a Gaussian random field about the guess").said("see below")
    ]],
};

/// A Gaussian random field.
pub(crate) static MATERN: TableSchema = TableSchema {
    name: "matern",
    title: "`matern`",
    parts: &[&[
        optional(
            "sd",
            Any(&[Positive, Word(&["estimate"])]),
            "`\"estimate\"`",
            "standard deviation of each value; estimated by the evidence",
        )
        .said("number or `\"estimate\"`"),
        optional(
            "length",
            Any(&[Positive, Word(&["estimate"])]),
            "`\"estimate\"`",
            "distance over which values are correlated; estimated beside an estimated `sd` only",
        )
        .said("number or `\"estimate\"`"),
        optional(
            "smoothness",
            Positive,
            "`1.5`",
            "`0.5`, `1.5` or `2.5`: continuous, once or twice differentiable",
        ),
    ]],
};

/// `regularise` of an unknown function.
pub(crate) static REGULARISE: TableSchema = TableSchema {
    name: "regularise",
    title: "`regularise`",
    parts: &[&[
        required(
            "kind",
            Word(RegulariserName::NAMES),
            "the mean of what: `\"h1\"` the square of the gradient, `\"h2\"` the squares of the second derivatives, `\"tv\"` the \
             total variation, `\"l2\"` the square of the distance from `reference`",
        ),
        required(
            "weight",
            Any(&[NotNegative, Word(&["auto"])]),
            "what it is multiplied by; `\"auto\"` lets the data choose it, by the evidence (not for `\"tv\"`)",
        )
        .said("number or `\"auto\"`"),
        optional(
            "smoothing",
            Positive,
            "`1e-3`",
            "`\"tv\"` only: it is rounded off over slopes of this size",
        ),
        optional("reference", KNOWN, "the guess", "`\"l2\"` only: what the function is held to")
            .said("[known function](#known-functions)"),
    ]],
};

/// A known function that is no expression.
pub(crate) static KNOWN_FUNCTION: TableSchema = TableSchema {
    name: "known-function",
    title: "a known function that is no expression",
    parts: &[&[
        optional("random-field", Table(&RANDOM_FIELD), "none", "a Gaussian random field")
            .said("`{ sd, length, seed }`"),
        optional(
            "value",
            Expression,
            "`\"field\"`",
            "beside `random-field`: the function, in terms of the coordinates and of the field's value, `field`",
        ),
        optional("file", Text, "none", "a [data file](#data-files) with values on a grid"),
    ]],
};

/// A random field, the same in every run.
pub(crate) static RANDOM_FIELD: TableSchema = TableSchema {
    name: "random-field",
    title: "`random-field`",
    parts: &[&[
        required("sd", Positive, "standard deviation of each value"),
        required("length", Positive, "distance over which values are correlated"),
        required("seed", Count(0, None), "each draws another field"),
    ]],
};

/// `[condition.NAME]`.
pub(crate) static CONDITION: TableSchema = TableSchema {
    name: "condition",
    title: "a condition",
    parts: &[&[
        required(
            "at",
            Each(&Any(&[Number, List(&Number)])),
            "where: coordinates and a value, or several, of each; an expression may follow unknowns",
        )
        .said("such as `{ x = 0.0 }`"),
        required(
            "holds",
            Any(&[Expression, List(&Expression)]),
            "`left = right`, as in an equation, or several",
        )
        .said("equation, or a list of them"),
        optional(
            "weight",
            NotNegative,
            "by the sizes of its terms",
            "weight in the lower-level loss, if no form holds it",
        ),
    ]],
};

/// `[input.NAME]`.
pub(crate) static INPUT: TableSchema = TableSchema {
    name: "input",
    title: "an input",
    parts: &[&[required(
        "value",
        Expression,
        "an expression of coordinates, constants and unknown numbers, finite wherever an equation holds",
    )]],
};

/// `[state.NAME]`.
pub(crate) static STATE: TableSchema = TableSchema {
    name: "state",
    title: "a state",
    parts: &[&[
        optional(
            "form",
            Expression,
            "holds what conditions fix",
            "the state in terms of `net`, coordinates, constants, given fields, unknowns and inputs",
        ),
        optional(
            "truth",
            Expression,
            "none",
            "the exact solution in terms of coordinates, constants, given fields and unknowns, if you know it",
        ),
    ]],
};

/// `[equation.NAME]`.
pub(crate) static EQUATION: TableSchema = TableSchema {
    name: "equation",
    title: "an equation",
    parts: &[&[
        optional(
            "holds",
            Any(&[Expression, List(&Expression)]),
            "none",
            "`left = right`, or several, in terms of states, their derivatives, coordinates, constants, given fields, unknowns and inputs",
        )
        .said("equation, or a list of them"),
        optional("residual", Expression, "none", "in place of `holds`: what must vanish"),
        optional("trained", Expression, "what is stated", "what vanishes for the networks instead"),
        optional(
            "points",
            Table(&EQUATION_POINTS),
            "a grid, without places where two conditions meet",
            "where it holds; a dictionary takes points of its own within them",
        )
        .said("[points](#points)"),
        optional(
            "weight",
            NotNegative,
            "`1` of a `residual`; of what `holds`, by the sizes of its terms",
            "weight of its terms in the lower-level loss",
        ),
    ]],
};
