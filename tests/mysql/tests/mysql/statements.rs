//! Statements keep to what both servers document.

use std::fs;
use std::path::{Path, PathBuf};

/// What only MariaDB has, or writes in another way than MySQL; as words of our statements.
const MARIADB_ONLY: &[&str] = &[
    "returning",
    "create sequence",
    "nextval",
    "next value for",
    "lastval",
    " uuid ",
    "uuid()",
    "inet6",
    "or replace table",
    "add column if not exists",
    "drop column if exists",
    "add index if not exists",
    "drop index if exists",
    "for system_time",
    "system versioning",
    "limit rows examined",
    "set statement",
    "immediate",
    "natural_sort_key",
    "json_detailed",
    "json_loose",
    "json_exists",
    "json_query",
    "page_compressed",
    " aria",
    "wait 0",
    "nowait",
];

/// What only MySQL has.
const MYSQL_ONLY: &[&str] = &[
    "->>",
    "lateral",
    "member of",
    "for share",
    "skip_locked",
    "json_storage_size",
    "as new on duplicate",
    "of k",
];

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the directory is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "sql") {
            found.push(path);
        }
    }
}

/// Texts in quotes that are statements, or the lines of an SQL file without its comments.
fn statements(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a file");
    if path.extension().is_some_and(|kind| kind == "sql") {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("--"));
        return lines.collect::<Vec<_>>().join("\n");
    }
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: Vec<_> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let quoted = code.split('"').skip(1).step_by(2);
    let is_sql = |text: &&str| {
        ["select ", "update ", "insert ", "delete ", "create ", "join ", " where "]
            .iter()
            .any(|word| text.to_ascii_lowercase().contains(word))
    };
    quoted.filter(is_sql).collect::<Vec<_>>().join("\n")
}

#[test]
fn they_hold_no_word_that_only_one_server_knows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    files(&root.join("pgflow-mysql/src"), &mut found);
    files(&root.join("migrations/mysql"), &mut found);
    let mut read = 0;
    for path in &found {
        let text = statements(path).to_ascii_lowercase();
        read += text.len();
        for word in MARIADB_ONLY.iter().chain(MYSQL_ONLY) {
            assert!(!text.contains(word), "{}: `{word}`", path.display());
        }
    }
    assert!(read > 10_000, "only {read} bytes of statements were found");
}

/// Everything is quoted as it should be, or the check above sees nothing.
#[test]
fn the_check_sees_statements() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let claim = statements(&root.join("pgflow-mysql/src/claim.rs"));
    assert!(claim.contains("for update skip locked") && claim.contains("set t.status = 'started'"));
    let runs = statements(&root.join("migrations/mysql/0002_runs.sql"));
    assert!(runs.contains("create table pgflow_tasks"));
}
