//! The same number of tasks in narrow and in wide maps.

use super::{Context, phased};
use crate::error::Result;
use crate::flatness::WITH_START;
use crate::flow;
use crate::sample::Reading;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for &width in context.sizes.widths {
        let slug = context.target.next_slug("width");
        flow::map(&mut context.target.probe.conn, &slug).await?;
        let runs = (context.sizes.width_tasks / width).max(1);
        let input = flow::elements(width, context.seed);
        let fixed = fixed_cost(context, runs).await?;
        // One connection for all widths: a single wide map cannot be started by several.
        let spawn = phased::spawned_on(context, 1, &slug, runs, |_| input.clone()).await?;
        let phases = phased::claimed_and_completed(context, &slug, &[runs * width]).await?;
        readings.push(Reading::new(WITH_START, "task", runs * width, spawn).at(width.to_string()));
        let spawn = (runs * (width - 1), spawn.without(fixed));
        readings.extend(phased::readings(&width.to_string(), spawn, phases));
    }
    Ok(readings)
}

/// What as many starts cost with one task each: a run's own share, which has nothing to do with how
/// wide its map is. Measured on many runs, because few cost less than the meters can tell.
async fn fixed_cost(context: &mut Context<'_>, runs: u32) -> Result<crate::meter::Cost> {
    let slug = context.target.next_slug("width");
    flow::map(&mut context.target.probe.conn, &slug).await?;
    let input = flow::elements(1, context.seed);
    let measured = runs.max(100);
    let cost = phased::spawned_on(context, 1, &slug, measured, |_| input.clone()).await?;
    Ok(cost.scaled(f64::from(runs) / f64::from(measured)))
}
