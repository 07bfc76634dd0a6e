//! `cargo pgflow schema`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::args::{Options, Schema};
use crate::crates::{Crate, cargo};
use crate::error::Error;
use crate::out::{self, Report};

/// Only the compiled crate knows what its runs store, so this runs the tests that `#[flow]` and
/// `pgflow::schema_test!` make there. Returns whether all of it is as the file says.
pub(crate) fn run(options: &Options, command: &Schema) -> Result<bool, Error> {
    let (mut all, mut report) = (true, Report::default());
    for one in options.crates()? {
        all &= test(&one, command, &mut report)?;
    }
    report.end(Ok(all))
}

fn test(one: &Crate, command: &Schema, report: &mut Report) -> Result<bool, Error> {
    let told = Told::new();
    let output = cargo_test(one, if command.write { "write" } else { "check" }, &told)?;
    let (flows, is_good) = (told.read(), output.status.success());
    if flows.is_empty() {
        explain(&output);
        return Ok(false);
    }
    for flow in &flows {
        if command.json {
            report.json(flow);
        } else {
            tell(flow, report);
        }
    }
    if !is_good && !flows.iter().any(|flow| flow["status"] == "changed") {
        explain(&output);
    }
    Ok(is_good)
}

fn cargo_test(one: &Crate, mode: &str, told: &Told) -> Result<Output, Error> {
    Command::new(cargo())
        .current_dir(&one.dir)
        .args(["test", "--quiet", "pgflow_schemas"])
        .env("PGFLOW_SCHEMAS", mode)
        .env("PGFLOW_SCHEMAS_REPORT", &told.0)
        .output()
        .map_err(|source| Error::Run { program: "cargo", source })
}

/// Why no flow has said anything, or why something else is wrong.
fn explain(output: &Output) {
    out::aside(String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        out::note(format_args!(
            "error: no flow of this crate is in pgflow.lock, and it has no test of what its flows store\n\
             help: write migrations with `cargo pgflow migrate`, or add `pgflow::schema_test!(my_flow::Flow);` beside a flow that needs none"
        ));
    } else {
        let _ = out::text(String::from_utf8_lossy(&output.stdout));
    }
}

/// What a test has reported of its flow.
fn tell(flow: &Value, report: &mut Report) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (name, status) = (text(&flow["flow"]), text(&flow["status"]));
    let said = match &*status {
        "same" => "as pgflow.schemas.json says",
        "written" => "written to pgflow.schemas.json: commit it",
        _ => "not what pgflow.schemas.json says",
    };
    report.line(format_args!("flow `{name}` version {}: {said}", flow["version"]));
    for stored in flow["stored"].as_array().into_iter().flatten() {
        let place = match stored["step"].as_str() {
            Some(step) => format!("output of step `{step}`"),
            None => "input of the run".to_owned(),
        };
        report.line(format_args!("  {place}: {}", text(&stored["readable"])));
        for change in stored["changes"].as_array().into_iter().flatten() {
            report.line(format_args!("    {}: {}", text(&change["path"]), text(&change["what"])));
        }
    }
    if status == "changed" {
        report.line(format_args!("  help: {}", advice(flow)));
    }
}

fn advice(flow: &Value) -> &'static str {
    let mut stored = flow["stored"].as_array().into_iter().flatten();
    if stored.any(|stored| stored["readable"] == "breaking") {
        "let the new type read the old form too, or give the flow another `format = …`: that is a new version, and runs in flight keep the old one; `--write` takes it over all the same"
    } else {
        "run `cargo pgflow schema --write`, and commit the file"
    }
}

/// A file that the tests write a line to per flow.
struct Told(PathBuf);

impl Told {
    fn new() -> Self {
        let name = format!("pgflow-schemas-{}.jsonl", std::process::id());
        let path = std::env::temp_dir().join(name);
        // One that a process of the same number left behind.
        let _ = fs::remove_file(&path);
        Self(path)
    }

    /// What was reported, by flow: a crate's tests may know a flow more than once.
    fn read(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let mut flows: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let key = |flow: &Value| (flow["flow"].to_string(), flow["version"].as_u64());
        flows.sort_by_cached_key(key);
        flows.dedup();
        flows
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
