//! Waiting, with an end.

use std::time::{Duration, Instant};

use super::Outcome;

/// Long enough for a busy machine, short enough for a person.
const PATIENCE: Duration = Duration::from_mins(3);

/// Looks again and again until there is something.
pub async fn until<T>(what: &str, look: impl AsyncFnMut() -> Outcome<Option<T>>) -> Outcome<T> {
    within(PATIENCE, what, look).await
}

/// The same, for so long.
pub async fn within<T>(
    patience: Duration,
    what: &str,
    mut look: impl AsyncFnMut() -> Outcome<Option<T>>,
) -> Outcome<T> {
    let end = Instant::now() + patience;
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        if Instant::now() > end {
            return Err(format!("waited {patience:?} in vain for {what}").into());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
