//! Pipelines, and what happens to their workers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pgflow::Timestamp;
use pgflow::backend::{JobQuery, JobsOf, WorkerQuery};
use pgflow::job::JobId;
use pgflow_machine::job::{JobSettings, TraceKind};

use super::queues::are_alive;
use crate::flows::pipelines::{AMOUNT, BURST, LEASE, OF_A_MINUTE, WAIT, numbers, once};
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, Process, What, until};
use crate::{ensure, metrics};

/// How often a worker is killed.
const EVERY: Duration = Duration::from_millis(400);

/// A database in which no message is set aside because its workers were killed.
pub(super) async fn patient_base(lab: &mut Lab, kind: Kind) -> Outcome<Arc<Base>> {
    let base = lab.base(kind, &[]).await?;
    let settings = JobSettings { crash_threshold: 10_000, ..JobSettings::default() };
    base.db.backend().jobs()?.set_job_settings(settings).await?;
    Ok(base)
}

pub(super) fn workers(
    lab: &Lab,
    base: &Base,
    pipeline: &str,
    many: usize,
) -> Outcome<Vec<Process>> {
    (0..many).map(|_| lab.worker(&base.url, &[pipeline]).start()).collect()
}

pub(super) async fn is_drained(base: &Base, queue: &str) -> Outcome<bool> {
    let stats = base.db.queue(queue).stats().await?;
    ensure!(stats.dead == 0, "{} messages of `{queue}` are dead", stats.dead);
    Ok(stats.depth + stats.in_flight == 0)
}

/// Kills workers, at most so many, until a queue has nothing left to do.
async fn harm(
    lab: &Lab,
    base: &Base,
    pipeline: &str,
    workers: &mut [Process],
    most: u32,
) -> Outcome<u32> {
    let (mut kills, mut ticks) = (0, tokio::time::interval(EVERY));
    while !is_drained(base, "numbers").await? {
        ticks.tick().await;
        // Who began last is most likely still at it.
        let last = lab.journal.read()?.last().map(|entry| entry.pid);
        let victim = workers.iter_mut().find(|worker| Some(worker.pid) == last);
        let Some(victim) = victim.filter(|_| kills < most) else { continue };
        victim.kill9().await?;
        *victim = lab.worker(&base.url, &[pipeline]).start()?;
        kills += 1;
    }
    Ok(kills)
}

/// When attempts began and were over, by the database's clock.
async fn stays(base: &Base, messages: &[JobId]) -> Outcome<Vec<(Timestamp, Timestamp)>> {
    let mut stays = Vec::new();
    for message in messages {
        let mut open = BTreeMap::new();
        for event in base.db.job(message).trace().await? {
            match (event.kind, event.token) {
                (TraceKind::Claimed, Some(token)) => drop(open.insert(token, event.at)),
                (
                    TraceKind::Finished
                    | TraceKind::Failed
                    | TraceKind::Released
                    | TraceKind::Lapsed,
                    Some(token),
                ) => {
                    let began = open.remove(&token).ok_or("an attempt ended that never began")?;
                    stays.push((began, event.at));
                }
                _ => {}
            }
        }
        ensure!(open.is_empty(), "an attempt at {message} has no end");
    }
    stays.sort();
    Ok(stays)
}

/// X60: one GPU, four processes, and those who hold it are killed: never two holders by the database's clock.
pub(super) async fn one_holder(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    base.db.resource("gpu").capacity(1).await?;
    let items: Vec<u32> = (0..lab.either(60, 400)).collect();
    let messages = numbers().push_all(&base.db, &items).await?;
    let mut workers = workers(lab, &base, "gpu", 4)?;
    let most = lab.either(4, 40);
    let kills = harm(lab, &base, "gpu", &mut workers, most).await?;
    let stays = stays(&base, &messages).await?;
    let overlap = stays.windows(2).find(|pair| pair[1].0 < pair[0].1);
    ensure!(overlap.is_none(), "two held it at once: {overlap:?}");
    let lapsed = stays.iter().filter(|(began, over)| began.saturating_until(*over) >= LEASE);
    let (lapsed, attempts) = (lapsed.count(), stays.len());
    ensure!(attempts > items.len(), "nobody was killed while holding it: this proves nothing");
    ensure!(kills > 1, "only {kills} were killed");
    let (gpu, held) = base.db.resource("gpu").get().await?.ok_or("there is no gpu")?;
    ensure!(held == 0 && gpu.fence == attempts as u64, "{gpu:?} is held by {held}");
    Ok(metrics! { "messages": items.len(), "attempts": attempts, "kills": kills, "lapsed": lapsed })
}

/// X61: each message emits three and writes a row: none or all of that at any moment, and in the end all of it once.
pub(super) async fn all_or_none(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let items: Vec<u32> = (0..lab.either(150, 1_000)).collect();
    numbers().push_all(&base.db, &items).await?;
    let mut workers = workers(lab, &base, "parts", 3)?;
    let looks = async {
        let mut looks = Vec::new();
        while !is_drained(&base, "numbers").await? {
            looks.push(emitted(&base).await?);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Outcome::Ok(looks)
    };
    let most = lab.either(8, 100);
    let (looks, kills) = tokio::join!(looks, harm(lab, &base, "parts", &mut workers, most));
    let (looks, kills) = (looks?, kills?);
    let last = emitted(&base).await?;
    let of = origins(&base, &last).await?;
    for look in &looks {
        let part = by_message(&of, look).into_iter().find(|(_, many)| *many != 3);
        ensure!(part.is_none(), "a message emitted a part of what it emits: {part:?}");
    }
    let found = by_message(&of, &last);
    ensure!(found.len() == items.len(), "{} of {} emitted", found.len(), items.len());
    ensure!(found.values().all(|many| *many == 3), "some emitted twice");
    let effects: Vec<i64> = base.effects().await?.into_iter().map(|(item, _)| item).collect();
    let expected: Vec<i64> = items.iter().map(|item| i64::from(*item)).collect();
    ensure!(effects == expected, "{} rows for {} messages", effects.len(), expected.len());
    ensure!(kills > 1, "only {kills} were killed");
    Ok(metrics! { "messages": items.len(), "kills": kills, "looks": looks.len() })
}

/// What was emitted, as one look at the database finds it.
async fn emitted(base: &Base) -> Outcome<Vec<JobId>> {
    let (of, need) = (JobsOf::Live, Some("parts".to_owned()));
    let query = JobQuery { of, need, after: None, max: 10_000 };
    Ok(base.db.jobs(&query).await?.into_iter().map(|job| job.id).collect())
}

/// Which message each of these is of.
async fn origins(base: &Base, parts: &[JobId]) -> Outcome<BTreeMap<JobId, u64>> {
    let mut origins = BTreeMap::new();
    for part in parts {
        let payload = base.db.job(part).record().await?.payload;
        origins.insert(part.clone(), payload.as_u64().ok_or("no number")? / 3);
    }
    Ok(origins)
}

/// How much each message emitted, as a look found it.
fn by_message(of: &BTreeMap<JobId, u64>, look: &[JobId]) -> BTreeMap<Option<u64>, u32> {
    let mut found = BTreeMap::new();
    for part in look {
        *found.entry(of.get(part).copied()).or_default() += 1;
    }
    found
}

/// X62: three messages wait for 29 more; the only worker is killed when half of the wait is over, and another comes.
pub(super) async fn batch_waits(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let mut first = lab.worker(&base.url, &["batch"]).start()?;
    are_alive(&base, 1).await?;
    let messages = numbers().push_all(&base.db, &[1, 2, 3]).await?;
    tokio::time::sleep(WAIT / 2).await;
    first.kill9().await?;
    ensure!(lab.journal.read()?.is_empty(), "a batch was both short and young");
    let second = lab.worker(&base.url, &["batch"]).start()?;
    let entry = lab.journal.find("the batch", |entry| entry.what == What::Entered).await?;
    ensure!(entry.run == "3", "a batch of {}", entry.run);
    until("the end of it", async || Ok(is_drained(&base, "numbers").await?.then_some(()))).await?;
    let submitted = base.db.job(&messages[0]).trace().await?[0].at;
    let (began, _) = stays(&base, &messages).await?[0];
    let waited = submitted.saturating_until(began);
    ensure!(waited >= WAIT, "it waited {waited:?}");
    let workers = base.db.workers(&WorkerQuery::default()).await?;
    let started = workers.iter().map(|worker| worker.started_at).max().ok_or("no workers")?;
    // One that began anew would not be over before this.
    ensure!(began < started + WAIT, "it waited {waited:?}: the wait began anew");
    second.stop().await?;
    Ok(metrics! { "batch": 3, "waited_seconds": waited.as_secs_f64() })
}

/// X63: three processes keep to one rate, while one of them is killed again and again.
pub(super) async fn rate_is_kept(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let (second, minute) = (Duration::from_secs(1), Duration::from_mins(1));
    let (pipeline, amount, period) =
        lab.either(("rate", AMOUNT, second), ("minutes", OF_A_MINUTE, minute));
    let base = patient_base(lab, kind).await?;
    let mut workers = workers(lab, &base, pipeline, 3)?;
    let items: Vec<u32> = (0..lab.either(40, 200)).collect();
    let messages = numbers().push_all(&base.db, &items).await?;
    let (since, mut kills) = (Instant::now(), 0);
    while !is_drained(&base, "numbers").await? {
        ensure!(since.elapsed() < lab.either(minute * 3, minute * 8), "it takes too long");
        tokio::time::sleep(EVERY).await;
        if kills < lab.either(3, 30) {
            let victim = lab.random.index(workers.len());
            workers[victim].kill9().await?;
            workers[victim] = lab.worker(&base.url, &[pipeline]).start()?;
            kills += 1;
        }
    }
    let began: Vec<_> =
        stays(&base, &messages).await?.into_iter().map(|(began, _)| began).collect();
    let window = |from: &Timestamp| {
        began.iter().filter(|at| **at >= *from && from.saturating_until(**at) < period).count()
    };
    let most = began.iter().map(window).max().unwrap_or_default();
    ensure!(most <= (amount + BURST) as usize, "a window of {period:?} had {most}");
    ensure!(most > BURST as usize, "a window had {most} at most: this proves nothing");
    Ok(metrics! {
        "messages": items.len(), "most_in_a_window": most, "window_seconds": period.as_secs(), "kills": kills,
    })
}

/// X64: SIGTERM with messages that run and messages that were fetched ahead: their only attempt is not used up.
pub(super) async fn shutdown(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let items: Vec<u32> = (0..13).collect();
    let messages = once().push_all(&base.db, &items).await?;
    let worker = lab.worker(&base.url, &["once"]).arg("--concurrency", 3).start()?;
    until("three that run and four that wait", async || {
        let is_busy = lab.journal.count(What::Entered)? == 3;
        let stats = base.db.queue("once").stats().await?;
        Ok((is_busy && stats.in_flight == 7).then_some(()))
    })
    .await?;
    worker.signal("TERM").await?;
    let (status, end) = worker.worker_end().await?;
    ensure!(status.success() && end.lost == 0, "it ended with {status} and says {end:?}");
    for message in &messages {
        let row = base.db.job(message).record().await?.summary.row;
        ensure!(row.lease.is_none(), "message {message} was not given back");
        ensure!(row.attempts == row.forgiven, "an attempt at {message} was used up");
    }
    lab.open("go")?;
    let last = lab.worker(&base.url, &["once"]).start()?;
    until("the end of all", async || Ok(is_drained(&base, "once").await?.then_some(()))).await?;
    last.stop().await?;
    Ok(metrics! { "released": end.released, "attempts_used_up": 0 })
}
