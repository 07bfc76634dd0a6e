//! How much a bigger batch saves.

use super::{Context, phased};
use crate::error::Result;
use crate::flow;
use crate::sample::Reading;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let usual = context.batch;
    let mut readings = Vec::new();
    for &batch in context.sizes.batches {
        context.batch = batch;
        readings.extend(measure(context, batch).await?);
    }
    context.batch = usual;
    Ok(readings)
}

async fn measure(context: &mut Context<'_>, batch: u32) -> Result<Vec<Reading>> {
    let tasks = context.sizes.batch_tasks;
    let slug = context.target.next_slug("batch");
    flow::map(&mut context.target.probe.conn, &slug).await?;
    let input = flow::elements(tasks, context.seed);
    flow::start(&mut context.target.probe.conn, &slug, &input).await?;
    let [claim, complete] = phased::claimed_and_completed(context, &slug, &[tasks]).await?;
    Ok([("claim", claim), ("complete", complete)]
        .map(|(phase, (tasks, cost))| {
            Reading::new(phase, "task", tasks, cost).at(format!("by {batch}"))
        })
        .into())
}
