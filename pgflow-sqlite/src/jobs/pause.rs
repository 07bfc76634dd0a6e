//! Needs that are paused.

use pgflow_backend::backend::PausedNeed;
use pgflow_machine::Timestamp;

use crate::error::Result;
use crate::session::{Conn, SqliteSession};

const PAUSE: &str = "
    insert into pgflow_paused_needs (need, paused_at, paused_by)
    select distinct value, ?2, ?3 from json_each(?1) where true
        on conflict do nothing";

const RESUME: &str =
    "delete from pgflow_paused_needs where need in (select value from json_each(?1))";

const PAUSED: &str = "select need, paused_at, paused_by from pgflow_paused_needs order by need";

pub(super) async fn pause<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &[String],
    by: &str,
) -> Result<u64> {
    let (needs, now) = (serde_json::json!(needs).to_string(), session.now.micros());
    let query = sqlx::query(PAUSE).bind(needs).bind(now).bind(by);
    Ok(query.execute(&mut *session.connection).await?.rows_affected())
}

pub(super) async fn resume<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &[String],
) -> Result<u64> {
    let query = sqlx::query(RESUME).bind(serde_json::json!(needs).to_string());
    Ok(query.execute(&mut *session.connection).await?.rows_affected())
}

pub(super) async fn paused<C: Conn>(session: &mut SqliteSession<C>) -> Result<Vec<PausedNeed>> {
    let found: Vec<(String, i64, String)> =
        sqlx::query_as(PAUSED).fetch_all(&mut *session.connection).await?;
    let paused = |(need, since, by)| PausedNeed { need, since: Timestamp::from_micros(since), by };
    Ok(found.into_iter().map(paused).collect())
}
