//! Moments, and waits that last too long.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::wait::Signalled;
use pgflow_machine::{RunStatus, Timestamp};
use pgflow_model::OnSkip;
use pgflow_runtime::backend::{TaskQuery, WaitingFor};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::schedules::ScheduleKit;
use crate::kit::waits::{hook, sleep, sleep_until, timeout, to_token, waits};
use crate::kit::{Cx, StepExt, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("W20", "a sleep ends when its time is over, and a claim knows when", sleeps, Waits),
    check!("W21", "a sleep that is over at once takes no time", no_sleep, Waits),
    check!(
        "W22",
        "a timeout fails the attempt, and the next waits with the same token",
        times_out,
        Waits
    ),
    check!("W23", "when nobody answers at all, the step ends as exhausted", exhausted, Waits),
    check!(
        "W24",
        "a moment that is over ends a sleep at once, one to come when it comes",
        until,
        Waits
    ),
];

const MINUTE: Duration = Duration::from_mins(1);

async fn sleeps(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(sleep(MINUTE))).await;
    let claimed = cx.backend().claim(&cx.wish(&flow, 10)).await.expect("work can be claimed");
    let next_in = claimed.next_in.expect("it is known when the sleep ends");
    assert!(next_in <= MINUTE, "{next_in:?}");
    run.advance(40).await;
    assert_eq!(names(&cx.claim(&flow).await), [""; 0]);
    run.advance(21).await;
    // No sweep is needed.
    let [next] = run.take(["b#0"]).await;
    assert_eq!(next.input["a"], json!(null));
    run.expect_log_end(&[
        "step:waiting a 0 sleep",
        "step:woken a 0",
        "step:completed a null",
        "step:started b 1",
    ])
    .await;
    assert_eq!(cx.wake().await.woken, 0);
}

async fn no_sleep(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(sleep(Duration::ZERO))).await;
    run.expect_log(&[
        "run:started {}",
        "step:started a 1",
        "step:waiting a 0 sleep",
        "step:woken a 0",
        "step:completed a null",
        "run:completed {\"a\":null}",
    ])
    .await;
}

async fn until(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let flow = cx.flow([single("a")]).await;
    let now = kit.now().await;
    for moment in [i64::MIN, 0, now.micros()].map(Timestamp::from_micros) {
        let run = cx.start(&flow, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        run.apply(&task, waits(sleep_until(moment))).await;
        run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    }
    // As late as it gets.
    for wait in [sleep_until(Timestamp::from_micros(i64::MAX)), sleep(Duration::MAX)] {
        let run = cx.start(&flow, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        run.apply(&task, waits(wait)).await;
        run.advance(10).await;
        assert_eq!(cx.wake().await.woken, 0);
        run.expect_state(RunStatus::Started, &["a:started"]).await;
        run.cancel(None).await;
    }
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(sleep_until(now + MINUTE * 60))).await;
    let asleep = cx.waits(run.id).await;
    assert!(matches!(asleep[0].on, WaitingFor::Sleep), "{asleep:?}");
    run.advance(3_540).await;
    assert_eq!((cx.wake().await.woken, cx.claim(&flow).await.len()), (0, 0));
    run.expect_state(RunStatus::Started, &["a:started"]).await;
    run.advance(61).await;
    cx.wake().await;
    run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    run.expect_log_end(&[
        "step:waiting a 0 sleep",
        "step:woken a 0",
        "step:completed a null",
        "run:completed {\"a\":null}",
    ])
    .await;
}

async fn times_out(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(2)]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    let token = cx.announce(&task).await.expect("it holds");
    run.apply(&task, waits(timeout(60, hook(&token)))).await;
    run.advance(50).await;
    assert_eq!((cx.wake().await.timed_out, cx.waits(run.id).await.len()), (0, 1));
    run.advance(20).await;
    assert_eq!(cx.wake().await.timed_out, 1);
    let tasks = cx.backend().tasks(run.id, "a", &TaskQuery::default()).await.expect("its tasks");
    assert_eq!(tasks[0].error.as_deref(), Some("nobody answered within 60 s"));
    let late = to_token(&token, "late").resume_id("one");
    assert_eq!(cx.signal(&late).await, Signalled::Buffered, "the task will ask again");
    let [task] = run.take(["a#0"]).await;
    assert_eq!(task.lease.attempt, 2);
    run.apply(&task, waits(timeout(60, hook(&token)))).await;
    run.expect_log(&[
        "run:started {}",
        "step:started a 1",
        "step:waiting a 0 hook",
        "step:wait_timed_out a 0",
        "step:waiting a 0 hook",
        "step:signalled a 0",
        "step:completed a \"late\"",
        "run:completed {\"a\":\"late\"}",
    ])
    .await;
}

async fn exhausted(cx: Arc<Cx>) {
    let a = single("a").attempts(1).exhausted(OnSkip::Skip);
    let flow = cx.flow([a, single("b").after("a")]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(timeout(60, hook(&token)))).await;
    run.advance(61).await;
    assert_eq!(cx.sweep().await, 0, "nothing is lost");
    run.expect_state(RunStatus::Started, &["a:skipped", "b:started"]).await;
    run.expect_log_end(&[
        "step:wait_timed_out a 0",
        "step:skipped a handler_failed nobody answered within 60 s",
        "step:started b 1",
    ])
    .await;
    assert_eq!(cx.signal(&to_token(&token, 1)).await, Signalled::Buffered, "the name is free");
}
