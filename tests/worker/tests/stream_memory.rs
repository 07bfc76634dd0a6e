//! What a long stream costs those who read it.

use pgflow::Emitted;
use pgflow_worker_tests::{Fresh, Outcome};

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
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_chunks_are_read_in_little_memory() -> Outcome {
    for fresh in [Fresh::sqlite().await?, Fresh::mysql().await?, Fresh::postgres().await?] {
        let stream = fresh.db.stream("long")?;
        let mut writer = stream.writer();
        for group in 0..CHUNKS / AT_ONCE {
            let chunk = |number: u64| {
                let mut chunk = number.to_le_bytes().to_vec();
                chunk.resize(BYTES, b'.');
                chunk
            };
            writer.send_bytes((group * AT_ONCE..(group + 1) * AT_ONCE).map(chunk)).await?;
        }
        stream.close().await?;
        let (before, mut most) = (resident()?, 0);
        let mut reader = stream.read_bytes();
        for expected in 0..CHUNKS {
            let Some(item) = reader.next().await else { return Err("it ended early".into()) };
            let Emitted::Chunk { number, value } = item? else { return Err("restarted".into()) };
            assert_eq!((number, &value[..8]), (expected, &expected.to_le_bytes()[..]));
            if expected % 1_000 == 0 {
                most = most.max(resident()?.saturating_sub(before));
            }
        }
        assert!(reader.next().await.is_none());
        assert!(most < LIMIT, "{} took {} MiB", fresh.url, most >> 20);
    }
    Ok(())
}
