//! Flows in crates of an older edition, where fewer words are keywords.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use pgflow_ui_tests::Scratch;

const GEN: &str = "\
use pgflow::prelude::*;

#[flow]
pub mod keys {
    use super::*;
    #[step]
    pub async fn gen() -> Result<u8> { Ok(1) }
    #[step(depends_on = [gen])]
    pub async fn save(gen: u8) -> Result<u8> { Ok(gen) }
}

pub async fn whole() -> Result<u8> { keys::gen().await }
";

/// Whether the program compiles in this edition, and what the compiler says.
fn check(edition: &str) -> (bool, String) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
    let scratch = Scratch::write(&directory, &format!("edition_{edition}"), GEN);
    let manifest = scratch.root.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("there is a manifest");
    fs::write(&manifest, text.replace("\"2024\"", &format!("\"{edition}\"")))
        .expect("it can be written");
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["check", "--quiet", "--offline", "--target-dir"])
        .arg(&scratch.target)
        .env_remove("OUT_DIR")
        .current_dir(&scratch.root)
        .output()
        .expect("cargo can be started");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn gen_is_the_name_of_a_step_before_edition_2024() {
    let (is_right, said) = check("2021");
    assert!(is_right, "{said}");
    let (is_right, said) = check("2024");
    assert!(!is_right && said.contains("found reserved keyword `gen`"), "{said}");
}
