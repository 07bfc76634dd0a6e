//! What was sent, delivered or kept.

use pgflow_machine::{RunId, Timestamp};
use serde_json::Value;

use crate::error::Result;
use crate::payloads::parse;
use crate::session::{Conn, SqliteSession};
use pgflow_backend::store::{SignalFound, SignalRow};
use uuid::Uuid;

const FIND: &str =
    "select id, expires_at, digest from pgflow_signals where target = ?1 and resume_id = ?2";

const PUT: &str = "
    insert into pgflow_signals (target, resume_id, run_id, payload, expires_at, digest) values (?1, ?2, ?3, ?4, ?5, ?6)";

const KEPT: &str = "
    select id from pgflow_signals where target = ?1 and expires_at > ?2 order by id";

const PAYLOAD: &str = "select payload from pgflow_signals where id = ?1";

const TAKE: &str =
    "update pgflow_signals set payload = null, expires_at = null, run_id = ?2 where id = ?1";

const DROP: &str = "delete from pgflow_signals where id = ?1";

const EXPIRE: &str = "
    delete from pgflow_signals where id in (
      select id from pgflow_signals where expires_at <= ?1 order by expires_at limit ?2)";

pub(super) async fn find<C: Conn>(
    session: &mut SqliteSession<C>,
    target: &str,
    resume_id: &str,
) -> Result<Option<SignalFound>> {
    let query = sqlx::query_as(FIND).bind(target).bind(resume_id);
    let found: Option<(i64, Option<i64>, Option<Uuid>)> =
        query.fetch_optional(&mut *session.connection).await?;
    Ok(found.map(|(number, expires_at, digest)| {
        let expires_at = expires_at.map(Timestamp::from_micros);
        SignalFound { number, expires_at, digest }
    }))
}

pub(super) async fn put<C: Conn>(
    session: &mut SqliteSession<C>,
    signal: SignalRow<'_>,
) -> Result<()> {
    let (payload, until) = signal.kept.unzip();
    let query = sqlx::query(PUT).bind(signal.target).bind(signal.resume_id);
    let query = query.bind(signal.run.map(|run| run.0)).bind(payload.map(Value::to_string));
    let query = query.bind(until.map(Timestamp::micros)).bind(signal.digest);
    query.execute(&mut *session.connection).await?;
    Ok(())
}

pub(super) async fn kept<C: Conn>(
    session: &mut SqliteSession<C>,
    target: &str,
) -> Result<Vec<i64>> {
    let query = sqlx::query_scalar(KEPT).bind(target).bind(session.now.micros());
    Ok(query.fetch_all(&mut *session.connection).await?)
}

pub(super) async fn payload<C: Conn>(session: &mut SqliteSession<C>, signal: i64) -> Result<Value> {
    let query = sqlx::query_scalar(PAYLOAD).bind(signal);
    let text: String = query.fetch_one(&mut *session.connection).await?;
    parse(&text)
}

pub(super) async fn take<C: Conn>(
    session: &mut SqliteSession<C>,
    signal: i64,
    run: RunId,
) -> Result<()> {
    sqlx::query(TAKE).bind(signal).bind(run.0).execute(&mut *session.connection).await?;
    Ok(())
}

pub(super) async fn drop<C: Conn>(session: &mut SqliteSession<C>, signal: i64) -> Result<()> {
    sqlx::query(DROP).bind(signal).execute(&mut *session.connection).await?;
    Ok(())
}

pub(super) async fn expire<C: Conn>(session: &mut SqliteSession<C>, max: u32) -> Result<u64> {
    let query = sqlx::query(EXPIRE).bind(session.now.micros()).bind(max);
    Ok(query.execute(&mut *session.connection).await?.rows_affected())
}
