//! `pgflow start`.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use pgflow_runtime::backend::Parts;
use pgflow_runtime::{Db, RunId, RunStatus};
use serde_json::{Value, json};

use crate::database::{Reach, folded, parse_duration, plain};
use crate::error::Error;
use crate::out;

/// What to start.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow start order '{\"customer\": \"Ann\"}'
  pgflow start order @order.json --key 'order 7' --wait
  echo '[1, 2, 3]' | pgflow start sums -

The input is checked against the JSON Schema that the flow's workers have noted. With `--wait` it ends with
1 if the run does not complete.")]
pub(crate) struct Start {
    /// The flow.
    flow: String,

    /// What the run is given: JSON, `@file`, or `-` for standard input [default: null]
    input: Option<String>,

    #[command(flatten)]
    reach: Reach,

    /// At most one run of the flow per key: one that is there is meant.
    #[arg(long)]
    key: Option<String>,

    /// Wait until the run has ended, and print what it put out.
    #[arg(long)]
    wait: bool,

    /// Do not wait longer than this.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "wait")]
    timeout: Option<Duration>,
}

pub(crate) async fn run(command: &Start) -> Result<bool, Error> {
    let input = read(command.input.as_deref())?;
    let db = command.reach.open().await?;
    let definition = db.definition(&command.flow).await?;
    let Some(definition) = definition else {
        return Err(Error::Refused(format!("there is no flow `{}` in {db}", command.flow)));
    };
    if let Some(schema) = &definition.input_schema {
        check(schema, &input)?;
    }
    let key = command.key.as_deref();
    let id = key.map(|key| RunId::from_key(&definition.record.flow, key));
    let (run, is_new) = db.start_by_name(&definition.record.flow, input, id).await?;
    if !command.wait {
        if command.reach.json {
            let flow = definition.record.slug;
            out::json(json!({ "run": run, "flow": flow, "is_new": is_new }))?;
        } else {
            out::line(run)?;
        }
        return Ok(true);
    }
    wait(command, &db, run).await
}

async fn wait(command: &Start, db: &Db, run: RunId) -> Result<bool, Error> {
    let Some(status) = db.wait(run, command.timeout).await? else {
        return Err(Error::Refused(format!("run {run} goes on after that time")));
    };
    let record = db.record(run, Parts::Run).await?;
    if command.reach.json {
        out::json(json!({ "run": run, "status": status, "output": record.output }))?;
    } else if let Some(output) = &record.output {
        out::line(plain(&format!("{output:#}")))?;
    } else {
        let why = db.why(run).await?;
        out::line(folded(&why.text(command.reach.moments(why.now))))?;
    }
    Ok(status == RunStatus::Completed)
}

/// JSON from an argument, a file or standard input.
pub(crate) fn read(input: Option<&str>) -> Result<Value, Error> {
    let text = match input {
        None => return Ok(Value::Null),
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|source| Error::Read { path: "-".into(), source })?;
            text
        }
        Some(input) => match input.strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|source| Error::Read { path: Path::new(path).into(), source })?,
            None => input.to_owned(),
        },
    };
    serde_json::from_str(&text)
        .map_err(|error| Error::Usage(format!("the input is not JSON: {error}")))
}

/// What does not fit the schema, with the place of each.
pub(crate) fn check(schema: &Value, input: &Value) -> Result<(), Error> {
    let validator = jsonschema::validator_for(schema).map_err(|error| {
        Error::Refused(format!("the schema that is stored cannot be used: {error}"))
    })?;
    let place = |path: &str| if path.is_empty() { "the input".to_owned() } else { path.to_owned() };
    let problems: Vec<_> = validator
        .iter_errors(input)
        .map(|error| format!("{}: {error}", place(error.instance_path().as_str())))
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::Refused(format!("the input does not fit the flow: {}", problems.join("; "))))
}
