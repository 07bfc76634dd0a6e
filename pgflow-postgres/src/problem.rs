//! What is wrong with a start, as the core says it to programs: JSON in the DETAIL of an error. Its sentence is for people,
//! in whatever words.

use serde::Deserialize;
use sqlx::postgres::PgDatabaseError;

/// What the core refuses.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub(super) enum Problem {
    /// The run of that id belongs to another flow.
    OtherFlow { flow: String },
    /// The flow maps over its input.
    NotAnArray,
    /// A payload has too many bytes.
    TooLarge { bytes: usize, limit: usize },
    /// A payload has too many levels.
    TooDeep { limit: usize },
    /// A map would have too many tasks.
    TooWide { elements: usize, limit: usize },
    /// A schedule would begin before now; both in microseconds.
    BeginsInThePast { begins: i64, now: i64 },
    /// As many signals are kept for a hook as can be.
    TooManySignals { limit: usize },
    /// The schedule of that name was made by somebody else.
    ScheduleTaken { by: String },
}

/// Nothing if the error is none of the core's own, or not one of these.
pub(super) fn problem(error: &sqlx::Error) -> Option<Problem> {
    let error = error.as_database_error()?.try_downcast_ref::<PgDatabaseError>()?;
    read(error.code(), error.detail()?)
}

/// Only where the code fits too: the DETAIL of other errors is not ours.
fn read(code: &str, detail: &str) -> Option<Problem> {
    serde_json::from_str(detail).ok().filter(|problem| {
        code == match problem {
            Problem::OtherFlow { .. } => "23505",
            Problem::NotAnArray => "P0001",
            Problem::BeginsInThePast { .. } => "22023",
            Problem::ScheduleTaken { .. } => "55000",
            Problem::TooLarge { .. }
            | Problem::TooDeep { .. }
            | Problem::TooWide { .. }
            | Problem::TooManySignals { .. } => "54000",
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Problem, read};

    #[test]
    fn problems_are_read_from_details() {
        let large = r#"{"problem": "too_large", "bytes": 5000000, "limit": 4194304}"#;
        let problem = Problem::TooLarge { bytes: 5_000_000, limit: 4_194_304 };
        assert_eq!(read("54000", large), Some(problem));
        assert_eq!(read("P0001", r#"{"problem": "not_an_array"}"#), Some(Problem::NotAnArray));
    }

    #[test]
    fn details_of_others_are_none() {
        for (code, detail) in [
            ("23505", "Key (run_id)=(x) already exists."),
            ("23505", r#"{"problem": "not_an_array"}"#),
            ("54000", r#"{"problem": "too_large"}"#),
        ] {
            assert_eq!(read(code, detail), None, "{detail}");
        }
    }
}
