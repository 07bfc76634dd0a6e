//! Migrations of a crate's flows, embedded in the program.

#[cfg(feature = "engine")]
use std::{fs, path::Path};

use pgflow_model::{InvalidOperation, Operation};

/// Migrations of a crate's flows, embedded in the program by `pgflow::migrations!()`.
///
/// ```
/// use pgflow_runtime::FlowMigrations;
///
/// const NONE: FlowMigrations = FlowMigrations { package: "shop", files: &[], notes: None };
/// assert!(NONE.files.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowMigrations {
    /// The crate they are from.
    pub package: &'static str,
    /// Each file, in the order in which they are applied.
    pub files: &'static [FlowMigration],
    /// Where a debug build notes which of them a database has, so that the next build does not rewrite
    /// those although they are not committed yet.
    pub notes: Option<&'static str>,
}

/// A migration of a crate's flows: the same changes for Postgres and for other databases.
///
/// ```
/// use pgflow_model::Operation;
/// use pgflow_runtime::FlowMigration;
///
/// let migration = FlowMigration {
///     name: "0002_drop_orders.sql",
///     checksum: "",
///     sql: "SELECT pgflow.delete_flow_and_data('orders');\n",
///     operations_json: r#"[{ "do": "deleteVersion", "slug": "orders" }]"#,
/// };
/// assert_eq!(migration.operations()?, [Operation::DeleteVersion { slug: "orders".to_owned() }]);
/// # Ok::<(), pgflow_model::InvalidOperation>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowMigration {
    /// Name of the file.
    pub name: &'static str,
    /// SHA-256 of the file, in hex.
    pub checksum: &'static str,
    /// Its statements, without a transaction of their own.
    pub sql: &'static str,
    /// What the statements do, as JSON: see [`operations`](Self::operations).
    pub operations_json: &'static str,
}

impl FlowMigration {
    /// What it does, for databases that do not speak its SQL.
    pub fn operations(&self) -> Result<Vec<Operation>, InvalidOperation> {
        Operation::list_of_json(self.operations_json)
    }
}

/// What to say of a migration that a database has in other words.
#[cfg(feature = "engine")]
pub(crate) fn changed(name: &str) -> String {
    format!(
        "migration `{name}` was applied and has changed since\n\
         help: put it back as it was applied: a changed flow gets a migration of its own; a database that \
         was only for development can be made anew instead"
    )
}

#[cfg(feature = "engine")]
impl FlowMigrations {
    /// Notes that a database has these. A note is a convenience: where it cannot be written, there is
    /// none.
    pub(crate) fn note(&self) {
        if let Some(path) = self.notes.filter(|_| !is_test()) {
            self.note_in(Path::new(path));
        }
    }

    fn note_in(&self, path: &Path) {
        // Nothing is made on a machine that did not build the program.
        if path.parent().and_then(Path::parent).is_none_or(|target| !target.is_dir()) {
            return;
        }
        let old = fs::read_to_string(path).unwrap_or_default();
        let line = |file: &FlowMigration| format!("{} {}\n", file.name, file.checksum);
        let new: String = self.files.iter().map(line).filter(|line| !old.contains(line)).collect();
        if !new.is_empty() {
            let _ = path.parent().map(fs::create_dir_all);
            let _ = fs::write(path, old + &new);
        }
    }
}

/// Whether this is a test or a benchmark that cargo runs: their databases go away with them.
#[cfg(feature = "engine")]
fn is_test() -> bool {
    let program = std::env::current_exe().ok();
    program.as_deref().and_then(Path::parent).is_some_and(|dir| dir.ends_with("deps"))
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use super::*;

    const FILE: FlowMigration =
        FlowMigration { name: "0001_a.sql", checksum: "ab", sql: "", operations_json: "[]" };

    #[test]
    fn what_a_database_has_is_noted_once_and_only_where_it_was_built() {
        let target = std::env::temp_dir().join(format!("pgflow-notes-{}", std::process::id()));
        let path = target.join("pgflow/shop.applied");
        let migrations = FlowMigrations { package: "shop", files: &[FILE], notes: None };
        migrations.note_in(&path);
        assert!(!target.exists(), "no directory is made on another machine");
        fs::create_dir_all(&target).expect("a directory");
        migrations.note_in(&path);
        migrations.note_in(&path);
        assert_eq!(fs::read_to_string(&path).expect("a note"), "0001_a.sql ab\n");
        fs::remove_dir_all(target).expect("removed");
    }
}
