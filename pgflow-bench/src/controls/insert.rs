//! One row per transaction into a table with a primary key.

use std::time::{Duration, Instant};

use crate::error::{Doing, Result};
use crate::sample::Reading;
use crate::target::Target;

const INSERT: &str = "insert into pgflow_bench.inserted (note) values ('a note of some length')";

pub(crate) async fn run(target: &mut Target, duration: Duration) -> Result<Reading> {
    prepare(target).await?;
    let mark = target.probe.mark().await?;
    let rows = super::repeat(&mut target.lanes, duration, async |lane, _| {
        sqlx::query(INSERT).execute(lane).await.doing("inserting a row")?;
        Ok(1)
    })
    .await?;
    Ok(Reading::new("one row, commit", "row", rows, target.probe.since(mark).await?))
}

/// How long each takes on one connection.
pub(crate) async fn times(target: &mut Target, duration: Duration) -> Result<Vec<Duration>> {
    prepare(target).await?;
    let (mut times, end) = (Vec::new(), Instant::now() + duration);
    while Instant::now() < end {
        let start = Instant::now();
        let lane = &mut target.lanes[0];
        sqlx::query(INSERT).execute(lane).await.doing("inserting a row")?;
        times.push(start.elapsed());
    }
    Ok(times)
}

async fn prepare(target: &mut Target) -> Result<()> {
    let table = "create table if not exists pgflow_bench.inserted (
                     id bigint generated always as identity primary key, at timestamptz not null default now(), note text not null);
                 truncate pgflow_bench.inserted";
    sqlx::raw_sql(table)
        .execute(&mut target.probe.conn)
        .await
        .doing("preparing the INSERT control")?;
    Ok(())
}
