//! One connection.

use std::io;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::faults::Faults;
use super::frames::{Frames, Protocol};
use super::watch::Watch;

/// Passes everything on until one side ends, or it is told to cut. Then the client's connection is reset, without a
/// goodbye.
pub(super) async fn pass(
    mut client: TcpStream,
    mut server: impl AsyncRead + AsyncWrite + Unpin,
    protocol: Protocol,
    faults: &Faults,
) -> io::Result<()> {
    let mut resets = faults.resets.subscribe();
    let passed = tokio::select! {
        passed = talk(&mut client, &mut server, protocol, faults) => passed,
        _ = resets.changed() => Ok(()),
    };
    client.set_zero_linger()?;
    passed
}

async fn talk(
    client: &mut TcpStream,
    server: &mut (impl AsyncRead + AsyncWrite + Unpin),
    protocol: Protocol,
    faults: &Faults,
) -> io::Result<()> {
    let (mut asked, mut answered) = (Frames::of_client(protocol), Frames::of_server(protocol));
    let (mut watch, mut is_cut) = (Watch::new(protocol), false);
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
            faults.answered.fetch_add(frame.bytes.len(), Ordering::Relaxed);
            if !is_cut {
                client.write_all(&frame.bytes).await?;
            } else if watch.is_done(&frame) {
                faults.cuts.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
        }
    }
}
