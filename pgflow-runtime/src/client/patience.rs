//! Asking again when a database does not answer.

use std::time::Duration;

use crate::backend::{BackendError, Reply};
use crate::backoff::Backoff;

/// How often a call is made before its error is passed on: for about ten seconds.
const TRIES: u32 = 7;

/// The answer to a call that may be repeated.
pub(super) async fn patiently<'a, T>(
    mut call: impl FnMut() -> Reply<'a, T>,
) -> Result<T, BackendError> {
    let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(4));
    loop {
        match call().await {
            Err(error) if error.is_temporary() && backoff.failures() + 1 < TRIES => {
                tokio::time::sleep(backoff.next()).await;
            }
            answer => return answer,
        }
    }
}
