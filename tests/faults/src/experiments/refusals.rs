//! Databases that refuse to work for a while, for reasons that pass.

use std::time::Duration;

use crate::flows::mail;
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, What, until};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["mail"];

/// X22: again and again, the role of the worker may not log in (Postgres), or a table has another name (SQLite), while
/// results are on their way.
pub(super) async fn passing(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let (runs, tasks, times) = (lab.either(3, 8), 40, lab.either(4, 12));
    let mut started = Vec::new();
    for _ in 0..runs {
        started.push(base.db.start(mail::Flow, &(0..tasks).collect::<Vec<_>>()).await?);
    }
    let url = if kind == Kind::Postgres { as_app(&base).await? } else { base.url.clone() };
    let worker = lab.worker(&url, FLOWS).arg("--concurrency", 8).start()?;
    for nth in 1..=times {
        let begun = nth * 8;
        until("handlers", async || Ok((lab.journal.count(What::Entered)? >= begun).then_some(())))
            .await?;
        refuse(&base, kind, Duration::from_millis(if nth % 2 == 0 { 300 } else { 1500 })).await?;
    }
    for run in &started {
        ensure!(run.output().await?.send.len() == tasks as usize, "a run has another output");
    }
    let (sent, expected) = (lab.journal.count(What::Entered)?, runs * tasks as usize);
    ensure!(sent == expected, "{sent} mails were sent instead of {expected}");
    let end = worker.stop().await?;
    ensure!((end.settled, end.lost) == (expected as u64, 0), "the worker says {end:?}");
    Ok(metrics! { "refusals": times, "results": expected, "sent_twice": 0, "lost": end.lost })
}

/// A role that may be refused.
async fn as_app(base: &Base) -> Outcome<String> {
    // Roles are the server's, so it has the database's name.
    let pool = base.postgres_pool()?;
    let name: String =
        sqlx::query_scalar("select current_database()::text").fetch_one(pool).await?;
    let create = format!("create role \"{name}\" login superuser");
    sqlx::raw_sql(sqlx::AssertSqlSafe(create)).execute(pool).await?;
    Ok(base.url.replace("user=postgres", &format!("user={name}")))
}

async fn refuse(base: &Base, kind: Kind, time: Duration) -> Outcome {
    let (begin, end) = match kind {
        Kind::Postgres => (
            "do $$ begin execute format('alter role %I nologin', current_database()); end $$",
            "do $$ begin execute format('alter role %I login', current_database()); end $$",
        ),
        Kind::Sqlite | Kind::MySql => (
            "alter table pgflow_runs rename to elsewhere",
            "alter table elsewhere rename to pgflow_runs",
        ),
    };
    base.execute(begin).await?;
    if kind == Kind::Postgres {
        let end = "select pg_terminate_backend(pid) from pg_stat_activity where usename = current_database()";
        base.execute(end).await?;
    }
    tokio::time::sleep(time).await;
    base.execute(end).await
}
