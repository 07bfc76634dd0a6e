//! Pictures for people to look at.

use std::path::PathBuf;

use crate::Outcome;

/// Below the target directory, where the test's own program is.
fn directory() -> Outcome<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(3).ok_or("the test is not in a target directory")?;
    Ok(target.join("screenshots"))
}

pub(crate) fn keep(name: &str, png: &[u8]) -> Outcome {
    let directory = directory()?;
    std::fs::create_dir_all(&directory)?;
    Ok(std::fs::write(directory.join(format!("{name}.png")), png)?)
}
