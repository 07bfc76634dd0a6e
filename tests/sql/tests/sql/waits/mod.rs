//! Waits, as psql sees them.

mod children;
mod hooks;
mod jobs;
mod mismatch;
mod opening;
mod racing;
mod sleeping;
mod storm;
mod upkeep;

use crate::harness::{Db, Run, lit};

/// Ends an attempt of a task by waiting; gives its outcome.
pub(crate) async fn wait(run: &Run<'_>, db: &Db, step: &str, attempt: u32, wait: &str) -> String {
    db.one(&wait_call(run, step, attempt, wait)).await
}

fn wait_call(run: &Run<'_>, step: &str, attempt: u32, wait: &str) -> String {
    format!(
        "select outcome from pgflow.wait_tasks(array['{}']::uuid[], array['{step}'], array[0], array[{attempt}], array[{}::jsonb])",
        run.id,
        lit(wait)
    )
}

/// A call that signals, and gives the outcome.
fn signal(token: &str, payload: &str, resume: &str) -> String {
    format!("select outcome from pgflow.signal('{token}', {}, {resume})", lit(payload))
}

/// The token of the hook of a step's attempt.
pub(crate) async fn announce(run: &Run<'_>, db: &Db, step: &str, attempt: u32) -> String {
    db.one(&format!(
        "select token from pgflow.announce_hooks(array['{}']::uuid[], array['{step}'], array[0], array[{attempt}])",
        run.id
    ))
    .await
}

/// Ids of the runs of a flow that go on, the oldest first.
async fn started(db: &Db, flow: &str) -> Vec<String> {
    let list = format!(
        "select run_id from pgflow.runs where flow_slug = '{flow}' and status = 'started' order by run_id"
    );
    db.rows(&list).await
}

/// Sets all waits back in time, with what is kept and what the log says of them.
async fn later(db: &Db, seconds: u32) {
    db.run(&format!(
        "update pgflow.waits set since = since - interval '{seconds} s', until = until - interval '{seconds} s';
         update pgflow.signals set sent_at = sent_at - interval '{seconds} s', expires_at = expires_at - interval '{seconds} s';
         update pgflow.event_log l set details = array(
           select case when d ? 'until' then d || jsonb_build_object('until', (d -> 'until')::text::bigint - {seconds}::bigint * 1000000) else d end
             from unnest(l.details) with ordinality u(d, n) order by n)
          where l.events::text like '%step:waiting%' and not l.details::text like '%null%'"
    ))
    .await;
}
