//! What `#[flow]` writes: safe, readable, and with the user's functions in it whatever is wrong.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use pgflow_ui_tests::{Scratch, current, pinned};

const RIGHT: &str = include_str!("../expanded/five_steps.rs");
const WRONG: &str = include_str!("editor/wrong.rs");

/// The source after all macros, as the compiler prints it.
fn expand(name: &str, text: &str) -> String {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
    let scratch = Scratch::write(&scratch, name, text);
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["rustc", "--quiet", "--offline", "--lib", "--profile=check", "--target-dir"])
        .arg(&scratch.target)
        .args(["--", "-Zunpretty=expanded"])
        .env("RUSTC_WORKSPACE_WRAPPER", permission(&scratch.root))
        .current_dir(&scratch.root)
        .output()
        .expect("cargo can be started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// A program that lets the compiler print expansions, which is not stable. A variable for all of cargo would do that too, but
/// every crate with a build script, and all above it, would be compiled for each value of it.
fn permission(directory: &Path) -> PathBuf {
    let program = directory.join("permission.sh");
    let text = "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec \"$@\"\n";
    fs::write(&program, text).expect("the program can be written");
    fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("it can be started");
    program
}

#[test]
fn the_expansion_of_five_steps_is_as_reviewed() {
    assert_eq!(current(), pinned(), "the committed expansion belongs to the pinned toolchain");
    let expanded = expand("five_steps", RIGHT);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("expanded/five_steps.expanded.rs");
    if env::var_os("EXPANSION").is_some_and(|it| it == "overwrite") {
        fs::write(&file, &expanded).expect("the snapshot can be written");
    }
    let reviewed = fs::read_to_string(file).expect("there is a snapshot");
    assert!(expanded == reviewed, "it differs; review it with EXPANSION=overwrite:\n{expanded}");
}

#[test]
fn the_expansion_has_no_unsafe_code_and_no_copy_of_a_body() {
    let expanded = expand("five_steps_again", RIGHT);
    // The compiler's own `derive(Clone, Copy)` writes one, which is not ours.
    let ours = expanded.replace("unsafe impl ::core::clone::TrivialClone", "");
    assert!(!ours.contains("unsafe"), "{ours}");
    assert_eq!(expanded.matches("split_whitespace").count(), 1, "{expanded}");
}

#[test]
fn a_wrong_flow_keeps_its_functions_and_names_its_dependencies() {
    let expanded = expand("wrong_flow", WRONG);
    for function in ["fetch_user", "list", "ring_a", "ring_b"] {
        let signature = format!("pub async fn {function}(");
        assert_eq!(expanded.matches(&signature).count(), 1, "{function} in\n{expanded}");
    }
    // Where a dependency exists, its name is still used, so that an editor can follow it.
    for dependency in ["fetch_user", "ring_a", "ring_b"] {
        let uses = expanded.matches(&format!("__pgflow::Waits<{dependency}>")).count();
        assert!(uses > 0, "{dependency} in\n{expanded}");
    }
}
