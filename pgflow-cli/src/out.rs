//! Standard output and standard error, which may be closed by whoever reads them.

use std::fmt::Display;
use std::io::Write as _;

use crate::error::Error;

/// Prints text as it is.
pub(crate) fn text(text: impl Display) -> Result<(), Error> {
    write!(std::io::stdout(), "{text}").map_err(Error::Output)
}

/// Prints a line.
pub(crate) fn line(line: impl Display) -> Result<(), Error> {
    text(format_args!("{line}\n"))
}

/// Prints JSON. What nobody would see is said by its number: a terminal may be what reads it.
pub(crate) fn json(json: impl Display) -> Result<(), Error> {
    line(pgflow_model::visible_json(&json.to_string()))
}

/// Says something beside what is asked for, on standard error. Nobody may listen, which is no reason to stop.
pub(crate) fn aside(text: impl Display) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
}

/// The same, a line.
pub(crate) fn note(line: impl Display) {
    aside(format_args!("{line}\n"));
}

/// What is printed of work that goes on also when nobody reads that any more.
#[derive(Default)]
pub(crate) struct Report(Option<Error>);

impl Report {
    pub(crate) fn line(&mut self, what: impl Display) {
        self.print(|| line(what));
    }

    pub(crate) fn json(&mut self, what: impl Display) {
        self.print(|| json(what));
    }

    fn print(&mut self, print: impl FnOnce() -> Result<(), Error>) {
        if self.0.is_none() {
            self.0 = print().err();
        }
    }

    /// What a command ends with: what became of its work counts more than what became of the report.
    pub(crate) fn end(self, work: Result<bool, Error>) -> Result<bool, Error> {
        match (work, self.0) {
            (Ok(true), Some(error)) => Err(error),
            (work, _) => work,
        }
    }
}
