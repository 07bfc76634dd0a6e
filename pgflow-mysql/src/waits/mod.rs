//! Waits: rows in, rows out.

mod check;
mod children;
mod hooks;
mod read;
mod rows;
mod signal_in;
mod signals;

pub(crate) use check::INVARIANTS;
pub(crate) use children::{
    forget, glance, is_awaited, mark_seen, note_ends, of, orphans, replace_ends, tied_runs,
};
pub(crate) use hooks::{announced, find_hook, lock_hook, set_hook};
pub(crate) use read::{due, late, list, next};
pub(crate) use rows::{close, load, open};
pub use signal_in::signal_in;
pub(crate) use signals::{
    drop_signal, expire_signals, find_signal, kept_payload, kept_signals, put_signal, use_signal,
};
