//! Looks for a rust-analyzer, so that the tests which need one run where there is one and are
//! reported as ignored where there is none.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUST_ANALYZER");
    println!("cargo:rerun-if-env-changed=PATH");
    println!("cargo:rustc-check-cfg=cfg(has_rust_analyzer)");
    let found = candidates().into_iter().find(|binary| answers(binary));
    if found.is_some() {
        println!("cargo:rustc-cfg=has_rust_analyzer");
    }
    println!("cargo:rustc-env=FOUND_RUST_ANALYZER={}", found.unwrap_or_default());
}

fn candidates() -> Vec<String> {
    if let Ok(asked_for) = env::var("RUST_ANALYZER") {
        assert!(answers(&asked_for), "RUST_ANALYZER={asked_for} cannot be started");
        return vec![asked_for];
    }
    let rustup = Command::new("rustup").args(["which", "rust-analyzer"]).output();
    let of_rustup = rustup.ok().filter(|output| output.status.success());
    let of_rustup = of_rustup.and_then(|output| String::from_utf8(output.stdout).ok());
    let of_rustup = of_rustup.map(|path| path.trim().to_owned());
    of_rustup.into_iter().chain(["rust-analyzer".to_owned()]).collect()
}

/// A name in `PATH` may be rustup's stand-in for a program that is not installed.
fn answers(binary: &str) -> bool {
    Command::new(binary).arg("--version").output().is_ok_and(|output| output.status.success())
}
