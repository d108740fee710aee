//! The two streams. A reader that went away (`bilo list | head -1`) is no error.

use crate::failure::Failure;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Prints text that ends its own lines.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write to the standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Tells people what went wrong; if even that fails, the exit code still tells.
pub(crate) fn complain(failure: &Failure) {
    let mut stderr = io::stderr().lock();
    let text = failure.render(colour(&stderr));
    let _ = writeln!(stderr, "{}", text.trim_end());
}

/// Tells people something beside the result; if that fails, nothing is lost.
pub(crate) fn remark(line: &str) {
    if !line.is_empty() {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
}

/// Whether to colour what goes to a stream: on a terminal, unless <https://no-color.org> is asked for.
pub(crate) fn colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
