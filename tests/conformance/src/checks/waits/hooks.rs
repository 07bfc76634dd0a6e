//! Signals, and what becomes of them.

use std::sync::Arc;

use pgflow_machine::wait::{HookToken, MAX_COMPARISONS, NewWait, Signalled};
use pgflow_machine::{RunStatus, Settled, TaskKey, TaskStatus};
use pgflow_runtime::backend::{TaskQuery, WaitingFor};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::waits::{hook, to_task, to_token, waits};
use crate::kit::{Cx, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("W01", "a task that waits has no lease; a signal completes it", waits_for_years, Waits),
    check!("W02", "a signal is delivered once, and then the hook is gone", outcomes, Waits),
    check!("W03", "a payload that does not fit is refused with its place", rejected, Waits),
    check!("W04", "a settle that is told again changes nothing", again, Waits),
    check!(
        "W05",
        "a task is signalled without a token, also before it waits",
        without_token,
        Waits
    ),
    check!("W06", "a signal that breaks the map after it fails the run", violation, Waits),
    check!(
        "W08",
        "a text, map or letter of a wrong kind is refused with its place",
        formats,
        Waits
    ),
    check!("W09", "a payload that takes too long to check is refused", endless, Waits),
    check!("W07", "nothing is delivered to a run that has ended", ended, Waits),
    check!("W90", "a resume id that was used for something else is refused", conflict, Waits),
];

async fn waits_for_years(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(hook(&token))).await;
    run.expect_idle().await;
    run.expect_state(RunStatus::Started, &["a:started", "b:created"]).await;
    let tasks = cx.backend().tasks(run.id, "a", &TaskQuery::default()).await.expect("its tasks");
    assert_eq!((tasks[0].status, tasks[0].worker), (TaskStatus::Waiting, None));
    let open = cx.waits(run.id).await;
    assert_eq!((open.len(), &open[0].task, open[0].until), (1, &task.lease.task, None));
    assert_eq!(open[0].on, WaitingFor::Hook { token: Some(token.clone()) });
    let delivered = cx.signal(&to_token(&token, json!({ "ok": 1 }))).await;
    assert_eq!(delivered, Signalled::Delivered(task.lease.task.clone()));
    assert_eq!(cx.waits(run.id).await, []);
    let [next] = run.take(["b#0"]).await;
    assert_eq!(next.input["a"], json!({ "ok": 1 }));
    run.done(&next, 2).await;
    run.expect_log(&[
        "run:started {}",
        "step:started a 1",
        "step:waiting a 0 hook",
        "step:signalled a 0",
        "step:completed a {\"ok\":1}",
        "step:started b 1",
        "step:completed b 2",
        "run:completed {\"b\":2}",
    ])
    .await;
}

async fn outcomes(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    let token = cx.announce(&task).await.expect("it holds");
    run.apply(&task, waits(hook(&token))).await;
    let first = to_token(&token, 1).resume_id("one");
    assert_eq!(cx.signal(&first).await, Signalled::Delivered(task.lease.task.clone()));
    for _ in 0..3 {
        assert_eq!(cx.signal(&first).await, Signalled::Duplicate);
    }
    assert_eq!(cx.signal(&to_token(&token, 2).resume_id("two")).await, Signalled::Gone);
    assert_eq!(cx.signal(&to_token(&token, 2)).await, Signalled::Gone);
    assert_eq!(cx.signal(&to_token(&HookToken::new(), 2)).await, Signalled::Gone, "nobody's");
    run.expect_log_end(&["step:completed a 1", "run:completed {\"a\":1}"]).await;
    let unknown = TaskKey { step: "b".into(), ..task.lease.task.clone() };
    assert_eq!(cx.signal(&to_task(&unknown, 2)).await, Signalled::Gone, "there is no such step");
}

async fn rejected(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let [task] = run.take(["a#0"]).await;
    let schema = json!({
        "type": "object", "required": ["amount"],
        "properties": { "amount": { "type": "integer" }, "lines": { "type": "array", "items": { "$ref": "#/$defs/Line" } } },
        "$defs": { "Line": { "type": "object", "required": ["price"], "properties": { "price": { "type": ["number", "null"] } } } },
    });
    run.apply(&task, waits(NewWait { schema: Some(schema), ..hook(&token) })).await;
    for (payload, place) in [
        (json!(7), ""),
        (json!({}), "/amount"),
        (json!({ "amount": "7" }), "/amount"),
        (json!({ "amount": 7.5 }), "/amount"),
        (json!({ "amount": 7, "lines": [{ "price": 1 }, {}] }), "/lines/1/price"),
        (json!({ "amount": 7, "lines": [{ "price": "1" }] }), "/lines/0/price"),
    ] {
        let signal = to_token(&token, payload.clone()).resume_id("mail");
        let Signalled::Rejected { path, message } = cx.signal(&signal).await else {
            panic!("{payload} was not rejected")
        };
        assert_eq!(path, place, "{payload}: {message}");
        assert_eq!(cx.waits(run.id).await.len(), 1, "the wait stays open");
    }
    let fitting = to_token(&token, json!({ "amount": 7, "lines": [{ "price": null }] }));
    let delivered = cx.signal(&fitting.resume_id("mail")).await;
    assert_eq!(delivered, Signalled::Delivered(task.lease.task));
    run.expect_state(RunStatus::Completed, &["a:completed"]).await;
}

async fn formats(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let [task] = run.take(["a#0"]).await;
    let schema = json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "format": "uuid" },
            "at": { "type": "string", "format": "date-time" },
            "letter": { "type": "string", "minLength": 1, "maxLength": 1 },
            "by_number": { "type": "object", "patternProperties": { "^\\d+$": { "type": "integer" } }, "additionalProperties": false },
            "not_zero": { "type": "integer", "not": { "const": 0 } },
        },
        "oneOf": [
            { "properties": { "kind": { "const": "yes" }, "by": { "type": "string" } }, "required": ["kind", "by"] },
            { "properties": { "kind": { "const": "no" }, "why": { "type": "string" } }, "required": ["kind", "why"] },
        ],
    });
    run.apply(&task, waits(NewWait { schema: Some(schema), ..hook(&token) })).await;
    for (payload, place) in [
        (json!({ "id": "not-a-uuid" }), "/id"),
        (json!({ "at": "2026-02-30T00:00:00Z" }), "/at"),
        (json!({ "at": "tomorrow" }), "/at"),
        (json!({ "letter": "ab" }), "/letter"),
        (json!({ "by_number": { "x": 1 } }), "/by_number/x"),
        (json!({ "by_number": { "1": "x" } }), "/by_number/1"),
        (json!({ "not_zero": 0 }), "/not_zero"),
        (json!({ "kind": "no", "why": 7 }), "/why"),
        (json!({ "kind": "yes", "by": 7, "why": "x" }), "/by"),
    ] {
        match cx.signal(&to_token(&token, payload.clone())).await {
            Signalled::Rejected { path, .. } => assert_eq!(path, place, "{payload}"),
            other => panic!("{payload} was {other:?}"),
        }
        assert_eq!(cx.waits(run.id).await.len(), 1, "the wait stays open");
    }
    let fitting = json!({
        "id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "at": "2026-02-28T00:00:00Z", "letter": "ä", "by_number": { "1": 1 },
        "not_zero": 1, "kind": "no", "why": "late",
    });
    let delivered = cx.signal(&to_token(&token, fitting)).await;
    assert_eq!(delivered, Signalled::Delivered(task.lease.task));
}

async fn endless(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let [task] = run.take(["a#0"]).await;
    let next = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
    let schema =
        json!({ "anyOf": [{ "allOf": [next, next], "required": ["end"] }, { "type": "integer" }] });
    run.apply(&task, waits(NewWait { schema: Some(schema), ..hook(&token) })).await;
    let chain =
        |depth: u32, leaf| (0..depth).fold(leaf, |next, _| json!({ "next": next, "end": 1 }));
    for hostile in [chain(60, json!("x")), json!(vec![json!({}); 3])] {
        let refused = cx.signal(&to_token(&token, hostile)).await;
        assert!(matches!(refused, Signalled::Rejected { .. }), "{refused:?}");
    }
    let Signalled::Rejected { path, message } =
        cx.signal(&to_token(&token, chain(60, json!(1)))).await
    else {
        panic!("it is too much")
    };
    let expected =
        format!("expected what takes less than {MAX_COMPARISONS} comparisons, found object");
    assert_eq!((path.as_str(), message), ("", expected));
    let delivered = cx.signal(&to_token(&token, chain(5, json!(1)))).await;
    assert_eq!(delivered, Signalled::Delivered(task.lease.task));
}

async fn again(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(hook(&token))).await;
    let told_again = cx.settle(&task.lease, waits(hook(&token))).await;
    assert_eq!(told_again, Settled::AlreadySettled);
    let completed = cx.settle(&task.lease, crate::kit::completed(9)).await;
    assert_eq!(completed, Settled::AlreadySettled, "the right is the wait's now");
    assert_eq!(cx.beat(&[&task.lease]).await, [pgflow_machine::Beat::Lost]);
    cx.signal(&to_token(&token, 1)).await;
    run.expect_log(&[
        "run:started {}",
        "step:started a 1",
        "step:waiting a 0 hook",
        "step:signalled a 0",
        "step:completed a 1",
        "run:completed {\"a\":1}",
    ])
    .await;
}

async fn conflict(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    for is_named in [true, false] {
        let run = cx.start(&flow, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        let announced = cx.announce(&task).await.expect("it holds");
        let token = if is_named { cx.token() } else { announced };
        let [one, same, other] = [
            json!({ "by": "Ann", "lines": [1, { "a": 1, "b": 2 }] }),
            serde_json::from_str(r#"{ "lines": [1, { "b": 2, "a": 1 }], "by": "Ann" }"#)
                .expect("JSON"),
            json!({ "by": "Bob" }),
        ]
        .map(|payload| to_token(&token, payload).resume_id("mail"));
        assert_eq!(cx.signal(&one).await, Signalled::Buffered);
        for _ in 0..2 {
            assert_eq!(cx.signal(&same).await, Signalled::Duplicate, "in whatever order");
            assert_eq!(cx.signal(&other).await, Signalled::Conflict);
            if cx.waits(run.id).await.is_empty() && run.record().await.output.is_none() {
                run.apply(&task, waits(hook(&token))).await;
            }
        }
        assert_eq!(run.record().await.output, Some(json!({ "a": one.payload })));
    }
}

async fn without_token(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let b = TaskKey { run: run.id, step: "b".into(), index: 0 };
    let early = to_task(&b, "early").resume_id("one");
    assert_eq!(cx.signal(&early).await, Signalled::Buffered, "its step has not begun");
    assert_eq!(cx.signal(&early).await, Signalled::Duplicate);
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(hook(&cx.token()))).await;
    let signalled = cx.signal(&to_task(&task.lease.task, 1)).await;
    assert_eq!(signalled, Signalled::Delivered(task.lease.task));
    let [task] = run.take(["b#0"]).await;
    run.apply(&task, waits(hook(&cx.token()))).await;
    run.expect_log_end(&[
        "step:started b 1",
        "step:waiting b 0 hook",
        "step:signalled b 0",
        "step:completed b \"early\"",
        "run:completed {\"b\":\"early\"}",
    ])
    .await;
    assert_eq!(cx.signal(&early).await, Signalled::Duplicate);
}

async fn violation(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("each").after("a").map()]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(hook(&token))).await;
    let signalled = cx.signal(&to_token(&token, 7)).await;
    assert_eq!(signalled, Signalled::Delivered(task.lease.task));
    run.expect_state(RunStatus::Failed, &["a:failed", "each:created"]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(hook(&token))).await;
    cx.signal(&to_token(&token, json!([1, 2]))).await;
    run.take(["each#0", "each#1"]).await;
}

async fn ended(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a, b] = run.take(["a#0", "b#0"]).await;
    let token = cx.announce(&a).await.expect("it holds");
    run.apply(&a, waits(hook(&token))).await;
    run.fail_for_good(&b, "boom").await;
    assert_eq!(cx.waits(run.id).await, []);
    assert_eq!(cx.signal(&to_token(&token, 1)).await, Signalled::Gone);
    assert_eq!(cx.signal(&to_task(&a.lease.task, 1)).await, Signalled::Gone);
    assert_eq!(names(&cx.claim(&flow).await), [""; 0]);
    run.expect_state(RunStatus::Failed, &["a:started", "b:failed"]).await;
}
