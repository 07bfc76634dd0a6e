//! What readers see.

use std::sync::Arc;

use pgflow_machine::TaskKey;
use pgflow_machine::log::{End, StreamKey};
use pgflow_runtime::backend::{Chunk, PageSize, StreamQuery, Wake};

use crate::Check;
use crate::check::check;
use crate::kit::streams::{StreamKit, attempt, stream_of, writer};
use crate::kit::{Cx, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("S07", "readers of pages of any size, from anywhere, see the same", pages, Streams),
    check!("S08", "a page has no more bytes than asked for and one chunk", page_bytes, Streams),
    check!("S09", "nothing is there before the first chunk, and after the last", nothing, Streams),
    check!("S10", "streams are listed by run, and by name", lists, Streams),
    check!("S11", "an append and an end are hinted at, after they can be seen", hints, Streams),
    check!("S12", "another process sees what was appended", processes, Processes),
];

fn texts(chunks: &[Chunk]) -> Vec<String> {
    chunks.iter().map(|chunk| String::from_utf8_lossy(&chunk.data).into_owned()).collect()
}

async fn pages(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, ann) = (kit.named(), writer("ann"));
    let all: Vec<_> = (0..23).map(|number| format!("chunk {number}")).collect();
    for (seq, text) in all.iter().enumerate() {
        kit.append(&stream, &ann, seq as u64, [text]).await.expect("appended");
    }
    for chunks in [1, 7, 22, 23, 24] {
        let (mut seen, size) = (Vec::new(), PageSize { chunks, ..PageSize::default() });
        loop {
            let page = kit.page(&stream, seen.len() as u64, size).await;
            assert_eq!(page.next, 23);
            let read = texts(&page.chunks);
            let first = page.chunks.first().map(|chunk| chunk.number);
            assert!(first.is_none_or(|first| first == seen.len() as u64));
            if read.is_empty() {
                break;
            }
            assert_eq!(read.len(), (chunks as usize).min(23 - seen.len()));
            seen.extend(read);
        }
        assert_eq!(seen, all, "in pages of {chunks}");
    }
    assert_eq!(texts(&kit.read(&stream, 20).await.chunks), all[20..]);
    let header = kit.page(&stream, 0, PageSize::NOTHING).await;
    assert_eq!((header.chunks.len(), header.next), (0, 23));
}

async fn page_bytes(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, ann) = (kit.named(), writer("ann"));
    let chunks: Vec<_> = (0..10).map(|number| vec![number; 100]).collect();
    kit.try_append(&stream, &ann, 0, &chunks[..4]).await.expect("appended");
    kit.try_append(&stream, &ann, 4, &chunks[4..]).await.expect("appended");
    for (bytes, expected) in [(0, 1), (100, 1), (101, 2), (250, 3), (1_000, 8)] {
        let page = kit.page(&stream, 2, PageSize { chunks: 100, bytes }).await;
        assert_eq!(page.chunks.len(), expected, "of {bytes} bytes");
        let numbers = page.chunks.iter().map(|chunk| chunk.number);
        assert!(numbers.eq(2..2 + expected as u64));
    }
}

async fn nothing(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let stream = kit.named();
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.chunks.len(), page.next, page.end, page.is_over), (0, 0, None, false));
    kit.append(&stream, &writer("ann"), 0, ["a"]).await.expect("appended");
    for from in [1, 2, u64::MAX] {
        let page = kit.read(&stream, from).await;
        assert_eq!((page.chunks.len(), page.next, page.is_over), (0, 1, false));
    }
    kit.close(&stream, &writer("ann"), End::Eof).await.expect("closed");
    let page = kit.read(&stream, 99).await;
    assert_eq!((page.end, page.is_over), (Some(End::Eof), true), "the end at once");
    let run = cx.start(&cx.flow([single("a")]).await, 1).await;
    let of = |run, step: &str| StreamKey::Task(TaskKey { run, step: step.to_owned(), index: 0 });
    let unknown = of(run.id, "b");
    let read = kit.streams().read_stream(&unknown, 0, PageSize::default()).await;
    assert_eq!(read.expect("it can be asked for"), None, "there is no such step");
    let unknown = of(pgflow_machine::RunId::new(), "a");
    let read = kit.streams().read_stream(&unknown, 0, PageSize::default()).await;
    assert_eq!(read.expect("it can be asked for"), None, "there is no such run");
}

async fn lists(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let run = cx.start(&cx.flow([single("a"), single("b")]).await, 1).await;
    let [a, b] = run.take(["a#0", "b#0"]).await;
    kit.append(&stream_of(&b), &attempt(&b), 0, ["xy", "z"]).await.expect("appended");
    kit.append(&stream_of(&a), &attempt(&a), 0, ["x"]).await.expect("appended");
    kit.close(&stream_of(&a), &attempt(&a), End::error("no")).await.expect("closed");
    let of_run = StreamQuery { run: Some(run.id), after: None, max: 10 };
    let found = kit.streams().list_streams(&of_run).await.expect("streams can be listed");
    let found: Vec<_> = found
        .iter()
        .map(|found| (&found.stream, found.chunks, found.bytes, found.generation, &found.end))
        .collect();
    let (of_a, of_b, end) = (stream_of(&a), stream_of(&b), Some(End::error("no")));
    assert_eq!(found, [(&of_a, 1, 1, 1, &end), (&of_b, 2, 3, 1, &None)]);
    let streams = [kit.named(), kit.named(), kit.named()];
    for stream in &streams {
        kit.append(stream, &writer("ann"), 0, ["x"]).await.expect("appended");
    }
    let named = StreamQuery { run: None, after: Some(streams[0].to_string()), max: 2 };
    let found = kit.streams().list_streams(&named).await.expect("streams can be listed");
    let keys: Vec<_> = found.iter().map(|found| found.stream.clone()).collect();
    assert_eq!(keys, streams[1..]);
    assert!(found.iter().all(|found| found.expires_at.is_some()));
}

async fn hints(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let stream = kit.named();
    let mut wakes = cx.backend().wakes();
    kit.append(&stream, &writer("ann"), 0, ["a"]).await.expect("appended");
    expect_hint(&mut wakes, &stream).await;
    kit.close(&stream, &writer("ann"), End::Eof).await.expect("closed");
    expect_hint(&mut wakes, &stream).await;
}

async fn expect_hint(wakes: &mut pgflow_runtime::backend::Wakes, stream: &StreamKey) {
    let hint = async { while wakes.next().await != Wake::stream(stream) {} };
    let patience = std::time::Duration::from_mins(1);
    tokio::time::timeout(patience, hint).await.expect("a hint about the stream");
}

async fn processes(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (other, stream) = (kit.another().await, kit.named());
    kit.append(&stream, &writer("ann"), 0, ["a"]).await.expect("appended");
    assert_eq!(other.texts(&stream).await, ["0:a"]);
    assert_eq!(other.append(&stream, &writer("bob"), 0, ["b"]).await, Ok((Some(1), 1)));
    assert_eq!(kit.texts(&stream).await, ["0:a", "1:b"]);
}
