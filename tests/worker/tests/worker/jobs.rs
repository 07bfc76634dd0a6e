//! Jobs through a worker and a client, from their submission to their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow::Timestamp;
use pgflow::backend::JobStanding;
use pgflow::client::{ClientError, JobHandle};
use pgflow::job::{JobId, JobSpec, Next as AnyNext, Policy, Wait};
use pgflow::prelude::*;
use pgflow_machine::job::{JobProblem, TraceKind};
use pgflow_worker_tests::{Fresh, Outcome, Working};
use serde_json::json;
use tokio::sync::Notify;

#[data]
#[derive(Clone)]
struct Upload {
    customer: String,
    pages: Vec<String>,
}

#[data]
#[derive(Clone)]
struct Draft {
    customer: String,
    scans: Vec<ScanId>,
}

/// An id in a payload.
#[data]
#[derive(Clone)]
struct ScanId(String);

#[job]
mod invoice {
    use super::*;

    #[need]
    pub(crate) async fn ingest(job: Upload, ctx: JobContext) -> Result<Next> {
        let scans = ctx.submit_all::<page::scan>(job.pages)?;
        let names = scans.iter().map(|id| ScanId(id.to_string())).collect();
        let draft = Draft { customer: job.customer, scans: names };
        Ok(Next::to::<merge>(draft).after(scans))
    }

    #[need]
    pub(crate) async fn merge(job: Draft, State(db): State<Db>) -> Result<Next> {
        let mut letters = 0;
        for ScanId(id) in &job.scans {
            letters += db.job(&id.parse()?).output::<usize>().await.map_err(Error::fatal)?;
        }
        if letters > 20 {
            return Ok(Next::to::<review>(format!("{letters} letters for {}", job.customer)));
        }
        Ok(Next::done(letters))
    }

    #[need("human.review", external)]
    pub(crate) async fn review(job: String) -> Result<Next>;
}

#[job]
mod page {
    use super::*;

    #[need]
    pub(crate) async fn scan(job: String) -> Result<Next> {
        Ok(Next::done(job.len()))
    }
}

fn upload(pages: &[&str]) -> Upload {
    Upload { customer: "Ann".into(), pages: pages.iter().map(|&page| page.into()).collect() }
}

fn work(fresh: &Fresh) -> Working {
    let worker = Worker::new(&fresh.db).job(invoice::Job).job(page::Job);
    Working::start(worker.state(fresh.db.clone()))
}

/// What an error says, with its causes.
async fn why(job: &JobHandle) -> String {
    job.output::<serde_json::Value>().await.expect_err("it is not done").to_string()
}

async fn a_job_forks_joins_and_is_done(fresh: Fresh) -> Outcome {
    let worker = work(&fresh);
    let job = fresh.db.submit::<invoice::ingest>(&upload(&["one", "three"])).id("inv-1").await?;
    assert_eq!(job.output::<usize>().await?, 8);
    let again = fresh.db.submit::<invoice::ingest>(&upload(&[])).id("inv-1").await?;
    assert!(!again.is_new(), "a name is used once, also when its job is over");
    let trace = job.trace().await?;
    let mut events = job.events();
    for event in &trace {
        assert_eq!(events.next().await.ok_or("an event")??, *event, "one reader for all");
    }
    assert!(events.next().await.is_none(), "it has ended");
    let kinds: Vec<_> = trace.iter().map(|event| event.kind.to_string()).collect();
    assert_eq!(kinds.first().map(String::as_str), Some("submitted"));
    assert_eq!(kinds.last().map(String::as_str), Some("finished"));
    assert!(kinds.contains(&"handed_over".to_owned()), "{kinds:?}");
    worker.stop().await?;
    Ok(())
}

/// Another program, or a person, does what nobody here can.
async fn others_handle_what_is_external(fresh: Fresh) -> Outcome {
    let worker = work(&fresh);
    let job =
        fresh.db.submit::<invoice::ingest>(&upload(&["a long page", "another long one"])).await?;
    let person = Worker::new(&fresh.db).need("human.review", |case, ctx| async move {
        assert_eq!(ctx.need(), "human.review");
        Ok(AnyNext::<()>::done(json!({ "approved": case })))
    });
    assert_eq!(job.wait_for(Duration::from_millis(200)).await?, None, "nobody has looked at it");
    // Who reads along sees it come, from where it was.
    let seen = job.trace().await?;
    let mut events = job.events_after(seen.last().ok_or("it was submitted")?.number);
    let reading = tokio::spawn(async move {
        let mut kinds = Vec::new();
        while let Some(event) = events.next().await {
            kinds.push(event?.kind);
        }
        Ok::<_, ClientError>(kinds)
    });
    let person = Working::start(person);
    let output: serde_json::Value = job.output().await?;
    assert_eq!(output["approved"], "27 letters for Ann");
    let read = reading.await??;
    assert!(read.ends_with(&[TraceKind::Claimed, TraceKind::Finished]), "{read:?}");
    person.stop().await?;
    worker.stop().await?;
    Ok(())
}

#[derive(Clone, Default)]
struct Counted(Arc<AtomicU32>);

#[job]
mod shaky {
    use super::*;

    #[need(max_attempts = 3, base_delay = 0)]
    pub(crate) async fn third_time(job: u32, State(count): State<Counted>) -> Result<Next> {
        let nth = count.0.fetch_add(1, Ordering::SeqCst) + 1;
        if nth < job {
            return Err(format!("attempt {nth} of {job}").into());
        }
        Ok(Next::done(nth))
    }

    #[need(max_attempts = 5, base_delay = 0)]
    pub(crate) async fn fatal() -> Result<Next> {
        Err(Error::fatal("no such customer"))
    }

    #[need(max_attempts = 2, base_delay = 0)]
    pub(crate) async fn panics() -> Result<Next> {
        panic!("out of paper");
    }

    #[need(max_attempts = 5, base_delay = 0)]
    pub(crate) async fn strange(job: u32) -> Result<Next> {
        Ok(Next::done(job))
    }

    /// The delay is what it says, and not what its policy would be.
    #[need(max_attempts = 2, base_delay = 3600)]
    pub(crate) async fn busy(job: Option<u64>, ctx: JobContext) -> Result<Next> {
        if ctx.attempt() == 1 {
            let delay = job.map_or(Duration::MAX, Duration::from_millis);
            return Err(Error::retry_after(delay, "the printer is busy"));
        }
        Ok(Next::done(()))
    }

    #[need]
    pub(crate) async fn waits_for_nobody() -> Result<Next> {
        let nobody: JobId = "nobody".parse()?;
        Ok(Next::to::<fatal>(()).after([nobody]))
    }
}

async fn failures_are_tried_again_and_end(fresh: Fresh) -> Outcome {
    let worker = |count: &Counted| {
        Working::start(Worker::new(&fresh.db).job(shaky::Job).state(count.clone()))
    };
    let count = Counted::default();
    let working = worker(&count);
    let job = fresh.db.submit::<shaky::third_time>(&3).await?;
    assert_eq!(job.output::<u32>().await?, 3);
    let job = fresh.db.submit::<shaky::third_time>(&99).await?;
    assert!(why(&job).await.contains("attempt 6 of 99"), "three attempts of its own");
    let job = fresh.db.submit::<shaky::fatal>(&()).await?;
    assert!(why(&job).await.ends_with("no such customer"));
    assert_eq!(job.record().await?.summary.row.attempts, 1, "nothing would mend it");
    let job = fresh.db.submit::<shaky::panics>(&()).await?;
    assert!(why(&job).await.contains("out of paper"));
    let job = fresh.db.submit_raw("shaky.strange", json!("seven")).await?;
    assert!(why(&job).await.contains("cannot read the payload"), "{}", why(&job).await);
    let job = fresh.db.submit::<shaky::waits_for_nobody>(&()).await?;
    assert!(why(&job).await.contains("nobody"), "{}", why(&job).await);
    let report = working.stop().await?;
    assert!(report.is_clean(), "{report}");
    Ok(())
}

#[derive(Clone, Default)]
struct Bells {
    began: Arc<Notify>,
    told: Arc<Notify>,
}

#[job]
mod patient {
    use super::*;

    #[need(lease = 2)]
    pub(crate) async fn wait(ctx: JobContext, State(bells): State<Bells>) -> Result<Next> {
        bells.began.notify_one();
        ctx.cancelled().await;
        bells.told.notify_one();
        Err("told to stop".into())
    }

    #[need(lease = 2)]
    pub(crate) async fn long(job: u64) -> Result<Next> {
        tokio::time::sleep(Duration::from_millis(job)).await;
        Ok(Next::done(job))
    }
}

async fn a_cancelled_job_tells_its_handler(fresh: Fresh) -> Outcome {
    let bells = Bells::default();
    let worker = Worker::new(&fresh.db).job(patient::Job).state(bells.clone());
    let worker = Working::start(worker);
    let job = fresh.db.submit::<patient::wait>(&()).await?;
    bells.began.notified().await;
    job.cancel("not needed").await?;
    bells.told.notified().await;
    assert_eq!(job.wait().await?.to_string(), "cancelled");
    // Its worker gave it back: nothing that it held was kept until the end of a lease.
    assert_eq!(job.record().await?.summary.row.lapses, 0);
    worker.stop().await?;
    Ok(())
}

/// The lease is much shorter than the work.
async fn a_lease_is_kept_while_the_handler_runs(fresh: Fresh) -> Outcome {
    let worker =
        || Working::start(Worker::new(&fresh.db).job(patient::Job).state(Bells::default()));
    let workers = [worker(), worker()];
    let job = fresh.db.submit::<patient::long>(&5_000).await?;
    assert_eq!(job.output::<u64>().await?, 5_000);
    let row = job.record().await?.summary.row;
    assert_eq!((row.attempts, row.lapses), (1, 0), "nobody took it away");
    for worker in workers {
        worker.stop().await?;
    }
    Ok(())
}

/// What a worker has when it stops is given back, without an attempt.
async fn a_worker_that_stops_gives_jobs_back(fresh: Fresh) -> Outcome {
    let bells = Bells::default();
    let worker = Worker::new(&fresh.db).job(patient::Job).state(bells.clone());
    let worker = Working::start(worker.grace(Duration::ZERO));
    let job = fresh.db.submit::<patient::wait>(&()).await?;
    bells.began.notified().await;
    let report = worker.stop().await?;
    assert!(report.is_clean(), "{report}");
    let record = job.record().await?;
    assert!(matches!(record.summary.standing, JobStanding::Live(_)), "{record:?}");
    let row = record.summary.row;
    assert_eq!((row.attempts, row.failures, row.lapses), (0, 0, 0), "nothing was used up");
    Ok(())
}

#[flow(input = u8)]
mod counting {
    #[step]
    pub(crate) async fn one(run: u8) -> pgflow::Result<u8> {
        Ok(run + 1)
    }
}

/// Flows and jobs in one worker, and a job that waits for a run.
async fn a_job_waits_for_a_run(fresh: Fresh) -> Outcome {
    fresh.db.register(counting::Flow).await?;
    let run = fresh.db.start(counting::Flow, &1).await?;
    let waits = Wait::from(run.id()).or(Policy::Fail);
    let job = fresh.db.submit::<page::scan>(&"four".to_owned()).after([waits]).await?;
    assert_eq!(job.status().await?.to_string(), "PENDING_JOBS");
    let worker = Worker::new(&fresh.db).flow(counting::Flow).job(page::Job);
    let worker = Working::start(worker);
    assert_eq!(job.output::<usize>().await?, 4);
    assert_eq!(run.output().await?.one, 2);
    // Or it might complete the run before that is cancelled.
    worker.stop().await?;
    let cancelled = fresh.db.start(counting::Flow, &1).await?;
    cancelled.cancel(None).await?;
    let waits = Wait::from(cancelled.id()).or(Policy::Fail);
    let job = fresh.db.submit::<page::scan>(&"four".to_owned()).after([waits]).await?;
    assert_eq!(job.wait().await?.to_string(), "failed");
    Ok(())
}

/// One slot, many tasks ahead: a job must not wait for all of them.
async fn tasks_do_not_starve_jobs(fresh: Fresh) -> Outcome {
    fresh.db.register(counting::Flow).await?;
    let mut runs = Vec::new();
    for n in 0..200_u8 {
        runs.push(fresh.db.start(counting::Flow, &n).await?);
    }
    let job = fresh.db.submit::<page::scan>(&"four".to_owned()).await?;
    let worker = Worker::new(&fresh.db).flow(counting::Flow).job(page::Job).concurrency(1);
    let worker = Working::start(worker);
    assert_eq!(job.output::<usize>().await?, 4);
    let ended = job.record().await?.summary.ended_at.ok_or("it has ended")?;
    let last = runs.last().ok_or("there are runs")?;
    last.wait().await?;
    let record = last.record(pgflow::client::Parts::Run).await?;
    assert!(record.ended_at.is_some_and(|last| ended < last), "the job was the last of all");
    worker.stop().await?;
    Ok(())
}

async fn a_handler_says_when_it_is_tried_again(fresh: Fresh) -> Outcome {
    let worker = Worker::new(&fresh.db).job(shaky::Job).state(Counted::default());
    let worker = Working::start(worker);
    let delay = Duration::from_millis(700);
    let never = fresh.db.submit::<shaky::busy>(&None).await?;
    let job = fresh.db.submit::<shaky::busy>(&Some(700)).await?;
    job.output::<()>().await?;
    let trace = job.trace().await?;
    let at = |kind: TraceKind| trace.iter().rfind(|event| event.kind == kind).map(|it| it.at);
    let (failed, claimed) = (at(TraceKind::Failed), at(TraceKind::Claimed));
    let waited = failed.zip(claimed).map(|(failed, claimed)| failed.saturating_until(claimed));
    assert!(waited >= Some(delay), "{trace:?}");
    // So far that nobody will see it, and its error is kept.
    loop {
        let summary = never.record().await?.summary;
        if summary.row.failures == 1 {
            assert_eq!(summary.standing.to_string(), "AWAITING_FUTURE");
            assert_eq!(summary.error.as_deref(), Some("the printer is busy"));
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    worker.stop().await?;
    Ok(())
}

/// Which needs there are is known to nobody: one that is not served waits, and one that is no name ends the job.
async fn a_raw_hand_over_waits_for_whoever_serves_it(fresh: Fresh) -> Outcome {
    let worker = Worker::new(&fresh.db).need("rust.first", |job, _| async move {
        let need = job["need"].as_str().unwrap_or_default().to_owned();
        Ok(AnyNext::<()>::to_raw(need, json!({ "rows": job["rows"] })))
    });
    let worker = Working::start(worker);
    let on = json!({ "need": "python.transform", "rows": 3 });
    let job = fresh.db.submit_raw("rust.first", on).await?;
    let nowhere = fresh.db.submit_raw("rust.first", json!({ "need": "" })).await?;
    assert!(
        why(&nowhere).await.contains("the name of the need is empty"),
        "{}",
        why(&nowhere).await
    );
    let long = fresh.db.submit_raw("rust.first", json!({ "need": "x".repeat(129) })).await?;
    assert!(why(&long).await.contains("more than 128 bytes"), "{}", why(&long).await);
    assert_eq!(job.wait_for(Duration::from_millis(200)).await?, None, "nobody serves it");
    assert_eq!(job.record().await?.summary.row.need, "python.transform");
    let other = Worker::new(&fresh.db).need("python.transform", |job, _| async move {
        Ok(AnyNext::<()>::done(job["rows"].clone()))
    });
    let other = Working::start(other);
    assert_eq!(job.output::<u32>().await?, 3);
    other.stop().await?;
    worker.stop().await?;
    Ok(())
}

/// A name of a kind of job that is here is no name of somebody else's need: it was spelled wrong.
async fn a_raw_hand_over_to_no_need_of_its_kind_ends_the_job(fresh: Fresh) -> Outcome {
    let worker = Worker::new(&fresh.db).job(page::Job).need("rust.first", |job, ctx| async move {
        let fork = JobSpec::<page::scan>::new("forked".to_owned())?;
        ctx.submit_spec(fork.id("forked").map_err(Error::fatal)?);
        Ok(AnyNext::<()>::to_raw(job.as_str().unwrap_or_default(), json!("four")))
    });
    let worker = Working::start(
        worker.need("page.thumbnail", |_, _| async move { Ok(AnyNext::<()>::done("small")) }),
    );
    let typo = fresh.db.submit_raw("rust.first", json!("page.skan")).await?;
    assert!(why(&typo).await.contains("the kind of job `page` has no need `page.skan`"));
    assert_eq!(typo.record().await?.summary.row.attempts, 1, "nothing would mend it");
    let forked = fresh.db.job(&"forked".parse()?);
    let unknown = forked.status().await;
    assert!(
        matches!(unknown, Err(ClientError::UnknownJob { .. })),
        "it forks nothing: {unknown:?}"
    );
    let job = fresh.db.submit_raw("rust.first", json!("page.scan")).await?;
    assert_eq!(job.output::<usize>().await?, 4);
    let job = fresh.db.submit_raw("rust.first", json!("page.thumbnail")).await?;
    assert_eq!(job.output::<String>().await?, "small", "who brings it along knows it");
    for elsewhere in ["python.transform", "pages.scan", "page"] {
        let job = fresh.db.submit_raw("rust.first", json!(elsewhere)).await?;
        while job.record().await?.summary.row.need != elsewhere {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    worker.stop().await?;
    Ok(())
}

/// Whoever submits says it, or else the need, or else nobody; each hand-over counts anew, by what the next need says.
async fn attempts_are_as_many_as_somebody_says(fresh: Fresh) -> Outcome {
    let worker = Worker::new(&fresh.db).job(shaky::Job).state(Counted::default());
    let worker = Working::start(worker.need("rust.shaky", |job, ctx| async move {
        if ctx.attempt() < 2 {
            return Err("not at once".into());
        }
        Ok(AnyNext::<()>::to_raw("shaky.panics", job))
    }));
    let once = fresh.db.submit::<shaky::panics>(&()).max_attempts(1).await?;
    let thrice = fresh.db.submit::<shaky::panics>(&()).max_attempts(3).await?;
    let as_said = fresh.db.submit::<shaky::panics>(&()).await?;
    let raw = fresh.db.submit_raw("shaky.panics", json!(null)).await?;
    let raw_once = fresh.db.submit_raw("shaky.panics", json!(null)).max_attempts(1).await?;
    let too_few = fresh.db.submit_raw("rust.shaky", json!(null)).max_attempts(1).await?;
    let handed_on = fresh.db.submit_raw("rust.shaky", json!(null)).await?;
    for (job, attempts) in [
        (once, 1),
        (thrice, 3),
        (as_said, 2),
        (raw, 2),
        (raw_once, 1),
        (too_few, 1),
        (handed_on, 4),
    ] {
        assert_eq!(job.wait().await?.to_string(), "failed");
        assert_eq!(job.record().await?.summary.row.attempts, attempts, "{}", job.id());
    }
    worker.stop().await?;
    Ok(())
}

async fn far_times_are_refused(fresh: Fresh) -> Outcome {
    let far = Timestamp::from_micros(i64::MAX);
    let submits = [
        fresh.db.submit_raw("n", json!(1)).delay(Duration::MAX),
        fresh.db.submit_raw("n", json!(1)).expires_in(Duration::MAX),
        fresh.db.submit_raw("n", json!(1)).at(far),
    ];
    for submit in submits {
        let refused = submit.await.expect_err("no clock will show that");
        let is_time = matches!(&refused, ClientError::Job { source: JobProblem::Time(_), .. });
        assert!(is_time, "{refused}");
    }
    Ok(())
}

async fn wrong_requests_are_refused(fresh: Fresh) -> Outcome {
    let nobody: JobId = "nobody".parse()?;
    let job = fresh.db.submit::<page::scan>(&String::new()).after([&nobody]);
    let refused = job.await.expect_err("there is no such job");
    assert!(matches!(&refused, ClientError::Job { .. }), "{refused}");
    let refused = fresh.db.submit_raw("", json!(1)).await.expect_err("a need has a name");
    assert!(refused.to_string().contains("need"), "{refused}");
    let refused = fresh.db.submit_raw("n", json!(1)).id("").await.expect_err("a job has a name");
    assert!(matches!(refused, ClientError::JobId(_)), "{refused}");
    assert!(matches!(fresh.db.job(&nobody).status().await, Err(ClientError::UnknownJob { .. })));
    let twice = Worker::new(&fresh.db)
        .job(page::Job)
        .need("page.scan", |_, _| async { Ok(AnyNext::<()>::done(1)) });
    let refused = twice.run(std::future::pending()).await.expect_err("one function per need");
    assert!(refused.to_string().contains("page.scan"), "{refused}");
    let poor = Worker::new(&fresh.db).job(shaky::Job);
    let refused = poor.run(std::future::pending()).await.expect_err("its state is missing");
    assert!(refused.to_string().contains("Counted"), "{refused}");
    Ok(())
}

pgflow_worker_tests::everywhere!(
    a_job_forks_joins_and_is_done,
    others_handle_what_is_external,
    failures_are_tried_again_and_end,
    a_cancelled_job_tells_its_handler,
    a_lease_is_kept_while_the_handler_runs,
    a_worker_that_stops_gives_jobs_back,
    a_job_waits_for_a_run,
    tasks_do_not_starve_jobs,
    a_handler_says_when_it_is_tried_again,
    a_raw_hand_over_waits_for_whoever_serves_it,
    a_raw_hand_over_to_no_need_of_its_kind_ends_the_job,
    attempts_are_as_many_as_somebody_says,
    far_times_are_refused,
    wrong_requests_are_refused,
);
