//! Signals.

use std::process::Stdio;

use tokio::process::Command;

use super::Outcome;

/// Sends a signal by its name, such as `STOP`.
pub async fn signal(name: &str, pid: u32) -> Outcome {
    // The shell's own `kill`: the program of that name is not on every machine.
    let mut command = Command::new("sh");
    command.args(["-c", "kill -s \"$0\" \"$1\"", name, &pid.to_string()]).stdin(Stdio::null());
    let status = command.status().await?;
    if status.success() { Ok(()) } else { Err(format!("cannot send {name} to {pid}").into()) }
}
