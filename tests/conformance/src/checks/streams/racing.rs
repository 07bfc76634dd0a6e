//! Several writers and readers at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use pgflow_machine::log::{End, StreamKey, Writer};
use pgflow_runtime::backend::PageSize;

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::streams::{StreamKit, writer};

pub(crate) const CHECKS: &[Check] = &[
    check!("S25", "4 writers, 3 readers: one order for all, and each writer's own", race, Streams),
    check!("S26", "the same chunks sent by many at once are there once", duplicates, Streams),
];

async fn race(cx: Arc<Cx>) {
    const WRITERS: usize = 4;
    let kit = StreamKit::new(&cx);
    let (stream, each) = (kit.named(), cx.rounds(60, 2_000) as u64);
    let readers = (0..3).map(|reader| {
        let (kit, stream) = (kit.clone(), stream.clone());
        tokio::spawn(async move {
            let kit = if reader == 0 { kit } else { kit.another_if_possible().await };
            read_all(&kit, &stream).await
        })
    });
    let readers: Vec<_> = readers.collect();
    let writers = (0..WRITERS).map(|number| {
        let (kit, stream) = (kit.clone(), stream.clone());
        tokio::spawn(async move { write_all(&kit, &stream, &format!("w{number}"), each).await })
    });
    for written in join_all(writers).await {
        written.expect("a writer writes all");
    }
    kit.close(&stream, &writer("w0"), End::Eof).await.expect("closed");
    let mut seen = Vec::new();
    for read in join_all(readers).await {
        seen.push(read.expect("a reader reads all"));
    }
    assert!(seen.iter().all(|other| *other == seen[0]), "all readers see one order");
    assert_eq!(seen[0].len() as u64, each * WRITERS as u64, "everything is there");
    let mut by_writer: BTreeMap<&str, u64> = BTreeMap::new();
    for text in &seen[0] {
        let (name, seq) = text.split_once(' ').expect("a writer and a number");
        let expected = by_writer.entry(name).or_default();
        assert_eq!(seq.parse(), Ok(*expected), "chunks of {name} are in its order");
        *expected += 1;
    }
}

/// In groups of different sizes.
async fn write_all(kit: &StreamKit, stream: &StreamKey, name: &str, many: u64) {
    let (writer, mut sent) = (writer(name), 0);
    while sent < many {
        let group = sent..(sent + 1 + sent % 7).min(many);
        let chunks: Vec<_> =
            group.clone().map(|seq| format!("{name} {seq}").into_bytes()).collect();
        kit.try_append(stream, &writer, sent, &chunks).await.expect("appended");
        sent = group.end;
    }
}

/// Page by page, until the end: no number is passed over.
async fn read_all(kit: &StreamKit, stream: &StreamKey) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        let page = kit.page(stream, seen.len() as u64, PageSize::default()).await;
        for chunk in &page.chunks {
            assert_eq!(chunk.number, seen.len() as u64, "numbers are dense");
            seen.push(String::from_utf8_lossy(&chunk.data).into_owned());
        }
        if page.is_over && seen.len() as u64 == page.next {
            return seen;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

async fn duplicates(cx: Arc<Cx>) {
    let kit = StreamKit::new(&cx);
    let stream = kit.named();
    for round in 0..cx.rounds(3, 30) as u64 {
        let chunks = [vec![1], vec![2], vec![3]];
        let same = (0..12).map(|_| {
            let (kit, stream, chunks) = (kit.clone(), stream.clone(), chunks.clone());
            let writer = Writer::named("ann").expect("a name");
            tokio::spawn(async move {
                kit.try_append(&stream, &writer, round * 3, &chunks).await.expect("appended").chunks
            })
        });
        let appended = join_all(same).await;
        let appended: u64 = appended.into_iter().map(|many| many.expect("an answer")).sum();
        assert_eq!(appended, 3, "one of them appends all");
        assert_eq!(kit.read(&stream, 0).await.next, round * 3 + 3);
    }
}
