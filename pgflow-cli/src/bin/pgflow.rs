//! `pgflow`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    pgflow_cli::main()
}
