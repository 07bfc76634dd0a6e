//! SIGTERM and Ctrl-C.

use std::io;

use tokio::sync::watch;

/// Counts signals that ask the process to stop.
pub(super) fn stop_signals() -> io::Result<watch::Receiver<u32>> {
    let (count, signals) = watch::channel(0);
    let mut next = Signals::new()?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = next.signal() => count.send_modify(|count| *count += 1),
                () = count.closed() => return,
            }
        }
    });
    Ok(signals)
}

/// Ready after so many signals.
pub(super) async fn after(mut signals: watch::Receiver<u32>, count: u32) {
    if signals.wait_for(|seen| *seen >= count).await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (terminate, interrupt) = (SignalKind::terminate(), SignalKind::interrupt());
        Ok(Self { terminate: signal(terminate)?, interrupt: signal(interrupt)? })
    }

    async fn signal(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn signal(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
