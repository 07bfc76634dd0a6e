//! What is appended, and what is refused.

use std::sync::Arc;

use pgflow_machine::log::{CHUNKS_AT_ONCE, StreamProblem, Writer};

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::streams::{StreamKit, writer};

pub(crate) const CHECKS: &[Check] = &[
    check!("S01", "chunks are numbered densely from 0, whoever writes", numbers, Streams),
    check!("S02", "a chunk that is sent again is there once", again, Streams),
    check!("S03", "a writer cannot leave chunks out", gaps, Streams),
    check!("S04", "bytes come back as they went in", bytes, Streams),
    check!("S05", "chunks may be as large as payloads, and no larger", limits, Streams),
    check!("S06", "names are data", names, Streams),
];

async fn numbers(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, other) = (kit.named(), kit.named());
    let (ann, bob) = (writer("ann"), writer("bob"));
    assert_eq!(kit.append(&stream, &ann, 0, ["a", "b"]).await, Ok((Some(0), 2)));
    assert_eq!(kit.append(&stream, &bob, 0, ["c"]).await, Ok((Some(2), 1)));
    assert_eq!(kit.append(&other, &ann, 0, ["x"]).await, Ok((Some(0), 1)));
    assert_eq!(kit.append(&stream, &ann, 2, ["d"]).await, Ok((Some(3), 1)));
    assert_eq!(kit.texts(&stream).await, ["0:a", "1:b", "2:c", "3:d"]);
    assert_eq!(kit.texts(&other).await, ["0:x"]);
}

async fn again(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, ann) = (kit.named(), writer("ann"));
    kit.append(&stream, &ann, 0, ["a", "b"]).await.expect("appended");
    assert_eq!(kit.append(&stream, &ann, 0, ["a", "b"]).await, Ok((None, 0)));
    assert_eq!(kit.append(&stream, &ann, 1, ["b", "c"]).await, Ok((Some(2), 1)));
    assert_eq!(kit.append(&stream, &ann, 0, ["a"]).await, Ok((None, 0)));
    assert_eq!(kit.append(&stream, &ann, 3, []).await, Ok((None, 0)));
    assert_eq!(kit.texts(&stream).await, ["0:a", "1:b", "2:c"]);
}

async fn gaps(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, ann) = (kit.named(), writer("ann"));
    let gap = |expected, first| Err(StreamProblem::Gap { expected, first });
    assert_eq!(kit.append(&stream, &ann, 1, ["b"]).await, gap(0, 1));
    kit.append(&stream, &ann, 0, ["a"]).await.expect("appended");
    assert_eq!(kit.append(&stream, &ann, 2, ["c"]).await, gap(1, 2));
    assert_eq!(kit.append(&stream, &ann, u64::MAX, ["z"]).await, gap(1, u64::MAX));
    assert_eq!(kit.texts(&stream).await, ["0:a"]);
}

async fn bytes(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, all) = (kit.named(), (0..=u8::MAX).collect::<Vec<_>>());
    let chunks = [all, Vec::new(), b"\"\\\0\n'".to_vec(), vec![0xff; 3]];
    kit.try_append(&stream, &writer("ann"), 0, &chunks).await.expect("appended");
    let read = kit.read(&stream, 0).await.chunks.into_iter().map(|chunk| chunk.data);
    assert_eq!(read.collect::<Vec<_>>(), chunks);
}

async fn limits(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let (stream, ann, limit) = (kit.named(), writer("ann"), kit.limits().await.max_bytes);
    let too_large = Err(StreamProblem::TooLarge { bytes: limit + 1, limit });
    assert_eq!(kit.try_append(&stream, &ann, 0, &[vec![7; limit + 1]]).await, too_large);
    let halves = [vec![7; limit], vec![7; 1]];
    assert_eq!(kit.try_append(&stream, &ann, 0, &halves).await, too_large, "nor all together");
    let many = vec![vec![7]; CHUNKS_AT_ONCE + 1];
    let too_many = Err(StreamProblem::TooMany(many.len()));
    assert_eq!(kit.try_append(&stream, &ann, 0, &many).await, too_many);
    assert_eq!(kit.read(&stream, 0).await.next, 0, "nothing was appended");
    kit.try_append(&stream, &ann, 0, &[vec![7; limit]]).await.expect("as large as may be");
    kit.try_append(&stream, &ann, 1, &many[1..]).await.expect("as many as may be");
    let page = kit.read(&stream, 0).await;
    assert_eq!((page.chunks[0].data.len(), page.next), (limit, 1 + CHUNKS_AT_ONCE as u64));
}

async fn names(cx: Arc<Cx>) {
    use pgflow_machine::log::StreamKey;

    let kit = StreamKit::new(&cx);
    let begin = cx.name();
    let names = ["'; drop table x;--", "Ä/ö", "ä/ö", "a b", "a b ", "%", "_"];
    for (number, name) in names.iter().enumerate() {
        let stream = StreamKey::named(&format!("{begin}{name}")).expect("a name");
        let writer = writer(name);
        for seq in 0..=number as u64 {
            kit.append(&stream, &writer, seq, [name]).await.expect("appended");
        }
    }
    for (number, name) in names.iter().enumerate() {
        let stream = StreamKey::named(&format!("{begin}{name}")).expect("a name");
        assert_eq!(kit.read(&stream, 0).await.next, number as u64 + 1, "{name}");
    }
    assert!(StreamKey::named(&"x".repeat(129)).is_err());
    assert!(StreamKey::named("a\0").is_err());
    assert!(Writer::named("").is_err());
}
