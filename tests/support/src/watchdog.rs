//! Whoever outlives the test process to clean up after it.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::error::{Doing, Result};

/// Waits for the end of its input, which is the end of the test process, be it by kill -9; then
/// stops the server and deletes its directory. The pid is checked against the directory because
/// a number in a file may belong to somebody else by now.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
cat >/dev/null
is_ours() {
  [ -n "$pid" ] || return 1
  { ps -p "$pid" -o args= 2>/dev/null || tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null |
    grep -qF -- "$1"
}
pid=$(head -n 1 "$1/$2" 2>/dev/null)
is_ours "$1" && kill -QUIT "$pid"
tries=0
while is_ours "$1" && [ "$tries" -lt 100 ]; do sleep 0.05; tries=$((tries + 1)); done
is_ours "$1" && kill -9 "$pid"
rm -rf -- "$1"
"#;

/// Lets the server go when dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Starts before the server does, so that nothing is ever left unwatched. The server writes its pid
    /// to a file in its directory, which its command line names.
    pub(crate) fn watch(dir: &Path, pid_file: &str) -> Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "pgflow-watchdog"])
            .arg(dir)
            .arg(pid_file)
            .stdin(Stdio::piped())
            // Keeping our output open would make `cargo test` wait for us.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of reach of the terminal's Ctrl-C.
            .process_group(0)
            .spawn()
            .doing("start the watchdog")?;
        Ok(Self { shell })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}
