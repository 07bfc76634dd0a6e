//! What was sent, delivered or kept.

use std::ops::DerefMut;

use pgflow_machine::{RunId, Timestamp};
use serde_json::Value;
use sqlx::MySqlConnection;

use crate::error::Result;
use crate::payloads::parse;
use crate::session::MySqlSession;
use pgflow_backend::store::{SignalFound, SignalRow};
use uuid::Uuid;

const FIND: &str =
    "select id, expires_at, digest from pgflow_signals where target = ? and resume_id = ?";

const PUT: &str = "
    insert into pgflow_signals (target, resume_id, run, payload, expires_at, digest) values (?, ?, ?, ?, ?, ?)";

const KEPT: &str = "
    select id from pgflow_signals force index (pgflow_signals_target) where target = ? and expires_at > ? order by id";

const PAYLOAD: &str = "select payload from pgflow_signals where id = ?";

const USE: &str =
    "update pgflow_signals set payload = null, expires_at = null, run = ? where id = ?";

const DROP: &str = "delete from pgflow_signals where id = ?";

const EXPIRE: &str = "delete from pgflow_signals where expires_at <= ? order by expires_at limit ?";

/// Rows that were only there to be locked.
const UNUSED_HOOKS: &str = "
    delete h from pgflow_hooks h
      left join pgflow_signals g on g.target = concat('hook:', h.token) and g.expires_at is not null
     where h.run is null and g.id is null";

pub(crate) async fn find_signal<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    target: &str,
    resume_id: &str,
) -> Result<Option<SignalFound>> {
    let query = sqlx::query_as(FIND).bind(target.as_bytes()).bind(resume_id.as_bytes());
    let found: Option<(i64, Option<i64>, Option<Uuid>)> =
        query.fetch_optional(session.connection()).await?;
    Ok(found.map(|(number, expires_at, digest)| {
        let expires_at = expires_at.map(Timestamp::from_micros);
        SignalFound { number, expires_at, digest }
    }))
}

pub(crate) async fn put_signal<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    signal: SignalRow<'_>,
) -> Result<()> {
    let (payload, until) = signal.kept.unzip();
    let query = sqlx::query(PUT).bind(signal.target.as_bytes()).bind(signal.resume_id.as_bytes());
    let query = query.bind(signal.run.map(|run| run.0)).bind(payload.map(Value::to_string));
    let query = query.bind(until.map(Timestamp::micros)).bind(signal.digest);
    query.execute(session.connection()).await?;
    Ok(())
}

pub(crate) async fn kept_signals<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    target: &str,
) -> Result<Vec<i64>> {
    let query = sqlx::query_scalar(KEPT).bind(target.as_bytes()).bind(session.now.micros());
    Ok(query.fetch_all(session.connection()).await?)
}

pub(crate) async fn kept_payload<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    signal: i64,
) -> Result<Value> {
    let text: String =
        sqlx::query_scalar(PAYLOAD).bind(signal).fetch_one(session.connection()).await?;
    parse(&text)
}

pub(crate) async fn use_signal<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    signal: i64,
    run: RunId,
) -> Result<()> {
    sqlx::query(USE).bind(run.0).bind(signal).execute(session.connection()).await?;
    Ok(())
}

pub(crate) async fn drop_signal<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    signal: i64,
) -> Result<()> {
    sqlx::query(DROP).bind(signal).execute(session.connection()).await?;
    Ok(())
}

pub(crate) async fn expire_signals<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    max: u32,
) -> Result<u64> {
    let query = sqlx::query(EXPIRE).bind(session.now.micros()).bind(max);
    let expired = query.execute(session.connection()).await?.rows_affected();
    sqlx::query(UNUSED_HOOKS).execute(session.connection()).await?;
    Ok(expired)
}
