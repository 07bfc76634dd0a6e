//! The standard library without its source.
//!
//! Where `rust-src` is installed, which rust-analyzer sees to, the compiler quotes it, and messages are longer than they are where it
//! is not. Programs are compiled as if it were not there.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// A program for `RUSTC_WORKSPACE_WRAPPER`, in this directory.
///
/// # Panics
/// When there is no compiler, or the program cannot be written.
pub(crate) fn compiler_without_sources(directory: &Path) -> PathBuf {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let output = output.expect("rustc can be started");
    let real = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let bare = directory.join("sysroot");
    // Libraries of the compiler, and of programs.
    link_all(&real.join("lib"), &bare.join("lib"), "rustlib").expect("links can be made");
    link_all(&real.join("lib/rustlib"), &bare.join("lib/rustlib"), "src")
        .expect("links can be made");
    let text = format!("#!/bin/sh\nexec \"$@\" --sysroot '{}'\n", bare.display());
    let (program, draft) = (directory.join("rustc.sh"), directory.join("rustc.draft"));
    if fs::read_to_string(&program).is_ok_and(|there| there == text) {
        return program;
    }
    fs::write(&draft, text).expect("the program can be written");
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).expect("it can be started");
    fs::rename(&draft, &program).expect("it can be put in its place");
    program
}

/// Links to everything in a directory but one entry.
fn link_all(from: &Path, to: &Path, but: &str) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let link = to.join(entry.file_name());
        if entry.file_name() != but && !link.exists() {
            symlink(entry.path(), link)?;
        }
    }
    Ok(())
}
