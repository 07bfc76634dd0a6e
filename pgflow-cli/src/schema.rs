//! `cargo pgflow schema`.

use std::process::Command;

use crate::args::{Options, Schema};
use crate::crates::{Crate, cargo};
use crate::error::Error;
use crate::out;

/// Only the compiled crate knows its schemas, so this runs the test that `pgflow::schema_test!`
/// makes there. Returns whether all of them are as the file says.
pub(crate) fn run(options: &Options, command: &Schema) -> Result<bool, Error> {
    let mut all = true;
    for one in options.crates()? {
        all &= test(&one, if command.write { "write" } else { "check" })?;
    }
    Ok(all)
}

fn test(one: &Crate, mode: &str) -> Result<bool, Error> {
    let output = Command::new(cargo())
        .current_dir(&one.dir)
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
        return Ok(false);
    }
    for line in text.lines().filter(|line| line.starts_with("pgflow.schemas.json")) {
        out::line(line)?;
    }
    Ok(output.status.success())
}
