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

/// Writes all migrations of flows and a list of them for `pgflow::migrations!()`, which also has
/// what each of them does, for databases that do not speak this SQL.
pub(crate) fn write(plan: &Plan, out_dir: &Path) -> Result<(), Error> {
    let dir = out_dir.join("pgflow");
    fs::create_dir_all(&dir).doing("create", &dir)?;
    let mut list = String::from("&[\n");
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
    list.push_str("]\n");
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
