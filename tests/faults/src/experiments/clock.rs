//! Workers whose clock is wrong.

use std::time::{Duration, Instant};

use pgflow::Run;
use pgflow_machine::Happened;

use super::schedules::{schedule_each_second, settle_up};
use crate::flows::{Act, chain, patient, single};
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, Process, What, compile, now};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["chain", "single"];
const HOUR: i64 = 3600;
/// Besides, the clock jumps back and forth by this.
const JUMP: i64 = 600;
/// Makes a clock wrong, in front of the C library's own.
const SHIM: &str = include_str!("../../shim/clock.rs");
/// Seconds that a step sleeps.
const NAP: u64 = 2;
/// Far less than clocks are wrong by, also on a busy machine.
const MUCH_LATER: Duration = Duration::from_mins(1);
/// A worker looks for lost tasks more often than this.
const A_SWEEP: Duration = Duration::from_secs(7);

/// X21: one worker is an hour ahead, the other an hour behind, and both clocks jump. One holds a task and renews its
/// lease; the other must not take it away.
pub(super) async fn skewed(lab: &mut Lab) -> Outcome<Metrics> {
    let base = lab.base(Kind::Postgres, FLOWS).await?;
    let [ahead, behind] = wrong_workers(lab, &base, FLOWS)?;
    let held = base.db.start(single::Flow, &Act::Gate).await?;
    lab.journal.entered("work", 1).await?;
    let runs = keep_busy(lab, &base, [&ahead, &behind]).await?;
    lab.open("gate-1")?;
    let attempt = held.output().await?.after;
    ensure!(attempt == 1, "attempt {attempt} completed: the task was taken from its worker");
    let skews = skews_of(lab, [&ahead, &behind])?;
    let lost = "select coalesce(sum(requeued_count), 0) from pgflow.step_tasks";
    let lost: i64 = sqlx::query_scalar(lost).fetch_one(base.postgres_pool()?).await?;
    ensure!(lost == 0, "{lost} leases ran out");
    for worker in [ahead, behind] {
        let end = worker.stop().await?;
        ensure!((end.superseded, end.lost) == (0, 0), "a worker says {end:?}");
    }
    Ok(metrics! { "seconds_off": skews, "expired_leases": lost, "runs": runs, "attempts_each": 1 })
}

/// One whose clock is an hour ahead, and one whose clock is an hour behind.
fn wrong_workers(lab: &Lab, base: &Base, flows: &[&str]) -> Outcome<[Process; 2]> {
    let shim = compile(lab.dir(), "clock", SHIM)?;
    let worker = |skew: i64| {
        let worker = lab.worker(&base.url, flows).env("LD_PRELOAD", shim.display());
        worker.env("PGFLOW_CLOCK_SKEW", skew).start()
    };
    Ok([worker(HOUR)?, worker(-HOUR)?])
}

/// By how many seconds their clocks are off, which must be about an hour.
fn skews_of(lab: &Lab, [ahead, behind]: [&Process; 2]) -> Outcome<[i64; 2]> {
    let skews = [skew_of(lab, ahead)?, skew_of(lab, behind)?];
    let is_off = |skew: i64, by: i64| (skew - by).abs() <= JUMP + 60;
    ensure!(is_off(skews[0], HOUR) && is_off(skews[1], -HOUR), "clocks were off by {skews:?} s");
    Ok(skews)
}

/// X51: the same two, with steps that sleep and that may be answered for half an hour, and a moment in every second.
pub(super) async fn waits(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    const ALL: &[&str] = &["chain", "patient"];
    let base = lab.base(kind, ALL).await?;
    let first = schedule_each_second(&base).await?;
    let [ahead, behind] = wrong_workers(lab, &base, ALL)?;
    let (mut rounds, mut longest) = (0, Duration::ZERO);
    let (since, lasts) = (Instant::now(), Duration::from_secs(lab.either(8, 60)));
    while since.elapsed() < lasts || !have_worked(lab, &[&ahead, &behind])? {
        let run = base.db.start(patient::Flow, NAP).await?;
        longest = longest.max(slept(&run).await?);
        ensure!(run.hooks().await?.len() == 1, "nobody waits for the answer any more");
        base.db.signal_step::<patient::answer>(run.id(), &7).await?;
        ensure!(run.output().await?.answer == 7, "another answer came");
        rounds += 1;
    }
    let (ticks, runs) = settle_up(&base, first).await?;
    let skews = skews_of(lab, [&ahead, &behind])?;
    for worker in [ahead, behind] {
        worker.stop().await?;
    }
    let longest = longest.as_secs_f64();
    Ok(metrics! {
        "seconds_off": skews, "rounds": rounds, "seconds_asked": NAP, "seconds_slept_at_most": longest, "ticks": ticks, "runs": runs,
    })
}

/// How long its step slept, by the database's clock: until the moment that was written down for it, and not much longer.
async fn slept(run: &Run<patient::Flow>) -> Outcome<Duration> {
    let (mut events, mut nap) = (run.events(), None);
    while let Some(event) = events.next().await {
        let event = event?;
        match event.what {
            Happened::StepWaiting { ref step, until: Some(until), .. } if step == "nap" => {
                let planned = event.at.saturating_until(until);
                let is_right = planned.as_millis().abs_diff((NAP * 1_000).into()) < 1_000;
                ensure!(is_right, "a step is to sleep for {planned:?}");
                nap = Some((event.at, until));
            }
            Happened::StepWoken { ref step, .. } if step == "nap" => {
                let (began, until) = nap.ok_or("it woke up before it slept")?;
                let slept = began.saturating_until(event.at);
                let is_right = until <= event.at && slept < MUCH_LATER;
                ensure!(
                    is_right,
                    "a step slept for {slept:?}, from {began:?} to {:?}, and not until {until:?}",
                    event.at
                );
                return Ok(slept);
            }
            _ => {}
        }
    }
    Err("the run ended before its step woke up".into())
}

fn have_worked(lab: &Lab, workers: &[&Process]) -> Outcome<bool> {
    let entries = lab.journal.read()?;
    Ok(workers.iter().all(|worker| entries.iter().any(|entry| entry.pid == worker.pid)))
}

/// Runs flows until both have worked and would have looked for lost tasks.
async fn keep_busy(lab: &Lab, base: &Base, workers: [&Process; 2]) -> Outcome<u32> {
    let (since, mut runs) = (Instant::now(), 0);
    loop {
        let run = base.db.start(chain::Flow, &1).await?;
        ensure!(run.output().await?.three == 3, "run {} has another output", run.id());
        runs += 1;
        if since.elapsed() > A_SWEEP && have_worked(lab, &workers)? {
            let entries = lab.journal.read()?;
            let attempts = entries.iter().filter(|entry| entry.what == What::Entered).count();
            ensure!(attempts == runs as usize * 3 + 1, "{attempts} attempts for {runs} runs");
            return Ok(runs);
        }
    }
}

/// By how many seconds a worker's clock is off, by what it wrote last.
fn skew_of(lab: &Lab, worker: &Process) -> Outcome<i64> {
    let entries = lab.journal.read()?;
    let last = entries.iter().rfind(|entry| entry.pid == worker.pid).ok_or("it did nothing")?;
    Ok((i64::try_from(last.at)? - i64::try_from(now())?) / 1000)
}
