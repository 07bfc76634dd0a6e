//! Test processes that get killed, and what they leave behind: nothing.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pgflow_test_support::wait_until;

/// With it a test is the process that gets killed.
const ROLE: &str = "PGFLOW_TEST_ROLE";

/// When this is the victim: says where its server is and waits to be killed.
pub(crate) fn stay_if_victim(start: impl FnOnce() -> PathBuf) {
    if std::env::var_os(ROLE).is_some() {
        println!("directory {}", start().display());
        std::thread::sleep(Duration::from_mins(10));
    }
}

/// A test of this binary in a process of its own.
pub(crate) struct Victim(Child);

impl Victim {
    pub(crate) fn start(test: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let command = command.args(["--exact", "--nocapture", test]).env(ROLE, "victim");
        Self(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Where its server is, as soon as that runs.
    pub(crate) fn directory(&mut self) -> PathBuf {
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        let line = lines.map_while(Result::ok).find(|line| line.contains("directory "));
        PathBuf::from(line.expect("the victim has no server").split("directory ").nth(1).unwrap())
    }

    /// What it started goes as well, sooner or later.
    pub(crate) fn kill(mut self) {
        let mark = format!("pgflow-test-{}-", self.0.id());
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        wait_until("its directories and processes are gone", || traces(&mark).is_empty());
    }
}

/// The test has to begin with [`stay_if_victim`].
pub(crate) fn kill_while_it_runs(test: &str) {
    let mut victim = Victim::start(test);
    let dir = victim.directory();
    assert!(dir.is_dir() && has_process(&dir));
    victim.kill();
}

/// At many moments, so that some are in the middle of a server's first start.
pub(crate) fn kill_while_it_starts(test: &str) {
    std::thread::scope(|scope| {
        for moment in 0..8 {
            scope.spawn(move || {
                let victim = Victim::start(test);
                std::thread::sleep(Duration::from_millis(30 + 150 * moment));
                victim.kill();
            });
        }
    });
}

/// A server that is dropped is gone, and so is its directory.
pub(crate) fn ends_with_its_value<T>(server: T, dir: &Path) {
    assert!(dir.is_dir() && has_process(dir));
    drop(server);
    wait_until("the server is gone", || !dir.exists() && !has_process(dir));
}

fn has_process(dir: &Path) -> bool {
    command_lines().iter().any(|line| line.contains(&*dir.to_string_lossy()))
}

/// Directories named so, and processes whose command line names them.
fn traces(mark: &str) -> Vec<String> {
    let parents = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
    let entries = parents.iter().filter_map(|dir| dir.read_dir().ok()).flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.chain(command_lines()).filter(|text| text.contains(mark)).collect()
}

fn command_lines() -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !Path::new("/proc/self").exists() {
        let table = Command::new("ps").args(["-A", "-o", "args="]).output().unwrap();
        return text(&table.stdout).lines().map(str::to_owned).collect();
    }
    let processes = Path::new("/proc").read_dir().unwrap().flatten();
    let command_line = |dir: PathBuf| std::fs::read(dir.join("cmdline")).ok();
    processes.filter_map(|entry| command_line(entry.path())).map(|bytes| text(&bytes)).collect()
}
