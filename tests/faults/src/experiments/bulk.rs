//! Results that are too much for one message.

use std::path::Path;

use crate::flows::bulky;
use crate::harness::{Kind, Lab, Metrics, Outcome, What, until};
use crate::proxy::Proxy;
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["bulky"];
/// The largest output there may be, quotes included.
const LARGEST: u32 = (4 << 20) - 2;
/// What a message may have: one batch and what is around it.
const MESSAGE: usize = 24 << 20;
/// What a transaction may have: an output is kept with its task, its step and its run.
const TRANSACTION: usize = 3 * MESSAGE;

/// X24: handlers that all return the largest output at the same moment.
pub(super) async fn at_once(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let proxy = match kind {
        Kind::Postgres => Some(Proxy::start(&base.url).await?),
        Kind::Sqlite | Kind::MySql => None,
    };
    let tasks = lab.either(24, 280);
    let mut runs = Vec::new();
    for _ in 0..tasks {
        runs.push(base.db.start(bulky::Flow, &LARGEST).await?);
    }
    let url = proxy.as_ref().map_or(&*base.url, Proxy::url);
    let worker = lab.worker(url, FLOWS).arg("--concurrency", tasks).start()?;
    until("all handlers", async || Ok((lab.journal.count(What::Entered)? >= tasks).then_some(())))
        .await?;
    lab.open("go")?;
    for run in &runs {
        until("a result", async || Ok(run.status().await?.has_ended().then_some(()))).await?;
        let status = run.status().await?;
        ensure!(status == pgflow::RunStatus::Completed, "run {} is {status:?}", run.id());
    }
    let measured = match (&proxy, kind) {
        (Some(proxy), _) => Some((proxy.largest(), MESSAGE)),
        (None, Kind::Sqlite) => {
            Some((largest_transaction(&lab.dir().join("app.db-wal"))?, TRANSACTION))
        }
        // The server itself refuses what is too large for it.
        (None, _) => None,
    };
    if let Some((largest, most)) = measured {
        ensure!(largest <= most, "{largest} bytes were sent or logged at once");
        ensure!(largest >= LARGEST as usize, "{largest} bytes: no result was seen");
    }
    let entered = lab.journal.count(What::Entered)?;
    ensure!(entered == tasks, "{entered} handlers ran instead of {tasks}");
    let end = worker.stop().await?;
    ensure!((end.settled, end.lost) == (tasks as u64, 0), "the worker says {end:?}");
    Ok(
        metrics! { "results": tasks, "bytes_each": LARGEST, "largest_at_once": measured.map(|it| it.0) },
    )
}

/// Bytes of the largest transaction in SQLite's write-ahead log, by its frames: a frame that ends a transaction
/// says how many pages the database has then, others say 0. Frames of an earlier round through the file have
/// another salt.
fn largest_transaction(wal: &Path) -> Outcome<usize> {
    const HEADER: usize = 32;
    const FRAME_HEADER: usize = 24;
    let log = std::fs::read(wal)?;
    let number = |at: usize| log[at..at + 4].iter().fold(0, |n, byte| n << 8 | usize::from(*byte));
    ensure!(log.len() > HEADER, "the log is empty");
    let frame = FRAME_HEADER + number(8);
    let (mut largest, mut bytes, mut salt) = (0, 0, &log[16..24]);
    for at in (HEADER..).step_by(frame).take_while(|at| at + frame <= log.len()) {
        if salt != &log[at + 8..at + 16] {
            (bytes, salt) = (0, &log[at + 8..at + 16]);
        }
        bytes += frame;
        if number(at + 4) > 0 {
            largest = largest.max(bytes);
            bytes = 0;
        }
    }
    Ok(largest)
}
