//! The same number of tasks in narrow and in wide maps.

use super::{Context, phased};
use crate::error::Result;
use crate::flow;
use crate::sample::Reading;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for &width in context.sizes.widths {
        let slug = context.target.next_slug("width");
        flow::map(&mut context.target.probe.conn, &slug).await?;
        let runs = (context.sizes.width_tasks / width).max(1);
        let input = flow::elements(width, context.seed);
        // One connection for all widths: a single wide map cannot be started by several.
        let spawn = phased::spawned_on(context, 1, &slug, runs, |_| input.clone()).await?;
        let phases = phased::claimed_and_completed(context, &slug, &[runs * width]).await?;
        readings.extend(phased::readings(&width.to_string(), (runs * width, spawn), phases));
    }
    Ok(readings)
}
