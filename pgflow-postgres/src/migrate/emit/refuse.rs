//! What `migrate` refuses, as SQL for files that other tools apply.

use crate::migrate::bookkeeping::{FUNCTIONS, RELATIONS, STRANGERS, literal};
use crate::migrate::core::Core;
use crate::migrate::file::SqlFile;
use crate::migrate::version::Version;

const REFUSE: &str = include_str!("../sql/refuse.sql");
const REFUSE_STRANGERS: &str = include_str!("../sql/refuse_strangers.sql");

/// A statement that fails where another role owns what the files are about to fill.
pub(super) fn strangers() -> String {
    REFUSE_STRANGERS.replace("{STRANGERS}", STRANGERS.trim_end())
}

/// A statement that fails on a schema that is newer than these files or was changed by hand.
pub(super) fn statement(core: &Core) -> String {
    let files: Vec<String> = core.numbered.iter().map(row).collect();
    REFUSE
        .replace("{VERSION}", &core.version().to_string())
        .replace("{LIBRARY}", &Version::of_library().to_string().replace('.', ", "))
        .replace("{FILES}", &files.join(", "))
        .replace("{FUNCTIONS}", FUNCTIONS.trim_end())
        .replace("{RELATIONS}", RELATIONS.trim_end())
}

fn row(file: &SqlFile) -> String {
    format!("({}, {})", literal(&file.name), literal(&file.checksum))
}
