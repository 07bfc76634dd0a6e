//! Every column of every table of jobs is corrupted in turn, as `every_column` does it for flows.

use super::breaks_jobs;
use super::every_column::{Silent, assert_known, unnoticed};
use super::unseen::Unseen;

pub(super) const TABLES: &[(&str, &str)] = &[
    ("pgflow.jobs", "id"),
    ("pgflow.job_edges", "(waiter, place)"),
    ("pgflow.job_keys", "key"),
    ("pgflow.job_archive", "id"),
    ("pgflow.job_trace", "kind"),
    ("pgflow.job_settings", "only_row"),
];

/// What looks at jobs, without what looks at flows.
const LOOK: &str = "select distinct invariant from (select * from pgflow._check_jobs() union all
    select * from pgflow._check_job_edges() union all select * from pgflow._check_job_archive()) c";

const MOMENT: &[&str] = &["past", "now", "future"];
const MORE: &[&str] = &["+1", "+1000"];

const UNSEEN: &[Unseen] = &[
    (
        &["pgflow.jobs.payload", "pgflow.job_archive.payload"],
        &["other"],
        "the only copy of what the user gave",
    ),
    (
        &["pgflow.jobs.id"],
        &["other"],
        "of a job that nothing has happened to; its submission names it by its place",
    ),
    (&["pgflow.jobs.created_at"], &["past", "now"], "a moment that could have been"),
    (&["pgflow.job_archive.created_at"], &["past"], "a moment that could have been"),
    (&["pgflow.job_archive.output"], &["null", "other"], "the only copy of what a worker gave"),
    (
        &["pgflow.jobs.priority", "pgflow.job_archive.priority"],
        &["+1", "-1", "+1000"],
        "the user's to choose; a parked job that should be the head is seen",
    ),
    (
        &["pgflow.jobs.attempts", "pgflow.job_archive.attempts"],
        MORE,
        "a trace may be switched off for a while",
    ),
    (&["pgflow.job_archive.lapses"], MORE, "a trace may be switched off for a while"),
    (&["pgflow.jobs.failures"], &["-1"], "a trace may be switched off for a while"),
    (
        &["pgflow.job_archive.failures"],
        &["+1", "-1"],
        "a trace may be switched off for a while; more than attempts are seen",
    ),
    (&["pgflow.jobs.max_attempts"], &["+1000"], "an option of the user's"),
    (
        &["pgflow.job_archive.max_attempts"],
        &["null", "+1", "-1", "+1000"],
        "an option of the user's; that a crash used it up is seen",
    ),
    (
        &["pgflow.jobs.wake_at"],
        &["past", "now", "future", "null"],
        "a moment that could have been asked for, or none; of a sleeper none is seen",
    ),
    (&["pgflow.job_archive.wake_at"], MOMENT, "a moment that could have been asked for"),
    (
        &["pgflow.jobs.expires_at", "pgflow.job_archive.expires_at"],
        MOMENT,
        "a moment that could have been asked for",
    ),
    (&["pgflow.jobs.lease_until"], &["future"], "as long as its worker asked for"),
    (&["pgflow.jobs.look_at"], &["now"], "looking too early does no harm"),
    (&["pgflow.jobs.cancel_at"], &["now"], "a moment that could have been"),
    (&["pgflow.job_archive.archived_at"], &["now"], "a moment that could have been"),
    (
        &[
            "pgflow.jobs.cancel_by",
            "pgflow.job_archive.cancel_by",
            "pgflow.jobs.last_error",
            "pgflow.job_archive.error",
        ],
        &["other"],
        "what somebody said",
    ),
    (
        &["pgflow.jobs.cancel_reason", "pgflow.job_archive.cancel_reason"],
        &["null", "other"],
        "what somebody said, if anything",
    ),
    (&["pgflow.jobs.worker"], &["other"], "a name that workers give themselves"),
    (&["pgflow.job_archive.worker"], &["null", "other"], "a name that workers give themselves"),
    (&["pgflow.job_archive.key"], &["other"], "nothing is held by what is over"),
    (
        &["pgflow.job_archive.waited_for"],
        &["null", "+1", "other"],
        "the edges are gone; this is what is left of them",
    ),
    (&["pgflow.jobs.state"], &["ready"], "an expired job is ready until somebody marks it"),
    (&["pgflow.job_edges.place"], MORE, "an order need not be dense"),
    (
        &["pgflow.jobs.forgiven", "pgflow.job_archive.forgiven"],
        &["+1"],
        "attempts may be counted or not",
    ),
    (
        &["pgflow.jobs.settled"],
        &["null", "other"],
        "what was settled before; only who did so knows",
    ),
    (&["pgflow.job_archive.settled"], &["other"], "what was settled before; only who did so knows"),
    (&["pgflow.job_keys.look"], &["other"], "looking again does no harm"),
    (&["pgflow.job_settings.notify", "pgflow.job_settings.trace"], &["other"], "options"),
    (
        &["pgflow.job_settings.traced_since"],
        &["past", "now", "future"],
        "the trace may have been switched on at any moment",
    ),
    (&["pgflow.job_trace.*"], &["deleted"], "a trace may be switched off for a while"),
    (
        &["pgflow.job_trace.at"],
        &["past", "now"],
        "a moment that could have been; that of a submission is seen",
    ),
    (&["pgflow.job_trace.detail"], &["null", "other"], "what other columns do not say"),
    (
        &["pgflow.jobs.lapses"],
        &["+1"],
        "a trace may be switched off for a while; more than attempts are seen",
    ),
    (
        &["pgflow.job_trace.token"],
        &["null", "other"],
        "of an entry that is not the last one of its job",
    ),
    (&["pgflow.job_trace.need"], &["other"], "of an entry that is not the last one of its job"),
    (
        &["pgflow.job_trace.trace_id"],
        &["+1", "-1"],
        "of entries of different jobs any may be the first",
    ),
    (
        &["pgflow.job_trace.worker"],
        &["null", "other"],
        "a name that workers give themselves, if they do",
    ),
];

#[tokio::test]
async fn every_corruption_of_a_job_is_noticed_or_known_to_be_unseen() {
    let db = breaks_jobs::database().await;
    let tables = TABLES.iter().map(|(table, kind)| unnoticed(&db, LOOK, table, kind));
    let silent: Silent =
        futures_util::future::join_all(tables).await.into_iter().flatten().collect();
    assert_known(&silent, UNSEEN);
    db.check().await;
}
