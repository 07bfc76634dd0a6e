//! Every column of every table is corrupted in turn, rows are deleted and added: the checker speaks up, a
//! constraint refuses, or the column is on the list of those that nothing else in the database repeats.

use std::collections::{BTreeMap, BTreeSet};

use super::bench;
use super::unseen::{UNSEEN, Unseen};
use crate::harness::{Db, Session};

/// Tables that are corrupted, and by what their rows differ in kind: one row of each kind is taken.
pub(super) const TABLES: &[(&str, &str)] = &[
    ("pgflow.flows", "flow_slug"),
    ("pgflow.steps", "(flow_slug, step_slug)"),
    ("pgflow.deps", "(flow_slug, dep_slug, step_slug)"),
    ("pgflow.limits", "only_row"),
    ("pgflow.flow_versions", "version"),
    ("pgflow.runs", "(flow_slug, status, record_events)"),
    ("pgflow.step_states", "(flow_slug, step_slug, status, skip_reason, RECORDS)"),
    (
        "pgflow.step_tasks",
        "(flow_slug, step_slug, status, permanently_stalled_at is null, error_message is null, RECORDS)",
    ),
    ("pgflow.event_log", "events"),
    ("pgflow.workers", "queue_name"),
    ("pgflow.worker_functions", "enabled"),
    ("pgmq.q_f", "read_ct = 0"),
    ("pgmq.q_g", "read_ct = 0"),
    ("pgmq.a_f", "message->>'step_slug'"),
];

/// What becomes of a value, by type, under a name; `?` is the column.
fn corruptions(kind: &str) -> &'static [(&'static str, &'static str)] {
    match kind {
        "integer" | "bigint" => &[
            ("null", "null"),
            ("+1", "? + 1"),
            ("-1", "? - 1"),
            ("+1000", "coalesce(?, 0) + 1000"),
        ],
        "real" => &[("null", "null"), ("other", "0.5 - ?")],
        "boolean" => &[("null", "null"), ("other", "not ?")],
        "uuid" => &[("null", "null"), ("other", "'00000000-0000-4000-8000-000000000bad'")],
        "interval" => &[("null", "null"), ("other", "? + interval '1 hour'")],
        "timestamp with time zone" => &[
            ("null", "null"),
            ("past", "timestamptz '2000-01-01'"),
            ("now", "clock_timestamp() + interval '1 minute'"),
            ("future", "timestamptz '2200-01-01'"),
        ],
        "jsonb" => &[("null", "null"), ("other", "'{\"corrupted\": true}'::jsonb")],
        "text[]" => &[
            ("null", "null"),
            ("other", "array_fill('run:corrupted'::text, array[cardinality(?)])"),
            ("+1", "? || 'step:started nothing'::text"),
            ("-1", "?[2:]"),
        ],
        "integer[]" => &[("null", "null"), ("other", "'{1000}'")],
        "uuid[]" => &[
            ("null", "null"),
            (
                "other",
                "array_fill('00000000-0000-4000-8000-000000000bad'::uuid, array[cardinality(?)])",
            ),
        ],
        "timestamp with time zone[]" => &[
            ("null", "null"),
            ("other", "array_fill(timestamptz '2200-01-01', array[cardinality(?)])"),
            ("-1", "?[2:]"),
        ],
        "jsonb[]" => &[
            ("null", "null"),
            ("+1", "? || '{}'::jsonb"),
            ("other", "array_fill('{\"failed_at\": \"corrupted\"}'::jsonb, array[cardinality(?)])"),
        ],
        _ => &[("null", "null"), ("other", "'corrupted'")],
    }
}

/// What a status or type may be instead.
const WORDS: &[(&str, &str)] = &[
    ("started", "'started'"),
    ("completed", "'completed'"),
    ("failed", "'failed'"),
    ("cancelled", "'cancelled'"),
    ("skipped", "'skipped'"),
    ("queued", "'queued'"),
    ("map", "'map'"),
    ("single", "'single'"),
];

/// What the state of a job, or its outcome, may be instead.
const STATES: &[(&str, &str)] = &[
    ("ready", "'ready'"),
    ("sleeping", "'sleeping'"),
    ("waiting", "'waiting'"),
    ("parked", "'parked'"),
    ("concern", "'concern'"),
    ("expired", "'expired'"),
    ("crashed", "'crashed'"),
    ("cancelled", "'cancelled'"),
    ("done", "'done'"),
    ("failed", "'failed'"),
];

/// What `check()` says after a statement, in a transaction that rolls back; nothing if the statement was
/// refused or changed nothing.
async fn after(session: &mut Session, look: &str, statement: &str) -> Option<Vec<String>> {
    session.run("begin").await;
    let reported = match session
        .ask(&format!("with done as ({statement} returning 1) select count(*) from done"))
        .await
    {
        Ok(changed) if changed == ["0"] => None,
        Ok(_) => Some(session.rows(look).await),
        Err(failure) => {
            assert!(
                ["23", "22", "42", "0A"].iter().any(|class| failure.code.starts_with(class)),
                "{failure}\nin {statement}"
            );
            None
        }
    };
    session.run("rollback").await;
    reported
}

async fn columns(db: &Db, table: &str) -> Vec<(String, String)> {
    let list = format!(
        "select attname, format_type(atttypid, null) from pg_attribute
         where attrelid = '{table}'::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum"
    );
    let split =
        |row: &String| row.split_once('|').map(|(name, kind)| (name.to_owned(), kind.to_owned()));
    db.rows(&list).await.iter().filter_map(split).collect()
}

async fn rows(db: &Db, table: &str, kind: &str) -> Vec<String> {
    // Without events less is known of a run.
    let records = "(select r.record_events from pgflow.runs r where r.run_id = t.run_id)";
    let kind = kind.replace("RECORDS", records);
    db.rows(&format!("select distinct on ({kind}) t.ctid from {table} t order by {kind}, t.ctid"))
        .await
}

/// What nobody noticed, as `table.column`, and how it was corrupted.
pub(super) type Silent = BTreeMap<String, BTreeSet<&'static str>>;

pub(super) async fn unnoticed(db: &Db, look: &str, table: &str, kind: &str) -> Silent {
    let mut session = db.session().await;
    let mut silent = Silent::new();
    let columns = columns(db, table).await;
    for row in rows(db, table, kind).await {
        let mut statements =
            vec![("*", "deleted", format!("delete from {table} where ctid = '{row}'"))];
        for (column, kind) in &columns {
            let words = match column.as_str() {
                "status" | "step_type" => WORDS,
                "state" | "outcome" => STATES,
                _ => &[],
            };
            for (name, value) in corruptions(kind).iter().chain(words) {
                let value = value.replace('?', column);
                let change = format!(
                    "{column} = {value} where ctid = '{row}' and {column} is distinct from {value}"
                );
                statements.push((column, name, format!("update {table} set {change}")));
            }
        }
        for (column, name, statement) in statements {
            if after(&mut session, look, &statement)
                .await
                .is_some_and(|reported| reported.is_empty())
            {
                silent.entry(format!("{table}.{column}")).or_default().insert(name);
            }
        }
    }
    silent
}

/// Puts the columns of a prefix such as `pgflow.steps.opt_*` in its place.
fn expand_prefixes(known: &mut BTreeMap<String, BTreeSet<&'static str>>, silent: &Silent) {
    let is_prefix = |column: &str| column.ends_with('*') && !column.ends_with(".*");
    let prefixes: Vec<_> = known.extract_if(.., |column, _| is_prefix(column)).collect();
    for (prefix, how) in prefixes {
        let prefix = prefix.trim_end_matches('*');
        let columns: Vec<_> = silent.keys().filter(|column| column.starts_with(prefix)).collect();
        assert!(!columns.is_empty(), "no column is unseen that begins with {prefix}");
        for column in columns {
            known.entry(column.clone()).or_insert_with(|| how.clone());
        }
    }
}

/// What nobody noticed is what is known to be unseen, no more and no less.
pub(super) fn assert_known(silent: &Silent, unseen: &[Unseen]) {
    let mut known: BTreeMap<String, BTreeSet<&'static str>> = unseen
        .iter()
        .flat_map(|(columns, how, _)| columns.iter().map(move |column| ((*column).to_owned(), how)))
        .map(|(column, how)| (column, how.iter().copied().collect()))
        .collect();
    expand_prefixes(&mut known, silent);
    let mut problems = Vec::new();
    for (column, how) in silent {
        let known = known.get(column).cloned().unwrap_or_default();
        problems
            .extend(how.difference(&known).map(|how| format!("nobody notices {column}: {how}")));
    }
    for (column, how) in &known {
        let silent = silent.get(column).cloned().unwrap_or_default();
        problems.extend(
            how.difference(&silent).map(|how| format!("somebody does notice {column}: {how}")),
        );
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[tokio::test]
async fn every_corruption_is_noticed_or_known_to_be_unseen() {
    let db = bench::everything().await;
    let look = "select distinct invariant from pgflow.check()";
    let tables = TABLES.iter().map(|(table, kind)| unnoticed(&db, look, table, kind));
    let silent: Silent =
        futures_util::future::join_all(tables).await.into_iter().flatten().collect();
    assert_known(&silent, UNSEEN);
    db.check().await;
}

/// A copy of a row under another key, or what is left of two rows that were swapped.
const ADDED: &[&str] = &[
    "insert into pgflow.step_tasks select (jsonb_populate_record(t, '{\"task_index\": 100}')).* from pgflow.step_tasks t where step_slug = 'm' and task_index = 0",
    "insert into pgflow.step_states select (jsonb_populate_record(s, '{\"step_slug\": \"more\"}')).* from pgflow.step_states s where step_slug = 'm'",
    "insert into pgflow.runs select (jsonb_populate_record(r, jsonb_build_object('run_id', gen_random_uuid()))).* from pgflow.runs r",
    "insert into pgflow.event_log select (jsonb_populate_record(e, '{\"last_seq\": 1000}')).* from pgflow.event_log e where last_seq = 2",
    "insert into pgflow.deps (flow_slug, dep_slug, step_slug) values ('f', 'z', 'a')",
    "insert into pgflow.deps (flow_slug, dep_slug, step_slug) values ('f', 'a', 'z')",
    "insert into pgflow.steps select (jsonb_populate_record(s, '{\"step_slug\": \"more\", \"step_index\": 1000}')).* from pgflow.steps s where step_slug = 'm'",
    "insert into pgflow.flows select (jsonb_populate_record(f, '{\"flow_slug\": \"more\"}')).* from pgflow.flows f where flow_slug = 'f'",
    "insert into pgmq.q_f (msg_id, vt, message) overriding system value select msg_id + 1000, vt, message from pgmq.q_f",
    "insert into pgmq.a_f select (jsonb_populate_record(a, jsonb_build_object('msg_id', 100000 + a.msg_id))).* from pgmq.a_f a",
    // Two live tasks with each other's messages.
    "update pgflow.step_tasks t set message_id = o.message_id from pgflow.step_tasks o
      where t.status = 'started' and o.status = 'started' and o.run_id = t.run_id and o.step_slug <> t.step_slug and t.flow_slug = 'f'",
    // Two completed tasks with each other's messages.
    "update pgflow.step_tasks t set message_id = o.message_id from pgflow.step_tasks o
      where t.status = 'completed' and o.status = 'completed' and o.run_id = t.run_id and o.step_slug = t.step_slug and o.task_index <> t.task_index",
    // A message that names another run.
    "update pgmq.q_f q set message = q.message || jsonb_build_object('run_id', r.run_id) from pgflow.runs r where r.status = 'completed'",
    // Fewer tasks than elements, counters and messages included.
    "update pgflow.step_states s set initial_tasks = 1, remaining_tasks = 0, status = 'completed', completed_at = now(),
        output = (select jsonb_build_array(t.output) from pgflow.step_tasks t where t.run_id = s.run_id and t.step_slug = s.step_slug and t.task_index = 0)
      where s.step_slug = 'm' and s.status = 'started'",
    // A gap in the indexes.
    "update pgflow.step_tasks set task_index = 7 where step_slug = 'm' and task_index = 1",
];

#[tokio::test]
async fn rows_that_are_added_or_swapped_are_noticed() {
    let db = bench::everything().await;
    let mut session = db.session().await;
    for statement in ADDED {
        let look = "select distinct invariant from pgflow.check()";
        let reported = after(&mut session, look, statement).await;
        let reported = reported.unwrap_or_else(|| panic!("nothing was changed by {statement}"));
        assert!(!reported.is_empty(), "nobody notices {statement}");
    }
    db.check().await;
}
