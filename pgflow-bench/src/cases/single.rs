//! Runs of one step.

use super::{Context, phased};
use crate::error::Result;
use crate::flow;
use crate::sample::Reading;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let slug = context.target.next_slug("single");
    flow::single(&mut context.target.probe.conn, &slug).await?;
    let runs = context.sizes.single_runs;
    start_and_drain(context, &slug, runs, 1).await
}

/// Readings for starting, for draining, and for both over the tasks that were drained.
pub(super) async fn start_and_drain(
    context: &mut Context<'_>,
    slug: &str,
    runs: u32,
    tasks_per_run: u32,
) -> Result<Vec<Reading>> {
    let seed = context.seed;
    let start = phased::spawned(context, slug, runs, |number| flow::input(number, seed)).await?;
    let (tasks, drain) = phased::drained(context, slug, runs * tasks_per_run).await?;
    let mut total = start.scaled(f64::from(tasks) / f64::from(runs * tasks_per_run));
    total += drain;
    Ok(vec![
        Reading::new("start", "run", runs, start),
        Reading::new("drain", "task", tasks, drain),
        Reading::new("start and drain", "task", tasks, total),
    ])
}
