//! Steps that a worker takes fewer tasks of.

use std::sync::Arc;

use pgflow_machine::{RunStatus, Source};
use pgflow_runtime::backend::Quota;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, single};

pub(crate) const CHECKS: &[Check] =
    &[check!("K16", "a claim takes no more of a step than its quota", quotas)];

async fn quotas(cx: Arc<Cx>) {
    let flow = cx.flow([single("few").map(), single("many").map()]).await;
    let other = cx.flow([single("few").map()]).await;
    let run = cx.start(&flow, json!([1, 2, 3, 4])).await;
    cx.start(&other, json!([1, 2, 3])).await;
    let mut wish = cx.wish(&flow, 100);
    let quota = |max| Quota { step: "few".into(), max };
    let count = |tasks: &[pgflow_runtime::backend::ClaimedTask], step: &str| {
        tasks.iter().filter(|task| task.flow == flow && task.lease.task.step == step).count()
    };
    wish.wants[0].quotas = vec![quota(0)];
    wish.max = 1;
    let tasks = cx.claim_as(&wish).await;
    assert_eq!((count(&tasks, "few"), count(&tasks, "many")), (0, 1), "none of a full step");
    wish.wants[0].quotas = vec![quota(2)];
    wish.max = 100;
    let tasks = cx.claim_as(&wish).await;
    assert_eq!((count(&tasks, "few"), count(&tasks, "many")), (2, 3));
    wish.wants.push(Source::queue(&other).into());
    let tasks = cx.claim_as(&wish).await;
    assert_eq!((count(&tasks, "few"), tasks.len()), (2, 5), "a step of another flow has no quota");
    run.expect_state(RunStatus::Started, &["few:started", "many:started"]).await;
    run.expect_log_end(&["step:started few 4", "step:started many 4"]).await;
}
