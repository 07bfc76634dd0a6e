//! One small pool for everybody.

use std::time::Instant;

use crate::flows::{crowd, crowd_tx};
use crate::harness::{Kind, Lab, Metrics, Outcome};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["crowd", "crowd_tx"];

/// X19: two connections for 50 handlers, half of which share their transaction with the engine.
pub(super) async fn of_two(lab: &mut Lab) -> Outcome<Metrics> {
    let base = lab.base(Kind::Postgres, FLOWS).await?;
    let items: Vec<u32> = (0..lab.either(100, 2000)).collect();
    let (plain, shared) =
        (base.db.start(crowd::Flow, &items).await?, base.db.start(crowd_tx::Flow, &items).await?);
    let since = Instant::now();
    let worker = lab.worker(&base.url, FLOWS).arg("--concurrency", 50).arg("--pool", 2);
    let worker = worker.flag("--one-pool").start()?;
    ensure!(plain.output().await?.each == items, "handlers on the pool did something else");
    ensure!(shared.output().await?.each == items, "steps with `tx` did something else");
    let seconds = since.elapsed().as_secs_f64();
    let attempts = base.effects().await?;
    ensure!(attempts.len() == items.len() * 2, "there are {} effects", attempts.len());
    let lost = "select coalesce(sum(requeued_count), 0) from pgflow.step_tasks";
    let lost: i64 = sqlx::query_scalar(lost).fetch_one(base.postgres_pool()?).await?;
    ensure!(lost == 0, "{lost} leases ran out");
    let end = worker.stop().await?;
    ensure!(end.settled == items.len() as u64 * 2, "the worker says {end:?}");
    Ok(metrics! { "tasks": items.len() * 2, "expired_leases": lost, "seconds_to_drain": seconds })
}
