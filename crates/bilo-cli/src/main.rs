//! The program `bilo`: infers the unknowns of PDEs stated in TOML files.

use std::process::ExitCode;

fn main() -> ExitCode {
    bilo_cli::main(std::env::args_os()).into()
}
