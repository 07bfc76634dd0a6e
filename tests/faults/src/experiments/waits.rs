//! Steps that wait, while workers are killed and answers come at the wrong moment.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use futures_util::future::try_join_all;
use pgflow::{Db, client::RunQuery, wait::Signalled};
use tokio::time::{interval, sleep};

use crate::flows::{hooked, parent};
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
    let base = lab.base(kind, FAMILY).await?;
    let count = lab.either(12, 200);
    let mut runs = Vec::new();
    for number in 0..count {
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
    let expected: Vec<u32> = (0..count).map(|number| number * 2).collect();
    let told: Vec<u32> = outputs.iter().map(|output| output.told).collect();
    ensure!(told == expected, "the parents were told {told:?}");
    ensure!(kills >= count, "only {kills} workers were killed for {count} runs");
    let children = children_of(&base.db).await?;
    ensure!(children == count, "{children} children of {count} runs");
    for worker in workers {
        worker.stop().await?;
    }
    Ok(metrics! { "runs": count, "kills": kills, "children": children, "orphans": 0 })
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

async fn children_of(db: &Db) -> Outcome<u32> {
    let mut query = RunQuery { flows: vec!["kid".to_owned()], max: 1_000, ..RunQuery::default() };
    let mut count = 0;
    loop {
        let page = db.list(&query).await?;
        count += page.runs.len();
        match page.next {
            Some(next) => query = next,
            None => return Ok(u32::try_from(count)?),
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
