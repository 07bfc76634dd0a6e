//! Jobs that telemetry is about.

use std::ops::Add as _;
use std::time::Duration;

use pgflow::Db;
use pgflow::job::{ConcernCleared, JobSettings};
use pgflow::prelude::*;
use pgflow_machine::job::JobClaim;
use pgflow_worker_tests::{Outcome, Working, virtual_memory};

use crate::recorder::{Seen, Series};

/// A job that loses its worker twice, where once is too often.
pub(crate) async fn in_concern(db: &Db, id: &str) -> Outcome {
    db.set_job_settings(JobSettings { crash_threshold: 1, ..JobSettings::default() }).await?;
    db.submit_raw("bad", 1.into()).id(id).await?;
    let lease = Duration::from_micros(1);
    let claim = JobClaim { worker: "gone".into(), needs: vec!["bad".into()], lease, max: 1 };
    for _ in 0..2 {
        assert_eq!(db.backend().jobs()?.claim_jobs(&claim).await?.jobs.len(), 1);
        // A clock that follows the runtime's does so in steps.
        tokio::time::sleep(Duration::from_millis(120)).await;
    }
    // Seen by a claim, and not by a sweep.
    assert_eq!(db.backend().jobs()?.claim_jobs(&claim).await?.jobs, []);
    Ok(())
}

#[job]
mod errand {
    use super::*;

    #[need(max_attempts = 1)]
    pub(crate) async fn fetch(job: u8) -> Result<Next> {
        if job == 0 { Err("sold out".into()) } else { Ok(Next::to::<bring>(job)) }
    }

    #[need]
    pub(crate) async fn bring(job: u8) -> Result<Next> {
        Ok(Next::done(job))
    }

    #[need]
    pub(crate) async fn queue() -> Result<Next> {
        tokio::time::sleep(Duration::from_mins(2)).await;
        Ok(Next::done(()))
    }
}

/// The sum of a metric, over all series that have these labels; nothing if there is none.
pub(crate) fn sum(seen: &Seen, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let has = |series: &Series, (label, value): &(&str, &str)| {
        series.labels.get(*label).is_some_and(|found| found == value)
    };
    let is_it =
        |series: &Series| series.name == name && labels.iter().all(|label| has(series, label));
    seen.all().into_iter().filter(|(series, _)| is_it(series)).map(|(_, sum)| sum).reduce(f64::add)
}

/// Waits until this many jobs are shown to be of concern.
async fn shows(seen: &Seen, wanted: f64) -> Outcome {
    let shown = || sum(seen, "pgflow_jobs_in_concern", &[]);
    let showing = tokio::time::timeout(Duration::from_mins(1), async {
        while shown() != Some(wanted) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    Ok(showing.await.map_err(|_| format!("{wanted} jobs in concern, and not {:?}", shown()))?)
}

// Where time does not stand still a worker has a thread of its own, which a recorder of the test's thread does not hear.
#[tokio::test(start_paused = true)]
async fn jobs_in_concern_are_shown_until_they_are_cleared() -> Outcome {
    let seen = Seen::default();
    let _recording = metrics::set_default_local_recorder(&seen);
    let db = Db::new(virtual_memory());
    in_concern(&db, "counted").await?;
    // It knows nothing of their need.
    let worker = Working::start(Worker::new(&db).job(errand::Job));
    shows(&seen, 1.0).await?;
    assert_eq!(db.clear_concern(&["counted".parse()?]).await?, [ConcernCleared::Cleared]);
    shows(&seen, 0.0).await?;
    worker.stop().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn metrics_of_jobs_name_their_needs() -> Outcome {
    let seen = Seen::default();
    let _recording = metrics::set_default_local_recorder(&seen);
    let db = Db::new(virtual_memory());
    let worker = Worker::new(&db).job(errand::Job).grace(Duration::from_secs(1));
    let worker = Working::start(worker);
    assert_eq!(db.submit::<errand::fetch>(&0).await?.wait().await?.word(), "failed");
    assert_eq!(db.submit::<errand::fetch>(&1).await?.wait().await?.word(), "done");
    db.submit::<errand::queue>(&()).await?;
    tokio::time::sleep(Duration::from_secs(70)).await;
    assert_eq!(worker.stop().await?.lost, 0);
    let of = |step, outcome| vec![("flow", "job"), ("step", step), ("outcome", outcome)];
    let counted = [
        ("pgflow_attempts_total", of("errand.fetch", "failed"), 1.0),
        ("pgflow_attempts_total", of("errand.fetch", "handed_over"), 1.0),
        ("pgflow_attempts_total", of("errand.bring", "completed"), 1.0),
        ("pgflow_attempts_total", of("errand.queue", "released"), 1.0),
        ("pgflow_attempts_total", vec![], 4.0),
        ("pgflow_tasks_claimed_total", vec![("flow", "job")], 4.0),
        ("pgflow_settles_total", vec![("outcome", "applied")], 4.0),
        ("pgflow_running", vec![], 0.0),
    ];
    for (name, labels, count) in counted {
        assert_eq!(sum(&seen, name, &labels), Some(count), "{name} {labels:?}");
    }
    let took = sum(&seen, "pgflow_handler_seconds", &[("flow", "job"), ("step", "errand.queue")]);
    assert!(took.is_some_and(|seconds| seconds > 60.0), "{took:?}");
    assert!(sum(&seen, "pgflow_heartbeats_total", &[("answer", "extended")]) >= Some(1.0));
    Ok(())
}
