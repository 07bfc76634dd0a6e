//! `pgflow man`.

use std::path::PathBuf;

use clap::Args;
use clap_mangen::Man as Page;
use serde_json::json;

use crate::error::Error;
use crate::out;

/// Where to.
#[derive(Args)]
#[command(after_help = "\
Example:
  pgflow man ~/.local/share/man/man1   then: man pgflow, man pgflow-ls")]
pub(crate) struct Man {
    /// The directory, which is made if it is missing; pages that are there are written over.
    dir: PathBuf,

    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Man) -> Result<bool, Error> {
    let failed = |path: &PathBuf| {
        let path = path.clone();
        |source| Error::Write { path, source }
    };
    std::fs::create_dir_all(&command.dir).map_err(failed(&command.dir))?;
    let mut files = Vec::new();
    for (name, page) in pages()? {
        let path = command.dir.join(&name);
        std::fs::write(&path, page).map_err(failed(&path))?;
        files.push(name);
    }
    if command.json {
        out::json(json!({ "directory": command.dir, "files": files }))?;
    } else {
        out::line(format_args!("wrote {} pages to {}", files.len(), command.dir.display()))?;
    }
    Ok(true)
}

/// A page for the program and one for each command, and each that it consists of, as files.
fn pages() -> Result<Vec<(String, Vec<u8>)>, Error> {
    let mut program = crate::command().disable_help_subcommand(true);
    program.build();
    let mut commands = vec![program];
    let mut at = 0;
    while let Some(command) = commands.get(at) {
        let parts: Vec<_> = command.get_subcommands().cloned().collect();
        commands.extend(parts);
        at += 1;
    }
    commands.into_iter().map(page).collect()
}

fn page(command: clap::Command) -> Result<(String, Vec<u8>), Error> {
    let page = Page::new(command);
    let mut text = Vec::new();
    page.render(&mut text).map_err(Error::Output)?;
    Ok((page.get_filename(), text))
}
