//! What many readers of a stream cost, and what lost answers do to it.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::stream::{Emitted, NamedStream};
use pgflow_worker_tests::{Flaky, Mood, Outcome, Working};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_mins(1);

/// All that was said, up to the end.
async fn seen(stream: &NamedStream) -> Outcome<Vec<u32>> {
    let (mut reader, mut seen) = (stream.read::<u32>(), Vec::new());
    while let Some(item) = timeout(PATIENCE, reader.next()).await? {
        seen.extend(item?.value());
    }
    Ok(seen)
}

#[flow(slug = "count_aloud", input = u32, max_attempts = 2, base_delay = 0)]
mod aloud {
    use super::*;

    #[step]
    pub(crate) async fn count(run: u32, ctx: Context, out: Emit<u32>) -> Result<u32> {
        out.send(run).await?;
        out.flush().await?;
        Ok(ctx.attempt())
    }
}

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
    assert_eq!(seen(&stream).await?, [0, 1, 2, 3, 4]);
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
    assert_eq!(seen(&stream).await?, [1, 2]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_not_tried_again_with_the_next() -> Outcome {
    for refusal in [Mood::Refusing, Mood::Unstorable] {
        let flaky = Flaky::shared();
        let stream = Db::new(flaky.clone()).stream("logs")?;
        let mut writer = stream.writer();
        writer.send(&1).await?;
        flaky.set("append", refusal, 1);
        writer.send(&2).await.expect_err("it is refused");
        for number in [3, 4] {
            writer.send(&number).await?;
        }
        stream.close().await?;
        assert_eq!(seen(&stream).await?, [1, 3, 4], "{refusal:?}");
    }
    Ok(())
}

/// The numbers of what was written without an answer are not those of what comes after a refusal.
#[tokio::test(flavor = "multi_thread")]
async fn what_comes_after_a_refusal_is_not_taken_for_what_was_written_before_it() -> Outcome {
    // A call that is dropped is not made again.
    let flaky = Flaky::default();
    let stream = Db::new(flaky.clone()).stream("logs")?;
    let mut writer = stream.writer();
    writer.send(&1).await?;
    flaky.set("append", Mood::AnswerLost, 1_000);
    let dropped = timeout(Duration::from_millis(50), writer.send(&2)).await;
    assert!(dropped.is_err(), "it is written, and nobody says so");
    flaky.set("append", Mood::Refusing, 1);
    writer.send(&3).await.expect_err("it is refused");
    writer.send(&4).await?;
    stream.close().await?;
    assert_eq!(seen(&stream).await?, [1, 2, 4]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_an_append_fails_the_attempt() -> Outcome {
    for flaky in [Flaky::default(), Flaky::shared()] {
        let db = Db::new(flaky.clone());
        db.register(aloud::Flow).await?;
        let worker = Working::start(Worker::new(&db).flow(aloud::Flow));
        flaky.set("append", Mood::Panicking, 1);
        let run = db.start(aloud::Flow, 7).await?;
        let output = timeout(PATIENCE, run.output()).await??;
        assert_eq!(output.count, 2, "the next attempt has written");
        worker.stop().await?;
    }
    Ok(())
}
