//! CPU time of all of the server's processes, from /proc.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::PgConnection;

use crate::error::{BenchError, Doing, Result};

/// Linux counts exited children in ticks of 1/100 s on every platform it runs on today.
const TICK: Duration = Duration::from_millis(10);

/// The server's parent process; all others are its children.
pub(crate) struct ServerCpu {
    postmaster: u32,
}

/// The fields of `/proc/PID/stat` that are needed here.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    own_ticks: u32,
    reaped_ticks: u32,
}

impl ServerCpu {
    /// None when our backend is not a process of this machine.
    pub(crate) async fn find(conn: &mut PgConnection) -> Result<Option<Self>> {
        let (pid, database): (i32, String) =
            sqlx::query_as("select pg_backend_pid(), current_database()::text")
                .fetch_one(conn)
                .await
                .doing("looking for the server's process")?;
        // The same number may be another process here when the server is elsewhere.
        let title = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if !(title.contains("postgres") && title.contains(&database)) {
            return Ok(None);
        }
        Ok(read_stat(&proc_file(pid, "stat")).ok().map(|stat| Self { postmaster: stat.parent }))
    }

    /// Everything the server has used since it started: living processes and exited ones.
    pub(crate) fn total(&self) -> Result<Duration> {
        let stat = read_stat(&proc_file(self.postmaster, "stat"))?;
        let mut total = TICK * stat.reaped_ticks + on_cpu(self.postmaster, &stat);
        for pid in process_ids()? {
            // A process may end while we look; then the next reading has it as reaped.
            if let Ok(stat) = read_stat(&proc_file(pid, "stat"))
                && stat.parent == self.postmaster
            {
                total += on_cpu(pid, &stat);
            }
        }
        Ok(total)
    }
}

/// What this process has used so far.
pub(crate) fn own() -> Option<Duration> {
    read_stat(&proc_file("self", "stat")).ok().map(|stat| TICK * stat.own_ticks)
}

/// What all threads of this process have used so far.
pub(crate) fn of_process(pid: u32) -> Option<Duration> {
    read_stat(&proc_file(pid, "stat")).ok().map(|stat| TICK * stat.own_ticks)
}

/// In nanoseconds where the kernel offers it, else in ticks.
fn on_cpu(pid: u32, stat: &Stat) -> Duration {
    let exact = fs::read_to_string(proc_file(pid, "schedstat")).ok();
    let nanos = exact.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or(TICK * stat.own_ticks, Duration::from_nanos)
}

fn proc_file(pid: impl std::fmt::Display, name: &str) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join(name)
}

fn process_ids() -> Result<Vec<u32>> {
    let path = Path::new("/proc");
    let entries =
        fs::read_dir(path).map_err(|source| BenchError::Proc { path: path.to_owned(), source })?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

fn read_stat(path: &Path) -> Result<Stat> {
    let proc = |source| BenchError::Proc { path: path.to_owned(), source };
    let text = fs::read_to_string(path).map_err(proc)?;
    parse_stat(&text).ok_or_else(|| proc(std::io::ErrorKind::InvalidData.into()))
}

/// The command's name is in brackets and may hold anything, so count from its end.
fn parse_stat(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u32>().ok();
    Some(Stat {
        parent: number(1)?,
        own_ticks: number(11)? + number(12)?,
        reaped_ticks: number(13)? + number(14)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let line = "42 (a) b (c)) S 7 1 1 0 -1 0 0 0 0 0 5 6 30 40 20 0 1 0 99";
        assert_eq!(parse_stat(line), Some(Stat { parent: 7, own_ticks: 11, reaped_ticks: 70 }));
    }

    #[test]
    fn our_own_process_can_be_read() {
        let stat = read_stat(&proc_file(std::process::id(), "stat")).unwrap();
        assert!(stat.parent > 0);
    }
}
