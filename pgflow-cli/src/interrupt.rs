//! Ctrl-C, and what a supervisor sends when a program is to end.

use std::cell::Cell;

thread_local! {
    static IS_WANTED: Cell<bool> = const { Cell::new(false) };
    static IS_PATIENT: Cell<bool> = const { Cell::new(false) };
}

/// Ready when somebody presses Ctrl-C, or what has started this program wants it to end.
pub(crate) async fn interrupted() {
    #[cfg(unix)]
    if let Ok(mut end) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = end.recv() => {}
        }
        return;
    }
    _ = tokio::signal::ctrl_c().await;
}

/// Ready when a command is to be left where it is: at the first sign, or at the second if it ends by itself after the first.
pub(crate) async fn at_once() {
    interrupted().await;
    IS_WANTED.set(true);
    if IS_PATIENT.get() {
        interrupted().await;
    }
}

/// This command ends by itself when that is wanted, and says what it has done.
pub(crate) fn patiently() {
    IS_PATIENT.set(true);
}

/// Whether somebody wants this command to end.
pub(crate) fn is_wanted() -> bool {
    IS_WANTED.get()
}
