//! What a worker says about versions when it starts.

use std::fmt;

use pgflow_model::Change;

use super::{FlowVersion, Versions};

/// Why a program should not work on the flows of a database.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum VersionError {
    /// The database does not know a version that the program has code for.
    #[error(
        "version {version} of flow `{flow}` is not in the database: apply the migration that creates it"
    )]
    Missing {
        /// Name of the flow.
        flow: &'static str,
        /// Number of the version.
        version: u32,
    },
    /// A version has another graph in the database.
    #[error("version {version} of flow `{flow}` is another one in the database: {}", listed(.changes))]
    Different {
        /// Name of the flow.
        flow: String,
        /// Number of the version.
        version: u32,
        /// What leads from the database's graph to the program's.
        changes: Vec<Change>,
    },
}

impl Versions {
    /// Whether every version that the program has code for is in the database, and the same.
    ///
    /// ```
    /// use pgflow_runtime::postgres::Versions;
    ///
    /// let nothing = Versions { known: Vec::new(), missing: Vec::new() };
    /// assert_eq!(nothing.verify(), Ok(()));
    /// ```
    pub fn verify(&self) -> Result<(), VersionError> {
        if let Some(flow) = self.missing.first() {
            return Err(VersionError::Missing { flow: flow.slug, version: flow.version });
        }
        match self.known.iter().find(|version| !version.differences.is_empty()) {
            Some(FlowVersion { flow, version, differences, .. }) => Err(VersionError::Different {
                flow: flow.clone(),
                version: *version,
                changes: differences.clone(),
            }),
            None => Ok(()),
        }
    }
}

/// One line per version: whether it is served, and what waits if it is not.
impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for version in &self.known {
            writeln!(f, "{}", line(version))?;
        }
        for flow in &self.missing {
            writeln!(f, "misses version {} of flow `{}` in the database", flow.version, flow.slug)?;
        }
        Ok(())
    }
}

fn line(known: &FlowVersion) -> String {
    let FlowVersion { flow, version, open_runs, open_tasks, .. } = known;
    let name = format!("version {version} of flow `{flow}`");
    let current = if known.is_current { ", which new runs use," } else { "" };
    if !known.differences.is_empty() {
        return format!("finds {name} different in the database: {}", listed(&known.differences));
    }
    if known.is_served {
        return format!("serves {name}{}", current.trim_end_matches(','));
    }
    let waits = match open_tasks {
        0 => "nothing waits there".to_owned(),
        _ => format!("{open_runs} open runs with {open_tasks} open tasks wait for its code"),
    };
    format!("leaves {name}{current} alone: {waits}")
}

fn listed(changes: &[Change]) -> String {
    changes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
