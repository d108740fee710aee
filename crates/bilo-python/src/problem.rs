//! A problem as stated, and what can be done with it.

use crate::error::raised;
use crate::job::JobArguments;
use crate::listener::Listener;
use crate::waiting::{quietly, wait};
use bilo::Job;
use bilo::cost::of_solve;
use bilo::forward::{solve, solve_with_slopes};
use bilo::outcome::{Fields, Outcome};
use bilo::posterior::{self, InMemory};
use bilo::problem::{Overrides, Problem};
use bilo_cli::{All, Failure, KEEP_EVERY, Keeping, Progress, Rerun, RunFolder, Signal, Statement};
use numpy::PyArray1;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A problem: its statement, settings put over it, and what both resolve to.
#[pyclass(frozen, module = "bilo._bilo")]
pub(crate) struct Stated(Arc<Inner>);

/// What a thread of its own may hold.
pub(crate) struct Inner {
    statement: Statement,
    settings: Vec<String>,
    problem: Problem,
}

impl Stated {
    /// For a thread of its own.
    pub(crate) fn shared(&self) -> Arc<Inner> {
        Arc::clone(&self.0)
    }
}

impl Inner {
    /// What is resolved.
    pub(crate) fn problem(&self) -> &Problem {
        &self.problem
    }

    fn new(statement: Statement, settings: Vec<String>) -> Result<Inner, Failure> {
        let problem = statement.problem(&Overrides::of(settings.iter().cloned()))?;
        Ok(Inner { statement, settings, problem })
    }

    fn overrides(&self) -> Overrides {
        Overrides::of(self.settings.iter().cloned())
    }

    /// A statement under settings that name files in memory: all files of the statement go there, too.
    fn with(statement: Statement, settings: Vec<String>, files: Files) -> Result<Inner, Failure> {
        if files.is_empty() {
            return Inner::new(statement, settings);
        }
        let named = bilo_cli::files_named(&statement, &Overrides::of(settings.iter().cloned()))?;
        let all = [files, named].concat();
        Inner::new(Statement::with_files(statement.name(), statement.text(), all), settings)
    }

    fn solved(&self, at: &str, grid: &str, slopes: bool) -> Result<Fields, Failure> {
        let (problem, solve) = (&self.problem, if slopes { solve_with_slopes } else { solve });
        let theta: Vec<f64> = bilo_cli::values(problem, at)?.iter().map(|stated| stated.value).collect();
        Ok(solve(problem, &theta, &bilo_cli::nodes(problem, grid)?)?.fields)
    }
}

/// What a solve costs, as predicted, that takes a tenth of a second at most: to have a thread of its own would take as long.
const SHORT: f64 = 5e5;

/// Files by the names that a statement gives them.
type Files = Vec<(String, Vec<u8>)>;

/// Axes by name.
type Axes = Vec<(String, Py<PyArray1<f64>>)>;

/// Arrays by name, each with the numbers of its axes and its values in row-major order of these.
type Arrays = Vec<(String, Vec<usize>, Py<PyArray1<f64>>)>;

/// An outcome by the text of its `outcome.json`.
pub(crate) fn read_outcome(text: &str) -> Result<Outcome, Failure> {
    Outcome::from_json(text)
        .map_err(|error| Failure::new(format!("this is not the outcome of a run: {error}")))
}

/// Reads a problem, where Ctrl-C ends the waiting.
fn read(py: Python<'_>, make: impl FnOnce() -> Result<Inner, Failure> + Send + 'static) -> PyResult<Stated> {
    Ok(Stated(Arc::new(quietly(py, &Signal::default(), make)?)))
}

#[pymethods]
impl Stated {
    /// The problem of a file, or one that comes with the program, by its name; with settings and files that these name.
    #[staticmethod]
    fn of_file(
        py: Python<'_>,
        file: PathBuf,
        allow_outside: bool,
        settings: Vec<String>,
        files: Files,
    ) -> PyResult<Stated> {
        read(py, move || Inner::with(Statement::find(&file, allow_outside)?, settings, files))
    }

    /// The problem of a text, whose data files are relative to the working directory; with settings and files that these name.
    #[staticmethod]
    fn of_text(
        py: Python<'_>,
        text: String,
        allow_outside: bool,
        settings: Vec<String>,
        files: Files,
    ) -> PyResult<Stated> {
        let statement = Statement::of_text("problem", &text, Path::new(""), allow_outside);
        read(py, move || Inner::with(statement, settings, files))
    }

    /// The problem of a text with its data files and settings.
    #[staticmethod]
    fn of_parts(
        py: Python<'_>,
        name: String,
        text: String,
        files: Files,
        settings: Vec<String>,
    ) -> PyResult<Stated> {
        read(py, move || Inner::new(Statement::with_files(&name, &text, files), settings))
    }

    /// Name, text, data files and settings: what `of_parts` takes.
    fn parts(&self, py: Python<'_>) -> PyResult<(String, String, Files, Vec<String>)> {
        let Inner { statement, settings, .. } = &*self.0;
        let inner = Arc::clone(&self.0);
        let files = quietly(py, &Signal::default(), move || {
            bilo_cli::files_named(&inner.statement, &inner.overrides())
        })?;
        Ok((statement.name().to_owned(), statement.text().to_owned(), files, settings.clone()))
    }

    /// The same problem with guesses and fixed unknowns, `NAME=VALUE`, more settings, `key=value`, and more files that these
    /// name.
    fn changed(
        &self,
        py: Python<'_>,
        guess: Vec<String>,
        fix: Vec<String>,
        settings: Vec<String>,
        files: Files,
    ) -> PyResult<Stated> {
        let inner = Arc::clone(&self.0);
        read(py, move || {
            let unknowns = [bilo_cli::stated(&guess)?, bilo_cli::fixed(&fix)?].concat();
            let all = [inner.settings.clone(), settings, unknowns].concat();
            Inner::with(inner.statement.clone(), all, files)
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.problem.name
    }

    #[getter]
    fn about(&self) -> &str {
        &self.0.problem.about
    }

    #[getter]
    fn text(&self) -> &str {
        self.0.statement.text()
    }

    /// The names of the coordinates, in their order.
    #[getter]
    fn coordinates(&self) -> Vec<&str> {
        self.0.problem.coordinates.iter().map(|coordinate| coordinate.name.as_str()).collect()
    }

    /// The unknown numbers: name, guess and truth.
    #[getter]
    fn numbers(&self) -> Vec<(&str, f64, Option<f64>)> {
        let unknowns = self.0.problem.unknowns.iter();
        unknowns.map(|unknown| (unknown.name.as_str(), unknown.guess, unknown.truth)).collect()
    }

    /// The names of the unknown functions.
    #[getter]
    fn functions(&self) -> Vec<&str> {
        self.0.problem.functions.iter().map(|function| function.name.as_str()).collect()
    }

    /// The names of the observations.
    #[getter]
    fn observations(&self) -> Vec<&str> {
        self.0.problem.observations.iter().map(|observation| observation.name.as_str()).collect()
    }

    /// What `bilo check` prints.
    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let inner = Arc::clone(&self.0);
        quietly(py, &Signal::default(), move || Ok(bilo_cli::checked(&bilo::examine(&inner.problem)?, false)))
    }

    /// Runs the problem and fills a folder, as `bilo run` does; why a checkpoint could not be kept, if one could not.
    fn run(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        job: JobArguments,
        progress: bool,
        listener: Bound<'_, PyAny>,
    ) -> PyResult<Option<String>> {
        let (inner, signal) = (Arc::clone(&self.0), Signal::default());
        let of_run = signal.clone();
        wait(py, &signal, &Listener::new(listener), move |mut teller| {
            let (job, problem) = (job.job()?, &inner.problem);
            let rerun = Rerun::of(&inner.statement, &inner.overrides(), problem, &job)?;
            let mut folder = RunFolder::new(folder, rerun)?;
            let mut shown = Progress::new(progress, of_run.clone());
            let observer = &mut All([&mut teller, &mut shown]);
            let keeping = Keeping { every: Duration::from_secs_f64(KEEP_EVERY), tensorboard: false };
            let conducted = bilo_cli::conduct(problem, &job, &mut folder, keeping, &of_run, observer)?;
            conducted.saved?;
            Ok(conducted.kept.map(|failure| failure.diagnostic().to_string()))
        })
    }

    /// Solves the equations at values of the unknowns, `NAME=VALUE,...`, on a grid, `NAME=COUNT,...`: the axes, then the arrays
    /// with the numbers of their axes.
    fn solve(&self, py: Python<'_>, at: String, grid: String, slopes: bool) -> PyResult<(Axes, Arrays)> {
        let inner = Arc::clone(&self.0);
        let is_short = of_solve(&inner.problem, &inner.problem.classical) < SHORT;
        let solve = move || inner.solved(&at, &grid, slopes);
        let fields = match is_short {
            true => py.detach(solve).map_err(|failure| raised(py, &failure))?,
            false => quietly(py, &Signal::default(), solve)?,
        };
        let array = |values: Vec<f64>| PyArray1::from_vec(py, values).unbind();
        let axes = fields.axes.into_iter().map(|(name, nodes)| (name, array(nodes)));
        let arrays = fields.arrays.into_iter().map(|field| (field.name, field.of, array(field.values)));
        Ok((axes.collect(), arrays.collect()))
    }

    /// The profile likelihoods of some unknown numbers around the outcome of a run, as the text of `profile.json`.
    fn profile(
        &self,
        py: Python<'_>,
        outcome: String,
        names: Vec<String>,
        job: JobArguments,
    ) -> PyResult<String> {
        let (inner, signal) = (Arc::clone(&self.0), Signal::default());
        let interrupt = signal.interrupt().clone();
        quietly(py, &signal, move || {
            let numbers = bilo_cli::chosen(&inner.problem, &names)?;
            let job = Job { interrupt, ..job.job()? };
            let profiles = bilo::profiles(&inner.problem, &job, &read_outcome(&outcome)?, &numbers)?;
            Ok(bilo_report::profile::json(&profiles))
        })
    }

    /// Draws from the posterior around the outcome of the run in a folder, and adds what was drawn to the folder.
    fn sample(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        outcome: String,
        job: JobArguments,
        listener: Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (inner, signal) = (Arc::clone(&self.0), Signal::default());
        let interrupt = signal.interrupt().clone();
        wait(py, &signal, &Listener::new(listener), move |teller| {
            let (job, problem) = (Job { interrupt, ..job.job()? }, &inner.problem);
            let total = (problem.sampling.tuning + problem.sampling.draws) * problem.sampling.chains;
            let watch = |progress: posterior::Progress| teller.done(progress.draws, total);
            let estimate = read_outcome(&outcome)?;
            bilo::require_estimate(&estimate)?;
            let (found, draws) = bilo::sample(problem, &job, &estimate, &InMemory::default(), &watch)?;
            bilo_report::posterior::write(&found, &draws, &folder)
                .map_err(Failure::file("write into", &folder))?;
            bilo_report::html::write(&folder)?;
            Ok(())
        })
    }
}
