//! Outputs that are too large together.

use std::sync::Arc;

use pgflow_machine::{RunStatus, Settle, Settled, Verdict};
use pgflow_runtime::backend::{ClaimedTask, Retried};
use serde_json::Value;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, Run, completed, single};

pub(crate) const CHECKS: &[Check] =
    &[check!("K63", "a map that puts out too much ends, also when it is retried", too_much)];

/// Each output is as large as one may be; 62 of them are more than 256 MB, which takes long.
async fn too_much(cx: Arc<Cx>) {
    let tasks = cx.rounds(3, 62);
    let flow = cx.flow([single("m").map(), single("z").after("m")]).await;
    let run = cx.start(&flow, (0..tasks).collect::<Vec<_>>()).await;
    let mut settled = 0;
    while settled < tasks {
        let claimed = cx.claim_as(&cx.wish(&flow, 8)).await;
        assert!(!claimed.is_empty(), "{settled} were claimed");
        settled += claimed.len();
        let settle = |task: ClaimedTask| Settle { lease: task.lease.into(), verdict: largest() };
        let outcomes = cx.settle_all(claimed.into_iter().map(settle).collect()).await;
        assert!(outcomes.iter().all(|outcome| *outcome == Settled::Applied), "{outcomes:?}");
    }
    if tasks < 62 {
        // What fits goes on, and all of it is handed out.
        run.expect_state(RunStatus::Started, &["m:completed", "z:started"]).await;
        let [z] = run.take(["z#0"]).await;
        let texts = z.input["m"].as_array().expect("outputs");
        let lengths: Vec<_> = texts.iter().map(|text| text.as_str().map(str::len)).collect();
        assert_eq!(lengths, vec![Some((4 << 20) - 2); tasks], "what the step behind it is given");
        run.done(&z, 1).await;
        run.expect_state(RunStatus::Completed, &["m:completed", "z:completed"]).await;
        return;
    }
    fails(&run).await;
    assert_eq!(run.retry().await, Retried::Retried);
    fails(&run).await;
    run.expect_idle().await;
}

async fn fails(run: &Run) {
    let error = "Output too large: the outputs of step m together have more than 256000000 bytes";
    let failed = run.expect_state(RunStatus::Failed, &["m:failed", "z:created"]).await;
    assert_eq!(failed.steps[0].error.as_deref(), Some(error));
}

fn largest() -> Verdict {
    completed(Value::String("x".repeat((4 << 20) - 2)))
}
