//! A program that has to end in time.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What it says until it ends, or until it is killed for taking too long: its last line then says so.
pub(super) fn output_within(command: &mut Command, patience: Duration) -> io::Result<Output> {
    // A group of its own, so that what it started ends with it and no longer holds its pipes.
    let mut child =
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let out = reading(child.stdout.take());
    let err = reading(child.stderr.take());
    let (status, late) = wait(&mut child, patience)?;
    let mut stderr = all_of(err);
    if late {
        let line =
            format!("\nxtask: did not end within {} s, and was killed\n", patience.as_secs());
        stderr.extend(line.into_bytes());
    }
    Ok(Output { status, stdout: all_of(out), stderr })
}

fn wait(child: &mut Child, patience: Duration) -> io::Result<(ExitStatus, bool)> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        if start.elapsed() >= patience {
            kill_group(child)?;
            return Ok((child.wait()?, true));
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// By the command, since the standard library kills no groups.
fn kill_group(child: &mut Child) -> io::Result<()> {
    Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status()?;
    child.kill()
}

fn reading<R: Read + Send + 'static>(pipe: Option<R>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before an error is worth showing.
            let _ = pipe.read_to_end(&mut all);
        }
        all
    })
}

fn all_of(reader: JoinHandle<Vec<u8>>) -> Vec<u8> {
    reader.join().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, patience: Duration) -> Output {
        output_within(Command::new("sh").args(["-c", script]), patience).expect("sh starts")
    }

    #[test]
    fn what_ends_in_time_is_as_it_is() {
        let output = sh("echo out; echo err >&2; exit 3", Duration::from_mins(1));
        assert_eq!(output.status.code(), Some(3));
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
    }

    #[test]
    fn what_hangs_is_killed_with_what_it_started_and_what_it_said_is_kept() {
        let output = sh("echo begun; sleep 600 & wait", Duration::from_millis(300));
        assert!(!output.status.success());
        assert_eq!(output.stdout, b"begun\n");
        assert!(String::from_utf8_lossy(&output.stderr).contains("did not end within"));
    }
}
