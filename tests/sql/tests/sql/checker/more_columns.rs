//! Every column of the tables of streams, schedules, messages and all the rest is corrupted in turn, as `every_column` does it for flows.

use std::collections::BTreeSet;

use super::every_column::{Silent, assert_known, unnoticed};
use super::unseen::Unseen;
use super::{breaks_pipelines, breaks_schedules, breaks_streams};
use super::{every_column, job_columns, wait_columns};
use crate::harness::Db;

type Tables = &'static [(&'static str, &'static str)];

const STREAMS: Tables = &[
    ("pgflow.streams", "(name, has_ended, error)"),
    ("pgflow.stream_writers", "(stream, writer)"),
    ("pgflow.stream_chunks", "(stream, generation)"),
];

const SCHEDULES: Tables = &[("pgflow.schedules", "name")];

const MESSAGES: Tables = &[
    ("pgflow.permits", "kind"),
    ("pgflow.permit_holds", "job"),
    ("pgflow.task_holds", "(resource, task_index)"),
    ("pgflow.job_messages", "job"),
    ("pgflow.paused_needs", "need"),
    ("pgflow.job_wakes", "kind"),
    ("pgflow.job_key_notes", "key"),
    ("pgflow.flow_migrations", "name"),
];

const MOMENT: &[&str] = &["past", "now", "future"];

const UNSEEN_STREAMS: &[Unseen] = &[
    (&["pgflow.streams.name"], &["other"], "a name that its writers chose; that of a step is seen"),
    (&["pgflow.stream_writers.writer"], &["other"], "a name that writers give themselves"),
    (&["pgflow.streams.error"], &["null", "other"], "what somebody said, if anything"),
    (&["pgflow.streams.has_ended"], &["other"], "somebody may have ended it, or nobody yet"),
    (&["pgflow.streams.expires_at"], MOMENT, "as long as its writers asked for"),
];

const UNSEEN_SCHEDULES: &[Unseen] = &[
    (&["pgflow.schedules.*"], &["deleted"], "somebody may have removed it"),
    (
        &[
            "pgflow.schedules.name",
            "pgflow.schedules.flow_slug",
            "pgflow.schedules.cron",
            "pgflow.schedules.time_zone",
            "pgflow.schedules.input",
            "pgflow.schedules.interface",
            "pgflow.schedules.versions",
        ],
        &["other"],
        "the user's to choose; the flow may be gone, and the next moment says so",
    ),
    (
        &["pgflow.schedules.paused_at"],
        &["null", "past", "now", "future"],
        "somebody may have, or not",
    ),
    (
        &["pgflow.schedules.after_at", "pgflow.schedules.created_at", "pgflow.schedules.last_at"],
        MOMENT,
        "a moment that could have been",
    ),
    (&["pgflow.schedules.next_at"], &["now", "future"], "a moment that only a worker can tell"),
    (&["pgflow.schedules.last_run"], &["other"], "a run that may have been pruned"),
    (&["pgflow.schedules.error"], &["other"], "what a worker said"),
    (
        &["pgflow.schedules.revision"],
        &["+1", "-1", "+1000"],
        "a fence: what counts is that it differs from older ones",
    ),
];

const UNSEEN_MESSAGES: &[Unseen] = &[
    (
        &["pgflow.permits.*"],
        &["deleted"],
        "of rates, rounds and turns, which begin anew; a resource that is held is seen",
    ),
    (&["pgflow.permits.name"], &["other"], "a name that the user gave, of what nobody holds"),
    (&["pgflow.permits.lowered"], &["other"], "somebody may have lowered the capacity"),
    (
        &["pgflow.permit_holds.*"],
        &["deleted"],
        "who leases a message by itself, as operators do, holds nothing",
    ),
    (
        &["pgflow.permit_holds.job", "pgflow.permit_holds.token"],
        &["other"],
        "a hold whose lease is gone counts for nothing",
    ),
    (
        &["pgflow.task_holds.*"],
        &["deleted"],
        "who claims a task by itself, as other clients do, holds nothing",
    ),
    (
        &["pgflow.task_holds.run_id", "pgflow.task_holds.step_slug"],
        &["other"],
        "a hold whose attempt is over counts for nothing",
    ),
    (
        &["pgflow.task_holds.task_index", "pgflow.task_holds.attempt"],
        &["+1", "-1", "+1000"],
        "a hold whose attempt is over counts for nothing",
    ),
    (&["pgflow.task_holds.fence"], &["+1", "-1"], "the number of another grant that there was"),
    (&["pgflow.permit_holds.batch"], &["other"], "a name that the claim gave"),
    (&["pgflow.job_messages.*"], &["deleted"], "most messages have nothing of that"),
    (&["pgflow.job_messages.batch_key"], &["null", "other"], "the user's to choose"),
    (&["pgflow.job_messages.need"], &["other"], "where it was before it was moved"),
    (&["pgflow.job_messages.resources"], &["null"], "the user's to choose"),
    (&["pgflow.job_messages.not_before"], MOMENT, "a moment that could have been"),
    (&["pgflow.paused_needs.*"], &["deleted"], "somebody may have resumed it"),
    (
        &["pgflow.paused_needs.need", "pgflow.paused_needs.paused_by"],
        &["other"],
        "what somebody said",
    ),
    (&["pgflow.paused_needs.paused_at"], MOMENT, "a moment that could have been"),
    (
        &["pgflow.job_wakes.*"],
        &["deleted"],
        "of one whose waiters know already; where one does not, it is seen",
    ),
    (&["pgflow.job_wakes.dependency"], &["other"], "it may have been pruned since"),
    (&["pgflow.flow_migrations.*"], &["deleted"], "the only copy of what was applied"),
    (
        &[
            "pgflow.flow_migrations.package",
            "pgflow.flow_migrations.name",
            "pgflow.flow_migrations.checksum",
        ],
        &["other"],
        "the only copy of what was applied",
    ),
    (&["pgflow.flow_migrations.applied_at"], MOMENT, "a moment that could have been"),
];

async fn assert_noticed(db: Db, tables: Tables, unseen: &[Unseen]) {
    db.check().await;
    let look = "select distinct invariant from pgflow.check()";
    let silent = tables.iter().map(|(table, kind)| unnoticed(&db, look, table, kind));
    let silent: Silent =
        futures_util::future::join_all(silent).await.into_iter().flatten().collect();
    assert_known(&silent, unseen);
    db.check().await;
}

#[tokio::test]
async fn every_corruption_of_a_stream_is_noticed_or_known_to_be_unseen() {
    let db = breaks_streams::database().await;
    db.run("select pgflow.append_chunks('over', 'me', 0, '{x}'); select pgflow.close_stream('over', 'why')").await;
    assert_noticed(db, STREAMS, UNSEEN_STREAMS).await;
}

/// One that has started a run, one that no worker has seen, one with moments in line, one that is broken.
#[tokio::test]
async fn every_corruption_of_a_schedule_is_noticed_or_known_to_be_unseen() {
    let db = breaks_schedules::database().await;
    for script in [
        "select pgflow.create_schedule('line', 'f', '@daily', '1', overlap => 'queue', missed => 'all(9)')",
        "update pgflow.schedules set revision = 1, after_at = now() - interval '1 hour' where name = 'line'",
        "select pgflow.advance_schedule('line', 1, array[now() - interval '3 m', now() - interval '2 m', now() - interval '1 m'],
           array[gen_random_uuid(), gen_random_uuid(), gen_random_uuid()], now() + interval '1 day')",
        "select pgflow.create_schedule('broken', 'f', 'x')",
        "update pgflow.schedules set revision = 1 where name = 'broken'",
        "select pgflow.advance_schedule('broken', 1, '{}', '{}', null, 'no such time')",
        "select pgflow.pause_schedule('broken')",
    ] {
        db.run(script).await;
    }
    let line = "select cardinality(queued_at) from pgflow.schedules where name = 'line'";
    assert_eq!(db.one(line).await, "2");
    assert_noticed(db, SCHEDULES, UNSEEN_SCHEDULES).await;
}

#[tokio::test]
async fn every_corruption_of_a_message_is_noticed_or_known_to_be_unseen() {
    let db = breaks_pipelines::database().await;
    for script in [
        "select pgflow.set_rate('calls', 5)",
        "select pgflow.note_permits('{turn,round,stage}', '{1:q:k,q,s}', array['1', '1', '{\"resources\": {}, \"rates\": []}']::jsonb[])",
        "select pgflow.pause_needs('{n}', 'me')",
        "select pgflow.submit_jobs('{ended,waiter}', '{n,n}', edge_jobs => '{2}', dependencies => '{ended}')",
        "insert into pgflow.flow_migrations (package, name, checksum) values ('p', 'n', 'c')",
        // As if somebody had held the key.
        "select pgflow.submit_jobs('{noted}', '{n}', keys => '{noted}'); update pgflow.job_keys set jobs = 0 where key = 'noted'",
        "insert into pgflow.job_key_notes (key, jobs) values ('noted', 1)",
        // As if somebody had held the waiter.
        "begin isolation level repeatable read; select pgflow.complete_unheld_jobs('{ended}'); commit",
    ] {
        db.run(script).await;
    }
    assert_eq!(db.one("select kind, dependency from pgflow.job_wakes").await, "job|ended");
    assert_noticed(db, MESSAGES, UNSEEN_MESSAGES).await;
}

/// No table is left out, except what `migrate` keeps for itself and compares with what it knows.
#[tokio::test]
async fn every_table_is_corrupted() {
    let db = Db::new().await;
    let tables = "select oid::regclass from pg_class where relnamespace = 'pgflow'::regnamespace and relkind in ('r', 'p')
          and relname !~ '^migration(s|_functions|_relations)$'";
    let all: BTreeSet<_> = db.rows(tables).await.into_iter().collect();
    let lists = [
        every_column::TABLES,
        job_columns::TABLES,
        wait_columns::TABLES,
        STREAMS,
        SCHEDULES,
        MESSAGES,
    ];
    let corrupted = lists.concat().into_iter().map(|(table, _)| table.to_owned());
    let corrupted = corrupted.filter(|table| table.starts_with("pgflow.")).collect();
    assert_eq!(all, corrupted);
}
