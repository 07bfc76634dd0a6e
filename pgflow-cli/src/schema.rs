//! `cargo pgflow schema`.

use std::process::{Command, ExitCode};

use crate::args::{Options, Schema};
use crate::error::Error;

/// Only the compiled crate knows its schemas, so this runs the test that `pgflow::schema_test!`
/// makes there.
pub(crate) fn run(options: &Options, command: &Schema) -> Result<ExitCode, Error> {
    let mode = if command.write { "write" } else { "check" };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(&options.dir)
        .args(["test", "--quiet", "pgflow_schemas", "--", "--nocapture"])
        .env("PGFLOW_SCHEMAS", mode)
        .output()
        .map_err(|source| Error::Run { program: "cargo", source })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let ran = text.lines().any(|line| line.starts_with("running ") && !line.contains(" 0 test"));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    if !ran && output.status.success() {
        eprintln!(
            "error: this crate has no test of its schemas\n\
             help: add `pgflow::schema_test!(my_flow::Flow, …);` beside the flows"
        );
        return Ok(ExitCode::FAILURE);
    }
    for line in text.lines().filter(|line| line.starts_with("pgflow.schemas.json")) {
        println!("{line}");
    }
    Ok(if output.status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
