//! `cargo xtask constants`: what the machine and the SQL core have in common, as SQL.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use pgflow_machine::{Constant, SHARED};

/// Writes the constants of the machine that SQL needs as functions of the core.
#[derive(Args)]
pub(crate) struct Options {
    /// Only say whether the file is up to date.
    #[arg(long)]
    check: bool,
}

const HEADER: &str = "\
-- Written by `cargo xtask constants` from pgflow-machine/src/constants.rs; do not edit.
--
-- Immutable, so that a statement which is planned once has their values in its plan.
";

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let (file, sql) = (file(), sql());
    if options.check {
        return check(&file, &sql);
    }
    std::fs::write(&file, sql).map_err(|error| format!("{}: {error}", file.display()))
}

fn check(file: &Path, sql: &str) -> Result<(), String> {
    let written = std::fs::read_to_string(file).unwrap_or_default();
    if written.replace("\r\n", "\n") == sql {
        return Ok(());
    }
    Err(format!("{} is not up to date: run `cargo xtask constants`", file.display()))
}

fn file() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../migrations/postgres/functions/generated/constants.sql")
}

fn sql() -> String {
    let mut sql = HEADER.to_owned();
    for (name, value, meaning) in SHARED {
        let (kind, literal) = match value {
            Constant::Number(number) => ("int", number.to_string()),
            Constant::Hours(hours) => ("interval", format!("interval '{hours} hours'")),
        };
        let _ = write!(
            sql,
            "\n-- {meaning}\ncreate or replace function pgflow._{name}() returns {kind}\n\
             language sql immutable parallel safe\nset search_path = pg_catalog, pg_temp\n\
             as $$ select {literal} $$;\n"
        );
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_up_to_date() {
        assert_eq!(check(&file(), &sql()), Ok(()));
    }

    #[test]
    fn another_value_is_noticed() {
        let other = sql().replace("select 3 ", "select 4 ");
        assert!(check(&file(), &other).unwrap_err().contains("cargo xtask constants"));
    }

    /// The functions that people write.
    fn functions() -> Vec<(PathBuf, String)> {
        let core = file();
        let functions = core.parent().and_then(Path::parent).unwrap();
        let folders = functions.read_dir().unwrap().map(|folder| folder.unwrap().path());
        let files = folders.filter(|folder| !folder.ends_with("generated"));
        let files = files.flat_map(|folder| folder.read_dir().unwrap());
        let files = files.map(|file| file.unwrap().path());
        files.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
    }

    #[test]
    fn sql_uses_every_constant() {
        let text: String = functions().into_iter().map(|(_, text)| text).collect();
        for (name, ..) in SHARED {
            assert!(text.contains(&format!("pgflow._{name}()")), "{name}");
        }
    }

    /// Whether SQL spells a constant out as a time. A bare number may mean anything.
    fn spelled_out(sql: &str, value: Constant) -> bool {
        sql.contains(&match value {
            Constant::Number(number) => format!("interval '{number} second"),
            Constant::Hours(hours) => format!("interval '{hours} hour"),
        })
    }

    /// A constant that SQL spells out beside the function that has it would not follow.
    #[test]
    fn sql_spells_no_constant_out() {
        for (path, text) in functions() {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("--"));
            let sql = code.collect::<Vec<_>>().join("\n");
            for (name, value, _) in SHARED {
                assert!(!spelled_out(&sql, *value), "{}: pgflow._{name}()", path.display());
            }
        }
        assert!(spelled_out("t + interval '2 seconds' end", Constant::Number(2)));
        assert!(!spelled_out("t + interval '12 seconds' end", Constant::Number(2)));
    }
}
