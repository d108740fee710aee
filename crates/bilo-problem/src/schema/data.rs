//! Points, observations and pictures.

use super::kind::Kind::{
    self, Any, Count, Each, Expression, List, NotNegative, Number, Positive, Table, Text, Word,
};
use super::kind::{Key, ONE_OR_MORE, TableSchema, optional, required};
use crate::model::likelihood::{LikelihoodName, RobustLoss};
use crate::words::Words;
use crate::written::data::{Decimal, Missing};

/// What the points of equations and of synthetic data have in common.
const POINTS: &[Key] = &[
    optional(
        "grid",
        Each(&Count(2, None)),
        "none",
        "equidistant values of each coordinate named, in row-major order",
    )
    .said("table of counts ≥ 2"),
    optional(
        "random",
        Count(0, None),
        "none",
        "so many random points over the coordinates that are not held",
    ),
    optional(
        "sobol",
        Count(0, Some(65536)),
        "none",
        "so many points of a scrambled Sobol sequence over them",
    ),
    optional(
        "file",
        Text,
        "none",
        "a [data file](#data-files) with the coordinates; other columns are ignored",
    ),
    optional(
        "at",
        Each(&ONE_OR_MORE),
        "none",
        "holds coordinates; several values repeat the points for each. In an equation also an expression of \
         unknown numbers, in the domain at the guess and at the truth: the points follow these",
    )
    .said("table of numbers or lists of numbers"),
    optional(
        "where",
        Expression,
        "none",
        "keeps the points where it is true; coordinates, constants, given fields and unknown numbers, which \
         stand for their guess",
    ),
];

/// `points` of an equation.
pub(crate) static EQUATION_POINTS: TableSchema = TableSchema {
    name: "points",
    title: "points",
    parts: &[
        POINTS,
        &[
            optional(
                "resample",
                Count(1, None),
                "never; `1` with `batch`",
                "equations only: other points every so many steps of training",
            ),
            optional(
                "batch",
                Count(1, None),
                "all",
                "equations only: so many of the points at a time, spread over all of them; other ones at every \
                 step, or as `resample` says",
            ),
        ],
    ],
};

/// `[observation.NAME]`.
pub(crate) static OBSERVATION: TableSchema = TableSchema {
    name: "observation",
    title: "an observation",
    parts: &[&[
        optional(
            "value",
            Expression,
            "the state, if there is one only",
            "what was observed, in terms of states, derivatives, coordinates, constants, given fields, unknowns \
             and inputs",
        ),
        required("data", Table(&DATA), "the observed values").said("see below"),
        optional(
            "sigma",
            Any(&[Positive, Word(&["estimate"])]),
            "the column `sigma` of the data, the `noise` of synthetic ones, else `\"estimate\"`",
            "standard deviation of the errors, all alike; `\"estimate\"` finds it with the unknowns",
        )
        .said("number or `\"estimate\"`"),
        optional(
            "weight",
            NotNegative,
            "`1`",
            "multiplies its log-likelihood, for data that are to count for more or for less than their errors say",
        ),
        optional("unit", Text, "none", "of the data: [checked](#units) against what is observed"),
        optional(
            "likelihood",
            Any(&[LIKELIHOODS, Table(&LIKELIHOOD)]),
            "`\"gaussian\"`",
            "how the data speak of the value",
        )
        .said("[a word or a table](#likelihoods)"),
    ]],
};

/// What a column of a row may say.
const ROWS: Kind = Any(&[Text, Number, List(&Any(&[Text, Number]))]);

/// `data` of an observation.
pub(crate) static DATA: TableSchema = TableSchema {
    name: "data",
    title: "`data`",
    parts: &[&[
        optional(
            "synthetic",
            Table(&SYNTHETIC),
            "none",
            "data made by the reference solver; `{}` for the particles of a Poisson process",
        ),
        optional("file", Text, "none", "a [data file](#data-files)"),
        optional("at", Each(&Number), "none", "beside `file`: the values of coordinates that it lacks")
            .said("table of numbers"),
        optional(
            "columns",
            Each(&Text),
            "the names of the coordinates, `value` and `sigma`",
            "beside `file`: what it calls them, such as `{ value = \"T_degC\", t = \"time\" }`",
        )
        .said("table of names"),
        optional(
            "origin",
            Each(&Number),
            "none",
            "beside `file`: what is subtracted from the columns of coordinates, such as a first time stamp",
        )
        .said("table of numbers"),
        optional(
            "rows",
            Each(&ROWS),
            "all",
            "beside a `.csv` file: the rows to take, by what other columns of it say, such as `{ dish = \"A\" }` or `{ dose = [5, 10] }`",
        )
        .said("table of words or numbers, or lists of such"),
        optional(
            "missing",
            Word(Missing::NAMES),
            "`\"error\"`",
            "beside a `.csv` file: whether rows without a number, or with `NA` or `nan`, are left out",
        ),
        optional(
            "decimal",
            Word(Decimal::NAMES),
            "`\".\"`",
            "beside a `.csv` file: what stands before decimals",
        ),
    ]],
};

/// `synthetic` data.
pub(crate) static SYNTHETIC: TableSchema = TableSchema {
    name: "synthetic",
    title: "`synthetic`",
    parts: &[
        POINTS,
        &[
            optional(
                "noise",
                NotNegative,
                "`0`",
                "standard deviation of added Gaussian noise, from the seed of the run",
            ),
            optional(
                "value",
                Expression,
                "the observation's",
                "what the data are made of, where that is something else than what is observed",
            ),
            optional(
                "field",
                Table(&FIELD),
                "none",
                "a Gaussian random field over the space coordinates, another for every seed of the run, which `value` \
                 calls `field`",
            )
            .said("`{ sd = 1.0, length = 0.1 }`"),
        ],
    ],
};

/// The random field of synthetic data.
pub(crate) static FIELD: TableSchema = TableSchema {
    name: "field",
    title: "`field`",
    parts: &[&[
        required("sd", NotNegative, "standard deviation of each value"),
        required("length", Positive, "distance over which values are correlated"),
    ]],
};

/// Those that a word alone can name.
const LIKELIHOODS: Kind = Word(LikelihoodName::NAMES);

/// The long form of `likelihood`.
pub(crate) static LIKELIHOOD: TableSchema = TableSchema {
    name: "likelihood",
    title: "a likelihood",
    parts: &[&[
        optional("kind", LIKELIHOODS, "required without `custom`", "which one"),
        optional(
            "custom",
            Expression,
            "none",
            "in place of `kind`: what is minimised, on average over the data",
        ),
        optional(
            "loss",
            Word(RobustLoss::NAMES),
            "`\"huber\"`",
            "`\"robust\"` only: Huber's loss, or the one of Student's distribution; `\"huber\"` and `\"student\"` say it at once",
        ),
        optional(
            "threshold",
            Positive,
            "`1.345`",
            "Huber's loss only: beyond so many `sigma` it is a straight line",
        ),
        optional(
            "dispersion",
            Any(&[Positive, Word(&["estimate"])]),
            "`\"estimate\"`",
            "`\"negative-binomial\"` only: the variance of a count is mean + mean²/dispersion; `\"estimate\"` finds it with the unknowns",
        )
        .said("number or `\"estimate\"`"),
        optional(
            "trials",
            Positive,
            "a column `trials` of the data",
            "`\"binomial\"` only: of how many each datum is a part",
        ),
        optional(
            "below",
            Number,
            "what the file has as `<0.1`",
            "`\"censored\"` only: a datum at or below says that the quantity is below",
        ),
        optional(
            "above",
            Number,
            "what the file has as `>40`",
            "`\"censored\"` only: a datum at or above says that the quantity is above",
        ),
        optional("freedom", Positive, "`4`", "Student's distribution only: its degrees of freedom"),
        optional(
            "sigma",
            Positive,
            "the `noise` of synthetic data, else estimated",
            "`\"huber\"` and `\"student\"` only: the size of usual errors, where the data have no column `sigma`",
        ),
        optional(
            "snapshots",
            Positive,
            "`1`",
            "`\"poisson-process\"` only: how many there are, of which the data are all particles together",
        ),
        optional(
            "quadrature",
            Table(&QUADRATURE),
            "see below",
            "`\"poisson-process\"` only: how the integral is taken",
        ),
    ]],
};

/// The integral of a Poisson process.
pub(crate) static QUADRATURE: TableSchema = TableSchema {
    name: "quadrature",
    title: "`quadrature`",
    parts: &[&[
        optional(
            "grid",
            Each(&Count(2, Some(1_000_000))),
            "`200` for one space coordinate, `64` for each of two, `32` for each of more",
            "nodes along a coordinate: two of Gauss's in each cell, exact for cubics",
        )
        .said("table of counts ≥ 2"),
        optional(
            "at",
            Each(&ONE_OR_MORE),
            "the end of the time",
            "coordinates that are held while a snapshot is taken; several values are summed over",
        )
        .said("table of numbers or lists"),
        optional(
            "breaks",
            Any(&[ONE_OR_MORE, Each(&ONE_OR_MORE)]),
            "none",
            "where the value has a kink: cells end there. Expressions of constants and unknowns; with an \
             unknown, the break moves with it",
        )
        .said("list of places, or a table of such lists"),
    ]],
};

/// `[picture.NAME]`.
pub(crate) static PICTURE: TableSchema = TableSchema {
    name: "picture",
    title: "a picture",
    parts: &[&[
        optional(
            "axes",
            List(&Text),
            "the first two of space; `x` and `t` if there are no others",
            "to the right and upwards",
        )
        .said("two names of coordinates"),
        optional("at", Each(&Number), "the time at its end", "where every other coordinate is")
            .said("table of numbers"),
        optional(
            "background",
            Expression,
            "none",
            "in grey, from black at its least to white at its greatest value",
        ),
        optional(
            "field",
            Expression,
            "none",
            "in colours, by the network; by the classical solution for `adjoint`",
        ),
        optional("contours", List(&Table(&CONTOUR)), "none", "lines").said("list of tables"),
    ]],
};

/// One of a picture's `contours`.
pub(crate) static CONTOUR: TableSchema = TableSchema {
    name: "contour",
    title: "a contour",
    parts: &[&[
        required("value", Expression, "what passes the level"),
        required("level", Number, "the level, unknowns at their estimates")
            .said("number, or expression of constants and unknown numbers"),
        optional("data", Text, "none", "adds the contour of its values at 0.5, as of a segmentation")
            .said("name of an observation"),
        optional("name", Text, "the observation's name, or `value = level`", "for the legend"),
    ]],
};
