//! The names of the files in the folders of runs, solutions and studies.

/// The problem as it ran.
pub const PROBLEM: &str = "problem.toml";
/// Which run a folder is of: version, method, seed, recipe and command.
pub const RUN: &str = "run.json";
/// Profile likelihoods.
pub const PROFILE: &str = "profile.json";
/// What was learnt of a posterior.
pub const POSTERIOR: &str = "posterior.json";
/// Its draws, for people and spreadsheets.
pub const DRAWS: &str = "draws.csv";
/// Its draws, for ArviZ and xarray.
pub const POSTERIOR_STORE: &str = "posterior.zarr";
/// What priors predict before the data.
pub const PRIOR: &str = "prior.json";
/// The draws, for ArviZ and xarray.
pub const PRIOR_STORE: &str = "prior.zarr";
/// Priors and predictions as a drawing.
pub const PRIOR_PICTURE: &str = "prior.svg";
/// How drawn truths lie in their posteriors.
pub const CALIBRATION: &str = "calibration.json";
/// The same as a drawing.
pub const CALIBRATION_PICTURE: &str = "calibration.svg";
/// Each of them, a line of JSON.
pub const RANKS: &str = "ranks.jsonl";
/// Losses and unknowns over the steps.
pub const HISTORY: &str = "history.csv";
/// Solutions and unknown functions as arrays.
pub const FIELDS: &str = "fields.npz";
/// The data loss over the plane of two unknowns.
pub const LOSSES: &str = "losses.npz";
/// Its array there.
pub const DATA_LOSS: &str = "data_loss";
/// What a run came to.
pub const OUTCOME: &str = "outcome.json";
/// The page to read.
pub const REPORT: &str = "report.html";
/// One that is being written.
pub const UNFINISHED_REPORT: &str = "report.part";
/// The figures of a study.
pub const STUDY: &str = "study.json";
/// The fields of `bilo solve` for people and spreadsheets.
pub const TABLE: &str = "fields.csv";

/// Whether a name that a problem file states can be that of an observation or a picture: no path made from it leads elsewhere.
pub fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// The file of an observation: the data, and what the solutions say instead.
pub fn fit_file(observation: &str) -> String {
    format!("fit-{observation}.csv")
}

/// What the names of the files of predictions begin with.
pub const PREDICTIVE: &str = "predictive-";

/// The file of an observation with what a posterior predicts of it.
pub fn predictive_file(observation: &str) -> String {
    format!("{PREDICTIVE}{observation}.csv")
}

/// The file of a picture.
pub fn picture_file(name: &str) -> String {
    format!("{name}.svg")
}
