//! Streams, while connections are ended and writers stop before their commits.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use pgflow::{
    Db,
    stream::{Chunks, Emitted},
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::listener::end_sessions;
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, quantile, until};
use crate::{ensure, metrics};

const STREAM: &str = "experiment";
const WRITERS: u32 = 4;
const READERS: usize = 3;
/// Chunks of one append.
const GROUP: u64 = 5;
/// Between two appends of a writer.
const PAUSE: Duration = Duration::from_millis(15);
/// Longer than a reader ever waits for a hint.
const LONGER_THAN_A_POLL: Duration = Duration::from_millis(2_500);
/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A chunk: who wrote it, as which of theirs, and when by this process's clock.
type Said = (u32, u64, f64);

/// X48: every second the sessions that listen are ended, or, where nobody listens, all of them. Every reader has every chunk, in
/// one order.
pub(super) async fn crowd(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, &[]).await?;
    let (since, lasts) = (Instant::now(), Duration::from_secs(lab.either(6, 60)));
    let mut readers = Vec::new();
    for _ in 0..READERS {
        let db = Db::connect(&base.url).await?;
        readers.push(tokio::spawn(async move { read(&db, since).await }));
    }
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let db = Db::connect(&base.url).await?;
        writers.push(async move { write(&db, number, since, lasts).await });
    }
    let (ended, written) =
        tokio::try_join!(end_sessions(&base, since + lasts), try_join_all(writers))?;
    base.db.stream(STREAM)?.close().await?;
    let mut seen = Vec::new();
    for reader in readers {
        seen.push(reader.await??);
    }
    let (chunks, delays): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
    ensure!(chunks.iter().all(|other| *other == chunks[0]), "readers see several orders");
    expect_all(&chunks[0], &written)?;
    let is_harmed = kind == Kind::Sqlite || ended >= 3;
    ensure!(is_harmed, "only {ended} sessions were ended");
    let delays = delays.concat();
    let (p50, p99) = (quantile(&delays, 0.5), quantile(&delays, 0.99));
    // Losing a hint costs a second at most; losing all connections, and other programs, take longer.
    let most = if kind == Kind::MySql { 15.0 } else { lab.either(15.0, 1.0) };
    ensure!(p99 < most, "a chunk took {p99} s");
    Ok(metrics! {
        "writers": WRITERS, "readers": READERS, "chunks": chunks[0].len(), "ended_sessions": ended, "lost": 0,
        "seconds_p50": p50, "seconds_p99": p99,
    })
}

/// In groups, for as long as that; how many.
async fn write(db: &Db, writer: u32, since: Instant, lasts: Duration) -> Outcome<u64> {
    let (mut stream, mut sent) = (db.stream(STREAM)?.writer(), 0);
    while since.elapsed() < lasts {
        let now = since.elapsed().as_secs_f64();
        let group = (sent..sent + GROUP).map(|number| serde_json::to_vec(&(writer, number, now)));
        stream.send_bytes(group.collect::<Result<Vec<_>, _>>()?).await?;
        sent += GROUP;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(sent)
}

/// All chunks, and how many seconds each took to come.
async fn read(db: &Db, since: Instant) -> Outcome<(Vec<(u32, u64)>, Vec<f64>)> {
    let (mut reader, mut seen, mut delays) =
        (db.stream(STREAM)?.read::<Said>(), Vec::new(), Vec::new());
    while let Some(item) = reader.next().await {
        // A session that is ended is an error now and then; the reader goes on where it was.
        let Ok(item) = item else { continue };
        let Emitted::Chunk { number, value: (writer, place, at) } = item else {
            return Err("a stream of no task was restarted".into());
        };
        ensure!(number == seen.len() as u64, "chunk {number} came after {}", seen.len());
        delays.push(since.elapsed().as_secs_f64() - at);
        seen.push((writer, place));
    }
    Ok((seen, delays))
}

/// All that was written, each writer's in its order.
fn expect_all(chunks: &[(u32, u64)], written: &[u64]) -> Outcome {
    let mut next: BTreeMap<u32, u64> = BTreeMap::new();
    for (writer, place) in chunks {
        let expected = next.entry(*writer).or_default();
        ensure!(place == expected, "writer {writer} wrote {expected}, and {place} came");
        *expected += 1;
    }
    let read: Vec<u64> = next.into_values().collect();
    ensure!(read == written, "{written:?} chunks were written, and {read:?} read");
    Ok(())
}

/// Every append passes here before its commit.
const GATE: &str =
    "create table gate (id int primary key, passed int not null); insert into gate values (1, 0)";
const PASS_POSTGRES: &str = "create function pass() returns trigger language plpgsql as
    'begin update public.gate set passed = passed + 1 where id = 1; return null; end';
  create trigger pass after insert on pgflow.stream_chunks for each row execute function pass()";
const PASS_MYSQL: &str = "create trigger pass after insert on pgflow_stream_chunks
    for each row update gate set passed = passed + 1 where id = 1";

/// X49: a writer stops between its append and its commit. Those who come after it wait, and no reader passes it.
pub(super) async fn paused(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, &[]).await?;
    base.execute(GATE).await?;
    base.execute(if kind == Kind::MySql { PASS_MYSQL } else { PASS_POSTGRES }).await?;
    let [slow, quick, elsewhere] = [
        Db::connect(&base.url).await?,
        Db::connect(&base.url).await?,
        Db::connect(&base.url).await?,
    ];
    append(&slow, "0 first".to_owned()).await?;
    let mut reader = elsewhere.stream(STREAM)?.read::<String>();
    expect(&mut reader, 0, "0 first").await?;
    let (rounds, mut last) = (lab.either(2, 20), 0);
    for round in 1..=rounds {
        let gate = base.lock("select passed from gate where id = 1 for update").await?;
        let slow = begin(&slow, format!("{round} slow"));
        until_so_many_wait(&base, 1).await?;
        let quick = begin(&quick, format!("{round} quick"));
        until_so_many_wait(&base, 2).await?;
        let looked = timeout(LONGER_THAN_A_POLL, reader.next()).await;
        ensure!(looked.is_err(), "a reader passed a writer that has not committed: {looked:?}");
        ensure!(!quick.is_finished(), "a writer passed one that has not committed");
        drop(gate);
        slow.await??;
        quick.await??;
        for writer in ["slow", "quick"] {
            last += 1;
            expect(&mut reader, last, &format!("{round} {writer}")).await?;
        }
    }
    Ok(metrics! { "rounds": rounds, "chunks": last + 1, "passed": 0 })
}

fn begin(db: &Db, text: String) -> JoinHandle<Outcome> {
    let db = db.clone();
    tokio::spawn(async move { append(&db, text).await })
}

/// As a writer of its own.
async fn append(db: &Db, text: String) -> Outcome {
    Ok(db.stream(STREAM)?.writer().send(&text).await?)
}

async fn until_so_many_wait(base: &Base, many: i64) -> Outcome {
    let look = async || Ok((base.waiting_for_locks().await? >= many).then_some(()));
    until("writers that wait for each other", look).await
}

async fn expect(reader: &mut Chunks<String>, number: u64, text: &str) -> Outcome {
    let item = timeout(PATIENCE, reader.next()).await?.ok_or("the stream goes on")??;
    let expected = Emitted::Chunk { number, value: text.to_owned() };
    ensure!(item == expected, "{item:?} came, and not {expected:?}");
    Ok(())
}
