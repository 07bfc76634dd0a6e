//! What happened in a run, as it was recorded.

use pgflow_machine::wait::WaitKind;
use pgflow_machine::{Event, Happened, RunId, SkipReason, Timestamp};
use serde_json::{Map, Value};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::engine::Lane;
use super::error::{translate, unexpected};
use super::open::Postgres;
use pgflow_backend::backend::BackendError;

const EVENTS: &str =
    "select seq, event_type, step_slug, payload, (extract(epoch from at) * 1000000)::bigint as at
   from pgflow.read_events($1, $2, $3)";

impl Postgres {
    pub(super) async fn read_events(
        &self,
        run: RunId,
        after: u64,
        max: u32,
    ) -> Result<Vec<Event>, BackendError> {
        // Numbers are ints in the database: there is nothing after the last of them.
        let Ok(after) = i32::try_from(after) else { return Ok(Vec::new()) };
        let max = super::claim::int(max);
        let statement = || sqlx::query(EVENTS).bind(run.0).bind(after).bind(max);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().map(event).collect()
    }
}

fn event(row: &PgRow) -> Result<Event, BackendError> {
    let get = |error| translate(error);
    let seq: i32 = row.try_get("seq").map_err(get)?;
    let kind: &str = row.try_get("event_type").map_err(get)?;
    let step: Option<String> = row.try_get("step_slug").map_err(get)?;
    let payload: Value = row.try_get("payload").map_err(get)?;
    let at = Timestamp::from_micros(row.try_get("at").map_err(get)?);
    let Value::Object(payload) = payload else {
        return Err(unexpected(format_args!("an event without a payload: `{kind}`")));
    };
    let what = happened(kind, step, payload)
        .ok_or_else(|| unexpected(format_args!("an event it does not know: `{kind}`")))?;
    Ok(Event { seq: u64::from(seq.unsigned_abs()), at, what })
}

fn happened(kind: &str, step: Option<String>, mut payload: Map<String, Value>) -> Option<Happened> {
    let mut take = |key: &str| payload.remove(key).unwrap_or_default();
    Some(match (kind, step) {
        ("run:started", None) => Happened::RunStarted { input: take("input") },
        ("run:completed", None) => Happened::RunCompleted { output: take("output") },
        ("run:failed", None) => Happened::RunFailed { error: text(take("error_message")) },
        ("run:cancelled", None) => Happened::RunCancelled { reason: text(take("reason")) },
        ("run:retried", None) => Happened::RunRetried,
        ("step:started", Some(step)) => {
            let tasks = take("remaining_tasks").as_u64()?;
            Happened::StepStarted { step, tasks: u32::try_from(tasks).ok()? }
        }
        ("step:completed", Some(step)) => Happened::StepCompleted { step, output: take("output") },
        ("step:failed", Some(step)) => {
            Happened::StepFailed { step, error: text(take("error_message")).unwrap_or_default() }
        }
        ("step:skipped", Some(step)) => {
            let reason = SkipReason::from_word(take("skip_reason").as_str()?)?;
            Happened::StepSkipped { step, reason, error: text(take("error_message")) }
        }
        ("step:waiting", Some(step)) => {
            let until = take("until").as_i64().map(Timestamp::from_micros);
            let on = WaitKind::from_word(take("on").as_str()?)?;
            Happened::StepWaiting { step, index: index(&take("task_index"))?, on, until }
        }
        ("step:signalled", Some(step)) => {
            Happened::StepSignalled { step, index: index(&take("task_index"))? }
        }
        ("step:signal_dropped", Some(step)) => Happened::StepSignalDropped {
            step,
            index: index(&take("task_index"))?,
            path: text(take("path"))?,
            message: text(take("message"))?,
        },
        ("step:woken", Some(step)) => {
            Happened::StepWoken { step, index: index(&take("task_index"))? }
        }
        ("step:wait_timed_out", Some(step)) => {
            Happened::StepWaitTimedOut { step, index: index(&take("task_index"))? }
        }
        _ => return None,
    })
}

fn index(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|index| u32::try_from(index).ok())
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(kind: &str, step: Option<&str>, payload: Value) -> Option<Happened> {
        let Value::Object(payload) = payload else { unreachable!() };
        happened(kind, step.map(Into::into), payload)
    }

    #[test]
    fn integers_of_64_bits_are_exact() {
        let input = json!({ "u": u64::MAX, "i": i64::MIN });
        let event = read("run:started", None, json!({ "input": input }));
        assert_eq!(event, Some(Happened::RunStarted { input }));
    }

    #[test]
    fn what_may_be_missing_may_be_missing() {
        assert_eq!(read("run:failed", None, json!({})), Some(Happened::RunFailed { error: None }));
        let output = Value::Null;
        assert_eq!(read("run:completed", None, json!({})), Some(Happened::RunCompleted { output }));
        assert_eq!(read("step:started", None, json!({ "remaining_tasks": 1 })), None);
        assert_eq!(read("step:exploded", Some("s"), json!({})), None);
    }
}
