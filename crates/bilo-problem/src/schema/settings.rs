//! How a problem is solved: the operator, the network, training, the reference solver, the audit.

use super::Kind::{Any, Boolean, Count, Each, Expression, List, NotNegative, Number, Positive, Table, Word};
use super::{Key, TableSchema, by_recipe, optional, required};

/// `[operator]`.
pub(crate) static OPERATOR: TableSchema = TableSchema {
    name: "operator",
    title: "`[operator]`",
    parts: &[
        OF_OPERATOR,
        &[
            optional("paper", Table(&OPERATOR_SETTINGS), "none", UNDER_PAPER).said(THESE),
            optional("fast", Table(&OPERATOR_SETTINGS), "none", UNDER_FAST).said(THESE),
        ],
    ],
};

const THESE: &str = "table of these settings";
const BUT_RECIPE: &str = "table of these settings but `recipe`";
const UNDER_PAPER: &str =
    "what holds under the recipe `paper` only: [layers of settings](#layers-of-settings)";
const UNDER_FAST: &str = "what holds under the recipe `fast` only";

/// `[operator.paper]` and `[operator.fast]`.
pub(crate) static OPERATOR_SETTINGS: TableSchema =
    TableSchema { name: "operator-settings", title: "`[operator]` under a recipe", parts: &[OF_OPERATOR] };

const OF_OPERATOR: &[Key] = &[
    by_recipe(
        "kind",
        Word(&["automatic", "network", "dictionary"]),
        ["`\"automatic\"`", "`\"network\"`"],
        "`\"automatic\"`: a dictionary if the solution converges in it, else a network. A stated \
         `train.gradient = \"pointwise\"` makes it a network, since a dictionary knows the exact gradient only",
    ),
    optional(
        "basis",
        Word(&["chebyshev", "splines", "tanh", "sine"]),
        "`\"chebyshev\"`",
        "products of Chebyshev polynomials or of cubic splines on equal cells (waves along periodic \
         coordinates), or ridge functions tanh(w·(x - c)), sin(w·(x - c)) with random slopes w and random \
         places c in the domain",
    ),
    optional(
        "modes",
        Each(&Count(1, Some(256))),
        "as many as it takes",
        "polynomials along a coordinate, or splines, three more than cells; of an extra [input](#inputname) \
         `2`: one, and the input itself",
    )
    .said("table of counts by coordinate or input"),
    optional("features", Count(1, Some(16384)), "as many as it takes", "number of ridge functions"),
    optional(
        "scale",
        Positive,
        "`4`",
        "largest slope of a ridge function along a coordinate scaled to [0, 1]",
    ),
    optional(
        "enrich",
        Any(&[Expression, List(&Expression)]),
        "`[]`",
        "further functions of coordinates, constants and unknowns, each with a coefficient of its own: a layer, \
         a corner function",
    )
    .said("list of expressions"),
];

/// `[network]`.
pub(crate) static NETWORK: TableSchema = TableSchema {
    name: "network",
    title: "`[network]`",
    parts: &[
        OF_NETWORK,
        &[
            optional("paper", Table(&NETWORK_SETTINGS), "none", UNDER_PAPER).said(THESE),
            optional("fast", Table(&NETWORK_SETTINGS), "none", UNDER_FAST).said(THESE),
        ],
    ],
};

/// `[network.paper]`, `[network.fast]` and the network of an unknown function.
pub(crate) static NETWORK_SETTINGS: TableSchema =
    TableSchema { name: "network-settings", title: "a network", parts: &[OF_NETWORK] };

const OF_NETWORK: &[Key] = &[
    by_recipe("width", Count(1, Some(16384)), ["`48`", "`128`"], "neurons of every hidden layer"),
    optional("layers", Count(1, Some(256)), "`2`", "square hidden layers after the first (embedding) one"),
    optional("activation", Word(&["tanh", "sin", "softplus", "swish"]), "`\"tanh\"`", "the nonlinearity"),
    optional("fourier", Table(&FOURIER), "none", "frozen random Fourier features in front")
        .said("`{ features = 64, scale = 1.0 }`"),
    by_recipe(
        "residual",
        Boolean,
        ["`true`", "`false`"],
        "adds the input of each square layer to its output",
    ),
    optional(
        "modified",
        Boolean,
        "`false`",
        "modified MLP: every square layer blends two gates computed from the input",
    ),
    optional(
        "separate",
        Boolean,
        "`false`",
        "one network for each state instead of one with several outputs",
    ),
];

/// `fourier` of a network.
pub(crate) static FOURIER: TableSchema = TableSchema {
    name: "fourier",
    title: "`fourier`",
    parts: &[&[
        required("features", Count(1, Some(16384)), "how many frequencies"),
        optional("scale", Positive, "`1`", "their standard deviation"),
    ]],
};

/// `[train]`.
pub(crate) static TRAIN: TableSchema = TableSchema {
    name: "train",
    title: "`[train]`",
    parts: &[
        OF_TRAINING,
        &[
            by_recipe(
                "recipe",
                Word(&["fast", "paper"]),
                ["", ""],
                "the column of defaults to start from; default `\"fast\"`",
            ),
            optional("paper", Table(&TRAIN_SETTINGS), "none", UNDER_PAPER).said(BUT_RECIPE),
            optional("fast", Table(&TRAIN_SETTINGS), "none", UNDER_FAST).said(BUT_RECIPE),
        ],
    ],
};

/// `[train.paper]` and `[train.fast]`.
pub(crate) static TRAIN_SETTINGS: TableSchema =
    TableSchema { name: "train-settings", title: "`[train]` under a recipe", parts: &[OF_TRAINING] };

const OF_TRAINING: &[Key] = &[
    optional(
        "precision",
        Word(&["f32", "tf32", "f64"]),
        "`\"f32\"`",
        "arithmetic of the network; `\"tf32\"` is `\"f32\"` with [products by tensor cores](gpu.md#what-happens-there) on a GPU",
    ),
    optional(
        "levels",
        Word(&["simultaneous", "alternating"]),
        "`\"simultaneous\"`",
        "how the two levels take turns",
    ),
    optional(
        "lower-tolerance",
        Positive,
        "`1e-4`",
        "alternating only: bound on the lower loss before an upper step",
    ),
    optional(
        "max-lower-steps",
        Count(1, None),
        "`1000`",
        "alternating only: most lower steps between two upper steps",
    ),
    optional(
        "optimiser",
        Word(&["adam", "soap", "lbfgs", "lm"]),
        "`\"adam\"`",
        "of the weights; `\"soap\"` is Adam in the eigenbasis of each matrix's gradients; `\"lbfgs\"` works in \
         pre-training and in alternating levels; `\"lm\"` is Levenberg-Marquardt with \
         [implicit sensitivities](fast-operators.md#networks-that-are-solved-for) in place of both levels' \
         descent",
    ),
    optional(
        "theta-optimiser",
        Word(&["adam", "soap"]),
        "`\"adam\"`",
        "of the unknowns; `\"soap\"` helps where the data see some directions far better than others, and wants \
         smaller rates",
    ),
    by_recipe(
        "schedule",
        Word(&["constant", "cosine"]),
        ["`\"cosine\"`", "`\"constant\"`"],
        "of the learning rates within each phase",
    ),
    by_recipe("pretrain-steps", Count(0, None), ["`1000`", "`10000`"], "steps at the guess"),
    by_recipe("train-steps", Count(0, None), ["`4000`", "`50000`"], "steps of both levels"),
    by_recipe("rate", Positive, ["`1e-2`", "`1e-3`"], "learning rate of the weights"),
    by_recipe("theta-rate", Positive, ["`0.01`", "`1e-3`"], "learning rate of the unknowns"),
    optional("rgrad-weight", NotNegative, "`0.1`", "weight of the residual-gradient loss"),
    optional("data-weight", NotNegative, "`1`", "`--method pinn` only: weight of the data in its one loss"),
    optional(
        "lower-steps",
        Count(0, None),
        "`64`",
        "`--method bpn` only: steps of the network before each of the unknowns",
    ),
    optional(
        "inverse-steps",
        Count(0, None),
        "`32`",
        "`--method bpn` only: Broyden iterations for the inverse Hessian",
    ),
    optional(
        "gradient",
        Word(&["pointwise", "exact"]),
        "`\"pointwise\"`",
        "which gradient moves unknown functions; with a function of a state only `\"exact\"`, which is then the \
         default",
    ),
    optional(
        "pretrain-on-solution",
        Boolean,
        "`true`",
        "pre-training also fits the classical solution at the guess",
    ),
    by_recipe(
        "settle-tolerance",
        NotNegative,
        ["`1e-6`", "`0`"],
        "converged when every unknown stays within this relative range (times the schedule's factor) over a \
         window and no loss falls; `0` turns the test off",
    ),
    by_recipe("settle-steps", Count(1, None), ["`500`", "`1000`"], "length of that window"),
    optional("time-limit", Positive, "none", "seconds after which the run stops with what it has"),
    optional("record-every", Count(1, None), "`10`", "a row of `history.csv` every so many steps"),
];

/// `[classical]`.
pub(crate) static CLASSICAL: TableSchema = TableSchema {
    name: "classical",
    title: "`[classical]`",
    parts: &[&[
        optional(
            "cells",
            Any(&[Count(2, Some(1_000_000)), Each(&Count(2, Some(1_000_000)))]),
            "`800`; `100` with two space coordinates",
            "cells of the classical grid, at most 1000000 in all",
        )
        .said("count from 2, or a table with one for each space coordinate"),
        optional(
            "steps",
            Count(1, Some(1_000_000)),
            "as `cells`",
            "time steps; for a conservation law the intervals of time at whose ends it is stored",
        ),
        optional(
            "scheme",
            Word(&["automatic", "central", "godunov"]),
            "`\"automatic\"`",
            "central differences, Godunov's scheme, or the latter for \
             [conservation laws](classical-reference.md#conservation-laws) with a speed that depends on the state",
        ),
        optional(
            "flux",
            Expression,
            "found in the residual",
            "the flux of a conservation law; asks for Godunov's scheme",
        )
        .said("expression of the state and the unknowns"),
    ]],
};

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
    parts: &[&[
        optional(
            "grid",
            Each(&Count(2, Some(100_000))),
            "101 for one coordinate, 51 each for several",
            "nodes where solutions are learned",
        )
        .said("table of counts by coordinate"),
        optional(
            "count",
            Count(2, Some(1_000_000)),
            "all combinations of the numbers' values",
            "examples drawn at random; required with functions",
        ),
        optional("seed", Count(0, None), "`0`", "of what is drawn; not that of the run"),
        required(
            "unknown",
            Each(&Any(&[Table(&SPAN), Table(&AROUND)])),
            "what is solved for, of every unknown",
        )
        .said("tables `[examples.unknown.NAME]`"),
    ]],
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

/// `[deeponet]`.
pub(crate) static DEEPONET: TableSchema = TableSchema {
    name: "deeponet",
    title: "`[deeponet]`",
    parts: &[&[
        optional("width", Count(1, Some(4096)), "`128`", "neurons of each layer"),
        optional("layers", Count(1, Some(100)), "`2`", "layers of the branch and of the trunk"),
        optional("steps", Count(0, None), "`10000`", "steps of learning"),
        optional("batch", Count(1, None), "`128`", "examples of each step"),
        optional("rate", Positive, "`1e-3`", "learning rate at the start; it falls to zero as a cosine"),
    ]],
};

/// `[fno]`.
pub(crate) static FNO: TableSchema = TableSchema {
    name: "fno",
    title: "`[fno]`",
    parts: &[&[
        optional("width", Count(2, Some(4096)), "`32`", "channels"),
        optional("layers", Count(1, Some(100)), "`4`", "layers of the operator"),
        optional(
            "modes",
            Count(1, Some(4096)),
            "`32`",
            "modes along each coordinate, negative frequencies counted",
        ),
        optional("steps", Count(0, None), "`2000`", "steps of learning"),
        optional("batch", Count(1, None), "`64`", "examples of each step"),
        optional("rate", Positive, "`3e-3`", "learning rate at the start; it falls to zero as a cosine"),
    ]],
};
