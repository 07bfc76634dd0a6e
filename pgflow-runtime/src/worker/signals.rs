//! SIGTERM and Ctrl-C.

use std::io;
use std::sync::mpsc;

use tokio::runtime::Builder;
use tokio::sync::watch;

use super::exit;
use super::trip::BoxFuture;

/// Counts signals that ask the process to stop, as long as anybody wants to know. They are heard on a thread of their own, because
/// nothing else hears them from now on, however long the process takes to end.
pub(super) fn stop_signals() -> io::Result<watch::Receiver<u32>> {
    let (count, signals) = watch::channel(0);
    let (ready, is_ready) = mpsc::sync_channel(1);
    let listen = move || {
        let heard = Builder::new_current_thread().enable_all().build().map(|runtime| {
            runtime.block_on(async {
                let next = Signals::new();
                match next {
                    Ok(next) => {
                        let _ = ready.send(Ok(()));
                        count_signals(next, count).await;
                    }
                    Err(error) => drop(ready.send(Err(error))),
                }
            });
        });
        if let Err(error) = heard {
            tracing::error!(%error, "cannot listen for signals");
        }
    };
    std::thread::Builder::new().name("pgflow-signals".to_owned()).spawn(listen)?;
    match is_ready.recv() {
        Ok(heard) => heard.map(|()| signals),
        Err(_) => Err(io::Error::other("the thread that listens has ended")),
    }
}

async fn count_signals(mut next: Signals, count: watch::Sender<u32>) {
    loop {
        tokio::select! {
            () = next.signal() => count.send_modify(|count| {
                *count += 1;
                exit::if_impatient(*count);
            }),
            () = count.closed() => return,
        }
    }
}

/// Ready after so many signals.
pub(super) async fn after(mut signals: watch::Receiver<u32>, count: u32) {
    if signals.wait_for(|seen| *seen >= count).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Counts `shutdown` as one signal and `at_once` as two, for as long as it is polled.
pub(super) async fn tell(
    mut shutdown: BoxFuture<()>,
    mut at_once: BoxFuture<()>,
    count: watch::Sender<u32>,
) {
    tokio::select! {
        () = &mut shutdown => {
            count.send_modify(|count| *count = 1.max(*count));
            at_once.await;
        }
        () = &mut at_once => {}
    }
    count.send_modify(|count| *count = 2);
    std::future::pending::<()>().await;
}

/// Ready when all senders are gone.
pub(super) async fn abandoned(mut asked: watch::Receiver<u32>) {
    while asked.changed().await.is_ok() {}
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
