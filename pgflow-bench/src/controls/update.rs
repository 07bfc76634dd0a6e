//! One row per transaction, found by primary key; each connection has rows of its own.

use std::time::Duration;

use crate::error::{Doing, Result};
use crate::sample::Reading;
use crate::target::Target;

const ROWS_PER_LANE: i64 = 100;

pub(crate) async fn run(target: &mut Target, duration: Duration) -> Result<Reading> {
    prepare(target).await?;
    let mark = target.probe.mark().await?;
    let rows = super::repeat(&mut target.lanes, duration, async |lane, number| {
        let first = i64::try_from(number).unwrap_or(0) * ROWS_PER_LANE;
        sqlx::query("update pgflow_bench.updated set value = value + 1 where id = $1 + floor(random() * $2)::bigint")
            .bind(first)
            .bind(ROWS_PER_LANE)
            .execute(lane)
            .await
            .doing("updating a row")?;
        Ok(1)
    })
    .await?;
    Ok(Reading::new("one row, commit", "row", rows, target.probe.since(mark).await?))
}

async fn prepare(target: &mut Target) -> Result<()> {
    let rows = i64::try_from(target.lanes.len()).unwrap_or(0) * ROWS_PER_LANE;
    let table = "create table if not exists pgflow_bench.updated (id bigint primary key, value bigint not null) with (fillfactor = 50);
                 truncate pgflow_bench.updated";
    let conn = &mut target.probe.conn;
    sqlx::raw_sql(table).execute(&mut *conn).await.doing("preparing the UPDATE control")?;
    sqlx::query("insert into pgflow_bench.updated select id, 0 from generate_series(0, $1 - 1) id")
        .bind(rows)
        .execute(conn)
        .await
        .doing("filling the UPDATE control")?;
    Ok(())
}
