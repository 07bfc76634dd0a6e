//! Colours, where somebody can see them.

use std::io::IsTerminal as _;

/// Whether to write colours: on a terminal, unless `NO_COLOR` is set.
#[derive(Clone, Copy)]
pub(crate) struct Paint(bool);

/// For standard output.
pub(crate) fn paint() -> Paint {
    let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Paint(std::io::stdout().is_terminal() && !is_unwanted)
}

impl Paint {
    /// For those who colour it themselves.
    #[cfg(feature = "top")]
    pub(crate) fn none() -> Self {
        Self(false)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// A status of a run, step, task or job in its colour.
    pub(crate) fn status(self, status: &str) -> String {
        let code = match status {
            "completed" | "done" => "32",
            "failed" | "error" | "crashed" | "CRASH_CONCERN" => "31",
            "started" | "running" | "ACTIVE" => "34",
            "cancelled" | "skipped" | "warning" | "expired" | "CANCELLED" | "EXPIRED" => "33",
            _ => "2",
        };
        self.with(code, status)
    }
}

/// What a database holds may have codes for terminals in it, or characters that nobody sees: they are shown, not obeyed.
pub(crate) fn plain(text: &str) -> String {
    pgflow_model::visible(text).into_owned()
}

/// The same for a name, which belongs on one line.
pub(crate) fn flat(name: &str) -> String {
    plain(name).replace('\n', "␊")
}

/// The same for what may have several lines: a sign before each that follows says that it is of the same text.
pub(crate) fn folded(text: &str) -> String {
    plain(text).replace('\n', "\n      │ ")
}

#[cfg(test)]
mod tests {
    use super::{flat, folded};

    #[test]
    fn a_text_forges_no_line() {
        let text = "no paper\n  ✔ pay  completed\u{202e}\r";
        assert_eq!(flat(text), "no paper␊  ✔ pay  completed⟨U+202E⟩␍");
        assert_eq!(folded(text), "no paper\n      │   ✔ pay  completed⟨U+202E⟩␍");
    }
}
