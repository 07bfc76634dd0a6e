//! Schedules: rows in, rows out.

use std::ops::DerefMut;

use pgflow_machine::Timestamp;
use pgflow_machine::schedule::Schedule;
use sqlx::mysql::MySqlRow;
use sqlx::{FromRow, MySqlConnection, Row};

use crate::error::Result;
use crate::json_rows::json_rows;
use crate::session::MySqlSession;
use pgflow_backend::backend::{DueQuery, DueSchedules, ScheduleQuery};
use pgflow_backend::store::ScheduleColumns;

const LOAD: &str = "select * from pgflow_schedules force index (primary) where name = ? for update";

/// One that another transaction made meanwhile is a duplicate, and the whole transition is done again.
const INSERT: &str = "
    insert into pgflow_schedules (
      flow, program, input, cron, time_zone, missed, overlap, origin, status,
      paused_at, revision, after_at, next_at, queued, last_at, last_run, error, created_at, name)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const UPDATE: &str = "
    update pgflow_schedules force index (primary)
       set flow = ?, program = ?, input = ?, cron = ?, time_zone = ?, missed = ?, overlap = ?, origin = ?, status = ?, paused_at = ?, revision = ?, after_at = ?, next_at = ?, queued = ?, last_at = ?, last_run = ?, error = ?, created_at = ?
     where name = ?";

const DELETE: &str = "delete from pgflow_schedules where name = ?";

const LIST: &str = "
    select * from pgflow_schedules
     where (? is null or name = ?) and (? is null or flow = ?) and (? is null or name > ?)
     order by name limit ?";

/// What a worker that serves some flows may do something for.
macro_rules! allowed {
    () => {
        "paused_at is null and (origin = 'client' or flow in (
           select k.flow from json_table(?, '$[*]' columns (
                    flow varchar(255) character set utf8mb4 collate utf8mb4_bin path '$')) k))"
    };
}

const DUE: &str = concat!(
    "select * from pgflow_schedules where ",
    allowed!(),
    " and (status = 'pending' or next_at <= ? or (queued <> '[]' and status <> 'broken'))
      order by next_at, name limit ?"
);

const NEXT: &str =
    concat!("select min(next_at) from pgflow_schedules where ", allowed!(), " and next_at > ?");

/// Each finds what its name says, as sentences.
pub(crate) const INVARIANTS: &[&str] = &[
    "select concat('schedule ', name, ' comes next before what was') from pgflow_schedules where next_at <= after_at",
    "select concat('schedule ', name, ' is ', status, ', and its next moment does not fit that') from pgflow_schedules
      where (status = 'active') <> (next_at is not null)",
];

struct Found(ScheduleColumns);

impl FromRow<'_, MySqlRow> for Found {
    fn from_row(row: &MySqlRow) -> sqlx::Result<Self> {
        let name: Vec<u8> = row.try_get("name")?;
        let name = String::from_utf8_lossy(&name).into_owned();
        ScheduleColumns::of_row(row, name).map(Self)
    }
}

fn read(rows: impl IntoIterator<Item = Found>) -> Vec<Schedule> {
    rows.into_iter().map(|row| row.0.read()).collect()
}

pub(crate) async fn load<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    name: &str,
) -> Result<Option<Schedule>> {
    let query = sqlx::query_as(LOAD).bind(name.as_bytes());
    let row: Option<Found> = query.fetch_optional(session.connection()).await?;
    Ok(read(row).pop())
}

pub(crate) async fn write<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    schedule: &Schedule,
    is_new: bool,
) -> Result<()> {
    let row = ScheduleColumns::from(schedule);
    let name = row.name.clone().into_bytes();
    let query = row.bind(sqlx::query(if is_new { INSERT } else { UPDATE }));
    query.bind(name).execute(session.connection()).await?;
    Ok(())
}

pub(crate) async fn delete<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    name: &str,
) -> Result<()> {
    sqlx::query(DELETE).bind(name.as_bytes()).execute(session.connection()).await?;
    Ok(())
}

pub(crate) async fn list<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    query: &ScheduleQuery,
) -> Result<Vec<Schedule>> {
    let ScheduleQuery { name, flow, after, max } = query;
    let [name, after] = [name, after].map(|name| name.as_deref().map(str::as_bytes));
    let query = sqlx::query_as(LIST).bind(name).bind(name).bind(flow).bind(flow);
    Ok(read(query.bind(after).bind(after).bind(max).fetch_all(session.connection()).await?))
}

pub(crate) async fn due<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    query: &DueQuery,
) -> Result<DueSchedules> {
    let (flows, now) = (json_rows(&query.flows)?, session.now);
    let due = sqlx::query_as(DUE).bind(&flows).bind(now.micros()).bind(query.max);
    let schedules = read(due.fetch_all(session.connection()).await?);
    let next = sqlx::query_scalar(NEXT).bind(&flows).bind(now.micros());
    let next: Option<i64> = next.fetch_one(session.connection()).await?;
    Ok(DueSchedules { now, schedules, next_at: next.map(Timestamp::from_micros) }.readable())
}
