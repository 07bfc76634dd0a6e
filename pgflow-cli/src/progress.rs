//! How far something is, for somebody who looks.

use std::cell::Cell;
use std::io::IsTerminal as _;

use crate::out;

/// A bar on standard error, where that is a terminal.
pub(crate) struct Progress {
    what: &'static str,
    all: Option<u64>,
    /// Whether the bar is the last of its line.
    is_open: Cell<bool>,
}

impl Progress {
    /// Of so many, if somebody knows how many there are.
    pub(crate) fn new(what: &'static str, all: Option<u64>) -> Self {
        let all = all.filter(|all| *all > 0 && Self::is_shown());
        Self { what, all, is_open: Cell::new(false) }
    }

    /// For what prints a line for each as well: that says how far it is, where somebody sees it.
    pub(crate) fn beside_lines(what: &'static str, all: usize, is_json: bool) -> Self {
        let is_seen = !is_json && std::io::stdout().is_terminal();
        Self::new(what, (!is_seen).then_some(all as u64))
    }

    /// Whether somebody looks: who does not know how many there are need not count them otherwise.
    pub(crate) fn is_shown() -> bool {
        std::io::stderr().is_terminal()
    }

    pub(crate) fn show(&self, done: u64) {
        let (Some(all), what) = (self.all, self.what) else { return };
        let full = usize::try_from(done.min(all) * 40 / all).unwrap_or(0);
        out::aside(format_args!(
            "\r[{}{}] {done} of {all} {what}",
            "#".repeat(full),
            " ".repeat(40 - full)
        ));
        self.is_open.set(done < all);
        if done >= all {
            out::note("");
        }
    }
}

/// What is said of an end that came too early has a line of its own.
impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_open.get() {
            out::note("");
        }
    }
}
