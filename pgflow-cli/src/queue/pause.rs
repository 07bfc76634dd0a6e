//! `pgflow queue pause` and `resume`.

use pgflow_runtime::Db;
use pgflow_runtime::backend::{BackendError, JobSearch, JobsOf};
use pgflow_runtime::client::ClientError;
use serde_json::json;

use super::Named;
use crate::database::flat;
use crate::error::Error;
use crate::{out, shell};

/// What pausing and resuming come to, for programs and for people.
pub(crate) const PAUSED: (&str, &str) = ("paused", "is paused");
pub(crate) const PAUSED_BEFORE: (&str, &str) = ("paused_before", "was paused before");
pub(crate) const RESUMED: (&str, &str) = ("resumed", "goes on");
pub(crate) const NOT_PAUSED: (&str, &str) = ("not_paused", "was not paused");

pub(super) async fn pause(named: &Named) -> Result<bool, Error> {
    let db = named.reach.open().await?;
    if !is_seen(&db, &named.queue).await? {
        refuse_flow(&db, &named.queue).await?;
        warn(&named.queue);
    }
    let is_new = db.queue(&named.queue).pause().await?;
    said(named, if is_new { PAUSED } else { PAUSED_BEFORE })
}

pub(super) async fn resume(named: &Named) -> Result<bool, Error> {
    let is_new = named.reach.open().await?.queue(&named.queue).resume().await?;
    said(named, if is_new { RESUMED } else { NOT_PAUSED })
}

/// Says so if a queue may be a name with a mistake in it.
pub(super) async fn warn_of_unseen(db: &Db, name: &str) -> Result<(), Error> {
    if !is_seen(db, name).await? {
        warn(name);
    }
    Ok(())
}

fn warn(name: &str) {
    let name = flat(name);
    out::note(format_args!(
        "warning: no job or message of `{name}` has been seen, and no worker says it serves it"
    ));
}

/// Whether there are jobs of this need, or messages of this queue, or a worker that serves it.
async fn is_seen(db: &Db, name: &str) -> Result<bool, Error> {
    for of in [JobsOf::Live, JobsOf::Ended] {
        let search = JobSearch { of, need: Some(name.to_owned()), max: 1, ..JobSearch::default() };
        if !db.find_jobs(&search).await?.jobs.is_empty() {
            return Ok(true);
        }
    }
    if db.stages().await?.contains_key(name) {
        return Ok(true);
    }
    let workers = shown(db.all_workers().await)?;
    Ok(workers.iter().any(|worker| worker.serves_need(name)))
}

/// A flow's tasks would go on, and a need of that name would appear.
async fn refuse_flow(db: &Db, name: &str) -> Result<(), Error> {
    if !shown(db.flows().await)?.iter().any(|flow| flow.flow == name || flow.slug == name) {
        return Ok(());
    }
    let (name, quoted) = (flat(name), shell::word(name));
    Err(Error::Usage(format!(
        "`{name}` is a flow, and flows are not paused\nhelp: stop the workers that serve it, pause its schedules with \
         `pgflow schedule pause`, or end its runs with `pgflow cancel --flow {quoted}`"
    )))
}

/// Who may pause may not see everything.
fn shown<T: Default>(answer: Result<T, ClientError>) -> Result<T, Error> {
    match answer {
        Err(ClientError::Backend(BackendError::Refused(_))) => Ok(T::default()),
        answer => Ok(answer?),
    }
}

fn said(named: &Named, (outcome, text): (&str, &str)) -> Result<bool, Error> {
    if named.reach.json {
        out::json(json!({ "queue": named.queue, "outcome": outcome, "text": text }))?;
    } else {
        out::line(format_args!("queue {} {text}", flat(&named.queue)))?;
    }
    Ok(true)
}
