//! Needs that are paused.

use std::ops::DerefMut;

use pgflow_backend::backend::PausedNeed;
use pgflow_machine::Timestamp;
use sqlx::{MySqlConnection, QueryBuilder};

use super::names::text;
use crate::error::Result;
use crate::session::MySqlSession;

const PAUSED: &str = "select need, paused_at, paused_by from pgflow_paused_needs order by need";

type Query = QueryBuilder<sqlx::MySql>;

pub(crate) async fn pause<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &[String],
    by: &str,
) -> Result<u64> {
    if needs.is_empty() {
        return Ok(0);
    }
    let now = session.now.micros();
    let mut query =
        Query::new("insert ignore into pgflow_paused_needs (need, paused_at, paused_by) ");
    query.push_values(needs, |mut row, need| {
        row.push_bind(need.as_bytes()).push_bind(now).push_bind(by.as_bytes());
    });
    Ok(query.build().execute(session.connection()).await?.rows_affected())
}

pub(crate) async fn resume<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &[String],
) -> Result<u64> {
    if needs.is_empty() {
        return Ok(0);
    }
    let mut query = Query::new("delete from pgflow_paused_needs where need in (");
    let mut names = query.separated(", ");
    for need in needs {
        names.push_bind(need.as_bytes());
    }
    query.push(")");
    Ok(query.build().execute(session.connection()).await?.rows_affected())
}

pub(crate) async fn paused<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
) -> Result<Vec<PausedNeed>> {
    let found: Vec<(Vec<u8>, i64, Vec<u8>)> =
        sqlx::query_as(PAUSED).fetch_all(session.connection()).await?;
    let paused = |(need, since, by)| {
        let since = Timestamp::from_micros(since);
        Ok(PausedNeed { need: text(need)?, since, by: text(by)? })
    };
    found.into_iter().map(paused).collect()
}
