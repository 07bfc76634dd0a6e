//! Events.

use super::bench::{Break, each_is_reported};

pub(super) const BREAKS: &[Break] = &[
    (
        "event_gap",
        "delete from pgflow.event_log where run_id = :done and last_seq = (
            select min(last_seq) from pgflow.event_log where run_id = :done)",
    ),
    (
        "event_gap",
        "update pgflow.event_log set last_seq = last_seq + 5 where run_id = :done and last_seq = (
            select max(last_seq) from pgflow.event_log where run_id = :done)",
    ),
    (
        "event_orphan",
        "insert into pgflow.event_log (run_id, last_seq, events) values (gen_random_uuid(), 1, array['run:started'])",
    ),
    (
        "event_twice",
        "insert into pgflow.event_log (run_id, last_seq, events)
            select :live, max(last_seq) + 1, array['step:completed a'] from pgflow.event_log where run_id = :live",
    ),
    (
        "event_twice",
        "insert into pgflow.event_log (run_id, last_seq, events)
            select :failed, max(last_seq) + 1, array['step' || chr(58) || 'failed z'] from pgflow.event_log where run_id = :failed",
    ),
    (
        "event_of_retry",
        "insert into pgflow.event_log (run_id, last_seq, events)
            select :live, max(last_seq) + 1, array['run:retried'] from pgflow.event_log where run_id = :live",
    ),
    (
        "event_of_retry",
        "insert into pgflow.event_log (run_id, last_seq, events)
            select :failed, max(last_seq) + 1, array['run:retried'] from pgflow.event_log where run_id = :failed",
    ),
    (
        "event_of_state",
        "delete from pgflow.event_log where run_id = :done and last_seq = (
            select max(last_seq) from pgflow.event_log where run_id = :done)",
    ),
    ("event_of_state", "delete from pgflow.event_log where run_id = :live"),
    (
        "event_order",
        "update pgflow.event_log set events = array(
            select case e when 'step:completed a' then 'step:started m' when 'step:started m' then 'step:completed a'
                else e end from unnest(events) with ordinality u(e, n) order by n)
         where run_id = :live",
    ),
    ("event_orphan", "update pgflow.runs set record_events = false where run_id = :live"),
    (
        "event_word",
        "update pgflow.event_log set events = array_replace(events, 'step:started m', 'step:begun m') where run_id = :live",
    ),
    (
        "event_word",
        "update pgflow.event_log set events = array_replace(events, 'step:started m', 'step:started x') where run_id = :live",
    ),
    (
        "event_word",
        "update pgflow.event_log set events = array_replace(events, 'run:started', 'run:started a') where run_id = :live",
    ),
    (
        "event_details",
        "update pgflow.event_log set details = array['{}'::jsonb] where run_id = :live and cardinality(events) > 1",
    ),
    (
        "event_of_state",
        "insert into pgflow.event_log (run_id, last_seq, events)
            select :live, max(last_seq) + 1, array['step' || chr(58) || 'skipped z'] from pgflow.event_log where run_id = :live",
    ),
    ("event_of_end", "update pgflow.runs set cancel_reason = 'another' where run_id = :cancelled"),
    ("event_of_end", "update pgflow.runs set failed_at = failed_at + interval '1 s' where run_id = :failed"),
    ("event_of_end", "update pgflow.runs set completed_at = completed_at + interval '1 hour' where run_id = :done"),
    (
        "event_of_end",
        "update pgflow.step_states set completed_at = completed_at + interval '1 hour' where run_id = :done and step_slug = 'a'",
    ),
    (
        "event_times",
        "update pgflow.event_log set at = at - interval '1 hour' where run_id = :done and last_seq = (
            select max(last_seq) from pgflow.event_log where run_id = :done)",
    ),
    ("event_times", "update pgflow.event_log set at = at - interval '1 hour' where run_id = :done"),
];

#[tokio::test]
async fn broken_events_are_reported() {
    each_is_reported(BREAKS).await;
}
