//! Messages.

use super::bench::{Break, each_is_reported};

pub(super) const BREAKS: &[Break] = &[
    ("live_task_without_message", "delete from pgmq.q_f"),
    (
        "live_task_without_message",
        "select pgmq.archive('f', message_id) from pgflow.step_tasks where run_id = :live and status = 'started'",
    ),
    (
        "live_task_without_message",
        "update pgflow.step_tasks set message_id = null where run_id = :live and status = 'started'",
    ),
    (
        "message_without_live_task",
        "select pgmq.send('f', jsonb_build_object('flow_slug', 'f', 'run_id', :live, 'step_slug', 'm', 'task_index', 9))",
    ),
    ("message_without_live_task", "select pgmq.send('f', '{\"not\": \"ours\"}')"),
    (
        "message_without_live_task",
        "update pgflow.runs set status = 'failed', failed_at = now() where run_id = :live",
    ),
    (
        "message_without_live_task",
        "update pgflow.step_tasks set message_id = null where run_id = :live and status = 'started'",
    ),
    ("task_message", "update pgflow.step_tasks set message_id = null where run_id = :done"),
    ("message_unread", "update pgmq.q_f set read_ct = 0"),
    ("message_body", "update pgmq.q_f set message = message || '{\"task_index\": 0}'"),
    (
        "message_body",
        "update pgmq.q_f set message = message || jsonb_build_object('run_id', :done)",
    ),
    (
        "message_of_other_task",
        "update pgflow.step_tasks set message_id = message_id + 1000000 where run_id = :done and step_slug = 'a'",
    ),
];

#[tokio::test]
async fn broken_messages_are_reported() {
    each_is_reported(BREAKS).await;
}
