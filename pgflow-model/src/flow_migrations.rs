//! Migrations of a crate's flows, embedded in the program.

use crate::{InvalidOperation, Operation};

/// Migrations of a crate's flows, embedded in the program by `pgflow::migrations!()`.
///
/// ```
/// use pgflow_model::FlowMigrations;
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
/// use pgflow_model::FlowMigration;
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
