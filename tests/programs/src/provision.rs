//! What `cargo xtask provision` does.

use std::fs::File;
use std::path::PathBuf;

use crate::error::{Doing, Error, Result};
use crate::need::{NEEDS, Need};
use crate::process::is_root;
use crate::{apt, npm, rust_analyzer};

/// Installs what is missing, one process at a time, and says on screen what it does. With `major`, the
/// programs of that major version of Postgres too.
pub fn provision(major: Option<u32>) -> Result<()> {
    let _lock = lock()?;
    // Looked for behind the lock: whoever had it may have installed everything.
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| need.is_missing()).collect();
    if !missing.is_empty() {
        install(&missing)?;
    }
    let rust_analyzer = rust_analyzer::provide()?;
    if let Some(major) = major {
        npm::provide(major)?;
    }
    for need in NEEDS {
        println!("    {}: {}", need.what, need.directories()?[0].display());
    }
    println!("    rust-analyzer: {}", rust_analyzer.display());
    Ok(())
}

fn install(missing: &[&Need]) -> Result<()> {
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    let what = missing.iter().map(|need| need.description()).collect::<Vec<_>>().join(", ");
    if !apt::is_debian() {
        let help = "install it with this system's packages, so that the PATH leads there".into();
        return Err(Error::Missing { what, help });
    }
    if !is_root() {
        let help = format!("`sudo {}`", apt::command(&packages));
        return Err(Error::Missing { what, help });
    }
    println!("    missing: {what}");
    apt::install(&packages)
}

/// Held until the file is closed, be it by kill -9.
fn lock() -> Result<File> {
    let dir = cache();
    let path = dir.join("provision.lock");
    let doing = || format!("lock {}", path.display());
    std::fs::create_dir_all(&dir).doing(doing())?;
    let file = File::create(&path).doing(doing())?;
    file.lock().doing(doing())?;
    Ok(file)
}

/// Root's own cache is closed to the unprivileged user who runs servers.
pub(crate) fn cache() -> PathBuf {
    let user = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .filter(|_| !is_root());
    user.unwrap_or_else(|| "/var/cache".into()).join("pgflow-test-postgres")
}
