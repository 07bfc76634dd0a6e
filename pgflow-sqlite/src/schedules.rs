//! Schedules: rows in, rows out.

use pgflow_machine::Timestamp;
use pgflow_machine::schedule::Schedule;
use serde_json::json;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row};

use crate::error::Result;
use crate::session::{Conn, SqliteSession};
use pgflow_backend::backend::{DueQuery, DueSchedules, ScheduleQuery};
use pgflow_backend::store::{ScheduleColumns, ScheduleSession, Stored};

const LOAD: &str = "select * from pgflow_schedules where name = ?";

const WRITE: &str = "
    insert or replace into pgflow_schedules (
      flow, program, input, cron, time_zone, missed, overlap, origin, status,
      paused_at, revision, after_at, next_at, queued, last_at, last_run, error, created_at, name)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const DELETE: &str = "delete from pgflow_schedules where name = ?";

const LIST: &str = "
    select * from pgflow_schedules
     where (?1 is null or name = ?1) and (?2 is null or flow = ?2) and (?3 is null or name > ?3)
     order by name limit ?4";

/// What a worker that serves the flows ?1 may do something for.
macro_rules! allowed {
    () => {
        "paused_at is null and (origin = 'client' or flow in (select value from json_each(?1)))"
    };
}

const DUE: &str = concat!(
    "select * from pgflow_schedules where ",
    allowed!(),
    " and (status = 'pending' or next_at <= ?2 or (queued <> '[]' and status <> 'broken'))
      order by next_at, name limit ?3"
);

const NEXT: &str =
    concat!("select min(next_at) from pgflow_schedules where ", allowed!(), " and next_at > ?2");

/// Each finds what its name says, as sentences.
pub(super) const INVARIANTS: &[&str] = &[
    "select 'schedule ' || name || ' is of flow ' || flow || ', which is not there' from pgflow_schedules
      where error is null and flow not in (select name from pgflow_flows)",
    "select 'schedule ' || name || ' comes next before what was' from pgflow_schedules where next_at <= after_at",
];

struct Found(ScheduleColumns);

impl FromRow<'_, SqliteRow> for Found {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        ScheduleColumns::of_row(row, row.try_get("name")?).map(Self)
    }
}

fn read(rows: impl IntoIterator<Item = Found>) -> Vec<Schedule> {
    rows.into_iter().map(|row| row.0.read()).collect()
}

async fn load<C: Conn>(session: &mut SqliteSession<C>, name: &str) -> Result<Option<Schedule>> {
    let query = sqlx::query_as(LOAD).bind(name);
    let row: Option<Found> = query.fetch_optional(&mut *session.connection).await?;
    Ok(read(row).pop())
}

async fn write<C: Conn>(session: &mut SqliteSession<C>, schedule: &Schedule) -> Result<()> {
    let row = ScheduleColumns::from(schedule);
    let name = row.name.clone();
    let query = row.bind(sqlx::query(WRITE)).bind(name);
    query.execute(&mut *session.connection).await?;
    Ok(())
}

async fn list<C: Conn>(
    session: &mut SqliteSession<C>,
    query: &ScheduleQuery,
) -> Result<Vec<Schedule>> {
    let ScheduleQuery { name, flow, after, max } = query;
    let query = sqlx::query_as(LIST).bind(name).bind(flow).bind(after).bind(max);
    Ok(read(query.fetch_all(&mut *session.connection).await?))
}

async fn due<C: Conn>(session: &mut SqliteSession<C>, query: &DueQuery) -> Result<DueSchedules> {
    let (flows, now) = (json!(query.flows).to_string(), session.now);
    let due = sqlx::query_as(DUE).bind(&flows).bind(now.micros()).bind(query.max);
    let schedules = read(due.fetch_all(&mut *session.connection).await?);
    let next = sqlx::query_scalar(NEXT).bind(&flows).bind(now.micros());
    let next: Option<i64> = next.fetch_one(&mut *session.connection).await?;
    Ok(DueSchedules { now, schedules, next_at: next.map(Timestamp::from_micros) }.readable())
}

impl<C: Conn> ScheduleSession for SqliteSession<C> {
    async fn load_schedule(&mut self, name: &str) -> Stored<Option<Schedule>> {
        Ok(load(self, name).await?)
    }

    async fn write_schedule(&mut self, schedule: &Schedule, _is_new: bool) -> Stored<()> {
        Ok(write(self, schedule).await?)
    }

    async fn delete_schedule(&mut self, name: &str) -> Stored<()> {
        let deleted = sqlx::query(DELETE).bind(name).execute(&mut *self.connection).await;
        Ok(deleted.map(drop).map_err(crate::error::Error::from)?)
    }

    async fn list_schedules(&mut self, query: &ScheduleQuery) -> Stored<Vec<Schedule>> {
        Ok(list(self, query).await?)
    }

    async fn due_schedules(&mut self, query: &DueQuery) -> Stored<DueSchedules> {
        Ok(due(self, query).await?)
    }
}
