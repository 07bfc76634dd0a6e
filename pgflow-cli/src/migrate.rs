//! `cargo pgflow migrate`.

use std::path::PathBuf;

use pgflow_build::Plan;
use serde_json::json;

use crate::args::{Migrate, Options};
use crate::check;
use crate::crates::Crate;
use crate::error::Error;
use crate::out::{self, Report};

/// Writes what is missing, and says which files that were. Returns whether it could.
pub(crate) fn run(options: &Options, command: &Migrate) -> Result<bool, Error> {
    let mut report = Report::default();
    if command.drop.is_some() || command.retire.is_some() {
        let is_good = migrate(&options.only_crate()?, command, &mut report);
        return report.end(is_good);
    }
    let mut all = Ok(true);
    for one in options.crates()? {
        all = match migrate(&one, command, &mut report) {
            Ok(is_good) => all.map(|before| before && is_good),
            failed => return report.end(failed),
        };
    }
    report.end(all)
}

fn migrate(one: &Crate, command: &Migrate, report: &mut Report) -> Result<bool, Error> {
    let migrations = one.migrations(Some(&command.place))?;
    let mut written = Vec::new();
    if command.core {
        written.extend(migrations.migrate_core()?);
    }
    let mut plan = one.shown(migrations.plan()?);
    plan.gone.retain(|flow| ![&command.drop, &command.retire].contains(&&Some(flow.clone())));
    let is_good = plan.problems.is_empty() && plan.late_core.is_none();
    if plan.problems.is_empty() {
        written.extend(match (&command.drop, &command.retire) {
            (Some(flow), _) => migrations.drop_flow(flow)?,
            (None, Some(flow)) => migrations.retire_flow(flow)?,
            (None, None) => migrations.migrate()?,
        });
    }
    if command.json {
        report.json(json!({
            "crate": one.place(),
            "written": written.iter().map(|path| one.path(path)).collect::<Vec<_>>(),
            "gone": plan.gone,
            "problems": plan.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }));
    } else {
        tell(one, &plan, &written, report);
    }
    Ok(is_good)
}

fn tell(one: &Crate, plan: &Plan, written: &[PathBuf], report: &mut Report) {
    check::report_source(plan);
    for path in written {
        report.line(format_args!("wrote {}", one.path(path)));
    }
    for told in plan.gone_told() {
        out::note(format_args!("warning: {told}"));
    }
}
