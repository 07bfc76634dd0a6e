//! Jobs that telemetry is about.

use std::time::Duration;

use pgflow::Db;
use pgflow::job::JobSettings;
use pgflow_machine::job::JobClaim;
use pgflow_worker_tests::Outcome;

/// A job that loses its worker twice, where once is too often.
pub(crate) async fn in_concern(db: &Db, id: &str) -> Outcome {
    db.set_job_settings(JobSettings { crash_threshold: 1, ..JobSettings::default() }).await?;
    db.submit_raw("bad", 1.into()).id(id).await?;
    let lease = Duration::from_micros(1);
    let claim = JobClaim { worker: "gone".into(), needs: vec!["bad".into()], lease, max: 1 };
    for _ in 0..2 {
        assert_eq!(db.backend().jobs()?.claim_jobs(&claim).await?.jobs.len(), 1);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    // Seen by a claim, and not by a sweep.
    assert_eq!(db.backend().jobs()?.claim_jobs(&claim).await?.jobs, []);
    Ok(())
}
