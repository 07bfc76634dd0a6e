//! Who waits for whom, decided by two at the same time.

use std::time::Duration;

use futures_util::future::try_join_all;
use pgflow::Db;
use pgflow::backend::{Backend, ClaimedJob};
use pgflow_machine::job::{
    HandOver, JobClaim, JobProblem, JobSettle, JobSettled, JobVerdict, NewJob, Wait,
};
use serde_json::json;

use super::patient_base;
use crate::harness::{Kind, Lab, Metrics, Outcome};
use crate::{ensure, metrics};

/// Pairs at the same time.
const AT_ONCE: usize = 8;

async fn claim(backend: &dyn Backend, need: &str, max: u32) -> Outcome<Vec<ClaimedJob>> {
    let (worker, needs) = ("race".to_owned(), vec![need.to_owned()]);
    let claim = JobClaim { worker, needs, lease: Duration::from_mins(5), max };
    Ok(backend.jobs()?.claim_jobs(&claim).await?.jobs)
}

async fn settle(db: &Db, job: &ClaimedJob, verdict: JobVerdict) -> Outcome<JobSettled> {
    let settles = [JobSettle::new(job.taken.hold.clone(), verdict)];
    let settled = db.backend().jobs()?.settle_jobs(&settles, "race").await?;
    settled.into_iter().next().ok_or_else(|| "no answer".into())
}

/// X43: a job is submitted while what it waits for ends. Nobody waits for ever.
pub(in super::super) async fn wake_ups(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let other = Db::connect(&base.url).await?;
    let pairs = lab.either(160, 10_000);
    let backend = base.db.backend().as_ref();
    for round in 0..pairs / AT_ONCE {
        let name = |n: usize, of: &str| format!("{of} {round} {n}").parse();
        let mut first = Vec::new();
        for n in 0..AT_ONCE {
            first.push(NewJob::new(name(n, "first")?, "first", n));
        }
        backend.jobs()?.submit_jobs(&first, "race").await?;
        let mut racing = Vec::new();
        for (n, job) in claim(backend, "first", 8).await?.into_iter().enumerate() {
            let after = vec![Wait::job(job.taken.hold.job.clone())];
            let waiter = NewJob { after, ..NewJob::new(name(n, "waiter")?, "second", n) };
            let (db, other) = (&base.db, &other);
            racing.push(async move {
                let waiters = [waiter];
                let submit =
                    async { Ok(other.backend().jobs()?.submit_jobs(&waiters, "race").await?) };
                let finish = settle(db, &job, JobVerdict::Finished(json!(n)));
                let (submitted, finished) = tokio::try_join!(submit, finish)?;
                ensure!(submitted.iter().all(Result::is_ok), "{submitted:?}");
                ensure!(finished == JobSettled::Applied, "{finished:?}");
                Outcome::Ok(())
            });
        }
        ensure!(racing.len() == AT_ONCE, "{} could be claimed", racing.len());
        try_join_all(racing).await?;
    }
    backend.jobs()?.sweep_jobs().await?;
    let mut woken = 0;
    loop {
        let had = claim(backend, "second", 100).await?.len();
        if had == 0 {
            break;
        }
        woken += had;
    }
    ensure!(woken == pairs / AT_ONCE * AT_ONCE, "{woken} of {pairs} woke up");
    Ok(metrics! { "pairs": woken, "lost": 0 })
}

/// X45: two jobs are about to wait for each other. One of them may.
pub(in super::super) async fn rings(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let other = Db::connect(&base.url).await?;
    let backend = base.db.backend().as_ref();
    let rounds = lab.either(300, 1_000);
    for round in 0..rounds {
        let new = ["a", "b"].map(|of| (of, format!("{of} {round}")));
        let mut jobs = Vec::new();
        for (of, name) in new {
            jobs.push(NewJob::new(name.parse()?, "ring", json!(of)));
        }
        backend.jobs()?.submit_jobs(&jobs, "race").await?;
        let claimed = claim(backend, "ring", 2).await?;
        let [a, b] = &claimed[..] else { return Err("two jobs can be claimed".into()) };
        let onward = |on: &ClaimedJob| {
            let after = vec![Wait::job(on.taken.hold.job.clone())];
            JobVerdict::HandedOver(HandOver { after, ..HandOver::to("later") })
        };
        let both = tokio::try_join!(settle(&base.db, a, onward(b)), settle(&other, b, onward(a)))?;
        let is_ring =
            |settled: &JobSettled| matches!(settled, JobSettled::Refused(JobProblem::Ring(_)));
        let (left, waits) = match &both {
            (JobSettled::Applied, second) if is_ring(second) => (b, a),
            (first, JobSettled::Applied) if is_ring(first) => (a, b),
            other => return Err(format!("both were told {other:?}").into()),
        };
        let done = settle(&base.db, left, JobVerdict::Finished(json!(1))).await?;
        ensure!(done == JobSettled::Applied, "{done:?}");
        let woken = claim(backend, "later", 9).await?;
        let had: Vec<_> = woken.iter().map(|job| &job.taken.hold.job).collect();
        ensure!(had == [&waits.taken.hold.job], "{had:?} can be had");
        settle(&base.db, &woken[0], JobVerdict::Finished(json!(1))).await?;
    }
    Ok(metrics! { "rounds": rounds, "rings": 0 })
}
