//! `cargo pgflow migrate`.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use crate::args::{Migrate, Options};
use crate::error::Error;

/// Writes what is missing, and says which files that were.
pub(crate) fn run(options: &Options, command: &Migrate) -> Result<ExitCode, Error> {
    let migrations = options.migrations(Some(&command.place))?;
    let mut written = Vec::new();
    if command.core {
        written.extend(migrations.migrate_core()?);
    }
    let plan = migrations.plan()?;
    written.extend(match &command.drop {
        Some(flow) => migrations.drop_flow(flow)?,
        None => migrations.migrate()?,
    });
    let written = written.iter().map(|path| shown(options, path));
    let written: Vec<_> = written.collect();
    if command.json {
        println!("{}", json!({ "written": written, "gone": plan.gone }));
        return Ok(ExitCode::SUCCESS);
    }
    for (place, why) in &plan.unseen {
        eprintln!("warning: {place}: {why}");
    }
    for path in &written {
        println!("wrote {path}");
    }
    for flow in plan.gone.iter().filter(|flow| command.drop.as_ref() != Some(flow)) {
        eprintln!(
            "note: flow `{flow}` is no longer in the source; it stays in the database\n\
             help: `cargo pgflow migrate --drop {flow}` writes a migration that deletes it and all its runs"
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(options: &Options, path: &Path) -> String {
    path.strip_prefix(&options.dir).unwrap_or(path).display().to_string()
}
