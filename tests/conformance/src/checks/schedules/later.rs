//! Runs that begin later.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{Begins, RunId, RunStatus, Timestamp};
use pgflow_runtime::backend::{Cancelled, NewRun, Parts};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::schedules::ScheduleKit;
use crate::kit::{Cx, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("SC31", "a run that begins later is there, and its tasks wait", waits, Schedules),
    check!("SC32", "one whose moment is over begins at once", over, Schedules),
    check!("SC33", "it can be cancelled before it begins", cancelled, Schedules),
    check!("SC34", "all tasks of a wide map wait", wide, Schedules),
];

async fn start(cx: &Arc<Cx>, flow: &str, input: serde_json::Value, begins: Begins) -> RunId {
    let run = NewRun { begins, ..NewRun::new(flow, input, RunId::new()) };
    let id = run.id;
    cx.try_start(run).await.expect("a run can be started");
    id
}

async fn waits(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let begins = kit.now().await + Duration::from_millis(1_500);
    let at = start(&cx, &kit.flow, json!(1), Begins::At(begins)).await;
    let after = start(&cx, &kit.flow, json!(1), Begins::After(Duration::from_hours(9))).await;
    for run in [at, after] {
        let record = kit.backend.run(run, Parts::Steps).await.expect("read").expect("a run");
        let work = record.steps[0].work.clone().expect("its step is started");
        assert_eq!((record.status, work.attempts), (RunStatus::Started, 0));
        assert!(work.next_at.is_some_and(|next_at| next_at >= begins), "{work:?}");
    }
    let mut claimed = cx.claim(&kit.flow).await;
    assert!(claimed.is_empty() || kit.now().await >= begins);
    while claimed.is_empty() {
        cx.database().advance(&kit.flow, Duration::from_millis(100)).await;
        claimed = cx.claim(&kit.flow).await;
    }
    assert_eq!(claimed.iter().map(|task| task.lease.task.run).collect::<Vec<_>>(), [at]);
}

async fn over(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let past = Begins::At(Timestamp::from_micros(1));
    let run = start(&cx, &kit.flow, json!(1), past).await;
    let claimed = cx.claim(&kit.flow).await;
    assert_eq!(claimed.iter().map(|task| task.lease.task.run).collect::<Vec<_>>(), [run]);
}

async fn cancelled(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let later = Begins::After(Duration::from_hours(1));
    let run = start(&cx, &kit.flow, json!(1), later).await;
    assert_eq!(kit.backend.cancel(run, None).await.expect("an outcome"), Cancelled::Cancelled);
    let record = kit.backend.run(run, Parts::Run).await.expect("read").expect("a run");
    assert_eq!(record.status, RunStatus::Cancelled);
}

async fn wide(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").map()]).await;
    let later = Begins::After(Duration::from_hours(1));
    start(&cx, &flow, json!(vec![1; 40]), later).await;
    assert!(cx.claim(&flow).await.is_empty());
    let now = start(&cx, &flow, json!([1]), Begins::Now).await;
    let claimed = cx.claim(&flow).await;
    assert_eq!(claimed.iter().map(|task| task.lease.task.run).collect::<Vec<_>>(), [now]);
}
