//! One test binary.

use std::fmt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::deadline::output_within;
use crate::artifacts::TestBinary;

/// Binaries whose tests mostly wait: for servers to start, for patience to end, for leases. They run this many at once.
const WAITING: &[&str] = &[
    "pgflow-cli::cli",
    "pgflow-mysql-tests::mysql",
    "pgflow-postgres-backend-tests::backend",
    "pgflow-web-tests::web",
    "pgflow-worker-tests::worker",
];
const AT_ONCE: &str = "8";

/// The longest takes a third of this beside others. A test that hangs has to be named before whoever waits for the
/// whole command gives up.
const PATIENCE: Duration = Duration::from_mins(20);

/// What became of it.
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) passed: bool,
    pub(super) took: Duration,
    /// The binary's own last line when it passed, and all it said when it did not.
    pub(super) said: String,
}

/// Runs it as `cargo test` would, and keeps what it says for later: two at once would mix their lines.
pub(super) fn run(binary: &TestBinary, args: &[String]) -> Outcome {
    let start = Instant::now();
    let mut command = Command::new(&binary.path);
    if WAITING.contains(&binary.name.as_str()) {
        command.env("RUST_TEST_THREADS", AT_ONCE);
    }
    command
        .args(args)
        .current_dir(&binary.dir)
        .env("CARGO_MANIFEST_DIR", &binary.dir)
        .env("CARGO_PKG_NAME", &binary.package)
        .stdin(Stdio::null());
    let (passed, said) = match output_within(&mut command, PATIENCE) {
        Ok(output) => (output.status.success(), said(&output)),
        Err(error) => (false, error.to_string()),
    };
    Outcome { name: binary.name.clone(), passed, took: start.elapsed(), said }
}

fn said(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        let mut results = out.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
        return results
            .next_back()
            .and_then(|line| line.split(';').next())
            .unwrap_or("")
            .to_owned();
    }
    format!("{}\n{out}\n{}", output.status, String::from_utf8_lossy(&output.stderr))
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, passed, took, said } = self;
        let seconds = took.as_secs_f64();
        if *passed {
            return write!(f, "{seconds:>6.1} s  {name}: {said}");
        }
        write!(f, "{seconds:>6.1} s  {name}: FAILED, {said}")
    }
}
