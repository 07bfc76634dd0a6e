//! `cargo pgflow undo` and `cargo pgflow keep`.

use serde_json::json;

use crate::args::{Keep, Options, Undo};
use crate::error::Error;
use crate::out;

/// Takes back the newest migration of a crate.
pub(crate) fn undo(options: &Options, command: &Undo) -> Result<bool, Error> {
    let one = options.only_crate()?;
    let undone = one.migrations(None)?.undo()?;
    if command.json {
        out::line(json!({ "removed": one.path(&undone.file), "created": undone.created }))?;
    } else {
        out::line(format_args!("removed {}", one.path(&undone.file)))?;
    }
    for slug in &undone.created {
        eprintln!(
            "note: a database that has it keeps flow `{slug}`: \
             `SELECT pgflow.delete_flow_and_data('{slug}')` deletes it and all its runs"
        );
    }
    if !one.migrations(None)?.plan()?.is_up_to_date() {
        eprintln!("note: the source still asks for it: the next build writes it again");
    }
    Ok(true)
}

/// Makes the migrations of a crate permanent.
pub(crate) fn keep(options: &Options, command: &Keep) -> Result<bool, Error> {
    for one in options.crates()? {
        let (lock, is_kept) = (one.path("pgflow.lock".as_ref()), one.migrations(None)?.keep()?);
        let said = if is_kept {
            "from now on, a change of a flow is a migration of its own"
        } else {
            "nothing to do: git knows what is committed, or everything is permanent already"
        };
        if command.json {
            out::line(json!({ "lock": lock, "kept": is_kept }))?;
        } else {
            out::line(format_args!("{lock}: {said}"))?;
        }
    }
    Ok(true)
}
