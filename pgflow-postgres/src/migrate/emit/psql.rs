//! One file for psql.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::unit::units;
use super::{HEADER, refuse, write};
use crate::migrate::bookkeeping::{self, CREATE, LOCK, SCHEMA, SETTINGS};
use crate::migrate::core::Core;
use crate::migrate::error::EmitError;

const PGMQ_IS_READY: &str = include_str!("../sql/pgmq_is_ready.sql");

/// Numbered files are skipped where they were applied; all is one transaction, as in `migrate`.
pub(super) fn emit(core: &Core, dir: &Path) -> Result<Vec<PathBuf>, EmitError> {
    let mut text = format!(
        "{HEADER}--\n-- Apply it, and later versions of it, with `psql URL -f pgflow.sql`.\n\n\
         \\set ON_ERROR_STOP on\nbegin;\nset local client_min_messages = warning;\n\
         {LOCK} as locked \\gset\n\
         {SETTINGS};\n{PGMQ_IS_READY}\n{SCHEMA}\n{}\n{CREATE}\n{}\n{}\n",
        refuse::strangers(),
        refuse::statement(core),
        bookkeeping::mark_users_indexes()
    );
    for unit in units(core) {
        if unit.is_repeatable() {
            text += &unit.sql();
        } else {
            let _ = writeln!(
                text,
                "select not exists (select from pgflow.migrations where name = {}) as pending \\gset\n\
                 \\if :pending\n{}\\endif\n",
                bookkeeping::literal(&unit.name),
                unit.sql()
            );
        }
    }
    let _ = write!(text, "\n{}\ncommit;\n", bookkeeping::record_objects());
    let path = dir.join("pgflow.sql");
    if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(Vec::new());
    }
    Ok(vec![write(path, &text)?])
}
