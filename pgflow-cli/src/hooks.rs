//! `pgflow ls --hooks`.

use pgflow_runtime::backend::{WaitQuery, WaitRecord, WaitingFor};
use pgflow_runtime::job::JobId;
use pgflow_runtime::{Db, HookToken, TaskKey, Timestamp};
use serde_json::{Value, json};

use crate::database::{Reach, Table, Times, flat, shapes};
use crate::error::Error;
use crate::out;

/// Tasks that wait, the oldest first.
pub(crate) async fn list(
    db: &Db,
    reach: &Reach,
    times: &Times,
    max: u32,
    after: Option<&str>,
) -> Result<(), Error> {
    let after = after.map(parse_cursor).transpose()?;
    let waits = db.waits(&WaitQuery { after, max, ..WaitQuery::default() }).await?;
    let next = waits.last().filter(|_| waits.len() == max as usize).map(cursor);
    if reach.json {
        let waits: Vec<Value> = waits.iter().map(shape).collect();
        return out::json(json!({ "waits": waits, "next": next }));
    }
    let mut table = Table::new(&["run", "step", "task", "waits for", "since", "until"]);
    for wait in &waits {
        table.row([
            wait.task.run.to_string(),
            flat(&wait.task.step),
            wait.task.index.to_string(),
            flat(&awaited(&wait.on)),
            times.at(wait.since),
            wait.until.map(|at| times.at(at)).unwrap_or_default(),
        ]);
    }
    out::text(table.text())?;
    next.map_or(Ok(()), |next| out::line(times.paint.dim(&format!("more: --after {next}"))))
}

fn awaited(on: &WaitingFor) -> String {
    match on {
        WaitingFor::Hook { token: Some(token) } => format!("an answer to {}", token.as_str()),
        WaitingFor::Hook { token: None } => "an answer".to_owned(),
        WaitingFor::Sleep => "its time".to_owned(),
        WaitingFor::Runs(runs) => format!("{} runs", runs.len()),
        WaitingFor::Jobs(jobs) => format!("{} jobs", jobs.len()),
    }
}

fn shape(wait: &WaitRecord) -> Value {
    let (kind, more) = match &wait.on {
        WaitingFor::Hook { token } => {
            ("hook", json!({ "token": token.as_ref().map(HookToken::as_str) }))
        }
        WaitingFor::Sleep => ("sleep", json!({})),
        WaitingFor::Runs(runs) => ("runs", json!({ "runs": runs })),
        WaitingFor::Jobs(jobs) => {
            ("jobs", json!({ "jobs": jobs.iter().map(JobId::as_str).collect::<Vec<_>>() }))
        }
    };
    let mut json = json!({
        "run": wait.task.run,
        "step": wait.task.step,
        "index": wait.task.index,
        "attempt": wait.attempt,
        "kind": kind,
        "since": shapes::moment(Some(wait.since)),
        "until": shapes::moment(wait.until),
    });
    if let (Value::Object(json), Value::Object(more)) = (&mut json, more) {
        json.extend(more);
    }
    json
}

fn cursor(wait: &WaitRecord) -> String {
    let TaskKey { run, step, index } = &wait.task;
    format!("{}.{run}.{index}.{step}", wait.since.micros())
}

fn parse_cursor(text: &str) -> Result<(Timestamp, TaskKey), Error> {
    let mut parts = text.splitn(4, '.');
    let read = (|| {
        let since = Timestamp::from_micros(parts.next()?.parse().ok()?);
        let (run, index) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((since, TaskKey { run, step: parts.next()?.to_owned(), index }))
    })();
    read.ok_or_else(|| Error::Usage("that is not what a page ended with".to_owned()))
}
