//! `start_flow` alone, on one connection: what the caller waits for.

use super::Context;
use crate::error::Result;
use crate::flow;
use crate::sample::Reading;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    Ok(vec![diamonds(context).await?, wide_map(context).await?])
}

async fn diamonds(context: &mut Context<'_>) -> Result<Reading> {
    let (calls, seed) = (context.sizes.start_calls, context.seed);
    let target = &mut *context.target;
    let slug = target.next_slug("start");
    flow::diamond(&mut target.probe.conn, &slug).await?;
    let mark = target.probe.mark().await?;
    for number in 0..calls {
        flow::start(&mut target.lanes[0], &slug, &flow::input(number, seed)).await?;
    }
    Ok(Reading::new("diamond", "call", calls, target.probe.since(mark).await?))
}

async fn wide_map(context: &mut Context<'_>) -> Result<Reading> {
    let width = context.sizes.start_width;
    let input = flow::elements(width, context.seed);
    let target = &mut *context.target;
    let slug = target.next_slug("start");
    flow::map(&mut target.probe.conn, &slug).await?;
    let mark = target.probe.mark().await?;
    flow::start(&mut target.lanes[0], &slug, &input).await?;
    Ok(Reading::new("root map", "call", 1, target.probe.since(mark).await?).at(width.to_string()))
}
