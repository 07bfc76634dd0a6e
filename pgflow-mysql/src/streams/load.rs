//! Rows of streams, as commands ask for them, locked.

use std::ops::DerefMut;

use pgflow_machine::log::{Owner, StreamKey, StreamNeeds, StreamRows};
use pgflow_machine::{RunStatus, StepStatus, TaskKey, TaskStatus};
use sqlx::MySqlConnection;

use super::place;
use super::read::{Found, columns};
use crate::error::Result;
use crate::load::word;
use crate::session::MySqlSession;

/// Whoever ends a step has its run locked for itself: until this transaction ends, nobody does.
const RUN: &str = "select flow, status from pgflow_runs where id = ? lock in share mode";

const TASK: &str = "
    select s.status, t.status, t.attempts
      from pgflow_steps s force index (primary)
      left join pgflow_tasks t force index (primary) on t.run = s.run and t.step = s.step and t.task_index = ?
     where s.run = ? and s.step = ? lock in share mode";

const STREAM: &str = concat!(
    "select ",
    columns!(),
    " from pgflow_streams st force index (pgflow_streams_name)
      where st.run = ? and st.name = ? and st.task_index = ? for update"
);

const WRITTEN: &str = "select next_seq from pgflow_stream_writers where stream = ? and writer = ?";

pub(crate) async fn load<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &StreamNeeds,
) -> Result<StreamRows> {
    let Some(stream) = &needs.stream else { return Ok(StreamRows::default()) };
    let owner = match stream {
        StreamKey::Task(task) => owner(session, task).await?,
        StreamKey::Named(_) => None,
    };
    let (run, name, index) = place(stream);
    let query = sqlx::query_as(STREAM).bind(run).bind(name).bind(index);
    let found: Option<Found> = query.fetch_optional(session.connection()).await?;
    let written = match (&found, &needs.writer) {
        (Some(found), Some(writer)) => {
            let query = sqlx::query_scalar(WRITTEN).bind(found.id);
            let query = query.bind(writer.to_string().into_bytes());
            query.fetch_optional(session.connection()).await?.unwrap_or(0)
        }
        _ => 0,
    };
    Ok(StreamRows { owner, stream: found.map(|found| found.row), written })
}

async fn owner<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    TaskKey { run, step, index }: &TaskKey,
) -> Result<Option<Owner>> {
    let query = sqlx::query_as(RUN).bind(run.0);
    let found: Option<(i64, String)> = query.fetch_optional(session.connection()).await?;
    let Some((flow, status)) = found else { return Ok(None) };
    let Some(step) = session.version(flow)?.plan.index(step) else { return Ok(None) };
    let run_status = word(RunStatus::from_word(&status), &status)?;
    let query = sqlx::query_as(TASK).bind(index).bind(run.0).bind(step as u64);
    let found: Option<(String, Option<String>, Option<u32>)> =
        query.fetch_optional(session.connection()).await?;
    found.map(|(step, task, attempts)| standing(run_status, &step, task, attempts)).transpose()
}

pub(super) fn standing(
    run: RunStatus,
    step: &str,
    task: Option<String>,
    attempts: Option<u32>,
) -> Result<Owner> {
    let step = word(StepStatus::from_word(step), step)?;
    let task = task.map(|text| word(TaskStatus::from_word(&text), &text)).transpose()?;
    Ok(Owner { run, step, task: task.zip(attempts) })
}
