//! The log-density of the unknown numbers, ready to be asked again and again.

use crate::error::raised;
use crate::job::JobArguments;
use crate::problem::Stated;
use crate::waiting::next;
use bilo::Job;
use bilo::diagnostic::{Error, Result};
use bilo::posterior::at_thetas;
use bilo::problem::Problem;
use bilo_cli::{Failure, Signal};
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

/// Values of the unknown numbers, and where the answer goes: the log-density and its gradient.
type Question = (Vec<f64>, Sender<Result<(f64, Vec<f64>)>>);

/// A thread that holds the solver, with its anchor, and answers. It ends with the object.
#[pyclass(frozen, module = "bilo._bilo")]
pub(crate) struct Density {
    questions: Sender<Question>,
    worker: Mutex<Option<JoinHandle<Result<()>>>>,
    signal: Signal,
}

#[pymethods]
impl Density {
    #[new]
    fn new(problem: &Stated, job: JobArguments) -> PyResult<Density> {
        let (questions, asked) = mpsc::channel();
        let (stated, signal) = (problem.shared(), Signal::default());
        let interrupt = signal.interrupt().clone();
        let worker = thread::Builder::new().name("bilo-density".to_owned()).spawn(move || {
            let job =
                Job { interrupt, ..job.job().map_err(|failure| Error::from(failure.diagnostic().clone()))? };
            answer(stated.problem(), &job, &asked)
        })?;
        Ok(Density { questions, worker: Mutex::new(Some(worker)), signal })
    }

    /// The log-density of some values, up to a constant, and its gradient.
    fn at(&self, py: Python<'_>, thetas: Vec<f64>) -> PyResult<(f64, Vec<f64>)> {
        let (sender, answer) = mpsc::channel();
        // A thread that has ended says why.
        let _ = self.questions.send((thetas, sender));
        match next(py, &Mutex::new(answer)) {
            Ok(Some(found)) => found.map_err(|error| raised(py, &Failure::from(error))),
            Ok(None) => Err(self.why(py)),
            Err(exception) => {
                self.signal.interrupt().ask();
                Err(exception)
            }
        }
    }
}

impl Density {
    /// Why there are no answers.
    fn why(&self, py: Python<'_>) -> PyErr {
        let worker = self.worker.lock().expect("one thread asks").take();
        let ended = worker.map(|worker| py.detach(|| worker.join()));
        let failure = match ended {
            Some(Ok(Err(error))) => Failure::from(error),
            _ => Failure::new("the solver has ended"),
        };
        raised(py, &failure)
    }
}

fn answer(problem: &Problem, job: &Job, asked: &Receiver<Question>) -> Result<()> {
    bilo::with_density(problem, job, &mut |density| {
        for (thetas, reply) in asked {
            let mut gradient = vec![0.0; thetas.len()];
            let found = at_thetas(problem, density, &thetas, &mut gradient);
            // Whoever was interrupted waits no more.
            let _ = reply.send(found.map(|value| (value, gradient)));
        }
        Ok(())
    })
}
