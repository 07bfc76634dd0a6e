//! Writes only what changed, and so that nobody sees half of it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Doing, Error};

/// Leaves a file that is right alone, so that nothing that watches it wakes up.
///
/// Returns whether anything was written.
pub(crate) fn if_changed(path: &Path, text: &str) -> Result<bool, Error> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).doing("create", dir)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let new = path.with_file_name(name);
    let write = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
    if write.is_err() {
        let _ = fs::remove_file(&new);
    }
    write.doing("write", path)?;
    Ok(true)
}

/// Removes a file; one that is not there is removed.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.doing("remove", path),
    }
}

/// Keeps other builds of the crate out while this one reads and writes.
///
/// Where locks do not work, builds at the same time still write the same files.
pub(crate) fn alone(dir: &Path) -> Option<File> {
    let file = File::open(dir.join("Cargo.toml")).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// Makes files that a build script wrote no newer than the script's start, by which cargo judges
/// whether it has to run again. Where that does not work, it runs once more and does nothing.
pub(crate) fn backdate(out_dir: &Path, paths: impl IntoIterator<Item = PathBuf>) {
    let started = out_dir.parent().map(|dir| dir.join("invoked.timestamp"));
    let started = started.and_then(|path| path.metadata().ok()?.modified().ok());
    if let Some(started) = started {
        for path in paths {
            let _ = set_modified(&path, started);
        }
    }
}

fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    File::open(path)?.set_modified(time)
}
