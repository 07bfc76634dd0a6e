//! How often a claim comes back empty although there is work for all.

use std::cell::Cell;

use super::{fill, share_out};
use crate::cases::Context;
use crate::error::Result;
use crate::jobs;
use crate::sample::Reading;

/// Jobs that a claim asks for.
const EACH: u32 = 10;

pub(crate) const CLAIMS: &str = "claims";
pub(crate) const EMPTY: &str = "false-empty";

pub(crate) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let jobs = context.sizes.jobs;
    // So much more that none is without work at the end.
    fill(context, jobs + jobs / 4 + EACH * 100).await?;
    let (by, limit, target) = (context.protocol, context.sizes.window, &mut *context.target);
    let mark = target.probe.mark().await?;
    let empty = Cell::new(0);
    let claims = share_out(&mut target.lanes, (EACH, jobs), limit, async |lane, share| {
        let held = jobs::claim(by, lane, share).await?;
        empty.set(empty.get() + u32::from(held.is_empty()));
        Ok(1)
    })
    .await?;
    let cost = target.probe.since(mark).await?;
    Ok(vec![
        Reading::new(CLAIMS, "claim", claims, cost),
        Reading::new(EMPTY, "claim", empty.get(), cost),
    ])
}
