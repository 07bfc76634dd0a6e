//! Standard output, which may be closed by whoever reads it.

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
