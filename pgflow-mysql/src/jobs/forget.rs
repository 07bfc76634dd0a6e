//! Jobs that are forgotten, and what all jobs go by.

use std::ops::DerefMut;

use pgflow_machine::Timestamp;
use pgflow_machine::job::JobSettings;
use sqlx::MySqlConnection;

use super::load::names;
use super::names::{Name, text};
use super::statements::FORGET;
use super::write::execute;
use crate::error::Result;
use crate::session::MySqlSession;

/// Jobs `a` that have ended by then, and whose outputs no wait has still to read.
macro_rules! prunable {
    () => {
        "from pgflow_job_archive a force index (pgflow_job_archive_ended)
          where a.ended_at <= ? and not exists (
            select 1 from pgflow_awaited w force index (pgflow_awaited_child)
             where w.child = a.id and w.kind = 'job' and w.is_orphan = 0)"
    };
}
pub(super) use prunable;

const PRUNE: &str =
    concat!("select a.id ", prunable!(), " order by a.ended_at limit ? for update skip locked");

const PRUNE_TRACE: &str = concat!(
    "delete t from ",
    names!(),
    " straight_join pgflow_job_trace t force index (pgflow_job_trace_job) on t.job = unhex(k.name)"
);

const PRUNE_MESSAGES: &str = concat!(
    "delete m from ",
    names!(),
    " straight_join pgflow_messages m force index (primary) on m.job = unhex(k.name)"
);

/// Rows that were there to be locked.
const PRUNE_KEYS: &str = "delete from pgflow_job_keys where holder is null limit 1000";

const SETTINGS: &str = "update pgflow_job_settings set trace = ?, crash_threshold = ? where id = 1";

pub(crate) async fn prune<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    ended_by: Timestamp,
    max: u32,
) -> Result<u64> {
    sqlx::query(PRUNE_KEYS).execute(session.connection()).await?;
    let query = sqlx::query_scalar(PRUNE).bind(ended_by.micros()).bind(max);
    let old: Vec<Vec<u8>> = query.fetch_all(session.connection()).await?;
    let old = old.into_iter().map(text).collect::<Result<Vec<_>>>()?;
    let names: Vec<_> = old.iter().map(|id| Name(id)).collect();
    execute(session, PRUNE_TRACE, &names).await?;
    execute(session, PRUNE_MESSAGES, &names).await?;
    execute(session, FORGET, &names).await?;
    Ok(old.len() as u64)
}

pub(crate) async fn set_settings<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    settings: JobSettings,
) -> Result<()> {
    let query = sqlx::query(SETTINGS).bind(i8::from(settings.trace)).bind(settings.crash_threshold);
    query.execute(session.connection()).await?;
    Ok(())
}
