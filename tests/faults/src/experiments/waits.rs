//! Steps that wait, while workers are killed and answers come at the wrong moment.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use futures_util::future::try_join_all;
use pgflow::client::{RunQuery, RunSummary};
use pgflow::{Db, RunStatus, wait::Signalled};
use tokio::time::{interval, sleep};

use crate::flows::{LATE, hooked, parent};
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, Process};
use crate::{ensure, metrics};

const FAMILY: &[&str] = &["parent", "kid"];
/// How often it is looked whether a worker was killed.
const EVERY: Duration = Duration::from_millis(50);
const WORKERS: usize = 3;
/// Answers at the same time.
const AT_ONCE: u32 = 8;
/// The longest that an answer is held back, in milliseconds.
const LATEST: usize = 60;

/// X46: a worker dies between the call that asks for a child and the settle that starts it.
pub(super) async fn children(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let metrics = family(lab, kind, 0).await?;
    let [count, kills] = ["runs", "kills"].map(|name| metrics[name].as_u64());
    ensure!(kills >= count, "only {kills:?} workers were killed for {count:?} runs");
    Ok(metrics)
}

/// X46-settle: a worker dies within 30 ms of the return of the handler that asked: before, while and after it settles.
pub(super) async fn children_settled(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    family(lab, kind, LATE).await
}

/// Parents from this number on.
async fn family(lab: &mut Lab, kind: Kind, first: u32) -> Outcome<Metrics> {
    let base = lab.base(kind, FAMILY).await?;
    let count = lab.either(12, 200);
    let mut runs = Vec::new();
    for number in first..first + count {
        runs.push(base.db.start(parent::Flow, number).await?);
    }
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(start(lab, &base)?);
    }
    let (mut kills, mut ticks) = (0, interval(EVERY));
    let done = try_join_all(runs.iter().map(pgflow::Run::output));
    tokio::pin!(done);
    let outputs = loop {
        tokio::select! {
            outputs = &mut done => break outputs?,
            _ = ticks.tick() => kills += replace(lab, &base, &mut workers)?,
        }
    };
    let expected: Vec<u32> = (first..first + count).map(|number| number * 2).collect();
    let told: Vec<u32> = outputs.iter().map(|output| output.told).collect();
    ensure!(told == expected, "the parents were told {told:?}");
    ensure!(kills > 0, "no worker was killed");
    let (children, orphans) = children_of(&base.db).await?;
    ensure!(children == count, "{children} children of {count} runs");
    ensure!(orphans == 0, "{orphans} children that nobody waited for to the end");
    for worker in workers {
        worker.stop().await?;
    }
    Ok(metrics! { "runs": count, "kills": kills, "children": children, "orphans": orphans })
}

fn start(lab: &Lab, base: &Base) -> Outcome<Process> {
    lab.worker(&base.url, FAMILY).arg("--concurrency", 1).start()
}

/// A new worker for each that was killed.
fn replace(lab: &Lab, base: &Base, workers: &mut [Process]) -> Outcome<u32> {
    let mut kills = 0;
    for worker in workers {
        let Some(status) = worker.ended()? else { continue };
        ensure!(status.signal() == Some(9), "a worker ended without being killed: {status:?}");
        *worker = start(lab, base)?;
        kills += 1;
    }
    Ok(kills)
}

/// How many there are, and how many of them did not complete: their parents have, without them.
async fn children_of(db: &Db) -> Outcome<(u32, usize)> {
    let mut query = RunQuery { flows: vec!["kid".to_owned()], max: 1_000, ..RunQuery::default() };
    let (mut count, mut orphans) = (0, 0);
    loop {
        let page = db.list(&query).await?;
        count += page.runs.len();
        let is_orphan = |run: &&RunSummary| run.status != RunStatus::Completed;
        orphans += page.runs.iter().filter(is_orphan).count();
        match page.next {
            Some(next) => query = next,
            None => return Ok((u32::try_from(count)?, orphans)),
        }
    }
}

/// X47: an answer comes, twice, while the wait for it is being recorded. It is neither lost nor delivered twice.
pub(super) async fn answers(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, &["hooked"]).await?;
    let other = Db::connect(&base.url).await?;
    let worker = lab.worker(&base.url, &["hooked"]).start()?;
    let rounds = lab.either(6, 125);
    let (mut delivered, mut buffered) = (0, 0);
    for round in 0..rounds {
        let mut racing = Vec::new();
        for number in round * AT_ONCE..(round + 1) * AT_ONCE {
            let late = u64::try_from(lab.random.index(LATEST))?;
            racing.push(race(&base.db, &other, number, Duration::from_millis(late)));
        }
        for was_waited_for in try_join_all(racing).await? {
            if was_waited_for { delivered += 1 } else { buffered += 1 }
        }
    }
    worker.stop().await?;
    Ok(
        metrics! { "answers": delivered + buffered, "delivered": delivered, "buffered": buffered, "lost": 0 },
    )
}

/// Whether the step waited already.
async fn race(db: &Db, other: &Db, number: u32, late: Duration) -> Outcome<bool> {
    let run = db.start(hooked::Flow, number).await?;
    sleep(late).await;
    let token = format!("race-{number}");
    let one = async { db.signal(&token, Some("once"), &number).await };
    let two = async { other.signal(&token, Some("once"), &number).await };
    let waited = match tokio::try_join!(one, two)? {
        (Signalled::Duplicate, Signalled::Delivered(_))
        | (Signalled::Delivered(_), Signalled::Duplicate) => true,
        (Signalled::Duplicate, Signalled::Buffered)
        | (Signalled::Buffered, Signalled::Duplicate) => false,
        both => return Err(format!("the same answer became {both:?}").into()),
    };
    ensure!(run.output().await?.answer == number, "another answer than {number}");
    Ok(waited)
}
