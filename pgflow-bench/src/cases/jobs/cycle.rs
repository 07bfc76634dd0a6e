//! What workers do all day, with few and with many jobs in line: claim a batch, finish it, submit as many.

use super::{fill, share_out};
use crate::cases::Context;
use crate::error::Result;
use crate::jobs;
use crate::sample::Reading;

pub(crate) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for &live in context.sizes.live_jobs {
        fill(context, live).await?;
        readings.push(measure(context).await?.at(format!("{live} live")));
        crate::cleanup::jobs(context.target).await?;
    }
    Ok(readings)
}

async fn measure(context: &mut Context<'_>) -> Result<Reading> {
    let (by, batch, sizes) = (context.protocol, context.batch, context.sizes);
    let target = &mut *context.target;
    let mark = target.probe.mark().await?;
    let (lanes, names) = (&mut target.lanes, &target.names);
    let finished = share_out(lanes, (batch, sizes.jobs), sizes.window, async |lane, share| {
        let held = jobs::claim(by, lane, share).await?;
        let finished = if held.is_empty() { 0 } else { jobs::finish(by, lane, &held).await? };
        jobs::submit(by, lane, &names.take(finished)).await?;
        Ok(finished)
    })
    .await?;
    let cost = target.probe.since(mark).await?;
    Ok(Reading::new("claim, finish, submit", "job", finished, cost))
}
