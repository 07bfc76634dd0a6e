//! Runs the program as cargo does.

use std::path::Path;
use std::process::{Command, Output};

/// What the program did.
#[derive(Debug)]
pub(crate) struct Ran(Output);

/// `cargo pgflow …`, in a directory.
pub(crate) fn cargo_pgflow(dir: &Path, args: &[&str]) -> Ran {
    cargo_pgflow_with(&[], dir, args)
}

/// The same with variables, in a directory.
pub(crate) fn cargo_pgflow_with(env: &[(&str, &str)], dir: &Path, args: &[&str]) -> Ran {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-pgflow"));
    program.arg("pgflow").args(args).envs(env.iter().copied());
    ran(program, dir)
}

/// `cargo test`, in a directory.
#[allow(dead_code, reason = "not every test needs it")]
pub(crate) fn cargo_test(dir: &Path) -> Ran {
    let mut program = Command::new(env!("CARGO"));
    program.arg("test");
    ran(program, dir)
}

fn ran(mut program: Command, dir: &Path) -> Ran {
    program.current_dir(dir);
    program.env_remove("CI").env_remove("PGFLOW_MIGRATIONS").env("CARGO_TERM_COLOR", "never");
    program.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared"));
    Ran(program.env("CARGO_NET_OFFLINE", "true").output().expect("the program runs"))
}

impl Ran {
    pub(crate) fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    /// Everything, for a person.
    pub(crate) fn text(&self) -> String {
        self.stdout() + &String::from_utf8_lossy(&self.0.stderr)
    }
}
