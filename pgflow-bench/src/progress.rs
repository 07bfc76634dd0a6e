//! A bar on the terminal; nothing elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Where the run is.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Draws to standard error, and only when that is a terminal.
    pub(crate) fn new(steps: u64, quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        if let Ok(style) = ProgressStyle::with_template(
            "{elapsed:>4} {bar:30} {pos:>3}/{len} {msg} (about {eta} left)",
        ) {
            bar.set_style(style);
        }
        Self { bar }
    }

    pub(crate) fn doing(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    pub(crate) fn step(&self) {
        self.bar.inc(1);
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
