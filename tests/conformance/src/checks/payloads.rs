//! What goes in comes out, on every database.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{Beat, Limits, RunId, RunStatus, Settled, check_payload};
use pgflow_model::{MAX_FLOW_SLUG, MAX_STEP_SLUG};
use pgflow_runtime::backend::{Cancelled, NewRun, Parts, Retried};
use serde_json::{Value, json};

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, RELEASED, StepExt, completed, fatal, single, yielded};

pub(crate) const CHECKS: &[Check] = &[
    check!(
        "P01",
        "payloads come back as they went in: numbers, texts, null, order of elements",
        fidelity
    ),
    check!("P02", "the deepest and the largest payload that is allowed is kept", largest),
    check!("P03", "a NUL that nobody checked for is refused or kept, and breaks nothing", nul),
    check!(
        "P04",
        "a NUL in an error or a reason does not keep it from being recorded",
        nul_in_texts
    ),
    check!("P05", "limits are those of every backend", limits),
    check!("P06", "the longest slugs work, and case counts", slugs),
    check!("P08", "everything that is done to tasks gets on with the worst payloads", worst),
    check!("P07", "a long error is kept, up to a limit that is the same for all", long_error),
];

fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(9_007_199_254_740_993_u64),
        json!(0.1),
        json!(1.5e300),
        json!(-2.5e-300),
        json!(f64::MAX),
        json!(f64::MIN_POSITIVE),
        json!(""),
        json!("é 漢 🦀 \u{7f} \u{1} \u{2028} \u{fffd} \\ \" / \n\r\t"),
        json!("%_'; drop table x; -- $1 ? :a @b"),
        json!(false),
        json!([]),
        json!({}),
        json!([[], {}, [null], "", 0, false]),
        json!({"": 1, "run": 2, "a b": {"é": [1, 2.5, "x"]}, "__proto__": null}),
    ]
}

async fn fidelity(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    for value in values() {
        let run = cx.start(&flow, value.clone()).await;
        let [a] = run.take(["a#0"]).await;
        assert_eq!(a.input["run"], value, "as a run's input");
        run.done(&a, value.clone()).await;
        let [b] = run.take(["b#0"]).await;
        assert_eq!(b.input, json!({"run": value, "a": value}), "as an output");
        run.done(&b, value.clone()).await;
        let record = run.expect_state(RunStatus::Completed, &["a:completed", "b:completed"]).await;
        assert_eq!(record.input.as_ref(), Some(&value));
        assert_eq!(record.output, Some(json!({"b": value})));
        assert_eq!(record.steps[0].output.clone().unwrap_or_default(), value);
        let log = run.log().await.lines();
        assert_eq!(log[0], format!("run:started {value}"));
        assert_eq!(log[2], format!("step:completed a {value}"));
    }
    let flow = cx.flow([single("each").map(), single("again").map().after("each")]).await;
    let run = cx.start(&flow, values()).await;
    for _ in ["each", "again"] {
        for task in cx.claim(&flow).await {
            assert_eq!(task.input, values()[task.lease.task.index as usize], "as an element");
            run.done(&task, task.input.clone()).await;
        }
    }
    assert_eq!(run.record().await.output, Some(json!({"again": values()})));
}

async fn largest(cx: Arc<Cx>) {
    let limits = cx.backend().limits().await.expect("limits can be read");
    let deep = (1..limits.max_depth).fold(json!(1), |inner, level| {
        if level % 2 == 0 { json!([inner]) } else { json!({"a": inner}) }
    });
    let large = Value::String("x".repeat(limits.max_bytes - 2));
    let flow = cx.flow([single("a")]).await;
    for value in [deep, large] {
        assert_eq!(check_payload(&value, &limits), Ok(()), "as much as is allowed");
        let run = cx.start(&flow, value.clone()).await;
        let [a] = run.take(["a#0"]).await;
        assert!(a.input["run"] == value, "it comes back as an input");
        run.done(&a, value.clone()).await;
        let record = run.expect_state(RunStatus::Completed, &["a:completed"]).await;
        assert!(record.steps[0].output == Some(value), "it comes back as an output");
    }
}

/// As large, as many parts and as deep as may be; and a text that no database can make smaller.
fn worst_payloads(limits: &Limits) -> Vec<(&'static str, Value)> {
    let mut noise = 1_u64;
    let mut random = || {
        noise =
            noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + u8::try_from((noise >> 33) % 75).unwrap_or_default())
            .to_string()
            .replace('\\', "_")
    };
    let random: String = (0..limits.max_bytes - 2).map(|_| random()).collect();
    let deep = (1..limits.max_depth).fold(json!([]), |inner, _| json!([inner]));
    // Each takes six bytes of text, the last one less.
    let escapes = "\u{1}".repeat((limits.max_bytes - 2) / 6);
    vec![
        ("a text that does not compress", Value::String(random)),
        ("many numbers", Value::Array(vec![json!(7); (limits.max_bytes - 2) / 3])),
        ("the deepest array", deep),
        ("a text that does", Value::String("x".repeat(limits.max_bytes - 2))),
        ("escapes", Value::String(escapes)),
    ]
}

/// Once through everything that a worker or an operator does with a task.
async fn worst(cx: Arc<Cx>) {
    let limits = cx.backend().limits().await.expect("limits can be read");
    let words = "so long ".repeat(20_000);
    let flow = cx.flow([single("a").attempts(9), single("b").after("a")]).await;
    for (what, value) in worst_payloads(&limits).into_iter().take(cx.rounds(3, 5)) {
        assert_eq!(check_payload(&value, &limits), Ok(()), "{what} is allowed");
        let run = cx.start(&flow, value.clone()).await;
        let [a] = run.take(["a#0"]).await;
        assert!(a.input["run"] == value, "{what} is handed out");
        assert_eq!(cx.beat(&[&a.lease]).await, [Beat::Extended], "{what}");
        run.apply(&a, RELEASED).await;
        let [a] = run.take(["a#0"]).await;
        run.apply(&a, yielded(&words, Duration::from_secs(10))).await;
        run.advance(20).await;
        let [a] = run.take(["a#0"]).await;
        run.fail(&a, &words).await;
        run.take(["a#0"]).await;
        assert_eq!(cx.release_unknown(&flow, &[]).await, 1, "{what}");
        run.take(["a#0"]).await;
        run.advance(1_000).await;
        assert_eq!(cx.sweep().await, 1, "{what} was lost");
        let [a] = run.take(["a#0"]).await;
        run.fail_for_good(&a, &words).await;
        run.expect_state(RunStatus::Failed, &["a:failed", "b:created"]).await;
        assert_eq!(run.retry().await, Retried::Retried, "{what}");
        let [a] = run.take(["a#0"]).await;
        run.done(&a, value.clone()).await;
        let [b] = run.take(["b#0"]).await;
        assert!(b.input["a"] == value, "{what} is handed on");
        assert_eq!(run.cancel(Some(&words)).await, Cancelled::Cancelled, "{what}");
        assert_eq!(cx.beat(&[&b.lease]).await, [Beat::Cancelled], "{what}");
        let record = run.expect_state(RunStatus::Cancelled, &["a:completed", "b:started"]).await;
        assert!(record.input.as_ref() == Some(&value), "{what} is still there");
        let reason = record.cancel_reason.unwrap_or_default();
        assert_eq!(reason.chars().count(), 65_536, "characters of a reason that are kept");
    }
}

async fn nul(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let bad = json!({"x": ["a\0b"]});
    let id = RunId::new();
    let started = cx.backend().start(NewRun::new(flow.clone(), bad.clone(), id)).await;
    let kept =
        cx.backend().run(id, Parts::Run).await.expect("can be asked").and_then(|run| run.input);
    assert_eq!(kept, started.is_ok().then(|| bad.clone()), "all or nothing");
    if let Err(error) = started {
        assert!(!error.is_temporary(), "asking again would not help: {error:?}");
    }
    cx.claim(&flow).await;
    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    let settle =
        [pgflow_machine::Settle { lease: a.lease.clone().into(), verdict: completed(bad.clone()) }];
    match cx.backend().settle(&settle, None).await {
        Ok(work) => assert_eq!(work.settled, [Settled::Applied]),
        Err(error) => {
            assert!(!error.is_temporary(), "asking again would not help: {error:?}");
            run.expect_state(RunStatus::Started, &["a:started"]).await;
            run.fail_for_good(&a, "it is not to be kept").await;
            run.expect_log_end(&["run:failed it is not to be kept"]).await;
        }
    }
}

async fn nul_in_texts(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a, _] = run.take(["a#0", "b#0"]).await;
    assert_eq!(cx.settle(&a.lease, fatal("left\0right")).await, Settled::Applied);
    let record = run.expect_state(RunStatus::Failed, &["a:failed", "b:started"]).await;
    let error = record.steps[0].error.clone().unwrap_or_default();
    assert!(error.starts_with("left") && error.ends_with("right"), "{error:?}");
    let run = cx.start(&flow, json!({})).await;
    assert_eq!(run.cancel(Some("left\0right")).await, Cancelled::Cancelled);
    let reason = run.record().await.cancel_reason.unwrap_or_default();
    assert!(reason.starts_with("left") && reason.ends_with("right"), "{reason:?}");
}

async fn limits(cx: Arc<Cx>) {
    let limits = cx.backend().limits().await.expect("limits can be read");
    assert_eq!(limits, Limits::default());
}

async fn slugs(cx: Arc<Cx>) {
    let prefix = cx.name();
    let flow = format!("{prefix}{}", "x".repeat(MAX_FLOW_SLUG - prefix.len()));
    let longest = "s".repeat(MAX_STEP_SLUG);
    let steps = [single("A"), single("a"), single("_a1"), single(&longest)];
    let shape =
        pgflow_model::FlowShape { steps: steps.to_vec(), ..pgflow_model::FlowShape::new(&flow) };
    let version = pgflow_runtime::backend::FlowVersion {
        flow: flow.clone(),
        version: 1,
        slug: flow.clone(),
        shape,
    };
    cx.backend().ensure_flow(&version).await.expect("the longest slug is one");
    let run = cx.start(&flow, json!({})).await;
    let tasks = run.take(["A#0", "_a1#0", "a#0", &format!("{longest}#0")]).await;
    for (n, task) in tasks.iter().enumerate() {
        run.done(task, json!(n)).await;
    }
    let output = json!({"A": 0, "_a1": 1, "a": 2, longest: 3});
    assert_eq!(run.record().await.output, Some(output));
    let log = run.log().await;
    assert_eq!((log.count("step:completed A"), log.count("step:completed a")), (1, 1));
}

async fn long_error(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(1)]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    run.fail(&a, &"é".repeat(100_000)).await;
    let error = run.record().await.steps[0].error.clone().unwrap_or_default();
    assert_eq!(error.chars().count(), 65_536, "characters that are kept");
    run.expect_log_end(&[&format!("run:failed {error}")]).await;
}
