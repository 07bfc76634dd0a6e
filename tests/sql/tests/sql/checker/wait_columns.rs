//! Every column of every table of waits is corrupted in turn, as `every_column` does it for flows.

use super::breaks_waits;
use super::every_column::{Silent, assert_known, unnoticed};
use super::unseen::Unseen;

pub(super) const TABLES: &[(&str, &str)] = &[
    ("pgflow.waits", "run_id"),
    ("pgflow.awaited", "(kind, ended, abandoned is null)"),
    ("pgflow.wait_ends", "kind"),
    ("pgflow.hooks", "step_slug"),
    ("pgflow.signals", "(payload is null, token is null, resume_id is null)"),
];

/// What looks at waits, without what looks at all else.
const LOOK: &str =
    "select distinct invariant from (select * from pgflow._check_waits_of_tasks() union all
    select * from pgflow._check_children() union all select * from pgflow._check_signals()) c";

const UNSEEN: &[Unseen] = &[
    (&["pgflow.awaited.*"], &["deleted"], "a child that was to be cancelled goes on"),
    (
        &["pgflow.awaited.attempt", "pgflow.awaited.task_index"],
        &["+1", "-1", "+1000"],
        "of a child that is to be cancelled: nobody asks who waited for it",
    ),
    (
        &["pgflow.awaited.place"],
        &["-1", "+1000"],
        "of a child that is to be cancelled: nobody asks who waited for it",
    ),
    (
        &["pgflow.awaited.run_id", "pgflow.awaited.step_slug"],
        &["other"],
        "of a child that is to be cancelled: nobody asks who waited for it",
    ),
    (
        &["pgflow.awaited.child"],
        &["other"],
        "of a child whose end was told, or that is to be cancelled: it may be gone",
    ),
    (&["pgflow.awaited.error"], &["null", "other"], "of a run that may have been retried since"),
    (&["pgflow.awaited.abandoned"], &["other"], "a reason: the only copy"),
    (&["pgflow.hooks.*"], &["deleted"], "a hook that nothing waits for yet"),
    (&["pgflow.signals.*"], &["deleted"], "the only copy of what was sent"),
    (&["pgflow.signals.payload"], &["other"], "the only copy of what was sent"),
    (&["pgflow.signals.resume_id"], &["other"], "what its sender chose"),
    (&["pgflow.signals.token"], &["null", "other"], "what its sender chose"),
    (&["pgflow.signals.digest"], &["null", "other"], "of what was sent, which is gone"),
    (
        &["pgflow.signals.task_index"],
        &["+1", "-1", "+1000"],
        "of one that is kept: its step may get any number of tasks",
    ),
    (&["pgflow.signals.sent_at"], &["past", "now"], "a moment that could have been"),
    (&["pgflow.signals.expires_at"], &["now", "future"], "as long as its sender asked for"),
    (&["pgflow.waits.is_detached", "pgflow.waits.outcomes"], &["other"], "an option of the step's"),
    (&["pgflow.waits.schema"], &["null", "other"], "what the step gave, if anything"),
    (&["pgflow.waits.since"], &["past"], "a moment that could have been"),
    (&["pgflow.waits.token"], &["other"], "a name that the step chose"),
];

#[tokio::test]
async fn every_corruption_of_a_wait_is_noticed_or_known_to_be_unseen() {
    let db = breaks_waits::database().await;
    let tables = TABLES.iter().map(|(table, kind)| unnoticed(&db, LOOK, table, kind));
    let silent: Silent =
        futures_util::future::join_all(tables).await.into_iter().flatten().collect();
    assert_known(&silent, UNSEEN);
    db.check().await;
}
