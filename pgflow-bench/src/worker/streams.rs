//! Streams of their own: how fast they are written, and how soon they are read by many.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use pgflow::{
    Db,
    stream::{Chunks, Emitted},
};
use tokio::sync::mpsc;

use super::Bench;
use super::latency::{LONGEST, WARM_UP, pause};
use super::reading::Reading;
use crate::error::{BenchError, Result};

/// Chunks of one append, as a model's tokens come together while a write is under way.
const GROUP: u32 = 20;
/// Writers at once, each with a stream of its own.
const WRITERS: u32 = 8;
/// A chunk is about as long as a token with its quotes and braces.
const CHUNK: &[u8] = br#"{"word": "benchmark"}"#;

/// What is written here is gone when the case is over.
const LASTS: Duration = Duration::from_millis(1);

pub(super) async fn append(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let (db, chunks) = (bench.place.connect().await?, bench.sizes.chunks);
    write(&db, "warm up", GROUP * WARM_UP).await?;
    let mark = bench.place.mark()?;
    let written = write(&db, "alone", chunks).await?;
    let alone = Reading::new("one writer", "chunk", written, bench.place.since(&mark)?);
    let names: Vec<String> = (0..WRITERS).map(|number| format!("writer {number}")).collect();
    let mark = bench.place.mark()?;
    let all = try_join_all(names.iter().map(|name| write(&db, name, chunks / WRITERS))).await?;
    let spent = bench.place.since(&mark)?;
    let together = Reading::new("eight writers", "chunk", all.into_iter().sum(), spent);
    forget(&db).await?;
    db.close().await?;
    Ok(vec![alone, together])
}

/// Whole groups; how many chunks.
async fn write(db: &Db, name: &str, chunks: u32) -> Result<u32> {
    let mut writer = db.stream(name)?.lasting(LASTS).writer();
    let groups = chunks.div_ceil(GROUP);
    for _ in 0..groups {
        writer.send_bytes((0..GROUP).map(|_| CHUNK.to_vec())).await?;
    }
    Ok(groups * GROUP)
}

/// From the append to each of many readers in the same process, and in another one.
pub(super) async fn readers(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for phase in ["same process", "another process"] {
        let db = bench.place.connect().await?;
        let reading =
            if phase == "same process" { db.clone() } else { bench.place.connect().await? };
        let stream = db.stream(phase)?.lasting(LASTS);
        let (said, mut heard) = mpsc::unbounded_channel();
        let mut all = Vec::new();
        for _ in 0..bench.sizes.readers {
            let reader = reading.stream(phase)?.read_bytes();
            all.push(tokio::spawn(read(reader, said.clone())));
        }
        let (mut writer, mut times) = (stream.writer(), Vec::new());
        for number in 0..WARM_UP + bench.sizes.latencies {
            pause(number).await;
            let began = Instant::now();
            writer.send_bytes([CHUNK.to_vec()]).await?;
            for _ in 0..bench.sizes.readers {
                let next = tokio::time::timeout(LONGEST, heard.recv()).await;
                let at: Instant = next.map_err(BenchError::Late)?.unwrap_or(began);
                times.extend((number >= WARM_UP).then(|| at.saturating_duration_since(began)));
            }
        }
        stream.close().await?;
        for reader in all {
            reader.await.map_err(BenchError::Task)??;
        }
        readings.push(Reading::of_times(phase, "chunk", &times).at(bench.sizes.readers));
        forget(&db).await?;
        if phase != "same process" {
            reading.close().await?;
        }
        db.close().await?;
    }
    Ok(readings)
}

/// Says when each chunk came, until the stream ends.
async fn read(mut reader: Chunks<Vec<u8>>, said: mpsc::UnboundedSender<Instant>) -> Result<()> {
    while let Some(item) = reader.next().await {
        if let Emitted::Chunk { .. } = item? {
            // Nobody listens any more if the benchmark has failed, and says why.
            let _ = said.send(Instant::now());
        }
    }
    Ok(())
}

/// Deletes what was written: its time is over.
async fn forget(db: &Db) -> Result<()> {
    tokio::time::sleep(LASTS * 2).await;
    while db.prune_streams().await? > 0 {}
    Ok(())
}
