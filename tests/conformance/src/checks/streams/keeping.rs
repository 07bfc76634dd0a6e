//! How long streams are kept.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::log::{Append, CloseStream, End, StreamProblem};
use pgflow_runtime::backend::{PageSize, StreamQuery};

use crate::Check;
use crate::check::check;
use crate::kit::streams::{StreamKit, attempt, stream_of, writer};
use crate::kit::{Cx, single};

pub(crate) const CHECKS: &[Check] = &[
    check!(
        "S27",
        "a named stream goes when its time is over, and not before",
        time_to_live,
        Streams
    ),
    check!("S28", "streams of tasks go with their run", with_run, Streams),
    check!("S31", "a named stream that goes and comes again is another one", another, Streams),
];

async fn time_to_live(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (old, young, ended) = (kit.named(), kit.named(), kit.named());
    let (ann, chunks, limits) = (writer("ann"), [b"x".to_vec()], kit.limits().await);
    for (stream, lasts) in [(&old, Duration::ZERO), (&young, Duration::MAX)] {
        let append = Append { lasts, ..Append::new(stream, ann.clone(), 0, &chunks, limits) };
        kit.streams().append(&append).await.expect("an outcome").expect("appended");
    }
    kit.append(&ended, &ann, 0, ["x"]).await.expect("appended");
    let close =
        CloseStream { lasts: Duration::ZERO, ..CloseStream::new(&ended, ann.clone(), &End::Eof) };
    kit.streams().close_stream(&close).await.expect("an outcome").expect("closed");
    while kit.streams().prune_streams(1).await.expect("streams can be pruned") > 0 {}
    assert_eq!(kit.read(&old, 0).await.next, 0, "its time was over");
    assert!(!kit.read(&ended, 0).await.is_over, "it is forgotten that it ended");
    assert_eq!(kit.texts(&young).await, ["0:x"]);
    let gap = Err(StreamProblem::Gap { expected: 0, first: 1 });
    assert_eq!(kit.append(&old, &ann, 1, ["y"]).await, gap, "its writer is told");
    assert_eq!(kit.append(&old, &ann, 0, ["y"]).await, Ok((Some(0), 1)), "its name is free");
}

async fn with_run(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, 1).await;
    let [a] = run.take(["a#0"]).await;
    let stream = stream_of(&a);
    kit.append(&stream, &attempt(&a), 0, ["x", "y"]).await.expect("appended");
    let own = kit.named();
    kit.append(&own, &writer("ann"), 0, ["x"]).await.expect("appended");
    run.done(&a, 1).await;
    cx.age(&flow, 100_000).await;
    while cx.backend().prune(Duration::from_hours(25), 10).await.expect("runs can be pruned") > 0 {}
    let read = kit.streams().read_stream(&stream, 0, PageSize::default()).await;
    assert_eq!(read.expect("it can be asked for"), None, "it went with its run");
    let of_run = StreamQuery { run: Some(run.id), after: None, max: 10 };
    assert_eq!(kit.streams().list_streams(&of_run).await.expect("a list"), []);
    assert_eq!(kit.texts(&own).await, ["0:x"], "it is nobody's");
}

async fn another(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, chunks, limits) = (kit.named(), [b"x".to_vec()], kit.limits().await);
    assert_eq!(kit.read(&stream, 0).await.id, None, "it is not there yet");
    let mut seen = Vec::new();
    for lasts in [Duration::ZERO, Duration::MAX] {
        let ann = writer("ann");
        let append = Append { lasts, ..Append::new(&stream, ann.clone(), 0, &chunks, limits) };
        kit.streams().append(&append).await.expect("an outcome").expect("appended");
        let id = kit.read(&stream, 0).await.id;
        if lasts == Duration::MAX {
            kit.append(&stream, &ann, 1, ["y"]).await.expect("appended");
        }
        assert_eq!(kit.read(&stream, 9).await.id, id, "the same as long as it is there");
        seen.push(id.expect("it is there"));
        while kit.streams().prune_streams(1).await.expect("streams can be pruned") > 0 {}
    }
    assert_ne!(seen[0], seen[1]);
}
