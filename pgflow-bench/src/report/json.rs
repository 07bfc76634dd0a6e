//! The whole report as JSON.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::Report;
use crate::error::{BenchError, Result};

/// Writes to a file, or to standard output for `-`.
pub(crate) fn write(report: &Report, path: &Path) -> Result<()> {
    let failed = |source| BenchError::Write { path: path.to_owned(), source };
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    if path == Path::new("-") {
        return std::io::stdout().write_all(text.as_bytes()).map_err(failed);
    }
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)
}
