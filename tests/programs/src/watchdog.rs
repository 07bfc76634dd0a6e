//! Whoever outlives this process to clean up after it.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::error::{Doing, Result};

/// Waits for the end of its input, which is the end of this process, be it by kill -9. Then it ends every
/// process whose command line names the directory (servers, and what was about to make one), gently for
/// five seconds, and deletes the directory. It looks twice, since whoever was killed may just have started
/// another. The directory is in its environment because its own command line must not name it.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT
cat >/dev/null
processes() {
  if [ -d /proc/self ]; then
    printf %s "$PGFLOW_WATCHED" | grep -laF -f - /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3
  else
    ps -A -o pid=,args= | awk 'index($0, ENVIRON["PGFLOW_WATCHED"]) { print $1 }'
  fi
}
tries=0
quiet=0
while [ "$quiet" -lt 2 ] && [ "$tries" -lt 1200 ]; do
  tries=$((tries + 1))
  pids=$(processes)
  if [ -n "$pids" ]; then
    quiet=0
    if [ "$tries" -lt 100 ]; then kill -QUIT $pids; else kill -KILL $pids; fi
  elif rm -rf -- "$PGFLOW_WATCHED"; then
    quiet=$((quiet + 1))
  fi
  sleep 0.05
done
"#;

/// Ends what runs in a directory, and deletes it, when dropped or when this process ends, however it does.
#[derive(Debug)]
pub struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Starts before anything is in the directory, so that nothing is ever left unwatched.
    pub fn watch(dir: &Path) -> Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "pgflow-watchdog"])
            .env("PGFLOW_WATCHED", dir)
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
