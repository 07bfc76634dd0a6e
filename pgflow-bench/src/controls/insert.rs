//! One row per transaction into a table with a primary key.

use std::time::Duration;

use crate::error::{Doing, Result};
use crate::sample::Reading;
use crate::target::Target;

pub(crate) async fn run(target: &mut Target, duration: Duration) -> Result<Reading> {
    let table = "create table if not exists pgflow_bench.inserted (
                     id bigint generated always as identity primary key, at timestamptz not null default now(), note text not null);
                 truncate pgflow_bench.inserted";
    sqlx::raw_sql(table)
        .execute(&mut target.probe.conn)
        .await
        .doing("preparing the INSERT control")?;
    let mark = target.probe.mark().await?;
    let rows = super::repeat(&mut target.lanes, duration, async |lane, _| {
        sqlx::query("insert into pgflow_bench.inserted (note) values ('a note of some length')")
            .execute(lane)
            .await
            .doing("inserting a row")?;
        Ok(1)
    })
    .await?;
    Ok(Reading::new("one row, commit", "row", rows, target.probe.since(mark).await?))
}
