//! Running programs as somebody Postgres accepts, and ending them.

use std::path::Path;
use std::process::{Command, Stdio};

use pgflow_test_programs::is_root;

/// `nobody`, on every Unix that has setpriv.
pub(crate) const UNPRIVILEGED: u32 = 65534;

/// A command that runs without root's rights, whoever we are.
pub(crate) fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let id = UNPRIVILEGED.to_string();
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]).arg(program);
    command
}

/// Ends a process and its children the hard way. The parent is halted meanwhile, so that it
/// neither notices nor makes new ones, and goes last, so that no child notices either.
pub(crate) fn kill9_family(parent: u32) -> Vec<u32> {
    signal("STOP", &[parent]);
    let mut family = children(parent);
    family.push(parent);
    signal("KILL", &family);
    family
}

pub(crate) fn signal(name: &str, pids: &[u32]) {
    // The shell's own `kill`: the program of that name is not on every machine.
    let _ = Command::new("sh")
        .args(["-c", "kill -s \"$@\" 2>/dev/null", "signal", name])
        .args(pids.iter().map(u32::to_string))
        .stdin(Stdio::null())
        .status();
}

/// The direct children of a process.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let output = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output();
    match output {
        Ok(output) if output.status.success() => {
            children_of_ps(parent, &String::from_utf8_lossy(&output.stdout))
        }
        _ => children_of_proc(parent),
    }
}

fn children_of_ps(parent: u32, table: &str) -> Vec<u32> {
    table
        .lines()
        .filter_map(|line| {
            let mut columns = line.split_whitespace().map(str::parse::<u32>);
            let (pid, parent_pid) = (columns.next()?.ok()?, columns.next()?.ok()?);
            (parent_pid == parent).then_some(pid)
        })
        .collect()
}

/// For small machines without `ps`.
fn children_of_proc(parent: u32) -> Vec<u32> {
    let entries = Path::new("/proc").read_dir().into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| parent_of(*pid) == Some(parent))
        .collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    stat(pid)?.split_whitespace().nth(1)?.parse().ok()
}

/// What the kernel says about a process: its state, its parent, and so on.
fn stat(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, so read from its end.
    Some(stat.rsplit_once(')')?.1.trim().to_owned())
}

/// Whether a process still runs; one that only waits to be buried does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    if Path::new("/proc/self").exists() {
        return stat(pid).is_some_and(|stat| !stat.starts_with('Z'));
    }
    let probe = ["-c", "kill -0 \"$0\" 2>/dev/null"];
    let probe = Command::new("sh").args(probe).arg(pid.to_string()).status();
    probe.is_ok_and(|status| status.success())
}
