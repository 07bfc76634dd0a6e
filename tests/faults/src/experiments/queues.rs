//! Batches, keys and ends of pipelines over several processes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pgflow::Timestamp;
use pgflow::backend::WorkerQuery;
use pgflow::job::JobId;
use pgflow::pipeline::Queue;
use pgflow_machine::job::TraceKind;

use super::pipelines::{is_drained, patient_base, workers};
use crate::flows::pipelines::{A_WHILE, FEW, POISON, crowd, numbers, often, once, orders, thrice};
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, What, until};
use crate::{ensure, metrics};

/// When a message was pushed, and its attempts began and were over, by the database's clock.
async fn history(
    base: &Base,
    message: &JobId,
) -> Outcome<(Timestamp, Vec<(Timestamp, Timestamp)>)> {
    let (mut open, mut attempts) = (BTreeMap::new(), Vec::new());
    let trace = base.db.job(message).trace().await?;
    let pushed = trace.first().ok_or("there is no trace of it")?.at;
    for event in trace {
        let Some(token) = event.token else { continue };
        if event.kind == TraceKind::Claimed {
            open.insert(token, event.at);
        } else if let Some(began) = open.remove(&token) {
            attempts.push((began, event.at));
        }
    }
    Ok((pushed, attempts))
}

/// X65: messages come at random, three processes form batches: none is both short and young.
pub(super) async fn never_short_and_young(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let _workers = workers(lab, &base, "arrivals", 3)?;
    let (since, mut messages) = (Instant::now(), Vec::new());
    while since.elapsed() < lab.either(Duration::from_secs(6), Duration::from_mins(1)) {
        let from = u32::try_from(messages.len())?;
        let many = 1 + u32::try_from(lab.random.index(12))?;
        let some: Vec<_> = (from..from + many).collect();
        messages.extend(numbers().push_all(&base.db, &some).await?);
        let pause = Duration::from_millis(u64::try_from(lab.random.index(300))?);
        tokio::time::sleep(pause).await;
    }
    let drained =
        || until("the end of all", async || Ok(is_drained(&base, "numbers").await?.then_some(())));
    drained().await?;
    // On a busy machine all others may have been full.
    let from = u32::try_from(messages.len())?;
    messages.extend(numbers().push_all(&base.db, &[from, from + 1, from + 2]).await?);
    drained().await?;
    let mut batches: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for entry in lab.journal.read()? {
        batches.entry(entry.step).or_default().push(entry.run.parse()?);
    }
    let (mut full, mut short) = (0_u32, 0_u32);
    for (batch, members) in &batches {
        if members.len() == FEW as usize {
            full += 1;
            continue;
        }
        short += 1;
        let (mut oldest, mut began) = (None, Timestamp::default());
        for member in members {
            let (pushed, attempts) = history(&base, &messages[*member]).await?;
            oldest = Some(oldest.map_or(pushed, |oldest: Timestamp| oldest.min(pushed)));
            began = attempts.first().ok_or("nobody worked on it")?.0;
        }
        let waited = oldest.ok_or("a batch of nothing")?.saturating_until(began);
        ensure!(waited >= A_WHILE, "batch {batch} of {} waited {waited:?}", members.len());
    }
    let all: usize = batches.values().map(Vec::len).sum();
    ensure!(all == messages.len(), "{all} of {} were in batches", messages.len());
    ensure!(full > 0 && short > 0, "{full} full and {short} short batches prove nothing");
    Ok(metrics! { "messages": all, "full": full, "short": short })
}

/// X66: twenty keys, four processes, one of which is killed now and then: each key in its order, one at a time.
pub(super) async fn keys_in_order(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    const KEYS: u32 = 20;
    let base = patient_base(lab, kind).await?;
    let each = lab.either(10, 50);
    let all: Vec<_> =
        (0..KEYS * each).map(|number| (number, format!("k{}", number % KEYS))).collect();
    let messages = orders().push_all(&base.db, &all).await?;
    let mut workers = workers(lab, &base, "orders", 4)?;
    let (mut kills, most) = (0, lab.either(2, 20));
    while !is_drained(&base, "orders").await? {
        tokio::time::sleep(Duration::from_millis(300)).await;
        if kills < most {
            let victim = lab.random.index(workers.len());
            workers[victim].kill9().await?;
            workers[victim] = lab.worker(&base.url, &["orders"]).start()?;
            kills += 1;
        }
    }
    let mut last: BTreeMap<&str, Timestamp> = BTreeMap::new();
    let mut attempts = 0;
    for (message, (number, key)) in messages.iter().zip(&all) {
        let (_, stays) = history(&base, message).await?;
        ensure!(!stays.is_empty(), "nobody worked on {number}");
        for (began, over) in stays {
            let before = last.insert(key, over).unwrap_or_default();
            ensure!(began >= before, "{number} of {key} began before the one before it was over");
            attempts += 1;
        }
    }
    ensure!(kills == most, "only {kills} were killed");
    Ok(metrics! { "keys": KEYS, "messages": messages.len(), "attempts": attempts, "kills": kills })
}

/// X67: a flood of one key, and ten messages of another that come after it.
pub(super) async fn ten_behind_a_flood(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let (flood, mut floods) = (lab.either(2_000, 100_000), Vec::new());
    for from in (0..flood).step_by(5_000) {
        let some: Vec<_> =
            (from..flood.min(from + 5_000)).map(|number| (number, "flood".to_owned())).collect();
        floods.extend(crowd().push_all(&base.db, &some).await?);
    }
    let _workers = workers(lab, &base, "flood", 2)?;
    until("a beginning", async || Ok((lab.journal.read()?.len() > 50).then_some(()))).await?;
    let ten: Vec<_> = (flood..flood + 10).map(|number| (number, "ten".to_owned())).collect();
    let ten = crowd().push_all(&base.db, &ten).await?;
    let before = lab.journal.read()?.len();
    let is_ten = |run: &str| run.parse::<u32>().is_ok_and(|number| number >= flood);
    let entries = until("the ten", async || {
        let entries = lab.journal.read()?;
        let many = entries.iter().filter(|entry| is_ten(&entry.run)).count();
        Ok((many == 10).then_some(entries))
    })
    .await?;
    let last = entries.iter().rposition(|entry| is_ten(&entry.run)).ok_or("none of them")?;
    let others = last.saturating_sub(before).saturating_sub(9);
    // A round has one of each; what was claimed already, and what was claimed while they were pushed, comes on top.
    ensure!(others <= 100, "{others} of the flood came before the last of the ten");
    let (slowest, median) = (in_queue(&base, &ten).await?, in_queue(&base, &floods[..51]).await?);
    let (slowest, median) = (slowest[9], median[25]);
    ensure!(
        slowest <= median * 10,
        "the last of the ten took {slowest:?}, and the flood {median:?}"
    );
    Ok(metrics! {
        "flood": flood,
        "of_the_flood_before_the_last": others,
        "slowest_of_ten_seconds": slowest.as_secs_f64(),
        "median_seconds": median.as_secs_f64(),
    })
}

/// How long these were in their queue before an attempt began, the shortest first.
async fn in_queue(base: &Base, messages: &[JobId]) -> Outcome<Vec<Duration>> {
    let mut waited = Vec::new();
    for message in messages {
        let (pushed, attempts) = history(base, message).await?;
        let (began, _) = attempts.first().ok_or("nobody worked on it")?;
        waited.push(pushed.saturating_until(*began));
    }
    waited.sort_unstable();
    Ok(waited)
}

/// So many workers are there.
pub(super) async fn are_alive(base: &Base, many: usize) -> Outcome {
    until("workers that are there", async || {
        let workers = base.db.workers(&WorkerQuery::default()).await?;
        let now = base.db.now().await?;
        let alive = workers.iter().filter(|worker| worker.is_alive(now)).count();
        Ok((alive == many).then_some(()))
    })
    .await
}

/// X68: sixteen messages each through two processes that push, and two that work: one batch of 32.
pub(super) async fn one_batch_of_two(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let workers = workers(lab, &base, "full", 2)?;
    are_alive(&base, workers.len()).await?;
    for from in [0, 16] {
        let push = lab.spawn("push", &base.url).arg("--from", from).arg("--many", 16);
        let (status, _) = push.start()?.end().await?;
        ensure!(status.success(), "a producer ended with {status}");
        // Workers see the first sixteen, and that they are too few.
        tokio::time::sleep(A_WHILE).await;
    }
    until("the end of all", async || Ok(is_drained(&base, "numbers").await?.then_some(()))).await?;
    let sizes: Vec<_> = lab.journal.read()?.into_iter().map(|entry| entry.run).collect();
    ensure!(sizes == ["32"], "batches of {sizes:?}");
    for worker in workers {
        worker.stop().await?;
    }
    Ok(metrics! { "batches": 1, "messages": 32 })
}

/// X69: a message that ends its process spends its attempts and is dead; the others, which were worked on beside it or in one batch with
/// it, are done.
pub(super) async fn poison(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, &[]).await?;
    let singly = poisoned(lab, &base, "poison", &often()).await?;
    let together = poisoned(lab, &base, "poisoned", &thrice()).await?;
    ensure!(singly == 8, "it ended {singly} workers, and not as many as it has attempts");
    Ok(metrics! { "messages": 20, "crashes": singly, "crashes of batches": together })
}

/// Ten messages, one of which ends whoever works on it. Says how often that happened.
async fn poisoned(lab: &Lab, base: &Base, flow: &str, queue: &Queue<u32>) -> Outcome<u32> {
    let all: Vec<u32> = (10..20).collect();
    let messages = queue.push_all(&base.db, &all).await?;
    let (mut worker, mut crashes) = (lab.worker(&base.url, &[flow]).start()?, 0);
    let since = Instant::now();
    loop {
        let stats = base.db.queue(queue.name()).stats().await?;
        if stats.depth + stats.in_flight == 0 {
            break;
        }
        ensure!(since.elapsed() < Duration::from_mins(3), "it takes too long");
        if worker.ended()?.is_some() {
            worker = lab.worker(&base.url, &[flow]).start()?;
            crashes += 1;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    worker.stop().await?;
    let dead = base.db.queue(queue.name()).dead(100).await?;
    let dead: Vec<_> = dead.into_iter().filter(|dead| messages.contains(&dead.id)).collect();
    let [dead] = &dead[..] else { return Err(format!("{} are dead", dead.len()).into()) };
    let poisoned = all.iter().position(|number| *number == POISON).ok_or("no poison")?;
    ensure!(dead.id == messages[poisoned], "another one is dead");
    let record = base.db.job(&dead.id).record().await?;
    let standing = record.summary.standing.to_string();
    ensure!(standing == "crashed", "it is {standing}");
    Ok(crashes)
}

/// X64, for batches: SIGTERM while one is worked on, with a second signal or without, and while one waits that is to be flushed.
pub(super) async fn batch_shutdown(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let items: Vec<u32> = (0..5).collect();
    let messages = once().push_all(&base.db, &items).await?;
    for (round, second) in [(1, false), (2, true)] {
        let grace = if second { 60 } else { 1 };
        let worker = lab.worker(&base.url, &["held"]).arg("--grace", grace).start()?;
        until("a batch that runs", async || {
            Ok((lab.journal.count(What::Entered)? == round).then_some(()))
        })
        .await?;
        worker.signal("TERM").await?;
        if second {
            tokio::time::sleep(Duration::from_millis(300)).await;
            worker.signal("TERM").await?;
        }
        let (_, end) = worker.worker_end().await?;
        ensure!(end.lost == 0, "it says {end:?}");
        for message in &messages {
            let row = base.db.job(message).record().await?.summary.row;
            ensure!(row.lease.is_none(), "message {message} was not given back");
            ensure!(row.attempts == row.forgiven, "an attempt at {message} was used up");
        }
    }
    lab.open("go")?;
    let last = lab.worker(&base.url, &["held"]).start()?;
    until("the end of all", async || Ok(is_drained(&base, "once").await?.then_some(()))).await?;
    last.stop().await?;
    numbers().push_all(&base.db, &[1, 2, 3]).await?;
    let flushing = lab.worker(&base.url, &["flush"]).start()?;
    are_alive(&base, 1).await?;
    flushing.stop().await?;
    ensure!(is_drained(&base, "numbers").await?, "the last batch was not flushed");
    Ok(metrics! { "released_twice": items.len(), "flushed": 3 })
}
