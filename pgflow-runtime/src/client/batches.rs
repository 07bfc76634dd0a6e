//! Deleting much in calls that take little.

use std::time::Duration;

use tokio::time::sleep;

use crate::backend::BackendError;

/// Runs in one transaction: others do not wait long for it.
pub(crate) const BATCH: u32 = 100;

/// Deletes up to so many at a time until nothing is left, and says how many. A batch that took too long for an answer, because
/// its runs are wide, is asked for again with half as many.
pub(crate) async fn in_batches<F: Future<Output = Result<u64, BackendError>>>(
    pause: Duration,
    mut delete: impl FnMut(u32) -> F,
) -> Result<u64, BackendError> {
    let (mut deleted, mut most) = (0, BATCH);
    loop {
        match delete(most).await {
            Ok(batch) if batch < u64::from(most) => return Ok(deleted + batch),
            Ok(batch) => deleted += batch,
            Err(error) if error.is_no_answer() && most > 1 => most /= 2,
            Err(error) => return Err(error),
        }
        sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a database that has so many runs, and deletes so many in the time of a call.
    async fn pruned(mut there: u64, able: u32) -> Result<u64, BackendError> {
        let delete = |most: u32| {
            let late = || BackendError::no_answer("a prune took too long".to_owned());
            let batch = (most <= able).then(|| there.min(most.into()));
            there -= batch.unwrap_or_default();
            std::future::ready(batch.ok_or_else(late))
        };
        in_batches(Duration::ZERO, delete).await
    }

    #[tokio::test]
    async fn what_is_too_much_for_one_call_is_deleted_by_several() {
        assert_eq!(pruned(250, BATCH).await.expect("in time"), 250);
        assert_eq!(pruned(250, 7).await.expect("in time"), 250);
        assert_eq!(pruned(0, 1).await.expect("in time"), 0);
    }

    #[tokio::test]
    async fn a_database_that_never_answers_is_not_asked_for_ever() {
        assert!(pruned(250, 0).await.expect_err("it is late").is_no_answer());
        let refused = |_| std::future::ready(Err(BackendError::Closed));
        let error = in_batches(Duration::ZERO, refused).await.expect_err("it is closed");
        assert!(matches!(error, BackendError::Closed), "{error:?}");
    }
}
