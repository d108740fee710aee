//! The command line: as typed ([`Args`]), then resolved ([`Task`]).

use crate::checkpoint::Keeping;
use crate::failure::Failure;
use crate::files::PROBLEM;
use crate::guesses;
use crate::problems::{self, Shipped};
use crate::resume::{KEEP_EVERY, Resume};
use crate::statement::Statement;
use bilo::method::METHODS;
use bilo::problem::Overrides;
use bilo::{Hardware, Job, Method, method};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};
use clap_complete::Shell;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Infers the unknowns of partial differential equations from data.
#[derive(Debug, Parser)]
#[command(name = "bilo", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Infer the unknowns of a problem
    #[command(override_usage = "bilo run [OPTIONS] <FILE>\n       bilo run [OPTIONS] --resume <DIR>")]
    Run(RunArgs),
    /// Show a problem as understood, without running it
    Check(ProblemArgs),
    /// Solve the PDE alone, at stated values of the unknowns
    Solve(SolveArgs),
    /// Find how far each unknown may be from its best fit: profile likelihoods, with their intervals
    Profile(ProfileArgs),
    /// Draw from the posterior of the unknown numbers: whole distributions, checked by a second solver
    #[command(override_usage = "bilo sample [OPTIONS] <FILE>\n       bilo sample [OPTIONS] --resume <DIR>")]
    Sample(SampleArgs),
    /// Run a problem many times, with other seeds, methods and settings, and compare
    Study(StudyArgs),
    /// Compare models on the same data, or with one file the methods that solve it
    Compare(CompareArgs),
    /// Watch a run or a study in a terminal, from another one
    Watch {
        /// The folder of the run or of the study
        folder: PathBuf,
    },
    /// Watch a run or a study in a browser: a page on this machine alone
    Serve {
        /// The folder of the run or of the study
        folder: PathBuf,
        /// The port; 0 takes one that is free
        #[arg(long, value_name = "N", default_value_t = 8642)]
        port: u16,
    },
    /// Write report.html of a run's or a study's folder again, from its files
    Report(ReportArgs),
    /// List the problems that come with the program
    List,
    /// List the gallery: problems as people bring them, with their data, to run and to start from
    Gallery,
    /// Write a commented problem file to start from
    New(NewArgs),
    /// Say a problem with residuals and forms as a textbook does, by equations and conditions that hold
    Convert(ConvertArgs),
    /// Print a JSON Schema of problem files, for editors
    Schema,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages
    Man {
        /// The folder to write them into
        folder: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct ProblemArgs {
    /// A problem file, or the name of a problem that comes with the program (see `bilo list` and `bilo gallery`)
    file: PathBuf,
    /// The set of defaults to start from: paper or fast
    #[arg(long)]
    recipe: Option<String>,
    /// Replace a setting of the file, e.g. --set train.rate=0.01 (may be given several times)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Take an unknown for known, e.g. --fix D=2 (may be given several times)
    #[arg(long, value_name = "NAME=VALUE")]
    fix: Vec<String>,
    /// Begin the search elsewhere, e.g. --guess D=1.5 (may be given several times)
    #[arg(long, value_name = "NAME=VALUE")]
    guess: Vec<String>,
    /// Begin where another run ended: its folder
    #[arg(long, value_name = "DIR")]
    guess_from: Option<PathBuf>,
    /// Let the problem name files outside its own folder
    #[arg(long)]
    allow_outside: bool,
}

#[derive(Debug, clap::Args)]
struct RunArgs {
    #[command(flatten)]
    problem: Option<ProblemArgs>,
    /// Go on with a run that was stopped or killed: its folder, or a checkpoint in it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["ProblemArgs", "method", "seed", "out"])]
    resume: Option<PathBuf>,
    /// How to solve the problem
    #[arg(long, default_value = "automatic", value_parser = methods())]
    method: &'static dyn Method,
    /// Where the results go [default: runs/NAME-SEED, with the method before the seed unless it is automatic]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// End with exit code 3 if the verdict is orange, 4 if it is red
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    way: WayArgs,
}

// What single runs have in common. (Not doc comments: they would become the help of the commands.)
#[derive(Debug, clap::Args)]
struct JobArgs {
    /// Seed of everything random: networks, noise, random points
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

// What all runs have in common.
#[derive(Debug, clap::Args)]
struct WayArgs {
    /// What trains networks: cpu, cuda (an NVIDIA GPU; cuda:1 for the second), or auto (a GPU if there is one)
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = Hardware::from_str)]
    device: Hardware,
    /// Seconds between two checkpoints of networks in training
    #[arg(long, value_name = "SECONDS", default_value_t = KEEP_EVERY, value_parser = seconds)]
    checkpoint_every: f64,
    /// Write losses and unknowns as event files for TensorBoard, too
    #[arg(long)]
    tensorboard: bool,
    /// Print the result as JSON, and nothing else
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, clap::Args)]
struct SolveArgs {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Values of the unknowns, e.g. --at D=2,rho=0.5 [default: the truth, else the guess]
    #[arg(long, value_name = "NAME=VALUE,...")]
    at: Vec<String>,
    /// Nodes of the grid that is written, e.g. --grid x=401,t=101 [default: 101, 41 with three coordinates]
    #[arg(long, value_name = "NAME=COUNT,...")]
    grid: Vec<String>,
    /// Where the files go [default: runs/NAME-solve]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print what was done as JSON, and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ProfileArgs {
    #[command(flatten)]
    problem: ProblemArgs,
    /// The unknown (may be given several times) [default: all unknown numbers]
    #[arg(long = "unknown", value_name = "NAME")]
    unknowns: Vec<String>,
    /// Where the results go [default: runs/NAME-profile-SEED]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    way: WayArgs,
}

#[derive(Debug, clap::Args)]
struct SampleArgs {
    #[command(flatten)]
    problem: Option<ProblemArgs>,
    /// Go on with chains that were stopped or killed: their folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["ProblemArgs", "chains", "draws", "tuning", "seed", "out"])]
    resume: Option<PathBuf>,
    /// Chains [default: sample.chains of the problem, 4]
    #[arg(long, value_name = "N")]
    chains: Option<usize>,
    /// Draws of each chain [default: sample.draws of the problem, 1000]
    #[arg(long, value_name = "N")]
    draws: Option<usize>,
    /// Draws of each chain before, to tune it [default: sample.tuning of the problem, 1000]
    #[arg(long, value_name = "N")]
    tuning: Option<usize>,
    /// Check the posteriors: draw N truths from the prior, make data of each, and rank it in its own posterior
    /// (simulation-based calibration)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(20..))]
    sbc: Option<u32>,
    /// Draw from the prior in place of the posterior, and show what it predicts before the data have a word
    #[arg(long, conflicts_with_all = ["sbc", "resume", "chains", "tuning"])]
    prior: bool,
    /// Where the results go [default: runs/NAME-sample-SEED, with --sbc runs/NAME-sbc-SEED, with --prior
    /// runs/NAME-prior-SEED]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    way: WayArgs,
}

#[derive(Debug, clap::Args)]
struct StudyArgs {
    /// A study file: which problems, methods, recipes, settings and seeds
    file: PathBuf,
    /// Let problems name files outside their own folders
    #[arg(long)]
    allow_outside: bool,
    /// Where the results go [default: runs/NAME]; runs that are there are not repeated
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Runs at a time [default: as many as there are cores for; 4 on a GPU]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Threads of each run
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    #[command(flatten)]
    way: WayArgs,
}

#[derive(Debug, clap::Args)]
struct CompareArgs {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Further models of the same data: log-likelihood, AIC, AICc and BIC of each are compared
    #[arg(value_name = "FILE")]
    others: Vec<PathBuf>,
    /// One file only: seconds that each method has [default: as many as it needs]
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Where the results go [default: runs/NAME-compare; runs/models for several files]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    way: WayArgs,
}

#[derive(Debug, clap::Args)]
struct ReportArgs {
    /// The folder of a run or of a study
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Solve for the data loss all over the plane of a run's two unknowns, and draw its contours (961 classical solutions)
    #[arg(long)]
    contours: bool,
}

#[derive(Debug, clap::Args)]
struct NewArgs {
    /// Name of the new problem
    name: String,
    /// Start from a problem that comes with the program (see `bilo list` and `bilo gallery`)
    #[arg(long, value_name = "PROBLEM")]
    from: Option<String>,
    /// The file to write, which must not exist [default: NAME.toml]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct ConvertArgs {
    /// Problem file (TOML), which stays as it is
    file: PathBuf,
    /// Let the problem name files outside its own folder
    #[arg(long)]
    allow_outside: bool,
    /// The file to write, which must not exist [default: FILE with `-restated` in its name]
    #[arg(long, value_name = "NEW")]
    out: Option<PathBuf>,
}

/// What is to be done, with nothing left to look up.
pub(crate) enum Task {
    Run(RunTask),
    Check { statement: Statement, overrides: Overrides },
    Solve(SolveTask),
    Study(StudyTask),
    Profile(ProfileTask),
    Sample(SampleTask),
    Compare(CompareTask),
    Report { folder: PathBuf, contours: bool },
    List,
    Gallery,
    New(NewTask),
    Convert(ConvertTask),
    Watch(PathBuf),
    Serve { folder: PathBuf, port: u16 },
    Schema,
    Completions(Shell),
    Man(PathBuf),
}

pub(crate) struct RunTask {
    pub(crate) statement: Statement,
    pub(crate) overrides: Overrides,
    pub(crate) job: Job,
    /// None for the default folder, which needs the name that the problem gives itself.
    pub(crate) out: Option<PathBuf>,
    /// What it goes on with.
    pub(crate) resume: Option<Resume>,
    pub(crate) keeping: Keeping,
    pub(crate) json: bool,
    pub(crate) progress: bool,
    /// Whether a verdict that is not green is a failure.
    pub(crate) strict: bool,
}

pub(crate) struct SolveTask {
    pub(crate) statement: Statement,
    pub(crate) overrides: Overrides,
    /// `NAME=VALUE,...`; the names are those of the problem, which is not read yet.
    pub(crate) at: String,
    /// `NAME=COUNT,...`
    pub(crate) grid: String,
    /// None for the default folder, which needs the name that the problem gives itself.
    pub(crate) out: Option<PathBuf>,
    pub(crate) json: bool,
}

pub(crate) struct ProfileTask {
    pub(crate) statement: Statement,
    pub(crate) overrides: Overrides,
    pub(crate) job: Job,
    /// None for all.
    pub(crate) unknowns: Vec<String>,
    /// None for the default folder, which needs the name that the problem gives itself.
    pub(crate) out: Option<PathBuf>,
    pub(crate) keeping: Keeping,
    pub(crate) json: bool,
    pub(crate) progress: bool,
}

pub(crate) struct SampleTask {
    pub(crate) statement: Statement,
    pub(crate) overrides: Overrides,
    pub(crate) job: Job,
    /// The folder to go on in.
    pub(crate) resume: Option<PathBuf>,
    /// Truths to rank, in place of a posterior.
    pub(crate) sbc: Option<usize>,
    /// Whether the prior is drawn from, in its place.
    pub(crate) prior: bool,
    /// None for the default folder, which needs the name that the problem gives itself.
    pub(crate) out: Option<PathBuf>,
    pub(crate) keeping: Keeping,
    pub(crate) json: bool,
    pub(crate) progress: bool,
}

/// What a study is to do.
pub struct StudyTask {
    /// The study file.
    pub file: PathBuf,
    /// Whether problems may name files outside their own folders.
    pub outside: bool,
    /// None for the default folder, which needs the name that the study gives itself.
    pub out: Option<PathBuf>,
    /// Runs at a time; as many as there are cores for, unless stated.
    pub jobs: Option<usize>,
    /// Threads of each run.
    pub threads: usize,
    /// What trains networks.
    pub hardware: Hardware,
    /// What is written as a run goes.
    pub keeping: Keeping,
    /// Whether JSON is printed and nothing else.
    pub json: bool,
    /// Whether progress is shown.
    pub progress: bool,
}

pub(crate) struct CompareTask {
    pub(crate) statement: Arc<Statement>,
    /// Other models of the same data.
    pub(crate) others: Vec<Arc<Statement>>,
    pub(crate) overrides: Overrides,
    /// Of every method; its own is put in.
    pub(crate) job: Job,
    /// None for as many as each method needs.
    pub(crate) seconds: Option<f64>,
    pub(crate) keeping: Keeping,
    /// None for the default folder, which needs the name that the problem gives itself.
    pub(crate) out: Option<PathBuf>,
    pub(crate) json: bool,
    pub(crate) progress: bool,
}

pub(crate) struct NewTask {
    pub(crate) name: String,
    pub(crate) from: Option<&'static Shipped>,
    pub(crate) out: PathBuf,
}

impl Args {
    /// Finds and reads the problem that was named.
    pub(crate) fn resolve(self) -> Result<Task, Failure> {
        match self.command {
            Command::Run(args) => args.resolve().map(Task::Run),
            Command::Check(args) => {
                let (statement, overrides) = args.resolve()?;
                Ok(Task::Check { statement, overrides })
            }
            Command::Solve(args) => args.resolve().map(Task::Solve),
            Command::Profile(args) => args.resolve().map(Task::Profile),
            Command::Sample(args) => args.resolve().map(Task::Sample),
            Command::Study(args) => Ok(Task::Study(args.resolve())),
            Command::Compare(args) => args.resolve().map(Task::Compare),
            Command::Report(args) => Ok(Task::Report { folder: args.folder, contours: args.contours }),
            Command::List => Ok(Task::List),
            Command::Gallery => Ok(Task::Gallery),
            Command::New(args) => args.resolve().map(Task::New),
            Command::Convert(args) => args.resolve().map(Task::Convert),
            Command::Watch { folder } => Ok(Task::Watch(folder)),
            Command::Serve { folder, port } => Ok(Task::Serve { folder, port }),
            Command::Schema => Ok(Task::Schema),
            Command::Completions { shell } => Ok(Task::Completions(shell)),
            Command::Man { folder } => Ok(Task::Man(folder)),
        }
    }
}

impl ProblemArgs {
    fn resolve(self) -> Result<(Statement, Overrides), Failure> {
        let earlier = self.guess_from.as_deref().map(guesses::of_run).transpose()?.unwrap_or_default();
        let fixed = guesses::fixed(&self.fix)?;
        let set = [self.set, earlier, guesses::stated(&self.guess)?, fixed].concat();
        let overrides = Overrides { recipe: self.recipe, ..Overrides::of(set) };
        Ok((Statement::find(&self.file, self.allow_outside)?, overrides))
    }
}

impl RunArgs {
    fn resolve(self) -> Result<RunTask, Failure> {
        let mut job = self.job.resolve(self.method, self.way.device);
        let (statement, overrides, resume, out) = match (self.problem, self.resume) {
            (_, Some(path)) => {
                let resume = Resume::of(&path)?;
                (job.seed, job.method) = (resume.seed, resume.method);
                let out = resume.folder.clone();
                (Statement::find(&out.join(PROBLEM), false)?, Overrides::default(), Some(resume), Some(out))
            }
            (Some(problem), None) => {
                let (statement, overrides) = problem.resolve()?;
                (statement, overrides, None, self.out)
            }
            (None, None) => {
                let help = "write `bilo run FILE`, or `bilo run --resume DIR` to go on with a run";
                return Err(Failure::new("there is no problem to run").help(help));
            }
        };
        Ok(RunTask {
            statement,
            overrides,
            job,
            out,
            resume,
            strict: self.strict,
            keeping: self.way.keeping(),
            json: self.way.json,
            progress: self.way.shows_progress(),
        })
    }
}

impl JobArgs {
    fn resolve(self, method: &'static dyn Method, hardware: Hardware) -> Job {
        let threads = self.threads.map(NonZeroUsize::get);
        Job { seed: self.seed, threads, method, hardware, ..Job::default() }
    }
}

impl WayArgs {
    fn shows_progress(&self) -> bool {
        !self.json && !self.quiet
    }

    fn keeping(&self) -> Keeping {
        Keeping { every: Duration::from_secs_f64(self.checkpoint_every), tensorboard: self.tensorboard }
    }
}

impl SolveArgs {
    fn resolve(self) -> Result<SolveTask, Failure> {
        let (statement, overrides) = self.problem.resolve()?;
        let (at, grid) = (self.at.join(","), self.grid.join(","));
        Ok(SolveTask { statement, overrides, at, grid, out: self.out, json: self.json })
    }
}

pub(crate) struct ConvertTask {
    pub(crate) statement: Statement,
    pub(crate) out: PathBuf,
}

impl StudyArgs {
    fn resolve(self) -> StudyTask {
        StudyTask {
            file: self.file,
            outside: self.allow_outside,
            out: self.out,
            jobs: self.jobs.map(NonZeroUsize::get),
            threads: self.threads.get(),
            hardware: self.way.device,
            keeping: self.way.keeping(),
            progress: self.way.shows_progress(),
            json: self.way.json,
        }
    }
}

impl ProfileArgs {
    fn resolve(self) -> Result<ProfileTask, Failure> {
        let (statement, overrides) = self.problem.resolve()?;
        Ok(ProfileTask {
            statement,
            overrides,
            job: self.job.resolve(&method::Adjoint, self.way.device),
            unknowns: self.unknowns,
            out: self.out,
            keeping: self.way.keeping(),
            json: self.way.json,
            progress: self.way.shows_progress(),
        })
    }
}

impl SampleArgs {
    fn resolve(self) -> Result<SampleTask, Failure> {
        let mut job = self.job.resolve(Job::default().method, self.way.device);
        let (statement, overrides, resume) = match (self.problem, self.resume) {
            (_, Some(path)) => {
                let resume = Resume::of(&path)?;
                (job.seed, job.method) = (resume.seed, resume.method);
                let statement = Statement::find(&resume.folder.join(PROBLEM), false)?;
                (statement, Overrides::default(), Some(resume.folder))
            }
            (Some(mut problem), None) => {
                let stated = [("chains", self.chains), ("draws", self.draws), ("tuning", self.tuning)];
                let stated = stated.into_iter().filter_map(|(key, count)| Some((key, count?)));
                problem.set.extend(stated.map(|(key, count)| format!("sample.{key}={count}")));
                let (statement, overrides) = problem.resolve()?;
                (statement, overrides, None)
            }
            (None, None) => {
                let help = "write `bilo sample FILE`, or `bilo sample --resume DIR` to go on with chains";
                return Err(Failure::new("there is no problem to sample").help(help));
            }
        };
        Ok(SampleTask {
            statement,
            overrides,
            job,
            resume,
            sbc: self.sbc.map(|truths| truths as usize),
            prior: self.prior,
            out: self.out,
            keeping: self.way.keeping(),
            json: self.way.json,
            progress: self.way.shows_progress(),
        })
    }
}

impl CompareArgs {
    fn resolve(self) -> Result<CompareTask, Failure> {
        if self.seconds.is_some_and(|seconds| !(seconds > 0.0 && seconds.is_finite())) {
            return Err(Failure::new("`--seconds` must be a positive number"));
        }
        let outside = self.problem.allow_outside;
        let (statement, overrides) = self.problem.resolve()?;
        let others = self.others.iter().map(|file| Statement::find(file, outside).map(Arc::new));
        Ok(CompareTask {
            statement: Arc::new(statement),
            others: others.collect::<Result<_, Failure>>()?,
            overrides,
            job: self.job.resolve(Job::default().method, self.way.device),
            seconds: self.seconds,
            keeping: self.way.keeping(),
            out: self.out,
            progress: self.way.shows_progress(),
            json: self.way.json,
        })
    }
}

impl NewArgs {
    fn resolve(self) -> Result<NewTask, Failure> {
        let from = self.from.as_deref().map(problems::named).transpose()?;
        let out = self.out.unwrap_or_else(|| PathBuf::from(format!("{}.toml", self.name)));
        Ok(NewTask { name: self.name, from, out })
    }
}

impl ConvertArgs {
    fn resolve(self) -> Result<ConvertTask, Failure> {
        let name = self.file.to_string_lossy().into_owned();
        if !self.file.is_file() && problems::find(&name).is_some() {
            let failure = Failure::new(format!("`{name}` comes with the program and is no file"));
            return Err(failure.help(format!("`bilo new {name} --from {name}` makes one of it")));
        }
        let statement = Statement::find(&self.file, self.allow_outside)?;
        let beside = self.file.with_file_name(format!("{}-restated.toml", statement.stem()));
        Ok(ConvertTask { statement, out: self.out.unwrap_or(beside) })
    }
}

/// A time that a clock can have.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is needed".to_owned())?;
    Duration::try_from_secs_f64(seconds).map(|_| seconds).map_err(|error| error.to_string())
}

/// Lets clap list the methods in the help and in its error.
fn methods() -> impl TypedValueParser<Value = &'static dyn Method> {
    let listed = METHODS.iter().map(|method| PossibleValue::new(method.name()).help(method.about()));
    PossibleValuesParser::new(listed).try_map(|name| method::named(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn json_and_quiet_turn_progress_off() {
        for (flag, progress) in [(None, true), (Some("--json"), false), (Some("--quiet"), false)] {
            let typed = ["bilo", "run", "fisher-kpp"].into_iter().chain(flag);
            let Ok(Task::Run(task)) = Args::parse_from(typed).resolve() else {
                panic!("not a run");
            };
            assert_eq!(task.progress, progress, "{flag:?}");
        }
    }

    #[test]
    fn zero_threads_and_unknown_methods_are_usage_errors() {
        for wrong in [["--threads", "0"], ["--method", "magic"], ["--seed", "-1"]] {
            let typed = ["bilo", "run", "fisher-kpp"].into_iter().chain(wrong);
            assert!(Args::try_parse_from(typed).is_err(), "{wrong:?}");
        }
    }
}
