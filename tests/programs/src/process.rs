//! Running programs.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Doing, Error, Result};

/// Whether this process may do everything.
pub fn is_root() -> bool {
    // Files below /proc/self belong to the effective user; elsewhere ask `id`.
    Path::new("/proc/self").metadata().map_or_else(|_| id_says_root(), |meta| meta.uid() == 0)
}

fn id_says_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Runs it to its end; what it wrote is kept for the error only.
pub fn run(command: &mut Command) -> Result<String> {
    let program = name_of(command);
    let output = command.stdin(Stdio::null()).output().doing(format!("run `{program}`"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(Error::Program { program, output: String::from_utf8_lossy(&said).trim().into() })
}

/// Behind setpriv, the program is the first argument that is a path.
fn name_of(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .find(|word| Path::new(word).is_absolute())
        .unwrap_or_else(|| command.get_program())
        .to_string_lossy()
        .into_owned()
}
