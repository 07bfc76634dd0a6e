//! The compiler whose messages are committed, and the one at hand.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The version of a compiler, such as `1.95.0`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Toolchain(pub String);

/// The version that `rust-toolchain.toml` asks for.
///
/// # Panics
/// When the file is gone or names no version.
pub fn pinned() -> Toolchain {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rust-toolchain.toml");
    let text = fs::read_to_string(file).expect("the repository has a rust-toolchain.toml");
    let channel = text.lines().find_map(|line| line.strip_prefix("channel = "));
    Toolchain(channel.expect("it names a channel").trim_matches('"').to_owned())
}

/// The version that compiles the cases.
///
/// # Panics
/// When there is no compiler to ask.
pub fn current() -> Toolchain {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc can be started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Toolchain(text.split_whitespace().nth(1).unwrap_or(&text).to_owned())
}
