//! Builds the SQL test binary and finds it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::error::Error;

/// What cargo says about something it has built.
#[derive(Deserialize)]
struct Artifact {
    target: Target,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

pub(crate) fn sql_tests() -> Result<PathBuf, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--quiet", "--package", "pgflow-sql-tests", "--test", "sql", "--no-run"])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|_| Error::Build)?;
    if !output.status.success() {
        return Err(Error::Build);
    }
    executable(&String::from_utf8_lossy(&output.stdout)).ok_or(Error::Build)
}

fn executable(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Artifact>(line).ok())
        .find_map(|artifact| artifact.executable.filter(|_| artifact.target.name == "sql"))
}

#[cfg(test)]
mod tests {
    use super::executable;
    use std::path::Path;

    #[test]
    fn the_test_binary_is_found_among_messages() {
        let messages = r#"{"reason":"build-script-executed","package_id":"p"}
{"reason":"compiler-artifact","target":{"name":"sqlx"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"sql"},"executable":"/t/sql-1"}"#;
        assert_eq!(executable(messages).as_deref(), Some(Path::new("/t/sql-1")));
        assert_eq!(executable("{}"), None);
    }
}
