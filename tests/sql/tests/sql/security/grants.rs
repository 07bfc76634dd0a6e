//! The roles at work.

use crate::harness::{Db, Session, define};
use crate::waits::{announce, wait};

async fn as_role(db: &Db, role: &str) -> Session {
    let mut session = db.session().await;
    session.run(&format!("set role {role}")).await;
    session
}

#[tokio::test]
async fn a_client_starts_reads_and_cancels() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    let mut client = as_role(&db, "pgflow_client").await;
    let id = client.one("select run_id from pgflow.start_flow('f', '{}')").await;
    assert_eq!(
        client.one(&format!("select pgflow.get_run_with_states('{id}')->'run'->>'status'")).await,
        "started"
    );
    assert_eq!(
        client.rows(&format!("select seq, event_type from pgflow.read_events('{id}')")).await,
        ["1|run:started", "2|step:started"]
    );
    assert_eq!(
        client.rows(&format!("select step_slug from pgflow.read_events('{id}', 1, 1)")).await,
        ["a"]
    );
    client.run("select pgflow.start_flow_with_states('f', '1')").await;
    assert_eq!(
        client.one(&format!("select status from pgflow.cancel_run('{id}', 'x')")).await,
        "cancelled"
    );
    assert_eq!(client.rows("select step_slug from pgflow.steps order by 1").await, ["a", "m"]);
    for refused in [
        "select * from pgflow.runs",
        "select * from pgmq.q_f",
        "select pgflow.claim_tasks(array['f'], 1)",
        "select pgflow.delete_flow_and_data('f')",
        "select pgflow.create_flow('mine')",
        "delete from pgflow.flows",
    ] {
        assert_eq!(client.error(refused).await.code, "42501", "{refused}");
    }
    db.check().await;
}

#[tokio::test]
async fn a_worker_does_a_whole_workers_day() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    let mut worker = as_role(&db, "pgflow_worker").await;
    let id = "00000000-0000-4000-8000-00000000000a";
    worker.run("select pgflow.track_worker_function('fn')").await;
    worker.run(&format!("insert into pgflow.workers (queue_name, worker_id, function_name) values ('f', '{id}', 'fn')")).await;
    worker.run(&format!("update pgflow.workers set last_heartbeat_at = clock_timestamp() where worker_id = '{id}'")).await;
    worker.run(&format!("select pgflow.claim_tasks(array['f'], 10, '{id}')")).await;
    let task = format!("array['{}']::uuid[], array['a'], array[0]", run.id);
    assert_eq!(
        worker.one(&format!("select outcome from pgflow.heartbeat({task}, array[1])")).await,
        "extended"
    );
    let complete = format!(
        "select outcome from pgflow.complete_tasks({task}, array['[1, 2]'::jsonb], array[1])"
    );
    assert_eq!(worker.one(&complete).await, "applied");
    worker.run("select pgflow.poll_for_tasks('f', 1, 10, 1)").await;
    worker.run(&format!("select pgflow.fail_task('{}', 'm', 0, 'x', 1)", run.id)).await;
    worker.run(&format!("select pgflow.complete_task('{}', 'm', 1, '1', 1)", run.id)).await;
    worker.run("select pgflow.requeue_stalled_tasks()").await;
    worker.run(&format!("select pgflow.sweep_and_claim(2, array['f'], 0, '{id}')")).await;
    let unknown = format!("'{id}', array['f'], '{{}}', '{{}}', '{{}}', '{{}}'");
    assert_eq!(worker.one(&format!("select pgflow.release_unknown_tasks({unknown})")).await, "0");
    worker.run(&format!("select pgflow.mark_worker_stopped('{id}')")).await;
    assert_eq!(run.tasks().await, ["a#0:completed:1", "m#0:queued:1", "m#1:completed:1"]);
    db.check().await;
}

#[tokio::test]
async fn a_worker_verifies_a_shape_and_cannot_replace_one() {
    let db = Db::with(&define("f", &["a"])).await;
    let shape = db.one("select pgflow._get_flow_shape('f')").await;
    let mut worker = as_role(&db, "pgflow_worker").await;
    let ensure = |flow: &str, shape: &str| {
        format!("select pgflow.ensure_flow_compiled('{flow}', '{shape}', true)")
    };
    assert!(worker.one(&ensure("f", &shape)).await.contains("verified"));
    for (flow, shape) in [("f", &*shape.replace("single", "map")), ("g", &*shape)] {
        assert_eq!(worker.error(&ensure(flow, shape)).await.code, "42501", "{flow}");
    }
    for refused in [
        "select * from pgflow.runs",
        "select pgflow.start_flow('f', '1')",
        "delete from pgflow.workers",
        "select pgflow.prune_runs('0 seconds')",
    ] {
        assert_eq!(worker.error(refused).await.code, "42501", "{refused}");
    }
    assert_eq!(db.one("select count(*) from pgflow.flows").await, "1");
    db.check().await;
}

/// What a worker that is to retain needs beside its own role.
#[tokio::test]
async fn upkeep_prunes_and_reads_nothing() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    let mut upkeep = as_role(&db, "pgflow_upkeep").await;
    assert_eq!(upkeep.error("select * from pgflow.runs").await.code, "42501");
    assert_eq!(upkeep.one("select pgflow.prune_runs('1 day')").await, "0");
    assert_eq!(upkeep.one("select pgflow.prune_runs('0 seconds')").await, "1");
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
    db.check().await;
}

#[tokio::test]
async fn a_viewer_reads_and_changes_nothing() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    let mut viewer = as_role(&db, "pgflow_viewer").await;
    for table in [
        "flows",
        "steps",
        "deps",
        "runs",
        "step_states",
        "step_tasks",
        "events",
        "workers",
        "limits",
    ] {
        viewer.run(&format!("select * from pgflow.{table}")).await;
    }
    viewer.run(&format!("select pgflow.get_run_with_states('{}')", run.id)).await;
    for refused in
        ["update pgflow.runs set status = 'failed'", "select pgflow.start_flow('f', '1')"]
    {
        assert_eq!(viewer.error(refused).await.code, "42501", "{refused}");
    }
    let cancel = format!("select pgflow.cancel_run('{}')", run.id);
    assert_eq!(viewer.error(&cancel).await.code, "42501");
    db.check().await;
}

#[tokio::test]
async fn a_role_without_grants_sees_no_schema() {
    let db = Db::with(&define("f", &["a"])).await;
    let role = db
        .one("select 'pgflow_nobody_' || oid from pg_database where datname = current_database()")
        .await;
    db.run(&format!("create role {role} nologin")).await;
    let mut nobody = as_role(&db, &role).await;
    for refused in [
        "select pgflow.start_flow('f', '1')",
        "select * from pgflow.flows",
        "select pgflow.is_valid_slug('a')",
    ] {
        assert_eq!(nobody.error(refused).await.code, "42501", "{refused}");
    }
    db.run(&format!("drop role {role}")).await;
}

/// Whoever has a token can answer, so who may only look sees none; a name that the application chose is no secret.
#[tokio::test]
async fn a_viewer_sees_waits_without_their_tokens() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let token = announce(&run, &db, "a", 1).await;
    wait(&run, &db, "a", 1, &format!(r#"{{"on": "hook", "token": "{token}"}}"#)).await;
    wait(&run, &db, "b", 1, r#"{"on": "hook", "token": "mail"}"#).await;
    let lists = [
        "select step_slug, token from pgflow.list_waits() order by 1",
        "select step_name, token from pgflow.workflow_hooks order by 1",
    ];
    let mut viewer = as_role(&db, "pgflow_viewer").await;
    let mut client = as_role(&db, "pgflow_client").await;
    for list in lists {
        assert_eq!(viewer.rows(list).await, ["a|NULL", "b|mail"], "{list}");
        assert_eq!(db.rows(list).await, [format!("a|{token}"), "b|mail".to_owned()], "{list}");
    }
    assert_eq!(client.rows(lists[0]).await, [format!("a|{token}"), "b|mail".to_owned()]);
    for refused in [
        "select * from pgflow.waits",
        "select token from pgflow.waits",
        "select token from pgflow.hooks",
    ] {
        assert_eq!(viewer.error(refused).await.code, "42501", "{refused}");
    }
    assert_eq!(
        viewer.rows("select step_slug, kind from pgflow.waits order by 1").await,
        ["a|hook", "b|hook"]
    );
}
