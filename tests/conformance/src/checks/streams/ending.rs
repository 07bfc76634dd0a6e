//! Ends.

use std::sync::Arc;

use pgflow_machine::log::{Closed, End, StreamProblem};

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::streams::{StreamKit, writer};

pub(crate) const CHECKS: &[Check] = &[
    check!("S13", "nothing is appended after the end", end, Streams),
    check!("S14", "a stream ends once, and ending it again is fine", twice, Streams),
    check!("S15", "a stream can end before anything was said", empty, Streams),
    check!("S16", "what was appended before the end can be sent again after it", retried, Streams),
];

async fn end(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    for end in [End::Eof, End::error("it broke")] {
        let (stream, ann) = (kit.named(), writer("ann"));
        kit.append(&stream, &ann, 0, ["a"]).await.expect("appended");
        assert_eq!(kit.close(&stream, &ann, end.clone()).await, Ok(Closed::Now));
        let refused = Err(StreamProblem::Ended(end.clone()));
        assert_eq!(kit.append(&stream, &ann, 1, ["b"]).await, refused);
        assert_eq!(kit.append(&stream, &writer("bob"), 0, ["b"]).await, refused);
        let page = kit.read(&stream, 0).await;
        assert_eq!((page.next, page.end, page.is_over), (1, Some(end), true));
    }
}

async fn twice(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, ann) = (kit.named(), writer("ann"));
    let end = End::error("first");
    assert_eq!(kit.close(&stream, &ann, end.clone()).await, Ok(Closed::Now));
    assert_eq!(kit.close(&stream, &ann, End::Eof).await, Ok(Closed::Before(end.clone())));
    assert_eq!(kit.read(&stream, 0).await.end, Some(end));
}

async fn empty(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, ann) = (kit.named(), writer("ann"));
    assert_eq!(kit.close(&stream, &ann, End::Eof).await, Ok(Closed::Now));
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.chunks.len(), page.end, page.is_over), (0, Some(End::Eof), true));
    let refused = Err(StreamProblem::Ended(End::Eof));
    assert_eq!(kit.append(&stream, &ann, 0, ["a"]).await, refused);
}

async fn retried(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, ann) = (kit.named(), writer("ann"));
    kit.append(&stream, &ann, 0, ["a", "b"]).await.expect("appended");
    kit.close(&stream, &writer("bob"), End::Eof).await.expect("closed");
    assert_eq!(kit.append(&stream, &ann, 0, ["a", "b"]).await, Ok((None, 0)));
    assert_eq!(kit.texts(&stream).await, ["0:a", "1:b"]);
}
