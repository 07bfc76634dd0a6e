//! Schedules through a worker and a client, on the clock of the database.

use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use pgflow::backend::NewSchedule;
use pgflow::prelude::*;
use pgflow::{
    ClientError, RunStatus, Timestamp,
    client::RunQuery,
    schedule::{Missed, Origin, Overlap, Put, ScheduleSpec, ScheduleStatus},
};
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};
use tokio::time::{Instant, sleep, timeout};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

#[flow(input = u32)]
mod report {
    use super::*;

    #[step]
    pub(crate) async fn write(run: u32) -> Result<u32> {
        Ok(run)
    }
}

/// The inputs that were made for runs.
static MADE: Mutex<u32> = Mutex::new(0);

fn another() -> u32 {
    let mut made = MADE.lock().expect("nobody panics with it");
    *made += 1;
    *made
}

#[flow(input = u32, schedule = "* * * * * *", missed = "all(100)", schedule_input = another())]
mod pulse {
    use super::*;

    #[step]
    pub(crate) async fn beat(run: u32) -> Result<u32> {
        Ok(run)
    }
}

/// What an input is that nobody can make, or that no database takes.
fn unusable(how: u32) -> String {
    match how {
        0 => panic!("no report today"),
        1 => "a\0b".to_owned(),
        2 => "x".repeat(5 << 20),
        _ => "as it should be".to_owned(),
    }
}

/// How inputs of `flaky` are made: as they should be, until a test says otherwise.
static HOW: Mutex<u32> = Mutex::new(9);

/// Of the tests that do, one at a time: what it says is for all.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

fn make(how: u32) -> Outcome {
    *HOW.lock().map_err(|_| "nobody panics with it")? = how;
    Ok(())
}

fn made_somehow() -> String {
    let how = *HOW.lock().expect("nobody panics with it");
    unusable(how)
}

#[flow(input = String, schedule = "* * * * * *", schedule_input = made_somehow())]
mod flaky {
    use super::*;

    #[step]
    pub(crate) async fn beat(run: String) -> Result<usize> {
        Ok(run.len())
    }
}

/// It does not start by itself any more.
#[flow(input = u32)]
mod still {
    use super::*;

    #[step]
    pub(crate) async fn beat(run: u32) -> Result<u32> {
        Ok(run)
    }
}

everywhere!(
    a_worker_starts_each_tick_once,
    flows_declare_schedules_which_come_and_go_with_the_source,
    what_is_wrong_is_said,
    nothing_of_when_one_begins_is_ignored,
    a_run_by_hand_has_an_input_of_its_own,
    an_input_that_cannot_be_is_said_and_others_are_started,
    an_input_that_cannot_be_stops_no_worker_that_starts,
    runs_queue_up_behind_each_other,
    a_run_can_begin_later,
    times_that_no_clock_shows_are_far_away,
);

/// Ends when this is so.
async fn until<F: Future<Output = Outcome<bool>>>(mut is_so: impl FnMut() -> F) -> Outcome {
    let deadline = Instant::now() + PATIENCE;
    while !is_so().await? {
        if Instant::now() > deadline {
            return Err("it is not so after all that time".into());
        }
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

async fn runs(fresh: &Fresh, flow: &str) -> Outcome<Vec<pgflow::client::RunSummary>> {
    let query = RunQuery { flows: vec![flow.to_owned()], max: 1_000, ..RunQuery::default() };
    Ok(fresh.db.list(&query).await?.runs)
}

async fn a_worker_starts_each_tick_once(fresh: Fresh) -> Outcome {
    fresh.db.register(report::Flow).await?;
    let schedule = fresh.db.schedule("each second");
    let create = || schedule.flow(report::Flow, 7).cron("* * * * * *").missed(Missed::All(100));
    assert_eq!(create().await?, Put::Created);
    assert_eq!(create().await?, Put::Unchanged);
    let made = schedule.get().await?;
    assert!(made.next_at.is_some(), "it is known when it is due: {made:?}");
    let workers = [(); 2].map(|()| Working::start(Worker::new(&fresh.db).flow(report::Flow)));
    until(|| async { Ok(runs(&fresh, "report").await?.len() >= 3) }).await?;
    schedule.pause().await?;
    let (paused, all) = (schedule.get().await?, runs(&fresh, "report").await?);
    let (last, started) = (paused.last_at.ok_or("it has started runs")?, all.len());
    // Whole seconds since it was made: the client itself starts the first if that has come when it looks.
    let second = |moment: Timestamp| moment.micros().div_euclid(1_000_000);
    let seen = || format!("one for each second since {made:?}: {paused:?}, {all:?}");
    assert_eq!(i64::try_from(started)?, second(last) - second(made.created_at), "{}", seen());
    until(|| async {
        let all = runs(&fresh, "report").await?;
        Ok(all.iter().all(|run| run.status == RunStatus::Completed))
    })
    .await?;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(runs(&fresh, "report").await?.len(), started, "it is paused");
    for worker in workers {
        worker.stop().await?;
    }
    Ok(())
}

async fn flows_declare_schedules_which_come_and_go_with_the_source(fresh: Fresh) -> Outcome {
    fresh.db.register(pulse::Flow).await?;
    let schedule = fresh.db.schedule("pulse");
    let worker = Working::start(Worker::new(&fresh.db).flow(pulse::Flow));
    until(|| async { Ok(runs(&fresh, "pulse").await?.len() >= 2) }).await?;
    let mut inputs = Vec::new();
    for run in runs(&fresh, "pulse").await? {
        inputs.push(
            fresh.db.record(run.id, pgflow::client::Parts::Run).await?.input.ok_or("an input")?,
        );
    }
    inputs.sort_by_key(serde_json::Value::as_u64);
    inputs.dedup();
    assert!(inputs.len() >= 2, "each run has an input of its own: {inputs:?}");
    worker.stop().await?;
    schedule.pause().await?;
    let worker = Working::start(Worker::new(&fresh.db).flow(pulse::Flow));
    sleep(Duration::from_millis(300)).await;
    assert!(schedule.get().await?.paused_at.is_some(), "nobody resumes what somebody paused");
    worker.stop().await?;
    let by_hand = schedule.flow(pulse::Flow, 7).cron("@daily").await;
    assert!(matches!(by_hand, Err(ClientError::Schedule { .. })), "{by_hand:?}");
    fresh.db.register(still::Flow).await?;
    let spec = ScheduleSpec { origin: Origin::Source, ..ScheduleSpec::new("still", "@daily") };
    let before = NewSchedule::new("still", spec);
    fresh.db.backend().schedules()?.put_schedule(&before).await??;
    let worker = Working::start(Worker::new(&fresh.db).flow(still::Flow));
    until(|| async { Ok(fresh.db.schedules().await?.len() == 1) }).await?;
    assert_eq!(fresh.db.schedules().await?[0].name, "pulse", "nobody here knows that one");
    worker.stop().await?;
    Ok(())
}

async fn what_is_wrong_is_said(fresh: Fresh) -> Outcome {
    let nightly = fresh.db.schedule("nightly");
    let create = |cron: &str| nightly.flow(report::Flow, 7).cron(cron);
    let unknown = create("@daily").await.unwrap_err();
    assert!(unknown.to_string().contains("report"), "there is no such flow: {unknown}");
    fresh.db.register(report::Flow).await?;
    let wrong = create("0 25 * * *").await.unwrap_err();
    assert!(matches!(wrong, ClientError::Timetable(_)), "{wrong:?}");
    let wrong = create("@daily").timezone("Europe/Berln").await.unwrap_err();
    assert!(wrong.to_string().contains("Europe/Berlin"), "{wrong}");
    let past = SystemTime::now() - Duration::from_hours(1);
    let wrong = create("@daily").starting(past).await.unwrap_err();
    assert!(wrong.to_string().contains("in the past"), "{wrong}");
    assert!(fresh.db.schedules().await?.is_empty());
    let wrong = nightly.pause().await.unwrap_err();
    assert_eq!(wrong.to_string(), "there is no schedule `nightly`");
    let later = SystemTime::now() + Duration::from_hours(48);
    create("@hourly").starting(later).await?;
    let next = nightly.next(2).await?;
    assert!(SystemTime::from(next[0]) >= later && next.len() == 2);
    assert_eq!(next[0].saturating_until(next[1]), Duration::from_hours(1));
    let run = nightly.fire().await?;
    assert_eq!(fresh.db.record(run, pgflow::client::Parts::Run).await?.input, Some(7.into()));
    assert!(nightly.remove().await? && !nightly.remove().await?);
    Ok(())
}

async fn nothing_of_when_one_begins_is_ignored(fresh: Fresh) -> Outcome {
    fresh.db.register(report::Flow).await?;
    let later = fresh.db.schedule("later");
    let starting = |at| later.flow(report::Flow, 7).cron("@daily").starting(at);
    for year in [3_200, 10_000, 290_000] {
        let at = Timestamp::from_micros(i64::from(year) * 31_556_952_000_000);
        let late = starting(at).await.unwrap_err();
        assert!(late.to_string().contains("after its last moment"), "{late}");
    }
    for micros in [i64::MIN, -1, 0] {
        let past = starting(Timestamp::from_micros(micros)).await.unwrap_err();
        assert!(past.to_string().contains("in the past"), "{past}");
    }
    assert!(starting(Timestamp::from_micros(i64::MAX)).await.is_err());
    assert!(fresh.db.schedules().await?.is_empty());
    let month = SystemTime::now() + Duration::from_hours(720);
    starting(month.into()).await?;
    let first = later.next(1).await?[0];
    assert!(SystemTime::from(first) >= month);
    later.pause().await?;
    assert_eq!(later.next(1).await?, [first], "as if it were resumed now");
    later.resume().await?;
    assert_eq!((later.next(1).await?, later.get().await?.next_at), (vec![first], Some(first)));
    let text = fresh.db.schedule("text").flow_by_name("report", "a\0b".into()).cron("@daily").await;
    assert!(matches!(text, Err(ClientError::Payload { .. })), "{text:?}");
    for most in [0, 1_001] {
        let number = later.flow(report::Flow, 7).cron("@daily").missed(Missed::All(most)).await;
        let said = number.unwrap_err().to_string();
        assert!(said.contains(&format!("`all({most})` is not one of")), "{said}");
    }
    Ok(())
}

async fn a_run_by_hand_has_an_input_of_its_own(fresh: Fresh) -> Outcome {
    let worker = fresh.work(pulse::Flow).await?;
    let schedule = fresh.db.schedule("pulse");
    until(|| async { Ok(schedule.get().await.is_ok()) }).await?;
    schedule.pause().await?;
    worker.stop().await?;
    let input = async |run| fresh.db.record(run, pgflow::client::Parts::Run).await;
    let stored = schedule.get().await?.spec.input.as_u64();
    let before = u64::from(*MADE.lock().map_err(|_| "nobody panics with it")?);
    let made = input(schedule.fire().await?).await?.input.and_then(|input| input.as_u64());
    assert!(
        made > Some(before),
        "{made:?} was made now: {before} were before, and {stored:?} is stored"
    );
    Ok(())
}

async fn an_input_that_cannot_be_is_said_and_others_are_started(fresh: Fresh) -> Outcome {
    let _turn = TURN.lock().await;
    make(9)?;
    fresh.db.register(flaky::Flow).await?;
    fresh.db.register(report::Flow).await?;
    let worker = Working::start(Worker::new(&fresh.db).flow(flaky::Flow).flow(report::Flow));
    let (flaky, other) = (fresh.db.schedule("flaky"), fresh.db.schedule("beside"));
    until(|| async { Ok(flaky.get().await.is_ok_and(|it| it.last_at.is_some())) }).await?;
    other.flow(report::Flow, 7).cron("* * * * * *").await?;
    for (how, said) in [(0, "no report today"), (1, "NUL"), (2, "bytes")] {
        make(how)?;
        until(|| async { Ok(flaky.get().await?.error.is_some_and(|it| it.contains(said))) })
            .await?;
        let before = other.get().await?.last_at;
        let started = flaky.get().await?.last_at;
        until(|| async { Ok(other.get().await?.last_at > before) }).await?;
        assert_eq!(flaky.get().await?.last_at, started, "what starts without an input: {how}");
    }
    make(9)?;
    until(|| async { Ok(flaky.get().await?.error.is_none()) }).await?;
    worker.stop().await?;
    Ok(())
}

async fn an_input_that_cannot_be_stops_no_worker_that_starts(fresh: Fresh) -> Outcome {
    let _turn = TURN.lock().await;
    fresh.db.register(flaky::Flow).await?;
    fresh.db.register(report::Flow).await?;
    let (flaky, mut before) = (fresh.db.schedule("flaky"), 0);
    let begin = || Working::start(Worker::new(&fresh.db).flow(flaky::Flow).flow(report::Flow));
    for is_known in [false, true] {
        for (how, said) in [(0, "no report today"), (1, "NUL"), (2, "bytes")] {
            make(how)?;
            let worker = begin();
            let beside = fresh.db.start(report::Flow, how).await?;
            assert_eq!(timeout(PATIENCE, beside.output()).await??.write, how);
            until(|| async {
                let kept = flaky.get().await;
                Ok(kept.is_ok_and(|it| it.error.is_some_and(|error| error.contains(said))))
            })
            .await?;
            assert_eq!(flaky.get().await?.status, ScheduleStatus::Active);
            assert_eq!(runs(&fresh, "flaky").await?.len(), before, "without an input: {how}");
            make(9)?;
            until(|| async { Ok(flaky.get().await?.error.is_none()) }).await?;
            worker.stop().await?;
            flaky.pause().await?;
            if is_known {
                flaky.resume().await?;
            } else {
                flaky.remove().await?;
            }
            let runs = runs(&fresh, "flaky").await?.len();
            assert!(std::mem::replace(&mut before, runs) < runs, "it goes on: {how}");
        }
    }
    Ok(())
}

async fn runs_queue_up_behind_each_other(fresh: Fresh) -> Outcome {
    fresh.db.register(report::Flow).await?;
    let schedule = fresh.db.schedule("in line");
    let create = schedule.flow(report::Flow, 7).cron("* * * * * *");
    create.missed(Missed::All(100)).overlap(Overlap::Queue).await?;
    // A worker that serves another flow starts runs, but ends none.
    fresh.db.register(still::Flow).await?;
    let idle = Working::start(Worker::new(&fresh.db).flow(still::Flow));
    until(|| async { Ok(schedule.get().await?.queued.len() >= 2) }).await?;
    assert_eq!(runs(&fresh, "report").await?.len(), 1, "the others wait");
    let worker = Working::start(Worker::new(&fresh.db).flow(report::Flow));
    until(|| async { Ok(runs(&fresh, "report").await?.len() >= 2) }).await?;
    assert_eq!(schedule.get().await?.status, ScheduleStatus::Active);
    worker.stop().await?;
    idle.stop().await?;
    Ok(())
}

async fn times_that_no_clock_shows_are_far_away(fresh: Fresh) -> Outcome {
    fresh.db.register(report::Flow).await?;
    let at = |micros| fresh.db.start(report::Flow, 1).at(Timestamp::from_micros(micros));
    let past = at(i64::MIN).await?;
    let never = [at(i64::MAX).await?, fresh.db.start(report::Flow, 2).delay(Duration::MAX).await?];
    let worker = Working::start(Worker::new(&fresh.db).flow(report::Flow));
    assert_eq!(past.output().await?.write, 1);
    for run in never {
        let work = run.progress().await?[0].work.clone().ok_or("its step is started")?;
        let in_years = SystemTime::now() + Duration::from_hours(876_000);
        assert!(work.next_at.is_some_and(|at| SystemTime::from(at) > in_years), "{work:?}");
    }
    worker.stop().await?;
    Ok(())
}

async fn a_run_can_begin_later(fresh: Fresh) -> Outcome {
    fresh.db.register(report::Flow).await?;
    let later = fresh.db.start(report::Flow, 1).delay(Duration::from_hours(1)).await?;
    let soon = SystemTime::now() + Duration::from_secs(2);
    let soon = fresh.db.start(report::Flow, 2).at(soon).await?;
    let now = fresh.db.start(report::Flow, 3).at(SystemTime::UNIX_EPOCH).await?;
    let worker = Working::start(Worker::new(&fresh.db).flow(report::Flow));
    assert_eq!(now.output().await?.write, 3);
    let work = later.progress().await?[0].work.clone().ok_or("its step is started")?;
    assert_eq!(work.attempts, 0);
    assert!(work.next_at.is_some_and(|at| SystemTime::from(at) > SystemTime::now()));
    assert_eq!(soon.output().await?.write, 2);
    let took = soon.record(pgflow::client::Parts::Run).await?;
    let waited = took.started_at.saturating_until(took.ended_at.ok_or("it has ended")?);
    assert!(waited >= Duration::from_secs(1), "it waited for {waited:?}");
    later.cancel(None).await?;
    assert_eq!(later.status().await?, RunStatus::Cancelled);
    worker.stop().await?;
    Ok(())
}
