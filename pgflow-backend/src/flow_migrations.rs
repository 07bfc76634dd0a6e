//! What databases say and note about migrations of flows.

use std::{fs, path::Path};

use pgflow_model::{FlowMigration, FlowMigrations};

/// What to say of a migration that a database has in other words.
pub fn changed(name: &str) -> String {
    format!(
        "migration `{name}` was applied and has changed since\n\
         help: put it back as it was applied: a changed flow gets a migration of its own; a database that \
         was only for development can be made anew instead"
    )
}

/// Notes that a database has these. A note is a convenience: where it cannot be written, there is
/// none.
pub fn note(migrations: &FlowMigrations) {
    if let Some(path) = migrations.notes.filter(|_| !is_test()) {
        note_in(migrations, Path::new(path));
    }
}

fn note_in(migrations: &FlowMigrations, path: &Path) {
    // Nothing is made on a machine that did not build the program.
    if path.parent().and_then(Path::parent).is_none_or(|target| !target.is_dir()) {
        return;
    }
    let old = fs::read_to_string(path).unwrap_or_default();
    let line = |file: &FlowMigration| format!("{} {}\n", file.name, file.checksum);
    let new = migrations.files.iter().map(line).filter(|line| !old.contains(line));
    let new: String = new.collect();
    if !new.is_empty() {
        let _ = path.parent().map(fs::create_dir_all);
        let _ = fs::write(path, old + &new);
    }
}

/// Whether this is a test or a benchmark that cargo runs: their databases go away with them.
fn is_test() -> bool {
    let program = std::env::current_exe().ok();
    program.as_deref().and_then(Path::parent).is_some_and(|dir| dir.ends_with("deps"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FlowMigration =
        FlowMigration { name: "0001_a.sql", checksum: "ab", sql: "", operations_json: "[]" };

    #[test]
    fn what_a_database_has_is_noted_once_and_only_where_it_was_built() {
        let target = std::env::temp_dir().join(format!("pgflow-notes-{}", std::process::id()));
        let path = target.join("pgflow/shop.applied");
        let migrations = FlowMigrations { package: "shop", files: &[FILE], notes: None };
        note_in(&migrations, &path);
        assert!(!target.exists(), "no directory is made on another machine");
        fs::create_dir_all(&target).expect("a directory");
        note_in(&migrations, &path);
        note_in(&migrations, &path);
        assert_eq!(fs::read_to_string(&path).expect("a note"), "0001_a.sql ab\n");
        fs::remove_dir_all(target).expect("removed");
    }
}
