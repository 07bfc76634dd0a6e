//! Steps that share a transaction with the record of their completion.

use pgflow_machine::wait::{Awaited, HookToken, NewWait, Signal, SignalTo, Signalled};
use pgflow_machine::{Retry, RunStatus, Settle, Settled, Until, Verdict};
use pgflow_postgres_backend_tests::{Bench, done};
use pgflow_runtime::backend::{Backend, Parts, Runs, StepTx, Work};
use pgflow_runtime::postgres::PostgresTx;
use serde_json::json;

async fn write(tx: &mut StepTx) {
    let connection =
        tx.downcast_mut().map(PostgresTx::connection).expect("a transaction of Postgres");
    sqlx::query("insert into effects values (1)").execute(connection).await.unwrap();
}

async fn effects(bench: &Bench) -> i64 {
    sqlx::query_scalar("select count(*) from effects").fetch_one(&bench.db.pool).await.unwrap()
}

async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.sql("create table effects (n int)").await;
    bench.start().await;
    bench
}

#[tokio::test]
async fn effects_and_completion_are_one() {
    let bench = bench().await;
    let task = bench.claim().await.remove(0);
    let mut tx =
        bench.postgres.begin(&task.lease.clone().into()).await.unwrap().expect("it is ours");
    write(&mut tx).await;
    assert_eq!(effects(&bench).await, 0);
    let settled = bench.postgres.commit(tx, &done(&task, json!("out"))).await.unwrap();
    assert_eq!((settled, effects(&bench).await), (Settled::Applied, 1));
    let run = bench.postgres.run(task.lease.task.run, Parts::Outputs).await.unwrap().unwrap();
    assert_eq!(run.steps[0].output, Some(json!("out")));
    assert!(
        bench.postgres.begin(&task.lease.clone().into()).await.unwrap().is_none(),
        "it is over"
    );
}

#[tokio::test]
async fn what_a_superseded_attempt_wrote_is_undone() {
    let bench = bench().await;
    let old = bench.claim().await.remove(0);
    let mut tx =
        bench.postgres.begin(&old.lease.clone().into()).await.unwrap().expect("it is ours");
    write(&mut tx).await;
    let release = Settle { lease: old.lease.clone().into(), verdict: Verdict::Released };
    bench.postgres.settle(&[release], None).await.unwrap();
    let new = bench.claim().await.remove(0);
    let settled = bench.postgres.commit(tx, &done(&old, json!(1))).await.unwrap();
    assert_eq!((settled, effects(&bench).await), (Settled::Fenced, 0));
    assert!(bench.postgres.begin(&old.lease.clone().into()).await.unwrap().is_none());
    let mut tx =
        bench.postgres.begin(&new.lease.clone().into()).await.unwrap().expect("it is ours");
    write(&mut tx).await;
    let settled = bench.postgres.commit(tx, &done(&new, json!(2))).await.unwrap();
    assert_eq!((settled, effects(&bench).await), (Settled::Applied, 1));
}

#[tokio::test]
async fn a_failed_step_writes_nothing() {
    let bench = bench().await;
    let task = bench.claim().await.remove(0);
    let mut tx =
        bench.postgres.begin(&task.lease.clone().into()).await.unwrap().expect("it is ours");
    write(&mut tx).await;
    let verdict = Verdict::Failed { error: "no".into(), retry: Retry::Never };
    let settle = Settle { lease: task.lease.into(), verdict };
    assert_eq!(bench.postgres.commit(tx, &settle).await.unwrap(), Settled::Applied);
    assert_eq!(effects(&bench).await, 0);
}

fn waits(token: &HookToken) -> Verdict {
    let wait = NewWait::on(Awaited::Hook(token.clone()));
    Verdict::Yielded { until: Until::Met(Box::new(wait)), reason: String::new() }
}

/// What a step wrote is there if and only if it waits.
#[tokio::test]
async fn a_step_that_waits_keeps_what_it_wrote() {
    let bench = bench().await;
    let token = HookToken::named("t").unwrap();
    let task = bench.claim().await.remove(0);
    let lease = task.lease.clone();
    let settle = Settle { lease: lease.clone().into(), verdict: waits(&token) };
    let mut tx = bench.postgres.begin(&lease.clone().into()).await.unwrap().expect("it is ours");
    write(&mut tx).await;
    assert_eq!(bench.postgres.commit(tx, &settle).await.unwrap(), Settled::Applied);
    assert_eq!(effects(&bench).await, 1);
    assert!(bench.postgres.begin(&lease.into()).await.unwrap().is_none(), "the attempt is over");
    let signal = Signal::new(SignalTo::Token(token), 7);
    let delivered = bench.postgres.waits().unwrap().signal(&signal).await.unwrap();
    assert_eq!(delivered, Signalled::Delivered(task.lease.task));
}

/// A signal that a step sends, or an application in its own transaction, is part of that transaction.
#[tokio::test]
async fn a_signal_is_sent_if_its_transaction_commits() {
    let bench = bench().await;
    let token = HookToken::named("t").unwrap();
    let task = bench.claim().await.remove(0);
    let run = task.lease.task.run;
    let settle = Settle { lease: task.lease.clone().into(), verdict: waits(&token) };
    bench.postgres.settle(&[settle], None).await.unwrap();
    let signal = Signal::new(SignalTo::Token(token), 7);
    let status = async || {
        bench.postgres.run(run, Parts::Outputs).await.unwrap().unwrap().steps[0].output.clone()
    };
    for commits in [false, true] {
        let mut tx = bench.db.pool.begin().await.unwrap();
        let sent = pgflow_runtime::postgres::signal_in(&mut tx, &signal).await.unwrap();
        assert_eq!(sent, Signalled::Delivered(task.lease.task.clone()));
        if commits {
            tx.commit().await.unwrap();
        } else {
            tx.rollback().await.unwrap();
        }
        assert_eq!(status().await, commits.then(|| json!(7)));
    }
    assert_ne!(
        bench.postgres.run(run, Parts::Outputs).await.unwrap().unwrap().status,
        RunStatus::Failed
    );
}
