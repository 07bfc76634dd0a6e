//! Marks that an unfinished merge leaves in files. Where nothing is compiled, nobody else notices.

use std::process::Command;
use std::time::{Duration, Instant};

const MARKS: &str = "^(<<<<<<<|>>>>>>>) ";

/// The stage of `cargo xtask test`: no tracked file has any.
pub(crate) fn stage() -> Result<Duration, String> {
    println!("==> marks: no merge is unfinished");
    let start = Instant::now();
    let mut git = Command::new("git");
    let output = git.args(["grep", "-nE", MARKS]).output().map_err(|error| error.to_string())?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    let took = start.elapsed();
    println!("<== marks: {:.1} s", took.as_secs_f64());
    match output.status.code() {
        // What `git grep` says when it finds nothing.
        Some(1) => Ok(took),
        Some(0) => Err("these lines are from a merge that was not finished".to_owned()),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
