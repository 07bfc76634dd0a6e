//! A server that is killed under load.

mod clients;
mod log;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pgflow::{Db, RunQuery, RunStatus};
use pgflow_test_support::{Server, ServerOptions};
use sqlx::PgPool;
use tokio::task::block_in_place;

use self::clients::Clients;
use self::log::{Acknowledged, Log};
use crate::harness::{Base, Lab, Metrics, Outcome, until};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["chain"];

/// X09: everything that the server acknowledged is there after each crash, by the client's own log.
pub(super) async fn killed_server(lab: &mut Lab) -> Outcome<Metrics> {
    let options = ServerOptions { fsync: true, ..ServerOptions::default() };
    let mut server = block_in_place(|| Server::start(options))?;
    let base = lab.base_on(&server, FLOWS).await?;
    let log = Log::new(lab.dir().join("acknowledged"))?;
    let clients = Clients::start(&base.db, &log);
    let kills = lab.either(3, 20);
    for _ in 0..kills {
        more(&log).await?;
        tokio::time::sleep(Duration::from_millis(lab.random.within(0..400))).await;
        block_in_place(|| {
            server.kill9();
            server.restart()
        })?;
        all_there(base.postgres_pool()?, &log.read()?).await?;
    }
    more(&log).await?;
    clients.stop().await?;
    drain(lab, &base).await?;
    let (starts, settles) = all_there(base.postgres_pool()?, &log.read()?).await?;
    lab.hold(server);
    Ok(metrics! {
        "kills": kills, "acknowledged_starts": starts, "acknowledged_settles": settles, "missing": 0,
    })
}

/// Waits until there is something new to lose.
async fn more(log: &Log) -> Outcome {
    let before = log.read()?.len();
    until("acknowledgements", async || Ok((log.read()?.len() >= before + 60).then_some(()))).await
}

/// Looks for all that was acknowledged; how many starts and how many results that was.
async fn all_there(pool: &PgPool, acknowledged: &[Acknowledged]) -> Outcome<(usize, usize)> {
    let (mut starts, mut settles) = (0, 0);
    let query = "select run_id::text from pgflow.runs";
    let runs: Vec<String> = sqlx::query_scalar(query).fetch_all(pool).await?;
    let runs: BTreeSet<String> = runs.into_iter().collect();
    let query = "select run_id::text || '/' || step_slug, output::bigint from pgflow.step_tasks
        where status = 'completed'";
    let outputs: Vec<(String, i64)> = sqlx::query_as(query).fetch_all(pool).await?;
    let outputs: BTreeMap<String, i64> = outputs.into_iter().collect();
    for entry in acknowledged {
        match entry {
            Acknowledged::Start { run } => {
                starts += 1;
                ensure!(runs.contains(run), "run {run} was acknowledged, and is gone");
            }
            Acknowledged::Settle { task, output } => {
                settles += 1;
                let stored = outputs.get(task);
                ensure!(
                    stored == Some(output),
                    "{task} was recorded as {output}, and is {stored:?}"
                );
            }
        }
    }
    Ok((starts, settles))
}

/// Lets a worker finish what is left.
async fn drain(lab: &Lab, base: &Base) -> Outcome {
    let worker = lab.worker(&base.url, FLOWS).start()?;
    until("all runs to end", async || Ok(are_over(&base.db).await?.then_some(()))).await?;
    worker.stop().await?;
    let failed = RunQuery { statuses: vec![RunStatus::Failed], ..RunQuery::default() };
    let failed = base.db.list(&failed).await?.runs;
    ensure!(failed.is_empty(), "{} runs failed", failed.len());
    Ok(())
}

async fn are_over(db: &Db) -> Outcome<bool> {
    let open = RunQuery { statuses: vec![RunStatus::Started], max: 1, ..RunQuery::default() };
    Ok(db.list(&open).await?.runs.is_empty())
}
