//! Libraries that are loaded before the C library, and take the place of some of its functions.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pgflow_test_programs::{Doing, Result, run};

/// Compiles one into this directory, with the compiler that compiled us. Everybody may load it.
///
/// # Errors
/// If the compiler does not like it.
pub fn compile_shim(dir: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let (source, shim) = (dir.join(format!("{name}.rs")), dir.join(format!("lib{name}.so")));
    std::fs::write(&source, text).doing(format!("write {}", source.display()))?;
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut rustc = Command::new(rustc);
    rustc.args(["--edition", "2024", "--crate-type", "cdylib", "-C", "panic=abort", "-o"]);
    run(rustc.arg(&shim).arg(&source).stdin(Stdio::null()))?;
    Ok(shim)
}

/// A clock that goes wrong on demand, for programs that are started with its variables.
#[derive(Debug)]
pub struct Clock {
    shim: PathBuf,
    file: PathBuf,
}

impl Clock {
    /// In a directory that the programs can read.
    ///
    /// # Errors
    /// If it cannot be compiled.
    pub fn new(dir: &Path) -> Result<Self> {
        let shim = compile_shim(dir, "clock", include_str!("../shim/clock.rs"))?;
        let clock = Self { shim, file: dir.join("later") };
        clock.set(0)?;
        Ok(clock)
    }

    /// Makes it so many seconds late.
    ///
    /// # Errors
    /// If the directory is gone.
    pub fn set(&self, seconds: i64) -> Result<()> {
        std::fs::write(&self.file, seconds.to_string()).doing("set a clock")
    }

    /// What a program's environment needs.
    pub fn env(&self) -> [(String, String); 2] {
        let pair = |name: &str, path: &Path| (name.to_owned(), path.display().to_string());
        [pair("LD_PRELOAD", &self.shim), pair("PGFLOW_CLOCK", &self.file)]
    }
}
