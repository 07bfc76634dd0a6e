//! Migrations in `OUT_DIR`, where the crate can embed them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::directory::checksum;
use crate::error::{Doing, Error};
use crate::plan::Plan;
use crate::write::if_changed;

/// Writes all migrations of flows, a list of them for `pgflow::migrations!()`, and every version of
/// every flow as data, for databases that do not speak this SQL.
pub(crate) fn write(plan: &Plan, out_dir: &Path) -> Result<(), Error> {
    let dir = out_dir.join("pgflow");
    fs::create_dir_all(&dir).doing("create", &dir)?;
    let mut list = String::from("&[\n");
    let mut names = BTreeSet::from(["migrations.rs".to_owned(), "flows.json".to_owned()]);
    for (name, text) in plan.directory.ours() {
        if_changed(&dir.join(name), &plan.style.unwrap(text))?;
        let _ = writeln!(list, "    ({name:?}, {:?}, include_str!({name:?})),", checksum(text));
        names.insert(name.to_owned());
    }
    list.push_str("]\n");
    if_changed(&dir.join("migrations.rs"), &list)?;
    if_changed(&dir.join("flows.json"), &format!("{:#}\n", flows(plan)))?;
    remove_others(&dir, &names)
}

/// Every version of every flow.
fn flows(plan: &Plan) -> Value {
    let version = |(slug, locked): (String, &pgflow_model::LockedVersion)| {
        json!({
            "flow": locked.shape.slug,
            "version": locked.version,
            "slug": slug,
            "shape": locked.shape.to_json(),
        })
    };
    plan.deployed().map(version).collect()
}

fn remove_others(dir: &Path, names: &BTreeSet<String>) -> Result<(), Error> {
    for entry in fs::read_dir(dir).doing("read", dir)?.flatten() {
        if !names.contains(&*entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path()).doing("remove", &entry.path())?;
        }
    }
    Ok(())
}
