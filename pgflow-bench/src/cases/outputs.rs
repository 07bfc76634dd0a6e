//! What a map's outputs cost when they are put together, and when the step after it is handed them.

use uuid::Uuid;

use super::Context;
use crate::error::{Doing, Result};
use crate::flow;
use crate::meter::Cost;
use crate::sample::Reading;

/// Completes all tasks but the first with texts of `$2` characters.
const COMPLETE: &str = "update pgflow.step_tasks t
       set status = 'completed', attempts_count = 1, started_at = greatest(now(), t.queued_at),
           completed_at = greatest(now(), t.queued_at), input = null,
           output = to_jsonb(left(repeat(md5(t.task_index::text), 32), $2))
     where t.run_id = $1 and t.task_index > 0";
const COUNT: &str =
    "update pgflow.step_states set remaining_tasks = 1 where run_id = $1 and step_slug = 'each'";
const ARCHIVE: &str = "select count(*) from (
       select pgmq.archive($2, array_agg(t.message_id)) from pgflow.step_tasks t
        where t.run_id = $1 and t.task_index > 0) a";
const CLAIM: &str = "select count(*) from pgflow.claim_tasks(array[$1], 1)";
const LAST: &str = "select count(*) from pgflow.complete_task($1, 'each', 0, '1'::jsonb)";

pub(super) async fn run(context: &mut Context<'_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    let lengths = [
        (100, "put together, 100 characters", "hand out, 100 characters"),
        (1_000, "put together, 1,000 characters", "hand out, 1,000 characters"),
    ];
    for (length, together, handed_out) in lengths {
        for &width in context.sizes.output_widths {
            let [settle, claim] = measure(context, width, length).await?;
            readings.push(Reading::new(together, "task", width, settle).at(width.to_string()));
            readings.push(Reading::new(handed_out, "task", width, claim).at(width.to_string()));
        }
    }
    Ok(readings)
}

/// The costs of the settle that ends the map, and of the claim after it.
async fn measure(context: &mut Context<'_>, width: u32, length: i32) -> Result<[Cost; 2]> {
    let target = &mut *context.target;
    let slug = target.next_slug("outputs");
    flow::map_and_sum(&mut target.probe.conn, &slug).await?;
    let lane = &mut target.lanes[0];
    let input = (0..width).map(|_| 1).collect();
    let run: Uuid = flow::start(lane, &slug, &input).await?;
    let doing = || format!("preparing the outputs of `{slug}`");
    sqlx::query(COMPLETE).bind(run).bind(length).execute(&mut *lane).await.doing(doing())?;
    sqlx::query(COUNT).bind(run).execute(&mut *lane).await.doing(doing())?;
    sqlx::query(ARCHIVE).bind(run).bind(&slug).execute(&mut *lane).await.doing(doing())?;
    sqlx::query(CLAIM).bind(&slug).execute(&mut *lane).await.doing(doing())?;
    let mark = target.probe.mark().await?;
    sqlx::query(LAST).bind(run).execute(&mut target.lanes[0]).await.doing(doing())?;
    let settle = target.probe.since(mark).await?;
    let mark = target.probe.mark().await?;
    sqlx::query(CLAIM).bind(&slug).execute(&mut target.lanes[0]).await.doing(doing())?;
    let claim = target.probe.since(mark).await?;
    Ok([settle, claim])
}
