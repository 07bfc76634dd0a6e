//! Builds the SQL test binary and finds it.

use std::path::PathBuf;

use super::error::Error;
use crate::artifacts::build_tests;

pub(crate) fn sql_tests() -> Result<PathBuf, Error> {
    let binaries = build_tests().ok_or(Error::Build)?;
    let sql = binaries.into_iter().find(|binary| binary.name == "pgflow-sql-tests::sql");
    sql.map(|binary| binary.path).ok_or(Error::Build)
}
