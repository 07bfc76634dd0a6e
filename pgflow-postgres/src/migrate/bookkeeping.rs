//! The statements that remember what was installed, run by `migrate` and written by `emit`.

use super::file::SqlFile;

/// Makes the schema.
pub(super) const SCHEMA: &str = include_str!("sql/schema.sql");

/// Lists what belongs to roles that must not own it, with the ways out.
pub(super) const STRANGERS: &str = include_str!("sql/strangers.sql");

/// Makes the tables.
pub(super) const CREATE: &str = include_str!("sql/bookkeeping.sql");

/// Lists the functions of the schema with their fingerprints.
pub(super) const FUNCTIONS: &str = include_str!("sql/functions.sql");

/// Lists the tables, views and types of the schema with their parts.
pub(super) const RELATIONS: &str = include_str!("sql/relations.sql");

/// Serialises migrators of one database, for the length of a transaction so that it works behind
/// a pooler; the number spells `pgflow`.
pub(super) const LOCK: &str = "select pg_catalog.pg_advisory_xact_lock(123589402324855)";

/// Functions call each other, so their bodies are checked by tests and not in file order.
pub(super) const SETTINGS: &str = "set local check_function_bodies = off";

/// Remembers files as applied now.
pub(super) fn record_files<'a>(files: impl Iterator<Item = &'a SqlFile>) -> String {
    let rows: Vec<String> = files.map(row).collect();
    format!(
        "insert into pgflow.migrations (name, version, checksum, library) values\n  {}\n\
         on conflict (name) do update set checksum = excluded.checksum,\n  \
         library = excluded.library, applied_at = excluded.applied_at;\n",
        rows.join(",\n  ")
    )
}

fn row(file: &SqlFile) -> String {
    let version = file.version().map_or_else(|| "null".into(), |version| version.to_string());
    let library = env!("CARGO_PKG_VERSION");
    format!("({}, {version}, '{}', '{library}')", literal(&file.name), file.checksum)
}

/// Marks the indexes that are not ours, so that they are not taken for ours afterwards: their owner
/// may drop them. Comes before the files; where nothing is recorded yet, there is nothing to go by.
pub(super) fn mark_users_indexes() -> String {
    format!(
        "insert into pgflow.migration_relations (object, parent, definition, is_users)\n\
         select found.*, true from (\n{}\n) found\n\
         where found.definition = 'index' and exists (select from pgflow.migration_relations)\n\
         on conflict (object) do nothing;\n",
        RELATIONS.trim_end()
    )
}

/// Remembers functions and relations as they are now. Comes after the files.
pub(super) fn record_objects() -> String {
    format!("{}{}", record_functions(), record_relations())
}

fn record_relations() -> String {
    format!(
        "delete from pgflow.migration_relations where not is_users;\n\
         insert into pgflow.migration_relations (object, parent, definition)\n{}\n\
         on conflict (object) do nothing;\n\
         delete from pgflow.migration_relations where is_users;\n",
        RELATIONS.trim_end()
    )
}

fn record_functions() -> String {
    format!(
        "delete from pgflow.migration_functions;\n\
         insert into pgflow.migration_functions (signature, fingerprint)\n{};\n",
        FUNCTIONS.trim_end()
    )
}

/// Names come from file names, which may hold anything.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::{LOCK, literal};

    #[test]
    fn the_lock_spells_the_name() {
        let number = i64::from_be_bytes(*b"\0\0pgflow");
        assert!(LOCK.contains(&format!("({number})")), "{number}");
    }

    #[test]
    fn quotes_are_doubled() {
        assert_eq!(literal("it's"), "'it''s'");
    }
}
