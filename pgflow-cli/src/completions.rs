//! `pgflow completions`.

use clap::Args;
use clap_complete::Shell;

use crate::error::Error;
use crate::out;

/// For which shell.
#[derive(Args)]
#[command(after_help = "\
Example:
  pgflow completions bash >~/.local/share/bash-completion/completions/pgflow")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(command: &Completions) -> Result<bool, Error> {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut crate::command(), "pgflow", &mut script);
    out::text(String::from_utf8_lossy(&script))?;
    Ok(true)
}
