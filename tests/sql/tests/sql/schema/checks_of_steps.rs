//! The checks of `step_states` and `step_tasks`, one by one.

use crate::harness::Db;

/// Inserts a row with these values set; the others are valid.
async fn insert(db: &Db, table: &str, values: &str) -> String {
    let (columns, row): (Vec<_>, Vec<_>) =
        values.split(", ").map(|pair| pair.split_once(" = ").expect("a = b")).unzip();
    let sql = format!(
        "insert into pgflow.{table} (flow_slug, run_id, step_slug, {}) values ('f', gen_random_uuid(), 'a', {})",
        columns.join(", "),
        row.join(", ")
    );
    let failure = db.error(&sql).await;
    assert_eq!(failure.code, "23514", "{failure}");
    failure.constraint.expect("a constraint")
}

const LATER: &str = "now() + interval '1 s'";

#[tokio::test]
async fn step_states_refuse_what_cannot_be() {
    let db = Db::new().await;
    for (values, constraint) in [
        ("status = 'lost'", "status_is_valid"),
        ("initial_tasks = -1", "step_states_initial_tasks_check"),
        ("remaining_deps = -1", "step_states_remaining_deps_check"),
        ("status = 'completed', remaining_tasks = 1", "status_and_remaining_tasks_match"),
        ("remaining_tasks = 1", "remaining_tasks_state_consistency"),
        (
            "status = 'skipped', skip_reason = 'x', remaining_tasks = 0",
            "remaining_tasks_state_consistency",
        ),
        ("status = 'started', remaining_tasks = 1", "initial_tasks_known_when_started"),
        ("output = '1'", "output_only_for_completed_or_null"),
        ("status = 'skipped'", "skip_reason_matches_status"),
        ("skip_reason = 'x'", "skip_reason_matches_status"),
    ] {
        assert_eq!(insert(&db, "step_states", values).await, constraint, "{values}");
    }
}

#[tokio::test]
async fn step_states_have_one_end_after_their_start() {
    let db = Db::new().await;
    let times = [
        (
            format!("completed_at = {LATER}, failed_at = {LATER}"),
            "completed_at_or_failed_at_or_skipped_at",
        ),
        (
            format!("failed_at = {LATER}, skipped_at = {LATER}"),
            "completed_at_or_failed_at_or_skipped_at",
        ),
        (format!("created_at = {LATER}, started_at = now()"), "started_at_is_after_created_at"),
        (format!("started_at = {LATER}, completed_at = now()"), "completed_at_is_after_started_at"),
        (format!("started_at = {LATER}, failed_at = now()"), "failed_at_is_after_started_at"),
        (format!("created_at = {LATER}, skipped_at = now()"), "skipped_at_is_after_created_at"),
    ];
    for (values, constraint) in times {
        assert_eq!(insert(&db, "step_states", &values).await, constraint, "{values}");
    }
    let never_started =
        "insert into pgflow.step_states (flow_slug, run_id, step_slug, status, failed_at)
        values ('f', gen_random_uuid(), 'a', 'failed', now())";
    db.run(never_started).await;
}

#[tokio::test]
async fn step_tasks_refuse_what_cannot_be() {
    let db = Db::new().await;
    let cases = [
        ("status = 'lost'".to_owned(), "valid_status"),
        ("attempts_count = -1".to_owned(), "attempts_count_nonnegative"),
        ("output = '1'".to_owned(), "output_valid_only_for_completed"),
        ("status = 'started', output = '1'".to_owned(), "output_valid_only_for_completed"),
        (format!("completed_at = {LATER}, failed_at = {LATER}"), "completed_at_or_failed_at"),
    ];
    for (values, constraint) in cases {
        assert_eq!(insert(&db, "step_tasks", &values).await, constraint, "{values}");
    }
    for values in [
        format!("queued_at = {LATER}, started_at = now()"),
        format!("queued_at = {LATER}, completed_at = now()"),
        format!("queued_at = {LATER}, failed_at = now()"),
        format!("started_at = {LATER}, completed_at = now()"),
        format!("started_at = {LATER}, failed_at = now()"),
    ] {
        insert(&db, "step_tasks", &values).await;
    }
}
