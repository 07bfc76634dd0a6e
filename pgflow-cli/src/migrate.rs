//! `cargo pgflow migrate`.

use std::path::PathBuf;

use pgflow_build::Plan;
use serde_json::json;

use crate::args::{Migrate, Options};
use crate::check;
use crate::crates::Crate;
use crate::error::Error;
use crate::out;

/// Writes what is missing, and says which files that were. Returns whether it could.
pub(crate) fn run(options: &Options, command: &Migrate) -> Result<bool, Error> {
    if let Some(flow) = &command.drop {
        let one = options.only_crate()?;
        return migrate(&one, command, Some(flow));
    }
    let mut all = true;
    for one in options.crates()? {
        all &= migrate(&one, command, None)?;
    }
    Ok(all)
}

fn migrate(one: &Crate, command: &Migrate, drop: Option<&str>) -> Result<bool, Error> {
    let migrations = one.migrations(Some(&command.place))?;
    let mut written = Vec::new();
    if command.core {
        written.extend(migrations.migrate_core()?);
    }
    let plan = one.shown(migrations.plan()?);
    let is_good = plan.problems.is_empty();
    if is_good {
        written.extend(match drop {
            Some(flow) => migrations.drop_flow(flow)?,
            None => migrations.migrate()?,
        });
    }
    if command.json {
        out::line(json!({
            "crate": one.place(),
            "written": written.iter().map(|path| one.path(path)).collect::<Vec<_>>(),
            "gone": gone(&plan, drop),
            "problems": plan.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }))?;
    } else {
        report(one, &plan, &written, drop)?;
    }
    Ok(is_good)
}

fn report(one: &Crate, plan: &Plan, written: &[PathBuf], drop: Option<&str>) -> Result<(), Error> {
    check::report_source(plan);
    for path in written {
        out::line(format_args!("wrote {}", one.path(path)))?;
    }
    for flow in gone(plan, drop) {
        eprintln!(
            "note: flow `{flow}` is no longer in the source; it stays in the database\n\
             help: `cargo pgflow migrate --drop {flow}` writes a migration that deletes it and all its runs"
        );
    }
    Ok(())
}

/// Flows that are in the lock and not in the source.
fn gone<'a>(plan: &'a Plan, drop: Option<&str>) -> Vec<&'a String> {
    plan.gone.iter().filter(|flow| drop != Some(flow)).collect()
}
