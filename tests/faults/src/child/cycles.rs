//! Starts and stops workers, and says what is left of them.

use std::process::ExitCode;

use pgflow::{Db, Worker};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::Place;
use crate::flows::pass;
use crate::harness::{Outcome, until};

/// How often.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    place: Place,
    #[arg(long)]
    cycles: u32,
}

/// What a process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Belongings {
    /// Tasks of the runtime.
    pub(crate) tasks: usize,
    /// Open files and sockets.
    pub(crate) files: usize,
    pub(crate) threads: u64,
    pub(crate) kilobytes: u64,
}

/// Prints what the process has after some cycles, and after all.
pub(super) async fn run(options: Options) -> Outcome<ExitCode> {
    let db = Db::connect(&options.place.database).await?;
    let warm_up = (options.cycles / 10).max(5);
    work(&db, warm_up).await?;
    let before = belongings()?;
    work(&db, options.cycles).await?;
    // What has just been stopped may take a moment to be gone.
    let settled = until("tasks to end", async || {
        let now = belongings()?;
        Ok((now.tasks <= before.tasks).then_some(now))
    });
    let after = match settled.await {
        Ok(after) => after,
        Err(_) => belongings()?,
    };
    println!("{}", serde_json::to_string(&[before, after])?);
    Ok(ExitCode::SUCCESS)
}

/// Every tenth worker does something before it stops.
async fn work(db: &Db, cycles: u32) -> Outcome {
    for cycle in 0..cycles {
        let (stop, stopped) = oneshot::channel::<()>();
        let worker = Worker::new(db).flow(pass::Flow).run(async { _ = stopped.await });
        let worker = tokio::spawn(worker);
        if cycle % 10 == 0 {
            let run = db.start(pass::Flow, &vec![cycle, 1, 2]).await?;
            run.wait().await?;
        } else {
            tokio::task::yield_now().await;
        }
        drop(stop);
        worker.await??;
    }
    Ok(())
}

fn belongings() -> Outcome<Belongings> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    Ok(Belongings {
        tasks: Handle::current().metrics().num_alive_tasks(),
        files: std::fs::read_dir("/proc/self/fd")?.count(),
        threads: number("Threads:"),
        kilobytes: number("VmRSS:"),
    })
}
