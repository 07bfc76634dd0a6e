//! Runs of four steps: one, two in parallel, one that joins them.

use super::{Context, single};
use crate::error::Result;
use crate::flow;
use crate::sample::Reading;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let slug = context.target.next_slug("diamond");
    flow::diamond(&mut context.target.probe.conn, &slug).await?;
    let runs = context.sizes.diamond_runs;
    single::start_and_drain(context, &slug, runs, flow::DIAMOND_TASKS).await
}
