//! `cargo pgflow undo` and `cargo pgflow keep`.

use pgflow_runtime::Db;
use serde_json::json;

use crate::args::{Keep, Options, Undo};
use crate::error::Error;
use crate::out::{self, Report};

/// Takes back the newest migration of a crate.
pub(crate) fn undo(options: &Options, command: &Undo) -> Result<bool, Error> {
    let one = options.only_crate()?;
    let undone = one.migrations(None)?.undo()?;
    if command.json {
        out::json(json!({ "removed": one.path(&undone.file), "created": undone.created }))?;
    } else {
        out::line(format_args!("removed {}", one.path(&undone.file)))?;
    }
    for slug in &undone.created {
        out::note(format_args!(
            "note: a database that has it keeps flow `{slug}`: {}",
            advice(slug)
        ));
    }
    if !one.migrations(None)?.plan()?.is_up_to_date() {
        out::note(format_args!(
            "note: the source still asks for it: the next build writes it again"
        ));
    }
    Ok(true)
}

/// How the database of the project loses a flow; one of Postgres, unless the environment names another.
fn advice(slug: &str) -> String {
    let is_postgres = |url: String| url.starts_with("postgres");
    if Db::find_url(None).map_or(true, is_postgres) {
        format!("`SELECT pgflow.delete_flow_and_data('{slug}')` deletes it and all its runs")
    } else {
        "it does no harm there, and one for development can be made anew with `pgflow install`"
            .to_owned()
    }
}

/// Makes the migrations of a crate permanent.
pub(crate) fn keep(options: &Options, command: &Keep) -> Result<bool, Error> {
    let mut report = Report::default();
    for one in options.crates()? {
        let (lock, is_kept) = (one.path("pgflow.lock".as_ref()), one.migrations(None)?.keep()?);
        let said = if is_kept {
            "from now on, a change of a flow is a migration of its own"
        } else {
            "nothing to do: git knows what is committed, or everything is permanent already"
        };
        if command.json {
            report.json(json!({ "lock": lock, "kept": is_kept }));
        } else {
            report.line(format_args!("{lock}: {said}"));
        }
    }
    report.end(Ok(true))
}
