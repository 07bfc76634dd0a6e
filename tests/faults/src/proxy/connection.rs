//! One connection.

use std::io;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use super::faults::Faults;
use super::frames::Frames;
use super::watch::Watch;

/// Passes everything on until one side ends, or it is told to cut. Then the client's connection is reset, without a
/// goodbye.
pub(super) async fn pass(
    mut client: TcpStream,
    mut server: UnixStream,
    faults: &Faults,
) -> io::Result<()> {
    let mut resets = faults.resets.subscribe();
    let passed = tokio::select! {
        passed = talk(&mut client, &mut server, faults) => passed,
        _ = resets.changed() => Ok(()),
    };
    client.set_zero_linger()?;
    passed
}

async fn talk(client: &mut TcpStream, server: &mut UnixStream, faults: &Faults) -> io::Result<()> {
    let (mut asked, mut answered) = (Frames::of_client(), Frames::of_server());
    let (mut watch, mut is_cut) = (Watch::default(), false);
    loop {
        let read = tokio::select! {
            read = client.read_buf(&mut asked.buffer) => read?,
            read = server.read_buf(&mut answered.buffer) => read?,
        };
        if read == 0 {
            return Ok(());
        }
        while let Some(frame) = asked.next() {
            faults.largest.fetch_max(frame.bytes.len(), Ordering::Relaxed);
            is_cut |= watch.is_meant(&frame, faults);
            server.write_all(&frame.bytes).await?;
        }
        while let Some(frame) = answered.next() {
            if !is_cut {
                client.write_all(&frame.bytes).await?;
            } else if frame.kind() == b'Z' {
                // Ready for the next query: what was asked for is committed.
                faults.cuts.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
        }
    }
}
