//! One wide map: drained in the usual mix, then again with claims and completions apart.

use super::{Context, phased};
use crate::args::Protocol;
use crate::drive::Starts;
use crate::error::Result;
use crate::flow;
use crate::sample::Reading;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for &width in context.sizes.map_widths {
        if context.protocol == Protocol::Published && width > context.sizes.widest_published {
            continue;
        }
        readings.push(drained(context, width).await?);
        readings.extend(apart(context, width).await?);
    }
    Ok(readings)
}

async fn drained(context: &mut Context<'_>, width: u32) -> Result<Reading> {
    let slug = new_flow(context).await?;
    let input = flow::elements(width, context.seed);
    flow::start(&mut context.target.probe.conn, &slug, &input).await?;
    let (tasks, cost) = phased::drained(context, &slug, width).await?;
    Ok(Reading::new("drain", "task", tasks, cost).at(width.to_string()))
}

async fn apart(context: &mut Context<'_>, width: u32) -> Result<Vec<Reading>> {
    let slug = new_flow(context).await?;
    let input = flow::elements(width, context.seed);
    let spawn = phased::spawned(context, &slug, 1, Starts::OneByOne, |_| input.clone()).await?;
    let phases = phased::claimed_and_completed(context, &slug, &[width]).await?;
    Ok(phased::readings(&width.to_string(), (width, spawn), phases))
}

async fn new_flow(context: &mut Context<'_>) -> Result<String> {
    let slug = context.target.next_slug("map");
    flow::map(&mut context.target.probe.conn, &slug).await?;
    Ok(slug)
}
