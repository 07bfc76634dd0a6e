//! The same diamonds with empty tables and with many finished runs in them.

use super::{Context, phased};
use crate::cleanup;
use crate::drive::Starts;
use crate::error::Result;
use crate::flow;
use crate::history;
use crate::sample::Reading;

/// All rounds without history first, then all with it: making history takes long.
pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    let slug = context.target.next_slug("history");
    flow::diamond(&mut context.target.probe.conn, &slug).await?;
    measure(context, &slug, "0 finished", &mut readings).await?;
    let finished = context.sizes.history_runs;
    let template = history::finished_run(context, &slug).await?;
    history::copy(context.target, &slug, template, finished).await?;
    cleanup::checkpoint(context.target).await;
    measure(context, &slug, &format!("{finished} finished"), &mut readings).await?;
    Ok(readings)
}

async fn measure(
    context: &mut Context<'_>,
    slug: &str,
    level: &str,
    readings: &mut Vec<Reading>,
) -> Result<()> {
    for _ in 0..context.sizes.rounds {
        readings.extend(round(context, slug, level).await?);
    }
    Ok(())
}

async fn round(context: &mut Context<'_>, slug: &str, level: &str) -> Result<Vec<Reading>> {
    let (runs, seed) = (context.sizes.start_calls, context.seed);
    let spawn =
        phased::spawned(context, slug, runs, Starts::OneByOne, |number| flow::input(number, seed))
            .await?;
    let waves = flow::DIAMOND_WAVES.map(|tasks| tasks * runs);
    let phases = phased::claimed_and_completed(context, slug, &waves).await?;
    Ok(phased::readings(level, (runs * flow::DIAMOND_TASKS, spawn), phases))
}
