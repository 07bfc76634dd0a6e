//! Submitting: a transaction per job, and per batch.

use super::share_out;
use crate::cases::Context;
use crate::error::Result;
use crate::jobs;
use crate::meter::Cost;
use crate::sample::Reading;

pub(crate) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let (batch, jobs) = (context.batch, context.sizes.jobs);
    let (one_by_one, cost) = measure(context, 1, jobs / 5).await?;
    let mut readings = vec![Reading::new("one by one", "job", one_by_one, cost)];
    let (batched, cost) = measure(context, batch, jobs).await?;
    readings.push(Reading::new("in batches", "job", batched, cost).at(format!("by {batch}")));
    Ok(readings)
}

async fn measure(context: &mut Context<'_>, batch: u32, total: u32) -> Result<(u32, Cost)> {
    let (by, limit, target) = (context.protocol, context.sizes.window, &mut *context.target);
    crate::cleanup::checkpoint(target).await;
    let mark = target.probe.mark().await?;
    let (lanes, names) = (&mut target.lanes, &target.names);
    let submitted = share_out(lanes, (batch, total), limit, async |lane, share| {
        jobs::submit(by, lane, &names.take(share)).await?;
        Ok(share)
    })
    .await?;
    Ok((submitted, target.probe.since(mark).await?))
}
