//! Text of a kernel in the making.

use std::fmt::Write;

/// Lines of code with their indentation.
#[derive(Default)]
pub(super) struct Code {
    text: String,
    depth: usize,
}

impl Code {
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let indent = 4 * self.depth;
        writeln!(self.text, "{:indent$}{}", "", line.as_ref()).expect("a string takes any text");
    }

    /// What `body` writes, between a line with an opening brace and a closing one.
    pub(super) fn block(&mut self, head: impl AsRef<str>, body: impl FnOnce(&mut Self)) {
        self.line(format!("{} {{", head.as_ref()));
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line("}");
    }

    /// A loop of all threads over the points of a tile, and the barrier after it.
    pub(super) fn each_point(&mut self, points: usize, body: impl FnOnce(&mut Self)) {
        self.block(format!("EACH(p, {points})"), body);
        self.barrier();
    }

    /// All threads wait for each other.
    pub(super) fn barrier(&mut self) {
        self.line("__syncthreads();");
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// A number as C++ writes it.
pub(super) fn number(value: f64) -> String {
    number_as("real", value)
}

/// A number of a type.
pub(super) fn number_as(real: &str, value: f64) -> String {
    match value {
        _ if value.is_nan() => format!("({real})NAN"),
        _ if value.is_infinite() => format!("({real}){}INFINITY", if value < 0.0 { "-" } else { "" }),
        _ => format!("({real}){value:e}"),
    }
}
