//! Migrations of a crate's flows, embedded in the program.

/// Migrations of a crate's flows, embedded in the program by `pgflow::migrations!()`.
///
/// ```
/// use pgflow_runtime::FlowMigrations;
///
/// const NONE: FlowMigrations = FlowMigrations { package: "shop", files: &[], flows: "[]" };
/// assert!(NONE.files.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowMigrations {
    /// The crate they are from.
    pub package: &'static str,
    /// Name, SHA-256 and contents of each file, in the order in which they are applied.
    pub files: &'static [(&'static str, &'static str, &'static str)],
    /// Every version of every flow as JSON, for databases that do not speak the files' SQL: an array
    /// of objects with `flow`, `version`, `slug` and `shape`.
    pub flows: &'static str,
}
