//! What many readers of a stream cost, and what lost answers do to it.

use std::time::Duration;

use pgflow::{Db, stream::Emitted};
use pgflow_worker_tests::{Flaky, Mood, Outcome};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_mins(1);

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_readers_look_once() -> Outcome {
    const READERS: u32 = 1_000;
    const CHUNKS: u32 = 20;
    let flaky = Flaky::shared();
    let db = Db::new(flaky.clone());
    let stream = db.stream("logs")?;
    let mut writer = stream.writer();
    writer.send(&0).await?;
    let mut readers = Vec::new();
    for _ in 0..READERS {
        let mut reader = stream.read::<u32>();
        let first = timeout(PATIENCE, reader.next()).await?.ok_or("a chunk")??;
        assert_eq!(first, Emitted::Chunk { number: 0, value: 0 });
        readers.push(reader);
    }
    let before = flaky.calls("read_stream");
    let reading: Vec<_> = readers
        .into_iter()
        .map(|mut reader| {
            tokio::spawn(async move {
                let mut last = 0;
                while let Some(item) = reader.next().await {
                    last = item?.value().ok_or("a chunk")?;
                }
                Outcome::Ok(last)
            })
        })
        .collect();
    for number in 1..=CHUNKS {
        writer.send(&number).await?;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stream.close().await?;
    for reader in reading {
        assert_eq!(timeout(PATIENCE, reader).await???, CHUNKS);
    }
    let looks = flaky.calls("read_stream") - before;
    // Once per hint, and once a second; alone, each reader would look for each chunk.
    assert!(looks <= CHUNKS * 4 + 60, "{looks} looks for {CHUNKS} chunks and {READERS} readers");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_append_whose_answer_is_lost_is_there_once() -> Outcome {
    let flaky = Flaky::shared();
    let db = Db::new(flaky.clone());
    let stream = db.stream("logs")?;
    let mut writer = stream.writer();
    for number in 0..5 {
        flaky.set("append", Mood::AnswerLost, 2);
        writer.send(&number).await?;
    }
    flaky.set("close_stream", Mood::AnswerLost, 1);
    stream.close().await?;
    let mut reader = stream.read::<u32>();
    let mut seen = Vec::new();
    while let Some(item) = timeout(PATIENCE, reader.next()).await? {
        seen.extend(item?.value());
    }
    assert_eq!(seen, [0, 1, 2, 3, 4]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_that_was_dropped_comes_with_the_next() -> Outcome {
    let flaky = Flaky::shared();
    let db = Db::new(flaky.clone());
    let stream = db.stream("logs")?;
    let mut writer = stream.writer();
    flaky.set("append", Mood::Down, 1_000);
    let dropped = timeout(Duration::from_millis(50), writer.send(&1)).await;
    assert!(dropped.is_err(), "the database does not answer");
    flaky.set("append", Mood::Down, 0);
    writer.send(&2).await?;
    stream.close().await?;
    let mut reader = stream.read::<u32>();
    let mut seen = Vec::new();
    while let Some(item) = timeout(PATIENCE, reader.next()).await? {
        seen.extend(item?.value());
    }
    assert_eq!(seen, [1, 2]);
    Ok(())
}
