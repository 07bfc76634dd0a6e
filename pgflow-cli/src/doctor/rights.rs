//! What this login may not look at.

use pgflow_runtime::backend::{BackendError, Checkup, Severity};
use pgflow_runtime::client::ClientError;

use crate::error::Error;

/// Makes a finding of what was refused, and goes on without it.
pub(super) fn allowed<T>(
    part: &str,
    answer: Result<T, Error>,
    checkup: &mut Checkup,
) -> Result<Option<T>, Error> {
    match answer {
        Err(Error::Client(ClientError::Backend(BackendError::Refused(why)))) => {
            checkup.find(
                "missing-grant",
                Severity::Warning,
                format!("this login may not see {part}: {why}"),
                fix(checkup.backend),
            );
            Ok(None)
        }
        // What a database does not keep is as well as it can be.
        Err(Error::Client(ClientError::Backend(BackendError::Unsupported { .. }))) => Ok(None),
        answer => answer.map(Some),
    }
}

fn fix(backend: &str) -> &'static str {
    if backend == "postgres" {
        "as the owner of the schema, run `grant pgflow_viewer to LOGIN` with the name of this login"
    } else {
        "as the owner of the database, let this login read pgflow's tables"
    }
}
