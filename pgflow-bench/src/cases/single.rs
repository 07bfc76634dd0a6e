//! Runs of one step.

use super::{Context, phased};
use crate::args::Protocol;
use crate::drive::Starts;
use crate::error::Result;
use crate::flow;
use crate::sample::Reading;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let slug = context.target.next_slug("single");
    flow::single(&mut context.target.probe.conn, &slug).await?;
    let runs = context.sizes.single_runs;
    start_and_drain(context, &slug, runs, 1).await
}

/// Readings for starting runs one by one, for draining them, and for both over the tasks that were
/// drained; then the same with starts in batches, where the core has them.
pub(super) async fn start_and_drain(
    context: &mut Context<'_>,
    slug: &str,
    runs: u32,
    tasks_per_run: u32,
) -> Result<Vec<Reading>> {
    let (mut readings, seed) = (Vec::new(), context.seed);
    for (starts, start_name, both_name) in ways(context) {
        let input = |number| flow::input(number, seed);
        let start = phased::spawned(context, slug, runs, starts, input).await?;
        let (tasks, drain) = phased::drained(context, slug, runs * tasks_per_run).await?;
        let mut total = start.scaled(f64::from(tasks) / f64::from(runs * tasks_per_run));
        total += drain;
        readings.push(Reading::new(start_name, "run", runs, start));
        if starts == Starts::OneByOne {
            readings.push(Reading::new("drain", "task", tasks, drain));
        }
        readings.push(Reading::new(both_name, "task", tasks, total));
    }
    Ok(readings)
}

/// How runs are started, and what the phases are then called.
fn ways(context: &Context<'_>) -> Vec<(Starts, &'static str, &'static str)> {
    let one_by_one = (Starts::OneByOne, "start", "start and drain");
    let batched = (Starts::Batched(context.batch), "start batched", "start batched and drain");
    match context.protocol {
        Protocol::Batched => vec![one_by_one, batched],
        Protocol::Published => vec![one_by_one],
    }
}
