//! New tasks.

use std::ops::DerefMut;
use std::time::Duration;

use pgflow_machine::{BULK_FROM, InputSource, Payload, Places, RunId, RunRow};
use serde::Serialize;
use serde_json::Value;
use sqlx::MySqlConnection;

use crate::claim::queue;
use crate::error::{Result, broken};
use crate::json_rows::Hex;
use crate::payloads::payloads;
use crate::session::MySqlSession;

const SINGLES: &str = "
    insert into pgflow_tasks (run, step, task_index, queue, status, ready_at)
    select unhex(k.run), k.step, 0, k.queue, 'queued', k.ready_at
      from json_table(?, '$[*]' columns (
             run char(32) path '$.run', step int path '$.step', queue bigint path '$.queue',
             ready_at bigint path '$.ready_at')) k";

/// Tasks of a map from one number on, whose elements are texts.
const ELEMENTS: &str = "
    insert into pgflow_tasks (run, step, task_index, queue, status, ready_at, input)
    select ?, ?, k.task_index, ?, 'queued',
           case when k.task_index < ? then ? else ? + (k.task_index - ?) * ? end, k.element
      from json_table(?, '$[*]' columns (
             task_index int path '$.i', element longtext character set utf8mb4 path '$.e')) k";

/// A map after a map: one task's output is another's input.
const COPIES: &str = "
    insert into pgflow_tasks (run, step, task_index, queue, status, ready_at, input)
    select ?, ?, t.task_index, ?, 'queued',
           case when t.task_index < ? then ? else ? + (cast(t.task_index as signed) - ?) * ? end, t.output
      from pgflow_tasks t where t.run = ? and t.step = ?";

/// What [`Effect::Spawn`](pgflow_machine::Effect::Spawn) says.
type Spawn = (usize, u32, InputSource, Duration);

#[derive(Serialize)]
struct Single {
    run: Hex,
    step: usize,
    queue: i64,
    ready_at: i64,
}

#[derive(Serialize)]
struct Element {
    i: u32,
    e: String,
}

/// Tasks to insert: those of single steps together.
#[derive(Default)]
pub(super) struct Spawns {
    singles: Vec<Single>,
}

impl Spawns {
    pub(super) async fn spawn<C: DerefMut<Target = MySqlConnection>>(
        &mut self,
        session: &mut MySqlSession<C>,
        (run, row): (RunId, &RunRow),
        (step, tasks, from, delay): Spawn,
    ) -> Result<()> {
        if tasks == 0 {
            return Ok(());
        }
        let (queue, places) = (queue(&row.version, step), Places::new(session.now, delay));
        let map = Map { run, step: number(step), queue, places };
        match from {
            InputSource::Run => {
                let ready_at = places.first.micros();
                self.singles.push(Single { run: Hex(run), step, queue, ready_at });
                Ok(())
            }
            InputSource::OutputElements(dep) if row.version.plan.step(dep).is_map => {
                map.copy(session, dep).await
            }
            InputSource::OutputElements(dep) => map.insert(session, Payload::StepOutput(dep)).await,
            InputSource::InputElements => map.insert(session, Payload::RunInput).await,
        }
    }

    /// Inserts what has been collected.
    pub(super) async fn flush<C: DerefMut<Target = MySqlConnection>>(
        self,
        session: &mut MySqlSession<C>,
    ) -> Result<()> {
        for part in session.json_parts(&self.singles)? {
            sqlx::query(SINGLES).bind(part).execute(session.connection()).await?;
        }
        Ok(())
    }
}

/// A step that gets a task for each element.
struct Map {
    run: RunId,
    step: u64,
    queue: i64,
    places: Places,
}

impl Map {
    /// From an array that is stored.
    async fn insert<C: DerefMut<Target = MySqlConnection>>(
        &self,
        session: &mut MySqlSession<C>,
        from: Payload,
    ) -> Result<()> {
        let array = payloads(session, &[(self.run, from)]).await?.remove(&(self.run, from));
        let Some(Value::Array(array)) = array else {
            return Err(broken("a map's elements are not an array"));
        };
        let element = |(i, element): (u32, Value)| Element { i, e: element.to_string() };
        let elements: Vec<_> = (0..).zip(array).map(element).collect();
        for part in session.json_parts(&elements)? {
            let query = self.bind(sqlx::query(ELEMENTS));
            query.bind(part).execute(session.connection()).await?;
        }
        Ok(())
    }

    /// From what the tasks of another map put out.
    async fn copy<C: DerefMut<Target = MySqlConnection>>(
        &self,
        session: &mut MySqlSession<C>,
        dep: usize,
    ) -> Result<()> {
        let query = self.bind(sqlx::query(COPIES)).bind(self.run.0).bind(number(dep));
        query.execute(session.connection()).await?;
        Ok(())
    }

    fn bind<'q>(&self, query: Query<'q>) -> Query<'q> {
        let Places { first, bulk, ahead } = self.places;
        let query = query.bind(self.run.0).bind(self.step).bind(self.queue);
        let bulk_from = i64::from(BULK_FROM);
        let query = query.bind(bulk_from).bind(first.micros()).bind(bulk.micros());
        query.bind(bulk_from).bind(ahead)
    }
}

type Query<'q> = sqlx::query::Query<'q, sqlx::MySql, sqlx::mysql::MySqlArguments>;

/// A step's number, as a parameter.
fn number(step: usize) -> u64 {
    u64::try_from(step).unwrap_or(u64::MAX)
}
