//! Runs that start in the caller's transaction.

use std::time::Duration;

use pgflow::{Db, RunId, RunStatus};
use sqlx::Connection;

use crate::child::{KEY, STARTED};
use crate::flows::chain;
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, until};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["chain"];
/// How long nobody may see the run.
const LOOKS: u32 = 40;

/// X20: rolled back, committed, and killed before it could do either.
pub(super) async fn transaction(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let worker = lab.worker(&base.url, FLOWS).start()?;
    let rolled_back = start_in(lab, &base, "rolled back", false).await?;
    let committed = start_in(lab, &base, "committed", true).await?;
    let run = base.db.get::<chain::Flow>(committed).await?.ok_or("it was committed")?;
    ensure!(run.wait().await? == RunStatus::Completed, "it was not done");
    let killed = killed(lab, &base).await?;
    // Whatever the killed one had locked is free again.
    let next = base.db.start(chain::Flow, &1).await?;
    ensure!(next.wait().await? == RunStatus::Completed, "the next run was not done");
    for id in [rolled_back, killed] {
        ensure!(!exists(&base.db, id).await?, "run {id} exists");
        ensure!(!was_seen(lab, id)?, "a worker saw run {id}");
    }
    worker.stop().await?;
    Ok(metrics! { "looks_before_commit": LOOKS, "seen_before_commit": 0 })
}

async fn start_in(lab: &Lab, base: &Base, key: &str, commits: bool) -> Outcome<RunId> {
    let id = RunId::from_key("chain", key);
    if base.url.starts_with("sqlite:") {
        let mut connection = sqlx::SqliteConnection::connect(&base.url).await?;
        let mut tx = connection.begin_with("begin immediate").await?;
        base.db.start(chain::Flow, &1).id(id).within(&mut tx).await?;
        look(lab, base, id).await?;
        if commits { tx.commit().await? } else { tx.rollback().await? }
    } else if base.url.starts_with("mysql:") {
        let mut connection = sqlx::MySqlConnection::connect(&base.url).await?;
        let mut tx = connection.begin().await?;
        base.db.start(chain::Flow, &1).id(id).within(&mut tx).await?;
        look(lab, base, id).await?;
        if commits { tx.commit().await? } else { tx.rollback().await? }
    } else {
        let mut connection = sqlx::PgConnection::connect(&base.url).await?;
        let mut tx = connection.begin().await?;
        base.db.start(chain::Flow, &1).id(id).within(&mut tx).await?;
        look(lab, base, id).await?;
        if commits { tx.commit().await? } else { tx.rollback().await? }
    }
    Ok(id)
}

/// Before the commit, nobody sees the run: neither another session nor a worker.
async fn look(lab: &Lab, base: &Base, id: RunId) -> Outcome {
    for _ in 0..LOOKS {
        ensure!(!exists(&base.db, id).await?, "run {id} is seen before its transaction commits");
        ensure!(!was_seen(lab, id)?, "run {id} runs before its transaction commits");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn killed(lab: &Lab, base: &Base) -> Outcome<RunId> {
    let mut caller = lab.spawn("start-in", &base.url).start()?;
    until("a start in a transaction", async || Ok(lab.dir().join(STARTED).exists().then_some(())))
        .await?;
    let id = RunId::from_key("chain", KEY);
    look(lab, base, id).await?;
    caller.kill9().await?;
    Ok(id)
}

async fn exists(db: &Db, id: RunId) -> Outcome<bool> {
    Ok(db.get::<chain::Flow>(id).await?.is_some())
}

fn was_seen(lab: &Lab, id: RunId) -> Outcome<bool> {
    Ok(lab.journal.read()?.iter().any(|entry| entry.run == id.to_string()))
}
