//! A server that is killed under load.

mod clients;
mod log;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pgflow::{Db, RunStatus, client::RunQuery};
use pgflow_test_support::{MariaDb, MariaDbOptions, Server, ServerOptions};
use tokio::task::block_in_place;

use self::clients::Clients;
use self::log::{Acknowledged, Log};
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, until};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["chain"];
/// Its steps, in their order.
const STEPS: &[&str] = &["one", "two", "three"];

/// X09: everything that the server acknowledged is there after each crash, by the client's own log.
pub(super) async fn killed_server(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let mut server = block_in_place(|| Durable::start(kind))?;
    let base = match &server {
        Durable::Postgres(server) => lab.base_on(server, FLOWS).await?,
        Durable::MySql(server) => lab.mysql_on(server, FLOWS).await?,
    };
    let log = Log::new(lab.dir().join("acknowledged"))?;
    let clients = Clients::start(&base.db, &log);
    let kills = lab.either(2, 20);
    for _ in 0..kills {
        more(&log).await?;
        tokio::time::sleep(Duration::from_millis(lab.random.within(0..400))).await;
        block_in_place(|| server.crash())?;
        all_there(&base, &log.read()?).await?;
    }
    more(&log).await?;
    clients.stop().await?;
    drain(lab, &base).await?;
    let (starts, settles) = all_there(&base, &log.read()?).await?;
    lab.hold(server);
    Ok(metrics! {
        "kills": kills, "acknowledged_starts": starts, "acknowledged_settles": settles, "missing": 0,
    })
}

/// A server of the experiment's own that keeps what it has acknowledged.
enum Durable {
    Postgres(Server),
    MySql(MariaDb),
}

impl Durable {
    fn start(kind: Kind) -> Outcome<Self> {
        Ok(match kind {
            Kind::Postgres => {
                let options = ServerOptions { fsync: true, ..ServerOptions::default() };
                Self::Postgres(Server::start(options)?)
            }
            Kind::MySql => {
                let options = MariaDbOptions { fsync: true, ..MariaDbOptions::default() };
                Self::MySql(MariaDb::start(&options)?)
            }
            Kind::Sqlite => return Err("SQLite has no server that could be killed".into()),
        })
    }

    /// Ends it as a power cut would, and starts it again.
    fn crash(&mut self) -> Outcome {
        match self {
            Self::Postgres(server) => {
                server.kill9();
                server.restart()?;
            }
            Self::MySql(server) => {
                server.kill9();
                server.restart()?;
            }
        }
        Ok(())
    }
}

/// Waits until there is something new to lose.
async fn more(log: &Log) -> Outcome {
    let before = log.read()?.len();
    until("acknowledgements", async || Ok((log.read()?.len() >= before + 60).then_some(()))).await
}

/// Looks for all that was acknowledged; how many starts and how many results that was.
async fn all_there(base: &Base, acknowledged: &[Acknowledged]) -> Outcome<(usize, usize)> {
    let (mut starts, mut settles) = (0, 0);
    let runs: BTreeSet<String> = base.run_ids().await?.into_iter().collect();
    let outputs: BTreeMap<String, i64> = base.numbers_put_out(STEPS).await?.into_iter().collect();
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
