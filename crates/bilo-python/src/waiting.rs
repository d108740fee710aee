//! Work on a thread of its own, while Python's thread waits without the interpreter's lock and looks for signals.

use crate::error::raised;
use crate::listener::{Listener, Message, Teller};
use bilo_cli::{Failure, Signal};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::any::Any;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks for signals.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How long work may take to end when it is asked to. What cannot look, a matrix that is being factorised say, is left to end
/// by itself.
const PATIENCE: Duration = Duration::from_millis(600);

/// As much as a program's main thread has.
const STACK: usize = 8 << 20;

/// Does some work that tells a listener how it goes. An exception on the way, of Ctrl-C or of the listener, ends the work.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    signal: &Signal,
    listener: &Listener<'_>,
    work: impl FnOnce(Teller) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let (sender, messages) = mpsc::channel();
    let teller = Teller::new(sender, listener.wants_steps());
    let worker = thread::Builder::new().name("bilo".to_owned()).stack_size(STACK).spawn(|| work(teller))?;
    let messages = Mutex::new(messages);
    if let Err(exception) = listen(py, &messages, listener) {
        signal.interrupt().ask();
        py.detach(|| drain(messages, Instant::now() + PATIENCE));
        if !worker.is_finished() {
            signal.keep();
        }
        return Err(exception);
    }
    match py.detach(|| worker.join()) {
        Ok(done) => done.map_err(|failure| raised(py, &failure)),
        Err(panic) => Err(PyRuntimeError::new_err(format!("a fault of bilo: {}", words(&*panic)))),
    }
}

/// Does some work that has nothing to tell.
pub(crate) fn quietly<T: Send + 'static>(
    py: Python<'_>,
    signal: &Signal,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    wait(py, signal, &Listener::none(), |_| work())
}

/// Until the work has ended, which drops the other end.
fn listen(py: Python<'_>, messages: &Mutex<Receiver<Message>>, listener: &Listener<'_>) -> PyResult<()> {
    while let Some(message) = next(py, messages)? {
        listener.hear(message)?;
    }
    Ok(())
}

/// The next message, while signals are looked for; none when the other end is gone.
pub(crate) fn next<T: Send>(py: Python<'_>, messages: &Mutex<Receiver<T>>) -> PyResult<Option<T>> {
    loop {
        py.check_signals()?;
        let wait = || messages.lock().expect("only one thread listens").recv_timeout(BETWEEN_LOOKS);
        match py.detach(wait) {
            Ok(message) => return Ok(Some(message)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Lets work end: whoever asks for an answer meanwhile gets none.
fn drain(messages: Mutex<Receiver<Message>>, deadline: Instant) {
    let messages = messages.into_inner().expect("only one thread listens");
    while messages.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok() {}
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no words")
}
