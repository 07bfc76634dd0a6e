//! Streams of tasks: a generation per attempt.

use std::sync::Arc;

use pgflow_machine::TaskKey;
use pgflow_machine::log::{ABANDONED, Closed, End, StreamKey, StreamProblem, Writer};
use pgflow_runtime::backend::StreamPage;

use crate::Check;
use crate::check::check;
use crate::kit::streams::{StreamKit, attempt, stream_of, writer};
use crate::kit::waits::{hook, timeout, waits};
use crate::kit::{Cx, RELEASED, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("S17", "each attempt writes a generation of its own", generations, Streams),
    check!("S18", "a superseded attempt writes nothing", superseded, Streams),
    check!(
        "S19",
        "what a lost attempt wrote is abandoned, and over if no other comes",
        abandoned,
        Streams
    ),
    check!(
        "S20",
        "an attempt that wrote all is over when it is settled, and not before",
        settling,
        Streams
    ),
    check!(
        "S32",
        "an attempt that wrote all and waits is over, until another one has the task",
        waiting,
        Streams
    ),
    check!("S21", "a step that says nothing has said all when it is over", silent, Streams),
    check!(
        "S30",
        "an attempt that fails or is lost before it says anything has not said all",
        failing,
        Streams
    ),
    check!("S22", "each task of a map has a stream", maps, Streams),
    check!("S23", "attempts and others write streams of their own kind", kinds, Streams),
    check!("S24", "a cancelled run's streams are over", cancelled, Streams),
];

async fn generations(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let run = cx.start(&cx.flow([single("a")]).await, 1).await;
    let [first] = run.take(["a#0"]).await;
    let stream = stream_of(&first);
    kit.append(&stream, &attempt(&first), 0, ["x", "y"]).await.expect("appended");
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.generation, page.begins_at, page.end, page.is_over), (1, 0, None, false));
    kit.close(&stream, &attempt(&first), End::error("oh")).await.expect("closed");
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::error("oh")), false), "it may be tried again");
    run.fail(&first, "oh").await;
    let [second] = run.take(["a#0"]).await;
    assert_eq!(kit.append(&stream, &attempt(&second), 0, ["z"]).await, Ok((Some(2), 1)));
    assert_eq!(kit.texts(&stream).await, ["0@1:x", "1@1:y", "2@2:z"]);
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.generation, page.begins_at, page.end, page.is_over), (2, 2, None, false));
    kit.close(&stream, &attempt(&second), End::Eof).await.expect("closed");
    run.done(&second, 1).await;
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::Eof), true));
}

async fn superseded(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let run = cx.start(&cx.flow([single("a")]).await, 1).await;
    let [first] = run.take(["a#0"]).await;
    let stream = stream_of(&first);
    kit.append(&stream, &attempt(&first), 0, ["x"]).await.expect("appended");
    run.fail(&first, "oh").await;
    let late = Err(StreamProblem::Superseded(1));
    assert_eq!(kit.append(&stream, &attempt(&first), 1, ["late"]).await, late);
    let [second] = run.take(["a#0"]).await;
    assert_eq!(kit.append(&stream, &attempt(&first), 1, ["late"]).await, late);
    let close = kit.close(&stream, &attempt(&first), End::Eof).await;
    assert_eq!(close, Err(StreamProblem::Superseded(1)));
    assert_eq!(
        kit.append(&stream, &Writer::Attempt(3), 0, ["early"]).await,
        Err(StreamProblem::Superseded(3))
    );
    assert_eq!(kit.append(&stream, &attempt(&first), 0, ["x"]).await, Ok((None, 0)), "it is there");
    run.done(&second, 1).await;
    let late = Err(StreamProblem::Superseded(2));
    assert_eq!(kit.append(&stream, &attempt(&second), 0, ["late"]).await, late);
    assert_eq!(kit.texts(&stream).await, ["0@1:x"]);
}

async fn abandoned(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let run = cx.start(&cx.flow([single("a")]).await, 1).await;
    let [first] = run.take(["a#0"]).await;
    let stream = stream_of(&first);
    kit.append(&stream, &attempt(&first), 0, ["x"]).await.expect("appended");
    run.advance(1_000).await;
    cx.sweep().await;
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::error(ABANDONED)), false));
    let [second] = run.take(["a#0"]).await;
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::error(ABANDONED)), false));
    kit.append(&stream, &attempt(&second), 0, ["y"]).await.expect("appended");
    assert_eq!(kit.read(&stream, 0).await.end, None);
    run.fail_for_good(&second, "no").await;
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::error(ABANDONED)), true));
}

async fn waiting(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let run = cx.start(&cx.flow([single("a")]).await, 1).await;
    let [first] = run.take(["a#0"]).await;
    let stream = stream_of(&first);
    kit.append(&stream, &attempt(&first), 0, ["x"]).await.expect("appended");
    kit.close(&stream, &attempt(&first), End::Eof).await.expect("closed");
    let before = kit.read(&stream, 0).await;
    assert!(!before.is_over, "nobody knows yet that it waits");
    run.apply(&first, waits(timeout(60, hook(&cx.token())))).await;
    let page = kit.read(&stream, 0).await;
    assert_eq!(page, StreamPage { is_over: true, ..before });
    let late = Err(StreamProblem::Superseded(1));
    assert_eq!(kit.append(&stream, &attempt(&first), 1, ["late"]).await, late);
    run.advance(90).await;
    cx.wake().await;
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::Eof), false), "another attempt says it again");
    let [second] = run.take(["a#0"]).await;
    kit.append(&stream, &attempt(&second), 0, ["y"]).await.expect("appended");
    assert_eq!(kit.texts(&stream).await, ["0@1:x", "1@2:y"]);
}

async fn settling(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let run = cx.start(&cx.flow([single("a")]).await, 1).await;
    let [first] = run.take(["a#0"]).await;
    let stream = stream_of(&first);
    kit.append(&stream, &attempt(&first), 0, ["x"]).await.expect("appended");
    kit.close(&stream, &attempt(&first), End::Eof).await.expect("closed");
    let page = kit.read(&stream, 0).await;
    assert_eq!(
        (page.end, page.is_over),
        (Some(End::Eof), false),
        "it may be lost before it settles"
    );
    run.apply(&first, RELEASED).await;
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::Eof), false), "another attempt says it again");
    let [second] = run.take(["a#0"]).await;
    assert_eq!(kit.close(&stream, &attempt(&second), End::Eof).await, Ok(Closed::Now));
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.generation, page.begins_at, page.next, page.is_over), (2, 1, 1, false));
    run.done(&second, 1).await;
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::Eof), true));
}

async fn silent(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let run = cx.start(&cx.flow([single("a"), single("b").after("a")]).await, 1).await;
    let of = |step: &str| StreamKey::Task(TaskKey { run: run.id, step: step.to_owned(), index: 0 });
    for step in ["a", "b"] {
        let page = kit.read(&of(step), 0).await;
        assert_eq!((page.end, page.is_over), (None, false), "{step} may say something");
    }
    let [a] = run.take(["a#0"]).await;
    assert!(!kit.read(&of("a"), 0).await.is_over);
    run.done(&a, 1).await;
    let page = kit.read(&of("a"), 0).await;
    assert_eq!((page.chunks.len(), page.end, page.is_over), (0, Some(End::Eof), true));
    assert!(!kit.read(&of("b"), 0).await.is_over);
}

async fn failing(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let run = cx.start(&flow, 1).await;
    let [first] = run.take(["a#0"]).await;
    let stream = stream_of(&first);
    run.fail(&first, "oh").await;
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (None, false), "another attempt may say something");
    let [second] = run.take(["a#0"]).await;
    run.fail_for_good(&second, "no").await;
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.next, page.end, page.is_over), (0, Some(End::error(ABANDONED)), true));
    let never = StreamKey::Task(TaskKey { step: "b".to_owned(), ..first.lease.task.clone() });
    let page = kit.read(&never, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::Eof), true), "nobody has begun it");

    let run = cx.start(&flow, 1).await;
    let [held] = run.take(["a#0"]).await;
    let stream = stream_of(&held);
    run.cancel(None).await;
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::error(ABANDONED)), true));
}

async fn maps(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let run = cx.start(&cx.flow([single("a").map()]).await, vec![1, 2]).await;
    let [zero, one] = run.take(["a#0", "a#1"]).await;
    kit.append(&stream_of(&one), &attempt(&one), 0, ["one"]).await.expect("appended");
    kit.append(&stream_of(&zero), &attempt(&zero), 0, ["zero"]).await.expect("appended");
    assert_eq!(kit.texts(&stream_of(&zero)).await, ["0@1:zero"]);
    assert_eq!(kit.texts(&stream_of(&one)).await, ["0@1:one"]);
    let third = StreamKey::Task(TaskKey { run: run.id, step: "a".to_owned(), index: 2 });
    let page = kit.read(&third, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::Eof), true), "there is no third task");
    let refused = kit.append(&third, &Writer::Attempt(1), 0, ["x"]).await;
    assert_eq!(refused, Err(StreamProblem::Superseded(1)));
}

async fn kinds(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let run = cx.start(&cx.flow([single("a")]).await, 1).await;
    let [a] = run.take(["a#0"]).await;
    let wrong = Err(StreamProblem::WrongWriter);
    assert_eq!(kit.append(&stream_of(&a), &writer("1"), 0, ["x"]).await, wrong);
    assert_eq!(kit.append(&kit.named(), &Writer::Attempt(1), 0, ["x"]).await, wrong);
    let other = StreamKey::Task(TaskKey { step: "b".to_owned(), ..a.lease.task.clone() });
    let unknown = kit.append(&other, &Writer::Attempt(1), 0, ["x"]).await;
    assert_eq!(unknown, Err(StreamProblem::UnknownTask));
}

async fn cancelled(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let run = cx.start(&cx.flow([single("a"), single("b").after("a")]).await, 1).await;
    let [a] = run.take(["a#0"]).await;
    let stream = stream_of(&a);
    kit.append(&stream, &attempt(&a), 0, ["x"]).await.expect("appended");
    run.cancel(None).await;
    let late = Err(StreamProblem::Superseded(1));
    assert_eq!(kit.append(&stream, &attempt(&a), 1, ["y"]).await, late);
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.end, page.is_over), (Some(End::error(ABANDONED)), true));
    let b = StreamKey::Task(TaskKey { step: "b".to_owned(), ..a.lease.task.clone() });
    assert!(kit.read(&b, 0).await.is_over, "there will be no `b`");
}
