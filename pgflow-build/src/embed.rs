//! Migrations in `OUT_DIR`, where the crate can embed them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use pgflow_model::Operation;

use crate::directory::checksum;
use crate::error::{Doing, Error};
use crate::plan::Plan;
use crate::write::if_changed;

/// Writes all migrations of flows, and for `pgflow::migrations!()` a list of them, which also has what
/// each of them does, for databases that do not speak this SQL, and where to note what was applied.
pub(crate) fn write(plan: &Plan, out_dir: &Path, notes: Option<&Path>) -> Result<(), Error> {
    let dir = out_dir.join("pgflow");
    fs::create_dir_all(&dir).doing("create", &dir)?;
    let mut list = String::from("(&[\n");
    let mut names = BTreeSet::from(["migrations.rs".to_owned()]);
    for (name, text) in plan.directory.ours() {
        let operations =
            Operation::of_sql(text).map_err(|why| Error::Foreign { name: name.to_owned(), why })?;
        if_changed(&dir.join(name), &plan.style.unwrap(text))?;
        let _ = writeln!(
            list,
            "    FlowMigration {{\n        name: {name:?},\n        checksum: {:?},\n        \
             sql: include_str!({name:?}),\n        operations_json: {:?},\n    }},",
            checksum(text),
            Operation::list_to_json(&operations),
        );
        names.insert(name.to_owned());
    }
    // A path of this machine is nothing for a release.
    let is_debug = std::env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let notes = notes.filter(|_| is_debug).map(|path| path.display().to_string());
    let _ = writeln!(list, "], {notes:?})");
    if_changed(&dir.join("migrations.rs"), &list)?;
    remove_others(&dir, &names)
}

fn remove_others(dir: &Path, names: &BTreeSet<String>) -> Result<(), Error> {
    for entry in fs::read_dir(dir).doing("read", dir)?.flatten() {
        if !names.contains(&*entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path()).doing("remove", &entry.path())?;
        }
    }
    Ok(())
}
