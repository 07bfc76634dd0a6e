//! A worker that sleeps through its lease, and comes back with a result.

use pgflow_machine::job::{JobHold, JobRetry, JobSettle, JobSettled, JobVerdict, TraceKind};
use serde_json::json;

use super::{SLIPS, patient_base};
use crate::flows::slips;
use crate::harness::{Entry, Kind, Lab, Metrics, Outcome, What};
use crate::{ensure, metrics};

/// X41: it comes back while another one is at it; whatever it says changes nothing.
pub(in super::super) async fn comes_back(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let job = base.db.submit::<slips::gate>(&()).await?;
    let worker = || lab.worker(&base.url, SLIPS).start();
    let zombie = worker()?;
    lab.journal.entered("slips.gate", 1).await?;
    zombie.signal("STOP").await?;
    let other = worker()?;
    let second = lab.journal.entered("slips.gate", 2).await?;
    ensure!(second.pid == other.pid, "process {} ran the second attempt", second.pid);
    lab.open("gate-1")?;
    zombie.signal("CONT").await?;
    let left = |entry: &Entry| entry.what == What::Left && entry.attempt == 1;
    lab.journal.find("the zombie's end", left).await?;
    let zombie = zombie.stop().await?;
    ensure!((zombie.settled, zombie.superseded) == (0, 1), "the zombie says {zombie:?}");
    let trace = job.trace().await?;
    let claimed = trace.iter().find(|event| event.kind == TraceKind::Claimed);
    let token =
        claimed.and_then(|event| event.token.clone()).ok_or("a token of the first claim")?;
    let hold = JobHold { job: job.id().clone(), token };
    let late = [
        JobVerdict::Finished(json!(0)),
        JobVerdict::Failed { error: "too late".into(), retry: JobRetry::Never },
        JobVerdict::Released,
    ];
    for verdict in late {
        let settle = [JobSettle::new(hold.clone(), verdict)];
        let settled = base.db.backend().jobs()?.settle_jobs(&settle, "zombie").await?;
        ensure!(settled == [JobSettled::Fenced], "a late settle was {settled:?}");
    }
    lab.open("gate-2")?;
    ensure!(job.output::<u32>().await? == 2, "the output is not that of the second attempt");
    let row = job.record().await?.summary.row;
    ensure!((row.attempts, row.lapses, row.failures) == (2, 1, 0), "{row:?}");
    other.stop().await?;
    Ok(metrics! { "attempts": row.attempts, "zombie_superseded": zombie.superseded })
}
