//! What is wrong with a job, as the core says it to programs: JSON in the DETAIL of an error, or in a column.

use pgflow_machine::PayloadError;
use pgflow_machine::job::{Dependency, JobProblem, Wait};
use serde::Deserialize;
use serde_json::Value;
use sqlx::postgres::PgDatabaseError;

/// What the core refuses of what a caller cannot know before.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub(crate) enum Problem {
    /// These are not there.
    UnknownDependency { dependencies: Vec<String> },
    /// The job would wait for itself over this one.
    Ring { dependency: String },
    /// A payload has too many bytes.
    TooLarge { bytes: usize, limit: usize },
    /// A payload has too many levels.
    TooDeep { limit: usize },
}

impl Problem {
    /// Nothing if the error is none of these.
    pub(crate) fn of(error: &sqlx::Error) -> Option<Self> {
        let error = error.as_database_error()?.try_downcast_ref::<PgDatabaseError>()?;
        let is_ours = matches!(error.code(), "22023" | "23503" | "54000");
        serde_json::from_str(error.detail().filter(|_| is_ours)?).ok()
    }

    pub(super) fn read(detail: Option<Value>) -> Option<Self> {
        serde_json::from_value(detail?).ok()
    }

    /// In the contract's words, for whoever was to wait for these.
    pub(crate) fn about<'w>(self, waits: impl Iterator<Item = &'w Wait>) -> JobProblem {
        match self {
            Self::UnknownDependency { dependencies } => {
                JobProblem::UnknownDependency(first_named(waits, &dependencies))
            }
            Self::Ring { dependency } => JobProblem::Ring(first_named(waits, &[dependency])),
            Self::TooLarge { bytes, limit } => too_much(PayloadError::TooLarge { bytes, limit }),
            Self::TooDeep { limit } => too_much(PayloadError::TooDeep { path: "$".into(), limit }),
        }
    }
}

fn too_much(source: PayloadError) -> JobProblem {
    JobProblem::Payload { what: "what belongs to the job", source }
}

/// The first of what is waited for that has one of these names.
fn first_named<'w>(mut waits: impl Iterator<Item = &'w Wait>, names: &[String]) -> Dependency {
    let found = waits.find(|wait| names.contains(&wait.on.name()));
    let stored = || pgflow_machine::job::JobId::from_stored(names.join(", "));
    found.map_or_else(|| Dependency::Job(stored()), |wait| wait.on.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_dependency_that_is_not_there_is_named() {
        let detail = json!({ "problem": "unknown_dependency", "dependencies": ["c", "b"] });
        let waits = ["a", "b", "c"].map(|name| Wait::job(name.parse().expect("an id")));
        let problem = Problem::read(Some(detail)).expect("a problem").about(waits.iter());
        assert_eq!(problem, JobProblem::UnknownDependency(waits[1].on.clone()));
    }

    #[test]
    fn other_details_are_no_problems() {
        assert_eq!(Problem::read(Some(json!({ "problem": "bad_claim" }))), None);
        assert_eq!(Problem::read(None), None);
    }
}
