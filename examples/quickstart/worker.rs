//! Workers: one in this process, and one that is this process.

use std::io::Read;
use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{WorkerError, worker::WorkerReport};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Outcome;
use super::flow::analyze_website;

fn worker(db: &Db) -> Worker {
    Worker::new(db).flow(analyze_website::Flow).concurrency(4).grace(Duration::from_secs(5))
}

/// A worker in this process.
pub(crate) struct Local {
    stop: oneshot::Sender<()>,
    report: JoinHandle<Result<WorkerReport, WorkerError>>,
}

impl Local {
    pub(crate) fn start(db: &Db) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let report = tokio::spawn(worker(db).run(async {
            _ = stopped.await;
        }));
        Self { stop, report }
    }

    pub(crate) async fn stop(self) -> Outcome {
        drop(self.stop);
        self.report.await??;
        Ok(())
    }
}

/// Works until standard input ends, which it does when whoever started us is gone.
pub(crate) async fn be_one(db: &Db) -> Outcome {
    let (stop, stopped) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        _ = std::io::stdin().read(&mut [0]);
        drop(stop);
    });
    let report = worker(db).run(async {
        _ = stopped.await;
    });
    if report.await?.is_clean() { Ok(()) } else { Err("not everything was settled".into()) }
}
