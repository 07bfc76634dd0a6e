//! The same work with an empty queue, behind many waiting messages, and behind many delayed ones.

use super::{Context, phased};
use crate::drive::{Starts, spawn};
use crate::error::{Doing, Result};
use crate::flow;
use crate::sample::Reading;

/// Width of the maps that fill the queue.
const WIDTH: u32 = 1_000;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let waiting = context.sizes.waiting;
    let mut readings = measure(context, "0 waiting", 0, false).await?;
    readings.extend(measure(context, &format!("{waiting} waiting"), waiting, false).await?);
    readings.extend(measure(context, &format!("{waiting} delayed"), waiting, true).await?);
    Ok(readings)
}

async fn measure(
    context: &mut Context<'_>,
    level: &str,
    waiting: u32,
    delayed: bool,
) -> Result<Vec<Reading>> {
    let slug = context.target.next_slug("waiting");
    flow::map(&mut context.target.probe.conn, &slug).await?;
    fill(context, &slug, waiting).await?;
    if delayed {
        delay(context, &slug).await?;
    }
    let tasks = context.sizes.waiting_probe;
    let width = WIDTH.min(tasks);
    let input = flow::elements(width, context.seed);
    let spawn =
        phased::spawned(context, &slug, tasks / width, Starts::OneByOne, |_| input.clone()).await?;
    let phases = phased::claimed_and_completed(context, &slug, &[tasks]).await?;
    Ok(phased::readings(level, (tasks, spawn), phases))
}

async fn fill(context: &mut Context<'_>, slug: &str, waiting: u32) -> Result<()> {
    let width = WIDTH.min(waiting.max(1));
    let input = flow::elements(width, context.seed);
    spawn(&mut context.target.lanes, slug, waiting / width, Starts::OneByOne, |_| input.clone())
        .await?;
    let analyze = "analyze";
    sqlx::query(analyze)
        .execute(&mut context.target.probe.conn)
        .await
        .doing("analyzing the full queue")?;
    crate::cleanup::checkpoint(context.target).await;
    Ok(())
}

/// As after a step with a start delay: the messages are there but not visible yet.
async fn delay(context: &mut Context<'_>, slug: &str) -> Result<()> {
    let delay = format!("update pgmq.q_{slug} set vt = clock_timestamp() + interval '1 hour'");
    sqlx::query(sqlx::AssertSqlSafe(delay))
        .execute(&mut context.target.probe.conn)
        .await
        .doing("delaying the waiting messages")?;
    let vacuum = format!("vacuum analyze pgmq.q_{slug}");
    sqlx::query(sqlx::AssertSqlSafe(vacuum))
        .execute(&mut context.target.probe.conn)
        .await
        .doing("vacuuming the full queue")?;
    Ok(())
}
