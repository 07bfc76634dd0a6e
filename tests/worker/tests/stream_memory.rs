//! What a long stream costs those who read it.

use pgflow::stream::{Chunks, Emitted};
use pgflow_worker_tests::{Fresh, Outcome};
use tokio::sync::Mutex;

const CHUNKS: u64 = 100_000;
const AT_ONCE: u64 = 1_000;
/// More than the limit in all, so that keeping them would show.
const BYTES: usize = 1_000;
const LIMIT: u64 = 64 << 20;

/// Bytes of this process that are in memory.
fn resident() -> Outcome<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    Ok(pages.split(' ').nth(1).ok_or("a number")?.parse::<u64>()? * 4096)
}

/// One after the other: they share the memory that is measured.
static TURN: Mutex<()> = Mutex::const_new(());

/// A chunk that says its number.
fn chunk(number: u64) -> Vec<u8> {
    let mut chunk = number.to_le_bytes().to_vec();
    chunk.resize(BYTES, b'.');
    chunk
}

/// The next one, which must be of this number.
async fn expect(reader: &mut Chunks<Vec<u8>>, expected: u64) -> Outcome {
    let Some(item) = reader.next().await else { return Err("it ended early".into()) };
    let Emitted::Chunk { number, value } = item? else { return Err("restarted".into()) };
    assert_eq!((number, &value[..8]), (expected, &expected.to_le_bytes()[..]));
    Ok(())
}

/// Two readers of a stream that grows: one keeps up, the other reads a chunk now and then, and the rest in the end.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_of_a_stream_that_grows_holds_little_memory() -> Outcome {
    let _turn = TURN.lock().await;
    for fresh in [Fresh::sqlite().await?, Fresh::mysql().await?, Fresh::postgres().await?] {
        one_keeps_up_and_one_does_not(&fresh).await?;
    }
    Ok(())
}

async fn one_keeps_up_and_one_does_not(fresh: &Fresh) -> Outcome {
    let stream = fresh.db.stream("long")?;
    let mut writer = stream.writer();
    let (mut slow, mut quick) = (stream.read_bytes(), stream.read_bytes());
    let (mut before, mut most) = (0, 0);
    for group in 0..CHUNKS / AT_ONCE {
        // What the database and the writer need is there by now; all that comes is more than the limit.
        if group == CHUNKS / AT_ONCE / 10 {
            before = resident()?;
        }
        let numbers = group * AT_ONCE..(group + 1) * AT_ONCE;
        writer.send_bytes(numbers.clone().map(chunk)).await?;
        for number in numbers {
            expect(&mut quick, number).await?;
        }
        expect(&mut slow, group).await?;
        if before > 0 {
            most = most.max(resident()?.saturating_sub(before));
        }
    }
    for number in CHUNKS / AT_ONCE..CHUNKS {
        expect(&mut slow, number).await?;
        if number % 1_000 == 0 {
            most = most.max(resident()?.saturating_sub(before));
        }
    }
    stream.close().await?;
    assert!(slow.next().await.is_none() && quick.next().await.is_none());
    assert!(most < LIMIT, "{} took {} MiB", fresh.url, most >> 20);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_chunks_are_read_in_little_memory() -> Outcome {
    let _turn = TURN.lock().await;
    for fresh in [Fresh::sqlite().await?, Fresh::mysql().await?, Fresh::postgres().await?] {
        let stream = fresh.db.stream("long")?;
        let mut writer = stream.writer();
        for group in 0..CHUNKS / AT_ONCE {
            writer.send_bytes((group * AT_ONCE..(group + 1) * AT_ONCE).map(chunk)).await?;
        }
        stream.close().await?;
        let (before, mut most) = (resident()?, 0);
        let mut reader = stream.read_bytes();
        for expected in 0..CHUNKS {
            expect(&mut reader, expected).await?;
            if expected % 1_000 == 0 {
                most = most.max(resident()?.saturating_sub(before));
            }
        }
        assert!(reader.next().await.is_none());
        assert!(most < LIMIT, "{} took {} MiB", fresh.url, most >> 20);
    }
    Ok(())
}
