//! Nobody's code runs as the owner of the core.

use std::collections::BTreeSet;

use super::hijack_traps::attacker;
use super::{hijack_jobs, hijack_pipelines, hijack_schedules, hijack_streams, hijack_waits};
use crate::harness::{Db, Session, define};

const PATH: &str = "set search_path = evil, pg_temp, pgflow, pg_catalog";

/// One call of each function that runs as the owner. `RUN` is a run of the attacker's.
const CALLS: &[(&str, &str)] = &[
    ("start_flow", "select pgflow.start_flow('f', '[1, 2]')"),
    ("start_flow_with_states", "select pgflow.start_flow_with_states('f', '[1, 2]')"),
    ("get_run_with_states", "select pgflow.get_run_with_states(RUN)"),
    ("get_run_progress", "select pgflow.get_run_progress(RUN)"),
    ("get_run", "select pgflow.get_run(RUN)"),
    ("get_run_statuses", "select pgflow.get_run_statuses(array[RUN]::pg_catalog.uuid[])"),
    ("get_run_input", "select pgflow.get_run_input(RUN)"),
    ("get_run_steps", "select pgflow.get_run_steps(RUN, true)"),
    ("get_step_outputs", "select pgflow.get_step_outputs(RUN, 'm')"),
    ("list_runs", "select pgflow.list_runs('{f}', '{started}', pg_catalog.now(), RUN)"),
    ("get_flow_versions", "select pgflow.get_flow_versions('{f}')"),
    ("read_events", "select pgflow.read_events(RUN)"),
    ("start_run", "select pgflow.start_run('f', '[1, 2]', pg_catalog.gen_random_uuid(), '{1}', 'x')"),
    ("set_flow_interface", "select pgflow.set_flow_interface('f', 'x')"),
    ("set_flow_input_schema", "select pgflow.set_flow_input_schema('f', '{}')"),
    ("get_flows", "select pgflow.get_flows()"),
    ("get_flow_definition", "select pgflow.get_flow_definition('f')"),
    ("get_runs_between", "select pgflow.get_runs_between(RUN, RUN)"),
    ("get_step_times", "select pgflow.get_step_times(RUN)"),
    ("list_tasks", "select pgflow.list_tasks(RUN, 'm', '{queued}')"),
    ("list_workers", "select pgflow.list_workers(true)"),
    ("get_queue_depths", "select pgflow.get_queue_depths()"),
    ("get_step_statistics", "select pgflow.get_step_statistics('f', '1 day')"),
    ("get_activity", "select pgflow.get_activity('{f}', '1 day')"),
    ("count_prunable_runs", "select pgflow.count_prunable_runs('1 day', 9)"),
    ("claim_tasks", "select pgflow.claim_tasks('{f}', 2, null, '{f}', '{m}', '{1}')"),
    ("poll_for_tasks", "select pgflow.poll_for_tasks('f', 1, 2, 1)"),
    ("start_tasks", "select pgflow.start_tasks('f', '{1,2,3,4,5,6,7,8,9}', null)"),
    ("heartbeat", "select pgflow.heartbeat(array[RUN]::pg_catalog.uuid[], '{m}', '{0}', '{1}')"),
    ("complete_task", "select pgflow.complete_task(RUN, 'm', 0, '1')"),
    (
        "complete_tasks",
        "select pgflow.complete_tasks(array[RUN]::pg_catalog.uuid[], '{m}', '{1}', array['1'::pg_catalog.jsonb])",
    ),
    ("ended_runs", "select pgflow.ended_runs(array[RUN]::pg_catalog.uuid[])"),
    ("fail_task", "select pgflow.fail_task(RUN, 'e', 0, 'x')"),
    ("fail_tasks", "select pgflow.fail_tasks(array[RUN]::pg_catalog.uuid[], '{s}', '{0}', '{x}')"),
    ("holds_task", "select pgflow.holds_task(RUN, 'm', 1, 1)"),
    (
        "release_tasks",
        "select pgflow.release_tasks(array[RUN]::pg_catalog.uuid[], '{m}', '{1}', '{1}')",
    ),
    (
        "release_unknown_tasks",
        "insert into pgflow.workers (worker_id, queue_name, function_name) values (RUN, 'f', 'w');
         select pgflow.claim_tasks('{f}', 2, RUN);
         select pgflow.release_unknown_tasks(RUN, '{f}', '{}', '{}', '{}', '{}')",
    ),
    ("resume_tasks", "select pgflow.resume_tasks('{f}')"),
    (
        "yield_tasks",
        "select pgflow.yield_tasks(array[RUN]::pg_catalog.uuid[], '{m}', '{1}', '{1}', '{9}', '{why}')",
    ),
    (
        "settle_and_claim",
        "select pgflow.settle_and_claim(
            array[RUN]::pg_catalog.uuid[], '{m}', '{0}', array['1'::pg_catalog.jsonb], '{1}',
            array[RUN]::pg_catalog.uuid[], '{s}', '{0}', '{x}', '{1}', '{0}', '{f}', '{f}', 2)",
    ),
    ("sweep_and_claim", "select pgflow.sweep_and_claim(0, '{f}', 2, null, '{f}', '{m}', '{1}')"),
    ("requeue_stalled_tasks", "select pgflow.requeue_stalled_tasks()"),
    (
        "retry_run",
        "select pgflow.claim_tasks('{f}', 99);
         select pgflow.fail_tasks(array[RUN]::pg_catalog.uuid[], '{s}', '{0}', '{x}', null, null, '{t}');
         select pgflow.retry_run(RUN)",
    ),
    ("cancel_run", "select pgflow.cancel_run(RUN, 'x')"),
    ("prune_runs", "select pgflow.prune_runs('1 day')"),
];

/// As if all workers had been silent for a day.
const SILENT: &str = "update pgflow.step_tasks set lease_until = null,
    queued_at = queued_at - interval '1 day', started_at = started_at - interval '1 day' where status = 'started'";

async fn database() -> Db {
    let steps = [
        "m map",
        "e; max_attempts => 1, when_exhausted => 'skip'",
        "s",
        "z after m e",
        r#"c after m; required_input_pattern => '{"m": []}'"#,
    ];
    Db::with(&define("f", &steps)).await
}

/// As whom the traps ran, apart from the attacker.
async fn victims(db: &Db, attacker: &str) -> Vec<String> {
    db.rows(&format!("select distinct ran_as, what from evil.marker where ran_as <> '{attacker}'"))
        .await
}

async fn call_everything(db: &Db, session: &mut Session) {
    let run = db.start("f", "[1, 2]").await;
    session.run(PATH).await;
    let calls = CALLS.iter().chain(hijack_jobs::CALLS).chain(hijack_streams::CALLS);
    for (function, call) in calls
        .chain(hijack_waits::CALLS)
        .chain(hijack_schedules::CALLS)
        .chain(hijack_pipelines::CALLS)
    {
        db.run(SILENT).await;
        let call = call.replace("RUN", &format!("'{}'::pg_catalog.uuid", run.id));
        let answer = session.ask(&call).await;
        assert!(answer.is_ok(), "{function}: {answer:?}");
    }
}

#[tokio::test]
async fn a_search_path_full_of_traps_springs_none_of_them() {
    let db = database().await;
    let (mut session, name) = attacker(&db).await;
    call_everything(&db, &mut session).await;
    assert_eq!(victims(&db, &name).await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn the_traps_work_on_a_function_that_trusts_its_caller() {
    let db = database().await;
    let (mut session, name) = attacker(&db).await;
    db.run(
        "create function public.careless() returns text language plpgsql security definer as
            $$ begin return lower('A') || jsonb_typeof('{}') || ('a'::text = 'b'::text)
               || (gen_random_uuid()::varchar::uuid)::varchar; end $$;
         grant execute on function public.careless() to public",
    )
    .await;
    session.run(PATH).await;
    session.run("select public.careless()").await;
    let victims = victims(&db, &name).await;
    for trap in ["jsonb_typeof", "lower", "operator =", "type uuid"] {
        assert!(
            victims.iter().any(|victim| victim.ends_with(&format!("|{trap}"))),
            "{trap}: {victims:?}"
        );
    }
}

#[tokio::test]
async fn every_function_that_runs_as_the_owner_is_tried() {
    let db = Db::new().await;
    let definers = "select proname from pg_proc where pronamespace in ('pgflow'::regnamespace, 'pgwf'::regnamespace) and prosecdef";
    let definers: BTreeSet<_> = db.rows(definers).await.into_iter().collect();
    let tried: BTreeSet<_> = CALLS
        .iter()
        .chain(hijack_jobs::CALLS)
        .chain(hijack_streams::CALLS)
        .chain(hijack_waits::CALLS)
        .chain(hijack_schedules::CALLS)
        .chain(hijack_pipelines::CALLS)
        .map(|(function, _)| (*function).to_owned())
        .collect();
    assert_eq!(definers, tried);
}
