//! Whether a build writes migrations, or only compares.

use std::path::Path;

/// What a build does about migrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write what is missing.
    Write,
    /// Say what is missing.
    Check,
    /// Neither.
    Off,
}

/// The variable that decides, whatever else is the case.
pub(crate) const VARIABLE: &str = "PGFLOW_MIGRATIONS";

/// Files that are only in sources that cargo unpacked; writing there is a mistake.
const NOT_OURS: [&str; 3] = [".cargo_vcs_info.json", "Cargo.toml.orig", ".cargo-checksum.json"];

/// What the surroundings of a build ask for.
pub(crate) struct Surroundings<'a> {
    /// The crate.
    pub(crate) dir: &'a Path,
    /// Where its migrations are.
    pub(crate) migrations: &'a Path,
    /// `PGFLOW_MIGRATIONS`.
    pub(crate) variable: Option<String>,
    /// `CI`.
    pub(crate) ci: Option<String>,
    /// Whether the build script asked to compare only.
    pub(crate) is_check_only: bool,
}

impl Surroundings<'_> {
    /// What to do, or why that cannot be said.
    pub(crate) fn mode(&self) -> Result<Mode, String> {
        match self.variable.as_deref() {
            Some("write") => return Ok(Mode::Write),
            Some("check") => return Ok(Mode::Check),
            Some("off") => return Ok(Mode::Off),
            Some("") | None => {}
            Some(other) => {
                return Err(format!(
                    "{VARIABLE} is `{other}`: it is one of `write`, `check` and `off`"
                ));
            }
        }
        let is_ci = self.ci.as_deref().is_some_and(|ci| !matches!(ci, "" | "0" | "false"));
        let is_check = self.is_check_only || is_ci || is_unpacked(self.dir) || self.is_read_only();
        Ok(if is_check { Mode::Check } else { Mode::Write })
    }

    /// By the permissions, which even a user who may write anywhere should respect.
    fn is_read_only(&self) -> bool {
        let is_read_only =
            |path: &Path| path.metadata().is_ok_and(|data| data.permissions().readonly());
        is_read_only(self.dir) || is_read_only(self.migrations)
    }
}

/// Whether cargo unpacked this source: from a package, a vendored one, or a git repository.
fn is_unpacked(dir: &Path) -> bool {
    NOT_OURS.iter().any(|name| dir.join(name).exists())
        || dir.ancestors().any(|dir| dir.join(".cargo-ok").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(dir: &Path, variable: Option<&str>, ci: Option<&str>) -> Option<Mode> {
        let surroundings = Surroundings {
            dir,
            migrations: &dir.join("migrations"),
            variable: variable.map(str::to_owned),
            ci: ci.map(str::to_owned),
            is_check_only: false,
        };
        surroundings.mode().ok()
    }

    #[test]
    fn the_variable_wins_and_ci_only_compares() {
        let dir = std::env::temp_dir();
        for (variable, ci, expected) in [
            (None, None, Some(Mode::Write)),
            (Some(""), Some(""), Some(Mode::Write)),
            (None, Some("false"), Some(Mode::Write)),
            (None, Some("0"), Some(Mode::Write)),
            (None, Some("1"), Some(Mode::Check)),
            (None, Some("true"), Some(Mode::Check)),
            (Some("write"), Some("true"), Some(Mode::Write)),
            (Some("check"), None, Some(Mode::Check)),
            (Some("off"), Some("true"), Some(Mode::Off)),
            (Some("Write"), None, None),
        ] {
            assert_eq!(mode(&dir, variable, ci), expected, "{variable:?} {ci:?}");
        }
    }

    #[test]
    fn what_cargo_unpacked_is_left_alone() {
        let root = std::env::temp_dir().join(format!("pgflow-mode-{}", std::process::id()));
        for (at, name) in NOT_OURS.into_iter().chain([".cargo-ok"]).enumerate() {
            let dir = root.join(at.to_string());
            // A git dependency may be deep in its repository.
            let below = if name == ".cargo-ok" { dir.join("member") } else { dir.clone() };
            std::fs::create_dir_all(&below).expect("a directory");
            assert_eq!(mode(&below, None, None), Some(Mode::Write), "{name}");
            std::fs::write(dir.join(name), "").expect("a file");
            assert_eq!(mode(&below, None, None), Some(Mode::Check), "{name}");
            assert_eq!(mode(&below, Some("write"), None), Some(Mode::Write), "{name}");
        }
        let _ = std::fs::remove_dir_all(root);
    }
}
