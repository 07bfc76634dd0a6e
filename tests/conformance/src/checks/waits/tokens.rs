//! Names of hooks.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::wait::{HookToken, KEPT_AT_MOST, NewWait, Signal, Signalled};
use pgflow_machine::{RunStatus, TaskKey};
use pgflow_runtime::backend::{BackendError, TaskQuery};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::waits::{hook, of, to_task, to_token, waits};
use crate::kit::{Cx, StepExt, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("W10", "a task has the same token in all attempts", same_token, Waits),
    check!("W11", "what comes before the wait is kept for it", kept, Waits),
    check!("W12", "what is kept and does not fit is passed over", unfit, Waits),
    check!("W13", "what nobody waits for in time is deleted", expired, Waits),
    check!("W14", "a token that another wait has is refused with its name", taken, Waits),
    check!("W15", "a name is a name, however it begins", like_announced, Waits),
    check!("W16", "what has expired is no duplicate, also before a sweep", expired_unswept, Waits),
    check!("W17", "so many signals are kept, and no more", full, Waits),
    check!(
        "W18",
        "a token that was announced stands for its task, also for resume ids and limits",
        stands_for_its_task,
        Waits
    ),
    check!("W19", "a task cannot wait for a token that was announced to nobody", nobodys, Waits),
    check!("W25", "tokens and resume ids have no control characters", printable, Waits),
];

async fn same_token(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let (run, other) = (cx.start(&flow, 1).await, cx.start(&flow, 2).await);
    let [first, second] = run.split(&cx.claim(&flow).await, &other);
    let token = cx.announce(&first).await.expect("it holds");
    assert!(token.is_announced() && token.as_str().len() == 46);
    assert_ne!(cx.announce(&second).await, Some(token.clone()), "each task has its own");
    assert_eq!(cx.announce(&first).await, Some(token.clone()));
    run.fail(&first, "boom").await;
    assert_eq!(cx.announce(&first).await, None, "its attempt is over");
    let [again] = run.take(["a#0"]).await;
    assert_eq!(cx.announce(&again).await, Some(token.clone()));
    run.apply(&again, waits(hook(&token))).await;
    let lines = run.log().await.lines().join("\n");
    assert!(!lines.contains(token.as_str()), "it is a secret: {lines}");
}

async fn kept(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    let token = cx.announce(&task).await.expect("it holds");
    let early = to_token(&token, "early").resume_id("one");
    assert_eq!(cx.signal(&early).await, Signalled::Buffered, "the attempt goes on");
    assert_eq!(cx.signal(&early).await, Signalled::Duplicate);
    run.fail(&task, "boom").await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(hook(&token))).await;
    run.expect_log_end(&[
        "step:waiting a 0 hook",
        "step:signalled a 0",
        "step:completed a \"early\"",
        "run:completed {\"a\":\"early\"}",
    ])
    .await;
    assert_eq!(cx.signal(&early).await, Signalled::Duplicate);
    // The same with a name that somebody chose: those that come are kept in their order.
    let named = cx.token();
    for n in 0..2 {
        assert_eq!(cx.signal(&to_token(&named, n)).await, Signalled::Buffered);
    }
    for n in 0..2 {
        let run = cx.start(&flow, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        run.apply(&task, waits(hook(&named))).await;
        assert_eq!(run.record().await.output, Some(json!({ "a": n })));
    }
    assert_eq!(cx.waits(run.id).await, []);
}

async fn unfit(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let wrong = to_token(&token, "seven").resume_id("mail");
    assert_eq!(cx.signal(&wrong).await, Signalled::Buffered, "nobody knows yet what is wanted");
    let [task] = run.take(["a#0"]).await;
    let schema = Some(json!({ "type": "integer" }));
    run.apply(&task, waits(NewWait { schema, ..hook(&token) })).await;
    assert_eq!(cx.waits(run.id).await.len(), 1, "it goes on waiting");
    let dropped = "step:signal_dropped a 0  expected integer, found string";
    run.expect_log_end(&["step:waiting a 0 hook", dropped]).await;
    let right = to_token(&token, 7).resume_id("mail");
    assert_eq!(cx.signal(&right).await, Signalled::Delivered(task.lease.task));
    run.expect_state(RunStatus::Completed, &["a:completed"]).await;
}

async fn expired(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let short = Signal { buffer_for: Duration::from_mins(1), ..to_token(&token, 1) };
    assert_eq!(cx.signal(&short.resume_id("one")).await, Signalled::Buffered);
    run.advance(90).await;
    assert_eq!(cx.wake().await.expired, 1);
    assert_eq!(cx.wake().await.expired, 0);
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(hook(&token))).await;
    assert_eq!(cx.waits(run.id).await.len(), 1, "what has expired is not delivered");
    let again = cx.signal(&to_token(&token, 2).resume_id("one")).await;
    assert_eq!(again, Signalled::Delivered(task.lease.task), "and may be sent again");
}

async fn like_announced(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let token = HookToken::named(&format!("HK_{}", cx.name())).expect("a token");
    for answer in 1..=2 {
        let run = cx.start(&flow, answer).await;
        let [task] = run.take(["a#0"]).await;
        run.apply(&task, waits(hook(&token))).await;
        assert_eq!(
            cx.signal(&to_token(&token, answer)).await,
            Signalled::Delivered(task.lease.task)
        );
        run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    }
    assert_eq!(cx.signal(&to_token(&token, 3)).await, Signalled::Buffered, "the name is free");
}

async fn expired_unswept(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let short = Signal { buffer_for: Duration::from_mins(1), ..to_token(&token, 1) };
    assert_eq!(cx.signal(&short.resume_id("one")).await, Signalled::Buffered);
    run.advance(90).await;
    let again = cx.signal(&to_token(&token, 2).resume_id("one")).await;
    assert_eq!(again, Signalled::Buffered);
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(hook(&token))).await;
    run.expect_state(RunStatus::Completed, &["a:completed"]).await;
}

async fn taken(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(2)]).await;
    let (run, other) = (cx.start(&flow, 1).await, cx.start(&flow, 2).await);
    let [first, second] = run.split(&cx.claim(&flow).await, &other);
    let token = cx.token();
    run.apply(&first, waits(hook(&token))).await;
    other.apply(&second, waits(hook(&token))).await;
    let tasks = cx.backend().tasks(other.id, "a", &TaskQuery::default()).await.expect("its tasks");
    let error = tasks[0].error.clone().unwrap_or_default();
    assert!(error.contains("taken") && error.contains(&run.id.to_string()), "{error}");
    assert!(!error.contains(token.as_str()), "{error}");
    cx.signal(&to_token(&token, 1)).await;
    run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    let [second] = other.take(["a#0"]).await;
    other.apply(&second, waits(hook(&token))).await;
    assert_eq!(cx.waits(other.id).await.len(), 1, "it is free again");
}

async fn full(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let (run, token, other) = (cx.start(&flow, json!({})).await, cx.token(), cx.token());
    let later = TaskKey { run: run.id, step: "b".into(), index: 0 };
    for number in 0..KEPT_AT_MOST {
        let id = number.to_string();
        let signals = [to_token(&token, number), to_task(&later, number)];
        for signal in signals.map(|signal| signal.resume_id(&*id)) {
            assert_eq!(cx.signal(&signal).await, Signalled::Buffered);
        }
    }
    let backend = cx.backend();
    for signal in [to_token(&token, "more"), to_task(&later, "more")] {
        let refused = of(&backend).signal(&signal).await.expect_err("that is too much");
        let is_full = matches!(refused, BackendError::TooManySignals { limit: KEPT_AT_MOST });
        assert!(is_full, "{refused:?}");
    }
    assert_eq!(cx.signal(&to_token(&token, 0).resume_id("0")).await, Signalled::Duplicate);
    assert_eq!(cx.signal(&to_token(&other, 0)).await, Signalled::Buffered, "others are not full");
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(hook(&token))).await;
    run.expect_log_end(&["step:completed a 0", "step:started b 1"]).await;
    assert_eq!(cx.signal(&to_token(&token, "more")).await, Signalled::Buffered, "one was taken");
}

async fn stands_for_its_task(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    for waits_first in [true, false] {
        let run = cx.start(&flow, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        let token = cx.announce(&task).await.expect("it holds");
        let key = &task.lease.task;
        let mut ways = [to_token(&token, 1).resume_id("one"), to_task(key, 1).resume_id("one")];
        ways.rotate_left(usize::from(waits_first));
        let [first, second] = ways;
        if waits_first {
            run.apply(&task, waits(hook(&token))).await;
            assert_eq!(cx.signal(&first).await, Signalled::Delivered(key.clone()));
        } else {
            assert_eq!(cx.signal(&first).await, Signalled::Buffered);
        }
        assert_eq!(cx.signal(&second).await, Signalled::Duplicate, "waits first: {waits_first}");
        if !waits_first {
            for number in 1..KEPT_AT_MOST {
                let signal = if number % 2 == 0 { to_token(&token, 2) } else { to_task(key, 2) };
                assert_eq!(cx.signal(&signal).await, Signalled::Buffered);
            }
            for signal in [to_token(&token, 3), to_task(key, 3)] {
                let refused = of(&cx.backend()).signal(&signal).await;
                assert!(matches!(refused, Err(BackendError::TooManySignals { .. })), "{refused:?}");
            }
            run.apply(&task, waits(hook(&token))).await;
        }
        assert_eq!(cx.signal(&second).await, Signalled::Duplicate);
        run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    }
}

/// The first and last of those that are, and what a collation may take for one.
const ODD: &str = "\0\u{1}\n\u{1f} ~\u{7f}\u{80}\u{85}\u{9f}\u{a0}\u{ad}\u{200b}\u{2028}\u{2029}\u{feff}\u{10ffff}";

async fn printable(cx: Arc<Cx>) {
    for odd in ODD.chars() {
        let token = HookToken::named(&format!("{}{odd}", cx.name()));
        assert_eq!(token.is_err(), odd.is_control(), "{odd:?}");
        if let Ok(token) = token {
            assert_eq!(cx.signal(&to_token(&token, 1)).await, Signalled::Buffered, "{odd:?}");
        }
        let signal = to_token(&cx.token(), 1).resume_id(format!("mail{odd}"));
        let signalled = of(&cx.backend()).signal(&signal).await;
        assert_eq!(signalled.is_err(), odd.is_control(), "{odd:?}: {signalled:?}");
    }
}

async fn nobodys(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    let token = HookToken::new();
    run.apply(&task, waits(hook(&token))).await;
    assert_eq!(cx.waits(run.id).await, []);
    let tasks = cx.backend().tasks(run.id, "a", &TaskQuery::default()).await.expect("its tasks");
    let error = tasks[0].error.as_deref();
    assert_eq!(error, Some("the hook's token was announced to nobody"));
    assert_eq!(cx.signal(&to_token(&token, 1)).await, Signalled::Gone);
}
