//! A worker's trip with tasks and jobs: one statement settles both and claims both.

use super::{archive, claim, live, submit, submit_after, submit_with};
use crate::harness::Db;

/// What a call says, as `kind:outcome:step or job`, and what it notes for its caller.
async fn trip(db: &Db, arguments: &str) -> (Vec<String>, String) {
    let rows = db
        .rows(&format!(
            "select format('%s:%s:%s', kind, outcome, coalesce((task).step_slug, (job).id)),
                    current_setting('pgflow.ready_needs', true)
               from pgflow.settle_and_claim_all({arguments}) where kind <> 'next'"
        ))
        .await;
    let parts = rows.iter().map(|row| row.split_once('|').expect("two columns"));
    let (rows, noted): (Vec<_>, Vec<_>) = parts.unzip();
    let noted = noted.first().copied().unwrap_or_default().to_owned();
    (rows.into_iter().map(str::to_owned).collect(), noted)
}

const WANTED: &str =
    "worker => 'w', wanted_needs => array['n', 'join'], wanted_parts => array[1, 2],
    part_seconds => array[60, 5], part_quotas => array[9, 1], queue_names => array['f']";

fn ends(ids: &str, verdicts: &str) -> String {
    format!(
        "job_ids => array[{ids}], job_verdicts => array[{verdicts}],
         job_tokens => array(select j.token::text from unnest(array[{ids}]) with ordinality i(id, n)
                               left join pgflow.jobs j on j.id = i.id order by i.n)"
    )
}

#[tokio::test]
async fn settles_and_claims_both() {
    let db = Db::new().await;
    db.run("select pgflow.create_flow('f'); select pgflow.add_step('f', 'a')").await;
    db.run("select pgflow.start_flow('f', '{}'), pgflow.start_flow('f', '{}')").await;
    submit(&db, "n", &["x", "y"]).await;
    submit_after(&db, "later", &["x"], "release").await;
    let (first, _) = trip(&db, &format!("qty => 3, {WANTED}, tasks_first => false")).await;
    assert_eq!(first, ["leased::x", "leased::y", "claimed::a"], "jobs first, then what is left");
    assert_eq!(
        db.rows("select id, worker, round(extract(epoch from lease_until - clock_timestamp())) > 50 from pgflow.jobs where state = 'leased' order by 1")
            .await,
        ["x|w|t", "y|w|t"]
    );
    let ends = ends("'x', 'y', 'nobody'", "'finished', 'released', 'finished'");
    let done = "done_runs => array(select run_id from pgflow.step_tasks where status = 'started'), done_steps => array['a'],
        done_indexes => array[0], done_outputs => array['1'::jsonb]";
    let (second, noted) = trip(&db, &format!("{ends}, {done}, qty => 9, {WANTED}")).await;
    assert_eq!(
        second,
        [
            "completed:applied:",
            "ended:completed:",
            "job:applied:",
            "job:applied:",
            "job:unknown:",
            "claimed::a",
            "leased::y",
            "leased::later"
        ]
    );
    assert_eq!(noted, "{join,n}", "what can be had now, for whoever is to be told");
    assert_eq!(archive(&db).await, ["x:done"]);
    db.check().await;
}

/// A claim of a part takes no more than its quota, and an empty room nothing.
#[tokio::test]
async fn keeps_to_its_room() {
    let db = Db::new().await;
    submit(&db, "join", &["a", "b", "c"]).await;
    assert_eq!(trip(&db, &format!("qty => 9, {WANTED}")).await.0, ["leased::a"]);
    assert_eq!(trip(&db, &format!("qty => 0, {WANTED}")).await.0, [""; 0]);
    assert_eq!(trip(&db, "qty => 9").await.0, [""; 0], "nothing is asked for");
    let next = "select round(next_in) from pgflow.settle_and_claim_all(qty => 9, worker => 'w', wanted_needs => array['join'],
        wanted_parts => array[1], part_seconds => array[60], part_quotas => array[9]) where kind = 'next'";
    assert_eq!(claim(&db, &["join"], 9).await, ["b", "c"]);
    assert_eq!(db.one(next).await, "5", "the first lease that may lapse");
}

/// A batch that is refused changes nothing, not even what would have been settled before it.
#[tokio::test]
async fn is_one_transaction() {
    let db = Db::new().await;
    submit(&db, "n", &["x", "y"]).await;
    assert_eq!(trip(&db, &format!("qty => 2, {WANTED}")).await.0.len(), 2);
    let before = live(&db).await;
    for wrong in [
        format!("{}, qty => 1, {WANTED}", ends("'x', 'y'", "'finished', 'nonsense'")),
        format!(
            "{}, qty => 1, {}",
            ends("'x'", "'finished'"),
            WANTED.replace("array[60, 5]", "array[0, 5]")
        ),
        format!("{}, qty => 1, {}", ends("'x'", "'finished'"), WANTED.replace("'w'", "null")),
    ] {
        let call = format!("select pgflow.settle_and_claim_all({wrong})");
        assert_eq!(db.error(&call).await.code, "22023", "{wrong}");
        assert_eq!(live(&db).await, before);
    }
    let null =
        "job_ids => array['x'], job_tokens => array[null::text], job_verdicts => array['finished']";
    assert_eq!(trip(&db, null).await.0, ["job:fenced:"], "no token opens nothing");
    assert_eq!(live(&db).await, before);
}

/// Ends the run of flow `f` whose only task is held.
const END_RUN: &str = "done_runs => array(select run_id from pgflow.step_tasks where status = 'started'), done_steps => array['a'],
    done_indexes => array[0], done_outputs => array['1'::jsonb]";

/// A run that `waiter` waits for, with its task held; and `own`, leased, which `late` waits for.
async fn run_and_jobs(db: &Db) {
    db.run("select pgflow.create_flow('f'); select pgflow.add_step('f', 'a')").await;
    let run = db.one("select run_id from pgflow.start_flow('f', '{}')").await;
    submit_with(
        db,
        "waiter",
        "n",
        &format!(
            "edge_jobs => array[1], edge_kinds => array['run'], dependencies => array['{run}']"
        ),
    )
    .await;
    submit(db, "n", &["own"]).await;
    submit_after(db, "late", &["own"], "release").await;
    let claimed = trip(db, &format!("qty => 9, {WANTED}")).await.0;
    assert_eq!(claimed, ["claimed::a", "leased::own"]);
}

/// With jobs of a run that ended in its hands, a trip waits for no other job: two such trips could wait for each other.
#[tokio::test]
async fn jobs_that_somebody_holds_are_left_out_after_the_end_of_a_run() {
    let db = Db::new().await;
    run_and_jobs(&db).await;
    let mut other = db.session().await;
    other.run("begin; select from pgflow.jobs where id = 'late' for update").await;
    let ends = ends("'own'", "'finished'");
    let (rows, _) = trip(&db, &format!("{ends}, {END_RUN}")).await;
    assert_eq!(rows, ["completed:applied:", "ended:completed:"], "the task, and not the job");
    assert_eq!(live(&db).await, ["waiter:n:ready", "own:n:leased a1", "late:join:waiting w1"]);
    other.run("rollback").await;
    assert_eq!(trip(&db, &ends).await.0, ["job:applied:"]);
    assert_eq!(archive(&db).await, ["own:done"]);
    db.check().await;
}

/// The other way round: a transaction that holds jobs does not wait for those that the end of a run concerns. The sweep tells them.
#[tokio::test]
async fn waiters_of_a_run_that_somebody_holds_are_told_by_the_sweep() {
    let db = Db::new().await;
    run_and_jobs(&db).await;
    let mut other = db.session().await;
    other.run("begin; select from pgflow.jobs where id = 'waiter' for update").await;
    let ends = ends("'own'", "'finished'");
    db.run(&format!(
        "select pgflow.settle_and_claim_all({ends}); select pgflow.settle_and_claim_all({END_RUN})"
    ))
    .await;
    assert_eq!(live(&db).await, ["waiter:n:waiting w1", "late:join:ready"]);
    db.check().await;
    other.run("rollback").await;
    db.run("select pgflow.sweep_jobs()").await;
    assert_eq!(live(&db).await, ["waiter:n:ready", "late:join:ready"]);
    db.check().await;
}
