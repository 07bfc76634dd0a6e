//! Finding, ending and reopening runs.

use pgflow_machine::RunId;

use super::patience::patiently;
use super::run::summary;
use super::{ClientError, Run};
use crate::Flow;
use crate::backend::{Backend, Cancelled, Reply, Retried};
use crate::db::Db;

impl Db {
    /// The run of this id, if there is one. It is an error if that is of another flow.
    pub async fn get<F: Flow<Output: Sized>>(
        &self,
        id: RunId,
    ) -> Result<Option<Run<F>>, ClientError> {
        let Some(found) = summary(self, id).await? else { return Ok(None) };
        if is_version_of(F::SLUG, &found.flow) {
            return Ok(Some(Run::new(self.clone(), id, false)));
        }
        Err(ClientError::OtherFlow { run: id, flow: found.flow, expected: F::SLUG })
    }

    /// Ends a run before it is done. Running handlers are told at the next heartbeat; no new task is claimed.
    ///
    /// If the first answer gets lost, the call is repeated, and then says that the run has ended: it does not know by
    /// whom it was cancelled. Postgres has no character NUL, so it is replaced in the reason, on every database.
    pub async fn cancel<'a>(
        &self,
        id: RunId,
        reason: impl Into<Option<&'a str>> + Send,
    ) -> Result<Cancelled, ClientError> {
        let reason = reason.into().map(|reason| reason.replace('\0', "\u{fffd}"));
        Ok(patiently(self, move |backend| cancel(backend, id, reason.clone())).await?)
    }

    /// Lets a failed run go on from what failed; completed work is kept.
    ///
    /// If the first answer gets lost, the call is repeated, and then says that the run has not failed; a run that has
    /// failed again by then is let go on once more.
    pub async fn retry(&self, id: RunId) -> Result<Retried, ClientError> {
        Ok(patiently(self, move |backend| backend.retry(id)).await?)
    }
}

impl<F: Flow> Run<F> {
    /// Ends it before it is done: see [`Db::cancel`].
    pub async fn cancel<'a>(
        &self,
        reason: impl Into<Option<&'a str>> + Send,
    ) -> Result<Cancelled, ClientError> {
        self.db.cancel(self.id, reason).await
    }

    /// Lets it go on after it has failed: see [`Db::retry`].
    pub async fn retry(&self) -> Result<Retried, ClientError> {
        self.db.retry(self.id).await
    }
}

fn cancel(backend: &dyn Backend, run: RunId, reason: Option<String>) -> Reply<'_, Cancelled> {
    Box::pin(async move { backend.cancel(run, reason.as_deref()).await })
}

/// Whether a slug is that of a version of a flow: `order`, `order__v2`.
fn is_version_of(flow: &str, slug: &str) -> bool {
    let Some(rest) = slug.strip_prefix(flow) else { return false };
    let number = rest.strip_prefix("__v");
    rest.is_empty() || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::is_version_of;

    #[test]
    fn versions_are_known_by_their_slug() {
        assert!(is_version_of("order", "order"));
        assert!(is_version_of("order", "order__v12"));
        assert!(!is_version_of("order", "order__vat"));
        assert!(!is_version_of("order", "orders"));
        assert!(!is_version_of("order", "refund"));
    }
}
