//! New tasks.

use std::collections::BTreeMap;

use pgflow_machine::{BULK_FROM, Change, Effect, InputSource, Places, RunId, Version};
use serde_json::{Value, json};
use sqlx::SqliteConnection;

use super::definitions::queue;
use super::error::{Result, broken};
use super::payloads::parse;
use super::session::{Conn, RunRowIds, SqliteSession};

const SINGLES: &str = "
    insert into pgflow_tasks (id, step, task_index, queue, status, ready_at)
    select k.value ->> 0, k.value ->> 1, 0, k.value ->> 2, 'queued', k.value ->> 3 from json_each(?1) k";

/// Tasks from number ?7 on stand apart, see [`Places`].
///
/// Elements are JSON texts, so that no number in them passes through SQLite.
const ELEMENTS: &str = "
    insert into pgflow_tasks (id, step, task_index, queue, status, ready_at, input)
    select ?2 + k.key, ?3, k.key, ?4, 'queued', iif(k.key < ?7, ?5, ?8 + (k.key - ?7) * ?9), k.value from json_each(?1) k";

/// A map after a map: one task's output is another's input.
const COPIES: &str = "
    insert into pgflow_tasks (id, step, task_index, queue, status, ready_at, input)
    select ?2 + t.task_index, ?3, t.task_index, ?4, 'queued', iif(t.task_index < ?7, ?5, ?8 + (t.task_index - ?7) * ?9), t.output
      from pgflow_tasks t where t.id >= ?1 and t.id < ?1 + ?6
     order by t.id";

/// What [`Effect::Spawn`] says.
type Spawn = (usize, u32, InputSource, Places);

/// Tasks to insert: those of single steps together.
#[derive(Default)]
pub(super) struct Spawns {
    singles: Vec<Value>,
}

impl Spawns {
    /// Decides on the ids of all tasks to come. A step's are in a row, so that its first one says where
    /// all are.
    pub(super) async fn plan<C: Conn>(
        session: &mut SqliteSession<C>,
        changes: &BTreeMap<RunId, Change>,
    ) -> Result<Self> {
        let is_spawn = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
        if !changes.values().any(|change| change.effects.iter().any(is_spawn)) {
            return Ok(Self::default());
        }
        let last = "select coalesce(max(id), 0) from pgflow_tasks";
        let last: i64 = sqlx::query_scalar(last).fetch_one(&mut *session.connection).await?;
        let mut next = last + 1;
        for (id, change) in changes {
            let Some(place) = session.places.get_mut(id) else { continue };
            for effect in &change.effects {
                if let Effect::Spawn { step, tasks, .. } = effect {
                    place.first_tasks[*step] = Some(next);
                    next += i64::from(*tasks);
                }
            }
        }
        Ok(Self::default())
    }

    pub(super) async fn spawn(
        &mut self,
        connection: &mut SqliteConnection,
        version: &Version,
        place: &RunRowIds,
        (step, tasks, from, ready): Spawn,
    ) -> Result<()> {
        let first =
            place.first_tasks[step].ok_or_else(|| broken("a step without tasks started"))?;
        let (queue, ready_at) = (queue(version, step), ready.first.micros());
        let (sql, of, count) = match from {
            InputSource::Run => {
                self.singles.push(json!([first, place.step_id(step), queue, ready_at]));
                return Ok(());
            }
            InputSource::OutputElements(dep) if version.plan.step(dep).is_map => {
                let parent = place.first_tasks[dep].ok_or_else(|| broken("a map has no tasks"))?;
                (COPIES, Bound::Id(parent), Some(tasks))
            }
            from => (ELEMENTS, Bound::Texts(elements(connection, place, from).await?), None),
        };
        let query = match of {
            Bound::Id(id) => sqlx::query(sql).bind(id),
            Bound::Texts(texts) => sqlx::query(sql).bind(texts),
        };
        let query = query.bind(first).bind(place.step_id(step)).bind(queue).bind(ready_at);
        let query = query.bind(count).bind(BULK_FROM).bind(ready.bulk.micros()).bind(ready.ahead);
        query.execute(connection).await?;
        Ok(())
    }

    /// Inserts what has been collected.
    pub(super) async fn flush(&mut self, connection: &mut SqliteConnection) -> Result<()> {
        if !self.singles.is_empty() {
            let rows = Value::Array(std::mem::take(&mut self.singles));
            sqlx::query(SINGLES).bind(rows.to_string()).execute(connection).await?;
        }
        Ok(())
    }
}

enum Bound {
    Id(i64),
    Texts(String),
}

/// The elements that a map works on, as a JSON array of JSON texts.
async fn elements(
    connection: &mut SqliteConnection,
    place: &RunRowIds,
    from: InputSource,
) -> Result<String> {
    let (sql, id) = match from {
        InputSource::OutputElements(dep) => {
            ("select output from pgflow_steps where id = ?", place.step_id(dep))
        }
        _ => ("select input from pgflow_run_data where run = ?", place.id),
    };
    let text: Option<String> = sqlx::query_scalar(sql).bind(id).fetch_one(connection).await?;
    match parse(text.as_deref().unwrap_or("null"))? {
        Value::Array(elements) => {
            let texts: Vec<_> = elements.iter().map(Value::to_string).collect();
            serde_json::to_string(&texts).map_err(broken)
        }
        _ => Err(broken("a map's elements are not an array")),
    }
}
