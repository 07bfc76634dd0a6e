//! Fork and join: children, a job that waits for all of them, and the end of each.

use super::share_out;
use crate::cases::Context;
use crate::error::Result;
use crate::jobs;
use crate::sample::Reading;

pub(crate) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for &children in context.sizes.joins {
        readings.push(measure(context, children).await?.at(children.to_string()));
        crate::cleanup::jobs(context.target).await?;
    }
    Ok(readings)
}

async fn measure(context: &mut Context<'_>, children: u32) -> Result<Reading> {
    let (by, batch, limit) = (context.protocol, context.batch, context.sizes.window);
    let target = &mut *context.target;
    let mark = target.probe.mark().await?;
    let (lanes, names) = (&mut target.lanes, &target.names);
    let ids = names.take(children);
    for part in ids.chunks(batch as usize) {
        jobs::submit(by, &mut lanes[0], part).await?;
    }
    jobs::submit_after(by, &mut lanes[0], &names.take(1)[0], &ids).await?;
    let ended = share_out(lanes, (batch, children), limit, async |lane, share| {
        let held = jobs::claim(by, lane, share).await?;
        if held.is_empty() { Ok(0) } else { jobs::finish(by, lane, &held).await }
    })
    .await?;
    let cost = target.probe.since(mark).await?;
    Ok(Reading::new("fork and join", "job", ended, cost))
}
